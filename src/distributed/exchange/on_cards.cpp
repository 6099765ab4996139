// Exchanges between cards that reach each other's memory: in rounds through windows of the receivers, which unpack one
// round while the next is under way, or straight into their outputs.
#include <axisloom/error.hpp>

#include "core/text.hpp"
#include "device/cuda/device.hpp"
#include "device/device.hpp"
#include "distributed/exchange/impl.hpp"
#include "distributed/pieces.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace axisloom {

using namespace distributed;

namespace {

/// Slots of a launch; those of windows are in the order of the group.
constexpr int input_slot = 0, output_slot = 1, first_window = 2;

/// Flags lie at the start of a window, before its halves.
constexpr size_t flag_bytes = 256;
static_assert(flag_bytes >= sizeof(u32) * cards::flags_of(cards::most_ranks));

void add(std::vector<cards::SlotCopy>& all, int from, int to, std::vector<TransferCopy> copies) {
  for (TransferCopy& copy : copies) all.push_back({.from = from, .to = to, .copy = std::move(copy)});
}

u64 address_of(const Buffer& buffer) {
  return buffer ? reinterpret_cast<std::uintptr_t>(buffer.impl()->native()) : 0;
}

}  // namespace

/// False where messages have to do it; then the report's reason says why.
bool ExchangeImpl::settle_cards(i64 most_bytes) {
  const i64 rounds_by_messages = report.rounds;
  const int halves_of_messages = halves;
  const i64 useful = std::clamp<i64>(most_bytes / cards::least_round, 1, cards::most_rounds);
  lay_out(std::max(rounds_by_messages, useful));
  CardPath path;
  halves = int(std::min<i64>(report.rounds, 2));
  path.windows =
      cards::Windows::shared(group, options.device, flag_bytes + size_t(halves * receive_bytes), report.reason);
  if (path.windows) {
    const std::optional<Error> failure = failure_of([&] {
      const std::chrono::nanoseconds patience = group->limit();
      path.group = std::make_shared<const cards::Group>(options.device, group->rank(), path.windows->addresses(),
                                                        u64(patience.count()), cards::most_single);
    });
    if (const std::optional<int> failed = first_failed(*group, failure))
      report.reason = concat("rank ", *failed, " cannot make its card's kernel",
                             failure ? concat(": ", failure->parts().message) : "");
    else
      card_path.emplace(std::move(path));
  }
  if (!card_path) {
    lay_out(rounds_by_messages);
    halves = halves_of_messages;
    return false;
  }
  tell_places(receives, receive_bytes, sends);
  return true;
}

/// The next rank's first, so that no rank gets everyone's at once.
void ExchangeImpl::sort_in_turn(std::vector<cards::SlotCopy>& sends_of_stage) const {
  const int next = first_window + group->rank() + 1;
  std::ranges::stable_sort(sends_of_stage, {},
                           [&](const cards::SlotCopy& copy) { return (copy.to - next + report.ranks) % report.ranks; });
}

/// Each round's copies. A half is written again two rounds later, when all have met since it was read.
std::vector<cards::Stage> ExchangeImpl::card_stages() const {
  std::vector<cards::Stage> stages;
  std::vector<cards::SlotCopy> came;
  const auto element = i64(size_of(dtype));
  if (kept) add(came, input_slot, output_slot, plan->direct(*kept, in, out));
  for (i64 number = 0; number < report.rounds; ++number) {
    cards::Stage& stage = stages.emplace_back(
        cards::Stage{.sends = {}, .kept = std::exchange(came, {}), .before = number == 0, .after = true});
    const i64 half = number % 2;
    for (size_t i = 0; i < sends.size(); ++i) {
      const WindowSlot& place = window_slots[i];
      std::vector<TransferCopy> copies = packed(piece_of(sends[i].whole, number, report.rounds));
      for (TransferCopy& copy : copies) copy.to.offset += (half * place.half_bytes + place.begin) / element;
      add(stage.sends, input_slot, first_window + sends[i].peer, std::move(copies));
    }
    sort_in_turn(stage.sends);
    for (const Slot& slot : receives) {
      std::vector<TransferCopy> copies = unpacked(piece_of(slot.whole, number, report.rounds));
      for (TransferCopy& copy : copies) copy.from.offset += (half * receive_bytes + slot.begin) / element;
      add(came, first_window + group->rank(), output_slot, std::move(copies));
    }
  }
  stages.push_back({.sends = {}, .kept = std::move(came)});
  return stages;
}

