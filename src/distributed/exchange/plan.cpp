// What a rank does in an exchange: its messages, their places, the number of rounds, and the copies of each round.
#include <axisloom/error.hpp>

#include "core/number.hpp"
#include "core/text.hpp"
#include "distributed/exchange/impl.hpp"
#include "distributed/pieces.hpp"

#include <algorithm>

namespace axisloom {

using namespace distributed;

namespace {

View local_view(const std::optional<View>& given, Dtype dtype, const Dims& shape, const char* role) {
  View view = given.value_or(View::contiguous(dtype, shape));
  if (view.dtype != dtype)
    throw Error(Errc::dtype, concat("the local ", role, " is ", to_string(view), ", the exchange of ", name(dtype)),
                "give a view of that dtype");
  return view;
}

/// A bit for each mesh axis of more than one rank along which the two lie apart.
u64 crossed_by(const Mesh& mesh, int one, int other) {
  const std::vector<int> a = mesh.coordinates(one), b = mesh.coordinates(other);
  u64 bits = 0, bit = 1;
  for (size_t i = 0; i < a.size(); ++i) {
    if (mesh.axes()[i].extent == 1) continue;
    if (a[i] != b[i]) bits |= bit;
    bit <<= 1;
  }
  return bits;
}

/// In the order of ranks, by the same bits each time; of integers modulo 2^bits.
Operation sum_of(Dtype dtype) {
  ReduceOptions options{.axes = {0}, .order = Order::portable};
  const core::NumberKind kind = core::kind_of(dtype);
  if (kind == core::NumberKind::unsigned_integer || kind == core::NumberKind::signed_integer) options.dtype = dtype;
  return reduction("sum", options);
}

}  // namespace

void ExchangeImpl::prepare(const Redistribution& made) {
  plan = made;
  const int rank = all->rank();
  if (all->size() != made.mesh().ranks())
    throw Error(Errc::usage,
                concat("the mesh ", to_string(made.mesh()), " has ", made.mesh().ranks(), " ranks, the communicator ",
                       all->size()),
                "give a mesh of as many ranks");
  if (made.addends() > 1 && dtype == Dtype::boolean)
    throw Error(Errc::dtype, "bools are not added up", "exchange them as u8");
  if (!options.device) options.device = Device::open("host");
  in = local_view(options.in, dtype, made.in_shape(rank), "input");
  out = local_view(options.out, dtype, made.out_shape(rank), "output");
  // A transfer of nothing: throws unless the views are of the local arrays.
  plan->pack(Transfer{.from = rank, .boxes = {}}, in);
  plan->unpack(Transfer{.to = rank, .boxes = {}}, out);
  for (Transfer& transfer : plan->sends(rank))
    if (transfer.to != rank) sends.push_back({.whole = std::move(transfer)});
  for (Transfer& transfer : plan->receives(rank)) {
    if (transfer.from == rank && made.addends() == 1)
      kept = std::move(transfer);
    else
      receives.push_back({.whole = std::move(transfer)});
  }
  if (made.addends() > 1) group_addends();
  const auto bytes = [&](const Slot& slot) { return slot.whole.elements * i64(size_of(dtype)); };
  for (const Slot& slot : sends) report.bytes_sent += bytes(slot);
  for (const Slot& slot : receives)
    (slot.whole.from == rank ? report.bytes_kept : report.bytes_received) += bytes(slot);
  if (kept) report.bytes_kept += kept->elements * i64(size_of(dtype));
}

/// Those of the same elements have the same boxes, whoever sends them.
void ExchangeImpl::group_addends() {
  for (size_t i = 0; i < receives.size(); ++i) {
    const auto same = std::ranges::find_if(addends, [&](const std::vector<size_t>& some) {
      return receives[some[0]].whole.boxes == receives[i].whole.boxes;
    });
    (same == addends.end() ? addends.emplace_back() : *same).push_back(i);
  }
}

/// What the others have to know of this rank.
Vote ExchangeImpl::vote() const {
  const Api api = options.device.info().api;
  Vote vote{.most_bytes = std::max(report.bytes_sent, report.bytes_received),
            .on_host = api == Api::host,
            .on_card = api == Api::cuda};
  for (const Slot& slot : sends) vote.crossed |= crossed_by(plan->mesh(), slot.whole.from, slot.whole.to);
  vote.rounds_in_halves = rounds_within(options.workspace / 2);
  vote.rounds_at_once = rounds_within(options.workspace);
  return vote;
}

/// Room for the largest piece of a message.
i64 ExchangeImpl::piece_bytes(const Transfer& whole, i64 count) const {
  return ceil_div(most_elements(whole.elements, count) * i64(size_of(dtype)), slot_alignment) * slot_alignment;
}

/// Places in the halves, for so many rounds. Addends of the same elements lie one behind the other.
void ExchangeImpl::lay_out(i64 count) {
  const auto place = [&](Slot& slot, i64& bytes) {
    slot.begin = bytes;
    bytes += piece_bytes(slot.whole, count);
  };
  report.rounds = count;
  send_bytes = receive_bytes = sum_bytes = 0;
  for (Slot& slot : sends) place(slot, send_bytes);
  if (addends.empty())
    for (Slot& slot : receives) place(slot, receive_bytes);
  for (const std::vector<size_t>& some : addends) {
    for (const size_t i : some) place(receives[i], receive_bytes);
    sum_bytes = std::max(sum_bytes, piece_bytes(receives[some[0]].whole, count));
  }
}

/// The fewest rounds in which that many bytes hold what is sent, and what is received.
i64 ExchangeImpl::rounds_within(i64 bytes) const {
  const auto need = [&](i64 count) {
    i64 out_bytes = 0, in_bytes = 0, sum = 0;
    for (const Slot& slot : sends) out_bytes += piece_bytes(slot.whole, count);
    for (const Slot& slot : receives) in_bytes += piece_bytes(slot.whole, count);
    for (const std::vector<size_t>& some : addends) sum = std::max(sum, piece_bytes(receives[some[0]].whole, count));
    return std::max(out_bytes, in_bytes + sum);
  };
  i64 low = 1, high = 1;
  for (const std::vector<Slot>* slots : {&sends, &receives})
    for (const Slot& slot : *slots) high = std::max(high, slot.whole.elements);
  if (need(high) > bytes)
    throw Error(
        Errc::usage,
        concat("a workspace of ", options.workspace, " bytes is too small for two elements of each message at a time"),
        concat("give one of at least ", 2 * need(high), " bytes"));
  while (low < high) {
    const i64 middle = low + (high - low) / 2;
    if (need(middle) <= bytes)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// --- copies of a round -----------------------------------------------------------------------------------------------

/// Elements side by side at the start of a slot.
View ExchangeImpl::message_view(i64 elements) const {
  View view = View::contiguous(dtype, {elements});
  view.align = slot_alignment;
  return view;
}

std::vector<TransferCopy> ExchangeImpl::packed(const Transfer& piece) const {
  std::vector<TransferCopy> copies = plan->pack(piece, in);
  for (TransferCopy& copy : copies) copy.to.align = slot_alignment;
  return copies;
}

std::vector<TransferCopy> ExchangeImpl::unpacked(const Transfer& piece) const {
  std::vector<TransferCopy> copies = plan->unpack(piece, out);
  for (TransferCopy& copy : copies) copy.from.align = slot_alignment;
  return copies;
}

Round ExchangeImpl::round_of(const StepMaker& maker, i64 number) const {
  Round round;
  const auto element = i64(size_of(dtype));
  for (const Slot& slot : sends) {
    const Transfer part = piece_of(slot.whole, number, report.rounds);
    if (part.elements == 0) continue;
    Piece& piece = round.sends.emplace_back(Piece{slot.peer, slot.begin, part.elements * element, 0, {}});
    maker.add(packed(part), 0, slot.begin, piece.steps);
  }
  for (size_t i = 0; i < receives.size(); ++i) {
    const Slot& slot = receives[i];
    const Transfer part = piece_of(slot.whole, number, report.rounds);
    if (part.elements == 0) continue;
    if (slot.whole.from == all->rank()) {
      maker.add(packed(part), 0, slot.begin, round.own_addends);
      continue;
    }
    const WindowSlot place = windows ? window_slots[i] : WindowSlot{.begin = slot.begin};
    Piece& piece =
        round.receives.emplace_back(Piece{slot.peer, place.begin, part.elements * element, place.half_bytes, {}});
    if (addends.empty()) maker.add(unpacked(part), place.begin, 0, piece.steps);
  }
  add_sums(maker, number, round);
  return round;
}

void ExchangeImpl::add_sums(const StepMaker& maker, i64 number, Round& round) const {
  for (const std::vector<size_t>& some : addends) {
    const Slot& first = receives[some[0]];
    const Transfer part = piece_of(first.whole, number, report.rounds);
    if (part.elements == 0) continue;
    View stack = message_view(part.elements);
    stack.shape = {i64(some.size()), part.elements};
    stack.strides = {piece_bytes(first.whole, report.rounds) / i64(size_of(dtype)), 1};
    Sum& sum = round.sums.emplace_back(
        Sum{.add = maker.step(sum_of(dtype), stack, first.begin, message_view(part.elements), 0), .unpack = {}});
    maker.add(unpacked(part), 0, 0, sum.unpack);
  }
}

/// In a run, by this rank, and by those that it shares a host's memory with.
double ExchangeImpl::bytes_moved() const {
  const double elements = double(in.count()) + double(out.count());
  return elements * double(size_of(dtype)) * (windows ? report.ranks : 1);
}

void ExchangeImpl::plan_copies() {
  if (card_path) return plan_card_path();
  const StepMaker maker(options.device, bytes_moved());
  planned_align = {in.align, out.align};
  keep.clear();
  rounds.clear();
  if (kept) maker.add(plan->direct(*kept, in, out), 0, 0, keep);
  for (i64 number = 0; number < report.rounds; ++number) rounds.push_back(round_of(maker, number));
}

}  // namespace axisloom
