// Parsing and formatting of .npy headers.
#include "io/npy_header.hpp"

#include <algorithm>
#include <charconv>

#include "core/number.hpp"
#include "core/text.hpp"
#include "io/file.hpp"

namespace axisloom::io {

namespace {

/// A dtype that is refused, and what to do about it.
struct Refusal {
  char kind;
  std::string_view what;
  std::string_view remedy;
};
constexpr Refusal kRefusals[] = {
    {'O', "holds pickled Python objects, which are never loaded", "save an array of numbers"},
    {'V', "holds void or structured elements", "save each field as an array of its own (bfloat16: as u16)"},
    {'S', "holds byte strings", "save an array of numbers"},
    {'a', "holds byte strings", "save an array of numbers"},
    {'U', "holds character strings", "save an array of numbers"},
    {'M', "holds dates (datetime64)", "save it as int64: x.view('i8')"},
    {'m', "holds durations (timedelta64)", "save it as int64: x.view('i8')"},
};

/// Reads the few Python literals of a header. No form nests, so nothing recurses.
class LiteralReader {
 public:
  LiteralReader(std::string_view text, const std::string& path) : size_(text.size()), rest_(text), path_(path) {}

  NpyHeader header() {
    NpyHeader header;
    constexpr std::string_view kKeys[] = {"descr", "fortran_order", "shape"};
    bool seen[3] = {};
    expect('{', "header");
    bool comma = true;
    while (!take('}')) {
      if (!comma) refuse("header", "',' or '}' expected");
      const std::string_view key = string("header");
      const auto which = size_t(std::ranges::find(kKeys, key) - kKeys);
      if (which == std::size(kKeys)) fail(path_, "header", fmt::format("unknown key {}", in_quotes(key)));
      if (std::exchange(seen[which], true)) fail(path_, key, "appears twice in the header");
      expect(':', key);
      if (which == 0) descr(header);
      if (which == 1) header.fortran = boolean(key);
      if (which == 2) header.shape = shape();
      comma = take(',');
    }
    skip_space();
    if (!rest_.empty()) refuse("header", "something after its end");
    for (size_t i = 0; i < std::size(kKeys); ++i)
      if (!seen[i]) fail(path_, kKeys[i], "missing in the header");
    return header;
  }

 private:
  [[noreturn]] void refuse(std::string_view field, std::string_view what) const {
    fail(path_, field,
         fmt::format("{} at {} (byte {} of the header's text)", what, in_quotes(rest_), size_ - rest_.size()));
  }

  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n\f\v"), rest_.size())); }

  bool take(char c) {
    skip_space();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char c, std::string_view field) {
    if (!take(c)) refuse(field, fmt::format("'{}' expected", c));
  }

  std::string_view string(std::string_view field) {
    skip_space();
    const char quote = rest_.starts_with('"') ? '"' : '\'';
    if (!rest_.starts_with(quote)) refuse(field, "a string expected");
    const size_t end = rest_.find(quote, 1);
    if (end == rest_.npos) refuse(field, "a string without an end");
    const std::string_view value = rest_.substr(1, end - 1);
    if (value.find('\\') != value.npos) refuse(field, "an escaped character");
    rest_.remove_prefix(end + 1);
    return value;
  }

  bool boolean(std::string_view field) {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    refuse(field, "True or False expected");
  }

  i64 extent() {
    skip_space();
    i64 value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error == std::errc::result_out_of_range) refuse("shape", "an extent of more than 63 bits");
    if (error != std::errc()) refuse("shape", "an integer expected");
    if (value < 0) refuse("shape", "a negative extent");
    rest_.remove_prefix(size_t(end - rest_.data()));
    if (rest_.starts_with('L')) rest_.remove_prefix(1);  // a long integer of Python 2
    return value;
  }

  Dims shape() {
    expect('(', "shape");
    Dims shape;
    bool comma = true;
    while (!take(')')) {
      if (!comma) refuse("shape", "',' or ')' expected");
      if (shape.size() == max_rank) refuse("shape", fmt::format("more than {} axes", max_rank));
      shape.push_back(extent());
      comma = take(',');
      if (shape.size() == 1 && !comma) refuse("shape", "a tuple expected, not a number in parentheses,");
    }
    return shape;
  }

  void descr(NpyHeader& header) {
    skip_space();
    if (rest_.find_first_of("[({") == 0)
      fail(path_, "descr", fmt::format("structured dtype {}", in_quotes(rest_)),
           "save each field as an array of its own");
    const std::string_view whole = string("descr");
    std::string_view code = whole;
    char order = '=';
    if (code.find_first_of("<>=|") == 0) {
      order = code[0];
      code.remove_prefix(1);
    }
    const char kind = code.empty() ? '\0' : code[0];
    for (const Refusal& refusal : kRefusals)
      if (refusal.kind == kind)
        fail(path_, "descr", fmt::format("dtype {} {}", in_quotes(whole), refusal.what), std::string(refusal.remedy));
    const auto dtype = core::numpy_dtype(code);
    if (!dtype)
      fail(path_, "descr", fmt::format("dtype {} is not supported", in_quotes(whole)),
           "save bool, integers of 1 to 8 bytes, float16, float32, float64, complex64 or complex128");
    const bool ordered = size_of(*dtype) > 1;
    if (order == '|' && ordered) fail(path_, "descr", fmt::format("{} lacks a byte order", in_quotes(whole)));
    header.dtype = *dtype;
    header.swapped = ordered && order == '>';
  }

  size_t size_;  // of the whole text
  std::string_view rest_;
  const std::string& path_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& path) {
  return LiteralReader(text, path).header();
}

std::string npy_descr(Dtype dtype) try { return typestr(dtype); } catch (const Error&) {
  return {};
}

std::string format_npy_header(const NpyHeader& header) {
  std::string shape = joined(header.shape, ", ");
  if (header.shape.size() == 1) shape += ",";
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}), }}", npy_descr(header.dtype),
                     header.fortran ? "True" : "False", shape);
}

}  // namespace axisloom::io
