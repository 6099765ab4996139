// The search for the cheapest order of products.
#include "ops/einsum/path.hpp"

#include "core/number.hpp"
#include "ops/matmul/params.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <tuple>

namespace axisloom::ops {
namespace {

// Operations that a machine does while its memory moves a byte: about 453e9 / 33e9 for two CPU cores (f32 FMA peak over
// reading), 51e12 / 4.3e12 for an H200 (cuBLAS over copying). One figure for all, so that the order is one for all.
constexpr double operations_per_byte = 13;

/// Sizes as floating-point numbers: an order that cannot be done may still be weighed.
class Sizes {
 public:
  explicit Sizes(const Contraction& problem) : problem_(problem), element_(double(size_of(problem.out.dtype))) {}
  double points(AxisSet axes) const {
    double product = 1;
    for (const int axis : axes_of(axes)) product *= double(problem_.extent(axis));
    return product;
  }
  double bytes(AxisSet axes) const { return element_ * points(axes); }
  double step(AxisSet left, AxisSet right, AxisSet result) const {
    return bytes(left) + bytes(right) + bytes(result) + 2 * points(left | right) / operations_per_byte;
  }

 private:
  const Contraction& problem_;
  double element_;
};

/// What is known while a path is followed: which operands each array stands for, and the axes that it has.
struct Intermediate {
  std::vector<bool> operands;
  AxisSet axes = 0;
};

std::vector<Intermediate> arrays_of(const Contraction& problem) {
  std::vector<Intermediate> arrays;
  for (std::size_t i = 0; i < problem.operands.size(); ++i) {
    std::vector<bool> alone(problem.operands.size());
    alone[i] = true;
    const AxisSet axes = problem.operands[i].axes & axes_left(problem, alone);
    arrays.push_back({std::move(alone), axes});
  }
  return arrays;
}

Intermediate joined(const Contraction& problem, const Intermediate& left, const Intermediate& right) {
  Intermediate result = left;
  for (std::size_t i = 0; i < right.operands.size(); ++i)
    if (right.operands[i]) result.operands[i] = true;
  result.axes = (left.axes | right.axes) & axes_left(problem, result.operands);
  return result;
}

std::vector<bool> members(std::size_t set, std::size_t count) {
  std::vector<bool> in_set(count);
  for (std::size_t i = 0; i < count; ++i) in_set[i] = (set >> i & 1) != 0;
  return in_set;
}

/// Every way of splitting every subset, smaller subsets first.
class Search {
 public:
  explicit Search(const Contraction& problem) : sizes_(problem), count_(problem.operands.size()) {
    const std::vector<Intermediate> arrays = arrays_of(problem);
    best_.resize(std::size_t{1} << count_);
    for (std::size_t set = 1; set < best_.size(); ++set) {
      for (std::size_t i = 0; i < count_; ++i)
        if ((set >> i & 1) != 0) best_[set].axes |= arrays[i].axes;
      best_[set].axes &= axes_left(problem, members(set, count_));
      if ((set & (set - 1)) != 0) split(set);
    }
  }
  std::vector<PathStep> path() {
    next_ = int(count_);
    follow(best_.size() - 1);
    return std::move(path_);
  }

 private:
  struct Best {
    AxisSet axes = 0;
    double cost = 0;
    std::size_t left = 0;
  };

  void split(std::size_t set) {
    Best& best = best_[set];
    best.cost = std::numeric_limits<double>::infinity();
    const std::size_t first = set & (~set + 1);  // the left part has it, or each split would come twice
    for (std::size_t left = (set - 1) & set; left != 0; left = (left - 1) & set) {
      if ((left & first) == 0) continue;
      const Best &a = best_[left], &b = best_[set & ~left];
      const double cost = a.cost + b.cost + sizes_.step(a.axes, b.axes, best.axes);
      if (cost < best.cost) best.cost = cost, best.left = left;
    }
  }

  // Number of the array that a subset becomes.
  int follow(std::size_t set) {
    if ((set & (set - 1)) == 0) {
      int number = 0;
      while ((set >> number & 1) == 0) ++number;
      return number;
    }
    const int left = follow(best_[set].left);
    const int right = follow(set & ~best_[set].left);
    path_.push_back({left, right});
    return next_++;
  }

