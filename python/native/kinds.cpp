#include "native/kinds.hpp"

#include "native/array.hpp"
#include "native/numpy.hpp"

#include <unordered_map>

namespace axisloom::python {
namespace {

/// module.name of a module that is loaded; nothing where it is not.
nb::object loaded(const char* module, const char* name) {
  const nb::object modules = nb::module_::import_("sys").attr("modules");
  PyObject* const found = PyDict_GetItemString(modules.ptr(), module);  // borrowed; sets no error
  if (!found || !nb::hasattr(found, name)) return nb::none();
  return nb::getattr(found, name);
}

bool is_subclass(PyObject* type, const nb::object& of) {
  if (of.is_none()) return false;
  const int answer = PyObject_IsSubclass(type, of.ptr());
  if (answer < 0) throw nb::python_error();
  return answer == 1;
}

Kind numpy_kind(PyObject* type) {
  if (is_subclass(type, loaded("numpy.ma", "MaskedArray")))
    throw_type_error("masked arrays cannot be used: give the data, and the mask by where=");
  load_numpy();
  return {.family = Family::numpy};
}

Kind torch_kind(PyObject* type) {
  const bool exact = type == loaded("torch", "Tensor").ptr() || type == loaded("torch.nn", "Parameter").ptr();
  return {.family = Family::exchange, .api = exact ? exchange_api(type) : nullptr, .torch = true};
}

Kind find_kind(PyObject* type) {
  if (type == array_type().ptr()) return {.family = Family::own};
  if (is_subclass(type, loaded("numpy", "ndarray"))) return numpy_kind(type);
  if (is_subclass(type, loaded("torch", "Tensor"))) return torch_kind(type);
  if (const ExchangeApi* const api = exchange_api(type)) return {.family = Family::exchange, .api = api};
  return {};
}

/// A function of PyTorch that gives a number or a bool.
bool says(const nb::object& function) {
  const nb::object answer = function();
  const int truth = PyObject_IsTrue(answer.ptr());
  if (truth < 0) throw nb::python_error();
  return truth == 1;
}

/// What PyTorch is asked before its tensors are read.
struct Torch {
  nb::object records = loaded("torch", "is_grad_enabled");
  nb::object dispatch_modes = loaded("torch._C", "_len_torch_dispatch_stack");
  nb::object function_modes = loaded("torch._C", "_len_torch_function_stack");
  nb::object forward_mode = loaded("torch.autograd", "forward_ad");
  nb::object follows_tangents = loaded("torch._C", "_is_fwd_grad_enabled");
  nb::object count_writes = loaded("torch._C", "_increment_version");
};

const Torch& torch() {
  return kept<Torch>([] { return Torch(); });
}

bool is_true(PyObject* object, const Name& name) {
  return PyObject_IsTrue(attribute_or_none(object, name).ptr()) == 1;
}
bool calls_true(PyObject* object, const Name& name) {
  return says(attribute_or_none(object, name));
}

/// Whether tensors may carry tangents, of PyTorch's forward mode.
bool in_forward_mode(const Torch& torch) {
  static const Name level("_current_level");
  return PyLong_AsLong(attribute_or_none(torch.forward_mode.ptr(), level).ptr()) >= 0 && says(torch.follows_tangents);
}

}  // namespace

const Kind& kind_of(PyObject* object) {
  // Types are kept, so that no other one gets the address of one that was met.
  static auto& kinds = *new std::unordered_map<PyTypeObject*, Kind>;
  PyTypeObject* const type = Py_TYPE(object);
  const auto found = kinds.find(type);
  if (found != kinds.end()) return found->second;
  const Kind kind = find_kind(reinterpret_cast<PyObject*>(type));
  Py_INCREF(reinterpret_cast<PyObject*>(type));
  return kinds.emplace(type, kind).first->second;
}

bool is_plain_torch(PyObject* tensor) {
  const Torch& torch = python::torch();
  static const Name requires_grad("requires_grad"), is_neg("is_neg"), is_conj("is_conj");
  if (is_true(tensor, requires_grad) && says(torch.records)) return false;
  if (says(torch.dispatch_modes) || says(torch.function_modes)) return false;
  if (in_forward_mode(torch)) return false;
  return !calls_true(tensor, is_neg) && !calls_true(tensor, is_conj);
}

void count_write(PyObject* tensor) {
  torch().count_writes(nb::make_tuple(nb::borrow(tensor)));
}

}  // namespace axisloom::python
