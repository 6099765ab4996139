// Every word of the dialect, run on every device of this machine, plain and checked.
#include <cmath>
#include <limits>
#include <numeric>

#include "dialect_support.hpp"

namespace axisloom::dialect_test {
namespace {

struct First {
  i64 first;
};

constexpr unsigned groups = 2;
constexpr i64 work_items = groups * items;

jit::Defines element(const char* type) {
  return jit::Defines().set("ELEMENT", std::string(type));
}

// Bits, not values: a NaN is equal to itself here.
template <class T>
bool same_bits(const T& x, const T& y) {
  return std::memcmp(&x, &y, sizeof(T)) == 0;
}

constexpr i64 section = 2048;
constexpr i64 pad = 64;
struct Width {
  i64 lanes, room;
};
constexpr Width widths[] = {{1, 1}, {2, 2}, {3, 4}, {4, 4}, {8, 8}, {16, 16}};

template <class T>
void check_widths(device::Device& device, Prelude prelude, const char* type) {
  auto a = noise<T>(18 * section + 2 * pad, 1);
  auto b = noise<T>(18 * section + 2 * pad, 2);
  const auto untouched = b;
  // Offset and first index cancel to `pad`; both are multiples of the widest packet.
  KernelRun(device, "access", "widths", prelude, element(type))
      .buffer(a, 5 * pad)
      .buffer(b, 5 * pad)
      .launch(First{-4 * pad}, groups);
  i64 wrong = 0;
  for (i64 width = 0; width < 6; ++width) {
    const auto [lanes, room] = widths[width];
    for (i64 way = 0; way < 3; ++way) {
      const i64 start = pad + (3 * width + way) * section;
      const i64 to = way == 1 ? 1 : 0, from = way == 1 ? 3 : 0;
      for (i64 k = 0; k < work_items * room; ++k) {
        const bool moved = k % room < lanes;
        if (!moved && way != 1) continue;
        wrong += !same_bits(b[start + to + k], moved ? a[start + from + k] : untouched[start + to + k]);
      }
    }
  }
  EXPECT_EQ(wrong, 0) << type;
}

TEST(DialectWords, PacketsOfEveryTypeMoveAlignedLooseAndStreamed) {
  on_every_device([](device::Device& device, Prelude prelude) {
    check_widths<u16>(device, prelude, "u16");
    check_widths<float>(device, prelude, "f32");
    if (prelude == Prelude::checked) return;  // compiles slowly, and the hooks do not depend on the type
    check_widths<std::int8_t>(device, prelude, "i8");
    check_widths<std::uint8_t>(device, prelude, "u8");
    check_widths<std::int16_t>(device, prelude, "i16");
    check_widths<std::int32_t>(device, prelude, "i32");
    check_widths<u32>(device, prelude, "u32");
    check_widths<i64>(device, prelude, "i64");
    check_widths<u64>(device, prelude, "u64");
    if (device.info().f64) check_widths<double>(device, prelude, "f64");
  });
}

TEST(DialectWords, ElementsMoveThroughNestedHelpers) {
  on_every_device([](device::Device& device, Prelude prelude) {
    auto a = noise<u16>(section + 100);
    std::vector<u16> b(section + 100, 0);
    KernelRun(device, "access", "elements", prelude, element("u16"))
        .buffer(a, 70)
        .buffer(b, 40)
        .launch(First{-30}, groups);
    EXPECT_TRUE(std::equal(b.begin() + 10, b.begin() + 10 + section, a.begin() + 40));
    EXPECT_EQ(b[9], 0);
    EXPECT_EQ(b[10 + section], 0);
  });
}

TEST(DialectWords, BytesMoveAsWiderPacketsAndParametersArriveWhole) {
  struct Params {
    i64 first;
    u64 stride[2];
    float scale;
    u32 bits;
  };
  const Params params = {-16, {64, 192}, 1.5f, 0x1234u};
  on_every_device([&](device::Device& device, Prelude prelude) {
    auto a = noise<std::uint8_t>(192 * work_items + 64, 1);
    std::vector<std::uint8_t> b(a.size(), 0);
    auto c = noise<u16>(2 * work_items, 3);
    auto expected = b;
    auto swapped = c;
    for (i64 k = 0; k < work_items; ++k) {
      const i64 at = k * static_cast<i64>(params.stride[k & 1]);
      std::copy_n(a.begin() + at, 32, expected.begin() + at);
      std::copy_n(a.begin() + at + 35, 16, expected.begin() + at + 33);
      swapped[2 * k] = static_cast<u16>(c[2 * k + 1] + 3);
      swapped[2 * k + 1] = static_cast<u16>(c[2 * k] ^ 0x1234u);
    }
    KernelRun(device, "mixed", "mixed", prelude).buffer(a, 16).buffer(b, 16).buffer(c).launch(params, groups);
    EXPECT_EQ(b, expected);
    EXPECT_EQ(c, swapped);
  });
}

TEST(DialectWords, ABufferIsPassedAsOneOfWiderElements) {
  struct Params {
    i64 first;
    u64 unused[2];
    float unused_scale;
    u32 bits;
  };
  on_every_device([&](device::Device& device, Prelude prelude) {
    std::vector<u32> b(work_items + 20, 7), expected = b;
    for (u32 k = 0; k < work_items; ++k) expected[k + 20] = k % 3 == 0 ? 0x12345678u : k;
    KernelRun(device, "mixed", "passed_as_words", prelude)
        .buffer(b, 30)
        .launch(Params{-10, {}, 0, 0x12345678u}, groups);
    EXPECT_EQ(b, expected);
  });
}

template <class T>
void append_components(std::vector<u64>& expected, u64 base) {
  for (u64 k = 0; k < 33; ++k) {
    const T value = static_cast<T>(base + k + (k == 1 || k == 32 ? 1 : 0));
    expected.push_back(static_cast<u64>(static_cast<i64>(value)));
  }
}

TEST(DialectWords, ComponentsOfPacketsOfEveryType) {
  const u64 base = 90;
  on_every_device([&](device::Device& device, Prelude prelude) {
    if (prelude == Prelude::checked) return;  // no access that the other tests lack
    std::vector<u64> expected;
    append_components<std::int8_t>(expected, base);
    append_components<std::uint8_t>(expected, base);
    append_components<std::int16_t>(expected, base);
    append_components<u16>(expected, base);
    append_components<std::int32_t>(expected, base);
    append_components<u32>(expected, base);
    append_components<i64>(expected, base);
    append_components<u64>(expected, base);
    append_components<float>(expected, base);
    if (device.info().f64) append_components<double>(expected, base);
    std::vector<u64> b(expected.size());
    KernelRun(device, "packets", "packets", prelude).buffer(b).launch(base, 1);
    EXPECT_EQ(b, expected);
    std::vector<u64> sizes(8);
    KernelRun(device, "packets", "sizes", prelude).buffer(sizes).launch(base, 1);
    EXPECT_EQ(sizes, (std::vector<u64>{base, 8, 16, 16, 32, 64, 4, 32}));
  });
}

struct LocalParams {
  i64 first, stride;
};

TEST(DialectWords, LocalMemoryTurnsAGroup) {
  on_every_device([](device::Device& device, Prelude prelude) {
    constexpr i64 count = 4 * items;
    auto a = noise<u32>(groups * count);
    std::vector<u32> b(a.size());
    KernelRun(device, "local", "turned", prelude, element("u32").set("ELEMENT_BYTES", 4))
        .buffer(a)
        .buffer(b)
        .launch(LocalParams{0, 0}, groups, count * 8);
    for (i64 k = 0; k < groups * count; ++k) {
      const i64 mirror = k / count * count + count - 1 - k % count;
      ASSERT_EQ(b[k], a[mirror] ^ a[k]) << k;
    }
  });
}

template <class T>
void check_fetch(device::Device& device, Prelude prelude, const char* type, i64 first) {
  constexpr i64 count = 4 * items, stride = 3;
  auto a = noise<T>(count * stride + 32);
  std::vector<T> b(groups * 2 * count);
  KernelRun(device, "local", "fetched", prelude, element(type).set("ELEMENT_BYTES", sizeof(T)))
      .buffer(a)
      .buffer(b)
      .launch(LocalParams{first, stride}, groups, 2 * count * sizeof(T));
  for (i64 k = 0; k < groups * 2 * count; ++k) {
    const i64 source = count - 1 - k % count;
    const T expected = a[first + source * (k / count % 2 == 0 ? 1 : stride)];
    ASSERT_EQ(b[k], expected) << type << " from " << first << " at " << k;
  }
}

TEST(DialectWords, AsyncCopiesOfEveryAlignment) {
  on_every_device([](device::Device& device, Prelude prelude) {
    for (const i64 first : {0, 1, 2, 4}) {
      check_fetch<std::uint8_t>(device, prelude, "u8", first);
      check_fetch<u16>(device, prelude, "u16", first);
    }
    check_fetch<u32>(device, prelude, "u32", 1);
    check_fetch<u32>(device, prelude, "u32", 2);
    check_fetch<u64>(device, prelude, "u64", 1);
  });
}

TEST(DialectWords, SumsFollowIeee) {
  struct Params {
    i64 count;
    float addend;
  };
  const Params params = {1 << 24, 0.1f};
  float expected = 0.0f;
  for (i64 k = 0; k < params.count; ++k) expected += params.addend;
  on_every_device([&](device::Device& device, Prelude prelude) {
    const float wide = 1.0f + 0x1p-12f;
    std::vector<float> a = {std::numeric_limits<float>::infinity(), 1, 2, wide, wide, 1.0f + 0x1p-11f, 1, 1e8f};
    std::vector<float> b(4, -1.0f);
    KernelRun(device, "ieee", "running_sum", prelude).buffer(a).buffer(b).launch(params, 1);
    EXPECT_EQ(b[0], expected);
    EXPECT_EQ(b[1], std::numeric_limits<float>::infinity());
    EXPECT_EQ(b[2], 0.0f) << "the product was fused into the difference";
    EXPECT_EQ(b[3], 0.0f) << "the sum was reordered";
  });
}

struct OrderParams {
  u64 salt;
  i64 launch;
};

template <class T>
void check_order(device::Device& device, Prelude prelude, const char* type, i64 launches) {
  constexpr unsigned many = 257;
  constexpr int shift = sizeof(T) == 8 ? 33 : 3;  // into the upper half of a slot of 64 bits
  std::vector<OrderParams> each;
  for (i64 k = 0; k < launches; ++k) each.push_back({static_cast<u64>(k + 1) << shift, k});
  std::vector<u32> counter(3, 0);
  std::vector<T> partials(many + 1), totals(launches);
  KernelRun(device, "order", "last_group_sums", prelude, jit::Defines().set("SLOT_TYPE", std::string(type)))
      .buffer(partials, 1)
      .buffer(counter, 2)
      .buffer(totals)
      .launch_each(each, many, items * 8 + 4);
  for (const auto& [salt, launch] : each) {
    ASSERT_EQ(totals[static_cast<std::size_t>(launch)], static_cast<T>(many * salt + many * (many - 1) / 2))
        << type << ", launch " << launch;
  }
  EXPECT_EQ(counter[2], 0u) << "the counter was not armed again";
}

TEST(DialectWords, TheLastGroupCollectsWhatAllPublished) {
  on_every_device([](device::Device& device, Prelude prelude) {
    if (!device.info().device_scope_order) return;
    check_order<u32>(device, prelude, "u32", 3);
    check_order<u64>(device, prelude, "u64", 3);
    check_order<float>(device, prelude, "f32", 3);
    if (device.info().f64) check_order<double>(device, prelude, "f64", 3);
  });
}

TEST(DialectWords, OrderHoldsOverManyLaunches) {
  for (const auto& device : every_device()) {
    const DeviceInfo& info = device->info();
    SCOPED_TRACE(info.label());
    // A GPU, where groups truly overlap and caches are apart, takes a second for these; a CPU would take minutes.
    if (info.device_scope_order)
      check_order<u64>(*device, Prelude::plain, "u64", info.kind == Kind::gpu ? 100000 : 2000);
  }
}

TEST(DialectWords, TicketsDoNotCompileWithoutDeviceScope) {
  for (const auto& device : every_device()) {
    if (device->info().device_scope_order) continue;
    EXPECT_THROW(check_order<u32>(*device, Prelude::plain, "u32", 1), Error) << device->info().label();
  }
}

TEST(DialectWords, AStoreIntoAnInputDoesNotCompile) {
  on_every_device([](device::Device& device, Prelude prelude) {
    for (int way = 0; way <= 4; ++way) {
      std::vector<u32> a = {5}, b = {0};
      KernelRun run(device, "refused", "refused", prelude, jit::Defines().set("WAY", way));
      run.buffer(a).buffer(b);
      if (way == 0) {
        run.launch(First{0}, 1);
        EXPECT_EQ(b, a);
      } else {
        EXPECT_THROW(run.launch(First{0}, 1), Error) << "way " << way;
      }
    }
  });
}

TEST(DialectWords, AWrongSizeOfParametersDoesNotCompile) {
  for (const auto& device : every_device()) {
    auto a = noise<u16>(4);
    KernelRun run(*device, "access", "elements", Prelude::plain, element("u16"));
    run.buffer(a).buffer(a);
    EXPECT_THROW(run.launch(LocalParams{0, 0}, 1), Error) << device->info().label();
  }
}

}  // namespace
}  // namespace axisloom::dialect_test
