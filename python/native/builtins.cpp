#include "native/builtins.hpp"

#include "native/calls.hpp"
#include "native/errors.hpp"
#include "native/kinds.hpp"
#include "native/memory.hpp"
#include "native/numpy.hpp"
#include "native/plans.hpp"
#include "native/streams.hpp"

#include <axisloom/array.hpp>
#include <axisloom/error.hpp>
#include <axisloom/plan.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace axisloom::python {
namespace {

// Keywords that a call has: more than a pattern has axes.
constexpr std::size_t most_lengths = 64;

using Pair = std::pair<std::string_view, std::int64_t>;

bool is_none(PyObject* object) {
  return !object || object == Py_None;
}

/// The arguments of a builtin, as the interpreter passes them.
class Passed {
 public:
  Passed(PyObject* const* values, Py_ssize_t count, PyObject* names)
      : values_(values),
        count_(std::size_t(count)),
        names_(names),
        named_(names ? std::size_t(PyTuple_Size(names)) : 0) {}

  std::size_t count() const { return count_; }
  PyObject* at(std::size_t index) const { return values_[index]; }
  std::size_t named() const { return named_; }
  std::string_view name(std::size_t index) const {
    return text_of(PyTuple_GetItem(names_, Py_ssize_t(index)), "a keyword");
  }
  PyObject* value(std::size_t index) const { return values_[count_ + index]; }

  /// By place or by name, into the places of `into`. Throws TypeError for what does not belong there.
  void take(const char* function, std::span<const std::string_view> parameters, std::span<PyObject*> into) const {
    if (count_ > parameters.size())
      throw_type_error("%s takes at most %zu arguments, not %zu", function, parameters.size(), count_);
    for (std::size_t i = 0; i < count_; ++i) into[i] = values_[i];
    for (std::size_t i = 0; i < named_; ++i) {
      const auto found = std::find(parameters.begin(), parameters.end(), name(i));
      if (found == parameters.end()) throw_type_error("%s has no parameter %s", function, std::string(name(i)).c_str());
      PyObject*& place = into[std::size_t(found - parameters.begin())];
      if (place) throw_type_error("%s got %s twice", function, std::string(name(i)).c_str());
      place = value(i);
    }
  }

 private:
  PyObject* const* values_;
  std::size_t count_;
  PyObject* names_;
  std::size_t named_;
};

/// `what`: what it is, for messages, as "a length"; `name`: of the axis, or nothing.
std::int64_t whole_number(PyObject* object, const char* what, std::string_view name = {}) {
  if (PyObject* const index = PyNumber_Index(object)) {
    const std::int64_t length = PyLong_AsLongLong(index);
    Py_DECREF(index);
    if (length == -1 && PyErr_Occurred()) throw nb::python_error();
    return length;
  }
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
  PyErr_Clear();
  throw_type_error("%s%s has to be an int, not %s", what, std::string(name).c_str(), type_name(object).c_str());
}

constexpr std::array<std::string_view, 4> option_names = {"out", "device", "stream", "order"};  // the last of reduce

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// Whether a pattern has an axis of that name.
bool has_axis(std::string_view pattern, std::string_view name) {
  for (std::size_t at = pattern.find(name); at != pattern.npos; at = pattern.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_word(pattern[at - 1])) && (end == pattern.size() || !is_word(pattern[end]))) return true;
  }
  return false;
}

/// Whether it is a whole number, and no array of one.
bool is_whole_number(PyObject* value) {
  static const Name length("__len__");
  return PyLong_Check(value) || (PyIndex_Check(value) && attribute_or_none(value, length).is_none());
}

/// A pattern's function: its arrays and texts by place or name, options, and lengths. An axis may be called as an
/// option is: a whole number is then its length.
class PatternCall {
 public:
  /// `options`: how many of the options the function has.
  PatternCall(const char* function, std::span<const std::string_view> parameters, const Passed& passed,
              std::size_t options = 3)
      : parameters_(parameters), options_known_(options) {
    if (passed.count() > parameters.size())
      throw_type_error("%s takes %zu arguments, not %zu", function, parameters.size(), passed.count());
    for (std::size_t i = 0; i < passed.count(); ++i) given_[i] = passed.at(i);
    std::array<bool, most_lengths> taken = {};
    if (passed.named() > taken.size()) throw_type_error("%s got more than %zu keywords", function, taken.size());
    for (std::size_t i = 0; i < passed.named(); ++i) taken[i] = take_parameter(passed.name(i), passed.value(i));
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (!given_[i]) throw_type_error("%s needs %s", function, std::string(parameters[i]).c_str());
    for (std::size_t i = 0; i < passed.named(); ++i)
      if (!taken[i]) take_option(passed.name(i), passed.value(i));
  }