  Sizes sizes_;
  std::size_t count_;
  std::vector<Best> best_;
  std::vector<PathStep> path_;
  int next_ = 0;
};

/// What two arrays would become, and what that grows by.
struct PossibleStep {
  double growth = 0;
  PathStep step;
  bool operator>(const PossibleStep& other) const {
    return std::tie(growth, step.left, step.right) > std::tie(other.growth, other.step.left, other.step.right);
  }
};

/// Takes the pair whose product is smallest against the two, again and again; of equals the first. What a pair grows by
/// does not change while others are multiplied: the axes that it loses are those that no other array has, and others
/// keep an axis that it has. So each pair is looked at once.
class Greedy {
 public:
  explicit Greedy(const Contraction& problem) : problem_(problem), sizes_(problem), arrays_(arrays_of(problem)) {
    for (const Intermediate& array : arrays_) count(array.axes, 1);
    for (int right = 1; right < size(); ++right)
      for (int left = 0; left < right; ++left) consider(left, right);
  }

  std::vector<PathStep> path() {
    std::vector<bool> gone(2 * arrays_.size());
    while (path_.size() + 1 < problem_.operands.size()) {
      const PathStep step = candidates_.top().step;
      candidates_.pop();
      const auto left = static_cast<std::size_t>(step.left), right = static_cast<std::size_t>(step.right);
      if (gone[left] || gone[right]) continue;
      gone[left] = gone[right] = true;
      arrays_.push_back(joined(problem_, arrays_[left], arrays_[right]));
      count(arrays_[left].axes, -1);
      count(arrays_[right].axes, -1);
      count(arrays_.back().axes, 1);
      path_.push_back(step);
      for (int other = 0; other + 1 < size(); ++other)
        if (!gone[other]) consider(other, size() - 1);
    }
    return std::move(path_);
  }

 private:
  int size() const { return int(arrays_.size()); }
  AxisSet axes(int number) const { return arrays_[number].axes; }

  void count(AxisSet axes, int by) {
    for (const int axis : axes_of(axes)) arrays_with_[axis] += by;
  }

  void consider(int left, int right) {
    const AxisSet both = axes(left) | axes(right);
    AxisSet kept = both & problem_.out.axes;
    for (const int axis : axes_of(both & ~problem_.out.axes)) {
      const int here = (has(axes(left), axis) ? 1 : 0) + (has(axes(right), axis) ? 1 : 0);
      if (arrays_with_[axis] > here) kept |= AxisSet{1} << axis;
    }
    const double growth = sizes_.bytes(kept) - sizes_.bytes(axes(left)) - sizes_.bytes(axes(right));
    // Of what is too large to be counted no order is better than another.
    candidates_.push({std::isnan(growth) ? std::numeric_limits<double>::infinity() : growth, {left, right}});
  }

  const Contraction& problem_;
  Sizes sizes_;
  std::vector<Intermediate> arrays_;
  std::array<int, most_einsum_axes> arrays_with_{};  // each axis, of those that are not yet multiplied
  std::priority_queue<PossibleStep, std::vector<PossibleStep>, std::greater<>> candidates_;
  std::vector<PathStep> path_;
};

/// Calls visit(left, right, result), sets of axes, for each step.
template <class Visit>
void walk_path(const Contraction& problem, const std::vector<PathStep>& path, const Visit& visit) {
  std::vector<Intermediate> arrays = arrays_of(problem);
  for (const PathStep& step : path) {
    const Intermediate &left = arrays[step.left], &right = arrays[step.right];
    Intermediate result = joined(problem, left, right);
    visit(left.axes, right.axes, result.axes);
    arrays.push_back(std::move(result));
  }
}

}  // namespace

AxisSet axes_left(const Contraction& problem, const std::vector<bool>& in_set) {
  AxisSet left = problem.out.axes;
  for (std::size_t i = 0; i < problem.operands.size(); ++i)
    if (!in_set[i]) left |= problem.operands[i].axes;
  return left;
}

std::vector<PathStep> contraction_path(const Contraction& problem) {
  if (problem.path) return *problem.path;
  if (problem.operands.size() < 2) return {};
  return problem.operands.size() <= most_searched ? Search(problem).path() : Greedy(problem).path();
}

double path_cost(const Contraction& problem, const std::vector<PathStep>& path) {
  const Sizes sizes(problem);
  double cost = 0;
  walk_path(problem, path,
            [&](AxisSet left, AxisSet right, AxisSet result) { cost += sizes.step(left, right, result); });
  return cost;
}

double path_operations(const Contraction& problem, const std::vector<PathStep>& path) {
  const Sizes sizes(problem);
  const Dtype dtype = problem.operands.front().dtype;
  const int addition = core::components_of(dtype), both = arithmetic_of(dtype).operations();
  double count = 0;
  for (const Term& operand : problem.operands) {
    AxisSet others = problem.out.axes;
    for (const Term& other : problem.operands)
      if (&other != &operand) others |= other.axes;
    if ((operand.axes & ~others) != 0) count += addition * sizes.points(operand.axes);
  }
  walk_path(problem, path, [&](AxisSet left, AxisSet right, AxisSet) { count += both * sizes.points(left | right); });
  return count;
}

}  // namespace axisloom::ops
