#include "native/array.hpp"

#include "native/calls.hpp"
#include "native/capsules.hpp"
#include "native/elements.hpp"
#include "native/indexing.hpp"
#include "native/kinds.hpp"
#include "native/memory.hpp"
#include "native/operands.hpp"
#include "native/streams.hpp"
#include "native/unlocked.hpp"

#include <axisloom/dlpack.hpp>
#include <axisloom/error.hpp>

#include "core/number.hpp"
#include "device/device.hpp"

#include <nanobind/stl/string.h>

#include <array>
#include <cstring>
#include <optional>
#include <string>

namespace axisloom::python {
namespace {

constexpr DLDevice host_place = {kDLCPU, 0};

DLDevice place_of(const Device& device) {
  const DeviceInfo& info = device.info();
  return {info.api == Api::cuda ? kDLCUDA : kDLOpenCL, info.index};
}

/// What a CUDA buffer's memory begins with; null elsewhere.
void* address_of(const Buffer& buffer) {
  return buffer ? buffer.impl()->native() : nullptr;
}

nb::tuple tuple_of(const Dims& dims, std::int64_t factor = 1) {
  nb::list list;
  for (const std::int64_t value : dims) list.append(value * factor);
  return nb::tuple(list);
}

nb::tuple byte_strides(const View& view) {
  return tuple_of(view.strides, std::int64_t(size_of(view.dtype)));
}

/// NumPy's dictionary, also CuPy's and Numba's, about memory that can be addressed.
nb::dict array_interface(const Holder& holder, int version) {
  nb::dict all;
  all["shape"] = tuple_of(holder.view().shape);
  all["typestr"] = typestr(holder.view().dtype);
  all["data"] = nb::make_tuple(std::uintptr_t(holder.first()), !holder.writable());
  all["strides"] = holder.view().is_contiguous() ? nb::none() : nb::object(byte_strides(holder.view()));
  all["version"] = version;
  return all;
}

nb::dict host_interface(const Holder& holder) {
  if (!holder.on_host()) throw nb::attribute_error("__array_interface__: the array is not in memory of the host");
  if (holder.view().dtype == Dtype::bf16) throw nb::attribute_error("__array_interface__: it has no name for bf16");
  return array_interface(holder, 3);
}
nb::dict cuda_interface(const Holder& holder) {
  if (holder.on_host() || holder.device().info().api != Api::cuda)
    throw nb::attribute_error("__cuda_array_interface__: the array is not on a CUDA device");
  nb::dict all = array_interface(holder, 3);
  all["stream"] = nb::none();  // calls return when their work is done
  return all;
}

std::string device_of(const Holder& holder) {
  return holder.on_host() ? "host" : holder.device().info().spec();
}

std::string text_of_array(const Holder& holder) {
  return "<axisloom.Array " + to_string(holder.view()) + " on " + device_of(holder) + ">";
}

Device device_or_host(nb::handle device) {
  if (device.is_none()) return {};
  const Device& found = device_named(text_of(device.ptr(), "device="));
  return found.info().api == Api::host ? Device() : found;
}

/// Where a row-major array lies in its buffer, in bytes.
struct Stretch {
  explicit Stretch(const View& view)
      : begin(std::size_t(view.offset) * size_of(view.dtype)), bytes(std::size_t(view.count()) * size_of(view.dtype)) {}
  std::size_t begin, bytes;
};

/// The elements between two arrays of one shape and dtype, one of them row-major on the host and one on a device.
void write_all(const Holder& to, const void* from) {
  const Stretch stretch(to.view());
  if (!stretch.bytes) return;
  const Queue& queue = own_queue(to.device());
  const Unlocked unlocked(true);
  queue.write(to.buffer(), stretch.begin, {static_cast<const std::byte*>(from), stretch.bytes}).wait();
}
void read_all(const Holder& from, void* to) {
  const Stretch stretch(from.view());
  if (!stretch.bytes) return;
  const Queue& queue = own_queue(from.device());
  const Unlocked unlocked(true);
  queue.read(from.buffer(), stretch.begin, {static_cast<std::byte*>(to), stretch.bytes}).wait();
}

/// A row-major copy where the array lies, as an Array.
nb::object copied(nb::handle array) {
  const std::string_view name = "copy";
  const std::array<PyObject*, 1> arrays = {array.ptr()};
  return run({.name = name, .arguments = {}, .arrays = arrays, .lengths = {}, .options = {}});
}

nb::object on_host_of(nb::handle array) {
  const Holder& holder = holder_of(array.ptr());
  if (holder.on_host()) return nb::borrow(array);
  const nb::object contiguous = holder.view().is_contiguous() ? nb::borrow(array) : copied(array);
  Holder made(holder.view().dtype, holder.view().shape, {});
  read_all(holder_of(contiguous.ptr()), made.first());
  return new_array(std::move(made));
}

nb::object to_device(nb::handle array, nb::handle device_name) {
  const Device device = device_or_host(device_name);
  const Holder& holder = holder_of(array.ptr());
  if (holder.device().impl() == device.impl()) return nb::borrow(array);
  const nb::object here = on_host_of(array);
  if (!device) return here;
  const nb::object contiguous = holder_of(here.ptr()).view().is_contiguous() ? here : copied(here);
  const Holder& from = holder_of(contiguous.ptr());
  Holder made(from.view().dtype, from.view().shape, device);
  write_all(made, from.first());
  return new_array(std::move(made));
}

/// An array of any library as an Array on the host or where it lies, without a copy where that is possible.
nb::object held(nb::handle array) {
  const Kind& kind = kind_of(array.ptr());
  if (kind.family == Family::own) return nb::borrow(array);
  if (kind.family == Family::foreign) return held(own_module("_kinds").attr("adapted")(array));
  Tensor tensor = tensor_of(array.ptr(), kind);
  if (tensor.opaque)
    throw_type_error("an axisloom.Array is of numbers or bools, not of dtype %S",
                     nb::object(array.attr("dtype")).ptr());
  nb::object owner = tensor.is_copy() ? tensor.owner : nb::borrow(array);
  return new_array(Holder(tensor, std::move(owner)));
}

/// Array(x, device): a new one, whose elements are copies.
void construct(Holder* self, nb::handle array, nb::handle device) {
  const nb::object from = held(array);
  nb::object made = device.is_none() ? from : to_device(from, device);
  if (made.is(from)) made = copied(from);
  new (self) Holder(holder_of(made.ptr()));
}

std::int64_t extent_of(nb::handle extent) {
  const Py_ssize_t number = PyNumber_AsSsize_t(extent.ptr(), PyExc_OverflowError);
  if (number == -1 && PyErr_Occurred()) throw nb::python_error();
  return number;
}

/// A number, or several in any sequence. One extent may be -1: what the others leave.
Dims wanted_shape(nb::handle shape, std::int64_t count) {
  Dims wanted;
  if (PyIndex_Check(shape.ptr()) && !nb::hasattr(shape, "__len__"))
    wanted.push_back(extent_of(shape));
  else
    for (const nb::handle extent : shape) wanted.push_back(extent_of(extent));
  std::int64_t others = 1;
  std::int64_t* open = nullptr;
  for (std::int64_t& extent : wanted) {
    if (extent != -1)
      others *= extent;
    else if (open)
      throw Error(Errc::shape, "a shape has -1 once at most");
    else
      open = &extent;
  }
  if (open) *open = others > 0 ? count / others : 0;
  return wanted;
}

/// The shape is one argument, or each extent is.
nb::object reshaped(nb::handle self, const nb::args& extents) {
  const nb::object shape = extents.size() == 1 ? nb::object(extents[0]) : nb::object(extents);
  const nb::object contiguous = holder_of(self.ptr()).view().is_contiguous() ? nb::borrow(self) : copied(self);
  const Holder& holder = holder_of(contiguous.ptr());
  return new_array(holder.reshaped(wanted_shape(shape, holder.view().count())));
}

nb::object empty(nb::handle dtype_name, nb::handle shape, nb::handle device) {
  const std::string_view text = text_of(dtype_name.ptr(), "a dtype");
  const std::optional<Dtype> dtype = dtype_of(text);
  if (!dtype) throw_type_error("no such dtype: %s", std::string(text).c_str());
  return new_array(Holder(*dtype, wanted_shape(shape, 0), device_or_host(device)));
}

nb::object part(const Holder& self, nb::handle key) {
  return new_array(self.part(part_of(self.view(), key.ptr())));
}
void set_part(const Holder& self, nb::handle key, nb::handle value) {
  own_module("_arrays").attr("assign")(part(self, key), value);
}

nb::object iterated(nb::handle self) {
  if (holder_of(self.ptr()).view().rank() == 0) throw nb::type_error("an array without axes cannot be iterated over");
  return nb::steal(PySeqIter_New(self.ptr()));
}

nb::object refuse_comparison(const Holder&, nb::handle) {
  throw nb::type_error("an axisloom.Array compares no elements: take it to its own library, such as by numpy()");
}

/// What Python calls the only element.
nb::object item(const Holder& self) {
  if (self.view().count() != 1)
    throw_type_error("only an array of one element is a number: this one is %s", to_string(self.view()).c_str());
  std::array<std::byte, 16> element = {};
  if (self.on_host())
    std::memcpy(element.data(), self.first(), size_of(self.view().dtype));
  else
    read_all(self, element.data());
  return python_number(self.view().dtype, element.data());
}

template <PyTypeObject& Type>
nb::object number_as(const Holder& self) {
  return nb::handle(reinterpret_cast<PyObject*>(&Type))(item(self));
}

bool truth(const Holder& self) {
  if (self.view().count() != 1)
    throw Error(Errc::shape, to_string(self.view()) + " is neither true nor false",
                "reduce it by axisloom.any or axisloom.all");
  return PyObject_IsTrue(item(self).ptr()) == 1;
}

/// NumPy's rule: an array of one axis would be one of several indices.
nb::object index(const Holder& self) {
  const core::NumberKind kind = core::kind_of(self.view().dtype);
  const bool whole = kind == core::NumberKind::signed_integer || kind == core::NumberKind::unsigned_integer;
  if (self.view().rank() != 0 || !whole)
    throw_type_error("only an integer without axes is an index: this is %s", to_string(self.view()).c_str());
  return item(self);
}

/// For pickle: how another process makes it again.
nb::object pickled(nb::handle self) {
  const nb::object here = on_host_of(self);
  const nb::object contiguous = holder_of(here.ptr()).view().is_contiguous() ? here : copied(here);
  const Holder& holder = holder_of(contiguous.ptr());
  const std::string_view dtype = name(holder.view().dtype);
  const nb::bytes elements(holder.first(), std::size_t(holder.view().count()) * size_of(holder.view().dtype));
  return nb::make_tuple(own_module("_arrays").attr("restored"),
                        nb::make_tuple(nb::str(dtype.data(), dtype.size()), tuple_of(holder.view().shape), elements,
                                       device_of(holder_of(self.ptr()))));
}

nb::object from_bytes(nb::handle dtype, nb::handle shape, const nb::bytes& elements) {
  nb::object made = empty(dtype, shape, nb::none());
  const Holder& holder = holder_of(made.ptr());
  const std::size_t bytes = std::size_t(holder.view().count()) * size_of(holder.view().dtype);
  if (elements.size() != bytes)
    throw Error(Errc::shape, to_string(holder.view()) + " has " + std::to_string(bytes) + " bytes, not " +
                                 std::to_string(elements.size()));
  if (bytes) std::memcpy(holder.first(), elements.data(), bytes);
  return made;
}

nb::object converted(nb::handle self, nb::handle dtype, nb::handle copy) {
  return own_module("_arrays").attr("as_dtype")(self, dtype, copy);
}

nb::object to_numpy(nb::handle self) {
  const nb::object here = on_host_of(self), numpy = nb::module_::import_("numpy");
  const Holder& holder = holder_of(here.ptr());
  if (holder.view().dtype != Dtype::bf16) return numpy.attr("asarray")(here);
  View bits = holder.view();  // buffers have no name for the dtype
  bits.dtype = Dtype::u16;
  const nb::object dtype = own_module("_arrays").attr("numpy_dtype")("bfloat16");
  return numpy.attr("asarray")(new_array(holder.part(bits))).attr("view")(dtype);
}

/// What NumPy asks for where it found neither a buffer nor an interface: the array is on a device, or bf16.
nb::object as_array(nb::handle self, nb::handle dtype, nb::handle copy) {
  const Holder& holder = holder_of(self.ptr());
  if (!holder.on_host())
    throw_type_error("the array is on %s: take it to the host first, by numpy()", device_of(holder).c_str());
  nb::object array = to_numpy(self);
  if (dtype.is_none() && !copy.is(nb::handle(Py_True))) return array;
  return nb::module_::import_("numpy").attr("array")(array, dtype);
}

}  // namespace

Holder::Holder(Dtype dtype, const Dims& shape, const Device& device)
    : view_(View::contiguous(dtype, shape)), device_(device) {
  if (device) {
    buffer_ = device.allocate(std::size_t(view_.count()) * size_of(dtype));
    place_ = python::place_of(device);
    first_ = place_.device_type == kDLCUDA ? address_of(buffer_) : nullptr;
    return;
  }
  const std::size_t bytes = std::size_t(view_.count()) * size_of(dtype);
  if (bytes >= large_result) {
    memory_ = std::shared_ptr<void>(take_memory(bytes), give_memory);
    first_ = memory_.get();
  } else {
    auto memory = std::make_shared<axisloom::Array>(dtype, shape);
    first_ = memory->data();
    memory_ = std::move(memory);
  }
}

Holder::Holder(const Tensor& tensor, nb::object owner)
    : owner_(std::move(owner)), first_(tensor.first), place_(tensor.place), writable_(tensor.writable) {
  const OutputArray array(tensor.dtype, tensor.first, tensor.shape, tensor.strides);
  view_ = array.view();
  if (python::on_host(tensor)) return;
  device_ = cuda_device(place_.device_id);
  buffer_ = device_.borrow_buffer(array.begin(), std::size_t(view_.bounds().high) * size_of(view_.dtype));
}

Tensor Holder::tensor() const {
  Tensor tensor;
  tensor.dtype = view_.dtype;
  tensor.first = first_;
  tensor.shape = view_.shape;
  tensor.strides = view_.strides;
  tensor.place = place_;
  tensor.writable = writable_;
  return tensor;
}

Holder Holder::reshaped(const Dims& shape) const {
  if (element_count(shape) != view_.count())
    throw Error(Errc::shape, to_string(view_) + " has " + std::to_string(view_.count()) + " elements, a shape of " +
                                 to_string(shape) + " has " + std::to_string(element_count(shape)));
  Holder made = *this;
  made.view_.shape = shape;
  made.view_.strides = contiguous_strides(shape);
  return made;
}

Holder Holder::part(const View& view) const {
  Holder made = *this;
  made.view_ = view;
  if (first_)
    made.first_ = static_cast<char*>(first_) + (view.offset - view_.offset) * std::ptrdiff_t(size_of(view.dtype));
  return made;
}

nb::object array_type() {
  return nb::borrow(nb::type<Holder>());
}

nb::object new_array(Holder holder) {
  return nb::cast(std::move(holder));
}

Holder& holder_of(PyObject* array) {
  return nb::cast<Holder&>(nb::handle(array));
}

namespace {

/// Parts, and elements as numbers.
void bind_elements(nb::class_<Holder>& array) {
  array
      .def("astype", converted, nb::arg("dtype"), nb::kw_only(), nb::arg("copy") = true,
           "The elements as another dtype, on the same device; with copy=False itself where it has that dtype.")
      .def("item", item, "The only element, as a number of Python.")
      .def("__getitem__", part, nb::arg("key").none())
      .def("__setitem__", set_part, nb::arg("key").none(), nb::arg("value").none())
      .def("__iter__", iterated)
      .def("__contains__", refuse_comparison, nb::arg("element").none())
      .def("__bool__", truth)
      .def("__index__", index)
      .def("__int__", number_as<PyLong_Type>)
      .def("__float__", number_as<PyFloat_Type>)
      .def("__complex__", number_as<PyComplex_Type>)
      .def("__copy__", copied)
      .def("__deepcopy__", [](nb::handle self, nb::handle) { return copied(self); })
      .def("__reduce__", pickled)
      .def("__len__", [](const Holder& self) {
        if (self.view().rank() == 0) throw nb::type_error("an array without axes has no length");
        return self.view().shape[0];
      });
}

}  // namespace

void bind_array(nb::module_& module) {
  nb::class_<Holder> array(
      module, "Array", nb::type_slots(buffer_slots()), nb::is_weak_referenceable(),
      "An array that Axisloom owns, on the host or on a device, or that it holds for another library.");
  array.def("__init__", construct, nb::arg("array").none(), nb::arg("device") = nb::none())
      .def_prop_ro("shape", [](const Holder& self) { return tuple_of(self.view().shape); })
      .def_prop_ro(
          "strides", [](const Holder& self) { return tuple_of(self.view().strides); }, "In elements.")
      .def_prop_ro("ndim", [](const Holder& self) { return self.view().rank(); })
      .def_prop_ro("size", [](const Holder& self) { return self.view().count(); })
      .def_prop_ro(
          "dtype", [](const Holder& self) { return std::string(name(self.view().dtype)); },
          "As Axisloom names it: \"f32\".")
      .def_prop_ro("device", device_of, "As the grammar of devices spells it: \"host\", \"cuda:0\".")
      .def_prop_ro("__array_interface__", host_interface)
      .def_prop_ro("__cuda_array_interface__", cuda_interface)
      .def("numpy", to_numpy, "As an array of NumPy: the same memory, or a copy where it is on a device.")
      .def("to", to_device, nb::arg("device").none(), "The same elements on that device; itself where it is there.")
      .def("__array__", as_array, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none())
      .def("reshape", reshaped, "The same elements in another shape; a copy where they have gaps.")
      .def(
          "__array_namespace__", [](nb::handle, nb::handle) { return own_module("array_api"); },
          nb::arg("api_version") = nb::none())
      .def("__dlpack__", export_dlpack, nb::kw_only(), nb::arg("stream") = nb::none(),
           nb::arg("max_version") = nb::none(), nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none())
      .def("__dlpack_device__",
           [](const Holder& self) {
             const DLDevice place = self.on_host() ? host_place : self.tensor().place;
             return nb::make_tuple(int(place.device_type), place.device_id);
           })
      .def("__repr__", text_of_array);
  bind_elements(array);
  module.def("empty", empty, nb::arg("dtype"), nb::arg("shape"), nb::arg("device") = nb::none(),
             "A new array whose elements are not set.");
  module.def("from_bytes", from_bytes, nb::arg("dtype"), nb::arg("shape"), nb::arg("elements"),
             "A new array on the host whose elements, in row-major order, are these bytes.");
  module.def("from_dlpack", from_dlpack, nb::arg("array").none(), nb::arg("stream") = nb::none(),
             "An array of another library, in its memory.");
}

}  // namespace axisloom::python
