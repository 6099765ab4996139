// Follows the path of a contraction and has each step planned by the operation that does it.
#include "ops/einsum/contract.hpp"

#include "core/checked.hpp"
#include "core/integers.hpp"
#include "core/number.hpp"
#include "ops/einsum/lowering.hpp"
#include "ops/einsum/map.hpp"
#include "ops/einsum/path.hpp"
#include "ops/einsum/schedule.hpp"
#include "ops/matmul/params.hpp"
#include "planner/choose.hpp"
#include "planner/registry.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>

namespace axisloom::ops {
namespace {

static_assert(std::endian::native == std::endian::little, "the low half of an integer is taken to be its first bytes");

/// An array on its way through the steps.
struct Array {
  Term term;
  Source source;
};

bool is_integer(Dtype dtype) {
  return core::kind_of(dtype) == core::NumberKind::unsigned_integer ||
         core::kind_of(dtype) == core::NumberKind::signed_integer || dtype == Dtype::boolean;
}

/// The dtype of a sum as reduce gives it.
Dtype sum_dtype(Dtype dtype) {
  if (dtype == Dtype::boolean || core::kind_of(dtype) == core::NumberKind::signed_integer) return Dtype::i64;
  return core::kind_of(dtype) == core::NumberKind::unsigned_integer ? Dtype::u64 : dtype;
}

/// The dtype of results between the steps: that of the output, but sums of f32 are not rounded to 16 bits before the
/// end.
Dtype work_dtype(const Contraction& problem) {
  return core::is_small_float(problem.out.dtype) && problem.common == Dtype::f32 ? Dtype::f32 : problem.out.dtype;
}

/// Whether a product of such arrays can be written in such a dtype.
bool multiplies_into(Dtype in, Dtype out) {
  if (in == out) return true;
  if (in == Dtype::i8 || in == Dtype::u8) return out == Dtype::i32;
  return core::is_small_float(in) && out == Dtype::f32;
}

std::string count_text(double operations) {
  constexpr const char* units[] = {"", "k", "M", "G", "T", "P"};
  std::size_t unit = 0;
  for (; operations >= 1000 && unit + 1 < std::size(units); ++unit) operations /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %sFLOP", operations, units[unit]);
  return text;
}

class Contractor {
 public:
  Contractor(const Contraction& problem, PlanImpl& plan, const PlanOptions& options)
      : problem_(problem), plan_(plan), options_(options), work_(work_dtype(problem)) {
    for (std::size_t i = 0; i < problem.operands.size(); ++i)
      arrays_.push_back({problem.operands[i], {.view = int(i)}});
    target_ = {problem.out, {.view = int(plan.views.size()) - 1}};
    // Copies, sums and conversions are not what a forced candidate is meant for.
    helpers_.checked = options.checked;
    if (options.index == IndexWidth::bits64) helpers_.index = IndexWidth::bits64;
  }

  void run() {
    if (problem_.points(problem_.out.axes) == 0) return;
    if (problem_.points(problem_.all_axes()) == 0)
      add_nothing();
    else if (arrays_.size() == 1)
      finish(arrays_.front(), kept_of(0));
    else
      multiply_all();
    schedule_.finish(plan_);
    require_forced();
    if (plan_.report.candidate == "none") plan_.report.candidate = schedule_.last().report.candidate;
  }

 private:
  /// A candidate that is forced and has nothing to do would be ignored in silence.
  void require_forced() const {
    if (!options_.candidate.empty() && plan_.report.candidate == "none")
      throw Error(Errc::unsupported, "no product is computed here, so no candidate can be forced",
                  "do not force a candidate");
  }

  /// Whether something is done to what the operands come to before it is the result.
  bool scales() const { return problem_.alpha != 1 || problem_.addend || problem_.relu || work_ != problem_.out.dtype; }

  Array new_array(Dtype dtype, const std::vector<int>& order) {
    Array array{{.dtype = dtype, .strides = std::vector<i64>(problem_.extents.size())}, {workspace_view, -1}};
    i64 stride = 1;
    for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
      array.term.axes |= AxisSet{1} << *axis;
      array.term.strides[*axis] = stride;
      stride = core::checked_mul(stride, problem_.extent(*axis), "the size of an array between the steps of an einsum");
    }
    const auto element = i64(size_of(dtype));
    if (stride > max_bytes / element)
      throw Error(Errc::unsupported,
                  "an array between the steps of an einsum has more than " + std::to_string(max_bytes) + " bytes",
                  "do it in parts");
    array.source.block = schedule_.block(stride * element);
    return array;
  }

  std::vector<int> order_of(const Term& term, AxisSet axes) const { return result_order(term, term, axes & term.axes); }

