#include "native/calls.hpp"

#include "native/array.hpp"
#include "native/kinds.hpp"
#include "native/numpy.hpp"
#include "native/operands.hpp"
#include "native/plans.hpp"
#include "native/unlocked.hpp"

#include <axisloom/call.hpp>
#include <axisloom/error.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace axisloom::python {
namespace {

// Below that many bytes, a call is over before another thread could use the lock: giving it up and taking it again
// costs 0.1 us, which moves 4 KiB.
constexpr std::int64_t bytes_worth_unlocking = 16 << 10;

bool is_none(PyObject* object) {
  return !object || object == Py_None;
}

/// The same call by a function in Python.
nb::object run_by(const nb::object& function, const Call& call) {
  nb::list arguments, arrays;
  nb::dict lengths, options;
  for (const std::string_view argument : call.arguments) arguments.append(nb::str(argument.data(), argument.size()));
  for (PyObject* const array : call.arrays) arrays.append(nb::borrow(array));
  for (const auto& [name, length] : call.lengths) lengths[nb::str(name.data(), name.size())] = nb::int_(length);
  for (const auto& [name, value] : call.options)
    options[nb::str(name.data(), name.size())] = nb::str(value.data(), value.size());
  const auto given = [](PyObject* object) { return object ? nb::borrow(object) : nb::none(); };
  return function(nb::str(call.name.data(), call.name.size()), nb::tuple(arguments), nb::tuple(arrays), lengths,
                  options, given(call.out), given(call.device), given(call.stream));
}

/// Whether the array can be read and written here, and if not, who does the call.
enum class Done { here, by_kinds, by_torch };
Done who_does(PyObject* object, const Kind& kind) {
  if (kind.family == Family::foreign) return Done::by_kinds;
  if (!kind.torch) return Done::here;
  return kind.api && is_plain_torch(object) ? Done::here : Done::by_torch;
}

Done who_does(const Call& call) {
  Done done = Done::here;
  for (PyObject* const array : call.arrays) done = std::max(done, who_does(array, kind_of(array)));
  if (!is_none(call.out)) done = std::max(done, who_does(call.out, kind_of(call.out)));
  return done;
}

/// A new array of the first one's kind.
struct Made {
  nb::object object;
  Operand operand;
};
Made make_result(const Call& call, const Operands& operands, const View& result) {
  PyObject* const like = call.arrays[0];
  const Kind& kind = kind_of(like);
  if (kind.family == Family::numpy) {
    const bool same = is_move(call.name);
    nb::object object = new_numpy(result.dtype, result.shape, same ? like : nullptr);
    void* const data = numpy_data(object.ptr());
    return {std::move(object), Operand(result, data)};
  }
  if (kind.family == Family::exchange) {
    void* data = nullptr;
    nb::object object = new_exchanged(*kind.api, result.dtype, result.shape, operands.place(), &data);
    return {std::move(object), operands.on_device(result, data)};
  }
  nb::object object = new_array(Holder(result.dtype, result.shape, operands.device()));
  Operand operand = operands.of_holder(holder_of(object.ptr()));
  return {std::move(object), std::move(operand)};
}

/// `plan` by value: while the lock is given up, another thread may forget the remembered one.
void run_plan(const Remembered plan, const Operands& operands, const Operand& output) {
  if (operands.on_host()) {
    const auto begins = operands.begins();
    const Unlocked unlocked(plan.bytes > bytes_worth_unlocking);
    plan.plan.run(begins, output.begin());
    return;
  }
  const std::vector<Buffer> buffers = operands.buffers(output);
  const Unlocked unlocked(true);
  const Event done = plan.plan.run(operands.queue(), buffers);
  if (operands.waits()) done.wait();
}

/// Between the host's memory and a device that was asked for: there, and back.
void run_there(const Operation op, const Device device, const Operands& operands, const Operand& output) {
  std::vector<InputArray> inputs;
  for (const Operand& operand : operands) inputs.emplace_back(operand.view(), operand.begin());
  const Unlocked unlocked(true);
  run_into(OutputArray(output.view(), output.begin()), op, inputs, device);
}

void run_into_operand(Asked& asked, const Operands& operands, const Operand& output) {
  if (operands.on_host() && !asked.on_host) return run_there(asked.op, asked.device, operands, output);
  run_plan(asked.plan_for(operands, output), operands, output);
}

/// Kept: looking it up takes longer than what it does first.
const nb::object& torch_dispatch() {
  return kept<nb::object>([] { return own_module("torch").attr("dispatch"); });
}

/// The output that the caller gives; nothing for a tensor of PyTorch without memory of its own.
std::optional<Tensor> output_of(const Call& call) {
  const Kind& kind = kind_of(call.out);
  try {
    return tensor_of(call.out, kind);
  } catch (nb::python_error&) {
    if (!kind.torch) throw;
    return std::nullopt;
  }
}

/// Whether the output is one that elements can be written to, each to its own place.
void check_output(const Tensor& tensor) {
  if (!tensor.writable) throw Error(Errc::usage, "out= cannot be written to: it is read-only");
  if (element_count(tensor.shape) == 0) return;  // NumPy gives such an array any strides
  for (int axis = 0; axis < tensor.shape.size(); ++axis)
    if (tensor.strides[axis] == 0 && tensor.shape[axis] > 1)
      throw Error(Errc::usage, "out= has stride 0 along axis " + std::to_string(axis) + ": its elements share memory",
                  "give an array whose elements have memory of their own");
}

/// Bytes without a meaning here go to an output of the same meaning alone.
void check_meaning(const Call& call, const Operands& operands, const View& result, const Tensor& output) {
  if (!operands.opaque() && !output.opaque) return;
  PyObject* const from = call.arrays[0];
  const auto is_numpy = [](PyObject* array) { return kind_of(array).family == Family::numpy; };
  if (is_numpy(from) && is_numpy(call.out) && same_numpy_dtype(from, call.out)) return;
  const auto dtype = [](PyObject* array) {
    const nb::object text = nb::steal(PyObject_Str(nb::object(nb::borrow(array).attr("dtype")).ptr()));
    return std::string(text_of(text.ptr(), "a dtype"));
  };
  const std::string given = operands.opaque() ? dtype(from) : std::string(name(result.dtype));
  throw Error(Errc::dtype, "the result is of dtype " + given + ", out= is of " + dtype(call.out),
              "give an array of the same dtype");
}

/// An output that the caller gives. What cannot be written in place gets the elements of a new array.
nb::object run_into_given(const Call& call, Asked& asked, const Operands& operands) {
  const nb::object out = nb::borrow(call.out);
  const View result = asked.result;
  const std::optional<Tensor> given = output_of(call);
  if (!given) return run_by(torch_dispatch(), call);
  const Tensor& tensor = *given;
  check_output(tensor);
  check_meaning(call, operands, result, tensor);
  const bool in_place = !tensor.is_copy();
  try {
    if (in_place) {
      run_into_operand(asked, operands, operands.output(call.out, tensor));
      if (kind_of(call.out).torch) count_write(call.out);
      return out;
    }
  } catch (const Error& error) {
    if (error.code() != Errc::overlap) throw;
  }
  Made made = make_result(call, operands, result);
  run_into_operand(asked_for(call, operands), operands, made.operand);
  nb::borrow(out)[nb::ellipsis()] = made.object;  // by the array's own assignment
  return out;
}

}  // namespace

