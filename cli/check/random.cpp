// The random cases are text like all others, so that a failing one is repeated by pasting its line.
#include "check/random.hpp"

#include "core/number.hpp"
#include "ops/registry.hpp"

#include <axisloom/array.hpp>
#include <axisloom/ops.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace axisloom::cli {
namespace {

// Large enough for several tiles either way, small enough that hundreds of cases take seconds on two cores.
constexpr std::int64_t most_elements = 1 << 17;
constexpr std::int64_t most_span = 1 << 20;
constexpr std::int64_t page = 4096;

const std::vector<std::int64_t> tiles{16, 32, 64, 128, 256};
const std::vector<std::int64_t> primes{2, 3, 5, 7, 11, 13, 17, 31, 37, 61, 67, 127, 131, 251, 257, 509, 521, 1021};

std::int64_t random_extent(Random& random, int shape_class) {
  switch (shape_class) {
    case 0:
    case 1:
      return random.between(0, 70);
    case 2:
      return random.percent(60) ? random.one_of(tiles) + random.between(-1, 1)
                                : std::int64_t{1} << random.between(0, 9);
    default:
      return random.percent(30) ? random.between(1, 3) : random.one_of(primes);
  }
}

Dims random_shape(Random& random, int rank, int shape_class) {
  Dims shape;
  for (int i = 0; i < rank; ++i) shape.push_back(random_extent(random, shape_class));
  while (element_count(shape) > most_elements) {
    std::int64_t& largest = *std::max_element(shape.begin(), shape.end());
    largest = random.between(1, largest - 1);
  }
  return shape;
}

std::vector<int> random_order(Random& random, int rank) {
  std::vector<int> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  return order;
}

// Strides of an array whose axes lie in some order, with gaps between them: no two elements at one address.
Dims random_strides(Random& random, const Dims& shape, std::int64_t element, bool page_multiples) {
  Dims strides = Dims::filled(shape.size(), 0);
  std::vector<int> order = random_order(random, shape.size());
  if (random.percent(50)) std::sort(order.begin(), order.end(), std::greater<>());
  const bool pads = random.percent(60);
  std::int64_t stride = random.percent(80) ? 1 : random.between(2, 3);
  for (int axis : order) {
    strides[axis] = stride;
    stride *= std::max<std::int64_t>(shape[axis], 1);
    const std::int64_t in_page = page / element;
    const std::int64_t to_page = (stride + in_page - 1) / in_page * in_page;
    if (page_multiples && to_page <= most_span / 4)
      stride = to_page;
    else if (pads && stride < most_span / 4)
      stride += random.between(0, 5);
  }
  return strides;
}

void turn_some_round(Random& random, Dims& strides) {
  for (std::int64_t& stride : strides)
    if (random.percent(40)) stride = -stride;
}

std::string joined(const Dims& dims, const char* separator) {
  return fmt::format("{}", fmt::join(dims, separator));
}

struct Draft {
  Operation op;
  Dims shape;
};

Draft random_relayout(Random& random) {
  const std::int64_t x = random.one_of(std::vector<std::int64_t>{4, 8, 16, 32});
  const std::int64_t n = random.between(1, 3), c = random.between(1, 67), h = random.between(0, 15),
                     w = random.between(1, 17);
  const std::string blocked = fmt::format("NC/{0}HW{0}", x);
  const std::string flat = random.one_of(std::vector<std::string>{"NCHW", "NHWC"});
  const bool nchw = flat == "NCHW";
  if (random.percent(50)) return {relayout(flat, blocked), nchw ? Dims{n, c, h, w} : Dims{n, h, w, c}};
  if (random.percent(50)) return {relayout(blocked, flat, c), Dims{n, (c + x - 1) / x, h, w, x}};
  const std::string other = random.one_of(std::vector<std::string>{"NHWC", "CHWN"});
  return {relayout("NCHW", other), Dims{n, c, h, w}};
}

Draft random_repeat(Random& random, int shape_class) {
  const Dims shape = random_shape(random, 2, shape_class);
  const std::int64_t most = std::max<std::int64_t>(
      1, std::min<std::int64_t>(9, most_elements / std::max<std::int64_t>(element_count(shape), 1)));
  const std::string pattern = random.one_of(
      std::vector<std::string>{"h w -> h w c", "h w -> c h w", "h w -> h c w", "h w -> (h c) w", "h w -> w (h c)"});
  return {repeat(pattern, {{"c", random.between(1, most)}}), shape};
}

Draft random_reduction(Random& random, int shape_class) {
  const int rank = static_cast<int>(random.between(1, 6));
  Dims shape = random_shape(random, rank, shape_class);
  for (std::int64_t& extent : shape) extent = std::max<std::int64_t>(extent, 1);  // of nothing there is no largest
  std::string axes;
  for (int axis = 0; axis < rank; ++axis)
    if (random.percent(50)) axes += fmt::format("{}{}", axes.empty() ? "" : ",", axis);
  Operation op{random.one_of(std::vector<std::string>{"sum", "mean", "max", "argmin"})};
  if (!axes.empty()) op.options.emplace_back("axes", axes);
  return {std::move(op), shape};
}

Draft random_draft(Random& random, int shape_class) {
  if (random.percent(15)) return random_reduction(random, shape_class);
  const std::int64_t kind = random.below(100);
  if (kind < 10) return random_relayout(random);
  if (kind < 18) return random_repeat(random, shape_class);
  const int rank = static_cast<int>(random.between(kind < 38 ? 2 : 1, kind < 38 ? 4 : 6));
  const Dims shape = random_shape(random, rank, shape_class);
  if (kind < 38) return {transpose(), shape};
  if (kind < 50) return {copy(), shape};
  return {permute(random_order(random, rank)), shape};
}

std::string quoted_words(const Operation& op) {
  std::string text;
  for (const std::string& word : op.words)
    text += word.find(' ') == std::string::npos ? " " + word : " \"" + word + "\"";
  for (const auto& [name, value] : op.lengths) text += fmt::format(" {}={}", name, value);
  for (const auto& [name, value] : op.options) text += fmt::format(" {}={}", name, value);
  return text;
}

std::string placement(Random& random, const Dims& shape, std::int64_t element, bool pages, const char* side) {
  std::string text;
  const bool input = std::string_view(side) == "in";
  const bool some_extent = shape.size() > 0;
  if (some_extent && (pages || random.percent(55))) {
    Dims strides = random_strides(random, shape, element, pages);
    if (random.percent(25)) turn_some_round(random, strides);
    if (input && random.percent(15)) strides[static_cast<int>(random.below(shape.size()))] = 0;
    text += fmt::format(" {}-strides={}", side, joined(strides, ","));
  }
  if (random.percent(30)) text += fmt::format(" {}-offset={}", side, random.between(1, 37));
  if (random.percent(25)) {
    std::int64_t align = element;
    while (align < 64 && random.percent(60)) align *= 2;
    text += fmt::format(" {}-align={}", side, align);
  }
  return text;
}

}  // namespace

