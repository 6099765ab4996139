// Cuts reductions into slices: along axes that are kept where that is enough, else along reduced ones too.
//
// A slice of reduced axes ends in accumulators instead of results: sums with what rounding took from them, extremes
// with their places. The kernel `fold` brings these together as it does the parts of any reduction, and only it rounds.
// So a sum in slices is one level more of the cascade, of no more than 4096 accumulators each, and every addition but
// the last keeps its error: the bound (ceil(log2 n) + 40) u sum|x|, most of which is left to terms of second order,
// holds as it does for parts. NaN, infinities and ties are decided by the same lines, too. The slices follow from
// shape, strides, dtype and the limit, hence so does the order of the additions.
//
// Where accumulators would be more than the elements, as those of a few long rows far apart, or where the order is the
// portable one, the elements of some outputs are moved next to each other first, and then reduced in one.
#include "core/host_memory.hpp"
#include "core/integers.hpp"
#include "core/text.hpp"
#include "ops/reduce/params.hpp"
#include "ops/reduce/reduce.hpp"
#include "planner/choose.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

namespace axisloom::ops {
namespace {

#include "ops/reduce/places.params.h"

constexpr int input = 0, mask = 1;  // among the nest's arrays, as among the views; the output is the last
constexpr i64 gpu_items = 256;      // of a group that folds, or numbers places

/// Loops over the kept axes, then the reduced ones.
SlicedNest nest_of(const Reduction& reduction) {
  const Recipe& recipe = reduction.recipe;
  SlicedNest nest;
  SlicedArray in{i64(size_of(recipe.in)), {}, 1, false, reduction.in_offset},
      of_mask{1, {}, 1, false, reduction.mask_offset}, out{i64(size_of(recipe.out)), {}, 1, true, reduction.out_offset};
  nest.partial_bytes = recipe.u64s() * i64(sizeof(u64));
  for (const Loop& axis : reduction.loops()) {
    nest.reduced.push_back(nest.extents.size() >= reduction.kept.size());
    nest.extents.push_back(axis.extent);
    in.strides.push_back(axis.in);
    of_mask.strides.push_back(axis.other);
    out.strides.push_back(axis.out);
  }
  nest.arrays.push_back(in);
  if (recipe.masked) nest.arrays.push_back(of_mask);
  nest.arrays.push_back(out);
  return nest;
}

Reduction part_of(const Reduction& whole, const Box& box) {
  Reduction part = whole;
  size_t d = 0;
  for (auto* axes : {&part.kept, &part.reduced}) {
    for (Loop& axis : *axes) {
      part.in_offset += box[d].begin * axis.in;
      part.out_offset += box[d].begin * axis.out;
      part.mask_offset += box[d].begin * axis.other;
      axis.extent = box[d++].extent;
    }
  }
  return part;
}

/// The kernel `places` behind the launches of a slice, whose accumulators are the plan's output.
/// `at`: their view.
Launch places_launch(const Reduction& whole, const Reduction& part, const Box& box, const DeviceInfo& device, int at) {
  constexpr i64 cpu_outputs = 4096;  // of a group: long against its start
  const bool cpu = device.kind == Kind::cpu;
  if (whole.reduced.size() > PLACE_AXES) throw_too_many_axes("reduction", whole.reduced.size(), PLACE_AXES);
  PlaceParams params{};
  std::fill_n(params.extent, PLACE_AXES, 1);
  size_t to = PLACE_AXES;
  i64 step = 1;
  for (size_t d = whole.reduced.size(); d-- > 0;) {
    params.extent[--to] = part.reduced[d].extent;
    params.step[to] = step;
    params.begin += box[whole.kept.size() + d].begin * step;
    step *= whole.reduced[d].extent;
  }
  params.outputs = part.outputs();
  params.u64s = part.recipe.u64s();
  params.per_group = cpu ? cpu_outputs : gpu_items;
  Launch launch = launch_of("reduce/places", {cpu ? 1 : gpu_items});
  launch.kernel.defines.set("AXL_PARAMS_SIZE", sizeof(PlaceParams));
  launch.geometry.groups = ceil_div(params.outputs, params.per_group);
  launch.buffers = {{at, 0, 8}};
  launch.params = params_bytes(params);
  return launch;
}

/// Where elements of the input are moved to, side by side: strides by loop.
struct Gathered {
  std::vector<i64> strides;
  i64 elements = 0;
};

/// Bytes of an array, or of the scratch memory, as a view of the plan of a slice.
struct Bytes {
  Slice::Range range;
  View view;
};

/// Collects the slices of one reduction.
class Slicer {
 public:
  Slicer(const Reduction& reduction, const Device& device, const PlanOptions& options, i64 limit)
      : device_(device),
        options_(options),
        limit_(limit),
        whole_(normalise(reduction)),
        nest_(nest_of(whole_)),
        element_(nest_.arrays[input].element),
        in_order_(whole_.portable && whole_.recipe.order_matters()) {
    if (in_order_ && whole_.recipe.masked)
      throw Error(Errc::out_of_memory, "a masked reduction in the portable order is not done in slices",
                  "use order=fast, or a device with larger buffers");
    if (in_order_)
      add_in_order();
    else
      for (const Block& block : cut(nest_, limit)) add(block);
  }
  Slices take() && { return std::move(slices_); }

