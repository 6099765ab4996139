// Products of every dtype, layout and size against plain loops, by every candidate, plain and with every access
// checked.
#include "product_support.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>

namespace axisloom::product_test {
namespace {

constexpr std::array floats = {Dtype::f32, Dtype::f64, Dtype::f16, Dtype::bf16, Dtype::c64, Dtype::c128};

PlanOptions forced(std::string_view candidate, Configuration values = {}) {
  PlanOptions options;
  options.candidate = candidate;
  options.configuration = std::move(values);
  return options;
}

void expect_right(const Case& job, const PlanOptions& options, unsigned seed = 1) {
  const std::string what = text_of(job) + " by " + (options.candidate.empty() ? "any" : options.candidate) + " " +
                           ops::to_string(options.configuration);
  try {
    const Built built = build(job, seed);
    std::string taken;
    const Bytes result = run(built, ops_test::real_device(), options, &taken);
    EXPECT_EQ(difference(job, built, result), "") << what << ", taken by " << taken;
    EXPECT_TRUE(options.candidate.empty() || taken == options.candidate || taken == "none") << what << ": " << taken;
  } catch (const Error& error) {
    ADD_FAILURE() << what << ": " << error.what();
  }
}

/// Every dtype, and those that a result may be widened to.
std::vector<std::pair<Dtype, Dtype>> dtype_pairs() {
  std::vector<std::pair<Dtype, Dtype>> list;
  for (const Dtype dtype : all_dtypes()) list.emplace_back(dtype, dtype);
  for (const Dtype dtype : {Dtype::i8, Dtype::u8}) list.emplace_back(dtype, Dtype::i32);
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) list.emplace_back(dtype, Dtype::f32);
  return list;
}

/// Candidates that take matrices on the device of the tests, with small tiles where there is a choice.
std::vector<PlanOptions> matrix_candidates() {
  std::vector<PlanOptions> list = {forced("plain"), forced("local16"), forced("tile")};
  if (ops_test::real_device().info().kind == Kind::cpu) list.push_back(forced("packed"));
  return list;
}

class Products : public ::testing::Test {
 private:
  ops_test::NoDiskCache memory_only_;
};

TEST_F(Products, EveryDtypeByEveryCandidate) {
  for (const auto& [in, out] : dtype_pairs()) {
    const Case job{.in = in, .out = out, .m = 37, .n = 53, .k = 29, .batch = {2}};
    for (const PlanOptions& options : matrix_candidates()) expect_right(job, options);
  }
}

TEST_F(Products, VectorsOfEveryDtype) {
  for (const auto& [in, out] : dtype_pairs()) {
    expect_right({.in = in, .out = out, .m = 1, .n = 70, .k = 300}, forced("gemv"));
    expect_right({.in = in, .out = out, .m = 70, .n = 1, .k = 300}, forced("gemv"));
    expect_right({.in = in, .out = out, .m = 1, .n = 1, .k = 9000}, forced("gemv"));
  }
}

TEST_F(Products, EveryTransposition) {
  for (int bits = 0; bits < 8; ++bits) {
    Case job{.m = 45, .n = 67, .k = 39, .batch = {3}};
    job.a.transposed = bits & 1;
    job.b.transposed = bits & 2;
    job.c.transposed = bits & 4;
    for (const PlanOptions& options : matrix_candidates()) {
      expect_right(job, options);
      job.a.gap = job.b.gap = job.c.gap = 3;
      expect_right(job, options);
      job.a.gap = job.b.gap = job.c.gap = 0;
    }
  }
}

TEST_F(Products, EdgesOfTiles) {
  for (const std::int64_t m : {1, 7, 8, 9, 33, 129})
    for (const std::int64_t n : {1, 31, 32, 47, 48, 49, 129})
      for (const PlanOptions& options : matrix_candidates())
        expect_right({.m = m, .n = n, .k = 17}, options, static_cast<unsigned>(m * 1000 + n));
}

TEST_F(Products, EveryDepth) {
  for (const std::int64_t k : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 300})
    for (const PlanOptions& options : matrix_candidates()) {
      expect_right({.m = 20, .n = 50, .k = k}, options);
      expect_right({.m = 20, .n = 50, .k = k, .alpha = 2, .beta = -0.5}, options);
    }
}