  void add(std::shared_ptr<PlanImpl> part, std::vector<Source> sources, std::string text) {
    schedule_.add(std::move(part), std::move(sources), std::move(text));
  }

  /// Views of two arrays with as few axes as walk them; `kept` are walked in both, `reduced` in the input alone.
  std::pair<View, View> views_of(const Term& in, const Term& out, const core::Loops& kept,
                                 const core::Loops& reduced) const {
    View from{.dtype = in.dtype, .shape = {}, .strides = {}, .offset = in.offset, .align = in.align};
    View to{.dtype = out.dtype, .shape = {}, .strides = {}, .offset = out.offset, .align = out.align};
    for (const core::Loop& loop : kept) {
      from.shape.push_back(loop.extent);
      from.strides.push_back(loop.in);
      to.shape.push_back(loop.extent);
      to.strides.push_back(loop.out);
    }
    for (const core::Loop& loop : reduced) {
      from.shape.push_back(loop.extent);
      from.strides.push_back(loop.in);
    }
    return {from, to};
  }

  void move(const Array& from, const Array& to) {
    const auto [in, out] = views_of(from.term, to.term, loops_over(problem_, to.term.axes, from.term, to.term), {});
    const std::array views = {in, out};
    auto part = entry("copy").plan(copy(), views, plan_.device, helpers_);
    const std::string how = part->report.candidate;
    add(std::move(part), {from.source, to.source}, "copy " + names_of(problem_, to.term.axes) + "  rearrange/" + how);
  }

  Array copied(const Array& array, const std::vector<int>& order) {
    Array copy = new_array(array.term.dtype, order);
    move(array, copy);
    return copy;
  }

  /// Whether a kernel that walks an array in the order of another reads it in the order of memory.
  bool in_order(const Term& term, const Term& out) const {
    const int fastest = fastest_axis(out);
    return fastest < 0 || !has(term.axes, fastest) || fastest_axis(term) == fastest;
  }

  /// The axis with the smallest steps; -1: there is none.
  static int fastest_axis(const Term& term) {
    AxisSet moving = 0;
    for (const int axis : axes_of(term.axes))
      if (term.strides[axis] != 0) moving |= AxisSet{1} << axis;
    return moving == 0 ? -1 : result_order(term, term, moving).back();
  }

  /// Copied in the order of `out` where the copy, which has kernels for that, costs less than reading out of order.
  Array ordered(const Array& array, const Term& out) {
    constexpr i64 worth_a_copy = 1 << 14;  // elements; fewer stay in the first-level cache
    if (in_order(array.term, out) || problem_.points(array.term.axes) < worth_a_copy) return array;
    return copied(array, order_of(out, array.term.axes));
  }

  /// An array, or the product of two, element by element; the last step has the epilogue.
  void map(Array from, const Array* factor, const Array& to, bool last) {
    from = ordered(from, to.term);
    const Array other = factor ? ordered(*factor, to.term) : from;
    const Term* const addend = addend_if(last);
    Map map;
    map.from = from.term.dtype;
    map.to = to.term.dtype;
    map.multiplies = factor != nullptr;
    map.adds = addend != nullptr;
    map.loops = loops_over(problem_, to.term.axes, from.term, to.term, &other.term, addend);
    map.in_offset = from.term.offset;
    map.other_offset = other.term.offset;
    map.out_offset = to.term.offset;
    if (addend) map.addend_offset = addend->offset;
    if (last) map.alpha = problem_.alpha, map.beta = problem_.beta, map.relu = problem_.relu;
    std::vector<Source> sources{from.source};
    if (factor) sources.push_back(other.source);
    if (addend) sources.push_back(addend_source());
    sources.push_back(to.source);
    add(plan_map(map, plan_.device, helpers_), std::move(sources), map_text(from, factor, to));
  }

  std::string map_text(const Array& from, const Array* factor, const Array& to) const {
    const std::string names = names_of(problem_, to.term.axes);
    if (factor)
      return "multiply " + names_of(problem_, from.term.axes) + ", " + names_of(problem_, factor->term.axes) + " -> " +
             names;
    return (from.term.dtype == to.term.dtype && scales() ? "scale " : "convert ") + names + " to " +
           std::string(name(to.term.dtype));
  }

  Array converted(const Array& array, Dtype dtype) {
    if (array.term.dtype == dtype) return array;
    Array to = new_array(dtype, order_of(array.term, array.term.axes));
    map(array, nullptr, to, false);
    return to;
  }

  const Term* addend_if(bool last) const { return last && problem_.addend ? &*problem_.addend : nullptr; }
  Source addend_source() const { return {.view = int(plan_.views.size()) - 2}; }

