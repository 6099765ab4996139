// A new shape does not compile anew: what is compiled in are classes of shapes, never extents or strides.
#include "ops_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace axisloom::ops_test {
namespace {

constexpr int shapes = 1000;
constexpr std::size_t most_compiles = 60;

struct Draft {
  Operation op;
  View in;
};

class Drafts {
 public:
  Draft next() {
    const Dtype dtype = between(0, 1) == 0 ? Dtype::u8 : Dtype::f32;
    switch (between(0, 3)) {
      case 0:
        return {transpose(), View::contiguous(dtype, shape(between(2, 6)))};
      case 1:
        return {copy(), padded(View::contiguous(dtype, shape(between(1, 6))))};
      case 2: {
        const int rank = between(1, 6);
        std::vector<int> order(static_cast<std::size_t>(rank));
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), engine_);
        return {permute(order), View::contiguous(dtype, shape(rank))};
      }
      default:
        return relayout_draft(dtype);
    }
  }

 private:
  int between(int low, int high) { return std::uniform_int_distribution(low, high)(engine_); }

  /// Half of the extents up to 70, the others powers of two and their neighbours; at most 64 Ki elements.
  Dims shape(int rank) {
    Dims dims;
    for (int i = 0; i < rank; ++i)
      dims.push_back(between(0, 1) == 0 ? between(1, 70) : std::max(1, (1 << between(0, 9)) + between(-1, 1)));
    while (element_count(dims) > 1 << 16) {
      std::int64_t& largest = *std::max_element(dims.begin(), dims.end());
      largest = between(1, static_cast<int>(largest) - 1);
    }
    return dims;
  }

  /// Every other one with a gap after its rows.
  View padded(View view) {
    std::int64_t stride = 1;
    const int gap = between(0, 1) * between(1, 9);
    for (int i = view.rank(); i-- > 0;) {
      view.strides[i] = stride;
      stride *= view.shape[i] + (i + 1 == view.rank() ? gap : 0);
    }
    return view;
  }

  Draft relayout_draft(Dtype dtype) {
    const std::int64_t x = 4 << between(0, 3), n = between(1, 3), c = between(1, 67), h = between(1, 20),
                       w = between(1, 20);
    const std::string blocked = "NC/" + std::to_string(x) + "HW" + std::to_string(x);
    switch (between(0, 3)) {
      case 0:
        return {relayout("NCHW", blocked), View::contiguous(dtype, {n, c, h, w})};
      case 1:
        return {relayout("NHWC", blocked), View::contiguous(dtype, {n, h, w, c})};
      case 2:
        return {relayout(blocked, "NCHW", c), View::contiguous(dtype, {n, (c + x - 1) / x, h, w, x})};
      default:
        return {relayout("NCHW", "NHWC"), View::contiguous(dtype, {n, c, h, w})};
    }
  }

  std::mt19937 engine_{20240607};
};

/// How many of the shapes each candidate took.
std::map<std::string, int> plan_all(const Device& device) {
  std::map<std::string, int> taken;
  Drafts drafts;
  for (int i = 0; i < shapes; ++i) {
    const Draft draft = drafts.next();
    taken[plan(draft.op, std::span(&draft.in, 1), device).report().candidate] += 1;
  }
  return taken;
}

std::string text_of(const std::map<std::string, int>& taken) {
  std::string text;
  for (const auto& [name, count] : taken) text += name + " " + std::to_string(count) + ", ";
  return text;
}

// Nothing is compiled really, which would take PoCL half a minute; nor does the machine matter, but for its own device.
TEST(CompileCount, AThousandShapesOnEveryDevice) {
  const NoDiskCache memory_only;
  std::vector<DeviceInfo> devices = {real_device().info(), gpu_info(Api::cuda), gpu_info(Api::opencl)};
  for (const std::string& name : model::profile_names()) devices.push_back(as_seen(model::profile_named(name)));
  for (const DeviceInfo& info : devices) {
    const auto pretended = std::make_shared<PretendedDevice>(info);
    const auto taken = plan_all(Device(pretended));
    const std::size_t compiles = pretended->sources.size();
    EXPECT_LE(compiles, most_compiles) << info.name << ": " << text_of(taken);
    EXPECT_GE(compiles, taken.size()) << info.name << ": a variant that was taken was never compiled";
    std::cout << compiles << " compiles on " << info.name << " for " << text_of(taken) << shapes << " shapes\n";
  }
}

/// Products, sums and elementwise ones of f32 in many shapes.
void plan_einsums(const Device& device) {
  std::mt19937 engine(20240607);
  const auto between = [&](int low, int high) { return std::uniform_int_distribution(low, high)(engine); };
  const std::string patterns[] = {"ik,kj->ij", "ki,jk->ij",   "bik,bkj->bij", "bik,kj->bij", "ik,k->i", "i,j->ij",
                                  "ij,ij->ij", "ikl,lkj->ij", "ij,jk,kl->il", "ij->ji",      "ij->j",   "ii->i"};
  for (int i = 0; i < shapes; ++i) {
    const std::string& pattern = patterns[between(0, 11)];
    std::map<char, std::int64_t> lengths;
    std::vector<View> views(1, View::contiguous(Dtype::f32, {}));
    for (const char c : pattern.substr(0, pattern.find('-'))) {
      if (c == ',') views.push_back(View::contiguous(Dtype::f32, {}));
      if (c == ',') continue;
      if (!lengths.contains(c)) lengths[c] = between(0, 1) == 0 ? between(1, 70) : 1 << between(0, 9);
      views.back().shape.push_back(lengths[c]);
    }
    for (View& view : views) view.strides = contiguous_strides(view.shape);
    plan(einsum(pattern), views, device);
  }
}

TEST(CompileCount, AThousandEinsums) {
  const NoDiskCache memory_only;
  for (const DeviceInfo& info : {cpu_info(), gpu_info(Api::cuda)}) {
    const auto pretended = std::make_shared<PretendedDevice>(info);
    plan_einsums(Device(pretended));
    EXPECT_LE(pretended->sources.size(), most_compiles) << info.name;
    std::cout << pretended->sources.size() << " compiles for einsums on " << info.name << std::endl;
  }
}

// The same shapes again: everything is known.
TEST(CompileCount, NothingIsCompiledTwice) {
  const NoDiskCache memory_only;
  const Device device(std::make_shared<PretendedDevice>(cpu_info()));
  plan_all(device);
  const std::uint64_t before = jit::cache_stats().compiles;
  plan_all(device);
  EXPECT_EQ(jit::cache_stats().compiles, before);
}

}  // namespace
}  // namespace axisloom::ops_test
