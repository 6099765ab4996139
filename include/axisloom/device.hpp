// Devices, queues, buffers and events: cheap handles that may be copied and shared between threads.
//
// A handle is empty when it is default-constructed or moved from. Using it throws Error(usage), except where its class
// says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace axisloom {

namespace device {  // the classes of the backend interface, src/device/device.hpp
class Device;
class Queue;
class Buffer;
class Event;
}  // namespace device

/// What runs kernels on a device.
enum class Api : std::uint8_t { opencl, cuda, host };
/// What a device is.
enum class Kind : std::uint8_t { cpu, gpu, other };
std::string_view name(Api api) noexcept;    ///< "opencl", "cuda", "host"
std::string_view name(Kind kind) noexcept;  ///< "cpu", "gpu", "other"

/// What a device is and what it can do. Sizes in bytes.
struct DeviceInfo {
  Api api = Api::opencl;             ///< what runs its kernels
  Kind kind = Kind::other;           ///< what it is
  int index = 0;                     ///< among the devices of the same api, from 0
  std::string name;                  ///< as its driver names it
  std::string vendor;                ///< who made it
  std::string platform;              ///< OpenCL platform, "NVIDIA CUDA", or "host"
  std::string driver;                ///< driver version; empty for the host, which has none
  std::string api_version;           ///< "OpenCL 3.0 ...", "CUDA 13.0", or the host's instructions: "x86-64-v4"
  std::string compiler;              ///< who compiles kernels: "NVRTC 13.0", the OpenCL C version, or "GCC 12.2.0"
  std::string architecture;          ///< "sm_90", or a CPU as PoCL's compiler calls it; may be empty
  unsigned compute_units = 0;        ///< as its driver counts them; processors of the host
  std::size_t max_group = 0;         ///< work-items in a group
  std::size_t local_memory = 0;      ///< per group by default
  std::size_t local_memory_max = 0;  ///< per group on request (dynamic on CUDA)
  std::size_t global_memory = 0;     ///< all of its memory
  std::size_t max_allocation = 0;    ///< largest single buffer
  std::size_t base_alignment = 0;    ///< of every buffer the device allocates
  std::size_t last_level_cache = 0;  ///< 0 when the driver does not say
  bool unified_memory = false;       ///< host memory can be used in place
  bool f64 = false;                  ///< has 64-bit floats
  bool f16 = false;                  ///< converts 16-bit floats in hardware; they work without it
  bool byte_dots = false;            ///< a CPU adds four products of bytes to a sum in one step (AVX512-VNNI)
  bool bf16_dots = false;            ///< and two of bf16 (AVX512-BF16)
  bool atomics_64 = false;           ///< has atomic operations on 64 bits
  bool byte_stores = false;          ///< stores single bytes
  bool device_scope_order = false;   ///< groups of one launch can be ordered (the dialect's publish and collect)

  /// The shortest spelling of this device in the device grammar: "opencl:0", "cuda:1", "host".
  std::string spec() const;
  /// "opencl:0 (pthread-skylake-avx512...)", for messages.
  std::string label() const;
};

/// One finished or running command. An empty event is done, and waiting on it returns at once.
class Event {
 public:
  Event() = default;
  /// For the library itself.
  explicit Event(std::shared_ptr<device::Event> impl) : impl_(std::move(impl)) {}
  /// Blocks until the command has finished, even when it throws: Error(device) or Error(device_lost) if the command
  /// failed.
  void wait() const;
  /// Whether it has finished.
  bool done() const;
  /// Seconds the command took by the device's own clock; needs a finished event of a queue made with timing on.
  double seconds() const;
  /// For the library itself.
  const std::shared_ptr<device::Event>& impl() const noexcept { return impl_; }

 private:
  std::shared_ptr<device::Event> impl_;
};

/// Memory that a device can reach. An empty buffer has no bytes; it may stand for an array without elements.
class Buffer {
 public:
  Buffer() = default;
  /// For the library itself.
  explicit Buffer(std::shared_ptr<device::Buffer> impl) : impl_(std::move(impl)) {}
  /// Its size.
  std::size_t bytes() const;
  /// Whether it has memory.
  explicit operator bool() const noexcept { return impl_ != nullptr; }
  /// For the library itself.
  const std::shared_ptr<device::Buffer>& impl() const noexcept { return impl_; }

