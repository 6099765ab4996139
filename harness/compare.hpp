// Comparing a result with the oracle's: bit for bit, or within the operation's bound.
#pragma once

#include "io/io.hpp"
#include "planner/registry.hpp"

#include <functional>
#include <optional>

namespace axisloom::harness {

/// Where two arrays first differ, in index order; the elements as hexadecimal digits, most significant first, or as
/// numbers where a bound allows them to differ.
struct Difference {
  Dims index;
  std::string want;
  std::string got;
};

/// "at [1,2] want 0x3f got 0x40"
std::string to_string(const Difference& difference);

/// Calls `visit(index, element offset)` for every element in index order until it answers false.
void for_each_element(const View& view, const std::function<bool(const Dims& index, i64 offset)>& visit);

/// Calls `visit(index, element offset, allowed)` for every element that differs by more than is allowed, in index
/// order, until it answers false. Pointers and bound as of first_difference.
void for_each_difference(const View& view, const std::byte* want, const std::byte* got, std::span<const double> bound,
                         const std::function<bool(const Dims& index, i64 offset, double allowed)>& visit);

/// Both pointers are starts of buffers laid out as `view` says. `bound`: by how much each element may differ, in index
/// order; empty: not in a single bit.
std::optional<Difference> first_difference(const View& view, const std::byte* want, const std::byte* got,
                                           std::span<const double> bound = {});

/// Has the operation's oracle write its result to `want`, and returns the bound that comes with it; empty: every bit
/// counts. `views`: the inputs, then the output; `in` and `want`: the starts of their buffers.
std::vector<double> ask_oracle(const Operation& op, std::span<const View> views, std::span<const std::byte* const> in,
                               std::byte* want);

/// Where a result first differs from what the operation's oracle makes of the inputs, by more than its bound allows.
std::optional<Difference> difference_from_oracle(const Operation& op, std::span<const io::HostArray> inputs,
                                                 const io::HostArray& result);

std::vector<View> views_of(std::span<const io::HostArray> arrays);

}  // namespace axisloom::harness
