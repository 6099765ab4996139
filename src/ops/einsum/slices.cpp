// Cuts contractions into slices: along the output's axes where that is enough, else along summed ones too.
//
// A slice of summed axes leaves its sums unscaled, of 16-bit floats as f32. One more contraction, the sum over the
// slices, then does what is done once: alpha, the addend, the activation, the rounding to 16 bits. Whatever the axes
// that are cut, sum over s of (sum over the rest of products) is the whole. A term of a product with k terms takes part
// in no more additions than k - 1 as long as no slice is empty, so the product's 2 k u holds; a sum over a single
// operand is compensated within the slices and over them, and rounded twice in all of its (ceil(log2 n) + 40) u.
// Products are taken in the order that the whole has.
#include "ops/einsum/slices.hpp"

#include "core/integers.hpp"
#include "core/number.hpp"
#include "ops/einsum/contract.hpp"
#include "ops/einsum/path.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <utility>

namespace axisloom::ops {
namespace {

/// The dtype of sums that are not complete.
Dtype partial_dtype(Dtype out) {
  return core::is_small_float(out) ? Dtype::f32 : out;
}

/// The arrays in the order of the views.
template <class Problem>
auto terms_of(Problem& problem) {
  std::vector<decltype(&problem.out)> terms;
  for (auto& operand : problem.operands) terms.push_back(&operand);
  if (problem.addend) terms.push_back(&*problem.addend);
  terms.push_back(&problem.out);
  return terms;
}

/// Loops over the problem's axes, and its arrays in the order of the views.
SlicedNest nest_of(const Contraction& problem) {
  SlicedNest nest;
  nest.extents = problem.extents;
  for (size_t d = 0; d < problem.extents.size(); ++d) nest.reduced.push_back(!has(problem.out.axes, int(d)));
  for (const Term* term : terms_of(problem)) {
    const bool result = nest.arrays.size() >= problem.operands.size();
    nest.arrays.push_back({i64(size_of(term->dtype)), term->strides, 1, result});
  }
  nest.partial_bytes = size_of(partial_dtype(problem.out.dtype));
  return nest;
}

/// The problem within a box. Axes of which it leaves a single step are no axes of the part.
Contraction part_of(const Contraction& whole, const Box& box) {
  Contraction part = whole;
  AxisSet left = 0;
  for (size_t d = 0; d < box.size(); ++d) {
    part.extents[d] = box[d].extent;
    if (box[d].extent != 1) left |= AxisSet{1} << d;
  }
  for (Term* term : terms_of(part)) {
    term->axes &= left;
    for (size_t d = 0; d < box.size(); ++d) {
      term->offset += box[d].begin * term->strides[d];
      if (box[d].extent == 1) term->strides[d] = 0;
    }
  }
  std::erase_if(part.out_order, [&](int axis) { return !has(left, axis); });
  return part;
}

/// Collects the slices of one contraction.
class Slicer {
 public:
  Slicer(const Contraction& whole, const Device& device, const PlanOptions& options)
      : whole_(whole), nest_(nest_of(whole)), device_(device), options_(options), finishing_(options) {
    whole_.path = contraction_path(whole);
    // What is forced are candidates of products.
    finishing_.candidate.clear();
    finishing_.configuration.clear();
  }

  Slices run(i64 limit) && {
    for (const Block& block : cut(nest_, limit)) add(block);
    return std::move(slices_);
  }

 private:
  void add(const Block& block) {
    Contraction all = part_of(whole_, block.box);
    if (block.parts.size() == 1) return add_plan(all, ranges_of(all, block.box), options_);
    for (size_t i = 0; i < block.parts.size(); ++i) add_part(all, block.parts[i], i64(i));
    add_finish(all, block);
  }

  /// The sums of a part, as the i-th of them.
  void add_part(const Contraction& all, const Box& box, i64 i) {
    Contraction part = part_of(whole_, box);
    std::vector<Slice::Range> ranges = ranges_of(part, box);
    ranges.resize(part.operands.size() + 1);
    part.alpha = 1;
    part.beta = 0;
    part.addend.reset();
    part.relu = false;
    part.out = dense_term(part, partial_dtype(whole_.out.dtype), all.out_order);
    ranges.back() = in_scratch(part.out, i * all.points(all.out.axes), all.points(all.out.axes));
    add_plan(part, std::move(ranges), options_);
  }

  /// The results of a box: the sums of its parts, as the only operand of a contraction over one more axis.
  void add_finish(Contraction finish, const Block& block) {
    std::vector<Slice::Range> ranges = ranges_of(finish, block.box);
    if (finish.extents.size() == most_einsum_axes)
      throw Error(Errc::unsupported, "an einsum over so many axes cannot be done in slices", "do it in parts");
    const auto parts = i64(block.parts.size());
    AxisList order{int(finish.extents.size())};
    order.insert(order.end(), finish.out_order.begin(), finish.out_order.end());
    finish.extents.push_back(parts);
    finish.names.emplace_back("slice");
    for (Term* term : terms_of(finish)) term->strides.push_back(0);
    finish.operands = {dense_term(finish, partial_dtype(whole_.out.dtype), order)};
    finish.common = finish.operands[0].dtype;
    finish.path.reset();
    ranges.erase(ranges.begin(), ranges.begin() + whole_.operands.size() - 1);
    ranges.front() = in_scratch(finish.operands[0], 0, finish.points(finish.operands[0].axes));
    slices_.scratch_bytes = std::max(slices_.scratch_bytes, ranges.front().bytes);
    add_plan(finish, std::move(ranges), finishing_);
  }

  /// The bytes of every array that a part needs, from which the terms' offsets count henceforth.
  std::vector<Slice::Range> ranges_of(Contraction& part, const Box& box) const {
    std::vector<Slice::Range> ranges;
    const auto terms = terms_of(part);
    const auto origins = terms_of(whole_);
    for (int i = 0; i < int(terms.size()); ++i) {
      const SlicedArray& array = nest_.arrays[i];
      Bounds touched = bounds_in(nest_, box, array);
      if (touched.low != touched.high) touched.low += origins[i]->offset, touched.high += origins[i]->offset;
      ranges.push_back(rebase(i, terms[i]->offset, terms[i]->align, touched, array.element));
    }
    return ranges;
  }

  static Slice::Range in_scratch(Term& term, i64 begin, i64 count) {
    term.offset = begin;
    return rebase(scratch_array, term.offset, term.align, {begin, begin + count}, size_of(term.dtype));
  }

  void add_plan(Contraction& part, std::vector<Slice::Range> ranges, const PlanOptions& options) {
    std::vector<View> views;
    for (const Term* term : terms_of(part)) {
      const Slice::Range& range = ranges[views.size()];
      views.push_back(View::contiguous(term->dtype, {range.bytes / i64(size_of(term->dtype))}));
      views.back().align = term->align;
    }
    slices_.list.push_back({std::move(ranges), plan_contraction(part, std::move(views), device_, options)});
  }

  Contraction whole_;
  SlicedNest nest_;
  const Device& device_;
  const PlanOptions& options_;
  PlanOptions finishing_;
  Slices slices_;
};

}  // namespace

Slices slice_contraction(const Contraction& whole, const Device& device, const PlanOptions& options, i64 limit) {
  return Slicer(whole, device, options).run(limit);
}

}  // namespace axisloom::ops
