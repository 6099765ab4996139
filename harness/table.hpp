// Rows of results, printed for people (table, md) or for programs (json, csv).
#pragma once

#include "harness/arguments.hpp"

#include <nlohmann/json.hpp>

#include <concepts>

namespace axisloom::harness {

using Json = nlohmann::ordered_json;

enum class Format { table, json, csv, md };

/// One value: as JSON for programs, as text for people.
struct Cell {
  Json value;
  std::string text;

  template <std::convertible_to<std::string_view> Text>
  Cell(const Text& text) : value(std::string(text)), text(text) {}
  Cell(bool value) : value(value), text(value ? "yes" : "no") {}
  template <std::integral Number>
  Cell(Number number) : value(number), text(std::to_string(number)) {}
  /// A number with its own text, such as bytes in MiB or seconds in microseconds.
  Cell(Json value, std::string text) : value(std::move(value)), text(std::move(text)) {}
};

Cell bytes_cell(u64 bytes);
Cell seconds_cell(double seconds);

class Table {
 public:
  explicit Table(Texts columns) : columns_(std::move(columns)) {}
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  std::string text(Format format) const;
  size_t rows() const noexcept { return rows_.size(); }

 private:
  std::string aligned() const;
  std::string markdown() const;
  std::string csv() const;
  std::string json() const;

  Texts columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// A document as programs get it, with a line break at its end; bytes that are no UTF-8 are replaced.
std::string json_text(const Json& json, int indent = 2);
/// "192 KiB", "1.50 GiB"; powers of 1024.
std::string human_bytes(u64 bytes);
/// "12.3 us", "1.20 ms", "3.4 s".
std::string human_seconds(double seconds);

}  // namespace axisloom::harness
