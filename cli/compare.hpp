// Comparing a result with the oracle's, bit for bit.
#pragma once

#include "io/io.hpp"
#include "ops/registry.hpp"

#include <axisloom/array.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace axisloom::cli {

/// Where two arrays first differ, in index order; the elements as hexadecimal digits, most significant first.
struct Difference {
  Dims index;
  std::string want;
  std::string got;
};

/// "at [1,2] want 0x3f got 0x40"
std::string to_string(const Difference& difference);

/// Calls `visit(index, element offset)` for every element in index order until it answers false.
void for_each_element(const View& view, const std::function<bool(const Dims& index, std::int64_t offset)>& visit);

/// Both pointers are starts of buffers laid out as `view` says.
std::optional<Difference> first_difference(const View& view, const std::byte* want, const std::byte* got);

/// What the operation's oracle makes of the inputs, in memory laid out as `output`.
io::HostArray oracle_result(const Operation& op, std::span<const io::HostArray> inputs, const View& output);

}  // namespace axisloom::cli
