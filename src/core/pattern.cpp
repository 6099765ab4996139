// Parsing of einops patterns: text to groups of axes. Lengths and shapes are bound elsewhere.
#include "core/pattern.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <set>

namespace axisloom::core {
namespace {

constexpr std::string_view arrow = "->";
constexpr std::string_view ellipsis = "...";

bool is_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '.';
}

/// Whether a name may stand twice on one side, whether each letter is a name of its own, and whether axes may be cut.
struct Spelling {
  bool repeats = false;
  bool letters = false;
  bool cuts = false;
};

/// Parses one side of a pattern: text[begin, end).
class SideParser {
 public:
  SideParser(std::string_view text, size_t begin, size_t end, Spelling spelling)
      : text_(text), at_(begin), end_(end), spelling_(spelling) {}

  Side parse() {
    while (at_ < end_) {
      const char c = text_[at_];
      if (c == '(')
        open();
      else if (c == ')')
        close();
      else if (is_word(c))
        word();
      else if (spelling_.cuts && c == '@')
        fail(here(), "the cut stands behind no axis", "write '@' right behind an axis or a parenthesis: s@x, (h w)@x");
      else if (spelling_.cuts && c == '+')
        addend();
      else if (c != ' ')
        fail(here(), "the pattern has a character that is not allowed there",
             "use names of ASCII letters, digits and underscores, numbers, spaces, parentheses and '...'");
      else
        ++at_;
    }
    if (in_group_) throw fault(text_, group_.column, 1, "the parenthesis is never closed", "add ')'");
    return std::move(side_);
  }

 private:
  int column_of(std::string_view token) const { return int(token.data() - text_.data()); }

  [[noreturn]] void fail(std::string_view token, const std::string& message, const std::string& remedy) const {
    throw fault(text_, column_of(token), int(token.size()), message, remedy);
  }

  std::string_view here() const { return text_.substr(at_, 1); }

  void open() {
    if (in_group_) fail(here(), "parentheses cannot be nested", "compose axes on one level: (a b c)");
    if (!side_.addends.empty())
      fail(here(), "an axis stands behind '+'", "write the mesh axes of addends at the end of the side");
    group_ = Group{.composed = true, .column = int(at_)};
    in_group_ = true;
    ++at_;
  }

  void close() {
    if (!in_group_) fail(here(), "the parenthesis was never opened", "remove it, or add '('");
    in_group_ = false;
    ++at_;
    if (cut_follows()) {
      if (group_.axes.empty() && !group_.ellipsis)
        fail(here(), "there is no axis in the parenthesis to cut", "name one: (h w)@x");
      group_.cuts = cuts();
    }
    side_.groups.push_back(std::move(group_));
  }

  void word() {
    const size_t begin = at_;
    at_ = end_of_word();
    const std::string_view token = text_.substr(begin, at_ - begin);
    if (!side_.addends.empty())
      fail(token, "an axis stands behind '+'", "write the mesh axes of addends at the end of the side");
    if (!in_group_) group_ = Group{.column = int(begin)};
    if (token.find('.') != token.npos)
      add_ellipsis(token);
    else if (std::ranges::all_of(token, is_digit))
      add_anonymous(token);
    else
      add_named(token);
    if (cut_follows()) {
      if (group_.axes.empty() || group_.axes.back().column != int(begin) || group_.axes.back().name.empty())
        fail(token, "what stands before '@' has no name", "name the axis that is to be cut");
      group_.axes.back().cuts = cuts();
    }
    if (!in_group_) side_.groups.push_back(std::move(group_));
  }

  size_t end_of_word() const {
    size_t last = at_ + 1;
    if (spelling_.letters && is_letter(text_[at_])) return last;
    while (last < end_ && is_word(text_[last]) && !(spelling_.letters && is_letter(text_[last]))) ++last;
    return last;
  }

  void add_ellipsis(std::string_view token) {
    if (token != ellipsis)
      fail(token, "dots are allowed only in an ellipsis '...' that is separated by spaces",
           "write '...', or remove the dots");
    if (has_ellipsis_) fail(token, "an array has only one ellipsis", "name the other axes");
    has_ellipsis_ = true;
    group_.ellipsis = true;
    group_.at = group_.axes.size();
  }

  void add_anonymous(std::string_view token) {
    const auto length = whole_number<i64>(token);
    if (!length) fail(token, "the length does not fit in 63 bits", "give a smaller one");
    if (*length == 0) fail(token, "an anonymous length must be positive", "give 1 or more");
    if (*length > 1) group_.axes.push_back({.length = *length, .column = column_of(token)});
  }

