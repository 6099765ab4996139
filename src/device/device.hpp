// The backend interface: all that Axisloom knows of hardware. opencl/, cuda/ and host/ implement it; nothing else may
// call a runtime.
//
// Every call may throw Error; the code and `call` name the runtime function that failed. Destructors never throw.
// All objects may be used from any thread; a queue's commands run in the order in which they were queued.
#pragma once

#include "core/integers.hpp"
#include "core/not_copied.hpp"
#include "device/fork_mutex.hpp"

#include <axisloom/device.hpp>
#include <axisloom/error.hpp>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace axisloom::device {

class Event;
class Buffer;
class Program;
class Queue;
class Device;
using SharedEvent = std::shared_ptr<Event>;
using SharedBuffer = std::shared_ptr<Buffer>;
using SharedProgram = std::shared_ptr<Program>;
using SharedQueue = std::shared_ptr<Queue>;
using SharedDevice = std::shared_ptr<Device>;

class Event {
 public:
  virtual ~Event() = default;
  virtual void wait() = 0;
  virtual bool done() = 0;
  /// Device time between start and end of the command; throws Error(usage) when the queue has no timing.
  virtual double seconds() = 0;
  /// Device time from the end of an earlier command of the same queue to the end of this one; throws as seconds().
  virtual double seconds_since(Event& earlier) = 0;
  virtual void* native() const noexcept = 0;  // cl_event or CUevent; the host's have none
};

/// Where memory begins. Memory of different spaces never meets.
struct Location {
  const void* space =
      nullptr;  // null: the address space of host and cards; else an allocation whose address is unknown
  u64 begin = 0;
  bool operator==(const Location&) const = default;
};

class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual size_t bytes() const noexcept = 0;
  /// Bytes to which the start is aligned (a power of two), as far as known.
  virtual size_t alignment() const noexcept = 0;
  /// Host address when the buffer is host memory used in place, else null.
  virtual void* host() const noexcept = 0;
  virtual void* native() const noexcept = 0;  // cl_mem, CUdeviceptr or the host's address
  virtual Location location() const noexcept { return {native(), 0}; }
};

/// Memory that somebody may still use who cannot be waited for: it is never freed.
void keep_forever(SharedBuffer buffer);

/// A compiled program. Kernel objects are leased inside Queue::launch and never shared between threads.
class Program {
 public:
  virtual ~Program() = default;
  /// Machine code that Device::load accepts: what was compiled so far, by the build and by launches.
  virtual std::vector<std::byte> binary() const = 0;
};

/// What a kernel uses; -1 where the runtime does not tell.
struct KernelAttributes {
  int registers = -1;      // per work-item
  int spilled_bytes = -1;  // per work-item
  int local_bytes = -1;    // static, per group
  int max_items = -1;      // largest group that can be launched
};

/// A three-dimensional array within a buffer, and the box of it that one bulk copy moves: CUDA's tensor map, from
/// compute capability 9.0 on. Axes fastest first; the first one is contiguous. In local memory a box is swizzled: of
/// every eight rows of 128 bytes, 16-byte chunk c of row r stands at c ^ r.
struct TensorMap {
  size_t begin = 0;                // bytes from the buffer's start; the address is a multiple of 16
  size_t element = 1;              // 1, 2, 4 or 8 bytes
  std::array<u64, 3> extent = {};  // elements
  std::array<u64, 2> pitch = {};   // bytes between neighbours along the second and third axis, multiples of 16
  std::array<u32, 3> box = {};     // elements, at most 256 each; 128 bytes along the first axis
};

/// One kernel argument: a buffer's address, a map of it by value, or bytes by value.
struct Arg {
  Buffer* buffer = nullptr;
  const void* data = nullptr;
  size_t size = 0;
  const TensorMap* map = nullptr;

  static Arg of(Buffer& buffer) { return {&buffer, nullptr, 0}; }
  static Arg of(Buffer& buffer, const TensorMap& map) { return {&buffer, nullptr, 0, &map}; }
  static Arg bytes(const void* data, size_t size) { return {nullptr, data, size}; }
  static Arg value(const auto& one) { return bytes(&one, sizeof one); }  // which must outlive it
};

/// Which launches call the host's threads that sleep for their part; else those that are awake share it.
enum class Wakes : u8 {
  never,
  in_a_row,  // where another run ended a moment ago: so that the next one finds them awake
  always,
};