  PyObject* given(std::size_t index) const { return given_[index]; }
  /// Does the operation of that name, whose arguments are texts.
  nb::object run(std::string_view name, std::span<const std::string_view> arguments) const {
    Call call;
    call.name = name;
    call.arguments = arguments;
    call.arrays = std::span(given_).first(1);
    call.lengths = std::span(lengths_).first(lengths_given_);
    call.out = options_[0], call.device = options_[1], call.stream = options_[2];
    std::array<std::pair<std::string_view, std::string_view>, 1> order;
    if (PyObject* const given = options_[3]; given && given != Py_None) {
      order[0] = {option_names[3], text_of(given, "order")};
      call.options = order;
    }
    return python::run(call);
  }

  /// The same call by a function of _patterns.py, with `first` before the arguments if it is not empty.
  nb::object run_by_patterns(const char* function, const char* first = "") const {
    const auto given = [](PyObject* object) { return object ? nb::borrow(object) : nb::none(); };
    nb::list all;
    if (*first) all.append(first);
    for (std::size_t i = 0; i < parameters_.size(); ++i) all.append(given(given_[i]));
    nb::dict lengths;
    for (const auto& [name, length] : std::span(lengths_).first(lengths_given_))
      lengths[nb::str(name.data(), name.size())] = length;
    all.append(lengths);
    for (PyObject* const option : std::span(options_).first(options_known_)) all.append(given(option));
    return own_module("_patterns").attr(function)(*nb::tuple(all));
  }

 private:
  bool take_parameter(std::string_view name, PyObject* value) {
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      if (!given_[i] && name == parameters_[i]) {
        given_[i] = value;
        return true;
      }
    return false;
  }
  void take_option(std::string_view name, PyObject* value) {
    const std::span known = std::span(option_names).first(options_known_);
    const auto option = std::find(known.begin(), known.end(), name);
    if (option != known.end() && !(is_whole_number(value) && names_axis(name))) {
      options_[std::size_t(option - known.begin())] = value;
      return;
    }
    lengths_[lengths_given_++] = {name, whole_number(value, "the length of axis ", name)};
  }
  bool names_axis(std::string_view name) const {
    return PyUnicode_Check(given_[1]) && has_axis(text_of(given_[1], "the pattern"), name);
  }

  std::span<const std::string_view> parameters_;
  std::size_t options_known_;
  std::array<PyObject*, 3> given_ = {};
  std::array<Pair, most_lengths> lengths_;
  std::size_t lengths_given_ = 0;
  std::array<PyObject*, option_names.size()> options_ = {};
};

bool is_list(PyObject* object) {
  return PyList_Check(object) || PyTuple_Check(object);
}

PyObject* move_by_pattern(const char* name, const Passed& passed) {
  static constexpr std::array<std::string_view, 2> parameters = {"tensor", "pattern"};
  const PatternCall call(name, parameters, passed);
  const std::array<std::string_view, 1> pattern = {text_of(call.given(1), "the pattern")};
  if (is_list(call.given(0))) return call.run_by_patterns("moved_together", name).release().ptr();
  return call.run(name, pattern).release().ptr();
}

PyObject* rearrange(const Passed& passed) {
  return move_by_pattern("rearrange", passed);
}
PyObject* repeat(const Passed& passed) {
  return move_by_pattern("repeat", passed);
}
PyObject* reduce(const Passed& passed) {
  static constexpr std::array<std::string_view, 3> parameters = {"tensor", "pattern", "reduction"};
  const PatternCall call("reduce", parameters, passed, option_names.size());
  if (!PyUnicode_Check(call.given(2))) return call.run_by_patterns("reduce_slowly").release().ptr();
  const std::array<std::string_view, 2> texts = {text_of(call.given(2), "the reduction"),
                                                 text_of(call.given(1), "the pattern")};
  if (texts[0].find("->") != std::string_view::npos)
    throw Error(Errc::pattern, "the reduction of reduce is \"" + std::string(texts[0]) + "\", which is a pattern",
                "give the pattern first: reduce(tensor, \"h w -> w\", \"max\")");
  if (is_list(call.given(0))) return call.run_by_patterns("reduce_slowly").release().ptr();
  return call.run("reduce", texts).release().ptr();
}

