// The full text of a specialised kernel: constants, prelude and kernel, with every include replaced by its file.
#include "jit/full_text.hpp"

#include <filesystem>
#include <map>
#include <mutex>
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

/// What follows "#word" on a line that is that directive; empty on others.
std::string_view directive(std::string_view line, std::string_view word) {
  line = without_leading_blanks(line);
  if (!line.starts_with('#')) return {};
  line = without_leading_blanks(line.substr(1));
  if (!line.starts_with(word)) return {};
  return without_leading_blanks(line.substr(word.size()));
}

/// The name in #include "name"; headers in angle brackets are left to the compiler.
std::optional<std::string> included_name(std::string_view line) {
  const std::string_view rest = directive(line, "include");
  const size_t end = rest.find('"', 1);
  if (!rest.starts_with('"') || end == rest.npos) return std::nullopt;
  return std::string(rest.substr(1, end - 1));
}

/// Host and kernel share some headers; once pasted, each is there once anyway and compilers warn about the pragma.
bool is_pragma_once(std::string_view line) {
  return directive(line, "pragma").starts_with("once");
}

/// KERNEL's brace opens AXL_BEGIN as well. It is put there, so that no kernel can lack it.
bool opens_kernel(const std::string& file, size_t number, std::string_view line) {
  if (!line.starts_with("KERNEL(")) return false;
  if (line.ends_with(") {")) return true;
  throw Error(Errc::file, concat(file, " declares a kernel on line ", number, " that goes on in the next"),
              "write KERNEL, its arguments and the brace on one line");
}

/// CALLED begins a helper that is a function of its own on the host alone. Others get the text that INLINE would make:
/// it is what their caches know a kernel by.
constexpr std::string_view called = "CALLED";
bool is_called(std::string_view line) {
  return line.starts_with(called) && line.substr(called.size()).starts_with(' ');
}

/// Pastes files together and takes declarations of constants out. A file goes in where it is first included, whether or
/// not an #if around it holds.
class Expansion {
 public:
  Expansion(const Sources& sources, std::string kernel_folder, Api api, bool members)
      : sources_(sources), kernel_folder_(std::move(kernel_folder)), api_(api), members_(members) {}

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
      if (members_ && constant->setting) text_ += concat("i32 ", constant->name, ";");
    } else if (!is_pragma_once(line)) {
      text_ += is_called(line) && api_ != Api::host ? concat("INLINE", line.substr(called.size())) : line;
      if (opens_kernel(file, number, line)) text_ += " AXL_BEGIN";
    }
    text_ += '\n';
  }

  Found find(const std::string& name, const std::string& includer, size_t number) const {
    // What one runtime has in its own way stands in a folder of its name: "dialect/host/nvidia/tensor.h".
    const std::string own = concat("dialect/", axisloom::name(api_), "/");
    for (const std::string& folder :
         {own, folder_of(includer), kernel_folder_, std::string("dialect/"), std::string()}) {
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
  Api api_;
  bool members_;  // settings are members of the kernel's structure
  std::set<std::string> seen_;
  std::string text_;
  std::vector<Constant> constants_;  // those declared in it, whether or not an #if around them holds
};

/// A kernel file behind its prelude. `open`: settings are members, for the launch to set.
Expansion expanded(const std::string& file, Api api, const Sources& sources, bool open = false) {
  const auto append = [&](Expansion& expansion, const std::string& name) {
    expansion.append(name, required(sources(name), name));
  };
  Expansion expansion(sources, folder_of(file), api, open);
  append(expansion, concat("dialect/on_", name(api), ".h"));
  append(expansion, file);
  if (api == Api::host) append(expansion, "dialect/host_end.h");
  return expansion;
}

/// All that is set, but for what only the host's text defines.
Defines settled(const Specialisation& what) {
  Defines set = what.defines;
  set.set("GROUP", what.items);
  if (what.checked) set.set("AXL_CHECKED", 1);
  if (what.resident > 0) set.set("RESIDENT", what.resident);
  return set;
}

/// What tells host kernels apart: all that is compiled in.
std::string host_name(const Specialisation& what, const std::vector<Constant>& declared, const Defines& all) {
  std::string text = concat(what.file, " ", what.kernel, " ", what.items);
  for (const Constant& constant : declared) {
    if (constant.setting || constant.name == "GROUP" || constant.name == "RESIDENT") continue;
    const std::string& value = *all.find(constant.name);
    if (!constant.otherwise || value != *constant.otherwise) text += concat(" ", constant.name, "=", value);
  }
  return text + (what.contract ? " contract" : "");
}

/// Begins the host's text of a kernel: the names that dialect/host_end.h makes its function of.
std::string host_names(const std::string& kernel, const std::string& identifier, const std::string& settings) {
  return concat("#define AXL_ENTRY ", identifier, "\n#define AXL_KERNEL kernel", identifier, "\n#define AXL_FUNCTION ",
                kernel, "\n#define AXL_SETTINGS(kernel, values) ", settings, "\n");
}

/// What a host kernel's name says.
Specialisation specialisation_of(std::string_view host_name) {
  Specialisation what;
  what.file = core::take_part(host_name, ' ');
  what.kernel = core::take_part(host_name, ' ');
  what.items = unsigned(core::whole_number<int>(core::take_part(host_name, ' ')).value_or(0));
  while (!host_name.empty()) {
    const std::string_view part = core::take_part(host_name, ' ');
    const size_t equal = part.find('=');
    if (part == "contract")
      what.contract = true;
    else if (part == "AXL_CHECKED=1")
      what.checked = true;
    else
      what.defines.set(part.substr(0, equal), part.substr(std::min(part.size(), equal + 1)));
  }
  return what;
}

std::string headline(const Specialisation& what) {
  return concat("// Axisloom: kernel ", what.kernel, " of ", what.file, "\n");
}

}  // namespace

