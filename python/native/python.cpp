#include "native/python.hpp"

#include <string>

namespace axisloom::python {

std::string_view text_of(PyObject* object, const char* role) {
  if (!PyUnicode_Check(object)) throw_type_error("%s has to be a str", role);
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(object, &size);
  if (!text) throw nb::python_error();
  return {text, size_t(size)};
}

nb::object attribute_or_none(PyObject* object, const Name& name) {
  PyObject* const found = PyObject_GetAttr(object, name.get());
  if (found) return nb::steal(found);
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw nb::python_error();
  PyErr_Clear();
  return nb::none();
}

std::string type_name(PyObject* object) {
  return nb::type_name(nb::handle(object).type()).c_str();
}

nb::object own_module(const char* name) {
  return nb::module_::import_((std::string("axisloom.") + name).c_str());
}

}  // namespace axisloom::python
