// The kernel "tma" and its tensor maps on a host that plays the tensor memory accelerator: what needs a card to run is
// executed here, text and maps alike, and compared with the oracle.
#include "ops_support.hpp"

#include <gtest/gtest.h>

#include "emulated/tensor_intrinsics.h"

#include "emulated/launches.h"
#include "emulated/random_problems.h"

// One kernel for each size of elements, with the constants that its candidate chooses.
#define RANK 4
#define INDEX_BITS 32
#define AXIS_I 2
#define AXIS_O 3
#define GROUP 64
// Tails are refused.
#define TAIL_NONE 0
#define TAIL_FILL 1
#define TAIL_SKIP 2
#define TAIL TAIL_NONE
#define TAIL_OUTER 0
#define TAIL_INNER (-1)

#define ELEMENT_BYTES 1
#define TILE_I 128
#define TILE_O 128
#define VECTOR_I 16
#define ROWS 4
namespace axisloom::emulated::bytes_1 {
#include "ops/lessons/tma.kernel"
}
#include "emulated/forget.h"

#define ELEMENT_BYTES 2
#define TILE_I 128
#define TILE_O 128
#define VECTOR_I 8
#define ROWS 4
namespace axisloom::emulated::bytes_2 {
#include "ops/lessons/tma.kernel"
}
#include "emulated/forget.h"

#define ELEMENT_BYTES 4
#define TILE_I 64
#define TILE_O 64
#define VECTOR_I 4
#define ROWS 4
namespace axisloom::emulated::bytes_4 {
#include "ops/lessons/tma.kernel"
}
#include "emulated/forget.h"

#define ELEMENT_BYTES 8
#define TILE_I 64
#define TILE_O 64
#define VECTOR_I 2
#define ROWS 2
namespace axisloom::emulated::bytes_8 {
#include "ops/lessons/tma.kernel"
}
#include "emulated/forget.h"

#define ELEMENT_BYTES 16
#define TILE_I 32
#define TILE_O 32
#define VECTOR_I 1
#define ROWS 1
namespace axisloom::emulated::bytes_16 {
#include "ops/lessons/tma.kernel"
}

#undef GROUP