std::string full_text(const Specialisation& what, Api api, const Sources& sources) {
  Expansion expansion = expanded(what.file, api, sources);
  const Defines all = complete(expansion.constants(), settled(what), what.file);
  const std::string names = api == Api::host ? host_names(what.kernel, "_kernel", "") : "";
  return headline(what) + names + all.text() + expansion.text();
}

std::string built_in_text(std::string_view host_name) {
  const Specialisation what = specialisation_of(host_name);
  Expansion expansion = expanded(what.file, Api::host, find_embedded, true);
  std::string settings;
  size_t number = 0;
  for (const Constant& constant : expansion.constants())
    if (constant.setting) settings += concat("(kernel).", constant.name, " = (values)[", number++, "]; ");
  const Defines all = complete(expansion.constants(), settled(what), what.file, true);
  return headline(what) + host_names(what.kernel, host_identifier(host_name), settings) + all.text() + expansion.text();
}

std::string host_identifier(std::string_view host_name) {
  std::string text = "_";
  for (const char c : host_name) text += core::is_letter(c) || core::is_digit(c) ? c : '_';
  return text;
}

/// What the embedded file of a kernel declares: kept, since plans are made faster than texts are read.
const std::vector<Constant>& embedded_constants(const std::string& file) {
  static std::mutex& mutex = *new std::mutex;
  static auto& known =
      *new std::map<std::string, std::vector<Constant>>;  // never destroyed, as plans may be made still
  const std::lock_guard lock(mutex);
  const auto at = known.find(file);
  return at != known.end() ? at->second : known.emplace(file, declared_constants(file, Api::host)).first->second;
}

HostKernel host_kernel(const Specialisation& what) {
  const std::vector<Constant>& declared = embedded_constants(what.file);
  const Defines all = complete(declared, settled(what), what.file);
  HostKernel kernel{host_name(what, declared, all), {}};
  for (const Constant& constant : declared)
    if (constant.setting) kernel.settings.push_back(number_of(constant, *all.find(constant.name)));
  return kernel;
}

std::vector<Constant> declared_constants(const std::string& file, Api api, const Sources& sources) {
  return expanded(file, api, sources).constants();
}

std::string full_text(const Specialisation& what, Api api) {
  return full_text(what, api, find_embedded);
}

}  // namespace axisloom::jit
