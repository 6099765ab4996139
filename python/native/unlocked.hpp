// The interpreter's lock, given up for a while.
#pragma once

#include "native/python.hpp"

namespace axisloom::python {

/// Gives up the interpreter's lock while it lives, if asked to.
class Unlocked {
 public:
  explicit Unlocked(bool wanted) : state_(wanted ? PyEval_SaveThread() : nullptr) {}
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked();

 private:
  PyThreadState* state_;
};

}  // namespace axisloom::python
