// A device that compiles by keeping the text, and counts what it is asked for; and folders and variables for one test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "device/device.hpp"

namespace axisloom::test {

inline std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

struct TextProgram : device::Program {
  explicit TextProgram(std::string source) : text(std::move(source)) {}
  std::vector<std::byte> binary() const override { return bytes_of(text); }
  std::string text;
};

/// A launch that a CountingDevice's queue was asked for.
struct RecordedLaunch {
  std::string kernel;
  device::Geometry geometry;
  std::vector<std::size_t> argument_sizes;
};

/// Completes TextProgram::text, as PoCL completes its binaries, and does nothing else.
class RecordingQueue : public device::Queue {
 public:
  struct Done : device::Event {
    void wait() override {}
    bool done() override { return true; }
    double seconds() override { return 0; }
    double seconds_since(device::Event&) override { return 0; }
    void* native() const noexcept override { return nullptr; }
  };
  using Result = std::shared_ptr<device::Event>;

  RecordingQueue(std::vector<RecordedLaunch>& launches, std::string complete)
      : launches_(launches), complete_(std::move(complete)) {}
  Result launch(device::Program& program, const std::string& kernel, const device::Geometry& geometry,
                std::span<const device::Arg> args, device::Waits) override {
    RecordedLaunch& made = launches_.emplace_back(RecordedLaunch{kernel, geometry, {}});
    for (const device::Arg& arg : args) made.argument_sizes.push_back(arg.size);
    dynamic_cast<TextProgram&>(program).text += complete_;
    return std::make_shared<Done>();
  }
  Result write(device::Buffer&, std::size_t, std::span<const std::byte>, device::Waits) override { return nullptr; }
  Result read(device::Buffer&, std::size_t, std::span<std::byte>, device::Waits) override { return nullptr; }
  Result copy(device::Buffer&, std::size_t, device::Buffer&, std::size_t, std::size_t, device::Waits) override {
    return nullptr;
  }
  Result fill(device::Buffer&, std::size_t, std::size_t, std::byte, device::Waits) override { return nullptr; }
  void flush() override {}
  void finish() override {}
  void drain() noexcept override {}
  void* native() const noexcept override { return nullptr; }

 private:
  std::vector<RecordedLaunch>& launches_;
  std::string complete_;
};

class CountingDevice : public device::Device {
 public:
  explicit CountingDevice(Api api, std::string identity = "one device, one driver") : identity_(std::move(identity)) {
    info_.api = api;
  }

  const DeviceInfo& info() const noexcept override { return info_; }
  std::string build_identity() const override { return identity_; }

  std::shared_ptr<device::Program> build(const device::BuildRequest& request) override {
    {
      const std::lock_guard lock(mutex_);
      ++builds_[request.source];
    }
    std::this_thread::sleep_for(build_time);
    if (request.source == faulty_source) throw Error(Errc::device, "the compiler refused the source");
    return std::make_shared<TextProgram>(prefix() + request.source);
  }

  std::shared_ptr<device::Program> load(const device::BuildRequest& request,
                                        std::span<const std::byte> binary) override {
    ++loads;
    if (load_error) throw Error(*load_error, "the runtime failed while loading");
    if (reject_binaries) return nullptr;
    std::string text(reinterpret_cast<const char*>(binary.data()), binary.size());
    EXPECT_EQ(text, prefix() + request.source + added_by_launches);
    return std::make_shared<TextProgram>(std::move(text));
  }

  int builds() const {
    const std::lock_guard lock(mutex_);
    int total = 0;
    for (const auto& [source, count] : builds_) total += count;
    return total;
  }
  int builds_of(const std::string& source) const {
    const std::lock_guard lock(mutex_);
    const auto at = builds_.find(source);
    return at == builds_.end() ? 0 : at->second;
  }

  std::shared_ptr<device::Buffer> allocate(std::size_t) override { return nullptr; }
  std::shared_ptr<device::Buffer> allocate_staging(std::size_t) override { return nullptr; }
  std::shared_ptr<device::Buffer> wrap(void*, std::size_t) override { return nullptr; }
  std::shared_ptr<device::Buffer> borrow_buffer(void*, std::size_t) override { return nullptr; }
  std::shared_ptr<device::Queue> queue(bool) override {
    if (queue_error) throw Error(*queue_error, "the runtime makes no queue");
    return std::make_shared<RecordingQueue>(launches, added_by_launches);
  }
  std::shared_ptr<device::Queue> borrow_queue(void*) override { return nullptr; }
  device::KernelAttributes attributes(device::Program&, const std::string&) override { return {}; }

  static constexpr std::string_view faulty_source = "a source that does not compile";
  std::atomic<int> loads{0};
  std::string added_by_launches;  // to TextProgram::text
  std::vector<RecordedLaunch> launches;
  bool reject_binaries = false;
  std::optional<Errc> load_error;
  std::optional<Errc> queue_error;
  std::chrono::milliseconds build_time{0};

 protected:
  DeviceInfo info_;

 private:
  std::string prefix() const { return "binary for " + identity_ + ": "; }

  std::string identity_;
  mutable std::mutex mutex_;
  std::map<std::string, int> builds_;
};

/// A folder that is gone after the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "axisloom-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// A variable that has its old value again after the test.
class Variable {
 public:
  Variable(std::string name, std::optional<std::string> value) : name_(std::move(name)) {
    if (const char* old = std::getenv(name_.c_str())) old_ = old;
    set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { set(old_); }
  void set(const std::optional<std::string>& value) const {
    if (value)
      ::setenv(name_.c_str(), value->c_str(), 1);
    else
      ::unsetenv(name_.c_str());
  }

 private:
  std::string name_;
  std::optional<std::string> old_;
};

/// The lines that the library logs while this lives.
class LoggedLines {
 public:
  LoggedLines() {
    set_log([this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(line);
    });
  }
  LoggedLines(const LoggedLines&) = delete;
  LoggedLines& operator=(const LoggedLines&) = delete;
  ~LoggedLines() { set_log({}); }

  std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lines_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_file(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace axisloom::test