void ExchangeImpl::plan_card_path() {
  std::vector<u64> windows_of_ranks = card_path->windows->addresses();
  for (u64& address : windows_of_ranks) address += flag_bytes;
  card_path->launches.emplace(card_path->group, windows_of_ranks, card_stages());
}

/// A single kernel asks nobody whether its buffers will do.
void ExchangeImpl::require_fit(const View& view, const Buffer& buffer, const char* role) const {
  if (view.count() == 0) return;
  const size_t bytes = size_t(view.bounds().high) * size_of(dtype);
  const auto refuse = [&](std::string message, std::string remedy) {
    throw Error(Errc::usage, {.message = concat("the local ", role, message),
                              .op = report.what,
                              .shapes = to_string(view),
                              .device = options.device.info().label(),
                              .remedy = std::move(remedy)});
  };
  if (!buffer) refuse(" is an empty buffer", "give one of the device");
  if (buffer.bytes() < bytes)
    refuse(concat(" has ", buffer.bytes(), " bytes, its view needs ", bytes), "give all of the array");
  if (i64(buffer.impl()->alignment()) < view.align)
    refuse(concat(" is aligned to ", buffer.impl()->alignment(), " bytes, its view says ", view.align),
           "give ExchangeOptions views with View::align of the buffers");
}

void ExchangeImpl::run_on_cards(const Queue& queue, const cards::Launches& launches, const Buffer& from, u64 to) {
  require_fit(in, from, "input");
  if (!queue.impl())
    throw Error(Errc::usage, {.message = "the queue is empty", .op = report.what, .remedy = "give one of the device"});
  const bool apart = !device::cuda::is_captured(*queue.impl());
  broken = true;
  launches.run(queue, address_of(from), to, apart);
  broken = false;
}

void ExchangeImpl::run_through_cards(const Queue& queue, const Buffer& from, const Buffer& to) {
  require_fit(out, to, "output");
  run_on_cards(queue, *card_path->launches, from, address_of(to));
}

// --- straight into the peers' outputs --------------------------------------------------------------------------------

void ExchangeImpl::share_output_of_card(SharedOutputImpl& output, size_t bytes) const {
  std::string reason;
  output.card_windows = cards::Windows::shared(group, options.device, bytes, reason);
  if (!output.card_windows) refuse_shared_output(concat("there is no shared memory for an output: ", reason));
  if (bytes > 0) output.begin = static_cast<std::byte*>(output.card_windows->own().impl()->native());
  cards::Stage stage{.sends = {}, .kept = {}, .before = true, .after = true};
  for (const Transfer& transfer : plan->sends(all->rank())) {
    const int peer = place_in_group(transfer.to);
    std::vector<TransferCopy> copies = plan->direct(transfer, in, shared_view(transfer.to));
    add(peer == group->rank() ? stage.kept : stage.sends, input_slot, first_window + peer, std::move(copies));
  }
  sort_in_turn(stage.sends);
  output.card_group = card_path->group;
  output.launches.emplace(output.card_group, output.card_windows->addresses(), std::array{std::move(stage)});
}

void ExchangeImpl::run_shared_on_cards(const Queue& queue, const Buffer& from, const SharedOutputImpl& output) {
  require_usable(false);
  require_own(output);
  run_on_cards(queue, *output.launches, from, 0);
}

SharedOutputImpl::~SharedOutputImpl() {
  if (card_group) card_group->finish();
}

ExchangeImpl::~ExchangeImpl() {
  if (card_path) card_path->group->finish();
}

}  // namespace axisloom
