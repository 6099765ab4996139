// Looking up a profile by its name.
#include "tune/profiles.hpp"

#include "jit/embedded.hpp"
#include "jit/jit.hpp"

#include <axisloom/error.hpp>

namespace axisloom::tune {
namespace {

constexpr std::string_view profile_folder = "tuning/devices/";
constexpr std::string_view profile_ending = ".json";

}  // namespace

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (std::string_view file : jit::embedded_files()) {
    if (!file.starts_with(profile_folder) || !file.ends_with(profile_ending)) continue;
    file.remove_prefix(profile_folder.size());
    file.remove_suffix(profile_ending.size());
    names.emplace_back(file);
  }
  return names;
}

device::Profile profile_named(std::string_view name) {
  const auto text = jit::find_embedded(std::string(profile_folder) + std::string(name) + std::string(profile_ending));
  if (text) return device::parse_profile(name, *text);
  std::string known;
  for (const std::string& one : profile_names()) known += (known.empty() ? "" : ", ") + one;
  throw Error(Errc::usage, "there is no profile \"" + std::string(name) + "\"", "use one of " + known);
}

Device profiled_device(const Device& real, std::string_view name) {
  return Device(device::profiled(real.impl(), profile_named(name)));
}

}  // namespace axisloom::tune
