// The steps, the boldest first: what is left out, then axes, then extents.
#include "harness/minimise.hpp"

#include "planner/registry.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace axisloom::harness {
namespace {

using Steps = std::vector<Case>;

/// Adds the case that `change` makes of c, if it makes another one.
template <class Change>
void add_step(const Case& c, Steps& steps, Change change) {
  Case changed = c;
  change(changed);
  if (text_of(changed) != c.text) steps.push_back(std::move(changed));
}

void leave_out_options(const Case& c, Steps& steps) {
  for (size_t i = 0; i < c.op.options.size(); ++i)
    add_step(c, steps, [i](Case& other) { other.op.options.erase(other.op.options.begin() + i); });
  add_step(c, steps, [](Case& other) { other.options = {}; });
  add_step(c, steps, [](Case& other) { other.largest_buffer.reset(); });
}

void leave_out_placements(const Case& c, Steps& steps) {
  const auto of = [](Case& other, size_t i) -> Placement& {
    return i < other.inputs.size() ? other.inputs[i] : other.output;
  };
  add_step(c, steps, [&](Case& other) {
    for (size_t i = 0; i <= other.inputs.size(); ++i) of(other, i) = {};
  });
  for (size_t i = 0; i <= c.inputs.size(); ++i) {
    const auto add = [&](auto change) { add_step(c, steps, [&](Case& other) { change(of(other, i)); }); };
    add([](Placement& placement) { placement = {}; });
    add([](Placement& placement) { placement.strides.reset(); });
    add([](Placement& placement) { placement.offset = 0; });
    add([](Placement& placement) { placement.align = Placement().align; });
    add([](Placement& placement) {
      if (!placement.strides) return;
      for (i64& stride : *placement.strides) stride = std::abs(stride);
    });
  }
}

Dims without(const Dims& dims, int axis) {
  Dims rest;
  for (int i = 0; i < dims.size(); ++i)
    if (i != axis) rest.push_back(dims[i]);
  return rest;
}

/// "2,0,1" without axis 1 is "1,0"; nothing where the axis is not one of a list of numbers.
std::string without_number(const std::string& list, int axis, int rank) {
  std::vector<i64> rest;
  for (i64 number : parse_strides(list)) {
    if (number < 0) number += rank;
    if (number != axis) rest.push_back(number > axis ? number - 1 : number);
  }
  return joined(rest, ",");
}

// Of operations that know axes by number only: of patterns an axis may get length 1.
void drop_axes(const Case& c, Steps& steps) {
  const bool by_number = c.op.arguments.empty() || ops::entry(c.op.name).draw == ops::Draw::permutation;
  if (!by_number || c.shapes.size() != 1) return;
  const int rank = c.shapes[0].size();
  for (int axis = 0; axis < rank; ++axis) {
    add_step(c, steps, [&](Case& other) {
      other.shapes[0] = without(c.shapes[0], axis);
      if (other.inputs[0].strides) other.inputs[0].strides = without(*c.inputs[0].strides, axis);
      other.output.strides.reset();  // whose axes are others
      for (std::string& argument : other.op.arguments) argument = without_number(argument, axis, rank);
      for (auto& [name, value] : other.op.options)
        if (name == "axes") value = without_number(value, axis, rank);
      std::erase_if(other.op.options,
                    [](const auto& option) { return option.first == "axes" && option.second.empty(); });
    });
  }
}

void replace(Case& c, i64 from, i64 to) {
  for (Dims& shape : c.shapes) std::ranges::replace(shape, from, to);
  for (auto& [name, length] : c.op.lengths)
    if (length == from) length = to;
}

// Lengths that agree shrink together, since a pattern may say that they are one; and each extent by itself.
void shrink_extents(const Case& c, Steps& steps) {
  std::set<i64, std::greater<>> lengths;
  for (const Dims& shape : c.shapes) lengths.insert(shape.begin(), shape.end());
  for (const auto& [name, length] : c.op.lengths) lengths.insert(length);
  for (const i64 length : lengths) {
    if (length < 2) break;
    for (i64 smaller : {i64{1}, length / 2, length - 1}) {
      add_step(c, steps, [&](Case& other) { replace(other, length, smaller); });
      for (size_t i = 0; i < c.shapes.size(); ++i)
        for (int axis = 0; axis < c.shapes[i].size(); ++axis)
          if (c.shapes[i][axis] == length) add_step(c, steps, [&](Case& other) { other.shapes[i][axis] = smaller; });
      for (size_t i = 0; i < c.op.lengths.size(); ++i)
        if (c.op.lengths[i].second == length)
          add_step(c, steps, [&](Case& other) { other.op.lengths[i].second = smaller; });
    }
  }
}

/// The case made one step simpler, in every way there is: without an option, a placement, an axis; with smaller
/// extents. Some of them may be no cases at all.
Steps simpler_cases(const Case& c) {
  Steps steps;
  leave_out_options(c, steps);
  leave_out_placements(c, steps);
  drop_axes(c, steps);
  shrink_extents(c, steps);
  return steps;
}

}  // namespace

Case minimise(const Case& c, const std::function<bool(const Case&)>& still_fails, int most_questions) {
  Case smallest = c;
  std::set<std::string> asked;
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (Case& simpler : simpler_cases(smallest)) {
      simpler.text = text_of(simpler);
      if (!asked.insert(simpler.text).second) continue;
      if (int(asked.size()) > most_questions) return smallest;
      if (!still_fails(simpler)) continue;
      smallest = std::move(simpler);
      smaller = true;
      break;
    }
  }
  return smallest;
}

bool fails_alike(const Case& c, const CheckSettings& settings, const Outcome& failure) {
  CheckSettings its = settings;
  its.candidate = failure.candidate;
  its.keep.clear();
  try {
    const std::vector<Outcome> outcomes = run_case(parse_case(c.text), its);
    return std::ranges::any_of(outcomes, [&](const Outcome& outcome) {
      return outcome.kind == Outcome::failed && outcome.error == failure.error;
    });
  } catch (const Error& error) {
    if (error.code() == Errc::device_lost) throw;
    return false;  // no case that can be read
  }
}

}  // namespace axisloom::harness