// ---- call and result

/// The items of a tuple or a list. They are kept: another thread may change the list while arrays are worked on.
class Items {
 public:
  Items(PyObject* sequence, const char* role) {
    if (!PyTuple_Check(sequence) && !PyList_Check(sequence)) throw_type_error("%s have to be a tuple or a list", role);
    PyObject* const tuple = PySequence_Tuple(sequence);
    if (!tuple) throw nb::python_error();
    tuple_ = nb::steal(tuple);
    for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); ++i) items_.push_back(PyTuple_GetItem(tuple, i));
  }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  std::size_t size() const { return items_.size(); }
  PyObject* operator[](std::size_t index) const { return items_[index]; }
  operator std::span<PyObject* const>() const { return items_; }

 private:
  nb::object tuple_;
  std::vector<PyObject*> items_;
};

std::vector<std::string_view> texts_of(PyObject* sequence) {
  std::vector<std::string_view> texts;
  for (PyObject* const item : Items(sequence, "arguments")) texts.push_back(text_of(item, "an argument"));
  return texts;
}

/// Calls take(key, value) for what a dict holds.
template <class Take>
void for_each_item(PyObject* dict, const char* role, Take take) {
  if (is_none(dict)) return;
  if (!PyDict_Check(dict)) throw_type_error("%s have to be a dict", role);
  Py_ssize_t at = 0;
  PyObject *key = nullptr, *value = nullptr;
  while (PyDict_Next(dict, &at, &key, &value)) take(text_of(key, role), value);
}

/// What a call names besides its arrays.
struct Words {
  std::vector<std::string_view> arguments;
  std::vector<Pair> lengths;
  std::vector<std::pair<std::string_view, std::string_view>> options;

  Words(PyObject* arguments_given, PyObject* lengths_given, PyObject* options_given)
      : arguments(texts_of(arguments_given)) {
    for_each_item(lengths_given, "lengths", [&](std::string_view name, PyObject* value) {
      lengths.emplace_back(name, whole_number(value, "the length of axis ", name));
    });
    for_each_item(options_given, "options", [&](std::string_view name, PyObject* value) {
      options.emplace_back(name, text_of(value, "an option"));
    });
  }
  void write(Call& call) const {
    call.arguments = arguments;
    call.lengths = lengths;
    call.options = options;
  }
};

PyObject* call(const Passed& passed) {
  static constexpr std::array<std::string_view, 8> parameters = {"name",    "arguments", "arrays", "lengths",
                                                                 "options", "out",       "device", "stream"};
  std::array<PyObject*, 8> given = {};
  passed.take("call", parameters, given);
  if (!given[0] || !given[1] || !given[2]) throw_type_error("call needs name, arguments and arrays");
  const Words words(given[1], given[3], given[4]);
  const Items arrays(given[2], "arrays");
  Call call;
  call.name = text_of(given[0], "name");
  call.arrays = arrays;
  call.out = given[5], call.device = given[6], call.stream = given[7];
  words.write(call);
  return run(call).release().ptr();
}

View described_view(PyObject* described) {
  const Items parts(described, "an array's dtype and shape");
  if (parts.size() != 2) throw_type_error("an array is described by its dtype and its shape");
  const std::string_view name = text_of(parts[0], "a dtype");
  const std::optional<Dtype> dtype = dtype_of(name);
  if (!dtype) throw_type_error("no such dtype: %s", std::string(name).c_str());
  Dims shape;
  for (PyObject* const extent : Items(parts[1], "a shape"))
    shape.push_back(whole_number(extent, "an extent of a shape"));
  return View::contiguous(*dtype, shape);
}

PyObject* result(const Passed& passed) {
  static constexpr std::array<std::string_view, 5> parameters = {"name", "arguments", "arrays", "lengths", "options"};
  std::array<PyObject*, 5> given = {};
  passed.take("result", parameters, given);
  if (!given[0] || !given[1] || !given[2]) throw_type_error("result needs name, arguments and arrays");
  const Words words(given[1], given[3], given[4]);
  Call call;
  call.name = text_of(given[0], "name");
  words.write(call);
  std::vector<View> views;
  for (PyObject* const described : Items(given[2], "arrays")) views.push_back(described_view(described));
  const View made = result_view(operation_of(call), views);
  nb::list shape;
  for (const std::int64_t extent : made.shape) shape.append(extent);
  const std::string_view dtype = name(made.dtype);
  return nb::make_tuple(nb::str(dtype.data(), dtype.size()), nb::tuple(shape)).release().ptr();
}