TEST_F(Products, AnyStrides) {
  for (unsigned bits = 0; bits < 8; ++bits) {
    Case job{.in = Dtype::f32, .m = 21, .n = 34, .k = 13, .batch = {3}};
    job.a = {.transposed = false, .gap = 2, .offset = 1, .negative = bits, .broadcast = 0};
    job.b = {.transposed = true, .gap = 1, .offset = 5, .negative = 7 - bits, .broadcast = 0};
    job.c = {.transposed = false, .gap = 4, .offset = 3, .negative = bits, .broadcast = 0};
    for (const PlanOptions& options : matrix_candidates()) expect_right(job, options);
    job.a.broadcast = bits;
    job.b.broadcast = bits ^ 5;
    for (const PlanOptions& options : matrix_candidates()) expect_right(job, options);
  }
}

TEST_F(Products, AnyAlignment) {
  for (std::int64_t offset = 0; offset < 16; ++offset) {
    Case job{.m = 64, .n = 64, .k = 32, .align = 4};
    job.a.offset = offset;
    job.b.offset = 15 - offset;
    job.c.offset = offset / 2;
    for (const PlanOptions& options : matrix_candidates()) expect_right(job, options);
    job.in = job.out = Dtype::u8;
    job.align = 1;
    for (const PlanOptions& options : matrix_candidates()) expect_right(job, options);
  }
}

TEST_F(Products, BatchesOfManyAxes) {
  Case job{.m = 5, .n = 9, .k = 6, .batch = {2, 3, 1, 4, 2}};
  job.a.broadcast = 2;
  job.b.broadcast = 8;
  job.c.gap = 1;
  for (const PlanOptions& options : matrix_candidates()) expect_right(job, options);
}

/// Every candidate with one dtype of each kind, and every other dtype with one of the candidates, in turn: all of them
/// take the epilogue from one header.
std::vector<PlanOptions> epilogue_candidates(Dtype dtype, std::size_t turn) {
  const std::vector<PlanOptions> all = matrix_candidates();
  if (dtype == Dtype::f32 || dtype == Dtype::c64 || dtype == Dtype::i32) return all;
  return {all[turn % all.size()]};
}

TEST_F(Products, Epilogues) {
  std::size_t turn = 0;
  for (const Dtype dtype : floats) {
    const bool real = core::components_of(dtype) == 1;
    for (const PlanOptions& options : epilogue_candidates(dtype, turn++))
      expect_right({.in = dtype, .out = dtype, .m = 19, .n = 60, .k = 12, .alpha = -1.5, .beta = 0.75, .relu = real},
                   options);
  }
  for (const Dtype dtype : {Dtype::i8, Dtype::i32, Dtype::i64, Dtype::u16, Dtype::boolean})
    for (const PlanOptions& options : epilogue_candidates(dtype, turn++)) {
      const bool truth = dtype == Dtype::boolean;
      expect_right(
          {.in = dtype, .out = dtype, .m = 19, .n = 60, .k = 3, .alpha = truth ? 1.0 : -3.0, .beta = 1, .relu = !truth},
          options);
    }
}

TEST_F(Products, VectorsInEveryOrientation) {
  for (int bits = 0; bits < 4; ++bits)
    for (const std::int64_t k : {0, 1, 5, 63, 64, 65, 1000, 20000})
      for (const bool row : {false, true}) {
        Case job{.m = row ? 1 : 33, .n = row ? 33 : 1, .k = k, .batch = {2}, .alpha = 0.5};
        if (k == 0) job.batch.clear();  // A and B without elements: the batch would count as rows
        job.a.transposed = bits & 1;
        job.b.transposed = bits & 2;
        job.a.gap = bits;
        expect_right(job, forced("gemv"));
        job.beta = 2;
        expect_right(job, forced("gemv", {{"part", 256}}));
      }
  for (const std::int64_t k : {0, 1, 255, 256, 257, 100003}) {
    expect_right({.m = 1, .n = 1, .k = k}, forced("gemv"));
    Case strided{.m = 1, .n = 1, .k = k};
    strided.a.negative = 2;
    strided.b.gap = 2;
    strided.b.negative = 1;
    expect_right(strided, forced("gemv", {{"part", 1024}}));
  }
}

TEST_F(Products, SplitDepth) {
  for (const std::int64_t parts : {2, 4, 8})
    expect_right({.m = 40, .n = 35, .k = 203, .batch = {2}, .alpha = 3, .beta = 1, .relu = true},
                 forced("tile", {{"split", parts}}));
}