 private:
  // Where accumulators are many, as of a few rows that lie far apart, the elements themselves are less to hand on.
  void add(const Block& block) {
    if (block.parts.size() == 1) return add_finished(block.box);
    const i64 parts = i64(block.parts.size());
    const i64 bytes = part_of(whole_, block.box).outputs() * nest_.partial_bytes;
    if (!whole_.recipe.masked && parts * bytes >= gathered(block.box).elements * element_)
      return add_gathered(block.box);
    slices_.scratch_bytes = std::max(slices_.scratch_bytes, parts * bytes);
    const auto accumulators = [&](i64 first, i64 count) {
      return bytes_of(Dtype::u64, {scratch_array, first * bytes, count * bytes}, i64(sizeof(u64)));
    };
    for (i64 i = 0; i < parts; ++i) add_part(block.parts[i], accumulators(i, 1));
    add_fold(block.box, parts, accumulators(0, parts));
  }

  /// Outputs whole, in the portable order of additions: as many at a time as have elements for one buffer.
  void add_in_order() {
    Box all, one;  // outputs
    for (size_t d = 0; d < nest_.extents.size(); ++d) {
      all.push_back({0, nest_.extents[d]});
      one.push_back({0, nest_.reduced[d] ? nest_.extents[d] : 1});
    }
    const i64 elements = gathered(one).elements;
    if (elements * element_ > limit_)
      throw Error(
          Errc::out_of_memory,
          concat("the elements of one output, which the portable order takes together, need ", elements * element_,
                 " bytes, more than the ", limit_, " that fit into a buffer of the device"),
          "use order=fast, or a device with larger buffers");
    SlicedNest nest = nest_;  // over outputs with all of their elements
    nest.arrays[input] = {elements * element_, gathered(all).strides, 1, false};
    for (size_t d = 0; d < nest.extents.size(); ++d) {
      if (nest.reduced[d]) nest.extents[d] = 1;
      nest.arrays[input].strides[d] /= elements;
    }
    for (Block& block : cut(nest, limit_)) {
      for (size_t d = 0; d < nest.extents.size(); ++d)
        if (nest.reduced[d]) block.box[d] = one[d];
      const Bounds touched = bounds_in(nest_, block.box, nest_.arrays[input]);
      const bool fits = (touched.high - touched.low) * element_ <= limit_;
      fits ? add_finished(block.box) : add_gathered(block.box);
    }
  }

