// Single elements as numbers of Python.
#pragma once

#include "native/python.hpp"

#include <axisloom/array.hpp>

#include <cstddef>

namespace axisloom::python {

/// A bool, an int, a float or a complex, with the element's value.
nb::object python_number(Dtype dtype, const std::byte* element);

}  // namespace axisloom::python
