// Errors of Axisloom: one exception type with a code, and the parts of its message kept apart.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace axisloom {

/// What went wrong. `exit_code` maps each to the exit code of the command line.
enum class Errc {
  usage,          ///< an invalid argument that is none of the next four: option, layout, alignment, empty handle
  shape,          ///< extents, strides, offsets or numbers of axes that no array has, or that do not go together
  dtype,          ///< a dtype that does not exist, or not here
  axis,           ///< a number of an axis that the array does not have, or a list of axes that is none
  pattern,        ///< a pattern that cannot be read, or whose names and lengths do not go together
  overlap,        ///< output and input share memory, or could
  unsupported,    ///< correct, but this device or build lacks a feature that it needs
  no_device,      ///< no device at all, or none of that name
  file,           ///< a file that cannot be read or written, or is not what it claims
  out_of_memory,  ///< an allocation larger than the device or host grants
  device,         ///< a runtime call failed; `call` and `native` say which and how
  device_lost,    ///< the device, context or queue is gone; nothing on it can be used again
  after_fork,     ///< the process forked after a device other than the host was opened
};

/// Short name of a code, for messages and logs ("usage", "device_lost").
std::string_view name(Errc code) noexcept;

/// Exit code of the command line for an error: 2 usage and what is like it, 3 no device, 4 file, 5 device failure.
int exit_code(Errc code) noexcept;

/// The parts of an error message. Empty parts are left out of `what()`.
struct ErrorParts {
  std::string message = {};  ///< one sentence: what is wrong
  std::string op = {};       ///< operation, e.g. "rearrange"
  std::string shapes = {};   ///< shapes and dtypes concerned, e.g. "f32[3,4] -> f32[4,3]"
  std::string device = {};   ///< device name as the device grammar spells it, e.g. "opencl:0 (pthread-...)"
  std::string call = {};     ///< runtime call that failed, e.g. "clEnqueueNDRangeKernel"
  int native = 0;            ///< native code of that call; 0 when there is none
  std::string remedy = {};   ///< what the user can do about it
};

/// The only exception type that the library throws, but for one: where the host has no memory left for the library's
/// own data, std::bad_alloc passes through, since a message would need memory too. An array or device memory that
/// cannot be allocated is an Error(out_of_memory) that names the bytes. After either, nothing new is held, and
/// everything can be tried again.
class Error : public std::runtime_error {
 public:
  /// All parts that are known.
  Error(Errc code, ErrorParts parts);
  /// A message and its remedy, with nothing else known yet.
  Error(Errc code, std::string message, std::string remedy = {});

  /// What went wrong, and the parts of its message.
  Errc code() const noexcept { return code_; }
  const ErrorParts& parts() const noexcept { return parts_; }

  /// The same error with the parts that are still empty taken from `context`.
  Error with(const ErrorParts& context) const;

 private:
  Errc code_;
  ErrorParts parts_;
};

}  // namespace axisloom
