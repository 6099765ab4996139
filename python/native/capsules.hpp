// Memory handed over to and taken from other libraries: DLPack's capsules and Python's buffers.
#pragma once

#include "native/array.hpp"
#include "native/python.hpp"

namespace axisloom::python {

/// A capsule with the array, which it keeps: DLPack 1's where max_version grants it, else that of before.
nb::object export_dlpack(nb::handle self, nb::handle stream, nb::handle max_version, nb::handle dl_device,
                         nb::handle copy);

/// An axisloom.Array in the memory of an object with __dlpack__. Throws TypeError for one without.
nb::object from_dlpack(nb::handle array, nb::handle stream);

/// The slots by which memoryview() and others see an Array of the host.
const PyType_Slot* buffer_slots();

}  // namespace axisloom::python
