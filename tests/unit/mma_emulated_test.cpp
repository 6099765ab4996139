// The kernel "mma" on a host that plays the tensor cores: what needs a card to run is executed here, from the
// candidate's launch to C, and compared with plain loops.
#include "ops/matmul/candidate.hpp"
#include "product_support.hpp"

#include <gtest/gtest.h>

#include "emulated/tensor_core_intrinsics.h"

#include "emulated/launches.h"
#include "emulated/random_problems.h"

namespace axisloom::emulated {

struct Operands {
  const void *a, *b, *d;
  void* c;
  i64 a_offset, b_offset, d_offset, c_offset;
};

struct Instance {
  Constants constants;
  void (*run_group)(const Operands&, const std::byte* params);
};

}  // namespace axisloom::emulated

#define GROUP 64

#define INSTANCE f16_along_k_n
#define A_ALONG_M 0
#define B_ALONG_N 1
#include "emulated/matmul/instance.h"

#define INSTANCE f16_along_k_k
#define A_ALONG_M 0
#define B_ALONG_N 0
#include "emulated/matmul/instance.h"

#define INSTANCE f16_along_m_n
#define A_ALONG_M 1
#define B_ALONG_N 1
#include "emulated/matmul/instance.h"

#define INSTANCE f16_along_m_k
#define A_ALONG_M 1
#define B_ALONG_N 0
#define STAGES 4
#include "emulated/matmul/instance.h"

#define INSTANCE f64_along_k_n
#define REAL_F64 1
#define A_ALONG_M 0
#define B_ALONG_N 1
#include "emulated/matmul/instance.h"

#define INSTANCE f64_along_m_k
#define REAL_F64 1
#define A_ALONG_M 1
#define B_ALONG_N 0
#define DEPTH 8
#include "emulated/matmul/instance.h"

#define INSTANCE f64_before_hopper
#define REAL_F64 1
#define A_ALONG_M 0
#define B_ALONG_N 0
#define DEPTH 4
#include "emulated/matmul/instance.h"

#define INSTANCE f64_of_a_batch
#define REAL_F64 1
#define A_ALONG_M 1
#define B_ALONG_N 1
#define BYTES_A 8
#define BYTES_B 8
#define PAIRS_C 0
#define STAGES 2
#define EPILOGUE 1
#define INDEX_BITS 64
#include "emulated/matmul/instance.h"

#define INSTANCE bf16_by_elements
#define IN_FORM FORM_BF16
#define OUT_FORM FORM_SAME
#define A_ALONG_M 0
#define B_ALONG_N 1
#define BYTES_A 2
#define BYTES_B 2
#define PAIRS_C 0
#define STAGES 2
#define EPILOGUE 1
#include "emulated/matmul/instance.h"

#define INSTANCE f16_in_parts
#define A_ALONG_M 0
#define B_ALONG_N 1
#define BYTES_A 4
#define BYTES_B 8
#define PAIRS_C 0
#define SPLIT 1
#include "emulated/matmul/instance.h"

#undef GROUP

