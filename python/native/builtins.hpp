// The functions of the module, as CPython's own builtins: nothing stands between the interpreter and them.
#pragma once

#include "native/python.hpp"

namespace axisloom::python {

/// Adds them: call, result, rearrange, repeat, reduce and what says how threads and devices are.
void add_builtins(nb::module_& module);

}  // namespace axisloom::python
