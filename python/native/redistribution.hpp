// The plans of distributed arrays, for axisloom.distributed.
#pragma once

#include "native/python.hpp"

namespace axisloom::python {

/// Adds Redistribution to the module.
void bind_redistribution(nb::module_& module);

}  // namespace axisloom::python
