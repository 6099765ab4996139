// Judging results: every way of judging accepts what is right, and catches a single wrong element.
#include "bench/peers/peers.hpp"
#include "bench/verify.hpp"

#include "device/cuda/compile.hpp"
#include "device/device.hpp"
#include "harness/case.hpp"
#include "jit/jit.hpp"
#include "ops/rearrange/oracle.hpp"
#include "ops/rearrange/rearrange.hpp"

#include <axisloom/device.hpp>
#include <axisloom/ops.hpp>

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>

namespace axisloom::bench {
namespace {

/// A case with its input and the oracle's output in host memory.
struct Example {
  explicit Example(const std::string& text) {
    const harness::Case what = harness::parse_case(text);
    View in = View::contiguous(what.dtypes.front(), what.shapes.front());
    if (what.inputs.front().strides) in.strides = *what.inputs.front().strides;
    in.offset = -in.bounds().low;
    View out = result_view(what.op, std::span(&in, 1));
    if (what.output.strides) out.strides = *what.output.strides;
    out.offset = -out.bounds().low;
    const View views[] = {in, out};
    const core::Move plain = ops::lowered_move(what.op, views);
    move = in_output_order(plain);
    data = Data::of(what.dtypes.front(), 7);
    input.resize(static_cast<std::size_t>(in.bounds().high * move.element));
    output.assign(static_cast<std::size_t>(out.bounds().high * move.element), std::byte{0x33});
    fill_on_host(team, data, input);
    ops::move_on_host(plain, input.data(), output.data());
  }
  /// Flips a bit of the output's element with that index along every axis but the last.
  void plant_mistake(std::int64_t at) {
    planted = move.out_offset + at * move.axes.back().out;
    output[static_cast<std::size_t>(planted * move.element)] ^= std::byte{0x10};
  }

