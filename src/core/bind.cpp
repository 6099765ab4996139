// Binding of parsed patterns to shapes and named lengths: every elementary axis gets its extent, or the reason why not.
#include <algorithm>
#include <map>
#include <queue>
#include <set>

#include "core/checked.hpp"
#include "core/integers.hpp"
#include "core/pattern.hpp"
#include "core/text.hpp"

namespace axisloom::core {
namespace {

constexpr i64 unknown = -1;

std::set<std::string_view> names_in(std::span<const Side> sides) {
  std::set<std::string_view> names;
  for (const Side& side : sides)
    for (const Group& group : side.groups)
      for (const Axis& axis : group.axes) names.insert(axis.name);
  return names;
}

class Binder {
 public:
  Binder(const Pattern& pattern, std::span<const Dims> shapes, const Lengths& lengths, OneSided allowed,
         Broadcast broadcast)
      : pattern_(pattern),
        shapes_(shapes),
        lengths_(lengths),
        allowed_(allowed),
        broadcast_(broadcast == Broadcast::yes) {}

  BoundPattern bind() {
    check_operands();
    check_sides();
    std::vector<int> ellipses;
    for (size_t i = 0; i < shapes_.size(); ++i) ellipses.push_back(count_ellipsis_axes(i));
    check_ellipsis_kept();
    for (size_t i = 0; i < shapes_.size(); ++i) bound_.inputs.push_back(expand(pattern_.inputs[i], ellipses[i]));
    const size_t known_from_left = bound_.axes.size();
    bound_.output = expand(pattern_.output, ellipsis_axes_);
    apply_lengths();
    infer_from_shapes(known_from_left);
    check_diagonals();
    for (size_t i = known_from_left; i < bound_.axes.size(); ++i) add_to_output(int(i));
    list_removed(known_from_left);
    return std::move(bound_);
  }

 private:
  [[noreturn]] void fail(int column, size_t length, const std::string& message, const std::string& remedy) const {
    throw fault(pattern_.text, column, int(length), message, remedy);
  }

  /// The pattern is one, but not of these arrays.
  [[noreturn]] void misfit(int column, size_t length, const std::string& message, const std::string& remedy) const {
    throw fault(pattern_.text, column, int(length), message, remedy, Errc::shape);
  }

  [[noreturn]] void fail_at(const Axis& axis, const std::string& message, const std::string& remedy) const {
    const std::string text = axis.name.empty() ? std::to_string(axis.length) : axis.name;
    fail(axis.column, text.starts_with("..") ? 1 : text.size(), message, remedy);
  }

  void check_operands() const {
    if (pattern_.inputs.size() != shapes_.size())
      fail(0, 0, concat("the pattern is for ", pattern_.inputs.size(), " arrays, but ", shapes_.size(), " given"),
           "separate the arrays of a pattern by commas");
  }

  void check_sides() const {
    const std::span<const Side> left = pattern_.inputs, right(&pattern_.output, 1);
    if (allowed_ != OneSided::left) {
      check_present(left, right, "right",
                    "this operation keeps every axis: name it on the right too, or reduce over it");
    }
    if (allowed_ != OneSided::right) {
      check_present(right, left, "left",
                    broadcast_ ? "name it in one of the arrays too"
                               : "only repeat makes new axes: name it on the left too, or use repeat");
    }
  }

  // Every axis of `sides` must stand on one of `others`. Anonymous axes stand for themselves alone, so they never do.
  void check_present(std::span<const Side> sides, std::span<const Side> others, const char* where,
                     const std::string& remedy) const {
    const std::set<std::string_view> names = names_in(others);
    const bool matched = std::ranges::any_of(others, &Side::ellipsis);
    for (const Side& side : sides)
      for (const Group& group : side.groups) {
        for (const Axis& axis : group.axes) {
          if (axis.name.empty())
            fail_at(axis, concat("an anonymous length other than 1 has no counterpart on the ", where),
                    "give the axis a name on both sides");
          if (!names.contains(axis.name))
            fail_at(axis, "the axis '" + axis.name + "' does not appear on the " + where, remedy);
        }
        if (group.ellipsis && !matched && !broadcast_)
          fail(group.column, 1, concat("the ellipsis does not appear on the ", where), "write it on both sides");
      }
  }

