// Each rank tells how its memory is reached, then all say whether they reach the others'.
#include "distributed/cards/windows.hpp"

#include <axisloom/error.hpp>

#include "core/system_file.hpp"
#include "core/text.hpp"
#include "device/cuda/sharing.hpp"
#include "distributed/agreement.hpp"
#include "distributed/cards/job.hpp"

#include <algorithm>
#include <array>
#include <random>

namespace axisloom::distributed::cards {
namespace {

/// Smaller allocations share a block of the driver's, and other processes would open that.
constexpr size_t block = size_t{2} << 20;

/// Drawn, since processes of several containers may have the same number.
using ProcessId = std::array<u32, 4>;

/// What a rank tells the others.
struct Told {
  std::array<char, 40> host = {};  // this boot of it
  ProcessId process = {};
  device::cuda::MemoryKey key = {};
  u64 bytes = 0;
  u64 failed = 0;
};

const ProcessId& this_process() {
  static const ProcessId drawn = [] {
    std::random_device random;
    return ProcessId{random(), random(), random(), random()};
  }();
  return drawn;
}

Told told_of(const Buffer& own) {
  Told told{.process = this_process(), .key = device::cuda::key_of(*own.impl()), .bytes = own.bytes()};
  const std::string boot = core::first_line("/proc/sys/kernel/random/boot_id");
  std::ranges::copy_n(boot.begin(), std::ptrdiff_t(std::min(boot.size(), told.host.size())), told.host.begin());
  return told;
}

/// Empty where memory can be opened.
std::string hindrance(const std::vector<Told>& all) {
  if (all.size() > most_ranks) return concat("more than ", most_ranks, " ranks exchange with each other");
  const auto failed = std::ranges::find_if(all, &Told::failed);
  if (failed != all.end()) return concat("rank ", failed - all.begin(), " has no memory that others could open");
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].host != all[0].host) return "the cards are not of one host";
    for (size_t other = 0; other < rank; ++other)  // their kernels would wait for each other on one card
      if (all[rank].key.card == all[other].key.card)
        return concat("ranks ", other, " and ", rank, " have the same card");
  }
  return {};
}

}  // namespace

std::unique_ptr<Windows> Windows::shared(std::shared_ptr<Communicator> ranks, const Device& card, size_t bytes,
                                         std::string& reason) {
  std::unique_ptr<Windows> made(new Windows(std::move(ranks), card));
  Communicator& all = *made->ranks_;
  Told mine;
  std::optional<Error> failure = failure_of([&] {
    made->own_ = card.allocate((std::max<size_t>(bytes, 1) + block - 1) / block * block);
    const device::SharedQueue queue = card.impl()->queue(false);
    queue->fill(*made->own_.impl(), 0, made->own_.bytes(), std::byte{0}, {});
    queue->finish();
    mine = told_of(made->own_);
  });
  mine.failed = failure.has_value();
  const std::vector<Told> told = gathered(all, mine);
  reason = hindrance(told);
  if (!reason.empty()) return nullptr;
  failure = failure_of([&] {
    for (int rank = 0; rank < all.size(); ++rank) {
      const Told& one = told[size_t(rank)];
      const bool same_process = one.process == mine.process;
      made->reached_.push_back(
          rank == all.rank() ? made->own_.impl() : device::cuda::reach(*card.impl(), one.key, one.bytes, same_process));
      made->addresses_.push_back(reinterpret_cast<std::uintptr_t>(made->reached_.back()->native()));
    }
  });
  if (const std::optional<int> failed = first_failed(all, failure)) {
    reason = concat("the card of rank ", *failed, " does not reach the others' memory");
    if (failure) reason += concat(": ", failure->parts().message);
    return nullptr;
  }
  return made;
}

Windows::~Windows() {
  reached_.clear();
  // Others have to close a rank's memory before it is freed. Where they cannot be asked any more, it is not.
  if (failure_of([&] { gathered(*ranks_, u8{0}); })) device::keep_forever(own_.impl());
}

}  // namespace axisloom::distributed::cards
