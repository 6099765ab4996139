// Colours and bold letters, where a terminal shows them and the user wants them.
#pragma once

#include <string>
#include <string_view>

namespace axisloom::cli {

enum class Colour { bold, red };

/// Whether a stream of this number is a terminal that takes colours; NO_COLOR and TERM=dumb say that it is not to.
bool is_coloured(int stream);
/// The text between the codes of a terminal.
std::string painted(std::string_view text, Colour colour);
/// The same of what stands at the start of a text, up to and with its first colon.
std::string painted_label(std::string_view text, Colour colour);

}  // namespace axisloom::cli
