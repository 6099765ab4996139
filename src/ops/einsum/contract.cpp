// Follows the path of a contraction and has each step planned by the operation that does it.
#include "ops/einsum/contract.hpp"

#include "core/integers.hpp"
#include "core/number.hpp"
#include "core/text.hpp"
#include "ops/einsum/lowering.hpp"
#include "ops/einsum/map.hpp"
#include "ops/einsum/path.hpp"
#include "ops/einsum/schedule.hpp"
#include "ops/matmul/params.hpp"
#include "planner/choose.hpp"
#include "planner/registry.hpp"

#include <axisloom/error.hpp>

#include <array>
#include <bit>
#include <cstdio>

namespace axisloom::ops {
namespace {

static_assert(std::endian::native == std::endian::little, "the low half of an integer is taken to be its first bytes");

/// An array on its way through the steps.
struct Array : Term {
  Source source;
};

bool is_integer(Dtype dtype) {
  return core::float_format(dtype) == nullptr;
}

/// The dtype of a sum as reduce gives it.
Dtype sum_dtype(Dtype dtype) {
  return is_integer(dtype) ? core::widest_integer(dtype) : dtype;
}

/// The dtype of results between the steps: that of the output, but sums of f32 are not rounded to 16 bits before the
/// end.
Dtype work_dtype(const Contraction& problem) {
  return core::is_small_float(problem.out.dtype) && problem.common == Dtype::f32 ? Dtype::f32 : problem.out.dtype;
}

std::string count_text(double operations) {
  constexpr const char* units[] = {"", "k", "M", "G", "T", "P"};
  size_t unit = 0;
  for (; operations >= 1000 && unit + 1 < std::size(units); ++unit) operations /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %sFLOP", operations, units[unit]);
  return text;
}

class Contractor {
 public:
  Contractor(const Contraction& problem, PlanImpl& plan, const PlanOptions& options)
      : problem_(problem), plan_(plan), options_(options), work_(work_dtype(problem)) {
    int view = 0;
    for (const Term& operand : problem.operands) arrays_.push_back({operand, {.view = view++}});
    if (problem.addend) addend_ = {*problem.addend, {.view = view++}};
    target_ = {problem.out, {.view = view}};
    // Copies, sums and conversions are not what a forced candidate is meant for.
    helpers_.checked = options.checked;
    if (options.index == IndexWidth::bits64) helpers_.index = IndexWidth::bits64;
  }

