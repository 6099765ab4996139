// Whoever takes part in a measurement: Axisloom itself, a reference, another library.
#pragma once

#include "bench/cache.hpp"
#include "bench/workload.hpp"

#include "core/not_copied.hpp"

#include <memory>
#include <optional>
#include <string>

namespace axisloom::bench {

/// Seconds since some fixed moment, by the steady clock.
double now();

/// Times of one run, in seconds.
struct Timing {
  double call = 0;               // from the call until the result is there
  std::optional<double> device;  // by the device's own clock
};

/// References do not do the job: copy moves as many bytes, floor as many sectors of memory as the job must touch, read
/// only reads the inputs, peak multiplies and adds in registers.
enum class Role { ours, copy, floor, read, peak, peer };
const char* name(Role role) noexcept;
bool is_reference(Role role) noexcept;

class Contestant : core::NotCopied {
 public:
  /// `how` says in a few words what is called: "cv::transpose, OpenCV 4.6.0".
  Contestant(Workload& workload, std::string name, std::string how, Role role = Role::peer)
      : workload_(workload), name_(std::move(name)), how_(std::move(how)), role_(role) {}
  virtual ~Contestant() = default;

  const std::string& name() const noexcept { return name_; }
  const std::string& how() const noexcept { return how_; }
  Role role() const noexcept { return role_; }

  /// Whether it runs in another process than Axisloom.
  virtual bool elsewhere() const { return false; }
  /// Does its work once, on the same input as everybody, and returns when it is done.
  virtual Timing run() = 0;
  /// Empties the caches that its runs use, and returns the seconds that it took.
  virtual double flush_cache(CacheFlusher& shared) { return shared.flush(); }
  /// Overwrites the place of the result, so that one that is never written is not taken for right.
  virtual void spoil(std::byte value) { workload_.spoil_output(value); }
  /// What it does in a run; of references less than the job.
  virtual Work work() const { return workload_.work(); }
  /// Bytes that a run writes, and leaves for the caches to write back.
  virtual double written() const { return workload_.output_bytes(); }
  /// What is wrong with the result of the last run.
  virtual Mistakes judge() { return workload_.judge(result()); }

 protected:
  Workload& workload() const noexcept { return workload_; }
  /// Where the result lies: host memory laid out as the output buffer, or null for the output buffer itself.
  virtual const std::byte* result() { return nullptr; }
  /// For those who find out what they call while they prepare.
  void describe(std::string how) { how_ = std::move(how); }

 private:
  Workload& workload_;
  std::string name_, how_;
  Role role_;
};

using UniqueContestant = std::unique_ptr<Contestant>;
using Contestants = std::vector<UniqueContestant>;

/// A contestant, or the reason why it cannot take part.
struct Offer {
  UniqueContestant contestant;
  std::string reason;
};

}  // namespace axisloom::bench
