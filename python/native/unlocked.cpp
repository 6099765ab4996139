#include "native/unlocked.hpp"

#include <cxxabi.h>
#include <unistd.h>

namespace axisloom::python {

// When the interpreter ends, it ends the other threads that ask for its lock by unwinding their stacks, which a C++
// destructor does not survive. Such a thread stays here, and goes with the process.
Unlocked::~Unlocked() {
  if (!state_) return;
  try {
    PyEval_RestoreThread(state_);
  } catch (abi::__forced_unwind&) {
    for (;;) ::pause();
  }
}

}  // namespace axisloom::python
