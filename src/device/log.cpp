// The user's log callback: the only way in which the library speaks of its own accord.
#include "device/device.hpp"

#include <mutex>
#include <utility>

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

thread_local device::HeldLines* holder = nullptr;  // the outermost of this thread
thread_local bool in_callback = false;

// A line that cannot be kept or given to the callback must not change what the caller gets.
void deliver(const std::string& line) noexcept try {
  std::shared_ptr<const LogCallback> callback;
  {
    const std::lock_guard lock(sink().mutex);
    callback = sink().callback;
  }
  if (!callback) return;
  in_callback = true;
  try {
    (*callback)(line);
  } catch (...) {
  }
  in_callback = false;
} catch (...) {
}

}  // namespace

void set_log(LogCallback callback) {
  auto shared = callback ? std::make_shared<const LogCallback>(std::move(callback)) : nullptr;
  const std::lock_guard lock(sink().mutex);
  sink().callback.swap(shared);  // what the last one holds goes after the lock: that is code of the user's too
}

namespace device {

HeldLines::HeldLines() noexcept {
  if (!holder) holder = this;
}

HeldLines::~HeldLines() {
  if (holder != this) return;
  holder = nullptr;
  for (const std::string& line : lines_) deliver(line);
}

void log(const std::string& line) noexcept try {
  if (in_callback) return;
  if (holder)
    holder->lines_.push_back(line);
  else
    deliver(line);
} catch (...) {
}

}  // namespace device
}  // namespace axisloom