TEST_F(Products, TilesOfEveryForm) {
  struct Form {
    std::int64_t m, n, tile_m, tile_n, step;
  };
  const std::array forms = {Form{128, 128, 8, 8, 8}, Form{128, 128, 8, 8, 16}, Form{64, 64, 4, 4, 16},
                            Form{64, 64, 8, 8, 8},   Form{64, 128, 8, 8, 8},   Form{128, 64, 16, 4, 8}};
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const Form& f = forms[i];
    Case job{.m = 150, .n = 140, .k = 40};
    job.a.transposed = job.b.transposed = i % 4 < 2;
    expect_right(job, forced("tile", {{"block_m", f.m},
                                      {"block_n", f.n},
                                      {"tile_m", f.tile_m},
                                      {"tile_n", f.tile_n},
                                      {"step_k", f.step},
                                      {"buffers", i % 2 + 1},
                                      {"access", i % 3 == 0 ? 4 : 16}}));
  }
}

TEST_F(Products, AsynchronousTiles) {
  for (const std::int64_t buffers : {1, 2})
    for (const bool checked : {false, true}) {
      Case job{.m = 150, .n = 70, .k = 43};
      job.a.transposed = true;
      PlanOptions options = forced("tile", {{"async", 1}, {"buffers", buffers}});
      options.checked = checked;
      expect_right(job, options);
      job.in = job.out = Dtype::f64;
      expect_right(job, options);
    }
}

TEST_F(Products, WideIndices) {
  for (PlanOptions options : matrix_candidates()) {
    options.index = IndexWidth::bits64;
    expect_right({.m = 37, .n = 53, .k = 29, .batch = {2}}, options);
  }
  PlanOptions options = forced("gemv");
  options.index = IndexWidth::bits64;
  expect_right({.m = 1, .n = 53, .k = 290, .batch = {2}}, options);
}

TEST_F(Products, EveryAccessStaysInBounds) {
  for (PlanOptions options : matrix_candidates()) {
    options.checked = true;
    for (const Dtype dtype : {Dtype::f32, Dtype::u8, Dtype::c128}) {
      Case job{.in = dtype, .out = dtype, .m = 37, .n = 53, .k = 19, .batch = {2}};
      expect_right(job, options);
      job.a.transposed = job.b.transposed = job.c.transposed = true;
      expect_right(job, options);
    }
  }
  PlanOptions options = forced("gemv", {{"part", 256}});
  options.checked = true;
  for (const bool transposed : {false, true}) {
    Case job{.m = 1, .n = 70, .k = 300, .batch = {2}};
    job.b.transposed = transposed;
    expect_right(job, options);
  }
}

// Products of two 16-bit floats are exact before they are rounded: those of all that there are, whole vectors of them.
TEST_F(Products, SixteenBitFloatsAreRoundedAsConversionsDo) {
  if (ops_test::real_device().info().kind != Kind::cpu) GTEST_SKIP() << "the kernel is for CPUs";
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    Built built = build({.in = dtype, .out = dtype, .m = 1 << 16, .n = 48, .k = 1}, 7);
    for (std::uint32_t bits = 0; bits < 1 << 16; ++bits) std::memcpy(built.buffers[0].data() + 2 * bits, &bits, 2);
    const Bytes result = run(built, ops_test::real_device(), forced("packed"));
    int wrong = 0;
    float first = 0;
    for (std::int64_t i = 0; i < (1 << 16) * 48; ++i) {
      const auto factor = [&](int operand, std::int64_t at) {
        return static_cast<float>(core::number_at(dtype, element_of(built.buffers[operand], dtype, at)));
      };
      const float sum = factor(0, i / 48) * factor(1, i % 48) + 0.0f;
      std::array<std::byte, 2> expected{};
      core::store_number(dtype, expected.data(), sum);
      const std::byte* const found = element_of(result, dtype, i);
      const bool same = std::isnan(sum) ? std::isnan(static_cast<float>(core::number_at(dtype, found)))
                                        : std::memcmp(found, expected.data(), 2) == 0;
      if (!same && wrong++ == 0) first = sum;
    }
    EXPECT_EQ(wrong, 0) << name(dtype) << ", the first of them " << first;
  }
}

