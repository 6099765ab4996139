// Distributed arrays in C: plans as lists of copies, and exchanges with a communicator of functions, of which one is a
// C program's own and one that of C++.
#include <axisloom/axisloom.h>
#include <axisloom/communicator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <numeric>

#include "c/failure.hpp"
#include "thread_communicator.hpp"

namespace axisloom {
namespace {

constexpr DLDataType int32{kDLInt, 32, 1};

/// A tensor with the lists that it points to.
struct Local {
  std::vector<std::int64_t> shape, strides;
  DLTensor dl{};

  Local(void* data, std::vector<std::int64_t> extents, std::vector<std::int64_t> steps = {})
      : shape(std::move(extents)),
        strides(std::move(steps)),
        dl{data, {kDLCPU, 0}, int(shape.size()), int32, shape.data(), strides.empty() ? nullptr : strides.data(), 0} {}
  Local(const Local&) = delete;
  Local& operator=(const Local&) = delete;
};

std::vector<std::int64_t> extents_of(const axl_shape& shape) {
  return {shape.extents, shape.extents + shape.ndim};
}

/// A plan that is freed.
struct Planned {
  Planned(const char* pattern, const char* mesh, std::vector<std::int64_t> shape) {
    EXPECT_EQ(axl_redistribution_create(pattern, mesh, shape.data(), int(shape.size()), nullptr, 0, &plan), AXL_OK)
        << axl_last_error();
  }
  Planned(const Planned&) = delete;
  Planned& operator=(const Planned&) = delete;
  ~Planned() { axl_redistribution_free(plan); }

  std::vector<std::int64_t> in_shape(int rank) const {
    axl_shape in{};
    EXPECT_EQ(axl_redistribution_shapes(plan, rank, &in, nullptr), AXL_OK) << axl_last_error();
    return extents_of(in);
  }
  std::vector<std::int64_t> out_shape(int rank) const {
    axl_shape out{};
    EXPECT_EQ(axl_redistribution_shapes(plan, rank, nullptr, &out), AXL_OK) << axl_last_error();
    return extents_of(out);
  }