Random::Random(std::uint64_t seed, std::string_view text) : state_(seed) {
  // FNV-1a: any fixed mixing of the characters will do.
  std::uint64_t hash = 14695981039346656037ULL;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  state_ = next() ^ hash;
}

std::uint64_t Random::next() noexcept {
  std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

std::int64_t Random::below(std::int64_t count) noexcept {
  return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(count));
}

void Random::fill(std::span<std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const std::uint64_t value = next();
    const std::size_t part = std::min(bytes.size(), sizeof value);
    std::memcpy(bytes.data(), &value, part);
    bytes = bytes.subspan(part);
  }
}

void Random::fill_numbers(Dtype dtype, std::span<std::byte> bytes) noexcept {
  fill(bytes);
  const std::size_t size = size_of(dtype);
  if (dtype == Dtype::boolean)
    for (std::byte& byte : bytes) byte &= std::byte{1};
  if (core::unit_roundoff(dtype) == 0) return;
  for (std::size_t at = 0; at + size <= bytes.size(); at += size)
    for (int component = 0; component < core::components_of(dtype); ++component)
      core::store_number(dtype, &bytes[at], static_cast<double>(static_cast<std::int64_t>(next()) >> 11) * 0x1p-52,
                         component);
}

std::string random_case(std::uint64_t seed, std::int64_t index) {
  Random random(seed, fmt::format("case {}", index));
  const int shape_class = static_cast<int>(random.below(4));
  const Draft draft = random_draft(random, shape_class);
  const auto dtypes = all_dtypes();
  const Dtype dtype = dtypes[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(dtypes.size())))];
  const auto element = static_cast<std::int64_t>(size_of(dtype));
  const View input = View::contiguous(dtype, draft.shape);
  const View output = ops::entry(draft.op.name).result(draft.op, std::span(&input, 1));
  const bool pages = shape_class == 3 && random.percent(30);
  return fmt::format("{} {} {}{}{}{}", draft.op.name, name(dtype),
                     draft.shape.empty() ? "scalar" : joined(draft.shape, "x"), quoted_words(draft.op),
                     placement(random, draft.shape, element, pages, "in"),
                     placement(random, output.shape, static_cast<std::int64_t>(size_of(output.dtype)), pages, "out"));
}

}  // namespace axisloom::cli
