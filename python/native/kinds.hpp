// Which library an array comes from, and how it is read and made.
#pragma once

#include "native/exchange.hpp"
#include "native/python.hpp"
#include "native/tensor.hpp"

namespace axisloom::python {

/// How arrays of a type are read.
enum class Family {
  numpy,     ///< by NumPy's C interface
  exchange,  ///< by DLPack's table of functions
  own,       ///< axisloom.Array
  foreign,   ///< by what _kinds.py makes of them
};

/// What is known of a type of arrays.
struct Kind {
  Family family = Family::foreign;
  const ExchangeApi* api = nullptr;  ///< of Family::exchange
  bool torch = false;                ///< a tensor of PyTorch
};

/// Of the object's type; the types that were met are remembered.
const Kind& kind_of(PyObject* object);

/// Whether the memory of a PyTorch tensor is all there is to it: no gradient is recorded, no mode or transform watches,
/// and no bit says that elements are conjugated or negated.
bool is_plain_torch(PyObject* tensor);

/// Counts a write into a PyTorch tensor, as its own functions do: what was recorded of its elements before, backward
/// then refuses to use.
void count_write(PyObject* tensor);

}  // namespace axisloom::python
