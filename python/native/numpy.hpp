// NumPy's arrays, read and made by its C interface, which is looked up when the first of them comes along.
#pragma once

#include "native/python.hpp"
#include "native/tensor.hpp"

#include <axisloom/array.hpp>

namespace axisloom::python {

/// Looks up the interface, which imports NumPy.
void load_numpy();

/// What an array of NumPy is, with a copy in its place where the elements are in another byte order or unaligned.
/// Dtypes that are none here are moved as so many bytes; Tensor::opaque says so. Throws TypeError for those that cannot
/// be moved either.
Tensor numpy_tensor(PyObject* array);

/// A new row-major array. `like`: an array whose dtype it has, in the native byte order, where that is not null.
nb::object new_numpy(Dtype dtype, const Dims& shape, PyObject* like);
/// Where its elements begin.
void* numpy_data(PyObject* array);

/// Whether two arrays of NumPy have the same dtype, in any byte order.
bool same_numpy_dtype(PyObject* a, PyObject* b);

/// As NumPy's own functions give a result: an array without axes as a scalar.
nb::object as_scalar_if_0d(nb::object array);

}  // namespace axisloom::python