namespace axisloom::product_test {
namespace {

constexpr unsigned items = 64;
const Configuration small = {{"block_m", 32}, {"block_n", 32}, {"warp_m", 32}, {"warp_n", 16}, {"band", 2}};

const ops::ProductCandidate& mma_variant() {
  for (const ops::ProductCandidate& candidate : ops::product_candidates())
    if (candidate.info.name == "mma") return candidate;
  throw std::runtime_error("no variant mma");
}

ops::Launches lowered(const ops::ProductProblem& problem, const Configuration& more) {
  const ops::ProductCandidate& mma = mma_variant();
  Configuration values = ops_test::default_values(mma.info);
  values["step_k"] = problem.in == Dtype::f64 ? 16 : 32;
  for (const Configuration& forced : {small, more})
    for (const auto& [tunable, value] : forced) values[tunable] = value;
  return ops_test::launches_of(mma, problem, values, ops_test::gpu_info());
}

/// Partial products of parts, added up as the second launch does.
void combine(const std::vector<float>& parts, std::size_t count, const ops::Product& product, Bytes& result) {
  const auto outputs = static_cast<std::size_t>(product.m.extent * product.n.extent);
  for (std::size_t at = 0; at < outputs; ++at) {
    float sum = 0;
    for (std::size_t part = 0; part < count; ++part) sum += parts[part * outputs + at];
    const auto row = static_cast<std::int64_t>(at) / product.n.extent,
               column = static_cast<std::int64_t>(at) % product.n.extent;
    const std::int64_t to = product.c.offset + row * product.m.out + column * product.n.out;
    core::store_number(product.out, result.data() + static_cast<std::size_t>(to) * size_of(product.out), sum, 0);
  }
}

void expect_right(const emulated::Instance& instance, const Case& job, const Configuration& more = {}, int bits = 32) {
  SCOPED_TRACE(text_of(job));
  const Built built = build(job, 1);
  const ops::ProductProblem problem{ops::normalise(built.product), bits};
  const ops::Launches launches = lowered(problem, more);
  const Launch& launch = launches.list.front();
  emulated::expect_constants(instance.constants, launch);
  const bool split = launches.list.size() == 2;
  Bytes result = built.buffers.back();
  std::vector<float> partial(launches.workspace_bytes / sizeof(float));
  emulated::Operands operands{};
  operands.a = built.buffers[0].data(), operands.b = built.buffers[1].data(), operands.d = built.buffers[2].data();
  operands.c = split ? static_cast<void*>(partial.data()) : result.data();
  operands.a_offset = launch.buffers[0].offset, operands.b_offset = launch.buffers[1].offset;
  if (launch.buffers.size() == 4) operands.d_offset = launch.buffers[2].offset;
  operands.c_offset = launch.buffers.back().offset;
  std::vector<emulated::Warp> warps(items / 32);
  const auto prepare = [&](unsigned item) { emulated::warp = &warps[item / 32]; };
  emulated::run_groups(launch, items, 0, prepare, [&] {
    emulated::ended_pieces.clear();
    instance.run_group(operands, launch.params.data());
  });
  if (split) combine(partial, partial.size() / static_cast<std::size_t>(job.m * job.n), built.product, result);
  EXPECT_EQ(difference(job, built, result), "");
}

/// Rows begin at multiples of 16 bytes, and no extent is one of anything.
Case aligned(Dtype dtype, bool a_along_m, bool b_along_n) {
  Case job{.in = dtype, .out = dtype, .m = 45, .n = 70, .k = 75};
  job.a = {.transposed = a_along_m, .gap = a_along_m ? 3 : 5, .offset = 8};
  job.b = {.transposed = !b_along_n, .gap = b_along_n ? 10 : 5, .offset = 16};
  job.c = {.gap = 2, .offset = 2};
  return job;
}

TEST(MmaEmulated, SixteenBitFloatsInEveryOrientation) {
  expect_right(emulated::f16_along_k_n::instance, aligned(Dtype::f16, false, true));
  expect_right(emulated::f16_along_k_k::instance, aligned(Dtype::f16, false, false));
  expect_right(emulated::f16_along_m_n::instance, aligned(Dtype::f16, true, true));
  expect_right(emulated::f16_along_m_k::instance, aligned(Dtype::f16, true, false), {{"stages", 4}});
}

TEST(MmaEmulated, DoublesByEveryInstruction) {
  expect_right(emulated::f64_along_k_n::instance, aligned(Dtype::f64, false, true));
  expect_right(emulated::f64_along_m_k::instance, aligned(Dtype::f64, true, false), {{"depth", 8}});
  expect_right(emulated::f64_before_hopper::instance, aligned(Dtype::f64, false, false), {{"depth", 4}});
}

TEST(MmaEmulated, BatchesEpiloguesAndOddStarts) {
  Case job{.in = Dtype::f64, .out = Dtype::f64, .m = 33, .n = 31, .k = 17, .batch = {2, 3}, .alpha = -1.5, .beta = 0.5};
  job.relu = true;
  job.a = {.transposed = true, .gap = 1, .offset = 1, .broadcast = 2};
  job.b = {.gap = 2, .offset = 3};
  job.c = {.gap = 1};
  expect_right(emulated::f64_of_a_batch::instance, job, {{"stages", 2}}, 64);
  job.in = Dtype::bf16;
  job.out = Dtype::f32;
  job.a.transposed = false;
  expect_right(emulated::bf16_by_elements::instance, job, {{"stages", 2}});
}

TEST(MmaEmulated, DepthsOfAnyNumberOfSteps) {
  for (const std::int64_t k : {2, 8, 31, 32, 33, 64, 65, 130}) {
    Case job = aligned(Dtype::f16, false, true);
    job.m = 5, job.n = 6, job.k = k;
    job.a.gap = 16 - k % 8;
    job.b.gap = 2;
    expect_right(emulated::f16_along_k_n::instance, job);
  }
}

TEST(MmaEmulated, PartsOfTheDepth) {
  Case job{.in = Dtype::f16, .out = Dtype::f16, .m = 37, .n = 36, .k = 150};
  job.a = {.gap = 4, .offset = 2};
  job.b = {.offset = 4};
  expect_right(emulated::f16_in_parts::instance, job, {{"split", 2}});
}

// Those for the types and gaps of a job are found by the constants of its launch.
const emulated::Instance* instance_for(const Case& job, const Configuration& more, int bits) {
  static const emulated::Instance* const all[] = {
      &emulated::f16_along_k_n::instance,     &emulated::f16_along_k_k::instance,
      &emulated::f16_along_m_n::instance,     &emulated::f16_along_m_k::instance,
      &emulated::f64_along_k_n::instance,     &emulated::f64_along_m_k::instance,
      &emulated::f64_before_hopper::instance, &emulated::f64_of_a_batch::instance,
      &emulated::bf16_by_elements::instance,  &emulated::f16_in_parts::instance};
  const ops::ProductProblem problem{ops::normalise(laid_out(job).product), bits};
  const ops::ProductCandidate& mma = mma_variant();
  Configuration values = ops_test::default_values(mma.info);
  values["step_k"] = problem.in == Dtype::f64 ? 16 : 32;
  for (const Configuration& forced : {small, more})
    for (const auto& [tunable, value] : forced) values[tunable] = value;
  if (!ops_test::refusal_of(mma, problem, values, ops_test::gpu_info()).empty()) return nullptr;
  const emulated::Constants wanted =
      emulated::constants_of(ops_test::launch_of(mma, problem, values, ops_test::gpu_info()));
  for (const emulated::Instance* instance : all)
    if (instance->constants == wanted) return instance;
  return nullptr;
}

Layout random_layout(emulated::RandomProblems& random, int run, bool whole_pieces) {
  Layout layout;
  layout.transposed = random.percent(50);
  layout.offset = whole_pieces ? 8 * random.between(0, 3) : random.between(0, 9);
  layout.gap = whole_pieces ? (8 - run % 8) % 8 + 8 * random.between(0, 1) : random.between(0, 9);
  return layout;
}

/// A product of any of the instances' types.
Case random_job(emulated::RandomProblems& random) {
  Case job;
  job.in = job.out = random.one_of({Dtype::f16, Dtype::f16, Dtype::f64, Dtype::f64, Dtype::bf16});
  if (job.in == Dtype::bf16) job.out = Dtype::f32;
  job.m = random.between(2, 70), job.n = random.between(2, 70), job.k = random.between(1, 140);
  const bool whole_pieces = random.percent(70);
  const auto laid = [&](std::int64_t rows, std::int64_t columns) {
    Layout layout = random_layout(random, static_cast<int>(columns), whole_pieces);
    if (layout.transposed && whole_pieces) layout.gap = (8 - rows % 8) % 8;
    return layout;
  };
  job.a = laid(job.m, job.k);
  job.b = laid(job.k, job.n);
  job.c = laid(job.m, job.n);
  job.c.transposed = false;
  if (random.percent(40)) {
    job.batch = {random.between(1, 2), random.between(1, 3)};
    job.alpha = random.one_of({-1.5, 0.25, 2.0}), job.beta = random.one_of({0.5, -1.0});
    job.relu = random.percent(50);
    if (random.percent(30)) job.a.broadcast = 2;
  }
  return job;
}

TEST(MmaEmulated, RandomProblems) {
  emulated::RandomProblems random("mma", 12);
  std::set<const emulated::Instance*> seen;
  int ran = 0;
  for (int drawn = 0; ran < random.count() && drawn < 10000 * random.count(); ++drawn) {
    const Case job = random_job(random);
    const int bits = random.one_of({32, 64});
    const Configuration more = {
        {"stages", random.one_of({2, 3, 4})}, {"depth", random.one_of({4, 8, 16})}, {"split", random.one_of({1, 2})}};
    const emulated::Instance* const instance = instance_for(job, more, bits);
    if (instance == nullptr) continue;
    SCOPED_TRACE(random.text());
    expect_right(*instance, job, more, bits);
    seen.insert(instance);
    ++ran;
    if (HasFailure()) return;
  }
  EXPECT_EQ(ran, random.count());
  EXPECT_GE(seen.size(), 4u) << "of the kernels that are compiled here few are ever chosen";
}

}  // namespace
}  // namespace axisloom::product_test
