// The user's log callback: the only way in which the library speaks of its own accord.
#include "device/device.hpp"

#include <exception>
#include <mutex>

namespace axisloom {

namespace {

struct Sink {
  std::mutex mutex;
  std::shared_ptr<const LogCallback> callback;
};

// Never destroyed: runtimes may report from their own threads while the process ends.
Sink& sink() {
  static Sink* const instance = new Sink;
  return *instance;
}

}  // namespace

void set_log(LogCallback callback) {
  auto shared = callback ? std::make_shared<const LogCallback>(std::move(callback)) : nullptr;
  const std::lock_guard lock(sink().mutex);
  sink().callback = std::move(shared);
}

namespace device {

void log(const std::string& line) {
  std::shared_ptr<const LogCallback> callback;
  {
    const std::lock_guard lock(sink().mutex);
    callback = sink().callback;
  }
  if (!callback) return;
  try {
    (*callback)(line);
  } catch (const std::exception&) {
    // A line that could not be logged must not change what the caller gets.
  }
}

}  // namespace device
}  // namespace axisloom
