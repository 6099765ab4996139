// The library's errors as Python's.
#pragma once

#include "native/python.hpp"

namespace axisloom::python {

/// Sets the Python exception for the C++ exception that is being handled: of axisloom/_errors.py for an Error, with the
/// same text. To be called in a catch block.
void set_python_error() noexcept;

}  // namespace axisloom::python
