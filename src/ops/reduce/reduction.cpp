// The normal form of reductions, and what can be proved about their offsets.
#include "ops/reduce/reduction.hpp"

#include "core/checked.hpp"
#include "core/number.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

constexpr const char* offset_name = "an element offset of a reduction";
constexpr const char* count_name = "the number of elements of a reduction";

void reverse(Loop& axis, Reduction& of) {
  core::reverse_loop(axis, of.in_offset, of.out_offset);
  const i64 far = core::checked_mul(axis.extent - 1, axis.other, offset_name);
  of.mask_offset = core::checked_add(of.mask_offset, far, offset_name);
  axis.other = -axis.other;
}

}  // namespace

Loops Reduction::loops() const {
  Loops all = kept;
  all.insert(all.end(), reduced.begin(), reduced.end());
  return all;
}

i64 Reduction::bytes_moved() const {
  const i64 written = core::checked_mul(outputs(), size_of(recipe.out), count_name);
  if (outputs() == 0 || count() == 0) return written;
  const Bounds bounds = core::reach(loops(), &Loop::in);
  const i64 read = std::min(core::distinct(loops(), &Loop::in), bounds.high - bounds.low + 1);
  const i64 of_mask = recipe.masked ? core::distinct(loops(), &Loop::other) : 0;  // of a byte each
  return core::checked_add(core::checked_add(written, of_mask, count_name),
                           core::checked_mul(read, size_of(recipe.in), count_name), count_name);
}

Reduction normalise(const Reduction& reduction) {
  Reduction result = reduction;
  const bool places = reduction.recipe.accumulation == Accumulation::place;
  if (result.outputs() == 0) {
    result.kept = {{.extent = 0}};
    result.reduced = {{}};
    return result;
  }
  const bool nothing = result.count() == 0;
  if (nothing) {  // and so nothing is read
    for (Loop& axis : result.kept) axis.in = axis.other = 0;
    result.in_offset = result.mask_offset = 0;
    result.reduced.clear();
  }
  for (Loops* axes : {&result.kept, &result.reduced}) {
    const bool in_order = places && axes == &result.reduced;
    core::drop_single_steps(*axes);  // whose strides may be anything
    if (!in_order)
      for (Loop& axis : *axes)
        if (axis.in < 0 || (axis.in == 0 && axis.out < 0)) reverse(axis, result);
    core::merge(*axes, in_order);
    if (!in_order) core::order_by_input(*axes);
  }
  if (result.reduced.empty()) result.reduced = {nothing ? Loop{.extent = 0} : Loop{.extent = 1, .in = 1}};
  return result;
}

Reduction in_scalars(const Reduction& reduction) {
  Reduction scalars = reduction;
  const int in = core::components_of(reduction.recipe.in), out = reduction.recipe.out_scalars();
  scalars.in_offset = core::checked_mul(scalars.in_offset, in, offset_name);
  scalars.out_offset = core::checked_mul(scalars.out_offset, out, offset_name);
  for (Loops* axes : {&scalars.kept, &scalars.reduced}) {
    for (Loop& axis : *axes) {
      axis.in = core::checked_mul(axis.in, in, offset_name);
      axis.out = core::checked_mul(axis.out, out, offset_name);
    }
  }
  return scalars;
}

bool fits_32_bits(const Reduction& reduction) {
  const i64 all = core::checked_mul(reduction.outputs(), std::max<i64>(1, reduction.count()), count_name);
  return core::fits_32_bits(all) && core::fits_32_bits(reduction.loops(), &Loop::in, reduction.in_offset) &&
         core::fits_32_bits(reduction.loops(), &Loop::out, reduction.out_offset) &&
         core::fits_32_bits(reduction.loops(), &Loop::other, reduction.mask_offset);
}

i64 proven_alignment(const Reduction& reduction, size_t run) {
  constexpr i64 widest = 64;
  return core::proven_alignment(core::without(reduction.loops(), int(run)), &Loop::in,
                                {reduction.in_offset, reduction.in_align},
                                size_of(core::component_of(reduction.recipe.in)), widest);
}

std::string to_string(const Reduction& reduction) {
  std::string text = concat(reduction.recipe.masked ? "masked " : "", name(reduction.recipe.in), " ",
                            name(reduction.recipe.reducer), " of ");
  if (!reduction.kept.empty()) text += joined(reduction.kept, "x", &Loop::extent) + "x";
  text += "{" + joined(reduction.reduced, "x", &Loop::extent) + "}, in {";
  if (!reduction.kept.empty()) text += joined(reduction.kept, ",", &Loop::in) + ";";
  return text + joined(reduction.reduced, ",", &Loop::in) + "}";
}

}  // namespace axisloom::ops