  /// The array summed over all axes but `kept`, in the work dtype. Sums of integers are 64 bits wide: their low part is
  /// the sum that wraps round.
  Array summed(const Array& given, AxisSet kept, const Array* into = nullptr) {
    const bool is_any = work_ == Dtype::boolean;
    const bool direct = given.term.dtype == work_ || (is_integer(given.term.dtype) && is_integer(work_));
    const Array array = direct ? given : converted(given, work_);
    const Dtype wide = is_any ? Dtype::boolean : sum_dtype(array.term.dtype);
    const bool fits = into && size_of(wide) == size_of(work_);
    Array result = fits ? *into : new_array(wide, order_of(array.term, kept));
    result.term.dtype = wide;
    reduce(array, result, is_any ? "any" : "sum");
    if (wide != work_) narrow(result.term, wide);
    if (into && !fits) move(result, *into);
    return result;
  }

  void narrow(Term& term, Dtype wide) const {
    const auto times = i64(size_of(wide) / size_of(work_));
    term.dtype = work_;
    for (i64& stride : term.strides) stride *= times;
  }

  void reduce(const Array& from, const Array& to, const std::string& how) {
    const core::Loops kept = loops_over(problem_, to.term.axes, from.term, to.term);
    const core::Loops reduced = loops_over(problem_, from.term.axes & ~to.term.axes, from.term, to.term);
    std::string left, right;
    for (std::size_t i = 0; i < kept.size(); ++i) right += " k" + std::to_string(i);
    for (std::size_t i = 0; i < reduced.size(); ++i) left += " r" + std::to_string(i);
    const auto [in, out] = views_of(from.term, to.term, kept, reduced);
    const std::array views = {in, out};
    auto part = entry("reduce").plan({"reduce", {how, right + left + " ->" + right}}, views, plan_.device, helpers_);
    const std::string variant = part->report.candidate;
    add(std::move(part), {from.source, to.source},
        how + " " + names_of(problem_, from.term.axes) + " -> " + names_of(problem_, to.term.axes) + "  reduce/" +
            variant + "  " + count_text(double(problem_.points(from.term.axes))));
  }

  /// Axes that operand i has alone, and the output has not, are summed before anything else.
  AxisSet kept_of(std::size_t i) const {
    std::vector<bool> alone(arrays_.size());
    alone[i] = true;
    return problem_.operands[i].axes & axes_left(problem_, alone);
  }

  /// The result from one array, the axes that are not kept being summed.
  void finish(const Array& array, AxisSet kept) {
    const bool sums = kept != array.term.axes;
    if (sums && !scales()) {
      summed(array, kept, &target_);
      return;
    }
    const Array whole = sums ? summed(array, kept) : array;
    // Bools may be any bytes; as results of arithmetic they are 0 or 1, whether or not there was anything to add up.
    if (scales() || whole.term.dtype != work_ || work_ == Dtype::boolean)
      map(whole, nullptr, target_, true);
    else
      move(whole, target_);
  }

  void multiply_all() {
    for (std::size_t i = 0; i < problem_.operands.size(); ++i)
      if (const AxisSet kept = kept_of(i); kept != arrays_[i].term.axes) arrays_[i] = summed(arrays_[i], kept);
    std::vector<std::vector<bool>> members(arrays_.size(), std::vector<bool>(arrays_.size()));
    for (std::size_t i = 0; i < arrays_.size(); ++i) members[i][i] = true;
    const std::vector<PathStep> path = contraction_path(problem_);
    for (std::size_t s = 0; s < path.size(); ++s) {
      const auto left = static_cast<std::size_t>(path[s].left), right = static_cast<std::size_t>(path[s].right);
      std::vector<bool> both = members[left];
      for (std::size_t i = 0; i < both.size(); ++i) both[i] = both[i] || members[right][i];
      const AxisSet axes = (arrays_[left].term.axes | arrays_[right].term.axes) & axes_left(problem_, both);
      arrays_.push_back(multiply(arrays_[left], arrays_[right], axes, s + 1 == path.size()));
      members.push_back(std::move(both));
    }
  }

  /// Whether a step is inner products of columns, whose kernels would read memory out of order: the products as an
  /// array and its sum are passes in order. Not of 16-bit floats, which would be rounded in between, nor of few terms,
  /// whose sum has a larger bound than the product's 2 k u.
  bool sums_columns(const Term& left, const Term& right, AxisSet kept) const {
    constexpr i64 terms = 64;
    const AxisSet summed = left.axes & ~kept;
    if (left.axes != right.axes || summed == 0 || core::is_small_float(work_) || problem_.points(summed) < terms)
      return false;
    const int fastest = fastest_axis(left);
    return fastest >= 0 && fastest == fastest_axis(right) && has(kept, fastest) && problem_.extent(fastest) >= 16;
  }