namespace {

nb::object run_here(const Call& call, const Operands& operands) {
  Asked& asked = asked_for(call, operands);
  if (!is_none(call.out)) return run_into_given(call, asked, operands);
  Made made = make_result(call, operands, asked.result);
  const bool scalar =
      asked.result.rank() == 0 && !is_move(call.name) && kind_of(call.arrays[0]).family == Family::numpy;
  run_into_operand(asked, operands, made.operand);
  return scalar ? as_scalar_if_0d(std::move(made.object)) : std::move(made.object);
}

bool has_pattern(std::string_view name) {
  return name == "rearrange" || name == "repeat" || name == "reduce";
}

/// The arrays of a call; nothing for a tensor of PyTorch without memory of its own: sparse, or one that a transform
/// wraps.
std::optional<Operands> read(const Call& call) {
  try {
    return Operands(call);
  } catch (nb::python_error&) {
    const auto is_torch = [](PyObject* array) { return kind_of(array).torch; };
    if (std::none_of(call.arrays.begin(), call.arrays.end(), is_torch)) throw;
    return std::nullopt;
  }
}

/// To einops, a shape that does not suit a pattern and a reduction that is none are errors of the pattern.
bool is_pattern_error(const Call& call, const Error& error) {
  if (!has_pattern(call.name)) return false;
  return error.code() == Errc::shape ||
         (error.code() == Errc::usage && error.parts().message.starts_with("unknown reduction"));
}

}  // namespace

bool is_move(std::string_view name) {
  static constexpr std::array names = {"rearrange", "repeat", "copy", "transpose", "permute", "relayout"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

nb::object run(const Call& call) try {
  if (call.arrays.empty()) throw_type_error("%s needs an array", std::string(call.name).c_str());
  Done done = who_does(call);
  if (done == Done::here) {
    if (const std::optional<Operands> operands = read(call)) return run_here(call, *operands);
    done = Done::by_torch;
  }
  return run_by(done == Done::by_torch ? torch_dispatch() : own_module("_kinds").attr("call"), call);
} catch (const Error& error) {
  if (is_pattern_error(call, error)) throw Error(Errc::pattern, error.parts());
  throw;
}

PlanReport plan_of(const Call& call) {
  if (call.arrays.empty()) throw_type_error("%s needs an array", std::string(call.name).c_str());
  const Operands operands(call);
  Asked& asked = asked_for(call, operands);
  const Made made = make_result(call, operands, asked.result);
  return asked.plan_for(operands, made.operand).plan.report();
}

}  // namespace axisloom::python