TEST_F(Products, TheSameBitsFromRunToRun) {
  const Case job{.m = 70, .n = 90, .k = 1000};
  const Built built = build(job, 5);
  for (const PlanOptions& options : matrix_candidates())
    EXPECT_EQ(run(built, ops_test::real_device(), options), run(built, ops_test::real_device(), options));
  const Built dot = build({.m = 1, .n = 1, .k = 300000}, 6);
  EXPECT_EQ(run(dot, ops_test::real_device(), {}), run(dot, ops_test::real_device(), {}));
}

TEST_F(Products, RandomOnes) {
  std::mt19937 engine(20240611);
  const auto between = [&](int low, int high) { return std::uniform_int_distribution(low, high)(engine); };
  const auto layout = [&] {
    return Layout{between(0, 1) == 1, between(0, 1) * between(0, 5), between(0, 1) * between(0, 9),
                  static_cast<unsigned>(between(0, 3) / 3 * between(0, 15)),
                  static_cast<unsigned>(between(0, 3) / 3 * between(0, 15))};
  };
  for (unsigned i = 0; i < 60; ++i) {
    Case job;
    const auto pairs = dtype_pairs();
    std::tie(job.in, job.out) = pairs[static_cast<std::size_t>(between(0, static_cast<int>(pairs.size()) - 1))];
    job.m = between(0, 5) == 0 ? 1 : between(0, 80);
    job.n = between(0, 5) == 0 ? 1 : between(0, 80);
    job.k = between(0, 9) == 0 ? 0 : between(1, 150);
    for (int axes = between(0, 2); axes > 0; --axes) job.batch.push_back(between(1, 4));
    job.a = layout();
    job.b = layout();
    job.c = layout();
    job.c.broadcast = 0;
    expect_right(job, {}, i);
  }
}

/// Products of random shapes and transpositions, as an einsum would ask for them.
Case random_shape(std::mt19937& engine) {
  const auto between = [&](int low, int high) { return std::uniform_int_distribution(low, high)(engine); };
  const auto extent = [&] {
    return between(0, 7) == 0 ? 1 : between(0, 1) == 0 ? between(1, 70) : 1 << between(0, 11);
  };
  Case job{.m = extent(), .n = extent(), .k = extent()};
  for (int axes = between(0, 2); axes > 0; --axes) job.batch.push_back(between(1, 9));
  job.a.transposed = between(0, 1) == 1;
  job.b.transposed = between(0, 1) == 1;
  job.c.transposed = between(0, 3) == 0;
  return job;
}

std::size_t compiles_for(const DeviceInfo& info, std::map<std::string, int>& taken) {
  const auto pretended = std::make_shared<ops_test::PretendedDevice>(info);
  std::mt19937 engine(7);
  for (int i = 0; i < 1000; ++i) {
    const Case job = random_shape(engine);
    const Laid a = lay(job.batch, job.m, job.k, job.a), b = lay(job.batch, job.k, job.n, job.b),
               c = lay(job.batch, job.m, job.n, job.c);
    ops::Product product;
    product.m = {job.m, a.row, c.row};
    product.n = {job.n, 0, c.column, b.column};
    product.k = {job.k, a.column, 0, b.row};
    for (std::size_t axis = 0; axis < job.batch.size(); ++axis)
      product.batch.push_back({job.batch[axis], a.batch[axis], c.batch[axis], b.batch[axis]});
    taken[ops::plan_product(product, {}, Device(pretended), {})->report.candidate] += 1;
  }
  return pretended->sources.size();
}

TEST_F(Products, AThousandShapesCompileFewKernels) {
  for (const DeviceInfo& info :
       {ops_test::cpu_info(), ops_test::gpu_info(Api::cuda), ops_test::gpu_info(Api::opencl)}) {
    std::map<std::string, int> taken;
    const std::size_t compiles = compiles_for(info, taken);
    std::string text;
    for (const auto& [name, count] : taken) text += name + " " + std::to_string(count) + ", ";
    EXPECT_LE(compiles, 60u) << info.name << ": " << text;
    EXPECT_GE(compiles, taken.size());
    EXPECT_GE(taken.size(), 2u) << text;
    std::cout << compiles << " compiles on " << info.name << " for " << text << "1000 products" << std::endl;
  }
}

}  // namespace
}  // namespace axisloom::product_test
