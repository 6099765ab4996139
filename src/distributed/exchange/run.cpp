// Running an exchange: through windows, by messages, or straight into the peers' outputs.
#include <axisloom/error.hpp>

#include "core/host_memory.hpp"
#include "core/overlap.hpp"
#include "core/text.hpp"
#include "device/device.hpp"
#include "distributed/exchange/impl.hpp"
#include "distributed/pieces.hpp"

#include <algorithm>
#include <atomic>

namespace axisloom {

std::span<std::byte> distributed::Half::memory() const {
  if (buffer && host.view().count() == 0) return {static_cast<std::byte*>(buffer.impl()->native()), buffer.bytes()};
  return {static_cast<std::byte*>(const_cast<void*>(host.data())), size_t(host.view().count())};
}

using namespace distributed;

namespace {

u64 address_of(const void* memory) {
  return u64(reinterpret_cast<std::uintptr_t>(memory));
}

Place place_of(const void* memory) {
  return {.host = static_cast<std::byte*>(const_cast<void*>(memory))};
}

/// Before others are told that memory is written: stores past the cache may come later than what tells them.
void complete_stores() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

/// A half as copies see it, on the device where it has memory there.
Place place_of(Half& half) {
  if (half.buffer) return {.buffer = &half.buffer};
  return {.host = static_cast<std::byte*>(half.host.data())};
}

}  // namespace

void ExchangeImpl::require_usable(bool on_host) const {
  if (broken)
    throw Error(Errc::usage, {.message = "a run of this exchange did not come to its end, so ranks may be out of step",
                              .op = report.what,
                              .remedy = "make a new exchange on all ranks"});
  if (on_host != (options.device.info().api == Api::host))
    throw Error(Errc::usage, {.message = "the exchange is one of arrays on another device",
                              .op = report.what,
                              .device = options.device.info().label(),
                              .remedy = on_host ? "give a queue and buffers" : "give pointers"});
}

/// Notes where memory is less aligned than what was there before.
void ExchangeImpl::fit(View& view, const void* memory, const char* role) const {
  if (view.count() == 0) return;
  if (!memory)
    throw Error(Errc::usage,
                {.message = concat("the local ", role, " is null"), .op = report.what, .shapes = to_string(view)});
  view.align = i64(core::alignment_of(memory, u64(view.align)));
}

/// What is received is written while the input is still read.
void ExchangeImpl::require_apart(const View& output, u64 from, u64 to) const {
  if (in.count() == 0 || output.count() == 0 || core::shares_memory(in, from, output, to) == core::Overlap::no) return;
  throw Error(Errc::overlap, {.message = "the local input and the local output share memory, or could",
                              .op = report.what,
                              .shapes = concat(to_string(in), " -> ", to_string(output)),
                              .remedy = "give an output of its own"});
}

void ExchangeImpl::run_here(const void* from, void* to) {
  require_usable(true);
  fit(in, from, "input");
  fit(out, to, "output");
  require_apart(out, address_of(from), address_of(to));
  if (in.align != planned_align[0] || out.align != planned_align[1]) plan_copies();
  broken = true;
  const Place input = place_of(from), output = place_of(to);
  switch (report.path) {
    case ExchangePath::local:
      distributed::run(keep, {}, input, output);
      break;
    case ExchangePath::windows:
      pass_through_windows(input, output);
      break;
    case ExchangePath::messages:
      pass_messages({}, input, output);
      break;
  }
  broken = false;
}

// --- through windows -------------------------------------------------------------------------------------------------

/// A half is packed again two rounds later, and the barrier between shows that all have unpacked what was in it.
void ExchangeImpl::pass_through_windows(const Place& from, const Place& to) {
  std::byte* const mine = windows->of(group->rank()).data();
  for (const Round& round : rounds) {
    const i64 half = rounds_run++ % 2;
    for (const Piece& piece : round.sends) distributed::run(piece.steps, {}, from, {.host = mine + half * send_bytes});
    if (&round == rounds.data()) distributed::run(keep, {}, from, to);
    complete_stores();
    windows->barrier();
    for (const Piece& piece : round.receives) {
      std::byte* const theirs = windows->of(piece.peer).data();
      distributed::run(piece.steps, {}, {.host = theirs + half * piece.half_bytes}, to);
    }
  }
}

// --- by messages -----------------------------------------------------------------------------------------------------

void ExchangeImpl::pack(const Round& round, int half, const Queue& queue, const Place& from) {
  Half &out_half = outgoing[size_t(half)], &in_half = incoming[size_t(half)];
  for (const Piece& piece : round.sends) distributed::run(piece.steps, queue, from, place_of(out_half));
  if (engine_reaches_device) return;
  complete_stores();
  in_half.moved.wait();
  if (out_half.buffer && !round.sends.empty()) queue.read(out_half.buffer, 0, out_half.memory()).wait();
}

std::unique_ptr<MessagesInFlight> ExchangeImpl::start(const Round& round, int half, const Queue& queue) {
  const std::span<std::byte> sent = outgoing[size_t(half)].memory(), received = incoming[size_t(half)].memory();
  std::vector<OutgoingMessage> out_messages;
  std::vector<IncomingMessage> in_messages;
  for (const Piece& piece : round.sends)
    out_messages.push_back({piece.peer, sent.subspan(size_t(piece.begin), size_t(piece.bytes))});
  for (const Piece& piece : round.receives)
    in_messages.push_back({piece.peer, received.subspan(size_t(piece.begin), size_t(piece.bytes))});
  return engine_reaches_device ? group->start_on_device(queue, out_messages, in_messages)
                               : group->start_alltoallv(out_messages, in_messages);
}

void ExchangeImpl::unpack(const Round& round, int half, const Queue& queue, const Place& from, const Place& to) {
  Half& in_half = incoming[size_t(half)];
  if (in_half.buffer && !engine_reaches_device && !round.receives.empty())
    in_half.moved = queue.write(in_half.buffer, 0, in_half.memory());
  // Own addends lie beside what came, which may just have been written with all that is between.
  distributed::run(round.own_addends, queue, from, place_of(in_half));
  for (const Piece& piece : round.receives) distributed::run(piece.steps, queue, place_of(in_half), to);
  for (const Sum& sum : round.sums) {
    distributed::run(sum.add, queue, place_of(in_half), place_of(sums));
    distributed::run(sum.unpack, queue, place_of(sums), to);
  }
}

/// A round is packed while the one before travels. What is kept moves while the first does.
void ExchangeImpl::pass_messages(const Queue& queue, const Place& from, const Place& to) {
  std::array<std::unique_ptr<MessagesInFlight>, 2> flights;
  const auto half_of = [&](size_t number) { return int(number) % halves; };
  const auto finish = [&](size_t number) {
    MessagesInFlight& flight = *flights[number % 2];
    engine_reaches_device ? flight.wait_in(queue) : flight.wait();
    unpack(rounds[number], half_of(number), queue, from, to);
  };
  for (size_t number = 0; number < rounds.size(); ++number) {
    pack(rounds[number], half_of(number), queue, from);
    flights[number % 2] = start(rounds[number], half_of(number), queue);
    if (number == 0)
      distributed::run(keep, queue, from, to);
    else
      finish(number - 1);
  }
  finish(rounds.size() - 1);
}

void ExchangeImpl::run_on_device(const Queue& queue, const Buffer& from, const Buffer& to) {
  require_usable(false);
  if (from && to && from.impl()->location().space == to.impl()->location().space)
    require_apart(out, from.impl()->location().begin, to.impl()->location().begin);
  if (card_path) return run_through_cards(queue, from, to);
  broken = true;
  const Place input{.buffer = &from}, output{.buffer = &to};
  if (report.path == ExchangePath::local)
    distributed::run(keep, queue, input, output);
  else
    pass_messages(queue, input, output);
  broken = false;
}

// --- straight into the peers' outputs --------------------------------------------------------------------------------

/// The shared output of a rank.
View ExchangeImpl::shared_view(int rank) const {
  View view = View::contiguous(dtype, plan->out_shape(rank));
  view.align = slot_alignment;
  return view;
}

/// What a rank has for its peers, and for itself, in their row-major outputs.
void ExchangeImpl::plan_direct(SharedOutputImpl& output) const {
  const StepMaker maker(options.device, bytes_moved());
  output.in_align = in.align;
  output.copies.clear();
  for (const Transfer& transfer : plan->sends(all->rank())) {
    Piece& piece = output.copies.emplace_back(Piece{place_in_group(transfer.to), 0, 0, 0, {}});
    maker.add(plan->direct(transfer, in, shared_view(transfer.to)), 0, 0, piece.steps);
  }
}

std::unique_ptr<SharedOutputImpl> ExchangeImpl::share_output() {
  if (!report.not_direct.empty()) refuse_shared_output(concat("peers cannot write the output: ", report.not_direct));
  auto output = std::make_unique<SharedOutputImpl>();
  output->owner = this;
  output->group = group;
  output->view = shared_view(all->rank());
  const size_t bytes = size_t(output->view.count()) * size_of(dtype);
  if (card_path) {
    share_output_of_card(*output, bytes);
    return output;
  }
  output->windows = group->share(bytes);
  if (!output->windows) refuse_shared_output("the engine gave no shared memory for an output");
  if (bytes > 0) output->begin = output->windows->of(group->rank()).data();
  plan_direct(*output);
  return output;
}

void ExchangeImpl::refuse_shared_output(std::string why) const {
  throw Error(Errc::unsupported, {.message = std::move(why),
                                  .op = report.what,
                                  .device = options.device.info().label(),
                                  .remedy = "run into an output of your own"});
}

void ExchangeImpl::require_own(const SharedOutputImpl& output) const {
  if (output.owner == this) return;
  throw Error(Errc::usage, {.message = "the shared output is one of another exchange",
                            .op = report.what,
                            .remedy = "give one that this exchange made"});
}

void ExchangeImpl::run_shared(const void* from, SharedOutputImpl& output) {
  require_usable(true);
  require_own(output);
  fit(in, from, "input");
  require_apart(output.view, address_of(from), address_of(output.begin));
  if (in.align != output.in_align) plan_direct(output);
  broken = true;
  output.windows->barrier();
  for (const Piece& piece : output.copies)
    distributed::run(piece.steps, {}, place_of(from), {.host = output.windows->of(piece.peer).data()});
  complete_stores();
  output.windows->barrier();
  broken = false;
}

}  // namespace axisloom
