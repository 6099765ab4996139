// Sources that travel inside the library: kernels, the dialect, the shipped tuning store, and
// the profiles of devices.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace axisloom::jit {

struct EmbeddedFile {
  std::string_view name;  // "rearrange/tile.kernel", "dialect/on_cuda.h", "tuning/devices/h200.json"
  std::string_view text;
};

/// The table that tools/embed.cmake writes, sorted by name.
std::span<const EmbeddedFile> embedded_table();

/// As `embedded`, but empty where there is no such file.
std::optional<std::string_view> find_embedded(std::string_view name);
/// The text that was found by that name; Error(file) where there is none.
std::string_view required(std::optional<std::string_view> text, std::string_view name);

/// The same names looked up in a source tree, for development: a kernel edited there is used without building the
/// library again. The text stays valid for the life of the process.
std::optional<std::string_view> read_from_tree(const std::filesystem::path& root, std::string_view name);
std::vector<std::string_view> names_in_tree(const std::filesystem::path& root);

}  // namespace axisloom::jit