namespace axisloom::ops_test {
namespace {

constexpr unsigned items = 64;

template <class Params>
using Kernel = void (*)(const emulated::tensor_map&, const emulated::tensor_map&, const Params&);

/// The constants above are the candidate's.
void expect_constants(const Launch& launch, int element, int tile, int vector, int rows) {
  const std::string text = launch.kernel.defines.text();
  const auto expect = [&](const std::string& name, int value) {
    EXPECT_NE(text.find("#define " + name + " " + std::to_string(value) + "\n"), std::string::npos) << name << text;
  };
  expect("ELEMENT_BYTES", element);
  expect("TILE_I", tile);
  expect("TILE_O", tile);
  expect("VECTOR_I", vector);
  expect("ROWS", rows);
  expect("RANK", 4);
  expect("INDEX_BITS", 32);
  expect("AXIS_I", 2);
  expect("AXIS_O", 3);
}

template <class Params>
void run(Kernel<Params> kernel, const Launch& launch, std::byte* in, std::byte* out) {
  Params params;
  ASSERT_EQ(launch.params.size(), sizeof params);
  std::memcpy(&params, launch.params.data(), sizeof params);
  const auto tensor = [&](std::size_t i, std::byte* buffer) {
    emulated::tensor_map tensor{*launch.buffers[i].map, buffer};
    tensor.map.begin = static_cast<std::size_t>(launch.buffers[i].offset * launch.buffers[i].element);
    return tensor;
  };
  const emulated::tensor_map a = tensor(0, in), b = tensor(1, out);
  emulated::run_groups(
      launch, items, 3 * 128, [](unsigned) {}, [&] { kernel(a, b, params); });
}

void run(const Launch& launch, std::int64_t element, std::byte* in, std::byte* out) {
  switch (element) {
    case 1:
      expect_constants(launch, 1, 128, 16, 4);
      return run<emulated::bytes_1::MoveParams>(emulated::bytes_1::tma, launch, in, out);
    case 2:
      expect_constants(launch, 2, 128, 8, 4);
      return run<emulated::bytes_2::MoveParams>(emulated::bytes_2::tma, launch, in, out);
    case 4:
      expect_constants(launch, 4, 64, 4, 4);
      return run<emulated::bytes_4::MoveParams>(emulated::bytes_4::tma, launch, in, out);
    case 8:
      expect_constants(launch, 8, 64, 2, 2);
      return run<emulated::bytes_8::MoveParams>(emulated::bytes_8::tma, launch, in, out);
    default:
      expect_constants(launch, 16, 32, 1, 1);
      return run<emulated::bytes_16::MoveParams>(emulated::bytes_16::tma, launch, in, out);
  }
}

/// A view whose rows begin at multiples of 16 bytes, and so does its first element.
View spaced(Dtype dtype, const Dims& shape) {
  const auto element = static_cast<std::int64_t>(size_of(dtype));
  View view = View::contiguous(dtype, shape);
  std::int64_t stride = (shape.back() * element + 31) / 16 * 16 / element;
  for (int d = view.rank() - 2; d >= 0; --d) {
    view.strides[d] = stride;
    stride *= shape[d];
  }
  view.offset = 48 / element;
  return view;
}

TEST(TmaEmulated, TilesOfEverySizeLandWhereTheyShould) {
  const ops::MoveCandidate& tma = candidate_named("tma");
  Configuration values = default_values(tma.info);
  values["items"] = items;
  for (const Dtype dtype : {Dtype::u8, Dtype::u16, Dtype::f32, Dtype::f64, Dtype::c128}) {
    for (const Dims& shape : {Dims{1, 130}, Dims{80, 45}, Dims{64, 256}, Dims{3, 48, 129}}) {
      SCOPED_TRACE(std::string(name(dtype)) + " " + to_string(shape));
      Dims turned = shape;
      std::swap(turned[turned.size() - 1], turned[turned.size() - 2]);
      const std::vector<View> views{spaced(dtype, shape), spaced(dtype, turned)};
      const ops::MoveProblem problem = problem_of(transpose(), views);
      const std::string refusal = refusal_of(tma, problem, values, gpu_info());
      if (shape[0] == 1) {
        EXPECT_EQ(refusal.find("no two different axes"), 0u) << refusal;
        continue;
      }
      ASSERT_EQ(refusal, "");
      Bytes in = random_bytes(buffer_bytes(views[0]), 1);
      const Bytes before = random_bytes(buffer_bytes(views[1]), 2);
      Bytes out = before;
      run(launch_of(tma, problem, values, gpu_info()), problem.move.element, in.data(), out.data());
      EXPECT_EQ(out, after_oracle(transpose(), views, in, before));
    }
  }
}

/// Rows of any multiple of 16 bytes, further apart than they are long, of up to three axes.
View random_view(emulated::RandomProblems& random, Dtype dtype, const Dims& shape) {
  const auto element = static_cast<std::int64_t>(size_of(dtype));
  View view = View::contiguous(dtype, shape);
  std::int64_t stride = (shape.back() * element + 15) / 16 * 16 / element + 16 * random.between(0, 2) / element;
  for (int d = view.rank() - 2; d >= 0; --d) {
    view.strides[d] = stride;
    stride *= shape[d] + (d == view.rank() - 2 ? random.between(0, 2) : 0);
  }
  view.offset = 16 * random.between(0, 5) / element;
  return view;
}

TEST(TmaEmulated, RandomProblems) {
  emulated::RandomProblems random("tma", 40);
  const ops::MoveCandidate& tma = candidate_named("tma");
  Configuration values = default_values(tma.info);
  values["items"] = items;
  int ran = 0;
  for (int drawn = 0; ran < random.count() && drawn < 100 * random.count(); ++drawn) {
    const Dtype dtype = random.one_of({Dtype::u8, Dtype::u16, Dtype::f32, Dtype::f64, Dtype::c128});
    const auto packet = static_cast<int>(std::max<std::size_t>(1, 16 / size_of(dtype)));
    // The accelerator writes whole packets at the end of the output's rows, which are as long as the input has rows.
    Dims shape{packet * random.between(1, 200 / packet), random.between(2, 200)};
    if (random.percent(40)) shape = Dims{random.between(2, 4), shape[0], shape[1]};
    Dims turned = shape;
    std::swap(turned[turned.size() - 1], turned[turned.size() - 2]);
    const std::vector<View> views{random_view(random, dtype, shape), random_view(random, dtype, turned)};
    const ops::MoveProblem problem = problem_of(transpose(), views);
    if (!refusal_of(tma, problem, values, gpu_info()).empty()) continue;
    const Launch launch = launch_of(tma, problem, values, gpu_info());
    const emulated::Constants constants = emulated::constants_of(launch);
    if (constants.at("RANK") != 4 || constants.at("AXIS_I") != 2 || constants.at("AXIS_O") != 3) continue;
    SCOPED_TRACE(random.text() + " " + to_string(views[0]) + " to " + to_string(views[1]));
    Bytes in = random_bytes(buffer_bytes(views[0]), static_cast<unsigned>(drawn));
    const Bytes before = random_bytes(buffer_bytes(views[1]), static_cast<unsigned>(drawn + 1));
    Bytes out = before;
    run(launch, problem.move.element, in.data(), out.data());
    ++ran;
    ASSERT_EQ(out, after_oracle(transpose(), views, in, before));
  }
  EXPECT_EQ(ran, random.count());
}

}  // namespace
}  // namespace axisloom::ops_test
