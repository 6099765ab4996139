// The kernel "wgmma" and its tensor maps on a host that plays warpgroups and the tensor memory accelerator: what needs
// a card to run is executed here, from the candidate's launch to C, and compared with plain loops.
#include "ops/matmul/candidate.hpp"
#include "product_support.hpp"

#include <gtest/gtest.h>

#include "emulated/warpgroup_intrinsics.h"

#include "emulated/launches.h"
#include "emulated/random_problems.h"

namespace axisloom::emulated {

struct WarpgroupOperands {
  const void* d;
  void* c;
  i64 d_offset, c_offset;
};

struct WarpgroupInstance {
  Constants constants;
  void (*run_group)(const tensor_map& a, const tensor_map& b, const WarpgroupOperands&, const std::byte* params);
};

}  // namespace axisloom::emulated

#define GROUP 384

#define INSTANCE warpgroup_f16_along_k_n
#define IN_FORM FORM_F16
#define OUT_FORM FORM_F16
#define RESULT u16
#define A_ALONG_M 0
#define B_ALONG_N 1
#define BLOCK_N 128
#define STAGES 2
#define EPILOGUE 0
#define INDEX_BITS 32
#define PAIRS_C 1
#include "emulated/matmul/warpgroup_instance.h"

#define INSTANCE warpgroup_bf16_along_m_k
#define IN_FORM FORM_BF16
#define OUT_FORM FORM_SAME
#define RESULT f32
#define A_ALONG_M 1
#define B_ALONG_N 0
#define BLOCK_N 256
#define STAGES 3
#define EPILOGUE 0
#define INDEX_BITS 64
#define PAIRS_C 0
#include "emulated/matmul/warpgroup_instance.h"

#define INSTANCE warpgroup_f16_of_a_batch
#define IN_FORM FORM_F16
#define OUT_FORM FORM_F16
#define RESULT u16
#define A_ALONG_M 0
#define B_ALONG_N 0
#define BLOCK_N 128
#define STAGES 4
#define EPILOGUE 1
#define INDEX_BITS 32
#define PAIRS_C 0
#include "emulated/matmul/warpgroup_instance.h"

#undef GROUP

