// A folder of the program's own for what PoCL compiles.
//
// PoCL runs what it finds in its folder as it is: a damaged file there ends the process, and a planted one is run. So
// the program lends it one below the folder of compiled programs, for the user alone:
//
//   pocl/made-by-axisloom   as the name says; processes that use the folder hold a shared lock on it
//   pocl/state              what is in kcache, by a digest over names, sizes and times; there only while nobody uses it
//   pocl/kcache             POCL_CACHE_DIR
//
// Who finds the folder in use shares it. Who comes first starts with an empty one, unless it is as the last process
// left it: what has changed since, or was in use by a process that was killed, is compiled again, or comes from the
// folder of compiled programs, whose files have digests.
#pragma once

#include "core/folder.hpp"

#include <optional>

namespace axisloom::cli {

class PoclFolder {
 public:
  /// Sets POCL_CACHE_DIR to such a folder, unless the user has set it, or keeps no compiled programs and PoCL's own
  /// folder will do. Where there is no cache folder to make it in it lies in the folder for temporary files. Nothing
  /// when PoCL is left to itself.
  static std::optional<PoclFolder> take();
  /// Notes what is in the folder, unless another process still uses it.
  void keep() const;
  /// Empties the folder, unless there is none or a process uses it.
  static void clear(const std::filesystem::path& cache);

 private:
  PoclFolder(std::filesystem::path place, core::Descriptor mark) : place_(std::move(place)), mark_(std::move(mark)) {}
  static std::optional<PoclFolder> below(const std::filesystem::path& base);
  bool as_left() const;

  std::filesystem::path place_;
  core::Descriptor mark_;
};

}  // namespace axisloom::cli
