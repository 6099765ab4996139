// What calls ask for, remembered by the text of the call and by how its arrays lie.
#pragma once

#include "native/calls.hpp"
#include "native/operands.hpp"

#include <axisloom/plan.hpp>

#include <utility>
#include <vector>

namespace axisloom::python {

/// A plan, and what is looked at in each call.
struct Remembered {
  Plan plan;
  std::int64_t bytes = 0;  ///< that it moves
};

/// An operation on arrays that lie so.
class Asked {
 public:
  Operation op;
  Device device;  ///< on which it is done
  bool on_host;   ///< which is the host
  View result;    ///< contiguous

  /// The plan for an output that lies so.
  const Remembered& plan_for(const Operands& operands, const Operand& output);

 private:
  std::vector<std::pair<View, Remembered>> plans_;
};

/// What the call asks for; the same as for the last call of this kind. It is valid until the next call.
Asked& asked_for(const Call& call, const Operands& operands);

/// The operation of a call.
Operation operation_of(const Call& call);

}  // namespace axisloom::python
