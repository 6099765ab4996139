// Folders: what is in them; and creating, opening and checking the user's own before anything in them is trusted.
#pragma once

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace axisloom::core {

/// The system's words for an errno value.
std::string system_message(int error = errno);

/// Owns a file descriptor; -1: none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();
  explicit operator bool() const noexcept { return number_ >= 0; }
  int get() const noexcept { return number_; }
  /// From now on somebody else closes it.
  void release() noexcept { number_ = -1; }
  /// False, with errno set, when what was written did not arrive.
  bool close() noexcept;

 private:
  int number_ = -1;
};

/// Why others could replace a folder or write into it; empty when they cannot. It and all folders above it must belong
/// to this user or root, and be writable by nobody else unless they are sticky, as /tmp is.
std::string intruders(const std::filesystem::path& folder);

/// A folder and its missing parents, made for this user alone and opened; else why it cannot be used. `guarded`: also
/// not while there could be intruders.
struct OpenedFolder {
  Descriptor descriptor;
  std::string fault;
};
OpenedFolder open_folder(const std::filesystem::path& folder, bool guarded);

/// What is in an opened folder, by name, sorted; nothing where it cannot be read. std::filesystem's own iterator ends
/// the process when there is no memory left for a name.
std::vector<std::string> names_in(const Descriptor& folder);
/// Paths of the entries whose name begins and ends like that, sorted; none when the folder cannot be read.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder, std::string_view begin,
                                              std::string_view end);

}  // namespace axisloom::core