  axl_redistribution* plan = nullptr;
};

/// Does a copy by plain loops.
void carry_out(const axl_copy& copy, const std::int32_t* from, std::int32_t* to, int axis = 0, std::int64_t read = 0,
               std::int64_t written = 0) {
  if (axis == copy.ndim) {
    to[copy.to_offset + written] = from[copy.from_offset + read];
    return;
  }
  for (std::int64_t i = 0; i < copy.extents[axis]; ++i)
    carry_out(copy, from, to, axis + 1, read + i * copy.from_strides[axis], written + i * copy.to_strides[axis]);
}

void carry_out(axl_copies* copies, const std::int32_t* from, std::int32_t* to) {
  for (size_t i = 0; i < axl_copies_count(copies); ++i) {
    axl_copy copy{};
    ASSERT_EQ(axl_copies_get(copies, i, &copy), AXL_OK);
    carry_out(copy, from, to);
  }
  axl_copies_free(copies);
}

/// Of "s@x h -> h@x s" over 4 ranks, 7 x 9: row s, column h has the value 100 s + h.
constexpr const char* pattern = "s@x h -> h@x s";
constexpr std::array<int, 5> rows{0, 2, 4, 6, 7}, columns{0, 3, 6, 9, 9};  // where the parts begin

std::vector<std::int32_t> local_input(int rank) {
  std::vector<std::int32_t> values;
  for (int s = rows[size_t(rank)]; s < rows[size_t(rank) + 1]; ++s)
    for (int h = 0; h < 9; ++h) values.push_back(100 * s + h);
  return values;
}
std::vector<std::int32_t> local_output(int rank) {
  std::vector<std::int32_t> values;
  for (int h = columns[size_t(rank)]; h < columns[size_t(rank) + 1]; ++h)
    for (int s = 0; s < 7; ++s) values.push_back(100 * s + h);
  return values;
}

TEST(CDistributed, PlansShapesTransfersAndLoads) {
  const Planned planned(pattern, "x=4", {7, 9});
  std::int32_t ranks = 0, addends = 0;
  ASSERT_EQ(axl_redistribution_ranks(planned.plan, &ranks), AXL_OK);
  ASSERT_EQ(axl_redistribution_addends(planned.plan, &addends), AXL_OK);
  EXPECT_EQ(ranks, 4);
  EXPECT_EQ(addends, 1);
  EXPECT_EQ(planned.in_shape(AXL_WHOLE), (std::vector<std::int64_t>{7, 9}));
  EXPECT_EQ(planned.out_shape(AXL_WHOLE), (std::vector<std::int64_t>{9, 7}));
  EXPECT_EQ(planned.in_shape(3), (std::vector<std::int64_t>{1, 9}));
  EXPECT_EQ(planned.out_shape(3), (std::vector<std::int64_t>{0, 7}));
  axl_transfers* sends = nullptr;
  ASSERT_EQ(axl_redistribution_sends(planned.plan, 3, &sends), AXL_OK);
  ASSERT_EQ(axl_transfers_count(sends), 3U);
  axl_transfer transfer{};
  ASSERT_EQ(axl_transfers_get(sends, 2, &transfer), AXL_OK);
  EXPECT_EQ(transfer.from, 3);
  EXPECT_EQ(transfer.to, 2);
  EXPECT_EQ(transfer.elements, 3);
  EXPECT_EQ(axl_transfers_get(sends, 3, &transfer), AXL_USAGE);
  axl_transfers_free(sends);
  axl_transfer_load load{};
  ASSERT_EQ(axl_redistribution_load(planned.plan, int32, &load), AXL_OK);
  EXPECT_EQ(load.bytes_sent, 2 * 6 * 4);
  EXPECT_EQ(load.messages_received, 3);
}

TEST(CDistributed, CopiesByWayOfMessagesAndStraight) {
  const Planned planned(pattern, "x=4", {7, 9});
  for (const bool direct : {false, true})
    for (int to = 0; to < 4; ++to) {
      std::vector<std::int32_t> result(local_output(to).size() + 1, -1);
      const Local out(result.data(), planned.out_shape(to));
      axl_transfers* receives = nullptr;
      ASSERT_EQ(axl_redistribution_receives(planned.plan, to, &receives), AXL_OK);
      for (size_t i = 0; i < axl_transfers_count(receives); ++i) {
        axl_transfer transfer{};
        ASSERT_EQ(axl_transfers_get(receives, i, &transfer), AXL_OK);
        // The rows lie backwards in the sender's memory.
        const std::vector<std::int64_t> shape = planned.in_shape(transfer.from);
        std::vector<std::int32_t> sent = local_input(transfer.from), backwards;
        for (std::int64_t row = shape[0]; row-- > 0;)
          backwards.insert(backwards.end(), sent.begin() + row * 9, sent.begin() + (row + 1) * 9);
        const std::int32_t* const first = backwards.data() + (shape[0] - 1) * 9;
        const Local in(nullptr, shape, {-9, 1});
        axl_copies* copies = nullptr;
        if (direct) {
          ASSERT_EQ(axl_transfers_direct(receives, i, &in.dl, &out.dl, &copies), AXL_OK) << axl_last_error();
          carry_out(copies, first, result.data());
          continue;
        }
        std::vector<std::int32_t> message(size_t(transfer.elements) + 5, -1);
        ASSERT_EQ(axl_transfers_pack(receives, i, &in.dl, 5, &copies), AXL_OK) << axl_last_error();
        carry_out(copies, first, message.data());
        ASSERT_EQ(axl_transfers_unpack(receives, i, &out.dl, 5, &copies), AXL_OK) << axl_last_error();
        carry_out(copies, message.data(), result.data());
      }
      axl_transfers_free(receives);
      result.pop_back();
      EXPECT_EQ(result, local_output(to)) << "rank " << to;
    }
}

/// Runs an exchange in C on this rank, into an output of its own or a shared one.
void exchange_in_c(const axl_communicator& ranks, const axl_exchange_options& options, bool shared, const char* path) {
  const Planned planned(pattern, "x=4", {7, 9});
  std::vector<std::int32_t> in = local_input(ranks.rank), result(local_output(ranks.rank).size(), -1);
  const Local from(in.data(), planned.in_shape(ranks.rank)), to(result.data(), planned.out_shape(ranks.rank));
  axl_exchange* exchange = nullptr;
  ASSERT_EQ(axl_exchange_create(planned.plan, &from.dl, nullptr, &ranks, nullptr, &options, &exchange), AXL_OK)
      << axl_last_error();
  axl_exchange_report report{};
  report.size = sizeof report;
  ASSERT_EQ(axl_exchange_report_of(exchange, &report), AXL_OK) << axl_last_error();
  EXPECT_STREQ(report.path, path);
  EXPECT_STRNE(report.reason, "");
  EXPECT_EQ(report.ranks, 4);
  if (shared) {
    axl_shared_output* output = nullptr;
    ASSERT_EQ(axl_exchange_share_output(exchange, &output), AXL_OK) << axl_last_error();
    EXPECT_EQ(axl_exchange_run_shared(exchange, &from.dl, output), AXL_OK) << axl_last_error();
    const auto* const data = static_cast<const std::int32_t*>(axl_shared_output_data(output));
    std::copy_n(data, result.size(), result.begin());
    axl_shared_output_free(output);
  } else {
    EXPECT_EQ(axl_exchange_run(exchange, &from.dl, &to.dl), AXL_OK) << axl_last_error();
  }
  EXPECT_EQ(result, local_output(ranks.rank));
  std::array<std::int32_t, 6> elements{};
  const Local other(elements.data(), {1, 2, 3});
  EXPECT_EQ(axl_exchange_run(exchange, &from.dl, &other.dl), AXL_SHAPE);
  axl_exchange_free(exchange);
}

void on_four_ranks(bool windows, const std::function<void(const axl_communicator& ranks)>& body) {
  for (const std::exception_ptr& thrown :
       test::run_ranks(4, windows, [&](const std::shared_ptr<test::ThreadCommunicator>& rank) {
         const axl_communicator table = table_of(rank);
         body(table);
         table.release(table.context);
       }))
    if (thrown) std::rethrow_exception(thrown);
}

constexpr axl_exchange_options by_default{sizeof(axl_exchange_options), 0, 0};

TEST(CDistributed, ExchangesByWindowsMessagesAndSharedOutputs) {
  on_four_ranks(true, [](const axl_communicator& ranks) { exchange_in_c(ranks, by_default, false, "windows"); });
  on_four_ranks(true, [](const axl_communicator& ranks) { exchange_in_c(ranks, by_default, true, "windows"); });
  on_four_ranks(false, [](const axl_communicator& ranks) { exchange_in_c(ranks, by_default, false, "messages"); });
  on_four_ranks(true, [](const axl_communicator& ranks) {
    exchange_in_c(ranks, {sizeof(axl_exchange_options), 400, 1}, false, "messages");
  });
}

TEST(CDistributed, WithoutFunctionsForSharedMemory) {
  on_four_ranks(true, [](axl_communicator ranks) {
    ranks.share = nullptr, ranks.window = nullptr, ranks.barrier = nullptr, ranks.unshare = nullptr;
    exchange_in_c(ranks, by_default, false, "messages");
  });
}

TEST(CDistributed, SplitsIntoParts) {
  on_four_ranks(true, [](const axl_communicator& ranks) {
    const auto whole = communicator_of(ranks);
    const auto part = whole->split(ranks.rank / 2);
    EXPECT_EQ(part->size(), 2);
    EXPECT_EQ(part->rank(), ranks.rank % 2);
    const auto mine = std::byte(ranks.rank);
    EXPECT_EQ(part->allgather({&mine, 1}).front(), std::byte(ranks.rank / 2 * 2));
  });
}

/// A C program's own engine that fails, and says so.
axl_status failing_allgather(void*, const void*, size_t, void*) {
  return AXL_DEVICE_LOST;
}
const char* failing_error(void* context) {
  return static_cast<const char*>(context);
}

TEST(CDistributed, WhatTheEngineReportsIsToldWithItsStatus) {
  char text[] = "the cable is out";
  axl_communicator ranks =
      table_of(std::make_shared<test::ThreadCommunicator>(std::make_shared<test::ThreadJob>(1, true), 0));
  axl_communicator failing = ranks;
  failing.context = text;
  failing.allgather = failing_allgather;
  failing.error = failing_error;
  const Planned planned("s@x h -> h@x s", "x=1", {7, 9});
  const Local in(nullptr, {7, 9});
  axl_exchange* exchange = nullptr;
  EXPECT_EQ(axl_exchange_create(planned.plan, &in.dl, nullptr, &failing, nullptr, nullptr, &exchange), AXL_DEVICE_LOST);
  EXPECT_NE(std::strstr(axl_last_error(), "the cable is out"), nullptr) << axl_last_error();
  EXPECT_EQ(exchange, nullptr);
  ranks.release(ranks.context);
}

TEST(CDistributed, RefusesWhatIsMissingOrWrong) {
  const std::array<std::int64_t, 2> shape{7, 9};
  axl_redistribution* plan = nullptr;
  EXPECT_EQ(axl_redistribution_create("s@y h -> h@x s", "x=4", shape.data(), 2, nullptr, 0, &plan), AXL_PATTERN);
  EXPECT_EQ(axl_redistribution_create(pattern, "x=0", shape.data(), 2, nullptr, 0, &plan), AXL_USAGE);
  EXPECT_EQ(axl_redistribution_create(pattern, "x=4", shape.data(), 1, nullptr, 0, &plan), AXL_SHAPE);
  EXPECT_EQ(axl_redistribution_create(pattern, "x=4", nullptr, 2, nullptr, 0, &plan), AXL_USAGE);
  EXPECT_EQ(axl_redistribution_create(nullptr, "x=4", shape.data(), 2, nullptr, 0, &plan), AXL_USAGE);
  EXPECT_EQ(axl_redistribution_create(pattern, "x=4", shape.data(), -1, nullptr, 0, &plan), AXL_SHAPE);
  EXPECT_EQ(plan, nullptr);
  const Planned planned(pattern, "x=4", {7, 9});
  axl_transfers* transfers = nullptr;
  EXPECT_EQ(axl_redistribution_sends(planned.plan, 4, &transfers), AXL_USAGE);
  EXPECT_EQ(transfers, nullptr);
  ASSERT_EQ(axl_redistribution_sends(planned.plan, 0, &transfers), AXL_OK);
  const Local wrong(nullptr, {3, 9});
  axl_copies* copies = nullptr;
  EXPECT_EQ(axl_transfers_pack(transfers, 0, &wrong.dl, 0, &copies), AXL_SHAPE);
  EXPECT_EQ(axl_transfers_pack(transfers, 9, &wrong.dl, 0, &copies), AXL_USAGE);
  EXPECT_EQ(axl_transfers_pack(nullptr, 0, &wrong.dl, 0, &copies), AXL_USAGE);
  EXPECT_EQ(copies, nullptr);
  EXPECT_EQ(axl_transfers_count(nullptr), 0U);
  EXPECT_EQ(axl_copies_count(nullptr), 0U);
  axl_transfers_free(transfers);
}

TEST(CDistributed, RefusesTablesThatLackSomething) {
  const axl_communicator whole =
      table_of(std::make_shared<test::ThreadCommunicator>(std::make_shared<test::ThreadJob>(1, true), 0));
  const auto status_of_table = [](const axl_communicator& table) {
    return status_of([&] { static_cast<void>(communicator_of(table)); });
  };
  EXPECT_EQ(status_of_table(whole), AXL_OK);
  const std::array<std::function<void(axl_communicator&)>, 9> changes{
      [](axl_communicator& t) { t.size = 8; },          [](axl_communicator& t) { t.allgather = nullptr; },
      [](axl_communicator& t) { t.start = nullptr; },   [](axl_communicator& t) { t.wait = nullptr; },
      [](axl_communicator& t) { t.drop = nullptr; },    [](axl_communicator& t) { t.split = nullptr; },
      [](axl_communicator& t) { t.barrier = nullptr; }, [](axl_communicator& t) { t.rank = 1; },
      [](axl_communicator& t) { t.ranks = 0; }};
  for (const auto& change : changes) {
    axl_communicator broken = whole;
    change(broken);
    EXPECT_EQ(status_of_table(broken), AXL_USAGE);
  }
  whole.release(whole.context);
}

}  // namespace
}  // namespace axisloom
