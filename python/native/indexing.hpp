// NumPy's basic indexing of a view.
#pragma once

#include "native/python.hpp"

#include <axisloom/array.hpp>

namespace axisloom::python {

/// What array[key] is of an array that lies so, in the same buffer: integers, slices, Ellipsis and None, one or a tuple
/// of them. Throws IndexError.
View part_of(const View& view, PyObject* key);

}  // namespace axisloom::python