  Team team{3};
  core::Move move;
  Data data;
  std::vector<std::byte> input, output;
  std::int64_t planted = -1;
};

const char* const examples[] = {
    "transpose u8 67x45",
    "transpose u16 67x45",
    "transpose f32 67x45",
    "permute f64 7x5x6 2,0,1",
    "transpose c128 13x11",
    "copy f32 9x8 in-strides=9,1 out-strides=11,1",
    "copy u16 9x8 in-strides=-8,1",
    "relayout i8 2x50x3x5 NCHW NC/32HW32",
    "relayout u8 2x2x3x5x32 NC/32HW32 NCHW channels=50",
    "repeat u8 5x4 \"h w -> h w c\" c=3",
};

TEST(BenchVerify, WhatIsRightPassesOnTheHost) {
  for (const char* text : examples) {
    Example e(text);
    EXPECT_EQ(indexed_on_host(e.team, e.move, e.data, e.output.data()).count, 0) << text;
    EXPECT_EQ(compared_on_host(e.team, e.move, e.output.data(), e.output.data()).count, 0) << text;
  }
}

TEST(BenchVerify, ASingleWrongElementIsCaughtOnTheHost) {
  for (const char* text : examples) {
    Example e(text);
    const std::vector<std::byte> want = e.output;
    e.plant_mistake(2);
    for (const Mistakes& found : {indexed_on_host(e.team, e.move, e.data, e.output.data()),
                                  compared_on_host(e.team, e.move, want.data(), e.output.data())}) {
      EXPECT_EQ(found.count, 1) << text;
      EXPECT_EQ(found.first, e.planted) << text;
    }
  }
}

TEST(BenchVerify, WrongElementsAreCountedAndTheFirstIsNamed) {
  EXPECT_EQ(to_string({.count = 1, .first = 0}), "1 wrong element, the first at element 0 of the output");
  EXPECT_EQ(to_string({.count = 3, .first = 17}), "3 wrong elements, the first at element 17 of the output");
  EXPECT_EQ(to_string({.count = 2, .of = "sum", .why = "not finite"}), "2 wrong sums: not finite");
}

TEST(BenchVerify, AnUntouchedInputIsNotATranspose) {
  Example e("transpose u8 64x64");
  EXPECT_GT(indexed_on_host(e.team, e.move, e.data, e.input.data()).count, 64 * 64 * 9 / 10);
}

TEST(BenchVerify, EveryDeviceMakesTheSameDataAndJudgesAlike) {
  for (const DeviceInfo& info : devices()) {
    const Device device = Device::open(info.spec());
    const Queue queue = device.queue();
    for (const char* text : examples) {
      SCOPED_TRACE(info.label() + ": " + text);
      Example e(text);
      const Buffer in = device.allocate(e.input.size());
      fill_on_device(device, queue, e.data, in);
      std::vector<std::byte> made(e.input.size());
      queue.read(in, 0, made).wait();
      EXPECT_EQ(made, e.input);

      const Buffer out = device.allocate(e.output.size());
      queue.write(out, 0, e.output).wait();
      EXPECT_EQ(indexed_on_device(device, queue, e.move, e.data, out).count, 0);
      e.plant_mistake(1);
      queue.write(out, 0, e.output).wait();
      EXPECT_EQ(indexed_on_device(device, queue, e.move, e.data, out).count, 1);
    }
  }
}

TEST(BenchVerify, MorePointsThanItemsOfTheLargestGrid) {
  const auto all = devices();
  if (all.empty()) GTEST_SKIP() << "no device";
  const Device device = Device::open(all.front().spec());
  const Queue queue = device.queue();
  Example e("transpose u8 1201x1303");
  const Buffer out = device.allocate(e.output.size());
  e.output.back() ^= std::byte{1};
  e.output.front() ^= std::byte{1};
  queue.write(out, 0, e.output).wait();
  EXPECT_EQ(indexed_on_device(device, queue, e.move, e.data, out).count, 2);
}

TEST(BenchVerify, TheKernelsCompileForCuda) {
  if (device::cuda::installed_nvrtc().found.empty()) GTEST_SKIP() << "INCOMPLETE: no NVRTC on this machine";
  DeviceInfo info;
  info.api = Api::cuda;
  info.compiler = "NVRTC 13.0";
  for (std::int64_t bytes : {1, 2, 4, 8, 16})
    for (const char* architecture : {"sm_80", "sm_90", "sm_100"}) {
      jit::Defines defines;
      defines.set("ELEMENT_BYTES", bytes).set("AXL_PARAMS_SIZE", std::int64_t{464});
      const std::string text = jit::full_text({"bench/verify.kernel", "verify", defines, 256, false}, Api::cuda);
      std::string messages;
      EXPECT_FALSE(
          device::cuda::compile_cuda({"verify", text, jit::build_options(info)}, architecture, &messages).empty())
          << messages;
      EXPECT_EQ(messages.find("warning"), std::string::npos) << messages;
    }
}

TEST(BenchVerify, TheJudgesKernelsCompileForCuda) {
  if (device::cuda::installed_nvrtc().found.empty()) GTEST_SKIP() << "INCOMPLETE: no NVRTC on this machine";
  DeviceInfo info;
  info.api = Api::cuda;
  info.compiler = "NVRTC 13.0";
  jit::Defines numbers;
  numbers.set("FLOATING", 1).set("SIGNED", 0).set("UNUSED", 0).set("SIGN_BIT", 63).set("FRACTION_SHIFT", 0);
  numbers.set("FRACTION_BITS", 52).set("AXL_PARAMS_SIZE", std::int64_t{120});
  for (const char* kernel : {"fold", "thin"}) {
    jit::Defines defines = numbers;
    if (kernel == std::string("fold"))
      defines.set("FOLD", 1).set("COMPONENTS", 2).set("IN_ONE", 0);
    else
      defines.set("NUMBER", "f64");
    const std::string text = jit::full_text({"bench/judge.kernel", kernel, defines, 256, false}, Api::cuda);
    std::string messages;
    EXPECT_FALSE(device::cuda::compile_cuda({kernel, text, jit::build_options(info)}, "sm_90", &messages).empty())
        << messages;
    EXPECT_EQ(messages.find("warning"), std::string::npos) << messages;
  }
}

TEST(BenchVerify, TheArithmeticReferenceCompilesForCuda) {
  if (device::cuda::installed_nvrtc().found.empty()) GTEST_SKIP() << "INCOMPLETE: no NVRTC on this machine";
  DeviceInfo info;
  info.api = Api::cuda;
  info.platform = "NVIDIA CUDA";
  info.compiler = "NVRTC 13.0";
  // How often its instruction is there at least: once for each chain, or for each 16 of 64 k's of a tile.
  struct Expected {
    Dtype dtype;
    const char *architecture, *instruction;
    int times;
  };
  const Expected list[] = {
      {Dtype::f32, "sm_80", "fma.rn.f32", 16},
      {Dtype::f64, "sm_89", "fma.rn.f64", 16},
      {Dtype::i8, "sm_90", "mad.lo.s32", 16},
      {Dtype::u64, "sm_90", "mul.lo.s64", 16},
      {Dtype::c128, "sm_80", "m8n8k4.row.col.f64", 16},
      {Dtype::f64, "sm_90", "m16n8k16.row.col.f64", 8},
      {Dtype::f16, "sm_80", "m16n8k16.row.col.f32.f16", 8},
      {Dtype::bf16, "sm_100", "m16n8k16.row.col.f32.bf16", 8},
      {Dtype::f16, "sm_90", "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16", 4},
      {Dtype::bf16, "sm_90", "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16", 4},
  };
  for (const auto& [dtype, architecture, instruction, times] : list) {
    SCOPED_TRACE(std::string(name(dtype)) + " on " + architecture);
    info.architecture = architecture;
    const jit::Specialisation what = peak_kernel(dtype, info);
    const std::string text = jit::full_text(what, Api::cuda);
    // The text of PTX is what shows instructions; 9.0's own need the a of that architecture.
    std::string virtual_one = std::string("compute_") + (architecture + 3);
    if (virtual_one == "compute_90") virtual_one += "a";
    std::string messages;
    const auto made =
        device::cuda::compile_cuda({what.kernel, text, jit::build_options(info, true)}, virtual_one, &messages);
    ASSERT_FALSE(made.empty()) << messages;
    EXPECT_EQ(messages.find("warning"), std::string::npos) << messages;
    const std::string_view ptx(reinterpret_cast<const char*>(made.data()), made.size());
    int found = 0;
    for (std::size_t at = ptx.find(instruction); at != ptx.npos; at = ptx.find(instruction, at + 1)) ++found;
    EXPECT_GE(found, times);
  }
}

TEST(BenchData, FloatsAreFiniteAndNormal) {
  Team team(2);
  std::vector<std::byte> memory(4096 * 4);
  fill_on_host(team, Data::of(Dtype::f32, 1), memory);
  for (std::size_t i = 0; i < memory.size(); i += 4) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, memory.data() + i, 4);
    EXPECT_TRUE(std::isnormal(std::bit_cast<float>(bits))) << bits;
  }
}

TEST(BenchData, BytesAreSpreadEvenly) {
  Team team(2);
  std::vector<std::byte> memory(1 << 16);
  fill_on_host(team, Data::of(Dtype::u8, 1), memory);
  std::array<int, 256> count{};
  for (std::byte byte : memory) ++count[std::to_integer<std::size_t>(byte)];
  for (int n : count) EXPECT_NEAR(n, 256, 100);
}

TEST(BenchTeam, EveryMemberTakesItsPartOfEveryRound) {
  Team team(4);
  for (int round = 0; round < 200; ++round) {
    std::vector<int> visits(101, 0);
    team.run([&](unsigned member) {
      const auto [begin, end] = team.share(101, member);
      for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
    });
    EXPECT_EQ(visits, std::vector<int>(101, 1));
  }
}

}  // namespace
}  // namespace axisloom::bench
