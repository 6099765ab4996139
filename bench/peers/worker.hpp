// A Python process that runs peers from Python's world on the same data, and times them itself.
#pragma once

#include "bench/workload.hpp"

#include "core/not_copied.hpp"
#include "io/file.hpp"

#include <nlohmann/json.hpp>

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>

namespace axisloom::bench {

/// Memory of a file, mapped and shared.
class SharedMemory : core::NotCopied {
 public:
  SharedMemory();
  ~SharedMemory();

  int file() const noexcept { return file_.get(); }
  std::span<std::byte> span() const noexcept { return mapped_; }
  /// At least so many bytes; the contents may be lost.
  void reserve(size_t bytes);

 private:
  void unmap() noexcept;

  io::Descriptor file_;
  std::span<std::byte> mapped_;
};

/// Requests and replies are lines of JSON over a socket; arrays travel through memory that both have mapped. The worker
/// ends when the socket closes.
class Worker {
 public:
  /// Starts $AXISLOOM_PYTHON, else python3. Throws Error(unsupported) when there is none.
  Worker();
  /// Waits for it.
  ~Worker();

  /// What it found: "numpy", "torch" and "cuda" name versions and the card, or are null.
  const nlohmann::json& facts();
  /// Gives the worker the arrays of a workload, unless it has them already.
  void load(const Workload& workload);
  /// Throws Error(unsupported) with the worker's words when it reports an error.
  nlohmann::json ask(const nlohmann::json& request);
  /// The shared memory: where a result lies after the request "fetch".
  std::span<std::byte> memory() const noexcept { return memory_.span(); }

 private:
  void start(int its_socket);
  std::string receive_line();

  pid_t process_ = -1;
  SharedMemory memory_;
  io::Descriptor socket_;
  std::string received_;
  std::string loaded_;  // which workload it has
  nlohmann::json facts_;
};

}  // namespace axisloom::bench
