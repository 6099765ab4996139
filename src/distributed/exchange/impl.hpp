// What an exchange holds: messages and their places in the workspace, and the copies of each round.
//
// A buffer of messages has a slot for each peer, in which a piece of its message lies in every round. Where a message
// does not go at once, the buffer exists twice: while one half travels, the other is packed or unpacked.
#pragma once

#include <axisloom/exchange.hpp>
#include <axisloom/host_array.hpp>
#include <axisloom/plan.hpp>

#include "distributed/agreement.hpp"
#include "distributed/cards/launches.hpp"
#include "distributed/cards/windows.hpp"
#include "distributed/steps.hpp"

#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace axisloom {

namespace distributed {

/// A message, and where it lies in each half of its buffer.
struct Slot {
  Transfer whole;
  int peer = 0;   // in the group
  i64 begin = 0;  // bytes behind the start of the half
};

/// What of a message goes in a round.
struct Piece {
  int peer = 0;   // in the group
  i64 begin = 0;  // bytes behind the start of the half
  i64 bytes = 0;
  i64 half_bytes = 0;  // of the peer's window, where the piece lies there
  Steps steps;
};

/// Addends of the same elements that came from several ranks.
struct Sum {
  Step add;      // from the half to where sums are
  Steps unpack;  // from there to the output
};

struct Round {
  std::vector<Piece> sends, receives;
  Steps own_addends;  // from the input to the half that is received
  std::vector<Sum> sums;
};

/// Memory of messages: on the host, or where the arrays lie on a device, there and, unless the engine takes memory of
/// the device, on the host too.
struct Half {
  Array host;
  Buffer buffer;
  Event moved;  // between the two
  /// What the engine sees.
  std::span<std::byte> memory() const;
};

/// Where a message lies in a peer's window.
struct WindowSlot {
  i64 begin = 0;       // in each half
  i64 half_bytes = 0;  // of the peer
};

/// Cards that reach each other's memory. Senders pack into the windows of receivers.
struct CardPath {
  std::unique_ptr<cards::Windows> windows;
  std::shared_ptr<const cards::Group> group;
  std::optional<cards::Launches> launches;
};

}  // namespace distributed

struct SharedOutputImpl {
  const ExchangeImpl* owner = nullptr;
  std::shared_ptr<Communicator> group;  // whose windows these are
  View view;
  std::unique_ptr<SharedWindows> windows;
  std::byte* begin = nullptr;
  i64 in_align = 0;                        // for which copies are planned
  std::vector<distributed::Piece> copies;  // by peer, this rank itself among them

  // On cards:
  ~SharedOutputImpl();
  std::shared_ptr<const distributed::cards::Group> card_group;
  std::unique_ptr<distributed::cards::Windows> card_windows;
  std::optional<distributed::cards::Launches> launches;
};

struct ExchangeImpl {
  /// Each part of what has to be done before run.
  void prepare(const Redistribution& made);
  distributed::Vote vote() const;
  void settle(const std::vector<distributed::Vote>& votes);
  void allocate();
  void plan_copies();
  std::unique_ptr<SharedOutputImpl> share_output();

  void run_here(const void* from, void* to);
  void run_on_device(const Queue& queue, const Buffer& from, const Buffer& to);
  void run_shared(const void* from, SharedOutputImpl& output);
  void run_shared_on_cards(const Queue& queue, const Buffer& from, const SharedOutputImpl& output);
  ~ExchangeImpl();

  std::optional<Redistribution> plan;
  Dtype dtype = Dtype::u8;
  ExchangeOptions options;
  View in, out;
  std::shared_ptr<Communicator> all, group;
  std::vector<int> members;  // of the group, as ranks of all
  ExchangeReport report;

  std::vector<distributed::Slot> sends, receives;        // of addends, the own ones are among those that are received
  std::optional<Transfer> kept;                          // straight from the input to the output
  std::vector<std::vector<size_t>> addends;              // of the same elements, as places in `receives`
  i64 send_bytes = 0, receive_bytes = 0, sum_bytes = 0;  // of a half
  int halves = 1;

  std::unique_ptr<SharedWindows> windows;
  std::optional<distributed::CardPath> card_path;
  std::vector<distributed::WindowSlot> window_slots;  // of each that is received; between cards that is sent
  std::array<distributed::Half, 2> outgoing, incoming;
  distributed::Half sums;
  bool engine_reaches_device = false;  // messages lie there

  std::array<i64, 2> planned_align{};  // of input and output
  distributed::Steps keep;
  std::vector<distributed::Round> rounds;
  i64 rounds_run = 0;   // through windows, whose halves take turns from one run to the next
  bool broken = false;  // a run did not end

 private:
  void group_addends();
  void settle_group(u64 crossed);
  void settle_path(const distributed::Vote& all_votes);
  bool settle_windows();
  bool settle_cards(i64 most_bytes);
  void lay_out(i64 count);
  i64 rounds_within(i64 bytes) const;
  void tell_places(const std::vector<distributed::Slot>& mine, i64 half_bytes,
                   const std::vector<distributed::Slot>& theirs);
  i64 piece_bytes(const Transfer& whole, i64 count) const;
  double bytes_moved() const;
  distributed::Round round_of(const distributed::StepMaker& maker, i64 number) const;
  void add_sums(const distributed::StepMaker& maker, i64 number, distributed::Round& round) const;
  View message_view(i64 elements) const;
  std::vector<TransferCopy> packed(const Transfer& piece) const;
  std::vector<TransferCopy> unpacked(const Transfer& piece) const;

  void require_usable(bool on_host) const;
  void require_apart(const View& output, u64 from, u64 to) const;
  void fit(View& view, const void* memory, const char* role) const;
  void pass_through_windows(const distributed::Place& from, const distributed::Place& to);
  void pass_messages(const Queue& queue, const distributed::Place& from, const distributed::Place& to);
  void pack(const distributed::Round& round, int half, const Queue& queue, const distributed::Place& from);
  std::unique_ptr<MessagesInFlight> start(const distributed::Round& round, int half, const Queue& queue);
  void unpack(const distributed::Round& round, int half, const Queue& queue, const distributed::Place& from,
              const distributed::Place& to);
  void plan_direct(SharedOutputImpl& output) const;

  int place_in_group(int rank) const;
  View shared_view(int rank) const;
  void require_own(const SharedOutputImpl& output) const;
  [[noreturn]] void refuse_shared_output(std::string why) const;

  std::vector<distributed::cards::Stage> card_stages() const;
  void sort_in_turn(std::vector<distributed::cards::SlotCopy>& sends_of_stage) const;
  void plan_card_path();
  void share_output_of_card(SharedOutputImpl& output, size_t bytes) const;
  void require_fit(const View& view, const Buffer& buffer, const char* role) const;
  void run_on_cards(const Queue& queue, const distributed::cards::Launches& launches, const Buffer& from, u64 to);
  void run_through_cards(const Queue& queue, const Buffer& from, const Buffer& to);
};

}  // namespace axisloom
