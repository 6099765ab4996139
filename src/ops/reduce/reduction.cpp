// The normal form of reductions, and what can be proved about their offsets.
#include "ops/reduce/reduction.hpp"

#include "core/checked.hpp"
#include "core/number.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <utility>

namespace axisloom::ops {
namespace {

constexpr const char* offset_name = "an element offset of a reduction";
constexpr const char* count_name = "the number of elements of a reduction";

std::int64_t product(const std::vector<ReduceAxis>& axes) {
  if (std::any_of(axes.begin(), axes.end(), [](const ReduceAxis& a) { return a.extent == 0; })) return 0;
  std::int64_t all = 1;
  for (const ReduceAxis& axis : axes) all = core::checked_mul(all, axis.extent, count_name);
  return all;
}

bool continues(std::int64_t outer, std::int64_t inner, std::int64_t extent) {
  std::int64_t run;
  return !__builtin_mul_overflow(inner, extent, &run) && run == outer;
}

bool mergeable(const ReduceAxis& outer, const ReduceAxis& inner) {
  return continues(outer.in, inner.in, inner.extent) && continues(outer.out, inner.out, inner.extent);
}

bool merge_one_pair(std::vector<ReduceAxis>& axes, bool neighbours_only) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (std::size_t k = 0; k < axes.size(); ++k) {
      if (i == k || (neighbours_only && k != i + 1) || !mergeable(axes[i], axes[k])) continue;
      axes[k].extent = core::checked_mul(axes[i].extent, axes[k].extent, count_name);
      axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
  }
  return false;
}

void turn_round(Reduction& reduction, ReduceAxis& axis) {
  if (axis.in > 0 || (axis.in == 0 && axis.out >= 0)) return;
  const std::int64_t last = axis.extent - 1;
  for (auto [offset, stride] : {std::pair{&reduction.in_offset, &axis.in}, {&reduction.out_offset, &axis.out}}) {
    *offset = core::checked_add(*offset, core::checked_mul(last, *stride, offset_name), offset_name);
    *stride = core::checked_mul(*stride, -1, offset_name);
  }
}

bool slower(const ReduceAxis& a, const ReduceAxis& b) {
  const auto key = [](const ReduceAxis& axis) {
    const std::int64_t in = axis.in == 0 ? std::numeric_limits<std::int64_t>::max() : std::abs(axis.in);
    return std::pair(in, std::abs(axis.out));
  };
  return key(a) > key(b);
}

void merge(std::vector<ReduceAxis>& axes, bool in_order) {
  while (merge_one_pair(axes, in_order)) {
  }
  if (!in_order) std::stable_sort(axes.begin(), axes.end(), slower);
}

bool fits(std::int64_t value) {
  return value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
}

/// Sums of the positive and of the negative reaches of some strides.
Bounds reach(const Reduction& reduction, std::int64_t ReduceAxis::*stride) {
  Bounds bounds;
  for (const auto* axes : {&reduction.kept, &reduction.reduced}) {
    for (const ReduceAxis& axis : *axes) {
      const std::int64_t far = core::checked_mul(std::max<std::int64_t>(axis.extent - 1, 0), axis.*stride, offset_name);
      std::int64_t& side = far < 0 ? bounds.low : bounds.high;
      side = core::checked_add(side, far, offset_name);
    }
  }
  return bounds;
}

/// Offsets, and their partial sums from 0 in any order.
bool offsets_fit(const Reduction& reduction, std::int64_t ReduceAxis::*stride, std::int64_t offset) {
  const Bounds relative = reach(reduction, stride);
  return fits(offset) && fits(relative.low) && fits(relative.high) &&
         fits(core::checked_add(offset, relative.low, offset_name)) &&
         fits(core::checked_add(offset, relative.high, offset_name));
}

std::string joined(const std::vector<ReduceAxis>& axes, std::int64_t ReduceAxis::*member, const char* separator) {
  std::string text;
  for (const ReduceAxis& axis : axes) text += (text.empty() ? "" : separator) + std::to_string(axis.*member);
  return text;
}

}  // namespace

std::int64_t Reduction::outputs() const {
  return product(kept);
}

std::int64_t Reduction::count() const {
  return product(reduced);
}