nb::str str_of(std::string_view text) {
  return nb::str(text.data(), text.size());
}

PyObject* empty_numpy(const Passed& passed) {
  static constexpr std::array<std::string_view, 2> parameters = {"shape", "like"};
  std::array<PyObject*, 2> given = {};
  passed.take("empty_numpy", parameters, given);
  if (!given[0] || !given[1] || kind_of(given[1]).family != Family::numpy)
    throw_type_error("empty_numpy needs a shape and an array of NumPy");
  Dims shape;
  for (PyObject* const extent : Items(given[0], "a shape"))
    shape.push_back(whole_number(extent, "an extent of a shape"));
  return new_numpy(numpy_tensor(given[1]).dtype, shape, given[1]).release().ptr();
}

nb::dict described_device(const DeviceInfo& info) {
  nb::dict all;
  all["device"] = str_of(info.spec());
  all["kind"] = str_of(name(info.kind));
  all["name"] = str_of(info.name);
  all["vendor"] = str_of(info.vendor);
  all["platform"] = str_of(info.platform);
  all["driver"] = str_of(info.driver);
  all["compute_units"] = info.compute_units;
  all["memory"] = info.global_memory;
  return all;
}

nb::dict described_plan(const PlanReport& report) {
  nb::dict all, configuration;
  for (const auto& [name, value] : report.configuration) configuration[str_of(name)] = value;
  nb::list candidates, steps;
  for (const CandidateReport& candidate : report.candidates)
    candidates.append(nb::make_tuple(str_of(candidate.name), candidate.accepted
                                                                 ? nb::object(nb::float_(candidate.seconds))
                                                                 : nb::object(str_of(candidate.reason))));
  for (const std::string& step : report.steps) steps.append(str_of(step));
  all["op"] = str_of(report.op);
  all["shapes"] = str_of(report.shapes);
  all["device"] = str_of(report.device);
  all["candidate"] = str_of(report.candidate);
  all["configuration"] = configuration;
  all["candidates"] = candidates;
  all["steps"] = steps;
  all["bytes_moved"] = report.bytes_moved;
  all["expected_seconds"] = report.expected_seconds;
  return all;
}

PyObject* devices(const Passed&) {
  nb::list all;
  for (const DeviceInfo& info : axisloom::devices()) all.append(described_device(info));
  return all.release().ptr();
}

/// How a call would be done, for arrays that are there: what its plan decided.
PyObject* report(const Passed& passed) {
  static constexpr std::array<std::string_view, 6> parameters = {"name",    "arguments", "arrays",
                                                                 "lengths", "options",   "device"};
  std::array<PyObject*, 6> given = {};
  passed.take("report", parameters, given);
  if (!given[0] || !given[1] || !given[2]) throw_type_error("report needs name, arguments and arrays");
  const Words words(given[1], given[3], given[4]);
  const Items arrays(given[2], "arrays");
  Call call;
  call.name = text_of(given[0], "name");
  call.arrays = arrays;
  call.device = given[5];
  words.write(call);
  return described_plan(plan_of(call)).release().ptr();
}

PyObject* set_num_threads(const Passed& passed) {
  if (passed.count() != 1 || passed.named()) throw_type_error("set_num_threads takes a number");
  const std::int64_t count = whole_number(passed.at(0), "the number of threads");
  if (count < 1) throw Error(Errc::usage, "at least 1 thread is needed, not " + std::to_string(count));
  set_host_threads(unsigned(std::min<std::int64_t>(count, std::numeric_limits<unsigned>::max())));
  return nb::none().release().ptr();
}

PyObject* empty_cache(const Passed&) {
  empty_memory();
  return nb::none().release().ptr();
}

PyObject* get_num_threads(const Passed&) {
  return nb::int_(host_threads()).release().ptr();
}

/// A builtin as CPython wants it: failures become Python's.
template <PyObject* (*Function)(const Passed&)>
PyObject* guarded(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* names) noexcept {
  try {
    return Function(Passed(values, count, names));
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

template <PyObject* (*Function)(const Passed&)>
PyMethodDef method(const char* name, const char* text) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(guarded<Function>)),
          METH_FASTCALL | METH_KEYWORDS, text};
}

