#include "native/capsules.hpp"

#include "native/exchange.hpp"
#include "native/kinds.hpp"
#include "native/streams.hpp"

#include <axisloom/dlpack.hpp>
#include <axisloom/error.hpp>

#include "device/device.hpp"

#include <memory>
#include <string>

namespace axisloom::python {
namespace {

constexpr const char* versioned_name = "dltensor_versioned";
constexpr const char* legacy_name = "dltensor";
constexpr const char* used_versioned_name = "used_dltensor_versioned";
constexpr const char* used_legacy_name = "used_dltensor";

/// What a tensor that was given away keeps.
struct Given {
  nb::object array;
  Dims shape, strides;
};

template <class Managed>
void drop(Managed* self) {
  const nb::gil_scoped_acquire lock;
  delete static_cast<Given*>(self->manager_ctx);
  delete self;
}

DLTensor described(const Holder& holder, Given& given) {
  DLTensor tensor = {};
  tensor.data = holder.first();
  tensor.device = holder.tensor().place;
  if (tensor.device.device_type == kDLOpenCL && holder.buffer()) {  // whose memory has handles, no addresses
    tensor.data = holder.buffer().impl()->native();
    tensor.byte_offset = std::uint64_t(holder.view().offset) * size_of(holder.view().dtype);
  }
  tensor.ndim = given.shape.size();
  tensor.dtype = dlpack_dtype(holder.view().dtype);
  tensor.shape = given.shape.begin();
  tensor.strides = given.strides.begin();
  return tensor;
}

template <class Managed>
std::unique_ptr<Managed> managed(nb::handle array) {
  const Holder& holder = holder_of(array.ptr());
  auto given = std::make_unique<Given>(Given{nb::borrow(array), holder.view().shape, holder.view().strides});
  auto made = std::make_unique<Managed>();
  made->dl_tensor = described(holder, *given);
  made->deleter = drop<Managed>;
  made->manager_ctx = given.release();
  return made;
}

/// Called when a capsule dies; nothing where its tensor was taken, which renames it.
template <class Managed>
void drop_capsule(PyObject* capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule, name)) return;
  auto* const tensor = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (tensor->deleter) tensor->deleter(tensor);
}
void drop_versioned(PyObject* capsule) {
  drop_capsule<DLManagedTensorVersioned>(capsule, versioned_name);
}
void drop_legacy(PyObject* capsule) {
  drop_capsule<DLManagedTensor>(capsule, legacy_name);
}

template <class Managed>
nb::object capsule_of(std::unique_ptr<Managed> tensor, const char* name, PyCapsule_Destructor destructor) {
  PyObject* const capsule = PyCapsule_New(tensor.get(), name, destructor);
  if (!capsule) {
    tensor->deleter(tensor.release());
    throw nb::python_error();
  }
  tensor.release();
  return nb::steal(capsule);
}

bool grants_version_1(nb::handle max_version) {
  return !max_version.is_none() && nb::cast<int>(max_version[0]) >= int(DLPACK_MAJOR_VERSION);
}

/// Keeps a tensor that was taken, until the last holder of it is gone.
template <class Managed>
nb::object keeper(Managed* tensor) {
  return nb::capsule(tensor, [](void* taken) noexcept {
    auto* const owned = static_cast<Managed*>(taken);
    if (owned->deleter) owned->deleter(owned);
  });
}

/// CuPy divides strides in bytes as numbers without a sign, so a negative one comes as a large one. As bytes it is what
/// it was.
std::int64_t mended_stride(std::int64_t stride, std::int64_t element_bytes) {
  return std::int64_t(std::uint64_t(stride) * std::uint64_t(element_bytes)) / element_bytes;
}

/// What the tensor says, checked: a library may make any mistake.
Tensor checked_tensor(DLTensor tensor, const std::string& giver) try {
  std::int64_t strides[max_rank];
  const int element_bytes = tensor.dtype.bits / 8;
  if (tensor.strides && tensor.ndim <= max_rank && element_bytes > 0) {
    for (int axis = 0; axis < tensor.ndim; ++axis) strides[axis] = mended_stride(tensor.strides[axis], element_bytes);
    tensor.strides = strides;
  }
  const std::int64_t count = view_of(tensor).count();
  if (tensor.device.device_type == kDLOpenCL)
    throw Error(Errc::unsupported, "the tensor lies in an OpenCL context of its own library", "take it to the host");
  if (count > 0 && !tensor.data) throw Error(Errc::usage, "the tensor has elements, but its data is null");
  return described_tensor(tensor);
} catch (const Error& error) {
  throw Error(error.code(), giver + ".__dlpack__: " + error.parts().message, error.parts().remedy);
}

