// Ranks agree by an allgather of texts; MPI comes by libaxisloom_mpi, so that the program needs none itself.
#include "cli/ranks.hpp"

#include "cli/messages.hpp"

#include "core/text.hpp"
#include "device/dynamic_library.hpp"
#include "device/environment.hpp"

#include <axisloom/mpi_job.h>
#include <axisloom/communicator.hpp>
#include <axisloom/device.hpp>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <thread>
#include <utility>

namespace axisloom::cli {
namespace {

std::optional<Error> failure_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(Errc::out_of_memory, "out of host memory", "use smaller arrays, or more ranks");
  } catch (const std::exception& error) {
    return Error(Errc::device, error.what());
  }
  return std::nullopt;
}

/// An error as it travels: its code, and its text, which is not empty.
std::string told(const std::optional<Error>& failure) {
  return failure ? concat(int(failure->code()), " ", error_text(*failure)) : "";
}

// --- libaxisloom_mpi -------------------------------------------------------------------------------------------------

constexpr const char* mpi_library = "libaxisloom_mpi.so";

/// Where it is looked for: what the variable names, or else beside the program and where it is installed.
Texts library_candidates() {
  if (const std::string named = device::environment(mpi_variable); !named.empty()) return {named};
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  const std::filesystem::path installed = folder.parent_path() / AXISLOOM_LIBRARY_FOLDER;
  return {(folder / mpi_library).string(), (installed / mpi_library).string(), mpi_library};
}

/// MPI from its beginning to its end.
class MpiJob {
 public:
  explicit MpiJob(const Launcher& launcher) : library_(library_candidates()) {
    require_functions(launcher);
    if (begin_(&world_) != AXL_OK) throw Error(Errc::device, last_error_(), "see what mpirun says");
    if (!launcher.ranks || *launcher.ranks == world_.ranks) return;
    const std::string message = concat("the launcher started ", *launcher.ranks, " ranks, and ", version_(), " by ",
                                       library_.path(), " knows ", world_.ranks);
    end();
    throw Error(Errc::usage, message,
                concat("start it with the mpirun of that MPI, or let ", mpi_variable, " name a ", mpi_library,
                       " that is compiled against the launcher's"));
  }

  const axl_communicator& world() const { return world_; }
  const char* version() const { return version_(); }
  void end() { end_(&world_); }
  [[noreturn]] void abort(int code) {
    abort_(code);
    std::_Exit(code);
  }

 private:
  void require_functions(const Launcher& launcher) {
    Texts missing;
    library_.require("axl_mpi_begin", begin_, missing);
    library_.require("axl_mpi_version", version_, missing);
    library_.require("axl_mpi_end", end_, missing);
    library_.require("axl_mpi_abort", abort_, missing);
    library_.require("axl_last_error", last_error_, missing);
    if (missing.empty()) return;
    const std::string ranks = launcher.ranks ? concat(*launcher.ranks, " ranks were started, and ") : "";
    throw Error(
        Errc::unsupported,
        concat(ranks, mpi_library, ", by which they reach each other, cannot be used: ",
               library_ ? concat(library_.path(), " lacks ", joined(missing, ", ")) : joined(library_.tried(), "; ")),
        concat("build it against your MPI (cmake -DAXISLOOM_MPI=ON) and let ", mpi_variable,
               " name it, or use python -m axisloom.mpi instead of axisloom; with ", mpi_variable,
               "=off each process works by itself"));
  }

  device::DynamicLibrary library_;
  decltype(&axl_mpi_begin) begin_ = nullptr;
  decltype(&axl_mpi_version) version_ = nullptr;
  decltype(&axl_mpi_end) end_ = nullptr;
  decltype(&axl_mpi_abort) abort_ = nullptr;
  decltype(&axl_last_error) last_error_ = nullptr;
  axl_communicator world_{};
};

/// Ranks that may run on the same processors share them, unless somebody has said how many threads to use.
void share_processors(const Ranks& ranks) {
  for (const char* variable : {"AXISLOOM_THREADS", "OMP_NUM_THREADS"})
    if (!device::environment(variable).empty()) return;
  const auto as_text = [](const cpu_set_t& set) {
    return std::string(reinterpret_cast<const char*>(&set), sizeof set);
  };
  cpu_set_t mine;
  CPU_ZERO(&mine);
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return;
  const int processors = CPU_COUNT(&mine);
  char host[256] = {};
  static_cast<void>(gethostname(host, sizeof host - 1));
  int beside = 0;
  for (const std::string& other : ranks.gathered(as_text(mine) + host)) {
    if (other.substr(sizeof mine) != host) continue;
    cpu_set_t theirs, both;
    std::memcpy(&theirs, other.data(), sizeof theirs);
    CPU_AND(&both, &mine, &theirs);
    if (CPU_COUNT(&both) > 0) ++beside;
  }
  if (beside > 1) set_host_threads(unsigned(std::max(1, processors / beside)));
}

}  // namespace