  // Number of axes that the ellipsis of an input stands for; the same for all inputs that have one.
  int count_ellipsis_axes(size_t input) {
    const Side& side = pattern_.inputs[input];
    const int rank = shapes_[input].size();
    const bool open = side.ellipsis();
    const int written = int(side.groups.size()) - open;
    const int column = side.groups.empty() ? 0 : side.groups.front().column;
    if (open ? rank < written : rank != written)
      misfit(column, side.groups.empty() ? 0 : 1,
             concat("the pattern has ", written, open ? " or more" : "", " axes, but the array has ", rank, ": ",
                    to_string(shapes_[input])),
             "write one axis, composition or 1 per axis of the array, or '...' for some of them");
    if (!open) return 0;
    if (has_ellipsis_ && !broadcast_ && rank - written != ellipsis_axes_)
      misfit(column, 1,
             concat("the ellipsis stands for ", rank - written, " axes here and for ", ellipsis_axes_, " before"),
             "give the arrays the same number of unnamed axes");
    has_ellipsis_ = true;
    ellipsis_axes_ = std::max(ellipsis_axes_, rank - written);
    return rank - written;
  }

  // Unnamed axes are never summed over where they are broadcast: NumPy refuses it too.
  void check_ellipsis_kept() const {
    if (!broadcast_ || ellipsis_axes_ == 0 || pattern_.output.ellipsis()) return;
    const Side& side = *std::ranges::find_if(pattern_.inputs, &Side::ellipsis);
    fail(side.ellipsis()->column, 3, concat("the ellipsis stands for ", ellipsis_axes_, " axes, but not on the right"),
         "write '...' on the right too, or name the axes to sum over them");
  }

  BoundSide expand(const Side& side, int ellipsis_axes) {
    BoundSide compositions;
    std::vector<int>& columns = columns_.emplace_back();
    for (const Group& group : side.groups) {
      Composition composition;
      for (const Axis& axis : group.axes) composition.push_back(axis_index(axis));
      Composition unnamed;
      for (int i = ellipsis_axes_ - (group.ellipsis ? ellipsis_axes : 0); i < ellipsis_axes_; ++i)
        unnamed.push_back(axis_index({.name = concat("..", i), .column = group.column}));
      if (group.ellipsis && !group.composed) {
        for (const int axis : unnamed) compositions.push_back({axis});
      } else {
        composition.insert(composition.begin() + i64(group.at), unnamed.begin(), unnamed.end());
        compositions.push_back(std::move(composition));
      }
      columns.resize(compositions.size(), group.column);
    }
    return compositions;
  }

  int axis_index(const Axis& axis) {
    const int next = int(bound_.axes.size());
    if (!axis.name.empty())
      if (const auto [known, is_new] = numbers_.try_emplace(axis.name, next); !is_new) return known->second;
    bound_.axes.push_back({axis.name, axis.length});
    written_.push_back(axis);
    return next;
  }

  void apply_lengths() {
    given_.resize(bound_.axes.size());
    for (const auto& [name, length] : lengths_) {
      const auto found = numbers_.find(name);
      if (found == numbers_.end() || name.starts_with('.'))
        fail(0, 0, "the pattern has no axis '" + name + "', but a length is given for it", "remove that length");
      const int index = found->second;
      const Axis& axis = written_[index];
      if (given_[index]) fail_at(axis, "the length of '" + name + "' is given twice", "give it once");
      if (length < 0)
        fail_at(axis, concat("the length of '", name, "' is given as ", length), "give a positive length");
      extent_of(index) = length;
      given_[index] = true;
    }
  }