namespace axisloom::product_test {
namespace {

constexpr unsigned items = 384;

Launch lowered(const ops::ProductProblem& problem, const Configuration& forced) {
  const ops::Candidates<ops::ProductProblem>& all = ops::product_candidates();
  const auto wgmma = std::find_if(all.begin(), all.end(), [](const auto& one) { return one.info.name == "wgmma"; });
  Configuration values = ops_test::default_values(wgmma->info);
  for (const auto& [tunable, value] : forced) values[tunable] = value;
  DeviceInfo card = ops_test::gpu_info();
  card.compute_units = 3;  // so that groups take several blocks
  return ops_test::launch_of(*wgmma, problem, values, card);
}

void expect_right(const emulated::WarpgroupInstance& instance, const Case& job, const Configuration& forced,
                  int bits = 32) {
  SCOPED_TRACE(text_of(job));
  Built built = build(job, 1);
  const Launch launch = lowered({ops::normalise(built.product), bits}, forced);
  emulated::expect_constants(instance.constants, launch);
  Bytes result = built.buffers.back();
  const auto tensor = [&](std::size_t i) {
    emulated::tensor_map map{*launch.buffers[i].map, built.buffers[i].data()};
    map.map.begin = static_cast<std::size_t>(launch.buffers[i].offset * launch.buffers[i].element);
    return map;
  };
  emulated::WarpgroupOperands operands{};
  operands.d = built.buffers[2].data(), operands.c = result.data();
  if (launch.buffers.size() == 4) operands.d_offset = launch.buffers[2].offset;
  operands.c_offset = launch.buffers.back().offset;
  const emulated::tensor_map a = tensor(0), b = tensor(1);
  std::barrier<> warpgroups[3] = {std::barrier<>(128), std::barrier<>(128), std::barrier<>(128)};
  emulated::run_groups(
      launch, items, 3 * 128, [&](unsigned item) { emulated::warpgroup = &warpgroups[item / 128]; },
      [&] { instance.run_group(a, b, operands, launch.params.data()); });
  EXPECT_EQ(difference(job, built, result), "");
}

/// Rows begin at multiples of 16 bytes, and blocks stick out on every side.
Case aligned(Dtype in, Dtype out, bool a_along_m, bool b_along_n) {
  Case job{.in = in, .out = out, .m = 140, .n = 150, .k = 147};
  job.a = {.transposed = a_along_m, .gap = a_along_m ? 4 : 5, .offset = 8};
  job.b = {.transposed = !b_along_n, .gap = b_along_n ? 2 : 5, .offset = 16};
  job.c = {.gap = 2, .offset = 2};
  return job;
}

TEST(WgmmaEmulated, HalvesInBlocksThatGroupsTakeInTurn) {
  Case job = aligned(Dtype::f16, Dtype::f16, false, true);
  expect_right(emulated::warpgroup_f16_along_k_n::instance, job, {{"block_n", 128}, {"stages", 2}});
  for (const std::int64_t k : {16, 64, 72, 130}) {  // of one step, and of any number of them
    job.m = 5, job.n = 6, job.k = k;
    job.a.gap = 16 - k % 8;
    job.b.gap = 2;
    expect_right(emulated::warpgroup_f16_along_k_n::instance, job, {{"block_n", 128}, {"stages", 2}});
  }
}

TEST(WgmmaEmulated, OtherOrientationsInWideBlocks) {
  Case job = aligned(Dtype::bf16, Dtype::f32, true, false);
  job.c.gap = 3;
  job.n = 260;
  job.c.offset = 1;
  expect_right(emulated::warpgroup_bf16_along_m_k::instance, job, {{"block_n", 256}, {"stages", 3}}, 64);
}

TEST(WgmmaEmulated, BatchesAndEpilogues) {
  Case job{.in = Dtype::f16, .out = Dtype::f16, .m = 33, .n = 31, .k = 40, .batch = {3}, .alpha = -1.5, .beta = 0.5};
  job.relu = true;
  job.a = {.gap = 8, .offset = 8};
  job.b = {.transposed = true, .offset = 16};
  job.c = {.gap = 1};
  expect_right(emulated::warpgroup_f16_of_a_batch::instance, job, {{"block_n", 128}, {"stages", 4}});
}

/// A product that begins, and whose rows begin, at multiples of 16 bytes.
Case random_job(emulated::RandomProblems& random, bool transposed_a, bool transposed_b) {
  Case job{.in = Dtype::f16, .out = Dtype::f16};
  job.m = random.between(2, 200), job.n = random.between(2, 200),
  job.k = random.between(2, 200);  // of one row an operand lies either way
  const auto laid = [&](bool transposed, std::int64_t rows, std::int64_t columns) {
    const std::int64_t run = transposed ? rows : columns;
    return Layout{.transposed = transposed,
                  .gap = (8 - run % 8) % 8 + 8 * random.between(0, 1),
                  .offset = 8 * random.between(0, 2)};
  };
  job.a = laid(transposed_a, job.m, job.k);
  job.b = laid(transposed_b, job.k, job.n);
  return job;
}

TEST(WgmmaEmulated, RandomProblems) {
  emulated::RandomProblems random("wgmma", 3);
  for (int i = 0; i < random.count(); ++i) {
    SCOPED_TRACE(random.text());
    if (i % 3 == 0) {
      Case job = random_job(random, false, false);
      job.c = {.gap = job.n % 2 + 2 * random.between(0, 2), .offset = 2 * random.between(0, 3)};  // pairs
      expect_right(emulated::warpgroup_f16_along_k_n::instance, job, {{"block_n", 128}, {"stages", 2}});
    } else if (i % 3 == 1) {
      Case job = random_job(random, true, true);
      job.in = Dtype::bf16, job.out = Dtype::f32;
      job.c = {.gap = 1 - job.n % 2 + 2 * random.between(0, 2), .offset = 1 + 2 * random.between(0, 3)};  // single ones
      expect_right(emulated::warpgroup_bf16_along_m_k::instance, job, {{"block_n", 256}, {"stages", 3}}, 64);
    } else {
      Case job = random_job(random, false, true);
      // The matrices of a batch lie a gap further apart than their rows take: both multiples of 16 bytes.
      job.k = 8 * random.between(1, 25);
      job.a.gap = 8 * random.between(0, 1), job.b.gap = 8 * random.between(0, 1);
      job.batch = {random.between(2, 3)};
      job.alpha = random.one_of({-1.5, 0.25}), job.beta = random.one_of({0.5, -2.0});
      job.relu = true;
      job.c = {.gap = 1 - job.n % 2, .offset = 1};
      expect_right(emulated::warpgroup_f16_of_a_batch::instance, job, {{"block_n", 128}, {"stages", 4}});
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace axisloom::product_test
