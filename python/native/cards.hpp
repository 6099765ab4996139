// Exchanges between the memories of cards, for axisloom.torch.
#pragma once

#include "native/python.hpp"

namespace axisloom::python {

/// Adds CardGroup and CardLaunches to the module.
void bind_cards(nb::module_& module);

}  // namespace axisloom::python
