// The search for the cheapest order of products.
#include "ops/einsum/path.hpp"

#include "core/number.hpp"
#include "ops/matmul/params.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace axisloom::ops {
namespace {

// Operations that a machine does while its memory moves a byte: about 453e9 / 33e9 for two CPU cores (f32 FMA peak over
// reading), 51e12 / 4.3e12 for an H200 (cuBLAS over copying). One figure for all, so that the order is one for all.
constexpr double operations_per_byte = 13;

/// Sizes as floating-point numbers: an order that cannot be done may still be weighed.
class Sizes {
 public:
  explicit Sizes(const Contraction& problem) : problem_(problem), element_(size_of(problem.out.dtype)) {}
  double points(AxisSet axes) const {
    double product = 1;
    for (const int axis : axes_of(axes)) product *= problem_.extent(axis);
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

/// The arrays that are still to be multiplied, and the axes of all that have been.
class OpenArrays {
 public:
  explicit OpenArrays(const Contraction& problem) {
    count(problem.out.axes, 1);
    for (const Term& operand : problem.operands) count(operand.axes, 1);
    for (const Term& operand : problem.operands) axes_.push_back(kept(operand.axes));
  }

  const std::vector<AxisSet>& axes() const { return axes_; }

  /// Of an array, or of the product of two, the axes that another open one or the output has.
  AxisSet kept(AxisSet left, AxisSet right = 0) const {
    AxisSet set = 0;
    for (const int axis : axes_of(left | right))
      if (arrays_with_[axis] > has(left, axis) + has(right, axis)) set |= AxisSet{1} << axis;
    return set;
  }

  void multiply(const PathStep& step) {
    const AxisSet left = axes_[step.left], right = axes_[step.right];
    axes_.push_back(kept(left, right));
    count(left, -1);
    count(right, -1);
    count(axes_.back(), 1);
  }

 private:
  void count(AxisSet axes, int by) {
    for (const int axis : axes_of(axes)) arrays_with_[axis] += by;
  }

  std::vector<AxisSet> axes_;
  std::array<int, most_einsum_axes> arrays_with_{};  // each axis, the output among them
};

/// Every way of splitting every subset, smaller subsets first.
class Search {
 public:
  explicit Search(const Contraction& problem)
      : sizes_(problem), count_(problem.operands.size()), best_(size_t{1} << count_) {
    std::vector<AxisSet> united(best_.size());  // axes of all operands of a subset
    for (size_t set = 1; set < united.size(); ++set)
      united[set] = united[set & (set - 1)] | problem.operands[std::countr_zero(set)].axes;
    for (size_t set = 1; set < best_.size(); ++set) {
      best_[set].axes = united[set] & (problem.out.axes | united[best_.size() - 1 - set]);
      if (!std::has_single_bit(set)) split(set);
    }
  }
  Path path() {
    follow(best_.size() - 1);
    return std::move(path_);
  }

 private:
  struct Best {
    AxisSet axes = 0;
    double cost = 0;
    size_t left = 0;
  };

  void split(size_t set) {
    Best& best = best_[set];
    best.cost = std::numeric_limits<double>::infinity();
    const size_t first = set & (~set + 1);  // the left part has it, or each split would come twice
    for (size_t left = (set - 1) & set; left != 0; left = (left - 1) & set) {
      if ((left & first) == 0) continue;
      const Best &a = best_[left], &b = best_[set & ~left];
      const double cost = a.cost + b.cost + sizes_.step(a.axes, b.axes, best.axes);
      if (cost < best.cost) best.cost = cost, best.left = left;
    }
  }

  // Number of the array that a subset becomes.
  int follow(size_t set) {
    if (std::has_single_bit(set)) return std::countr_zero(set);
    const int left = follow(best_[set].left);
    const int right = follow(set & ~best_[set].left);
    path_.push_back({left, right});
    return int(count_ + path_.size()) - 1;
  }

  Sizes sizes_;
  size_t count_;
  std::vector<Best> best_;
  Path path_;
};

/// Takes the pair whose product is smallest against the two, again and again; of equals the first. What a pair grows by
/// does not change while others are multiplied: the axes that it loses are those that no other array has, and others
/// keep an axis that it has. So each pair is looked at once.
class Greedy {
 public:
  explicit Greedy(const Contraction& problem) : sizes_(problem), arrays_(problem) {
    for (int right = 1; right < size(); ++right)
      for (int left = 0; left < right; ++left) consider(left, right);
  }

  Path path() {
    Path path;
    const size_t operands = arrays_.axes().size();
    std::vector<bool> gone(2 * operands);
    while (path.size() + 1 < operands) {
      const PathStep step = candidates_.top().second;
      candidates_.pop();
      if (gone[step.left] || gone[step.right]) continue;
      gone[step.left] = gone[step.right] = true;
      arrays_.multiply(step);
      path.push_back(step);
      for (int other = 0; other + 1 < size(); ++other)
        if (!gone[other]) consider(other, size() - 1);
    }
    return path;
  }

 private:
  int size() const { return int(arrays_.axes().size()); }

  void consider(int left, int right) {
    const AxisSet a = arrays_.axes()[left], b = arrays_.axes()[right];
    const double growth = sizes_.bytes(arrays_.kept(a, b)) - sizes_.bytes(a) - sizes_.bytes(b);
    // Of what is too large to be counted no order is better than another.
    candidates_.push({std::isnan(growth) ? std::numeric_limits<double>::infinity() : growth, {left, right}});
  }

  using Candidate = std::pair<double, PathStep>;  // what the arrays grow by, and of equals the first

  Sizes sizes_;
  OpenArrays arrays_;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates_;
};

}  // namespace

Path contraction_path(const Contraction& problem) {
  if (problem.path) return *problem.path;
  if (problem.operands.size() < 2) return {};
  return problem.operands.size() <= most_searched ? Search(problem).path() : Greedy(problem).path();
}

std::vector<AxisSet> axes_on_path(const Contraction& problem, const Path& path) {
  OpenArrays arrays(problem);
  for (const PathStep& step : path) arrays.multiply(step);
  return arrays.axes();
}

double path_cost(const Contraction& problem, const Path& path) {
  const Sizes sizes(problem);
  const std::vector<AxisSet> axes = axes_on_path(problem, path);
  double cost = 0;
  size_t result = problem.operands.size();
  for (const PathStep& step : path) cost += sizes.step(axes[step.left], axes[step.right], axes[result++]);
  return cost;
}

double path_operations(const Contraction& problem, const Path& path) {
  const Sizes sizes(problem);
  const Dtype dtype = problem.operands.front().dtype;
  const int addition = core::components_of(dtype), both = arithmetic_of(dtype).operations();
  const std::vector<AxisSet> axes = axes_on_path(problem, path);
  double count = 0;
  for (size_t i = 0; i < problem.operands.size(); ++i)
    if (const AxisSet all = problem.operands[i].axes; axes[i] != all) count += addition * sizes.points(all);
  for (const PathStep& step : path) count += both * sizes.points(axes[step.left] | axes[step.right]);
  return count;
}

}  // namespace axisloom::ops