  // An axis of an array, and how many of its elementary axes have no length yet.
  struct Place {
    size_t input, axis, open;
  };

  // A name on several inputs may become known only through the second: an array's axis is looked at once but one of its
  // lengths are known, and again whenever one of them is learnt.
  void infer_from_shapes(size_t axes_on_the_left) {
    std::vector<Place> places;
    std::vector<std::vector<size_t>> places_of(bound_.axes.size());
    std::queue<size_t> ready;
    const auto get_ready = [&](size_t place) {
      if (places[place].open <= 1) ready.push(place);
    };
    for (size_t i = 0; i < bound_.inputs.size(); ++i)
      for (size_t k = 0; k < bound_.inputs[i].size(); ++k) {
        places.push_back({i, k, 0});
        for (const int axis : bound_.inputs[i][k]) {
          places_of[axis].push_back(places.size() - 1);
          if (extent_of(axis) == unknown) ++places.back().open;
        }
        get_ready(places.size() - 1);
      }
    for (; !ready.empty(); ready.pop()) {
      const Place& place = places[ready.front()];
      const bool was_open = place.open > 0;
      const int learnt = infer(bound_.inputs[place.input][place.axis], columns_[place.input][place.axis],
                               shapes_[place.input][int(place.axis)]);
      if (learnt < 0) continue;
      for (const size_t other : places_of[learnt]) {
        if (was_open) --places[other].open;
        get_ready(other);
      }
    }
    for (size_t axis = 0; axis < axes_on_the_left; ++axis)
      if (extent_of(int(axis)) == unknown)
        fail_at(written_[axis], "a composed axis has more than one unknown length", "give all of its lengths but one");
  }

  // Returns the axis whose extent was learnt, or -1.
  int infer(const Composition& composition, int column, i64 extent) {
    if (broadcast_ && composition.size() == 1 && extent_of(composition[0]) != unknown && !is_fixed(composition[0]))
      return infer_broadcast(composition[0], column, extent) ? composition[0] : -1;
    std::vector<int> open;
    i64 product = 1;
    for (const int axis : composition)
      if (extent_of(axis) == unknown)
        open.push_back(axis);
      else
        product = checked_mul(product, extent_of(axis), "the product of the lengths of a composed axis");
    if (open.size() > 1) return -1;
    const std::string has = concat("the array has length ", extent, " here, ");
    if (open.empty()) {
      if (product != extent)
        misfit(column, 1, concat(has, "but the pattern and the given lengths say ", product),
               "give lengths whose product is that of the array");
      return -1;
    }
    if (product == 0 || extent % product != 0)
      misfit(column, 1, concat(has, "which cannot be divided into parts of ", product),
             "give lengths that divide that of the array");
    extent_of(open.front()) = extent / product;
    return open.front();
  }

  // Whether a length was given, by name or as a number: then it is that of every array.
  bool is_fixed(int axis) const { return given_[axis] || bound_.axes[axis].name.empty(); }

  std::string text_of(int axis) const {
    const std::string& name = bound_.axes[axis].name;
    return name.starts_with("..") ? "an axis of the ellipsis" : "the axis '" + name + "'";
  }

  // The same for an axis whose extent is known, which may be 1 in any array.
  bool infer_broadcast(int axis, int column, i64 extent) {
    i64& known = extent_of(axis);
    if (extent == 1 || extent == known) return false;
    if (known != 1)
      misfit(column, 1, concat(text_of(axis), " has length ", extent, " here, and ", known, " elsewhere"),
             "give arrays whose lengths agree, or are 1");
    known = extent;
    return true;
  }

