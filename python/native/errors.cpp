#include "native/errors.hpp"

#include <axisloom/error.hpp>

#include <new>
#include <string>
#include <typeinfo>

namespace axisloom::python {
namespace {

void set_error(const Error& error) {
  const nb::object classes = own_module("_errors").attr("CLASSES");
  const std::string code(name(error.code()));
  const nb::object kind = classes[code.c_str()];
  PyErr_SetString(kind.ptr(), error.what());
}

}  // namespace

void set_python_error() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    try {
      set_error(error);
    } catch (nb::python_error& other) {
      other.restore();
    }
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::bad_cast&) {  // of nanobind: an argument that is of another type than it has to be
    PyErr_SetString(PyExc_TypeError, "an argument is of the wrong type");
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

}  // namespace axisloom::python
