// The reference of sums on devices with memory of their own: reading alone, by read.kernel.
#include "bench/peers/peers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace axisloom::bench {
namespace {

#include "bench/read.params.h"

constexpr unsigned read_items = 256;  // of a group
constexpr i64 packet = 16;            // bytes

/// How much is asked for at a time.
struct ReadWay {
  i64 at_once;  // packets of an item
  unsigned groups_per_unit;
};

class DeviceRead final : public Contestant {
 public:
  DeviceRead(Workload& workload, const ReadWay& way)
      : Contestant(
            workload, "read",
            fmt::format("xor of {} packets of 16 bytes an item, {} groups a unit", way.at_once, way.groups_per_unit),
            Role::read),
        input_(largest_input(workload)),
        params_{i64(workload.buffer(input_).bytes()) / packet},
        kernel_{"bench/read.kernel",
                "read",
                jit::Defines().set("AT_ONCE", way.at_once).set("AXL_PARAMS_SIZE", i64(sizeof(ReadParams))),
                read_items,
                false,
                true},
        groups_(groups(workload, way)),
        seen_(workload.device().allocate(groups_ * read_items * sizeof(u32))) {
    program_ = jit::obtain(*workload.device().impl(), kernel_, {groups_, 2, sizeof params_});
  }

  Timing run() override {
    const i64 no_offset = 0;
    const device::Arg args[] = {device::Arg::of(*workload().buffer(input_).impl()), device::Arg::value(no_offset),
                                device::Arg::of(*seen_.impl()), device::Arg::value(no_offset),
                                device::Arg::bytes(&params_, sizeof params_)};
    const double start = now();
    const auto event =
        workload().queue().impl()->launch(*program_, kernel_.kernel, {groups_, read_items, 0, 1}, args, {});
    event->wait();
    const double end = now();
    return {end - start, event->seconds()};
  }
  void spoil(std::byte value) override {
    workload().queue().impl()->fill(*seen_.impl(), 0, seen_.bytes(), value, {})->wait();
  }
  Work work() const override { return {double(params_.packets * packet), 0}; }
  double written() const override { return double(seen_.bytes()); }
  Mistakes judge() override {
    Bytes memory(seen_.bytes());
    workload().queue().read(seen_, 0, memory).wait();
    const Data& data = workload().data(input_);
    const u32 want =
        words_on_device(workload().device(), workload().queue(), data, params_.packets * packet / data.element);
    return {.count = folded(memory) == want ? 0 : 1, .of = "word"};
  }

 private:
  static size_t largest_input(const Workload& workload) {
    size_t largest = 0;
    for (size_t i = 1; i < workload.inputs(); ++i)
      if (workload.buffer(i).bytes() > workload.buffer(largest).bytes()) largest = i;
    return largest;
  }
  unsigned groups(const Workload& workload, const ReadWay& way) const {
    const i64 resident = i64{way.groups_per_unit} * std::max(1U, unsigned(workload.device().info().compute_units));
    return unsigned(std::clamp<i64>(ceil_div(params_.packets, i64{read_items} * way.at_once), 1, resident));
  }
  static u32 folded(const Bytes& seen) {
    u32 x = 0, word = 0;
    for (size_t at = 0; at + sizeof word <= seen.size(); at += sizeof word) {
      std::memcpy(&word, seen.data() + at, sizeof word);
      x ^= word;
    }
    return x;
  }

  size_t input_;
  ReadParams params_;
  jit::Specialisation kernel_;
  unsigned groups_;
  Buffer seen_;
  device::SharedProgram program_;
};

}  // namespace

UniqueContestant make_device_read(Workload& workload) {
  constexpr std::array ways{ReadWay{4, 8}, ReadWay{8, 8}, ReadWay{4, 4}, ReadWay{8, 4}};
  std::vector<std::unique_ptr<Contestant>> candidates;
  for (const ReadWay& way : ways) candidates.push_back(std::make_unique<DeviceRead>(workload, way));
  return fastest_of(std::move(candidates));
}

}  // namespace axisloom::bench