template <class Managed>
nb::object taken(const nb::object& capsule, const std::string& giver, const char* name, const char* used_name,
                 bool read_only) {
  auto* const tensor = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), name));
  Tensor described = checked_tensor(tensor->dl_tensor, giver);
  described.writable = !read_only;
  if (PyCapsule_SetName(capsule.ptr(), used_name) != 0) throw nb::python_error();
  return new_array(Holder(described, keeper(tensor)));
}

[[noreturn]] void refuse_capsule(PyObject* capsule, const std::string& giver) {
  const char* const name = PyCapsule_GetName(capsule);
  const std::string_view text = name ? name : "";
  if (text == used_versioned_name || text == used_legacy_name)
    throw_buffer_error(
        "%s.__dlpack__ returned a capsule whose tensor was taken before: it has to make a new one for "
        "each call",
        giver.c_str());
  throw_buffer_error("%s.__dlpack__ returned a capsule called \"%s\", not \"%s\" or \"%s\"", giver.c_str(),
                     name ? name : "", versioned_name, legacy_name);
}

/// Tensors of before DLPack 1 do not say whether they may be written to. JAX's, which may not, are of these; NumPy
/// takes none of them for writable.
bool says_writable(nb::handle array) {
  static const Name attribute("__cuda_array_interface__");
  const nb::object interface = attribute_or_none(array.ptr(), attribute);
  return !interface.is_none() && interface["data"][1].is(nb::handle(Py_False));
}

nb::object taken(const nb::object& capsule, nb::handle array) {
  const std::string giver = type_name(array.ptr());
  if (!PyCapsule_CheckExact(capsule.ptr()))
    throw_type_error("%s.__dlpack__ returned %s, not a capsule", giver.c_str(), type_name(capsule.ptr()).c_str());
  if (PyCapsule_IsValid(capsule.ptr(), legacy_name))
    return taken<DLManagedTensor>(capsule, giver, legacy_name, used_legacy_name, !says_writable(array));
  if (!PyCapsule_IsValid(capsule.ptr(), versioned_name)) refuse_capsule(capsule.ptr(), giver);
  auto* const tensor = static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule.ptr(), versioned_name));
  if (tensor->version.major > DLPACK_MAJOR_VERSION)
    throw_buffer_error("%s.__dlpack__ returned a tensor of DLPack %u, which is later than %d", giver.c_str(),
                       tensor->version.major, DLPACK_MAJOR_VERSION);
  const bool read_only = tensor->flags & DLPACK_FLAG_BITMASK_READ_ONLY;
  return taken<DLManagedTensorVersioned>(capsule, giver, versioned_name, used_versioned_name, read_only);
}

/// Where the array says that it lies.
DLDevice place_of(nb::handle array) {
  const nb::object given = array.attr("__dlpack_device__")();
  int type = 0, number = 0;
  const bool pair = PyTuple_Check(given.ptr()) && PyTuple_Size(given.ptr()) == 2;
  if (!pair || !nb::try_cast(given[0], type) || !nb::try_cast(given[1], number))
    throw_type_error("%s.__dlpack_device__ returned %R, not a device type and a number", type_name(array.ptr()).c_str(),
                     given.ptr());
  return {DLDeviceType(type), number};
}

/// What the producer is asked for: its work finished before ours begins.
nb::dict wishes(nb::handle array, nb::handle stream) {
  nb::dict wishes;
  const DLDevice place = place_of(array);
  if (!stream.is_none())
    wishes["stream"] = stream;
  else if (place.device_type == kDLCUDA || place.device_type == kDLCUDAManaged)
    wishes["stream"] = std::uintptr_t(own_queue(cuda_device(place.device_id)).impl()->native());
  return wishes;
}

