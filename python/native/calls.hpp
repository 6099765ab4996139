// Any operation on arrays of any library: plans are remembered by what the call says, the result is of the first
// array's kind.
#pragma once

#include "native/python.hpp"

#include <axisloom/plan.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace axisloom::python {

/// A call, borrowed from its arguments.
struct Call {
  std::string_view name;
  std::span<const std::string_view> arguments;
  std::span<PyObject* const> arrays;
  std::span<const std::pair<std::string_view, std::int64_t>> lengths;
  std::span<const std::pair<std::string_view, std::string_view>> options;
  PyObject* out = nullptr;     ///< an array for the result, or null
  PyObject* device = nullptr;  ///< a str, or null: where arrays of the host are worked on
  PyObject* stream = nullptr;  ///< of CUDA, or null: the library's current one
};

/// Whether an operation moves elements and does not look at them.
bool is_move(std::string_view name);

/// Does it. Throws.
nb::object run(const Call& call);

/// What the plan for it decides. The arrays have to be of kinds that are read here. Throws.
PlanReport plan_of(const Call& call);

}  // namespace axisloom::python