 private:
  std::shared_ptr<device::Buffer> impl_;
};

/// An in-order queue of commands (an OpenCL command queue, a CUDA stream; on the host each call returns when its
/// command is done).
class Queue {
 public:
  Queue() = default;
  /// For the library itself.
  explicit Queue(std::shared_ptr<device::Queue> impl) : impl_(std::move(impl)) {}
  /// Copies between host memory and a buffer; `offset` in bytes. Return at once; the host memory must outlive the
  /// event. When they throw, it is not in use.
  Event write(const Buffer& to, std::size_t offset, std::span<const std::byte> from,
              std::span<const Event> wait = {}) const;
  Event read(const Buffer& from, std::size_t offset, std::span<std::byte> to, std::span<const Event> wait = {}) const;
  /// Blocks until everything queued so far has finished, even when it throws.
  void finish() const;
  /// For the library itself.
  const std::shared_ptr<device::Queue>& impl() const noexcept { return impl_; }

 private:
  std::shared_ptr<device::Queue> impl_;
};

/// An open device: one context on one piece of hardware.
class Device {
 public:
  Device() = default;
  /// For the library itself.
  explicit Device(std::shared_ptr<device::Device> impl) : impl_(std::move(impl)) {}

  /// Opens the device that a specification names:
  ///   auto | cpu | gpu | cuda[:N] | opencl[:N] | opencl:NAME | host   (NAME: part of the device or platform name,
  ///   case ignored)
  /// "auto" and "" take AXISLOOM_DEVICE when it is set, else the first GPU, else the host. "host" and "cpu" are this
  /// process's own processors: no driver is opened, and a child may use them after a fork. An OpenCL driver's CPU is
  /// "opencl:N".
  /// Throws Error(no_device), which says what was tried, or Error(usage) for a specification that cannot be read.
  static Device open(std::string_view spec = "auto");

  /// A context the caller owns: `context` a cl_context and `id` a cl_device_id. Both are retained.
  static Device borrow_opencl(void* context, void* id);
  /// A CUcontext the caller owns and keeps alive.
  static Device borrow_cuda(void* context);

  /// What it is and what it can do.
  const DeviceInfo& info() const;

  /// Device memory; 0 bytes are allowed. Throws Error(out_of_memory) naming the bytes asked for and the limit.
  Buffer allocate(std::size_t bytes) const;
  /// Host memory used in place on devices with unified memory; Error(unsupported) elsewhere. The caller keeps it alive.
  Buffer wrap(void* host, std::size_t bytes) const;
  /// A cl_mem (retained), a CUdeviceptr (cast to void*) or, on the host, memory of the caller, holding at least
  /// `bytes`.
  Buffer borrow_buffer(void* native, std::size_t bytes) const;

  /// A new in-order queue; `timing` makes Event::seconds available.
  Queue queue(bool timing = false) const;
  /// A cl_command_queue (retained) or CUstream of the caller, on this device's context; the host has none.
  Queue borrow_queue(void* native) const;

  /// Whether it is open.
  explicit operator bool() const noexcept { return impl_ != nullptr; }
  /// For the library itself.
  const std::shared_ptr<device::Device>& impl() const noexcept { return impl_; }

 private:
  std::shared_ptr<device::Device> impl_;
};

/// Every device that can be opened now, CUDA first and the host last; empty when there is none. Never throws for lack
/// of a runtime.
std::vector<DeviceInfo> devices();

/// How many threads run kernels on the host, with the calling one: as many as AXISLOOM_THREADS or OMP_NUM_THREADS says
/// when the host is first used, else as many as the process may use processors.
unsigned host_threads();
/// At most that many of them from now on. Throws Error(usage) for 0.
void set_host_threads(unsigned count);

/// Receives one line of text (no newline) for each thing worth knowing; may be called from any thread, even while
/// set_log returns. An empty one is silence. It may use the library: no lock is held meanwhile, and lines that it
/// causes itself are dropped. What it throws is ignored.
using LogCallback = std::function<void(std::string_view line)>;
void set_log(LogCallback callback);

}  // namespace axisloom