/// A one-dimensional grid.
struct Geometry {
  u64 groups = 1;
  unsigned items = 1;           // per group; equals the kernel's required group size
  size_t local_bytes = 0;       // dynamic local memory; of CUDA and the host (OpenCL kernels declare theirs)
  unsigned cluster = 1;         // groups per cluster; CUDA only
  bool awaits_earlier = false;  // CUDA only: the kernel itself waits for what was queued before, and may start earlier
  unsigned most_threads = ~0U;  // that take part; host only
  Wakes wakes = Wakes::always;  // host only
  bool rehearsal = false;       // OpenCL only: of two dimensions, the second of size 1, as nothing else is launched
};

using Waits = std::span<const SharedEvent>;

/// Memory that runs on a queue share, one after the other; held while a run is queued.
struct Scratch {
  ForkMutex mutex;
  SharedBuffer memory;   // contents undefined
  SharedBuffer tickets;  // zero between runs
};

/// A launch that lacks nothing but its arguments.
class ReadyLaunch {
 public:
  virtual ~ReadyLaunch() = default;
  /// Takes the arguments as the kernel does: the address of each one's value, of a buffer those of its address and its
  /// (i64) offset. Done when it returns.
  virtual void run(const void* const* args) const = 0;
};

/// What throws has queued nothing, or has waited for it.
class Queue {
 public:
  virtual ~Queue() = default;
  virtual SharedEvent launch(Program& program, const std::string& kernel, const Geometry& geometry,
                             std::span<const Arg> args, Waits waits) = 0;
  virtual SharedEvent write(Buffer& to, size_t offset, std::span<const std::byte> from, Waits waits) = 0;
  virtual SharedEvent read(Buffer& from, size_t offset, std::span<std::byte> to, Waits waits) = 0;
  virtual SharedEvent copy(Buffer& from, size_t from_offset, Buffer& to, size_t to_offset, size_t bytes,
                           Waits waits) = 0;
  virtual SharedEvent fill(Buffer& to, size_t offset, size_t bytes, std::byte value, Waits waits) = 0;
  /// From now on launches may return no event: for callers who order their work by the stream itself. On CUDA an event
  /// costs a call of the driver for each launch.
  virtual void omit_events() {}
  virtual void flush() = 0;
  virtual void finish() = 0;
  /// Waits for what was queued while an error is on its way, so that memory in use can go: also on a lost device.
  virtual void drain() noexcept = 0;
  virtual void* native() const noexcept = 0;  // cl_command_queue or CUstream; the host's have none
  /// Of immediate queues: a launch of one of their device's programs. Keeps references to all that it is given, and to
  /// the queue's device.
  virtual std::unique_ptr<ReadyLaunch> ready(Program&, const std::string& /*kernel*/, const Geometry&) {
    throw Error(Errc::unsupported, "this queue launches nothing at once");
  }

  /// The plans' own: workspaces of runs that were given none.
  Scratch scratch;

 protected:
  /// Runs `calls`. When one fails, what was queued before has finished when the error goes on, also on a lost device.
  auto or_drained(auto&& calls) {
    try {
      return calls();
    } catch (...) {
      drain();
      throw;
    }
  }
};

/// What to build: full source text, or a binary of an earlier build; options are the runtime's own.
struct BuildRequest {
  std::string name;  // for messages: "rearrange/tile"
  std::string source;
  std::vector<std::string> options;
  unsigned resident = 0;  // groups that a compute unit should hold; 0: as many as the compiler likes
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const noexcept = 0;
  /// What kernels are compiled for, where plans are made for another device than the one that runs them.
  virtual const DeviceInfo& compiled_for() const noexcept { return info(); }
  /// True once a call failed with Errc::device_lost; `open` then makes a fresh device in its place.
  virtual bool lost() const noexcept { return false; }
  /// All that a binary depends on besides its source: platform, device and driver versions, compiler, architecture.
  virtual std::string build_identity() const = 0;

  virtual SharedBuffer allocate(size_t bytes) = 0;
  /// Page-locked host memory for staging; Buffer::host() is set.
  virtual SharedBuffer allocate_staging(size_t bytes) = 0;
  /// Host memory in place; null where the device cannot.
  virtual SharedBuffer wrap(void* host, size_t bytes) = 0;
  virtual SharedBuffer borrow_buffer(void* native, size_t bytes) = 0;

  virtual SharedQueue queue(bool timing) = 0;
  virtual SharedQueue borrow_queue(void* native) = 0;
  /// A queue whose commands go first where others are ready too, as far as the device can tell them apart.
  virtual SharedQueue urgent_queue() { return queue(false); }
  /// A queue for any number of threads at a time, whose commands are done when their calls return and wait for no
  /// others; null where commands are done later.
  virtual SharedQueue immediate_queue() { return nullptr; }

