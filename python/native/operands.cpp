#include "native/operands.hpp"

#include "native/numpy.hpp"
#include "native/streams.hpp"

#include <axisloom/error.hpp>

#include <string>

namespace axisloom::python {
namespace {

bool is_none(PyObject* object) {
  return !object || object == Py_None;
}

bool same_place(const DLDevice& a, const DLDevice& b) {
  return a.device_type == b.device_type && a.device_id == b.device_id;
}

std::size_t reach_of(const View& view) {
  return std::size_t(view.bounds().high) * size_of(view.dtype);
}

/// Where elements lie, with all of the host's memory taken for one place.
DLDevice place_of(const Tensor& tensor) {
  return on_host(tensor) ? DLDevice{kDLCPU, 0} : tensor.place;
}

/// As the grammar of devices spells it.
std::string text_of_place(const DLDevice& place) {
  if (place.device_type == kDLCPU) return "the host";
  const std::string number = std::to_string(place.device_id);
  return (place.device_type == kDLOpenCL ? "opencl:" : "cuda:") + number;
}

}  // namespace

Tensor tensor_of(PyObject* object, const Kind& kind) {
  switch (kind.family) {
    case Family::numpy:
      return numpy_tensor(object);
    case Family::exchange:
      return exchanged_tensor(*kind.api, object);
    case Family::own:
      return holder_of(object).tensor();
    case Family::foreign:
      break;
  }
  throw_type_error("%s is not an array", type_name(object).c_str());
}

Operands::Operands(const Call& call) {
  operands_.reserve(call.arrays.size());
  std::vector<Tensor> tensors;
  tensors.reserve(call.arrays.size());
  for (PyObject* const array : call.arrays) tensors.push_back(tensor_of(array, kind_of(array)));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    opaque_ = opaque_ || tensors[i].opaque;
    if (tensors[i].opaque && !is_move(call.name))
      throw_type_error("%s needs numbers: arrays of dtype %S can only be moved", std::string(call.name).c_str(),
                       nb::borrow(call.arrays[i]).attr("dtype").ptr());
  }
  place_ = place_of(tensors[0]);
  if (!is_none(call.stream)) stream_handle(call.stream);  // refused on the host too, where it is of no use
  if (place_.device_type != kDLCPU) choose_queue(call);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    operands_.push_back(operand(call.arrays[i], tensors[i]));
    if (tensors[i].is_copy()) copies_.push_back(std::move(tensors[i].owner));
  }
}

void Operands::choose_queue(const Call& call) {
  PyObject* const first = call.arrays[0];
  const Kind& kind = kind_of(first);
  device_ = kind.family == Family::own ? holder_of(first).device() : cuda_device(place_.device_id);
  if (!is_none(call.stream)) {
    queue_ = queue_on(device_, stream_handle(call.stream));
    waits_ = false;
  } else if (kind.family == Family::exchange) {
    queue_ = queue_on(device_, current_stream(*kind.api, place_));
    waits_ = false;
  } else {
    queue_ = own_queue(device_);
  }
}

Operand Operands::operand(PyObject* object, const Tensor& tensor) const {
  if (!same_place(place_of(tensor), place_))
    throw Error(Errc::usage, "arrays of one call have to lie in one place: one is on " +
                                 text_of_place(place_of(tensor)) + ", the first one on " + text_of_place(place_));
  if (on_host()) return Operand(tensor);
  if (kind_of(object).family == Family::own) return of_holder(holder_of(object));
  return addressed(Operand(tensor));
}

Operand Operands::addressed(Operand operand) const {
  operand.set_buffer(device_.borrow_buffer(operand.begin(), reach_of(operand.view())));
  return operand;
}

Operand Operands::output(PyObject* object, const Tensor& tensor) const {
  return operand(object, tensor);
}

Operand Operands::on_device(const View& result, void* data) const {
  const Operand operand(result, data);
  return on_host() ? operand : addressed(operand);
}

Operand Operands::of_holder(const Holder& holder) const {
  if (holder.on_host()) return Operand(holder.tensor());
  // A plan is for one offset: parts of an array share theirs where memory has addresses.
  if (holder.first() && holder.view().offset != 0) return addressed(Operand(holder.tensor()));
  return Operand(holder.view(), holder.buffer());
}

std::vector<const void*> Operands::begins() const {
  std::vector<const void*> begins;
  begins.reserve(operands_.size());
  for (const Operand& operand : operands_) begins.push_back(operand.begin());
  return begins;
}

std::vector<Buffer> Operands::buffers(const Operand& output) const {
  std::vector<Buffer> buffers;
  buffers.reserve(operands_.size() + 1);
  for (const Operand& operand : operands_) buffers.push_back(operand.buffer());
  buffers.push_back(output.buffer());
  return buffers;
}

}  // namespace axisloom::python
