// Kernels in the form that GPUs run, a group of many items, on any OpenCL device. Places are relative to the offset of
// a launch and may be negative, so no kernel may take one for a mark.
#include "ops_support.hpp"

#include <gtest/gtest.h>

#include <array>

namespace axisloom::ops_test {
namespace {

/// A view with these strides whose lowest element is the first of its buffer.
View laid_out(Dtype dtype, const Dims& shape, const Dims& strides) {
  View view = View::contiguous(dtype, shape);
  view.strides = strides;
  view.offset = -view.bounds().low;
  return view;
}

/// Runs as a GPU would by these candidates, with narrow and with wide indices.
void expect_oracle_on_gpu(const Operation& op, const std::vector<View>& views, std::span<const char* const> by) {
  const Device gpu = as_gpu(real_device());
  const Bytes in = random_bytes(buffer_bytes(views[0]), 7);
  const Bytes before(static_cast<std::size_t>(buffer_bytes(views[1])), std::byte{0x6d});
  const Bytes want = after_oracle(op, views, in, before);
  for (const char* const candidate : by) {
    for (const IndexWidth index : {IndexWidth::automatic, IndexWidth::bits64}) {
      PlanOptions options;
      options.candidate = candidate;
      options.index = index;
      EXPECT_TRUE(after_run(plan(op, views, gpu, options), in, before) == want) << to_string(op) << " by " << candidate;
    }
  }
}

TEST(GpuForms, BlocksWithATailGoToPlacesBelowTheFirst) {
  const Dims planes{2, 34, 6, 14}, blocks{2, 5, 6, 14, 8};
  constexpr std::array by{"plain"};
  expect_oracle_on_gpu(
      relayout("NCHW", "NC/8HW8"),
      {laid_out(Dtype::u8, planes, {1, -19, -3, -647}), laid_out(Dtype::u8, blocks, {-264, -52, -1, 530, -6})}, by);
  expect_oracle_on_gpu(
      relayout("NC/8HW8", "NCHW", 34),
      {laid_out(Dtype::u8, blocks, {-3360, -672, -112, -8, -1}), laid_out(Dtype::u8, planes, {-2856, -84, -14, -1})},
      by);
}

TEST(GpuForms, RowsGoBackwardsInPackets) {
  const Dims shape{5, 7, 37};
  constexpr std::array by{"plain", "rows", "shift"};
  expect_oracle_on_gpu(copy(), {laid_out(Dtype::u8, shape, {-300, 41, 1}), laid_out(Dtype::u8, shape, {-400, -53, 1})},
                       by);
}

TEST(GpuForms, SkewedTilesGoBackwardsFromPlacesBelowTheFirst) {
  constexpr std::array by{"tile"};
  expect_oracle_on_gpu(transpose(),
                       {laid_out(Dtype::u8, {271, 273}, {-279, 1}), laid_out(Dtype::u8, {273, 271}, {275, 1})}, by);
}

TEST(GpuForms, TileNdGoesByElementsWhereRunsAreShort) {
  constexpr std::array by{"tile_nd"};
  expect_oracle_on_gpu(
      repeat("(a b) c d -> (a d) c new0 b", {{"b", 3}, {"new0", 1}}),
      {laid_out(Dtype::bf16, {6, 6, 2}, {12, -2, 1}), laid_out(Dtype::bf16, {4, 6, 1, 3}, {18, 3, 3, 1})}, by);
}

// A move as it comes from its operation goes backwards; the normal form reverses it. The kernel takes both.
TEST(GpuForms, PacketsGoToPlacesBelowTheFirst) {
  const Device gpu = as_gpu(real_device());
  const Dims shape{5, 67};
  const std::vector<View> views{laid_out(Dtype::u8, shape, {70, 1}), laid_out(Dtype::u8, shape, {-80, 1})};
  const ops::MoveCandidate& shift = candidate_named("shift");
  const auto made = std::make_shared<PlanImpl>();
  made->device = gpu;
  made->set_views(views);
  made->launches.push_back(
      launch_of(shift, {ops::lowered_move(copy(), views)}, default_values(shift.info), gpu.info()));
  ops::compile(*made);
  const Bytes in = random_bytes(buffer_bytes(views[0]), 7), before(400, std::byte{0x6d});
  EXPECT_TRUE(after_run(Plan(made), in, before) == after_oracle(copy(), views, in, before));
}

}  // namespace
}  // namespace axisloom::ops_test