  void add_named(std::string_view token) {
    if (is_digit(token.front()))
      fail(token, "a name cannot start with a digit", "put a letter first, or a space after the number");
    if (token.front() == '_' || token.back() == '_')
      fail(token, "a name cannot start or end with an underscore", "use it only within a name");
    if (!spelling_.repeats && !names_.insert(token).second)
      fail(token, concat("the name '", token, "' appears twice on one side"), "give each axis its own name");
    group_.axes.push_back(Axis{.name = std::string(token), .column = column_of(token)});
  }

  bool next_is(char c) const { return at_ < end_ && text_[at_] == c; }
  bool cut_follows() const { return spelling_.cuts && next_is('@'); }

  std::string_view take_word() {
    const size_t begin = at_;
    while (at_ < end_ && is_word(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  Cuts cuts() {
    Cuts found;
    while (next_is('@')) {
      Cut& cut = found.emplace_back();
      ++at_;
      if (next_is('('))
        several_mesh_names(cut);
      else
        cut.over.push_back(mesh_name());
      if (!next_is(':')) continue;
      ++at_;
      deal(cut);
    }
    return found;
  }

  void several_mesh_names(Cut& cut) {
    const size_t opened = at_++;
    for (; at_ < end_ && !next_is(')');)
      if (next_is(' '))
        ++at_;
      else
        cut.over.push_back(mesh_name());
    if (at_ == end_) throw fault(text_, int(opened), 1, "the parenthesis is never closed", "add ')'");
    ++at_;
    if (cut.over.empty()) throw fault(text_, int(opened), 2, "the cut names no mesh axis", "name one or more: s@(x y)");
  }

  MeshName mesh_name() {
    const size_t begin = at_;
    const std::string_view token = take_word();
    if (token.empty() || !is_letter(token.front()) || token.find('.') != token.npos)
      throw fault(text_, int(begin), int(std::max<size_t>(token.size(), 1)), "the name of a mesh axis is missing here",
                  "write one that begins with a letter: s@x, s@(x y), +x");
    if (!mesh_names_.insert(token).second)
      fail(token, concat("the mesh axis '", token, "' appears twice on one side"), "use each mesh axis once");
    return {.name = std::string(token), .column = column_of(token)};
  }

  void deal(Cut& cut) {
    const size_t begin = at_;
    const std::string_view token = take_word();
    if (token == "balanced") {
      cut.deal = Deal::balanced;
      return;
    }
    cut.deal = Deal::cyclic;
    const auto block = whole_number<i64>(token);
    if (!block || *block < 1)
      throw fault(text_, int(begin), int(std::max<size_t>(token.size(), 1)), "this is no way to cut an axis",
                  "write ':balanced', or a positive length of blocks that are dealt in turn, as in s@x:64");
    cut.block = *block;
  }

  void addend() {
    if (in_group_) fail(here(), "'+' stands in a parenthesis", "write the mesh axes of addends at the end of the side");
    ++at_;
    side_.addends.push_back(mesh_name());
  }

  std::string_view text_;
  size_t at_;
  size_t end_;
  Spelling spelling_;
  Side side_;
  Group group_;
  bool in_group_ = false;
  bool has_ellipsis_ = false;
  std::set<std::string_view> names_, mesh_names_;
};

size_t find_arrow(std::string_view text) {
  const size_t first = text.find(arrow);
  if (first == text.npos)
    throw fault(text, 0, 0, "the pattern has no '->'", "write the axes of the input, '->', and those of the output");
  const size_t second = text.find(arrow, first + arrow.size());
  if (second != text.npos)
    throw fault(text, int(second), int(arrow.size()), "the pattern has a second '->'", "do one step at a time");
  return first;
}

/// `einsum`: an ellipsis that stands on the right alone is one of no axes there, as in NumPy.
void check_ellipses(const Pattern& pattern, bool einsum) {
  bool on_the_left = false;
  for (const Side& input : pattern.inputs) {
    const Group* group = input.ellipsis();
    if (!group) continue;
    on_the_left = true;
    if (group->composed)
      throw fault(pattern.text, group->column, 1, "an ellipsis on the left cannot be in parentheses",
                  "write '...' alone");
  }
  const Group* group = pattern.output.ellipsis();
  if (group && !on_the_left && !einsum)
    throw fault(pattern.text, group->column, 1, "the ellipsis on the right has no counterpart on the left",
                "add '...' on the left, or name the axes");
}

std::vector<Side> parse_inputs(std::string_view text, size_t arrow_at, Spelling spelling) {
  std::vector<Side> inputs;
  for (const std::string_view part : comma_separated(text.substr(0, arrow_at))) {
    const auto begin = size_t(part.data() - text.data());
    inputs.push_back(SideParser(text, begin, begin + part.size(), spelling).parse());
  }
  return inputs;
}

size_t letters_in(std::string_view text) {
  return size_t(std::ranges::count_if(text, is_letter));
}

/// Whether a pattern of einsum is spelled as NumPy does, a letter an axis.
bool is_compact(std::string_view text, std::span<const Dims> shapes) {
  const size_t middle = std::min(text.find(arrow), text.size());
  std::vector<std::string_view> sides = comma_separated(text.substr(0, middle));
  std::ranges::transform(sides, sides.begin(), trimmed);
  bool names = false, letters = false;  // an operand that is one name of a 1-d array; one that can only be letters
  for (size_t i = 0; i < sides.size(); ++i) {
    const size_t count = letters_in(sides[i]);
    if (count == 0 || sides[i].size() == 1) continue;  // both readings are the same
    const bool one_axis = i < shapes.size() && shapes[i].size() == 1 && count == sides[i].size();
    (one_axis ? names : letters) = true;
  }
  const bool implicit = middle == text.size();
  if (!implicit) sides.push_back(trimmed(text.substr(middle + arrow.size())));
  const auto plain = [implicit](std::string_view side) {
    return std::ranges::all_of(side, [&](char c) { return is_letter(c) || c == '.' || (implicit && c == ' '); });
  };
  return std::ranges::all_of(sides, plain) && (letters || !names || implicit);
}

/// The ellipsis, then every letter that stands once in all the operands, in the order of their codes.
Side implicit_output(const std::vector<Side>& inputs) {
  std::vector<Axis> axes;
  Side output;
  for (const Side& input : inputs)
    for (const Group& group : input.groups) {
      axes.insert(axes.end(), group.axes.begin(), group.axes.end());
      if (group.ellipsis && output.groups.empty()) output.groups.push_back(group);
    }
  std::ranges::sort(axes, {}, &Axis::name);
  for (auto axis = axes.begin(); axis != axes.end();) {
    const auto next = std::find_if(axis, axes.end(), [&](const Axis& other) { return other.name != axis->name; });
    if (next - axis == 1) output.groups.push_back(Group{.axes = {*axis}, .column = axis->column});
    axis = next;
  }
  return output;
}

/// `spelling` is that of the inputs; on the right no name stands twice.
Pattern parse_as(Spelling spelling, std::string_view text) {
  const bool implicit = spelling.letters && text.find(arrow) == text.npos, einsum = spelling.repeats;
  const size_t middle = implicit ? text.size() : find_arrow(text);
  Pattern pattern{.text = std::string(text), .inputs = parse_inputs(text, middle, spelling), .output = {}};
  spelling.repeats = false;
  pattern.output = implicit ? implicit_output(pattern.inputs)
                            : SideParser(text, middle + arrow.size(), text.size(), spelling).parse();
  check_ellipses(pattern, einsum);
  return pattern;
}

}  // namespace

const Group* Side::ellipsis() const {
  const auto found = std::ranges::find(groups, true, &Group::ellipsis);
  return found == groups.end() ? nullptr : &*found;
}

Error fault(std::string_view text, int column, int length, const std::string& message, const std::string& remedy,
            Errc code) {
  std::string shown(text);
  // One text column per byte and one line, or the carets would point elsewhere.
  std::ranges::replace_if(
      shown, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  std::string lines = message + "\n  " + shown;
  if (length > 0) lines += "\n  " + std::string(size_t(column), ' ') + std::string(size_t(length), '^');
  return Error(code, lines, remedy);
}

Pattern parse(std::string_view text) {
  return parse_as({}, text);
}

Pattern parse_distributed(std::string_view text) {
  return parse_as({.cuts = true}, text);
}

Pattern parse_einsum(std::string_view text, std::span<const Dims> shapes) {
  return parse_as({.repeats = true, .letters = is_compact(text, shapes)}, text);
}

int count_operands(std::string_view text) {
  return 1 + int(std::ranges::count(text, ','));
}

}  // namespace axisloom::core
