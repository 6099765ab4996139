// The ranks of a job: what they do together, and how an error of one becomes an error of all.
#pragma once

#include "cli/launcher.hpp"

#include "core/integers.hpp"

#include <axisloom/error.hpp>
#include <axisloom/exchange.hpp>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace axisloom::cli {

/// What went wrong on one rank, or on several, on all of them alike.
class RanksError : public std::runtime_error {
 public:
  RanksError(Errc code, const std::string& text) : std::runtime_error(text), code_(code) {}
  Errc code() const noexcept { return code_; }

 private:
  Errc code_;
};

class Ranks {
 public:
  /// All ranks make it together, and call each function together.
  explicit Ranks(std::shared_ptr<Communicator> world);

  int rank() const { return world_->rank(); }
  int size() const { return world_->size(); }
  bool first() const { return rank() == 0; }
  const std::shared_ptr<Communicator>& world() const { return world_; }
  /// Whether they reach each other's memory, which those of one host do.
  bool on_one_host() const { return on_one_host_; }

  /// Does it on this rank. Where it fails on any, throws RanksError on all: the error of the first that failed.
  void together(const std::function<void()>& work) const;
  /// Does it on the first rank. Where it fails, throws RanksError on all.
  void by_first(const std::function<void()>& work) const;
  /// Throws RanksError on all unless each gives the same text. `what`: of which it is, "the command line".
  void require_same(const std::string& what, const std::string& text, const std::string& remedy) const;
  /// What the first rank gives.
  std::string told_by_first(const std::string& text) const;
  /// What each rank gives, in the order of ranks.
  std::vector<std::string> gathered(const std::string& text) const;

 private:
  void throw_any(const std::vector<std::string>& errors, bool named) const;

  std::shared_ptr<Communicator> world_;
  bool on_one_host_ = false;
};

/// Begins MPI, does the work on all ranks of the job, and ends it. Returns the exit code of this rank: an error of all
/// is told by the first; one that a rank has by itself ends the job.
int run_on_ranks(const Launcher& launcher, const std::function<void(Ranks& ranks)>& work);

/// What is refused to each process of a launcher alike, before MPI has begun.
struct NotForRanks {
  Launcher launcher;
  Error error;
};
/// The first rank tells it. Returns the exit code.
int refuse_on_ranks(const NotForRanks& refused);
/// Throws NotForRanks where a launcher started several processes: they would do the same, and get into each other's
/// way.
void refuse_several(const std::string& command);

}  // namespace axisloom::cli
