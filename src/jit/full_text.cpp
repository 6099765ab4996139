// The full text of a specialised kernel: constants, prelude and kernel, with every include replaced by its file.
#include "jit/full_text.hpp"

#include <filesystem>
#include <set>

#include "core/text.hpp"

namespace axisloom::jit {
namespace {

std::string folder_of(const std::string& file) {
  return file.substr(0, file.rfind('/') + 1);
}

std::string_view without_leading_blanks(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  return text;
}

/// What follows "#word" on a line that is that directive.
std::optional<std::string_view> directive(std::string_view line, std::string_view word) {
  line = without_leading_blanks(line);
  if (!line.starts_with('#')) return std::nullopt;
  line = without_leading_blanks(line.substr(1));
  if (!line.starts_with(word)) return std::nullopt;
  return without_leading_blanks(line.substr(word.size()));
}

/// The name in #include "name"; headers in angle brackets are left to the compiler.
std::optional<std::string> included_name(std::string_view line) {
  const auto rest = directive(line, "include");
  if (!rest || !rest->starts_with('"')) return std::nullopt;
  const size_t end = rest->find('"', 1);
  if (end == rest->npos) return std::nullopt;
  return std::string(rest->substr(1, end - 1));
}

/// Host and kernel share some headers; once pasted, each is there once anyway and compilers warn about the pragma.
bool is_pragma_once(std::string_view line) {
  const auto rest = directive(line, "pragma");
  return rest && rest->starts_with("once");
}

/// KERNEL's brace opens AXL_BEGIN as well. It is put there, so that no kernel can lack it.
bool opens_kernel(const std::string& file, size_t number, std::string_view line) {
  if (!line.starts_with("KERNEL(")) return false;
  if (line.ends_with(") {")) return true;
  throw Error(Errc::file, concat(file, " declares a kernel on line ", number, " that goes on in the next"),
              "write KERNEL, its arguments and the brace on one line");
}

/// Pastes files together and takes declarations of constants out. A file goes in where it is first included, whether or
/// not an #if around it holds.
class Expansion {
 public:
  Expansion(const Sources& sources, std::string kernel_folder)
      : sources_(sources), kernel_folder_(std::move(kernel_folder)) {}

  void append(const std::string& included, std::string_view text) {
    const std::string& file = *seen_.insert(included).first;
    mark(file, 1);
    for (size_t number = 1; !text.empty(); ++number) append_line(file, number, core::take_part(text, '\n'));
  }

  const std::string& text() const { return text_; }
  /// Sorted by name.
  const std::vector<Constant>& constants() {
    sort_and_resolve(constants_);
    return constants_;
  }

 private:
  struct Found {
    std::string file;
    std::string_view text;
  };

  void append_line(const std::string& file, size_t number, std::string_view line) {
    if (const auto name = included_name(line)) {
      const Found found = find(*name, file, number);
      if (!seen_.contains(found.file)) {
        append(found.file, found.text);
        mark(file, number + 1);
        return;
      }
    } else if (const auto constant = declared_on(line, file, number)) {
      constants_.push_back(*constant);
    } else if (!is_pragma_once(line)) {
      text_ += line;
      if (opens_kernel(file, number, line)) text_ += " AXL_BEGIN";
    }
    text_ += '\n';
  }

  Found find(const std::string& name, const std::string& includer, size_t number) const {
    for (const std::string& folder : {folder_of(includer), kernel_folder_, std::string("dialect/"), std::string()}) {
      const std::string file = std::filesystem::path(folder + name).lexically_normal().generic_string();
      if (const auto text = sources_(file)) return {file, *text};
    }
    throw Error(Errc::file, concat(includer, " includes \"", name, "\" on line ", number, ", which is not embedded"),
                "place it beside the kernel or in the dialect's folder, with a name that ends in .h");
  }

  /// Lets compiler messages name the file that the next line comes from.
  void mark(const std::string& file, size_t line) { text_ += concat("#line ", line, " \"", file, "\"\n"); }

  const Sources& sources_;
  std::string kernel_folder_;
  std::set<std::string> seen_;
  std::string text_;
  std::vector<Constant> constants_;  // those declared in it, whether or not an #if around them holds
};

/// A kernel file behind its prelude.
Expansion expanded(const std::string& file, Api api, const Sources& sources) {
  const std::string prelude = concat("dialect/on_", name(api), ".h");
  Expansion expansion(sources, folder_of(file));
  expansion.append(prelude, required(sources(prelude), prelude));
  expansion.append(file, required(sources(file), file));
  return expansion;
}

}  // namespace

std::string full_text(const Specialisation& what, Api api, const Sources& sources) {
  Defines set = what.defines;
  set.set("GROUP", what.items);
  if (what.checked) set.set("AXL_CHECKED", 1);
  if (what.resident > 0) set.set("RESIDENT", what.resident);
  Expansion expansion = expanded(what.file, api, sources);
  return "// Axisloom: kernel " + what.kernel + " of " + what.file + "\n" +
         complete(expansion.constants(), set, what.file).text() + expansion.text();
}

std::vector<Constant> declared_constants(const std::string& file, Api api, const Sources& sources) {
  return expanded(file, api, sources).constants();
}

std::string full_text(const Specialisation& what, Api api) {
  return full_text(what, api, find_embedded);
}

}  // namespace axisloom::jit