constexpr const char* rearrange_text =
    "rearrange(tensor, pattern, *, out=None, device=None, stream=None, **lengths)\n--\n\n"
    "Moves the axes of an array as a pattern in einops' notation says: \"h w c -> c h w\", \"(h h2) w -> h (h2 "
    "w)\".\n\n"
    "The result is a new contiguous array of the same library. A list of arrays of one shape is stacked along a new\n"
    "first axis.\n\n"
    ">>> import numpy as np\n"
    ">>> rearrange(np.arange(6).reshape(2, 3), \"h w -> w h\")\n"
    "array([[0, 3],\n       [1, 4],\n       [2, 5]])\n";
constexpr const char* repeat_text =
    "repeat(tensor, pattern, *, out=None, device=None, stream=None, **lengths)\n--\n\n"
    "As rearrange, with new axes on the right, along which elements repeat: \"h w -> h w c\" with c=3, \"h -> (h "
    "2)\".\n\n"
    ">>> import numpy as np\n"
    ">>> repeat(np.array([1, 2]), \"h -> (h 2)\")\n"
    "array([1, 1, 2, 2])\n";
constexpr const char* reduce_text =
    "reduce(tensor, pattern, reduction, *, out=None, device=None, stream=None, order=None, **lengths)\n--\n\n"
    "Reduces the axes that are missing on the right of the pattern: \"b c (h 2) (w 2) -> b c h w\" with \"max\".\n\n"
    "Reductions: sum, prod, mean, min, max, argmin, argmax, any, all, count_nonzero, norm; or a function that takes "
    "an\n"
    "array and a tuple of axes. With order=\"portable\" sums, means, products and norms of floats have the same bits "
    "on\n"
    "every device: neighbours come together first.\n\n"
    ">>> import numpy as np\n"
    ">>> reduce(np.arange(6.0).reshape(2, 3), \"h w -> w\", \"mean\")\n"
    "array([1.5, 2.5, 3.5])\n";
constexpr const char* call_text =
    "call(name, arguments, arrays, lengths=None, options=None, out=None, device=None, stream=None)\n--\n\n"
    "Any operation by name, as the command line spells it.";
constexpr const char* result_text =
    "result(name, arguments, arrays, lengths=None, options=None)\n--\n\n"
    "Dtype and shape of the result for arrays that are given by dtype and shape.";
constexpr const char* report_text =
    "report(name, arguments, arrays, lengths=None, options=None, device=None)\n--\n\n"
    "What a plan for this call decides: the kernel, its configuration, the time that is expected, and why not others.";
constexpr const char* set_num_threads_text =
    "set_num_threads(count, /)\n--\n\n"
    "Lets at most that many threads run kernels on the host, of those that there were at the first call.";
constexpr const char* empty_cache_text =
    "empty_cache()\n--\n\n"
    "Gives the system the memory that was kept of large results.";
constexpr const char* get_num_threads_text =
    "get_num_threads()\n--\n\n"
    "How many threads run kernels on the host, with the calling one.";
constexpr const char* empty_numpy_text =
    "empty_numpy(shape, like)\n--\n\n"
    "A new array of NumPy whose elements are not set, of the dtype of another, in memory that large results share.";
constexpr const char* devices_text = "devices()\n--\n\nEvery device that can be used now, the host last.";

}  // namespace

void add_builtins(nb::module_& module) {
  static PyMethodDef methods[] = {method<rearrange>("rearrange", rearrange_text),
                                  method<repeat>("repeat", repeat_text),
                                  method<reduce>("reduce", reduce_text),
                                  method<call>("call", call_text),
                                  method<result>("result", result_text),
                                  method<devices>("devices", devices_text),
                                  method<empty_numpy>("empty_numpy", empty_numpy_text),
                                  method<report>("report", report_text),
                                  method<set_num_threads>("set_num_threads", set_num_threads_text),
                                  method<get_num_threads>("get_num_threads", get_num_threads_text),
                                  method<empty_cache>("empty_cache", empty_cache_text),
                                  {nullptr, nullptr, 0, nullptr}};
  if (PyModule_AddFunctions(module.ptr(), methods) != 0) throw nb::python_error();
}

}  // namespace axisloom::python
