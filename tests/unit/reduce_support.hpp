// For tests of the reductions: arrays of numbers, run on the device by every candidate that takes them.
#pragma once

#include "ops/reduce/reduce.hpp"
#include "ops_support.hpp"

#include <cstring>
#include <limits>
#include <map>
#include <numeric>

namespace axisloom::ops_test {

template <class T>
constexpr Dtype dtype_for() {
  if constexpr (std::is_same_v<T, float>) return Dtype::f32;
  if constexpr (std::is_same_v<T, double>) return Dtype::f64;
  if constexpr (std::is_same_v<T, bool>) return Dtype::boolean;
  if constexpr (std::is_same_v<T, std::int8_t>) return Dtype::i8;
  if constexpr (std::is_same_v<T, std::uint8_t>) return Dtype::u8;
  if constexpr (std::is_same_v<T, std::int32_t>) return Dtype::i32;
  if constexpr (std::is_same_v<T, std::uint32_t>) return Dtype::u32;
  if constexpr (std::is_same_v<T, std::int64_t>) return Dtype::i64;
  if constexpr (std::is_same_v<T, std::uint64_t>) return Dtype::u64;
}

template <class T>
Bytes bytes_of_numbers(const std::vector<T>& numbers) {
  Bytes bytes(numbers.size() * sizeof(T));
  if (!numbers.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

template <class T>
std::vector<T> numbers_in(const Bytes& bytes) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(T));
  return numbers;
}

/// Candidates that take an operation on this device, free choice first (""). Without the lesson, which differs from the
/// others in its launches only.
inline std::vector<std::string> candidates_for(const Operation& op, const View& in) {
  std::vector<std::string> names{""};
  const Plan chosen = plan(op, std::span(&in, 1), real_device());
  for (const CandidateReport& candidate : chosen.report().candidates)
    if (candidate.accepted && candidate.name != "lesson" && candidate.name != chosen.report().candidate)
      names.push_back(candidate.name);
  return names;
}

/// The result's bytes for a candidate.
inline Bytes reduced(const Operation& op, const View& in, const Bytes& input, const std::string& candidate = "",
                     const Configuration& configuration = {}) {
  PlanOptions options;
  options.candidate = candidate;
  options.configuration = configuration;
  const View out = result_view(op, std::span(&in, 1));
  return after_run(plan(op, std::span(&in, 1), real_device(), options), input,
                   Bytes(static_cast<std::size_t>(buffer_bytes(out)), std::byte{0xa5}));
}

/// The only element of a result, which every candidate has to agree on.
template <class Result, class T>
Result everyones(const Operation& op, const std::vector<T>& numbers) {
  const View view = View::contiguous(dtype_for<T>(), {static_cast<std::int64_t>(numbers.size())});
  const Bytes input = bytes_of_numbers(numbers), chosen = reduced(op, view, input);
  for (const std::string& candidate : candidates_for(op, view)) {
    const Bytes other = reduced(op, view, input, candidate);
    const auto a = numbers_in<Result>(chosen).at(0), b = numbers_in<Result>(other).at(0);
    EXPECT_TRUE(a == b || (a != a && b != b)) << to_string(op) << ": " << candidate << " has " << +b << ", not " << +a;
  }
  return numbers_in<Result>(chosen).at(0);
}

/// Whether every candidate's result is within the bound of the oracle's; says by how much the worst is used up.
template <class T>
double worst_share_of_bound(const Operation& op, const View& view, const std::vector<T>& numbers) {
  const Bytes input = bytes_of_numbers(numbers);
  const std::vector<View> views = with_result(op, view);
  const std::byte* const start = input.data();
  const std::vector<double> bound = ops::entry(op.name).bound(op, views, std::span(&start, 1));
  const auto want =
      numbers_in<T>(after_oracle(op, views, input, Bytes(static_cast<std::size_t>(buffer_bytes(views[1])))));
  double worst = 0;
  for (const std::string& candidate : candidates_for(op, view)) {
    const auto got = numbers_in<T>(reduced(op, view, input, candidate));
    for (std::size_t i = 0; i < want.size(); ++i) {
      const double share = std::abs(static_cast<double>(got[i]) - static_cast<double>(want[i])) / bound[i];
      EXPECT_LE(share, 1) << to_string(op) << " by " << candidate << " at " << i << ": " << got[i] << ", not "
                          << want[i];
      worst = std::max(worst, share);
    }
  }
  return worst;
}

}  // namespace axisloom::ops_test
