// Views that no array should have, handed to every operation: each ends in a typed error, or in a right result.
#include "limited_device.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace axisloom::ops_test {
namespace {

constexpr std::int64_t most_i64 = std::numeric_limits<std::int64_t>::max(),
                       least_i64 = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t near_root = 3037000500;  // its square is just beyond 2^63

struct Hostile {
  const char* what;
  Dims shape, strides;
  std::int64_t offset = 0, align = 256;
  bool endless = false;  // few bytes and so many elements that a reduction of them would never end
};

std::vector<Hostile> hostile_views() {
  return {
      {"more elements than can be counted", {near_root, near_root}, {0, 0}},
      {"the most that can be counted", {most_i64}, {0}},
      {"the most, side by side", {most_i64}, {1}},
      {"more bytes than are allowed", {1 << 25, 1 << 25}, {1 << 25, 1}},
      {"as many bytes as are allowed", {1 << 20, 1 << 26}, {1 << 26, 1}},
      {"as many bytes as are allowed, all the same", {1 << 20, 1 << 26}, {0, 0}, 0, 256, true},
      {"a negative extent", {-1, 3}, {3, 1}},
      {"the least extent", {least_i64}, {1}},
      {"a negative extent and none", {0, -5}, {1, 1}},
      {"a stride that leads beyond 2^63", {3, 2}, {most_i64, 1}},
      {"two strides that do together", {2, 2}, {most_i64, most_i64}},
      {"the least stride", {2, 3}, {least_i64, 1}},
      {"the least stride, from the last offset", {2}, {least_i64}, most_i64},
      {"the largest offset", {2, 3}, {3, 1}, most_i64},
      {"the least offset", {2, 3}, {3, 1}, least_i64},
      {"an offset just below", {2, 3}, {-3, 1}, 2},
      {"the largest offset of nothing", {0, 3}, {3, 1}, most_i64},
      {"nothing beside more than can be counted", {0, near_root, near_root}, {0, 0, 0}},
      {"nothing, the longest", {most_i64, 0}, {most_i64, most_i64}},
      {"nothing, by the least strides", {3, 0}, {least_i64, least_i64}},
      {"sixteen axes, the longest ones last", Dims::filled(16, 1 << 4), Dims::filled(16, 1)},
      {"fewer strides than extents", {2, 3}, {1}},
      {"more strides than extents", {2}, {1, 1}},
      {"no alignment", {2, 3}, {3, 1}, 0, 0},
      {"an alignment that is no power of two", {2, 3}, {3, 1}, 0, 24},
      {"a negative alignment", {2, 3}, {3, 1}, 0, least_i64},
      {"the largest alignment", {2, 3}, {3, 1}, 0, std::int64_t{1} << 62},
      {"blocks of channels without end", {1, most_i64 / 2, 1, 1}, {0, 0, 0, 0}},
      {"no pixels, and channels without end", {0, most_i64, 2, 3}, {1, most_i64, 1, 1}},
      {"no pixels, and blocks without end", {0, most_i64, 2, 3, 4}, {1, 1, 1, 1, most_i64}},
  };
}

/// What arrays may have though it looks odd; few elements.
std::vector<Hostile> odd_views() {
  return {
      {"axes of 1 with any stride", {1, 3}, {least_i64, 1}},
      {"axes of 1 with any stride behind", {3, 1}, {1, most_i64}},
      {"windows that slide over each other", {3, 4}, {1, 1}},
      {"backwards", {3, 4}, {-4, -1}, 11},
      {"nothing, by any strides", {0, 4}, {most_i64, least_i64}},
      {"nothing left to reduce", {4, 0}, {least_i64, most_i64}},
  };
}

View view_from(const Hostile& hostile, Dtype dtype) {
  View view;
  view.dtype = dtype;
  view.shape = hostile.shape;
  view.strides = hostile.strides;
  view.offset = hostile.offset;
  view.align = hostile.align;
  return view;
}

struct Asked {
  Operation op;
  std::size_t inputs = 1;
};

/// Every operation, on arrays of so many axes; the reductions over all of them, and over the first.
std::vector<Asked> operations_on(int rank) {
  std::string names, turned, axes;
  for (int i = 0; i < rank; ++i) {
    names += " a" + std::to_string(i);
    turned = " a" + std::to_string(i) + turned;
    axes = std::to_string(i) + (i == 0 ? "" : ",") + axes;
  }
  const std::string first = rank == 0 ? "" : " a0";
  std::vector<Asked> all{{copy()},
                         {{"permute", {axes}}},
                         {rearrange(names + " ->" + turned)},
                         {rearrange(names + " -> (" + turned + " )")},
                         {repeat(names + " -> z" + names, {{"z", 2}})},
                         {reduce("sum", names + " ->" + first)},
                         {einsum(names + " ->" + first)},
                         {einsum(names + " ->" + turned, {{"alpha", "2"}})},
                         {einsum(names + "," + names + " ->" + first), 2},
                         {einsum(names + "," + names + " ->" + turned), 2},
                         {transpose()},
                         {relayout("NCHW", "NHWC")},
                         {relayout("NCHW", "NC/4HW4")},
                         {relayout("NC/4HW4", "NCHW")},
                         {relayout("NC/4HW4", "NC/32HW32")},
                         {matmul(), 2},
                         {dot(), 2}};
  for (const ops::OpEntry& entry : ops::registry())
    if (std::any_of(entry.options.begin(), entry.options.end(), [](const auto& o) { return o.name == "axes"; })) {
      all.push_back({reduction(entry.name)});
      all.push_back({reduction(entry.name, {{"axes", "0"}, {"keepdims", ""}})});
    }
  return all;
}

/// Runs what is refused by an error of ours; says whether it was not.
template <class Body>
bool accepted(const std::string& what, const Body& body) {
  try {
    body();
    return true;
  } catch (const Error& error) {
    EXPECT_FALSE(error.parts().message.empty()) << what;
  } catch (const std::exception& error) {
    ADD_FAILURE() << what << " ends in " << error.what();
  }
  return false;
}

class HostileViews : public ::testing::Test {
  NoDiskCache memory_only_;
};

TEST_F(HostileViews, AreRefusedOrPlannedByEveryOperation) {
  const Device cpu(std::make_shared<PretendedDevice>(cpu_info())), gpu(std::make_shared<PretendedDevice>(gpu_info()));
  std::set<std::string> asked;
  for (const Hostile& hostile : hostile_views())
    for (const Asked& asks : operations_on(hostile.shape.size()))
      for (const Dtype dtype : {Dtype::u8, Dtype::c128, static_cast<Dtype>(200)}) {
        const std::vector<View> views(asks.inputs, view_from(hostile, dtype));
        const std::string what = to_string(asks.op) + " of " + hostile.what + ", " + to_string(views[0]);
        asked.insert(asks.op.name);
        const bool possible = accepted(what, [&] { result_view(asks.op, views); });
        for (const Device& device : {cpu, gpu}) {
          const bool planned = accepted(what, [&] { plan(asks.op, views, device); });
          EXPECT_TRUE(possible || !planned) << what;
        }
      }
  for (const ops::OpEntry& entry : ops::registry()) EXPECT_TRUE(asked.contains(std::string(entry.name))) << entry.name;
}

TEST_F(HostileViews, AreRefusedAsOutputs) {
  const Device cpu(std::make_shared<PretendedDevice>(cpu_info()));
  const View in = View::contiguous(Dtype::f32, {2, 3});
  for (Hostile& hostile : hostile_views())
    for (const Asked& asks : operations_on(2)) {
      std::vector<View> views(asks.inputs, in);
      views.push_back(view_from(hostile, Dtype::f32));
      const std::string what = to_string(asks.op) + " into " + hostile.what;
      accepted(what, [&] { plan(asks.op, views, cpu); });
      views.back().shape = {3, 2};  // that of some results
      accepted(what, [&] { plan(asks.op, views, cpu); });
    }
}

TEST_F(HostileViews, AreRefusedWithMemoryThatIsTooSmall) {
  const Bytes in(64);
  for (const Hostile& hostile : hostile_views()) {
    if (hostile.endless) continue;
    for (const Asked& asks : operations_on(hostile.shape.size())) {
      const std::vector<View> views(asks.inputs, view_from(hostile, Dtype::f32));
      const std::vector<std::span<const std::byte>> spans(asks.inputs, in);
      Bytes out(64);
      accepted(to_string(asks.op) + " of " + hostile.what,
               [&] { run_on_host(asks.op, views, spans, out, real_device()); });
    }
  }
}

TEST(OddViews, GiveRightResults) {
  for (const Hostile& odd : odd_views())
    for (const Asked& asks : operations_on(2)) {
      if (asks.op.name != "sum" && asks.op.name != "argmax" && !asks.op.options.empty()) continue;
      std::vector<View> views(asks.inputs, view_from(odd, Dtype::f32));
      const std::string what = to_string(asks.op) + " of " + odd.what;
      if (!accepted(what, [&] { views.push_back(result_view(asks.op, views)); })) continue;
      std::vector<Bytes> in;
      for (std::size_t i = 0; i < asks.inputs; ++i) in.push_back(few_numbers(views[i], static_cast<unsigned>(i)));
      const std::vector<std::span<const std::byte>> spans(in.begin(), in.end());
      const Bytes before(static_cast<std::size_t>(buffer_bytes(views.back())), std::byte{0x6d});
      Bytes out = before;
      run_on_host(asks.op, views, spans, out, real_device());
      EXPECT_EQ(beyond_bound(asks.op, views, in, before, out), "") << what;
    }
}

}  // namespace
}  // namespace axisloom::ops_test
