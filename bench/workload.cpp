// Views and buffers of a case.
#include "bench/workload.hpp"

#include "bench/sectors.hpp"
#include "harness/arena.hpp"
#include "model/device_model.hpp"

#include <algorithm>

namespace axisloom::bench {
namespace {

/// From so many operations a byte on a job is limited by arithmetic: reductions and products with a vector stay below
/// 2, products of matrices of 100 rows are above 10.
constexpr double operations_per_byte = 4;

/// Sectors beyond the bytes of the job that are worth a copy of their own: more than two copies differ by.
constexpr double worth_a_copy = 1.02;

i64 bytes_of(const View& view) {
  return view.bounds().high * size_of(view.dtype);
}

}  // namespace

const char* name(Limit limit) noexcept {
  return limit == Limit::arithmetic ? "arithmetic" : "memory";
}

Workload::Workload(const Case& what, const Device& device, Team& team, u64 seed, Strength strength)
    : text_(what.text),
      op_(what.op),
      options_(what.options),
      views_(views_of(what, 0)),
      device_(device),
      queue_(device.queue(true)),
      team_(team) {
  if (what.in_place || what.expect)
    throw Error(Errc::usage, "cannot time the case " + what.text, "leave out in-place and expect=");
  if (out().count() == 0 || in().count() == 0)
    throw Error(Errc::usage, "there is nothing to time in the case " + what.text);
  describe();
  allocate(seed);
  judge_ = make_judge(*this, strength);
}

void Workload::describe() {
  if (entry().move != nullptr) {
    move_ = in_output_order(entry().move(op_, views_));
    merged_ = core::normalise(*move_);
  }
  reduction_ = reduction_of(op_, views_);
  product_ = product_of(op_, views_);
  const i64 bytes = move_ ? move_->bytes_moved() : entry().bytes(op_, views_);
  work_ = {double(bytes), entry().operations != nullptr ? entry().operations(op_, views_) : 0};
  if (!move_) return;  // who only reads is the reference, or who only computes
  // In whole packets, so that a few bytes of result do not make it another kind of copy.
  plain_copy_ = copy_of(bytes < 64 ? bytes / 2 : bytes / 32 * 16);
  const auto floor = floor_bytes(*merged_, i64(model::model_of(device_.info()).sector));
  if (floor && double(*floor) > worth_a_copy * double(bytes)) floor_copy_ = copy_of(*floor / 2);
}

core::Move Workload::copy_of(i64 bytes) const {
  const i64 element = size_of(in().dtype);
  return {.element = element, .axes = {{std::max<i64>(1, bytes / element), 1, 1}}};
}

Limit Workload::limit() const noexcept {
  return work_.operations > operations_per_byte * work_.bytes ? Limit::arithmetic : Limit::memory;
}

void Workload::allocate(u64 seed) {
  i64 copied = 0;
  for (const auto& copy : {plain_copy_, floor_copy_})
    if (copy) copied = std::max(copied, copy->count() * copy->element);
  for (const View& view : views_) {
    const bool takes_part = &view == &views_.front() || &view == &views_.back();  // in the copy
    const i64 bytes = std::max(bytes_of(view), takes_part ? copied : 0);
    buffers_.push_back(device_.allocate(bytes));
  }
  constexpr u64 apart = 0xD1B54A32D192ED03u;  // seeds of the inputs, so that none is another one shifted
  const std::string_view kind = reduction_ ? std::string_view(reduction_->kind) : entry().known_as;
  for (size_t i = 0; i < inputs(); ++i) {
    const Dtype dtype = views_[i].dtype;
    const u64 its_seed = seed + i * apart;
    data_.push_back(move_ ? Data::of(dtype, its_seed) : Data::numbers(dtype, its_seed, fraction_bits(kind, dtype)));
    if (host(i) != nullptr)
      fill_on_host(team_, data_[i], {host(i), buffer(i).bytes()});
    else
      fill_on_device(device_, queue_, data_[i], buffer(i));
  }
}

Mistakes Workload::judge(const std::byte* result) const {
  if (!judge_.judge) return judge_move(*move_, result);
  return judge_.judge(result != nullptr ? result : on_host(inputs(), fetched_));
}

Mistakes Workload::judge_move(const core::Move& expected, const std::byte* result) const {
  if (host_out() != nullptr) return indexed_on_host(team_, expected, data_[0], result != nullptr ? result : host_out());
  if (result != nullptr) queue_.write(out_buffer(), 0, {result, output_bytes()}).wait();
  return indexed_on_device(device_, queue_, expected, data_[0], out_buffer());
}

void Workload::spoil_output(std::byte value) const {
  queue_.impl()->fill(*out_buffer().impl(), 0, out_buffer().bytes(), value, {})->wait();
}

size_t Workload::output_bytes() const {
  return bytes_of(out());
}

const std::byte* Workload::on_host(size_t i, Bytes& memory) const {
  if (host(i) != nullptr) return host(i);
  memory.resize(bytes_of(views_[i]));
  if (!memory.empty()) queue_.read(buffer(i), 0, memory).wait();
  return memory.data();
}

}  // namespace axisloom::bench
