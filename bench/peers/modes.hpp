// Jobs as libraries of tensors are told about them: every array by its modes, each with a number, an extent and a
// stride.
#pragma once

#include "bench/problem.hpp"

#include "core/move.hpp"
#include "ops/einsum/problem.hpp"

#include <vector>

namespace axisloom::bench {

/// What has one number has one extent, in whichever array it stands.
struct Mode {
  i32 number;
  i64 extent;
  i64 stride;  // in elements; negative ones are left to the library to refuse
  bool operator==(const Mode&) const = default;
};

/// The modes with the smallest strides first. Those of extent 1 are left out, and of inputs those of stride 0: a mode
/// that an input lacks and the output has repeats its elements.
struct ModeTensor {
  i64 offset;  // of the first element, in elements
  std::vector<Mode> modes;
};

/// out = inputs multiplied, combined over the modes that out lacks.
struct ModeProblem {
  std::vector<ModeTensor> inputs;
  ModeTensor out;

  bool has_negative_strides() const;
};

/// `move` without a tail.
ModeProblem modes_of(const core::Move& move);
ModeProblem modes_of(const Reduction& reduction);
/// The product of the operands alone, without factor, addend and activation.
ModeProblem modes_of(const ops::Contraction& contraction);

}  // namespace axisloom::bench
