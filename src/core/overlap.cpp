// Overlap of strided views, decided as NumPy does: by searching for a solution of one bounded linear equation.
#include "core/overlap.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "core/checked.hpp"

namespace axisloom::core {
namespace {

/// `coefficient` * x with 0 <= x <= `bound`; both at least 1.
struct Term {
  Wide coefficient = 1;
  Wide bound = 0;
};

Wide gcd(Wide a, Wide b) {
  while (b != 0) a = std::exchange(b, a % b);
  return a;
}

/// x with a * x = 1 modulo m, for coprime a and m.
Wide inverse(Wide a, Wide m) {
  Wide previous = 1, current = 0, dividend = a % m, divisor = m;
  while (divisor != 0) {
    const Wide quotient = dividend / divisor;
    dividend = std::exchange(divisor, dividend - quotient * divisor);
    previous = std::exchange(current, previous - quotient * current);
  }
  return (previous % m + m) % m;
}

/// Is there an x within the bounds for which the terms add up to a target? Depth first, largest coefficient first.
class Search {
 public:
  Search(std::vector<Term> terms, i64& work) : terms_(std::move(terms)), work_(work) {
    simplify();
    rest_.resize(terms_.size() + 1);
    for (size_t i = terms_.size(); i-- > 0;) {
      const Term& term = terms_[i];
      const Rest& after = rest_[i + 1];
      rest_[i].sum = after.sum + term.coefficient * term.bound;
      rest_[i].divisor = gcd(term.coefficient, after.divisor);
      // One more step of this term must start no later than one step beyond what the smaller ones reach together.
      rest_[i].dense = after.divisor == 0 || (after.dense && rest_[i].divisor == after.divisor &&
                                              term.coefficient <= after.sum + after.divisor);
    }
  }

  Overlap solve(Wide target) { return solve(0, target); }

 private:
  /// What the terms from some index on can add up to: multiples of `divisor` in [0, sum], all of them when `dense`.
  struct Rest {
    Wide sum = 0;
    Wide divisor = 0;
    bool dense = true;
  };

  // Terms of equal coefficient act as one.
  void simplify() {
    std::ranges::sort(terms_, std::greater{}, &Term::coefficient);
    std::vector<Term> merged;
    for (const Term& term : terms_)
      if (!merged.empty() && merged.back().coefficient == term.coefficient)
        merged.back().bound += term.bound;
      else
        merged.push_back(term);
    terms_ = std::move(merged);
  }

  Overlap solve(size_t first, Wide target) {
    const Rest& rest = rest_[first];
    if (target < 0 || target > rest.sum) return Overlap::no;
    if (target == 0) return Overlap::yes;
    if (target % rest.divisor != 0) return Overlap::no;
    if (rest.dense) return Overlap::yes;
    const Term& term = terms_[first];
    const Rest& after = rest_[first + 1];
    // Only x that leave a multiple of the others' divisor can succeed: x = x0 modulo step.
    const Wide step = after.divisor / rest.divisor;
    const Wide x0 = target / rest.divisor % step * inverse(term.coefficient / rest.divisor % step, step) % step;
    const Wide shortfall = std::max<Wide>(target - after.sum, 0);
    const Wide lowest = (shortfall + term.coefficient - 1) / term.coefficient;
    const Wide highest = std::min(term.bound, target / term.coefficient);
    for (Wide x = lowest + ((x0 - lowest) % step + step) % step; x <= highest; x += step) {
      if (work_-- <= 0) return Overlap::undecided;
      const Overlap found = solve(first + 1, target - x * term.coefficient);
      if (found != Overlap::no) return found;
    }
    return Overlap::no;
  }

  std::vector<Term> terms_;
  std::vector<Rest> rest_;
  i64& work_;
};

Wide absolute(Wide value) {
  return value < 0 ? -value : value;
}

struct ByteRange {
  Wide first = 0;
  Wide last = 0;
};

/// Bytes that a view touches, from the start of its buffer. Their number fits in 63 bits, or the products of the search
/// would not fit in 127.
ByteRange bytes_of(const View& view) {
  const Bounds bounds = view.bounds();
  const auto size = Wide(size_of(view.dtype));
  const ByteRange range{bounds.low * size, bounds.high * size - 1};
  if (range.last - range.first >= std::numeric_limits<i64>::max())
    throw_too_large("the number of bytes that a view spans");
  return range;
}

void add_terms(std::vector<Term>& terms, const View& view) {
  const auto size = Wide(size_of(view.dtype));
  for (int i = 0; i < view.rank(); ++i)
    if (view.shape[i] > 1 && view.strides[i] != 0)
      terms.push_back({absolute(view.strides[i]) * size, Wide(view.shape[i]) - 1});
  if (size > 1) terms.push_back({1, size - 1});
}

}  // namespace

Overlap shares_memory(const View& a, u64 a_start, const View& b, u64 b_start, i64 work) {
  if (a.count() == 0 || b.count() == 0) return Overlap::no;
  const ByteRange range_a = bytes_of(a);
  const ByteRange range_b = bytes_of(b);
  const Wide distance = Wide(b_start) - Wide(a_start);
  // Counted upwards from the first byte of a and downwards from the last byte of b, every term is positive.
  std::vector<Term> terms;
  add_terms(terms, a);
  add_terms(terms, b);
  return Search(std::move(terms), work).solve(distance + range_b.last - range_a.first);
}

Overlap overlaps_itself(const View& view, i64 work) {
  if (view.count() == 0) return Overlap::no;
  bytes_of(view);  // throws for spans that the search cannot count
  std::vector<Term> axes;
  for (int i = 0; i < view.rank(); ++i) {
    if (view.shape[i] <= 1) continue;
    if (view.strides[i] == 0) return Overlap::yes;
    axes.push_back({absolute(view.strides[i]), Wide(view.shape[i]) - 1});
  }
  std::ranges::sort(axes, std::greater{}, &Term::coefficient);
  // Two indices of one address differ first along some axis i, by d >= 1, and by anything along those after it:
  // stride_i * (d - 1) + sum of stride_k * (d_k + bound_k) = sum of stride_k * bound_k - stride_i.
  for (size_t i = 0; i < axes.size(); ++i) {
    std::vector<Term> terms;
    if (axes[i].bound > 1) terms.push_back({axes[i].coefficient, axes[i].bound - 1});
    Wide target = -axes[i].coefficient;
    for (size_t k = i + 1; k < axes.size(); ++k) {
      terms.push_back({axes[k].coefficient, 2 * axes[k].bound});
      target += axes[k].coefficient * axes[k].bound;
    }
    if (const Overlap found = Search(std::move(terms), work).solve(target); found != Overlap::no) return found;
  }
  return Overlap::no;
}

}  // namespace axisloom::core