std::int64_t Reduction::bytes_moved() const {
  const std::int64_t written = core::checked_mul(outputs(), static_cast<std::int64_t>(size_of(recipe.out)), count_name);
  if (outputs() == 0 || count() == 0) return written;
  std::int64_t read = 1;
  for (const auto* axes : {&kept, &reduced})
    for (const ReduceAxis& axis : *axes)
      if (axis.in != 0) read = core::checked_mul(read, axis.extent, count_name);
  const Bounds bounds = reach(*this, &ReduceAxis::in);
  read = std::min(read, bounds.high - bounds.low + 1);
  return core::checked_add(written, core::checked_mul(read, static_cast<std::int64_t>(size_of(recipe.in)), count_name),
                           count_name);
}

std::int64_t Reduction::last() const {
  return reach(*this, &ReduceAxis::in).high;
}

Reduction normalise(const Reduction& reduction) {
  Reduction result = reduction;
  const bool places = reduction.recipe.accumulation == Accumulation::place;
  if (result.outputs() == 0) {
    result.kept = {ReduceAxis{.extent = 0}};
    result.reduced = {ReduceAxis{}};
    return result;
  }
  const bool nothing = result.count() == 0;
  if (nothing) {  // and so nothing is read
    for (ReduceAxis& axis : result.kept) axis.in = 0;
    result.in_offset = 0;
  }
  // The stride of an axis of 1 may be anything.
  for (auto* axes : {&result.kept, &result.reduced})
    std::erase_if(*axes, [](const ReduceAxis& axis) { return axis.extent == 1; });
  for (ReduceAxis& axis : result.kept) turn_round(result, axis);
  merge(result.kept, false);
  if (nothing) {
    result.reduced = {ReduceAxis{.extent = 0}};
    return result;
  }
  if (!places)
    for (ReduceAxis& axis : result.reduced) turn_round(result, axis);
  merge(result.reduced, places);
  if (result.reduced.empty()) result.reduced.push_back({.extent = 1, .in = 1});
  return result;
}

Reduction in_scalars(const Reduction& reduction) {
  Reduction scalars = reduction;
  const int in = core::components_of(reduction.recipe.in), out = reduction.recipe.out_scalars();
  scalars.in_offset = core::checked_mul(scalars.in_offset, in, offset_name);
  scalars.out_offset = core::checked_mul(scalars.out_offset, out, offset_name);
  for (auto* axes : {&scalars.kept, &scalars.reduced}) {
    for (ReduceAxis& axis : *axes) {
      axis.in = core::checked_mul(axis.in, in, offset_name);
      axis.out = core::checked_mul(axis.out, out, offset_name);
    }
  }
  return scalars;
}

bool fits_32_bits(const Reduction& reduction) {
  constexpr std::int64_t slack = 1 << 20;  // a loop's index may step past the end of a run by less than this
  const std::int64_t runs = std::max<std::int64_t>(1, reduction.count());
  const auto strides_fit = [](const ReduceAxis& axis) { return fits(axis.in) && fits(axis.out); };
  const std::int64_t all = core::checked_mul(reduction.outputs(), runs, count_name);
  return fits(all) && fits(all + slack) && std::all_of(reduction.kept.begin(), reduction.kept.end(), strides_fit) &&
         std::all_of(reduction.reduced.begin(), reduction.reduced.end(), strides_fit) &&
         offsets_fit(reduction, &ReduceAxis::in, reduction.in_offset) &&
         offsets_fit(reduction, &ReduceAxis::out, reduction.out_offset);
}

std::int64_t proven_alignment(const Reduction& reduction, std::size_t skip) {
  const auto zeros = [](std::int64_t value) {
    return value == 0 ? 62 : std::countr_zero(static_cast<std::uint64_t>(value));
  };
  const int element = zeros(static_cast<std::int64_t>(size_of(core::component_of(reduction.recipe.in))));
  int certain = std::min({6, zeros(reduction.in_align), zeros(reduction.in_offset) + element});
  std::size_t i = 0;
  for (const auto* axes : {&reduction.reduced, &reduction.kept})
    for (const ReduceAxis& axis : *axes)
      if (i++ != skip && axis.extent > 1) certain = std::min(certain, zeros(axis.in) + element);
  return std::int64_t{1} << certain;
}

std::string to_string(const Reduction& reduction) {
  std::string text =
      std::string(name(reduction.recipe.in)) + " " + std::string(name(reduction.recipe.reducer)) + " of ";
  if (!reduction.kept.empty()) text += joined(reduction.kept, &ReduceAxis::extent, "x") + "x";
  text += "{" + joined(reduction.reduced, &ReduceAxis::extent, "x") + "}, in {";
  if (!reduction.kept.empty()) text += joined(reduction.kept, &ReduceAxis::in, ",") + ";";
  return text + joined(reduction.reduced, &ReduceAxis::in, ",") + "}";
}

}  // namespace axisloom::ops
