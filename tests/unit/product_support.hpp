// For tests of the product: operands of any layout, and the product by plain loops in long double or whole numbers.
#pragma once

#include "core/number.hpp"
#include "ops/matmul/product.hpp"
#include "ops_support.hpp"

#include <axisloom/error.hpp>

#include <cmath>
#include <cstring>
#include <functional>

namespace axisloom::product_test {

using ops_test::Bytes;

/// An operand laid out in a buffer of its own: strides of the batch axes and of its two axes.
struct Laid {
  std::vector<std::int64_t> batch;
  std::int64_t row = 0, column = 0, offset = 0, elements = 1;
};

/// How operands lie: `transposed` exchanges the two axes; a gap is left after every run; axes of which the bit is set
/// in `negative` run backwards (batch axes first); the first element is `offset` further on than it must be.
struct Layout {
  bool transposed = false;
  std::int64_t gap = 0, offset = 0;
  unsigned negative = 0;
  unsigned broadcast = 0;  // axes of stride 0, by the same bits
};

inline Laid lay(const std::vector<std::int64_t>& batch, std::int64_t rows, std::int64_t columns, const Layout& layout) {
  std::vector<std::int64_t> extents = batch;
  extents.push_back(rows);
  extents.push_back(columns);
  std::vector<std::size_t> order(extents.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;  // fastest first
  if (layout.transposed) std::swap(order[0], order[1]);
  std::vector<std::int64_t> strides(extents.size());
  std::int64_t stride = 1, low = 0;
  for (const std::size_t axis : order) {
    if (layout.broadcast >> axis & 1) continue;
    strides[axis] = stride;
    stride = stride * extents[axis] + layout.gap;
    if (layout.negative >> axis & 1) {
      low += (extents[axis] - 1) * strides[axis];
      strides[axis] = -strides[axis];
    }
  }
  Laid laid;
  laid.batch.assign(strides.begin(), strides.end() - 2);
  laid.row = strides[strides.size() - 2];
  laid.column = strides.back();
  laid.offset = std::max<std::int64_t>(0, low) + layout.offset;
  laid.elements = std::max<std::int64_t>(1, stride) + layout.offset + 1;
  return laid;
}

/// A product to be tested.
struct Case {
  Dtype in = Dtype::f32, out = Dtype::f32;
  std::int64_t m = 1, n = 1, k = 1;
  std::vector<std::int64_t> batch = {};
  Layout a = {}, b = {}, c = {};
  double alpha = 1, beta = 0;
  bool relu = false;
  std::int64_t align = 64;
};

inline std::string text_of(const Case& job) {
  std::string text = std::string(name(job.in)) + " to " + std::string(name(job.out)) + " " + std::to_string(job.m) +
                     "x" + std::to_string(job.n) + "x" + std::to_string(job.k);
  for (const std::int64_t extent : job.batch) text += " b" + std::to_string(extent);
  for (const Layout* layout : {&job.a, &job.b, &job.c})
    text += std::string(layout->transposed ? " T" : " N") + "+" + std::to_string(layout->gap) + "@" +
            std::to_string(layout->offset) + "-" + std::to_string(layout->negative) + "*" +
            std::to_string(layout->broadcast);
  return text + " alpha " + std::to_string(job.alpha) + " beta " + std::to_string(job.beta) + (job.relu ? " relu" : "");
}

/// The product of a case with its buffers: A, B, [D,] C.
struct Built {
  ops::Product product;
  std::vector<View> views;
  std::vector<Bytes> buffers;
  Laid a, b, c;
};

inline Bytes random_numbers(Dtype dtype, std::int64_t count, std::mt19937& engine) {
  const std::size_t size = size_of(dtype);
  Bytes bytes(static_cast<std::size_t>(count) * size);
  const core::NumberKind kind = core::kind_of(dtype);
  const bool real = kind == core::NumberKind::floating || kind == core::NumberKind::complex;
  for (std::int64_t i = 0; i < count; ++i) {
    std::byte* const element = bytes.data() + static_cast<std::size_t>(i) * size;
    for (int part = 0; part < core::components_of(dtype); ++part) {
      if (real)
        core::store_number(dtype, element, std::uniform_real_distribution<double>(-1, 1)(engine), part);
      else if (kind == core::NumberKind::boolean)
        core::store_number(dtype, element, engine() % 4 == 0, part);
      else
        for (std::size_t byte = 0; byte < size; ++byte) element[byte] = static_cast<std::byte>(engine());
    }
  }
  return bytes;
}

/// The product of a case, without buffers.
inline Built laid_out(const Case& job) {
  Built built;
  built.a = lay(job.batch, job.m, job.k, job.a);
  built.b = lay(job.batch, job.k, job.n, job.b);
  built.c = lay(job.batch, job.m, job.n, job.c);
  ops::Product& product = built.product;
  product.in = job.in;
  product.out = job.out;
  const std::int64_t d = job.beta != 0 ? 1 : 0;  // it lies as C does
  product.m = {job.m, built.a.row, built.c.row, 0, d * built.c.row};
  product.n = {job.n, 0, built.c.column, built.b.column, d * built.c.column};
  product.k = {job.k, built.a.column, 0, built.b.row};
  product.a = {built.a.offset, job.align};
  product.b = {built.b.offset, job.align};
  product.c = {built.c.offset, job.align};
  if (d != 0) product.d = product.c;
  for (std::size_t i = 0; i < job.batch.size(); ++i)
    product.batch.push_back({job.batch[i], built.a.batch[i], built.c.batch[i], built.b.batch[i], d * built.c.batch[i]});
  product.alpha = job.alpha;
  product.beta = job.beta;
  product.relu = job.relu;
  return built;
}

inline Built build(const Case& job, unsigned seed) {
  std::mt19937 engine(seed);
  Built built = laid_out(job);
  const auto add = [&](Dtype dtype, std::int64_t elements) {
    View view = View::contiguous(dtype, {elements});
    view.align = job.align;
    built.views.push_back(view);
    built.buffers.push_back(random_numbers(dtype, elements, engine));
  };
  add(job.in, built.a.elements);
  add(job.in, built.b.elements);
  if (job.beta != 0) add(job.out, built.c.elements);
  add(job.out, built.c.elements);
  return built;
}

/// C after a run; `expected` what it reports.
inline Bytes run(const Built& built, const Device& device, const PlanOptions& options,
                 std::string* candidate = nullptr) {
  const Plan plan(ops::plan_product(built.product, built.views, device, options));
  if (candidate) *candidate = plan.report().candidate;
  const Queue queue = device.queue();
  std::vector<Buffer> buffers;
  for (const Bytes& bytes : built.buffers) buffers.push_back(ops_test::upload(device, queue, bytes));
  plan.run(queue, buffers).wait();
  return ops_test::download(queue, buffers.back());
}

/// What is wrong with one element of the result.
using Judge = std::function<std::string(const std::byte* found, std::int64_t a, std::int64_t b, std::int64_t c)>;

inline std::uint64_t whole_at(Dtype dtype, const std::byte* element) {
  const long double number = core::number_at(dtype, element);
  return number < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(number))
                    : static_cast<std::uint64_t>(number);
}

inline const std::byte* element_of(const Bytes& bytes, Dtype dtype, std::int64_t index) {
  return bytes.data() + static_cast<std::size_t>(index) * size_of(dtype);
}

/// Integers: the sum modulo 2^64, cut to the result's size; bools: or of ands.
inline std::string judge_whole(const Case& job, const Built& built, const std::byte* found, std::int64_t a,
                               std::int64_t b, std::int64_t c) {
  std::uint64_t sum = 0;
  for (std::int64_t k = 0; k < job.k; ++k)
    sum += whole_at(job.in, element_of(built.buffers[0], job.in, a + k * built.a.column)) *
           whole_at(job.in, element_of(built.buffers[1], job.in, b + k * built.b.row));
  sum *= static_cast<std::uint64_t>(static_cast<std::int64_t>(job.alpha));
  if (job.beta != 0)
    sum += static_cast<std::uint64_t>(static_cast<std::int64_t>(job.beta)) *
           whole_at(job.out, element_of(built.buffers[2], job.out, c));
  std::array<std::byte, 8> bytes{};
  if (job.out == Dtype::boolean) sum = sum != 0;
  std::memcpy(bytes.data(), &sum, 8);
  if (job.relu && core::number_at(job.out, bytes.data()) < 0) bytes = {};
  if (std::memcmp(bytes.data(), found, size_of(job.out)) == 0) return {};
  return core::number_text(job.out, found) + " where " + core::number_text(job.out, bytes.data()) + " should be";
}

/// Floats: |C - exact| <= 2 k u (|A||B|) of the accumulators, and the roundings of epilogue and result.
inline std::string judge_real(const Case& job, const Built& built, const std::byte* found, std::int64_t a,
                              std::int64_t b, std::int64_t c) {
  const int parts = core::components_of(job.in);
  const auto value = [](Dtype dtype, const Bytes& bytes, std::int64_t at, int part) {
    return core::number_at(dtype, element_of(bytes, dtype, at), part);
  };
  for (int part = 0; part < parts; ++part) {
    long double sum = 0, size = 0;
    const auto term = [&](long double x, long double y, int sign) {
      sum += sign * x * y;
      size += std::abs(x * y);
    };
    for (std::int64_t k = 0; k < job.k; ++k) {
      const std::int64_t at_a = a + k * built.a.column, at_b = b + k * built.b.row;
      const auto x = [&](int p) { return value(job.in, built.buffers[0], at_a, p); };
      const auto y = [&](int p) { return value(job.in, built.buffers[1], at_b, p); };
      term(x(0), y(part), 1);
      if (parts == 2) term(x(1), y(1 - part), part == 0 ? -1 : 1);
    }
    const bool narrow = job.in == Dtype::f16 || job.in == Dtype::bf16;
    const long double u = narrow ? core::unit_roundoff(Dtype::f32) : core::unit_roundoff(job.in);
    const long double added = job.beta == 0 ? 0 : job.beta * value(job.out, built.buffers[2], c, part);
    long double exact = job.alpha * sum + added;
    long double bound = 2 * parts * static_cast<long double>(job.k) * u * std::abs(job.alpha) * size;
    if (job.alpha != 1 || job.beta != 0) bound += 4 * u * (std::abs(job.alpha) * size + std::abs(added));
    if (job.out != job.in || narrow)
      bound += 1.01L * core::unit_roundoff(job.out) * (std::abs(exact) + bound) + 1e-7L * (job.out == Dtype::f16);
    if (job.relu && exact < 0) exact = 0;
    const long double number = core::number_at(job.out, found, part);
    if (!(std::abs(number - exact) <= bound))
      return std::to_string(number) + " where " + std::to_string(exact) + " should be, within " + std::to_string(bound);
  }
  return {};
}

/// Compares every element of C; the gaps of its buffer must be as they were. Empty when all is well.
inline std::string difference(const Case& job, const Built& built, const Bytes& result) {
  std::vector<bool> written(static_cast<std::size_t>(built.c.elements));
  const core::NumberKind kind = core::kind_of(job.in);
  const bool real = kind == core::NumberKind::floating || kind == core::NumberKind::complex;
  std::int64_t points = 1;
  for (const std::int64_t extent : job.batch) points *= extent;
  for (std::int64_t flat = 0; flat < points * job.m * job.n; ++flat) {
    const std::int64_t n = flat % job.n, m = flat / job.n % job.m;
    std::int64_t rest = flat / job.n / job.m;
    std::int64_t a = built.a.offset + m * built.a.row, b = built.b.offset + n * built.b.column,
                 c = built.c.offset + m * built.c.row + n * built.c.column;
    for (std::size_t i = job.batch.size(); i-- > 0; rest /= job.batch[i]) {
      a += rest % job.batch[i] * built.a.batch[i];
      b += rest % job.batch[i] * built.b.batch[i];
      c += rest % job.batch[i] * built.c.batch[i];
    }
    written[static_cast<std::size_t>(c)] = true;
    const std::byte* const found = element_of(result, job.out, c);
    const std::string why = real ? judge_real(job, built, found, a, b, c) : judge_whole(job, built, found, a, b, c);
    if (!why.empty())
      return "C[" + std::to_string(m) + "," + std::to_string(n) + "] of point " + std::to_string(flat / job.n / job.m) +
             " is " + why;
  }
  for (std::size_t i = 0; i < written.size(); ++i)
    if (!written[i] &&
        std::memcmp(element_of(result, job.out, static_cast<std::int64_t>(i)),
                    element_of(built.buffers.back(), job.out, static_cast<std::int64_t>(i)), size_of(job.out)) != 0)
      return "element " + std::to_string(i) + " of the buffer, which is not of C, was overwritten";
  return {};
}

}  // namespace axisloom::product_test
