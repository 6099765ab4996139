// From a kernel's source and its compiled-in constants to a program on a device, by way of the cache.
#pragma once

#include "core/integers.hpp"
#include "device/device.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace axisloom::jit {

/// Compiled-in constants, written as #define. Setting a name twice with another value throws Error(usage).
class Defines {
 public:
  Defines& set(std::string_view name, i64 value);
  Defines& set(std::string_view name, std::string_view token);  // a type or identifier
  std::string text() const;                                     // sorted, one #define a line
  using Values = std::vector<std::pair<std::string, std::string>>;
  const Values& values() const { return values_; }       // sorted by name
  const std::string* find(std::string_view name) const;  // null: it is not set
  bool operator==(const Defines&) const = default;

 private:
  Values values_;
};

/// One kernel, specialised. `file` names an embedded source such as "rearrange/tile.kernel".
struct Specialisation {
  std::string file;
  std::string kernel;  // function name within it
  Defines defines;
  unsigned items = 1;     // required group size; becomes GROUP in the kernel
  bool checked = false;   // the CHECKED prelude
  bool contract = false;  // a*b+c may be rounded once: matrix products only
  unsigned resident = 0;  // groups that a compute unit should hold, to which registers are fitted; becomes RESIDENT
};

/// Text of an embedded file: kernels by "op/variant.kernel", the dialect by "dialect/on_opencl.h". Read from the folder
/// in AXISLOOM_SOURCE when the library was configured with the development option AXISLOOM_KERNELS_FROM_DISK.
std::string_view embedded(std::string_view file);
std::vector<std::string_view> embedded_files();

/// Everything the compiler sees: the constants, the prelude of the api, the kernel. An #include "name" is replaced by
/// the embedded file of that name beside the including file, in the kernel's folder, in dialect/, or by its whole name;
/// each file goes in once. #line directives let compiler messages name the file that a line comes from. A constant that
/// no line CONSTANT(NAME, KIND) declares, or that is missing or of another kind, throws Error(usage).
std::string full_text(const Specialisation& what, Api api);

/// Build options for a device: the one list for all kernels. No fast-math; contraction only where `contract` is set;
/// `checked` as in a specialisation.
std::vector<std::string> build_options(const DeviceInfo& device, bool contract = false, bool checked = false);

/// What a kernel will be launched with, as far as a runtime compiles for it.
struct LaunchForm {
  u64 groups = 1;
  std::size_t buffers = 0;       // its arguments before the parameters
  std::size_t params_bytes = 0;  // of its PARAMS structure
};

/// The program for a specialisation, ready for launches of this form: from memory, else from disk, else compiled. A
/// launch of it compiles nothing more. Safe for any number of threads and processes; threads that ask for the same
/// program at the same time compile it once.
std::shared_ptr<device::Program> obtain(device::Device& device, const Specialisation& what, const LaunchForm& form);

/// The name of a kernel that a host device lacks, since it was not compiled with the library; empty where it has it,
/// and for other devices.
std::string missing(device::Device& device, const Specialisation& what);

/// Counters since the process began.
struct CacheStats {
  u64 memory_hits = 0, disk_hits = 0, compiles = 0, damaged = 0, stored = 0;
};
CacheStats cache_stats();

/// Where compiled programs are kept: $AXISLOOM_CACHE_DIR ("off": nowhere), else the user's cache folder, at most
/// $AXISLOOM_CACHE_BYTES in all (default 256M). `path` is empty when disk caching is off or the folder cannot be used;
/// `why` then says why. It is also set when an entry could not be written.
struct CacheFolder {
  std::string path;
  u64 bytes = 0;
  u64 entries = 0;
  std::string why;
};
CacheFolder cache_folder();
/// Its path alone.
std::string cache_path();
/// Removes every entry of the folder; returns how many.
u64 clear_cache_folder();
/// Drops the programs held in memory, and reads the environment again; for tests.
void forget_programs();

/// SHA-256 as 64 hexadecimal digits (FIPS 180-4).
std::string sha256(std::span<const std::byte> data);
std::string sha256(std::string_view text);

}  // namespace axisloom::jit