/// What __dlpack__ returns.
nb::object asked_capsule(nb::handle array, nb::handle stream) {
  nb::dict asked = wishes(array, stream);
  const nb::object method = array.attr("__dlpack__");
  asked["max_version"] = nb::make_tuple(DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION);
  try {
    return method(**asked);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;  // of before DLPack 1: it does not know max_version
  }
  PyDict_DelItemString(asked.ptr(), "max_version");
  return method(**asked);
}

// ---- buffers

/// What a buffer points to besides the elements.
struct BufferDetails {
  std::string format;
  Py_ssize_t shape[max_rank] = {}, strides[max_rank] = {};
};

int refuse_buffer(Py_buffer* buffer, const char* why) {
  buffer->obj = nullptr;
  PyErr_SetString(PyExc_BufferError, why);
  return -1;
}

void fill_buffer(Py_buffer* buffer, const Holder& holder, BufferDetails& details, int flags) {
  const View& view = holder.view();
  const auto bytes = Py_ssize_t(size_of(view.dtype));
  for (int axis = 0; axis < view.rank(); ++axis) {
    details.shape[axis] = Py_ssize_t(view.shape[axis]);
    details.strides[axis] = Py_ssize_t(view.strides[axis]) * bytes;
  }
  buffer->buf = holder.first();
  buffer->len = Py_ssize_t(view.count()) * bytes;
  buffer->readonly = !holder.writable();
  buffer->itemsize = bytes;
  buffer->format = (flags & PyBUF_FORMAT) ? details.format.data() : nullptr;
  buffer->ndim = view.rank();
  buffer->shape = (flags & PyBUF_ND) ? details.shape : nullptr;
  buffer->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? details.strides : nullptr;
  buffer->suboffsets = nullptr;
  buffer->internal = &details;
}

int get_buffer(PyObject* self, Py_buffer* buffer, int flags) noexcept try {
  const Holder& holder = holder_of(self);
  if (!holder.on_host())
    return refuse_buffer(buffer, "the array is on a device: take it to the host first, by to(\"host\")");
  if ((flags & PyBUF_WRITABLE) && !holder.writable()) return refuse_buffer(buffer, "the array is read-only");
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !holder.view().is_contiguous())
    return refuse_buffer(buffer, "the array is not contiguous");
  auto details = std::make_unique<BufferDetails>();
  details->format = buffer_format(holder.view().dtype);
  fill_buffer(buffer, holder, *details.release(), flags);
  Py_INCREF(self);
  buffer->obj = self;
  return 0;
} catch (const std::exception& error) {
  return refuse_buffer(buffer, error.what());
}

void release_buffer(PyObject*, Py_buffer* buffer) noexcept {
  delete static_cast<BufferDetails*>(buffer->internal);
}

}  // namespace

nb::object export_dlpack(nb::handle self, nb::handle, nb::handle max_version, nb::handle dl_device, nb::handle copy) {
  nb::object array = nb::borrow(self);
  if (!dl_device.is_none() && !array.attr("__dlpack_device__")().equal(dl_device)) {
    const bool to_host = nb::cast<int>(dl_device[0]) == kDLCPU;
    if (!to_host || copy.is(nb::handle(Py_False))) throw nb::buffer_error("the array cannot be given on that device");
    array = array.attr("to")("host");
  } else if (copy.is(nb::handle(Py_True))) {
    array = array_type()(array);
  }
  if (!grants_version_1(max_version)) return capsule_of(managed<DLManagedTensor>(array), legacy_name, drop_legacy);
  auto tensor = managed<DLManagedTensorVersioned>(array);
  tensor->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  tensor->flags = holder_of(array.ptr()).writable() ? 0 : DLPACK_FLAG_BITMASK_READ_ONLY;
  return capsule_of(std::move(tensor), versioned_name, drop_versioned);
}

nb::object from_dlpack(nb::handle array, nb::handle stream) {
  if (kind_of(array.ptr()).family == Family::own) return nb::borrow(array);  // refuses masked arrays too
  if (!nb::hasattr(array, "__dlpack__") || !nb::hasattr(array, "__dlpack_device__"))
    throw_type_error("%s is not an array: it has no __dlpack__", type_name(array.ptr()).c_str());
  return taken(asked_capsule(array, stream), array);
}

const PyType_Slot* buffer_slots() {
  static const PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                                      {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                                      {0, nullptr}};
  return slots;
}

}  // namespace axisloom::python