  /// Whether `build` can: not where all kernels are compiled with the library.
  virtual bool can_build() const { return true; }
  /// Compiles. A compiler error is Error(device) with the build log as its message.
  virtual SharedProgram build(const BuildRequest& request) = 0;
  /// Loads a binary; null when the runtime rejects it (the caller then builds from source).
  virtual SharedProgram load(const BuildRequest& request, std::span<const std::byte> binary) = 0;
  /// A kernel that was compiled with the library, for launches with these settings: what is chosen when a plan is made,
  /// in the order of their names. Null where there is none; `build` may then do.
  virtual SharedProgram built_in(const std::string& /*name*/, std::span<const i32> /*settings*/) { return nullptr; }
  virtual KernelAttributes attributes(Program& program, const std::string& kernel) = 0;

  /// The program cache's own: the compiled programs of this device, so that they go with it. A Program therefore must
  /// not own its Device. They are released after the members of a derived class, unless its destructor resets this
  /// before.
  std::shared_ptr<void> cached_programs;

  /// Whether it stays open until the process ends, so that plans for it may be remembered as long.
  bool stays_open = false;
};

/// What a platform's compiler gets wrong, and the build option by which kernels go round it.
struct Workaround {
  std::string_view platform;
  std::string_view option;
  std::string_view why;
};
std::vector<Workaround> workarounds(const DeviceInfo& device);

/// What was looked for and found when a runtime was opened; `doctor` prints it.
struct RuntimeStatus {
  std::string name;  // "OpenCL", "CUDA driver", "NVRTC", "host"
  bool found = false;
  std::string library;                                          // file that was opened
  std::vector<std::string> tried;                               // places looked at, in order
  std::vector<std::pair<std::string, std::string>> facts = {};  // "ICD file" -> path, "driver" -> version, ...
  std::string remedy = {};                                      // what to install or set, empty when all is well
};

/// One of the runtimes. Never throws for lack of a library or a device.
class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual std::vector<DeviceInfo> devices() = 0;
  virtual SharedDevice open(int index) = 0;
  virtual std::vector<RuntimeStatus> status() = 0;
};

/// Whether it is the host as it is, and not as a profile has it run what GPUs run.
inline bool is_host(const DeviceInfo& device) {
  return device.api == Api::host && device.kind == Kind::cpu;
}

Runtime& opencl_runtime();
Runtime& cuda_runtime();
Runtime& host_runtime();
/// The host with kernels that need no more than an instruction set, as AXISLOOM_ISA names them: "v3". Throws
/// Error(unsupported) for one that this processor lacks.
SharedDevice host_limited_to(std::string_view isa);

/// In the order in which devices are listed and chosen.
inline constexpr Api all_apis[] = {Api::cuda, Api::opencl, Api::host};
Runtime& runtime_of(Api api);
/// As its makers write it: "OpenCL", "CUDA", "host".
std::string_view title(Api api) noexcept;
SharedDevice borrow_opencl(void* context, void* id);
SharedDevice borrow_cuda(void* context);

/// The device grammar: auto | cpu | gpu | cuda[:N] | opencl[:N] | opencl:NAME | host. Used by the library, CLI and
/// Python.
struct Spec {
  enum class Which { automatic, cpu, gpu, api } which = Which::automatic;
  Api api = Api::opencl;
  std::optional<int> index;
  std::string name;
};
Spec parse_spec(std::string_view text);
/// Whether it leaves the choice to us: "auto", or nothing.
bool is_automatic(std::string_view text);
/// The open device that a specification names; devices stay open and are shared by all that ask.
SharedDevice open(std::string_view spec);

/// Error(after_fork) in a process that forked after a driver was used: its threads do not survive a fork. Objects of
/// the host know no drivers, and work in such a process.
void require_same_process();

/// Sends a line to the user's log callback; a line of which the callback itself is the cause is dropped.
void log(const std::string& line) noexcept;

/// While one lives, the lines that its thread logs wait; they go out with the outermost one. Whoever holds a lock, or
/// has promised something to other threads, makes one before: the callback is the user's code, and may plan and run.
class HeldLines : core::NotCopied {
 public:
  HeldLines() noexcept;
  ~HeldLines();

 private:
  friend void log(const std::string& line) noexcept;
  std::vector<std::string> lines_;
};

}  // namespace axisloom::device