  Array multiply(Array left, Array right, AxisSet kept, bool last) {
    if (left.term.dtype != right.term.dtype || !multiplies_into(left.term.dtype, work_)) {
      left = converted(left, work_);
      right = converted(right, work_);
    }
    const bool forced = last && (!options_.candidate.empty() || !options_.configuration.empty());
    if (!forced && sums_columns(left.term, right.term, kept)) {
      const Array product = new_array(work_, order_of(left.term, left.term.axes));
      map(left, &right, product, false);
      if (!last) return summed(product, kept);
      finish(product, kept);
      return target_;
    }
    Array result = last ? target_ : new_array(work_, result_order(left.term, right.term, kept));
    if (!forced && ((left.term.axes | right.term.axes) & ~kept) == 0) {
      map(left, &right, result, last);
      return result;
    }
    const Orders orders = orders_needed(problem_, {left.term, right.term, result.term});
    if (!orders.left.empty()) left = copied(left, orders.left);
    if (!orders.right.empty()) right = copied(right, orders.right);
    add_product(left, right, result, last);
    return result;
  }

  void add_product(const Array& left, const Array& right, const Array& result, bool last) {
    LoweredProduct lowered = lower_product(problem_, {left.term, right.term, result.term, addend_if(last)});
    if (last) {
      lowered.product.alpha = problem_.alpha;
      lowered.product.beta = problem_.beta;
      lowered.product.relu = problem_.relu;
    }
    const Array &a = lowered.swapped ? right : left, &b = lowered.swapped ? left : right;
    const double operations =
        arithmetic_of(left.term.dtype).operations() * double(problem_.points(left.term.axes | right.term.axes));
    const std::string text = names_of(problem_, left.term.axes) + ", " + names_of(problem_, right.term.axes) + " -> " +
                             names_of(problem_, result.term.axes);
    add_product_step(lowered.product, a, b, result, text, operations, last);
  }

  void add_product_step(Product& product, const Array& a, const Array& b, const Array& c, const std::string& text,
                        double operations, bool last) {
    product.in = a.term.dtype;
    product.out = c.term.dtype;
    std::vector<Source> sources{a.source, b.source};
    std::vector<View> views{view_of(a.term), view_of(b.term)};
    if (product.d) {
      sources.push_back(addend_source());
      views.push_back(view_of(*problem_.addend));
    }
    sources.push_back(c.source);
    views.push_back(view_of(c.term));
    auto part = plan_product(product, std::move(views), plan_.device, last ? options_ : helpers_);
    report_product(part->report);
    add(std::move(part), std::move(sources),
        text + "  matmul/" + plan_.report.candidate + "  " + count_text(operations));
  }

  /// A product knows its arrays by strides of its own: what is left for the view is the buffer.
  static View view_of(const Term& term) {
    View view = View::contiguous(term.dtype, {0});
    view.align = term.align;
    return view;
  }

  /// What is decided about the last product stands for the plan: it is the one that writes the result.
  void report_product(const PlanReport& product) {
    PlanReport& report = plan_.report;
    report.candidate = product.candidate;
    report.configuration = product.configuration;
    report.configuration_source = product.configuration_source;
    report.candidates = product.candidates;
    if (product.index == IndexWidth::bits64) report.index = IndexWidth::bits64;
  }

  /// A sum over no elements: zeros, and what is added to them.
  void add_nothing() {
    Product product;
    product.k = {.extent = 0};
    product.alpha = problem_.alpha;
    product.beta = problem_.beta;
    product.relu = problem_.relu;
    const Term nothing{.strides = std::vector<i64>(problem_.extents.size())};
    product.batch = loops_over(problem_, target_.term.axes, nothing, target_.term, nullptr, addend_if(true));
    product.c = {target_.term.offset, target_.term.align};
    if (problem_.addend) product.d = {problem_.addend->offset, problem_.addend->align};
    Array none = arrays_.front();
    none.term.dtype = work_;  // nothing of it is read
    add_product_step(product, none, none, target_, "nothing -> " + names_of(problem_, target_.term.axes), 0, true);
  }

  const Contraction& problem_;
  PlanImpl& plan_;
  const PlanOptions& options_;
  PlanOptions helpers_;
  Dtype work_;
  std::vector<Array> arrays_;
  Array target_;
  Schedule schedule_;
};

}  // namespace

std::shared_ptr<PlanImpl> plan_contraction(const Contraction& problem, std::vector<View> views, const Device& device,
                                           const PlanOptions& options) {
  if (options.in_place) throw Error(Errc::usage, "cannot be done in place", "give an output of its own");
  auto plan = empty_plan(std::move(views), device, options);
  Contractor(problem, *plan, options).run();
  return plan;
}

}  // namespace axisloom::ops
