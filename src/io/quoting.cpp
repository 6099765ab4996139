// Escaping, byte by byte, with UTF-8 understood.
#include "io/quoting.hpp"

#include "core/integers.hpp"

#include <algorithm>
#include <cctype>

namespace axisloom::io {

namespace {

unsigned byte_at(std::string_view text, size_t at) {
  return at < text.size() ? u8(text[at]) : 0;
}

/// Bytes of the character at the start of `text`, and what it is; no bytes where it is no shortest form of UTF-8.
struct Character {
  size_t bytes = 0;
  u32 code = 0;
};
Character first_of(std::string_view text) {
  constexpr u32 kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned lead = byte_at(text, 0);
  if (lead < 0x80) return {1, lead};
  const size_t bytes = lead >= 0xf0 && lead < 0xf8 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 0;
  if (bytes == 0 || lead >= 0xf8) return {};
  u32 code = lead & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte_at(text, i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte_at(text, i) & 0x3f);
  }
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code < kSmallest[bytes] || code > 0x10ffff || surrogate ? Character{} : Character{bytes, code};
}

/// Control characters, and the marks with which text can be made to read otherwise than it is.
bool steers(u32 code) {
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool separates_or_turns = code >= 0x2028 && code <= 0x202e;
  const bool isolates = code >= 0x2066 && code <= 0x2069;
  return control || separates_or_turns || isolates || code == 0x200e || code == 0x200f;
}

void append_escaped(std::string& out, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const char c : bytes) {
    const auto value = u8(c);
    out += {'\\', 'x', kDigits[value >> 4], kDigits[value & 15]};
  }
}

std::string escaped(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_of(text);
    const std::string_view bytes = text.substr(0, std::max<size_t>(1, character.bytes));
    const bool safe = character.bytes > 0 && (!steers(character.code) || kept.find(text[0]) != kept.npos);
    if (safe)
      out += bytes;
    else
      append_escaped(out, bytes);
    text.remove_prefix(bytes.size());
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) {
  return escaped(text, "");
}

std::string printable_lines(std::string_view text) {
  return escaped(text, "\n\t");
}

std::string in_quotes(std::string_view text) {
  constexpr size_t kLongest = 60;
  std::string out = "'";
  for (const char c : text.substr(0, kLongest)) {
    const bool plain = std::isprint(u8(c)) != 0 && c != '\\';
    if (plain)
      out += c;
    else
      append_escaped(out, {&c, 1});
  }
  return out + (text.size() > kLongest ? "...'" : "'");
}

}  // namespace axisloom::io
