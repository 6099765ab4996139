// Making a failing case smaller, as long as it fails in the same way.
#pragma once

#include "harness/runner.hpp"

#include <functional>

namespace axisloom::harness {

/// The simplest case that `still_fails`, reached by one step at a time; `c` itself when no step keeps it failing. Asks
/// no more than `most_questions` times.
Case minimise(const Case& c, const std::function<bool(const Case&)>& still_fails, int most_questions = 200);

/// Whether a case fails as another did: by the same error or, like it, by its result.
bool fails_alike(const Case& c, const CheckSettings& settings, const Outcome& failure);

}  // namespace axisloom::harness
