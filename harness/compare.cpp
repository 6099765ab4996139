// Walks views element by element; only for checking, so plain rather than fast.
#include "harness/compare.hpp"

#include "core/number.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace axisloom::harness {
namespace {

std::string hexadecimal(const std::byte* element, size_t size) {
  std::string digits = "0x";
  for (size_t i = size; i > 0; --i) digits += fmt::format("{:02x}", std::to_integer<unsigned>(element[i - 1]));
  return digits;
}

bool within(long double want, long double got, double bound) {
  if (std::isinf(bound)) return true;
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  return want == got || std::fabs(want - got) <= static_cast<long double>(bound);
}

/// Whether two elements, component by component, differ as numbers by no more than the bound; NaN agrees with NaN only.
bool agree(Dtype dtype, const std::byte* want, const std::byte* got, double bound) {
  for (int component = 0; component < core::components_of(dtype); ++component)
    if (!within(core::number_at(dtype, want, component), core::number_at(dtype, got, component), bound)) return false;
  return true;
}

}  // namespace

std::string to_string(const Difference& difference) {
  return fmt::format("at {} want {} got {}", to_string(difference.index), difference.want, difference.got);
}

void for_each_element(const View& view, const std::function<bool(const Dims&, i64)>& visit) {
  if (view.count() == 0) return;
  Dims index = Dims::filled(view.rank(), 0);
  i64 offset = view.offset;
  while (visit(index, offset)) {
    int axis = view.rank() - 1;
    for (; axis >= 0; --axis) {
      offset += view.strides[axis];
      if (++index[axis] < view.shape[axis]) break;
      offset -= view.strides[axis] * view.shape[axis];
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

void for_each_difference(const View& view, const std::byte* want, const std::byte* got, std::span<const double> bound,
                         const std::function<bool(const Dims&, i64, double)>& visit) {
  const size_t size = size_of(view.dtype);
  size_t ordinal = 0;
  for_each_element(view, [&](const Dims& index, i64 offset) {
    const size_t at = offset * size;
    const double allowed = bound.empty() ? 0 : bound[ordinal++];
    if (std::memcmp(want + at, got + at, size) == 0) return true;
    return (!bound.empty() && agree(view.dtype, want + at, got + at, allowed)) || visit(index, offset, allowed);
  });
}

std::optional<Difference> first_difference(const View& view, const std::byte* want, const std::byte* got,
                                           std::span<const double> bound) {
  std::optional<Difference> difference;
  for_each_difference(view, want, got, bound, [&](const Dims& index, i64 offset, double allowed) {
    const size_t size = size_of(view.dtype), at = offset * size;
    if (bound.empty())
      difference = Difference{index, hexadecimal(want + at, size), hexadecimal(got + at, size)};
    else
      difference = Difference{index, fmt::format("{} +- {:.2g}", core::number_text(view.dtype, want + at), allowed),
                              core::number_text(view.dtype, got + at)};
    return false;
  });
  return difference;
}

std::vector<double> ask_oracle(const Operation& op, std::span<const View> views, std::span<const std::byte* const> in,
                               std::byte* want) {
  const ops::OpEntry& entry = ops::entry(op.name);
  entry.oracle(op, views, in, want);
  return entry.bound ? entry.bound(op, views, in) : std::vector<double>();
}

std::optional<Difference> difference_from_oracle(const Operation& op, std::span<const io::HostArray> inputs,
                                                 const io::HostArray& result) {
  auto views = views_of(inputs);
  views.push_back(result.view);
  std::vector<const std::byte*> starts;
  for (const io::HostArray& input : inputs) starts.push_back(input.memory.get());
  const io::HostArray want = io::HostArray::allocate(result.view);
  const std::vector<double> bound = ask_oracle(op, views, starts, want.memory.get());
  return first_difference(result.view, want.memory.get(), result.memory.get(), bound);
}

std::vector<View> views_of(std::span<const io::HostArray> arrays) {
  std::vector<View> views;
  for (const io::HostArray& array : arrays) views.push_back(array.view);
  return views;
}

}  // namespace axisloom::harness
