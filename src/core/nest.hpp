// The loop nest: what moves, reductions, products and the steps between them are made of. Which list a loop stands in
// says what becomes of its steps: kept, reduced, or a batch.
#pragma once

#include "core/integers.hpp"

#include <axisloom/array.hpp>

#include <span>
#include <vector>

namespace axisloom::core {

/// A loop over several arrays at once: `extent` steps, each so many elements long in every array. An array that a nest
/// lacks, or that repeats its elements along a loop, stands still: 0.
struct Loop {
  i64 extent = 1;
  i64 in = 0, out = 0;        // what is read, what is written
  i64 other = 0, addend = 0;  // of products: the second factor, and what is added to the result
  bool operator==(const Loop&) const = default;
};
using Loops = std::vector<Loop>;  // slowest first
using Nest = std::span<const Loop>;
using Operand = i64 Loop::*;  // an array's stride

/// Product of the extents; 0 where a loop has no steps, however long the others are.
i64 count(Nest nest);
/// Number of an operand's elements, one that is repeated counted once.
i64 distinct(Nest nest, Operand operand);
/// Lowest and highest (not one past it) element offset that an operand reaches from `start`.
Bounds reach(Nest nest, Operand operand, i64 start = 0);
/// How far an array would reach at most if every loop had so many steps more; in floating point, which does not
/// overflow.
double reach_beyond(Nest nest, double steps);

/// Whether every stride of an operand and every offset that it reaches from `start`, and from 0 in any order of loops,
/// fits in a signed 32-bit number. INT32_MIN is excluded: kernels use it for "no place".
bool fits_32_bits(Nest nest, Operand operand, i64 start);
/// Whether so many steps can be counted in one.
bool fits_32_bits(i64 count);

/// Where an operand begins.
struct Start {
  i64 offset = 0;   // of the first element from the start of its buffer, in elements
  i64 align = 256;  // bytes to which the start of the buffer is known to be aligned
};
/// Largest power of two, up to `limit`, that divides the byte address of every element at which an operand's loops
/// lead; elements have `element` bytes.
i64 proven_alignment(Nest nest, Operand operand, const Start& start, i64 element, i64 limit);

/// The alignment of addresses that are that much aligned, and of those so many bytes further on.
i64 common_alignment(i64 align, i64 bytes);

/// The nest but for one or two of its loops.
Loops without(Nest nest, int first, int second = -1);
/// The loop over blocks of so many of its steps, the last of which may be shorter.
Loop over_blocks(const Loop& loop, i64 steps);
/// Takes loops out until `most` are left: those of the fewest steps, of equals the slowest.
Loops take_shortest(Loops& loops, size_t most);
/// How far each array is from where a nest begins, at each of its points: a loop of one step with these strides.
Loops points_of(Nest nest);
void drop_single_steps(Loops& loops);
/// Walks a loop from its other end.
void reverse_loop(Loop& loop, i64& in_offset, i64& out_offset);
/// Whether every array walks two loops as it would walk a single one.
bool continues(const Loop& outer, const Loop& inner);
/// Makes such pairs one loop, until there are none. All pairs, not only neighbours, unless the order of the steps
/// matters: an array whose axes interleave can have another stride between the two.
void merge(Loops& loops, bool neighbours_only = false);
/// Largest steps first: in the output, and of equals in the input.
void order_by_output(Loops& loops);
/// Largest steps first in the input, and of equals in the output. Loops that repeat an element are the slowest: their
/// neighbours have nothing in common to read.
void order_by_input(Loops& loops);

}  // namespace axisloom::core