  void run() {
    if (problem_.points(problem_.out.axes) == 0) return;
    const Array result = target_;
    straighten();
    if (problem_.points(problem_.all_axes()) == 0)
      add_nothing();
    else
      follow(contraction_path(problem_));
    if (target_.source.view == workspace_view) move(target_, result);
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

  /// Kernels of products access whole elements: complex arrays that are aligned to their parts alone are copied.
  void straighten() {
    const auto askew = [](const Term& term) { return term.align < i64(size_of(term.dtype)); };
    for (Array& array : arrays_)
      if (askew(array)) array = copied(array, by_stride(array, array.axes));
    if (problem_.addend && askew(addend_)) {
      addend_ = copied(addend_, by_stride(addend_, moving_axes(addend_)));
      addend_.axes = problem_.out.axes;
    }
    if (askew(target_)) target_ = new_array(target_.dtype, by_stride(target_, target_.axes));
  }

  /// Whether something is done to what the operands come to before it is the result.
  bool scales() const { return problem_.alpha != 1 || problem_.addend || problem_.relu || work_ != problem_.out.dtype; }

  Array new_array(Dtype dtype, const AxisList& order) {
    const Term term = dense_term(problem_, dtype, order);
    const i64 elements = problem_.points(term.axes), element = size_of(dtype);
    if (elements > max_bytes / element)
      throw Error(Errc::unsupported,
                  concat("an array between the steps of an einsum has more than ", max_bytes, " bytes"),
                  "do it in parts");
    return {term, schedule_.block(elements * element)};
  }

  std::string names_of(const Term& term) const { return ops::names_of(problem_, term.axes); }

  /// `arrays`: one per view of `part`.
  void add(SharedPlan part, const std::vector<Array>& arrays, std::string text) {
    std::vector<Source> sources;
    for (const Array& array : arrays) sources.push_back(array.source);
    schedule_.add(std::move(part), std::move(sources), std::move(text));
  }

  /// An array on which a part is done, as a view with as few axes as walk it.
  static View view_of(const Term& term, const Loops& loops, Operand operand) {
    if (loops.size() > max_rank) throw_too_many_axes("einsum", loops.size(), max_rank);
    View view{.dtype = term.dtype, .shape = {}, .strides = {}, .offset = term.offset, .align = term.align};
    for (const Loop& loop : loops) {
      view.shape.push_back(loop.extent);
      view.strides.push_back(loop.*operand);
    }
    return view;
  }

  /// An operation on one array. `walked`: its axes, those of the result first.
  void add_operation(const Operation& op, const Array& from, const Array& to, const Loops& kept, const Loops& walked,
                     const std::string& text, const std::string& cost) {
    const std::array views = {view_of(from, walked, &Loop::in), view_of(to, kept, &Loop::out)};
    auto part = entry(op.name).plan(op, views, plan_.device, helpers_);
    const std::string variant = part->report.candidate;
    add(std::move(part), {from, to}, text + variant + cost);
  }

  void move(const Array& from, const Array& to) {
    const Loops loops = loops_over(problem_, to.axes, from, to);
    add_operation(copy(), from, to, loops, loops, "copy " + names_of(to) + "  rearrange/", "");
  }

  Array copied(const Array& array, const AxisList& order) {
    Array copy = new_array(array.dtype, order);
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
    const AxisList moving = by_stride(term, moving_axes(term));
    return moving.empty() ? -1 : moving.back();
  }

  /// Copied in the order of `out` where the copy, which has kernels for that, costs less than reading out of order.
  Array ordered(const Array& array, const Term& out) {
    constexpr i64 worth_a_copy = 1 << 14;  // elements; fewer stay in the first-level cache
    if (in_order(array, out) || problem_.points(array.axes) < worth_a_copy) return array;
    return copied(array, by_stride(out, array.axes));
  }

  /// An array, or the product of two, element by element; the last step has the epilogue.
  void map(Array from, const Array* factor, const Array& to, bool last) {
    from = ordered(from, to);
    const Array other = factor ? ordered(*factor, to) : from;
    const Term* const addend = addend_if(last);
    Map map;
    map.multiplies = factor != nullptr;
    map.in = from.dtype;
    map.out = to.dtype;
    map.batch = loops_over(problem_, to.axes, from, to, &other, addend);
    map.a = start_of(from);
    map.b = start_of(other);
    map.c = start_of(to);
    if (addend) map.d = start_of(*addend);
    if (last) set_epilogue(map);
    std::vector<Array> arrays{from};
    if (factor) arrays.push_back(other);
    if (addend) arrays.push_back(addend_);
    arrays.push_back(to);
    add(plan_map(map, plan_.device, helpers_), arrays, map_text(from, factor, to));
  }

  std::string map_text(const Array& from, const Array* factor, const Array& to) const {
    if (factor) return concat("multiply ", names_of(from), ", ", names_of(*factor), " -> ", names_of(to));
    const bool scaled = from.dtype == to.dtype && scales();
    return concat(scaled ? "scale " : "convert ", names_of(to), " to ", name(to.dtype));
  }

  void set_epilogue(Product& product) const {
    product.alpha = problem_.alpha;
    product.beta = problem_.beta;
    product.relu = problem_.relu;
  }

  Array converted(const Array& array, Dtype dtype) {
    if (array.dtype == dtype) return array;
    Array to = new_array(dtype, by_stride(array, array.axes));
    map(array, nullptr, to, false);
    return to;
  }

  const Term* addend_if(bool last) const { return last && problem_.addend ? &addend_ : nullptr; }

  /// The array summed over all axes but `kept`, in the work dtype. Sums of integers are 64 bits wide: their low part is
  /// the sum that wraps round.
  Array summed(const Array& given, AxisSet kept, const Array* into = nullptr) {
    const bool is_any = work_ == Dtype::boolean;
    const bool direct = given.dtype == work_ || (is_integer(given.dtype) && is_integer(work_));
    const Array array = direct ? given : converted(given, work_);
    const Dtype wide = is_any ? Dtype::boolean : sum_dtype(array.dtype);
    const bool fits = into && size_of(wide) == size_of(work_);
    Array result = fits ? *into : new_array(wide, by_stride(array, kept));
    result.dtype = wide;
    reduce(array, result, is_any ? "any" : "sum");
    if (wide != work_) narrow(result, wide);
    if (into && !fits) move(result, *into);
    return result;
  }

  void narrow(Term& term, Dtype wide) const {
    const i64 times = size_of(wide) / size_of(work_);
    term.dtype = work_;
    for (i64& stride : term.strides) stride *= times;
  }

  void reduce(const Array& from, const Array& to, const std::string& how) {
    const Loops kept = loops_over(problem_, to.axes, from, to);
    Loops walked = kept;
    std::string pattern = "...";
    for (const Loop& loop : loops_over(problem_, from.axes & ~to.axes, from, to)) {
      walked.push_back(loop);
      pattern += concat(" r", walked.size());
    }
    add_operation({"reduce", {how, pattern + " -> ..."}}, from, to, kept, walked,
                  how + " " + names_of(from) + " -> " + names_of(to) + "  reduce/",
                  "  " + count_text(problem_.points(from.axes)));
  }

  /// The result from one array, the axes that are not kept being summed.
  void finish(const Array& array, AxisSet kept) {
    const bool sums = kept != array.axes;
    if (sums && !scales()) {
      summed(array, kept, &target_);
      return;
    }
    const Array whole = sums ? summed(array, kept) : array;
    // Bools may be any bytes; as results of arithmetic they are 0 or 1, whether or not there was anything to add up.
    if (scales() || whole.dtype != work_ || work_ == Dtype::boolean)
      map(whole, nullptr, target_, true);
    else
      move(whole, target_);
  }

  /// Axes that an operand has alone, and the output has not, are summed before anything else.
  void follow(const Path& path) {
    const std::vector<AxisSet> kept = axes_on_path(problem_, path);
    if (arrays_.size() == 1) return finish(arrays_.front(), kept.front());
    for (size_t i = 0; i < arrays_.size(); ++i)
      if (kept[i] != arrays_[i].axes) arrays_[i] = summed(arrays_[i], kept[i]);
    for (const PathStep& step : path)
      arrays_.push_back(multiply(arrays_[step.left], arrays_[step.right], kept[arrays_.size()], step == path.back()));
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
    if (left.dtype != right.dtype || !may_become(left.dtype, work_)) {
      left = converted(left, work_);
      right = converted(right, work_);
    }
    const bool forced = last && (!options_.candidate.empty() || !options_.configuration.empty());
    if (!forced && sums_columns(left, right, kept)) {
      const Array product = new_array(work_, by_stride(left, left.axes));
      map(left, &right, product, false);
      if (!last) return summed(product, kept);
      finish(product, kept);
      return target_;
    }
    Array result = last ? target_ : new_array(work_, result_order(left, right, kept));
    if (!forced && ((left.axes | right.axes) & ~kept) == 0) {
      map(left, &right, result, last);
      return result;
    }
    const Orders orders = orders_needed(problem_, {left, right, result});
    if (!orders.left.empty()) left = copied(left, orders.left);
    if (!orders.right.empty()) right = copied(right, orders.right);
    add_product(left, right, result, last);
    return result;
  }

  void add_product(const Array& left, const Array& right, const Array& result, bool last) {
    LoweredProduct lowered = lower_product(problem_, {left, right, result, addend_if(last)});
    if (last) set_epilogue(lowered.product);
    const Array &a = lowered.swapped ? right : left, &b = lowered.swapped ? left : right;
    const double operations = arithmetic_of(left.dtype).operations() * double(problem_.points(left.axes | right.axes));
    add_product_step(lowered.product, a, b, result, names_of(left) + ", " + names_of(right), operations, last);
  }

  void add_product_step(Product& product, const Array& a, const Array& b, const Array& c, const std::string& factors,
                        double operations, bool last) {
    product.in = a.dtype;
    product.out = c.dtype;
    std::vector<Array> arrays{a, b};
    if (product.d) arrays.push_back(addend_);
    arrays.push_back(c);
    std::vector<View> views;
    // A product knows its arrays by strides of its own: what is left for the view is the buffer.
    for (const Array& array : arrays) {
      views.push_back(View::contiguous(array.dtype, {0}));
      views.back().align = array.align;
    }
    auto part = planned(product, views, last ? options_ : helpers_);
    report_product(part->report);
    add(std::move(part), arrays,
        factors + " -> " + names_of(c) + "  matmul/" + plan_.report.candidate + "  " + count_text(operations));
  }

  SharedPlan planned(const Product& given, const std::vector<View>& views, const PlanOptions& options) const {
    if (given.batch.size() <= most_batch_axes) return plan_product(given, views, plan_.device, options);
    Product product = normalise(given);
    const i64 from = size_of(product.in), to = size_of(product.out);
    std::vector<Walked> arrays{{&Loop::in, from, &product.a}, {&Loop::other, from, &product.b}};
    if (product.d) arrays.push_back({&Loop::addend, to, &*product.d});
    arrays.push_back({&Loop::out, to, &product.c});
    const auto others = take_repeats(product, most_batch_axes, arrays);
    auto part = plan_product(product, views, plan_.device, options);
    repeat(*part, others);
    return part;
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
    product.k.extent = 0;
    set_epilogue(product);
    const Term nothing = dense_term(problem_, work_, {});
    product.batch = loops_over(problem_, target_.axes, nothing, target_, nullptr, addend_if(true));
    product.c = start_of(target_);
    if (problem_.addend) product.d = start_of(addend_);
    Array none = arrays_.front();
    none.dtype = work_;  // nothing of it is read
    add_product_step(product, none, none, target_, "nothing", 0, true);
  }

  const Contraction& problem_;
  PlanImpl& plan_;
  const PlanOptions& options_;
  PlanOptions helpers_;
  Dtype work_;
  std::vector<Array> arrays_;
  Array addend_, target_;
  Schedule schedule_;
};

}  // namespace

SharedPlan plan_contraction(const Contraction& problem, Views views, const Device& device, const PlanOptions& options) {
  if (options.in_place) throw Error(Errc::usage, "cannot be done in place", "give an output of its own");
  auto plan = empty_plan(views, device, options);
  Contractor(problem, *plan, options).run();
  return plan;
}

}  // namespace axisloom::ops
