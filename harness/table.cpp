// Layout of tables: columns as wide as their widest cell, numbers flush right.
#include "harness/table.hpp"

#include "io/quoting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace axisloom::harness {
namespace {

// Columns are counted in code points; device names may hold a (R) sign.
size_t width(std::string_view text) {
  return size_t(std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, size_t to, bool right) {
  const std::string blanks(to - std::min(to, width(text)), ' ');
  return right ? blanks + text : text + blanks;
}

std::string escaped_markdown(std::string_view text) {
  std::string escaped;
  for (char c : io::printable(text)) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

// RFC 4180: quotes around a field that needs them, doubled inside.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string raw_text(const nlohmann::ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? std::string() : value.dump();
}

}  // namespace

Cell::Cell(std::string_view text) : value(std::string(text)), text(text) {}
Cell::Cell(bool value) : value(value), text(value ? "yes" : "no") {}
Cell::Cell(i64 value) : value(value), text(fmt::format("{}", value)) {}
Cell::Cell(u64 value) : value(value), text(fmt::format("{}", value)) {}

Cell bytes_cell(u64 bytes) {
  return {bytes, human_bytes(bytes)};
}
Cell seconds_cell(double seconds) {
  return {seconds, human_seconds(seconds)};
}

Table::Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}

void Table::add(std::vector<Cell> row) {
  rows_.push_back(std::move(row));
}

std::string Table::text(Format format) const {
  switch (format) {
    case Format::json:
      return json();
    case Format::csv:
      return csv();
    case Format::md:
      return markdown();
    case Format::table:
      break;
  }
  return aligned();
}

std::string Table::aligned() const {
  std::vector<size_t> widths;
  std::vector<bool> right(columns_.size(), true);
  for (const auto& column : columns_) widths.push_back(width(column));
  for (const auto& row : rows_)
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width(io::printable(row[i].text)));
      right[i] = right[i] && row[i].value.is_number();
    }
  std::string text;
  const auto line = [&](auto&& cell_text) {
    std::string row;
    for (size_t i = 0; i < columns_.size(); ++i)
      row += padded(cell_text(i), widths[i], right[i] && !rows_.empty()) + "  ";
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  };
  line([&](size_t i) { return columns_[i]; });
  for (const auto& row : rows_) line([&](size_t i) { return io::printable(row[i].text); });
  return text;
}

std::string Table::markdown() const {
  std::string text = "|";
  for (const auto& column : columns_) text += " " + escaped_markdown(column) + " |";
  text += "\n|";
  for (size_t i = 0; i < columns_.size(); ++i) text += "---|";
  text += "\n";
  for (const auto& row : rows_) {
    text += "|";
    for (const auto& cell : row) text += " " + escaped_markdown(cell.text) + " |";
    text += "\n";
  }
  return text;
}

std::string Table::csv() const {
  std::string text;
  for (size_t i = 0; i < columns_.size(); ++i) text += (i ? "," : "") + csv_field(columns_[i]);
  text += "\n";
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) text += (i ? "," : "") + csv_field(raw_text(row[i].value));
    text += "\n";
  }
  return text;
}

std::string Table::json() const {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& row : rows_) {
    nlohmann::ordered_json object;
    for (size_t i = 0; i < row.size(); ++i) object[columns_[i]] = row[i].value;
    list.push_back(std::move(object));
  }
  // A driver's name is not always valid UTF-8, and a bad byte must not cost the user the whole answer.
  return json_text(list);
}

std::string json_text(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string human_bytes(u64 bytes) {
  static constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  double value = double(bytes);
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  const bool whole = value == double(u64(value));
  return whole ? fmt::format("{:.0f} {}", value, units[unit]) : fmt::format("{:.2f} {}", value, units[unit]);
}

std::string human_seconds(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

}  // namespace axisloom::harness
