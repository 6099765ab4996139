// What a shell offers as the value of an option or an argument.
#pragma once

#include "cli/generated_text.hpp"

namespace axisloom::cli {

inline constexpr const char *all_peers = "all", *no_peers = "none";
/// As --peers takes them, but for these two words.
Texts peer_names();

struct Suggestions {
  Texts words;
  std::string command = {};  // or the lines that this prints, since they may hold blanks
  bool paths = false;        // or files and folders
};

/// Of an option of the command that is typed as `path`; none of these where anything may stand.
Suggestions suggestions_of(const Option& option, const std::string& path);

}  // namespace axisloom::cli