  static Bytes bytes_of(Dtype dtype, const Slice::Range& range, i64 align) {
    return {range, view_of(range, dtype, align)};
  }

  /// The bytes of the input that a part needs, from which its offset counts henceforth.
  Bytes take_input(const Box& box, Reduction& part) const {
    const Slice::Range range = rebase(nest_, box, input, part.in_offset, part.in_align);
    return bytes_of(part.recipe.in, range, part.in_align);
  }

  /// Input, mask where there is one, and `to`: what the plan of a part has as views.
  std::vector<Bytes> arrays_of(const Bytes& from, const Box& box, Reduction& part, const Bytes& to) const {
    std::vector<Bytes> arrays{from};
    if (part.recipe.masked) {
      i64 align = 1;
      const Slice::Range range = rebase(nest_, box, mask, part.mask_offset, align);
      arrays.push_back(bytes_of(Dtype::boolean, range, align));
    }
    arrays.push_back(to);
    return arrays;
  }

  Bytes take_output(const Box& box, Reduction& part) const {
    i64 align = 1;  // results are stored one by one
    const Slice::Range range = rebase(nest_, box, int(nest_.arrays.size()) - 1, part.out_offset, align);
    return bytes_of(part.recipe.out, range, align);
  }

  void add_slice(const std::vector<Bytes>& arrays, SharedPlan plan) {
    Slice slice{{}, std::move(plan)};
    for (const Bytes& array : arrays) slice.ranges.push_back(array.range);
    slices_.list.push_back(std::move(slice));
  }

  void add_finished(const Box& box) {
    Reduction part = part_of(whole_, box);
    const Bytes from = take_input(box, part);
    add_results(box, part, from);
  }

  /// The results of a box from its elements, which lie in `from`.
  void add_results(const Box& box, Reduction& part, const Bytes& from) {
    const auto arrays = arrays_of(from, box, part, take_output(box, part));
    add_slice(arrays, plan_reduction(part, views_of(arrays), device_, options_));
  }

  /// A box of the input without its gaps, the loops in the order in which they lie in memory. In the portable order, in
  /// which it shows what a run is, those over the elements of an output are innermost, and stay apart as they were.
  Gathered gathered(const Box& box) const {
    const std::vector<i64>& strides = nest_.arrays[input].strides;
    const auto rank = [&](size_t d) { return std::pair(in_order_ && !nest_.reduced[d], std::abs(strides[d])); };
    std::vector<size_t> order(box.size());
    std::iota(order.rbegin(), order.rend(), size_t{0});  // of equals the last is the fastest
    std::ranges::stable_sort(order, {}, rank);
    Gathered layout{std::vector<i64>(box.size()), 1};
    for (const size_t d : order) {
      if (strides[d] == 0) continue;
      const i64 gap = in_order_ && nest_.reduced[d] ? 1 : 0;
      layout.strides[d] = layout.elements;
      layout.elements = layout.elements * box[d].extent + gap;
    }
    return layout;
  }

  /// The elements of a box are brought together by moves, and reduced in one.
  void add_gathered(const Box& box) {
    const Gathered layout = gathered(box);
    const std::vector<i64>& dense = layout.strides;
    const Bytes from = bytes_of(whole_.recipe.in, {scratch_array, 0, layout.elements * element_}, core::host_alignment);
    slices_.scratch_bytes = std::max(slices_.scratch_bytes, from.range.bytes);
    SlicedNest moves{{}, std::vector<bool>(box.size()), {nest_.arrays[input], nest_.arrays[input]}, 0};
    moves.arrays[1].strides = dense;
    for (size_t loop = 0; loop < box.size(); ++loop) moves.extents.push_back(dense[loop] == 0 ? 1 : box[loop].extent);
    for (const Block& block : cut(moves, limit_)) add_move(box, block.box, dense, from.range);

    Reduction part = part_of(whole_, box);
    size_t d = 0;
    for (auto* axes : {&part.kept, &part.reduced})
      for (Loop& axis : *axes) axis.in = dense[d++];
    part.in_offset = 0;
    part.in_align = core::host_alignment;
    add_results(box, part, from);
  }