Ranks::Ranks(std::shared_ptr<Communicator> world) : world_(std::move(world)) {
  on_one_host_ = world_->share(1) != nullptr;
}

std::vector<std::string> Ranks::gathered(const std::string& text) const {
  const i64 length = i64(text.size());
  const std::vector<std::byte> told_lengths = world_->allgather(std::as_bytes(std::span(&length, 1)));
  std::vector<i64> lengths(told_lengths.size() / sizeof length);
  std::memcpy(lengths.data(), told_lengths.data(), told_lengths.size());
  const auto longest = size_t(std::ranges::max(lengths));
  std::vector<std::byte> padded(longest);
  std::ranges::copy(std::as_bytes(std::span(text)), padded.begin());
  const std::vector<std::byte> all = world_->allgather(padded);
  Texts texts;
  for (size_t rank = 0; rank < lengths.size(); ++rank)
    texts.emplace_back(reinterpret_cast<const char*>(all.data()) + rank * longest, size_t(lengths[rank]));
  return texts;
}

std::string Ranks::told_by_first(const std::string& text) const {
  return gathered(first() ? text : "").front();
}

/// The first error there is; `named`: with its rank, where not all have it.
void Ranks::throw_any(const std::vector<std::string>& errors, bool named) const {
  const auto failed = std::ranges::find_if(errors, [](const std::string& error) { return !error.empty(); });
  if (failed == errors.end()) return;
  const bool all = std::ranges::all_of(errors, [&](const std::string& error) { return error == *failed; });
  std::string_view text = *failed;
  const auto code = core::whole_number<int>(core::take_part(text, ' '));
  constexpr std::string_view label = "axisloom: ";
  text.remove_prefix(label.size());
  throw RanksError(Errc(*code),
                   concat(label, named && !all ? concat("rank ", failed - errors.begin(), ": ") : "", text));
}

void Ranks::together(const std::function<void()>& work) const {
  throw_any(gathered(told(failure_of(work))), true);
}

void Ranks::by_first(const std::function<void()>& work) const {
  throw_any(gathered(first() ? told(failure_of(work)) : ""), false);
}

void Ranks::require_same(const std::string& what, const std::string& text, const std::string& remedy) const {
  const Texts all = gathered(text);
  const auto other = std::ranges::find_if(all, [&](const std::string& one) { return one != all.front(); });
  if (other == all.end()) return;
  throw RanksError(Errc::usage, error_text(concat(what, " of rank 0 is ", all.front(), ", and that of rank ",
                                                  other - all.begin(), " is ", *other),
                                           remedy));
}

void refuse_several(const std::string& command) {
  if (const auto started = launcher())
    throw NotForRanks{
        *started, Error(Errc::usage, command + " is not shared among ranks",
                        concat("start it without mpirun; with ", mpi_variable, "=off each process works by itself"))};
}

int refuse_on_ranks(const NotForRanks& refused) {
  // The first rank that ends with an error has mpirun end all, so the others let it speak.
  constexpr std::chrono::milliseconds for_the_first(1000);
  if (refused.launcher.rank == 0)
    say(error_text(refused.error));
  else
    std::this_thread::sleep_for(for_the_first);
  return exit_code(refused.error.code());
}

int run_on_ranks(const Launcher& launcher, const std::function<void(Ranks& ranks)>& work) {
  std::optional<MpiJob> job;
  try {
    job.emplace(launcher);
  } catch (const Error& error) {
    return refuse_on_ranks({launcher, error});
  }
  int code = 0;
  try {
    Ranks ranks(communicator_of(job->world()));
    share_processors(ranks);
    work(ranks);
  } catch (const RanksError& error) {
    if (job->world().rank == 0) say(error.what());
    code = exit_code(error.code());
  } catch (const Error& error) {
    say(error_text(error));
    job->abort(exit_code(error.code()));
  } catch (const std::exception& error) {
    say(error_text(concat("rank ", job->world().rank, ": ", error.what())));
    job->abort(exit_code(Errc::device));
  }
  job->end();
  return code;
}

}  // namespace axisloom::cli
