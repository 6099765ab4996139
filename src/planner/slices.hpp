// Cutting an operation into parts, each of which fits into the device's buffers: what all operations share.
#pragma once

#include "core/integers.hpp"

#include <axisloom/plan.hpp>

#include <memory>
#include <vector>

namespace axisloom::ops {

inline constexpr int scratch_array = -1;  // memory that the slices of an operation share, besides its arrays

/// A part of an operation on arrays that are too large for one buffer: which bytes of which arrays its plan's views
/// are; they count from the start of those bytes.
struct Slice {
  struct Range {
    int array = 0;  // position among the operation's views, or scratch_array
    i64 begin = 0, bytes = 0;
  };
  std::vector<Range> ranges;  // one per view of the plan
  std::shared_ptr<const PlanImpl> plan;
};

/// The parts of an operation, to be run in this order.
struct Slices {
  std::vector<Slice> list;
  i64 scratch_bytes = 0;  // contents undefined at the start
};

/// An array as the loops of an operation walk it. Strides are kept by array, not by loop as in core::Loop: an einsum
/// has up to 1024 arrays, which no kernel walks at once, but which its slices have to know.
struct SlicedArray {
  i64 element = 1;           // bytes
  std::vector<i64> strides;  // by loop, in elements
  i64 span = 1;              // elements from the first to the last that one point of the loops touches
  bool result = false;       // touched once for all steps of the reduced loops, and where they have none
};

/// An operation, as far as cutting it goes: loops over arrays. Results are made of all steps of the reduced loops.
struct SlicedNest {
  std::vector<i64> extents;
  std::vector<bool> reduced;
  std::vector<SlicedArray> arrays;
  i64 partial_bytes = 0;  // of a result that is made of some steps of the reduced loops only
};

/// A part of every loop.
struct Interval {
  i64 begin = 0, extent = 0;
};
using Box = std::vector<Interval>;

/// Results that are computed together: all loops of `box` in one, or for some results in parts, which are boxes of the
/// same kept loops in the order of the reduced ones.
struct Block {
  Box box;
  std::vector<Box> parts;
};

/// Blocks that together are the whole nest. No part touches bytes of an array that lie further apart than `limit`, and
/// the partial results of a block need no more. Loops are halved, those first that reach furthest. Throws
/// Error(out_of_memory) where that does not help.
std::vector<Block> cut(const SlicedNest& nest, i64 limit);

/// Lowest and one-past-highest element offset of an array in a box, counted from where the loops begin.
Bounds bounds_in(const SlicedNest& nest, const Box& box, const SlicedArray& array);

/// Lets an array's offset count from the lowest element that is touched, and says which bytes those are; `align`
/// becomes what is known of their start.
Slice::Range rebase(int array, i64& offset, i64& align, Bounds touched, i64 element);

}  // namespace axisloom::ops