  /// `box`: within `all`, from whose corner it counts.
  void add_move(const Box& all, const Box& box, const std::vector<i64>& dense, const Slice::Range& to) {
    View from = View::contiguous(whole_.recipe.in, {}), into = from;
    Box place = all;
    for (size_t d = 0; d < box.size(); ++d) {
      place[d] = {all[d].begin + box[d].begin, box[d].extent};
      from.shape.push_back(box[d].extent);
      from.strides.push_back(nest_.arrays[input].strides[d]);
      from.offset += place[d].begin * from.strides.back();
      into.strides.push_back(dense[d]);
      into.offset += box[d].begin * dense[d];
    }
    into.shape = from.shape;
    from.offset += whole_.in_offset;
    from.align = whole_.in_align;
    const Slice::Range range = rebase(nest_, place, input, from.offset, from.align);
    PlanOptions options = options_;  // what is forced are candidates of reductions
    options.candidate.clear();
    options.configuration.clear();
    auto plan = entry("copy").plan(copy(), std::array{from, into}, device_, options);
    plan->report.candidate.clear();  // the reduction's is the one to report
    slices_.list.push_back({{range, to}, std::move(plan)});
  }

  /// Accumulators of a part side by side, in the order of the kept axes.
  void add_part(const Box& box, const Bytes& to) {
    Reduction part = part_of(whole_, box);
    part.recipe = part.recipe.unfinished();
    part.out_offset = 0;
    i64 stride = 1;
    for (auto axis = part.kept.rbegin(); axis != part.kept.rend(); ++axis) {
      axis->out = stride;
      stride *= axis->extent;
    }
    const Bytes from = take_input(box, part);
    const auto arrays = arrays_of(from, box, part, to);
    const auto plan = plan_reduction(part, views_of(arrays), device_, options_);
    if (part.recipe.accumulation == Accumulation::place) {
      const int at = int(arrays.size()) - 1;
      std::vector<Place> same;
      for (int view = 0; view <= at; ++view) same.push_back({view, 0});
      append(*plan, *plan_of(arrays, places_launch(whole_, part, box, device_.info(), at)), same, 0);
    }
    add_slice(arrays, plan);
  }

  /// The results of a box from its parts' accumulators.
  void add_fold(const Box& box, i64 parts, const Bytes& from) {
    Reduction whole = part_of(whole_, box);
    const Bytes to = take_output(box, whole);
    const Reduction scalars = in_scalars(whole);
    const bool narrow = fits_32_bits(scalars) && options_.index != IndexWidth::bits64 &&
                        from.range.bytes <= std::numeric_limits<i32>::max();
    const i64 items = device_.info().kind == Kind::cpu ? 1 : gpu_items;
    const std::vector<Bytes> arrays{from, to};
    add_slice(arrays, plan_of(arrays, fold_launch({scalars, narrow ? 32 : 64}, parts, "FROM_SLICES", 0, items)));
  }

  static std::vector<View> views_of(const std::vector<Bytes>& arrays) {
    std::vector<View> views;
    for (const Bytes& array : arrays) views.push_back(array.view);
    return views;
  }

  SharedPlan plan_of(const std::vector<Bytes>& arrays, Launch launch) const {
    return ops::plan_of(std::move(launch), views_of(arrays), device_, options_);
  }

  const Device& device_;
  const PlanOptions& options_;
  i64 limit_;
  Reduction whole_;
  SlicedNest nest_;
  i64 element_;  // bytes of the input's
  bool in_order_;
  Slices slices_;
};

}  // namespace

Slices slice_reduction(const Reduction& reduction, const Device& device, const PlanOptions& options, i64 limit) {
  return Slicer(reduction, device, options, limit).take();
}

}  // namespace axisloom::ops
