// Making an exchange: agreement with the others, with whom and by which path, memory and plans.
#include <axisloom/error.hpp>
#include <axisloom/exchange.hpp>

#include "core/text.hpp"
#include "distributed/agreement.hpp"
#include "distributed/exchange/impl.hpp"

#include <algorithm>

namespace axisloom {

using namespace distributed;

namespace {

std::string what(std::string_view pattern, const Lengths& lengths, std::string_view mesh, const Dims& shape,
                 Dtype dtype) {
  return concat(to_string(rearrange(pattern, lengths)), " over ", mesh.empty() ? "one rank" : mesh, " of ", name(dtype),
                to_string(shape));
}

/// What all ranks have to have in common.
std::string asked_of(const ExchangeImpl& impl) {
  return concat(impl.report.what, " with a workspace of ", impl.options.workspace, " bytes",
                impl.options.windows ? "" : ", without windows");
}

/// The rank of the same group that is first along all mesh axes that are crossed: it stands for the group.
int first_of_group(const Mesh& mesh, u64 crossed, int rank) {
  std::vector<int> at = mesh.coordinates(rank);
  u64 bit = 1;
  for (size_t i = 0; i < at.size(); ++i) {
    if (mesh.axes()[i].extent == 1) continue;
    if (crossed & bit) at[i] = 0;
    bit <<= 1;
  }
  return mesh.rank_at(at);
}

Half half_of(i64 bytes, const Device& device, bool on_host) {
  Half half;
  if (on_host) half.host = Array(Dtype::u8, {bytes});
  if (device.info().api != Api::host) half.buffer = device.allocate(size_t(bytes));
  return half;
}

}  // namespace

std::string_view name(ExchangePath path) noexcept {
  switch (path) {
    case ExchangePath::local:
      return "local";
    case ExchangePath::windows:
      return "windows";
    case ExchangePath::messages:
      return "messages";
  }
  return "unknown";
}

/// A group for each choice of coordinates along the mesh axes that nothing crosses.
void ExchangeImpl::settle_group(u64 crossed) {
  const Mesh& mesh = plan->mesh();
  const int mine = first_of_group(mesh, crossed, all->rank());
  for (int rank = 0; rank < all->size(); ++rank)
    if (first_of_group(mesh, crossed, rank) == mine) members.push_back(rank);
  report.ranks = int(members.size());
  group = report.ranks == all->size() || report.ranks == 1 ? all : all->split(mine);
  for (Slot& slot : sends) slot.peer = place_in_group(slot.whole.to);
  for (Slot& slot : receives) slot.peer = place_in_group(slot.whole.from);
}

int ExchangeImpl::place_in_group(int rank) const {
  return int(std::ranges::lower_bound(members, rank) - members.begin());
}

void ExchangeImpl::settle(const std::vector<Vote>& votes) {
  Vote all_votes{.on_host = true, .on_card = true};
  for (const Vote& vote : votes) {
    all_votes.crossed |= vote.crossed;
    all_votes.rounds_in_halves = std::max(all_votes.rounds_in_halves, vote.rounds_in_halves);
    all_votes.rounds_at_once = std::max(all_votes.rounds_at_once, vote.rounds_at_once);
    all_votes.most_bytes = std::max(all_votes.most_bytes, vote.most_bytes);
    all_votes.on_host = all_votes.on_host && vote.on_host;
    all_votes.on_card = all_votes.on_card && vote.on_card;
  }
  settle_group(all_votes.crossed);
  if (report.ranks == 1) {
    report.reason = report.not_direct = "every rank has what it needs";
    return;
  }
  halves = all_votes.rounds_at_once == 1 ? 1 : 2;
  lay_out(all_votes.rounds_in_halves);
  settle_path(all_votes);
  if (report.path == ExchangePath::messages && halves == 1) lay_out(1);
}

void ExchangeImpl::settle_path(const Vote& all_votes) {
  report.path = ExchangePath::messages;
  const Api api = options.device.info().api;
  engine_reaches_device = api == Api::cuda && group->takes_device_memory();
  if (plan->addends() > 1) {
    report.reason = "addends are added up from messages, in the order of ranks";
  } else if (!all_votes.on_host && !all_votes.on_card) {
    report.reason = "neither have all ranks their arrays in host memory, nor all on cards by CUDA";
  } else if (!options.windows) {
    report.reason = "windows are not wanted";
  } else if (all_votes.on_host ? settle_windows() : settle_cards(all_votes.most_bytes)) {
    report.path = ExchangePath::windows;
    report.reason = concat(all_votes.on_host ? "the ranks" : "the ranks' cards", " reach each other's memory");
    return;
  }
  report.not_direct = report.reason;
  if (api != Api::host)
    report.reason += concat("; messages go ", engine_reaches_device ? "from and to its device" : "by way of the host");
}

/// False where messages have to do it; then the report's reason says why.
bool ExchangeImpl::settle_windows() {
  windows = group->share(size_t(2 * send_bytes));
  if (!windows) report.reason = "the ranks do not reach each other's memory";
  if (windows) tell_places(sends, send_bytes, receives);
  return bool(windows);
}

/// Where in this rank's window the messages of its peers lie, and theirs in the peers' windows.
void ExchangeImpl::tell_places(const std::vector<Slot>& mine, i64 half_bytes, const std::vector<Slot>& theirs) {
  std::vector<WindowSlot> own;
  for (const Slot& slot : mine) own.push_back({.begin = slot.begin, .half_bytes = half_bytes});
  window_slots.resize(theirs.size());
  std::vector<OutgoingMessage> told;
  std::vector<IncomingMessage> heard;
  for (size_t i = 0; i < mine.size(); ++i) told.push_back({mine[i].peer, std::as_bytes(std::span(&own[i], 1))});
  for (size_t i = 0; i < theirs.size(); ++i)
    heard.push_back({theirs[i].peer, std::as_writable_bytes(std::span(&window_slots[i], 1))});
  group->start_alltoallv(told, heard)->wait();
}

void ExchangeImpl::allocate() {
  if (report.path == ExchangePath::windows) {
    report.workspace_bytes = card_path ? halves * receive_bytes : 2 * send_bytes;
    return;
  }
  const Api api = options.device.info().api;
  for (int half = 0; half < halves; ++half) {
    outgoing[size_t(half)] = half_of(send_bytes, options.device, !engine_reaches_device);
    incoming[size_t(half)] = half_of(receive_bytes, options.device, !engine_reaches_device);
  }
  sums = half_of(sum_bytes, options.device, api == Api::host);
  report.workspace_bytes = halves * (send_bytes + receive_bytes) + sum_bytes;
}

namespace {

/// Agrees twice: on what is asked, and on that every rank has the memory and the plans for it.
std::unique_ptr<ExchangeImpl> made(std::unique_ptr<ExchangeImpl> impl, auto&& redistribution) {
  Vote vote;
  std::optional<Error> failure = failure_of([&] {
    impl->prepare(redistribution());
    vote = impl->vote();
  });
  if (failure) failure = failure->with({.op = impl->report.what});
  const std::string asked = asked_of(*impl);
  impl->settle(agree(*impl->all, asked, vote, failure));
  failure = failure_of([&] {
    impl->allocate();
    impl->plan_copies();
  });
  agree(*impl->all, asked, vote, failure);
  return impl;
}

std::unique_ptr<ExchangeImpl> begun(std::string text, Dtype dtype, std::shared_ptr<Communicator> ranks,
                                    const ExchangeOptions& options) {
  if (!ranks) throw Error(Errc::usage, "the communicator of an exchange is empty", "give one");
  auto impl = std::make_unique<ExchangeImpl>();
  impl->dtype = dtype;
  impl->options = options;
  impl->all = std::move(ranks);
  impl->report.what = std::move(text);
  return impl;
}

}  // namespace

Exchange::Exchange(const Redistribution& plan, Dtype dtype, std::shared_ptr<Communicator> ranks,
                   const ExchangeOptions& options)
    : impl_(made(begun(what(plan.pattern(), plan.lengths(), to_string(plan.mesh()), plan.in_shape(), dtype), dtype,
                       std::move(ranks), options),
                 [&] { return plan; })) {}

Exchange::Exchange(std::string_view pattern, std::string_view mesh, const Dims& shape, Dtype dtype,
                   std::shared_ptr<Communicator> ranks, const ExchangeOptions& options, const Lengths& lengths)
    : impl_(made(begun(what(pattern, lengths, mesh, shape, dtype), dtype, std::move(ranks), options),
                 [&] { return Redistribution(pattern, Mesh(mesh), shape, lengths); })) {}

Exchange::Exchange(Exchange&&) noexcept = default;
Exchange& Exchange::operator=(Exchange&&) noexcept = default;
Exchange::~Exchange() = default;

const Redistribution& Exchange::redistribution() const noexcept {
  return *impl_->plan;
}

const ExchangeReport& Exchange::report() const noexcept {
  return impl_->report;
}

const View& Exchange::in_view() const noexcept {
  return impl_->in;
}

const View& Exchange::out_view() const noexcept {
  return impl_->out;
}

void Exchange::run(const void* in, void* out) {
  impl_->run_here(in, out);
}

void Exchange::run(const Queue& queue, const Buffer& in, const Buffer& out) {
  impl_->run_on_device(queue, in, out);
}

void Exchange::run(const void* in, const SharedOutput& out) {
  impl_->run_shared(in, *out.impl_);
}

void Exchange::run(const Queue& queue, const Buffer& in, const SharedOutput& out) {
  impl_->run_shared_on_cards(queue, in, *out.impl_);
}

SharedOutput Exchange::share_output() {
  return SharedOutput(impl_->share_output());
}

SharedOutput::SharedOutput(std::unique_ptr<SharedOutputImpl> impl) : impl_(std::move(impl)) {}
SharedOutput::SharedOutput(SharedOutput&&) noexcept = default;
SharedOutput& SharedOutput::operator=(SharedOutput&&) noexcept = default;
SharedOutput::~SharedOutput() = default;

const View& SharedOutput::view() const noexcept {
  return impl_->view;
}

const Buffer& SharedOutput::buffer() const noexcept {
  static const Buffer none;
  return impl_->card_windows ? impl_->card_windows->own() : none;
}

void* SharedOutput::data() const noexcept {
  return impl_->begin;
}

}  // namespace axisloom
