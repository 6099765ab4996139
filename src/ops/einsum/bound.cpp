// How far a result may be from the oracle's.
//
// Write |S| for the contraction of the operands' absolute values (of a complex number: |re| + |im|), u for the roundoff
// of the accumulators (f32's for 16-bit floats, else that of the dtype) and v for that of the dtype in which results
// are stored. A step that computes an array from exact ones has an error of at most g |array|, element by element:
//   product of k terms      g = 2 k u  (promised by matmul), 8 k u of complex numbers: both components, two products
//   each sum of n elements       g = (ceil(log2 n) + 40) u  (promised by reduce) conversion              g = v
// and v more where the result is stored with fewer digits than it is computed with. Steps multiply: arrays with errors
// of at most a and b relative to |X| and |Y| have a product within (1 + a)(1 + b)(1 + g) - 1 of |X||Y|, and sums keep
// that. So the whole is within (product over all steps of (1 + g)) - 1 of |S|, in any order of the steps. alpha, beta
// and the addition add 4 u of |alpha| |S| + |beta| |addend|; the oracle is rounded too, by v. Below the smallest normal
// number errors are absolute: half of the smallest number there is for each rounding, which operands met later multiply
// and sums add up.
#include "core/integers.hpp"
#include "core/number.hpp"
#include "ops/einsum/dense.hpp"
#include "ops/einsum/oracle.hpp"
#include "ops/einsum/path.hpp"

#include <algorithm>
#include <cmath>

namespace axisloom::ops {
namespace {

struct Roundoff {
  double sums = 0;    // u
  double stored = 0;  // v
  double least = 0;   // smallest positive number of the stored dtype
  bool is_complex = false;
};

/// Of a dtype that rounds.
Roundoff roundoff_of(Dtype dtype) {
  const double stored = core::unit_roundoff(dtype);
  return {core::is_small_float(dtype) ? core::unit_roundoff(Dtype::f32) : stored, stored,
          double(core::float_format(dtype)->least()), core::components_of(dtype) == 2};
}

/// What is collected on the way through the steps.
struct Steps {
  double growth = 0;  // sum of log(1 + g)
  int stored = 0;     // results

  void add(double g, const Roundoff& roundoff) {
    growth += std::log1p(g) + (roundoff.stored > roundoff.sums ? std::log1p(roundoff.stored) : 0);
    ++stored;
  }
};

Steps steps_of(const Contraction& problem, const Roundoff& roundoff) {
  Steps steps;
  const Path path = contraction_path(problem);
  const std::vector<AxisSet> axes = axes_on_path(problem, path);
  size_t result = 0;
  for (const Term& operand : problem.operands) {
    const AxisSet kept = axes[result++];
    const double n = problem.points(operand.axes & ~kept);
    if (operand.dtype != problem.out.dtype) steps.add(roundoff.stored, roundoff);
    if (kept != operand.axes) steps.add((std::ceil(std::log2(n)) + 40) * roundoff.sums, roundoff);
  }
  for (const PathStep& step : path) {
    const double k = problem.points((axes[step.left] | axes[step.right]) & ~axes[result++]);
    steps.add((roundoff.is_complex ? 8 : 2) * k * roundoff.sums, roundoff);
  }
  return steps;
}

double magnitude_at(Dtype dtype, const std::byte* element) {
  double sum = 0;
  for (int component = 0; component < core::components_of(dtype); ++component)
    sum += double(std::fabs(core::number_at(dtype, element, component)));
  return sum;
}

/// No number between two steps is larger than this.
double largest_between_steps(const Contraction& problem, const Operands<double>& operands) {
  double largest = 1;
  for (const std::vector<double>& values : operands.values)
    for (const double value : values) largest = std::max(largest, value);
  double grown = problem.points(problem.all_axes() & ~problem.out.axes);
  for (size_t i = 1; i < operands.values.size(); ++i) grown *= largest;
  return grown;
}

/// What roundings below the normal numbers can amount to.
double underflow(const Contraction& problem, double grown, const Steps& steps, const Roundoff& roundoff) {
  const double intermediate = steps.stored > 1 ? steps.stored * grown : 0;
  return roundoff.least * (2 + intermediate * std::max(1.0, std::fabs(problem.alpha)));
}

}  // namespace

std::vector<double> contraction_bound(const Contraction& problem, HostBuffers in) {
  const Dtype dtype = problem.out.dtype;
  if (core::unit_roundoff(dtype) == 0) return std::vector<double>(problem.points(problem.out.axes));
  const Roundoff roundoff = roundoff_of(dtype);
  std::vector<double> bound;
  const bool empty = problem.points(problem.all_axes()) == 0;
  const Steps steps = empty ? Steps{} : steps_of(problem, roundoff);
  const Operands<double> operands = operands_of<double>(problem, in, magnitude_at);
  const double relative = std::expm1(steps.growth), grown = largest_between_steps(problem, operands);
  const double least = underflow(problem, grown, steps, roundoff);
  // An infinity between two steps may meet another one, or a zero.
  const bool may_overflow = steps.stored > 1 && grown > core::float_format(dtype)->largest();
  const bool scaled = problem.alpha != 1 || problem.addend;
  const i64 size = size_of(dtype);
  for_each_sum(problem, operands, [&](double sum, i64, i64 addend) {
    // See OpEntry::bound: the order of products decides.
    if (!std::isfinite(sum) || may_overflow) return bound.push_back(HUGE_VAL);
    double whole = std::fabs(problem.alpha) * sum;
    const double spread = relative * whole;
    if (problem.addend && problem.beta != 0)
      whole += std::fabs(problem.beta) * magnitude_at(dtype, in.back() + addend * size);
    bound.push_back(spread + (scaled ? 4 * roundoff.sums : 0) * (whole + spread) + 2 * roundoff.stored * whole + least);
  });
  return bound;
}

}  // namespace axisloom::ops
