// The words are those of the tables that the parsers of values go by.
#include "cli/suggestions.hpp"

#include "bench/peers/peers.hpp"
#include "cli/app.hpp"
#include "harness/draft.hpp"

#include "model/profile.hpp"

#include <functional>
#include <map>

namespace axisloom::cli {
namespace {

Texts words_of_dtypes() {
  Texts words;
  for (const Dtype dtype : all_dtypes()) words.emplace_back(name(dtype));
  return words;
}

/// Those that need no device to be looked for.
Texts words_of_devices() {
  return {"auto", "cpu", "gpu", "cuda", "opencl", "host"};
}

Texts words_of_peers() {
  Texts words{all_peers, no_peers};
  for (const std::string& peer : peer_names()) words.push_back(peer);
  return words;
}

Texts words_of_profiles() {
  const auto names = model::profile_names();
  return {names.begin(), names.end()};
}

/// The first column of the table of cases.
std::string command_of_cases(const std::string& path) {
  return path + " --device host --list 2> /dev/null | sed \"1d; s/  .*//\"";
}

}  // namespace

Texts peer_names() {
  Texts names;
  for (const bench::PeerEntry& peer : bench::peer_table())
    if (peer.role == bench::Role::peer) names.emplace_back(peer.name);
  return names;
}

Suggestions suggestions_of(const Option& option, const std::string& path) {
  static const std::map<std::string, std::function<Texts()>> kinds{
      {dtype_value, words_of_dtypes}, {device_value, words_of_devices}, {layout_value, layouts},
      {reduction_value, reducers},    {peers_value, words_of_peers},    {profile_value, words_of_profiles}};
  const std::string kind = option.get_type_name();
  if (const auto known = kinds.find(kind); known != kinds.end()) return {known->second()};
  if (kind == case_value) return {{}, command_of_cases(path)};
  return {choices(option), {}, takes_path(option)};
}

}  // namespace axisloom::cli
