// Looking up embedded sources, in the library or, for development, in a source tree.
#include "jit/embedded.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>

#include "core/text.hpp"
#include "device/environment.hpp"
#include "jit/jit.hpp"

namespace axisloom::jit {
namespace {

namespace fs = std::filesystem;

/// Keeps each text once and for good, so that a view of it never dangles.
std::string_view intern(std::string text) {
  static std::mutex mutex;
  static auto& texts = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return *texts.insert(std::move(text)).first;
}

/// Where the embedded names live in a source tree.
fs::path path_in_tree(const fs::path& root, std::string_view name) {
  if (name.starts_with("tuning/") || name.starts_with("bench/") || name.starts_with("docs/")) return root / name;
  for (const char* const folder : {"dialect/", "distributed/", "model/"})
    if (name.starts_with(folder)) return root / "src" / name;
  return root / "src" / "ops" / name;
}

/// The source tree to read from instead of the library's own table, when development asked for one.
std::optional<fs::path> source_tree() {
#ifdef AXISLOOM_KERNELS_FROM_DISK
  if (const std::string root = device::environment("AXISLOOM_SOURCE"); !root.empty()) return root;
#endif
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> read_from_tree(const fs::path& root, std::string_view name) {
  std::ifstream in(path_in_tree(root, name), std::ios::binary);
  if (!in) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) return std::nullopt;
  return intern(std::move(text));
}

std::vector<std::string_view> names_in_tree(const fs::path& root) {
  struct Place {
    const char* folder;
    const char* base;
    std::vector<std::string> suffixes;
  };
  const Place places[] = {{"src/dialect", "src", {".h", ".kernel"}},
                          {"src/distributed", "src", {".cu", ".h"}},
                          {"src/model", "src", {".h", ".kernel"}},
                          {"src/ops", "src/ops", {".h", ".kernel"}},
                          {"tuning", ".", {".json", ".jsonl"}},
                          {"bench", ".", {".h", ".kernel", ".py", ".cases", ".css", ".js"}},
                          {"docs", ".", {".schema.json"}}};
  std::vector<std::string_view> names;
  for (const auto& [folder, base, suffixes] : places) {
    if (!fs::is_directory(root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const auto ends_so = [&](const std::string& suffix) { return entry.path().string().ends_with(suffix); };
      if (std::ranges::none_of(suffixes, ends_so)) continue;
      names.push_back(intern(entry.path().lexically_relative((root / base).lexically_normal()).generic_string()));
    }
  }
  std::ranges::sort(names);
  return names;
}

std::optional<std::string_view> find_embedded(std::string_view name) {
  if (const auto tree = source_tree()) return read_from_tree(*tree, name);
  const auto table = embedded_table();
  const auto at = std::ranges::lower_bound(table, name, {}, &EmbeddedFile::name);
  if (at == table.end() || at->name != name) return std::nullopt;
  return at->text;
}

std::string_view required(std::optional<std::string_view> text, std::string_view name) {
  if (text) return *text;
  throw Error(Errc::file, concat("no source named \"", name, "\" is embedded in the library"),
              "configure the build again, so that new files are found");
}

std::string_view embedded(std::string_view file) {
  return required(find_embedded(file), file);
}

std::vector<std::string_view> embedded_files() {
  if (const auto tree = source_tree()) return names_in_tree(*tree);
  std::vector<std::string_view> names;
  for (const auto& file : embedded_table()) names.push_back(file.name);
  return names;
}

}  // namespace axisloom::jit