  // Only several operands are broadcast against each other: the axes of a diagonal have one length.
  void check_diagonals() const {
    for (size_t i = 0; i < bound_.inputs.size(); ++i) {
      const auto& input = bound_.inputs[i];
      for (size_t k = 0; k < input.size(); ++k) {
        const auto first = size_t(std::ranges::find(input, input[k]) - input.begin());
        const i64 extent = shapes_[i][int(k)], other = shapes_[i][int(first)];
        if (input[k].size() == 1 && extent != other)
          misfit(columns_[i][k], 1,
                 concat(text_of(input[k][0]), " has length ", extent, " here, and ", other, " before"),
                 "a diagonal needs axes of equal length");
      }
    }
  }

  void add_to_output(int index) {
    if (extent_of(index) == unknown)
      fail_at(written_[index], "the new axis '" + written_[index].name + "' has no length", "give its length");
    bound_.added.push_back(index);
  }

  void list_removed(size_t from_left) {
    std::vector<bool> kept(bound_.axes.size(), false);
    for (const Composition& composition : bound_.output)
      for (const int axis : composition) kept[axis] = true;
    for (size_t i = 0; i < from_left; ++i)
      if (!kept[i]) bound_.removed.push_back(int(i));
  }

  i64& extent_of(int index) { return bound_.axes[index].extent; }

  const Pattern& pattern_;
  std::span<const Dims> shapes_;
  const Lengths& lengths_;
  OneSided allowed_;
  bool broadcast_;
  BoundPattern bound_;
  std::vector<std::vector<int>> columns_;  // where the axes of each array stand in the pattern
  std::vector<Axis> written_;              // where each of bound_.axes stands first
  std::map<std::string, int> numbers_;     // the index there by name
  std::vector<bool> given_;                // whether its extent was given as a length
  int ellipsis_axes_ = 0;
  bool has_ellipsis_ = false;
};

}  // namespace

BoundPattern bind(const Pattern& pattern, std::span<const Dims> shapes, const Lengths& lengths, OneSided allowed,
                  Broadcast broadcast) {
  return Binder(pattern, shapes, lengths, allowed, broadcast).bind();
}

BoundPattern bind_one(const Operation& op, std::string_view text, const Dims& shape, OneSided allowed) {
  const Pattern pattern = parse(text);
  if (pattern.inputs.size() != 1)
    throw Error(Errc::pattern, concat(op.name, " takes one array, the pattern names ", pattern.inputs.size()),
                "use einsum for several operands");
  return bind(pattern, std::span(&shape, 1), op.lengths, allowed);
}

Dims output_shape(const BoundPattern& bound) {
  Dims shape;
  for (const Composition& composition : bound.output) {
    i64 extent = 1;
    for (const int axis : composition)
      extent = checked_mul(extent, bound.axes[axis].extent, "the extent of a composed axis");
    shape.push_back(extent);
  }
  return shape;
}

std::vector<i64> elementary_strides(const BoundPattern& bound, const BoundSide& side, const Dims& strides) {
  if (side.size() != size_t(strides.size()))
    throw Error(Errc::shape,
                concat("the pattern has ", side.size(), " axes, but there are ", strides.size(), " strides"));
  std::vector<i64> result(bound.axes.size(), 0);
  for (size_t i = 0; i < side.size(); ++i) {
    i64 stride = strides[int(i)];
    for (auto axis = side[i].rbegin(); axis != side[i].rend();) {
      i64& sum = result[*axis];
      sum = checked_add(sum, stride, "the stride of a diagonal");
      const i64 extent = bound.axes[*axis].extent;
      if (++axis != side[i].rend()) stride = checked_mul(stride, extent, "the stride of a split axis");
    }
  }
  return result;
}

Loops loops_over(const BoundPattern& bound, const Dims& in_strides, const Dims& out_strides) {
  const auto in = elementary_strides(bound, bound.inputs[0], in_strides);
  const auto out = elementary_strides(bound, bound.output, out_strides);
  Loops loops;
  for (const BoundAxis& axis : bound.axes) loops.push_back({axis.extent, in[loops.size()], out[loops.size()]});
  return loops;
}

}  // namespace axisloom::core
