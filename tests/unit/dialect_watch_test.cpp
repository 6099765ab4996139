// CHECKED catches every planted fault and keeps it harmless; TRACE records every access.
#include <algorithm>
#include <array>

#include "dialect_support.hpp"

namespace axisloom::dialect_test {
namespace {

struct FaultParams {
  i64 item;
};

constexpr u32 stores = 1, local = 2, misaligned = 4;  // AXL_STORE, AXL_LOCAL, AXL_MISALIGNED
constexpr i64 length = items;
constexpr std::size_t local_bytes = items * 8;

struct Fault {
  int number;
  const char* what;
  i64 index;
  i64 length;
  u32 bytes;
  u32 kind;
};

constexpr Fault faults[] = {
    {1, "load past the end", length, length, 4, 0},
    {2, "store before the start", -1, length, 4, stores},
    {3, "misaligned packet", 2, length, 16, stores | misaligned},
    {4, "store past the end in a helper", length, length, 4, stores},
    {5, "overrun of a part", items, items, 4, stores | local},
    {6, "local store before a part, in a helper", -1, items, 4, stores | local},
    {7, "misaligned local packet", 1, items, 16, stores | local | misaligned},
    {8, "overrun of the block", items, items, 4, stores | local},
    {9, "loose packet over the end", length - 3, length, 16, stores},
    {10, "stream past the end", length, length, 8, stores},
    {11, "index beyond 32 bits", i64{1} << 40, length, 4, stores},
};

class FaultRun {
 public:
  FaultRun(device::Device& device, int fault, Prelude prelude)
      : run(device, "faults", "faults", prelude, jit::Defines().set("FAULT", fault)), a(noise<u32>(3 * length)) {
    b.assign(3 * length, 0xabcdu);
    run.expect_violation = fault != 0;
    run.buffer(a, 0, length).buffer(b, 0, length);
  }

  void launch() { run.launch(FaultParams{faulty_item}, 1, local_bytes); }

  /// The correct part of the work, and what lies behind the buffer's end.
  void expect_unharmed() const {
    for (i64 k = 0; k < 3 * length; ++k) ASSERT_EQ(b[k], k < length ? a[k] + 1 : 0xabcdu) << k;
  }

  static constexpr u32 faulty_item = 9;
  KernelRun run;
  std::vector<u32> a, b;
};

i64 joined(u32 low, u32 high) {
  return static_cast<i64>(static_cast<u64>(high) << 32 | low);
}

TEST(DialectChecked, CatchesEveryPlantedFaultAndKeepsItHarmless) {
  for (const auto& device : every_device()) {
    for (const Fault& fault : faults) {
      SCOPED_TRACE(device->info().label() + ", " + fault.what);
      FaultRun run(*device, fault.number, Prelude::checked);
      run.launch();
      const std::vector<u32>& log = run.run.log;
      EXPECT_EQ(log[0], 1u);
      EXPECT_GT(log[1] >> 12, 0u) << "no line";
      EXPECT_EQ(log[2], FaultRun::faulty_item);
      EXPECT_EQ(log[3], 0u);
      EXPECT_EQ(joined(log[4], log[5]), fault.index);
      EXPECT_EQ(joined(log[6], log[7]), fault.length);
      EXPECT_EQ(log[8], fault.bytes);
      EXPECT_EQ(log[9], fault.kind);
      run.expect_unharmed();
    }
  }
}

TEST(DialectChecked, FindsNothingInCorrectWork) {
  for (const auto& device : every_device()) {
    FaultRun run(*device, 0, Prelude::checked);
    run.launch();
    EXPECT_EQ(run.run.log[0], 0u);
    run.expect_unharmed();
  }
}

// One traced access, without its site.
struct Record {
  u32 item, ordinal;
  i64 address;
  u32 bytes, kind;

  auto operator<=>(const Record&) const = default;
};

constexpr u32 trace_local = 0xffffffffu;  // AXL_TRACE_LOCAL

std::vector<Record> expected_records() {
  std::vector<Record> records;
  for (u32 k = 0; k < items; ++k) {
    const i64 straight = 4 * k, other = 4 * (items + k);
    records.insert(records.end(), {{k, 0, straight, 4, 0},
                                   {k, 1, straight, 4, stores},
                                   {k, trace_local, straight, 4, local},
                                   {k, trace_local, straight, 4, local | stores},
                                   {k, trace_local, other, 4, local},
                                   {k, trace_local, other, 4, local | stores}});
  }
  std::ranges::sort(records);
  return records;
}

TEST(DialectTrace, RecordsEveryAccessOnce) {
  for (const auto& device : every_device()) {
    SCOPED_TRACE(device->info().label());
    FaultRun run(*device, 0, Prelude::traced);
    std::vector<u32>& log = run.run.log;
    log[1] = static_cast<u32>(log.size() / 8 - 1);
    run.launch();
    run.expect_unharmed();
    const auto expected = expected_records();
    ASSERT_EQ(log[0], expected.size());
    std::vector<Record> records;
    for (u32 k = 0; k < log[0]; ++k) {
      const u32* r = &log[8 + 8 * k];
      EXPECT_EQ(r[2], 0u);
      records.push_back({r[1], r[3], joined(r[4], r[5]), r[6], r[7]});
    }
    std::ranges::sort(records);
    EXPECT_EQ(records, expected);
  }
}

TEST(DialectTrace, StopsAtItsCapacity) {
  for (const auto& device : every_device()) {
    SCOPED_TRACE(device->info().label());
    FaultRun run(*device, 0, Prelude::traced);
    std::vector<u32>& log = run.run.log;
    constexpr u32 capacity = 10;
    log[1] = capacity;
    std::fill(log.begin() + 8, log.end(), 0x5a5a5a5au);
    run.launch();
    run.expect_unharmed();
    EXPECT_EQ(log[0], 6 * items);
    EXPECT_NE(log[8 + 8 * (capacity - 1)], 0x5a5a5a5au);
    EXPECT_TRUE(std::all_of(log.begin() + 8 + 8 * capacity, log.end(), [](u32 word) { return word == 0x5a5a5a5au; }));
  }
}

}  // namespace
}  // namespace axisloom::dialect_test
