#include "native/numpy.hpp"

#include "native/memory.hpp"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_1_25_API_VERSION
#include <numpy/arrayobject.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace axisloom::python {
namespace {

/// The dtypes of NumPy's own types by their numbers; of two with the same dtype the first is made.
constexpr std::array numbers = std::to_array<std::pair<int, Dtype>>({
    {NPY_BOOL, Dtype::boolean},
    {NPY_BYTE, Dtype::i8},
    {NPY_UBYTE, Dtype::u8},
    {NPY_SHORT, Dtype::i16},
    {NPY_USHORT, Dtype::u16},
    {NPY_INT, Dtype::i32},
    {NPY_UINT, Dtype::u32},
    {NPY_LONG, Dtype::i64},
    {NPY_ULONG, Dtype::u64},
    {NPY_LONGLONG, Dtype::i64},
    {NPY_ULONGLONG, Dtype::u64},
    {NPY_HALF, Dtype::f16},
    {NPY_FLOAT, Dtype::f32},
    {NPY_DOUBLE, Dtype::f64},
    {NPY_CFLOAT, Dtype::c64},
    {NPY_CDOUBLE, Dtype::c128},
});
static_assert(sizeof(long) == 8, "NPY_LONG is i64");

std::optional<Dtype> builtin_dtype(int number) {
  const auto found =
      std::find_if(numbers.begin(), numbers.end(), [=](const auto& pair) { return pair.first == number; });
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

int number_of(Dtype dtype) {
  const auto found =
      std::find_if(numbers.begin(), numbers.end(), [=](const auto& pair) { return pair.second == dtype; });
  return found == numbers.end() ? -1 : found->first;
}

/// bfloat16 is a dtype of the package ml_dtypes; its number is given out when that registers it.
bool is_bfloat16(PyArray_Descr* descr) {
  static int number = -1;
  if (descr->type_num == number) return true;
  if (number >= 0 || descr->type_num < NPY_USERDEF) return false;
  const nb::object name = nb::borrow(reinterpret_cast<PyObject*>(descr->typeobj)).attr("__name__");
  if (nb::cast<nb::str>(name).c_str() != std::string_view("bfloat16")) return false;
  number = descr->type_num;
  return true;
}

std::optional<Dtype> arithmetic_dtype(PyArray_Descr* descr) {
  if (const auto dtype = builtin_dtype(descr->type_num)) return dtype;
  if (is_bfloat16(descr)) return Dtype::bf16;
  return std::nullopt;
}

/// A dtype of that size, for elements that are moved as bytes.
std::optional<Dtype> dtype_of_size(npy_intp bytes) {
  switch (bytes) {
    case 1:
      return Dtype::u8;
    case 2:
      return Dtype::u16;
    case 4:
      return Dtype::u32;
    case 8:
      return Dtype::u64;
    case 16:
      return Dtype::c128;
    default:
      return std::nullopt;
  }
}

[[noreturn]] void refuse(PyArray_Descr* descr) {
  throw_type_error(
      "arrays of dtype %S cannot be used: elements have to be numbers, bools, or plain data of 1, 2, 4, 8 or "
      "16 bytes",
      reinterpret_cast<PyObject*>(descr));
}

PyArrayObject* as_array(PyObject* object) {
  return reinterpret_cast<PyArrayObject*>(object);
}

/// Whether elements lie as kernels can read them: native bytes, aligned, and strides that are whole elements.
bool is_plain(PyArrayObject* array, npy_intp bytes) {
  if (!PyArray_ISALIGNED(array) || !PyArray_ISNOTSWAPPED(array)) return false;
  for (int axis = 0; axis < PyArray_NDIM(array); ++axis)
    if (PyArray_STRIDE(array, axis) % bytes != 0) return false;
  return true;
}

/// The same dtype in the native byte order.
PyArray_Descr* native_descr(PyArray_Descr* descr) {
  if (!PyDataType_ISBYTESWAPPED(descr)) {
    Py_INCREF(reinterpret_cast<PyObject*>(descr));
    return descr;
  }
  PyArray_Descr* const native = PyArray_DescrNewByteorder(descr, NPY_NATIVE);
  if (!native) throw nb::python_error();
  return native;
}

nb::object plain_copy(PyArrayObject* array) {
  PyObject* const copy = PyArray_FromArray(array, native_descr(PyArray_DESCR(array)),
                                           NPY_ARRAY_ENSURECOPY | NPY_ARRAY_ALIGNED | NPY_ARRAY_C_CONTIGUOUS);
  if (!copy) throw nb::python_error();
  return nb::steal(copy);
}

PyArray_Descr* descr_of(Dtype dtype) {
  if (dtype != Dtype::bf16) return PyArray_DescrFromType(number_of(dtype));
  const nb::object type = nb::module_::import_("ml_dtypes").attr("bfloat16");
  nb::object descr = nb::module_::import_("numpy").attr("dtype")(type);
  return reinterpret_cast<PyArray_Descr*>(descr.release().ptr());
}

/// In memory that is kept when the array dies.
nb::object large_array(PyArray_Descr* descr, int rank, npy_intp* extents, std::size_t bytes) {
  void* const memory = take_memory(bytes);
  nb::object owner = nb::capsule(memory, [](void* given) noexcept { give_memory(given); });
  PyObject* const made =
      PyArray_NewFromDescr(&PyArray_Type, descr, rank, extents, nullptr, memory, NPY_ARRAY_CARRAY, nullptr);
  if (!made || PyArray_SetBaseObject(as_array(made), owner.release().ptr()) < 0) throw nb::python_error();
  return nb::steal(made);
}

}  // namespace

void load_numpy() {
  if (!PyArray_API && _import_array() < 0) throw nb::python_error();
}

Tensor numpy_tensor(PyObject* object) {
  PyArrayObject* array = as_array(object);
  Tensor tensor;
  PyArray_Descr* const descr = PyArray_DESCR(array);
  const npy_intp bytes = PyArray_ITEMSIZE(array);
  auto dtype = arithmetic_dtype(descr);
  if (!dtype) {
    tensor.opaque = true;
    dtype = dtype_of_size(bytes);
    if (!dtype || PyDataType_REFCHK(descr)) refuse(descr);
  }
  tensor.dtype = *dtype;
  tensor.writable = PyArray_ISWRITEABLE(array);
  if (!is_plain(array, bytes)) {
    tensor.owner = plain_copy(array);
    array = as_array(tensor.owner.ptr());
  }
  tensor.first = PyArray_DATA(array);
  for (int axis = 0; axis < PyArray_NDIM(array); ++axis) {
    tensor.shape.push_back(PyArray_DIM(array, axis));
    tensor.strides.push_back(PyArray_STRIDE(array, axis) / bytes);
  }
  return tensor;
}

nb::object new_numpy(Dtype dtype, const Dims& shape, PyObject* like) {
  load_numpy();
  PyArray_Descr* const descr = like ? native_descr(PyArray_DESCR(as_array(like))) : descr_of(dtype);
  npy_intp extents[max_rank] = {};
  for (int axis = 0; axis < shape.size(); ++axis) extents[axis] = shape[axis];
  const std::size_t bytes = std::size_t(element_count(shape)) * size_of(dtype);
  if (bytes >= large_result) return large_array(descr, shape.size(), extents, bytes);
  PyObject* const made =
      PyArray_NewFromDescr(&PyArray_Type, descr, shape.size(), extents, nullptr, nullptr, 0, nullptr);
  if (!made) throw nb::python_error();
  return nb::steal(made);
}

void* numpy_data(PyObject* array) {
  return PyArray_DATA(as_array(array));
}

bool same_numpy_dtype(PyObject* a, PyObject* b) {
  const auto native = [](PyObject* array) {
    return nb::steal(reinterpret_cast<PyObject*>(native_descr(PyArray_DESCR(as_array(array)))));
  };
  return native(a).equal(native(b));
}

nb::object as_scalar_if_0d(nb::object array) {
  return nb::steal(PyArray_Return(as_array(array.release().ptr())));
}

}  // namespace axisloom::python
