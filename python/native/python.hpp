// CPython by way of nanobind, and what every file here needs of it.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

namespace axisloom::python {

namespace nb = nanobind;

/// A name that is looked up often; it lives as long as the process.
class Name {
 public:
  explicit Name(const char* text) : text_(text) {}
  PyObject* get() const {
    if (!name_) name_ = PyUnicode_InternFromString(text_);
    return name_;
  }

 private:
  const char* text_;
  mutable PyObject* name_ = nullptr;
};

/// The text of a str, as long as that lives. Throws TypeError that names `role` for what is none.
std::string_view text_of(PyObject* object, const char* role);

/// What `make` makes, when it is first asked for, as long as the process lives. Only under the interpreter's lock,
/// which `make` may give up for a while: a static object's own guard would then be waited for by the thread that has
/// the lock.
template <class T, class Make>
const T& kept(Make make) {
  static const T* made = nullptr;
  if (!made) {
    auto* const fresh = new T(make());
    if (made)
      delete fresh;
    else
      made = fresh;
  }
  return *made;
}

/// object.name, or nothing where there is no such attribute; other failures are thrown.
nb::object attribute_or_none(PyObject* object, const Name& name);

/// The name of an object's type, for messages.
std::string type_name(PyObject* object);

/// A module of this package by its name within it: "_errors". Imported once.
nb::object own_module(const char* name);

/// Throw Python's errors, with a text as PyErr_Format takes it.
template <class... Values>
[[noreturn]] void throw_error(PyObject* kind, const char* format, Values... values) {
  PyErr_Format(kind, format, values...);
  throw nb::python_error();
}
template <class... Values>
[[noreturn]] void throw_type_error(const char* format, Values... values) {
  throw_error(PyExc_TypeError, format, values...);
}
template <class... Values>
[[noreturn]] void throw_index_error(const char* format, Values... values) {
  throw_error(PyExc_IndexError, format, values...);
}
template <class... Values>
[[noreturn]] void throw_buffer_error(const char* format, Values... values) {
  throw_error(PyExc_BufferError, format, values...);
}

}  // namespace axisloom::python
