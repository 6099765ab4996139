// Walks a JSON text by the calls of its parser.
#include "core/flat_json.hpp"

#include "core/text.hpp"

#include <nlohmann/json.hpp>

#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

namespace axisloom::core {
namespace {

/// The calls that the parser makes, in the names that it asks for; false would end the reading without a reason.
class Flattener {
 public:
  explicit Flattener(int most_levels) : most_levels_(most_levels) {}

  bool null() { return take({}); }
  bool boolean(bool value) { return take(value); }
  bool number_integer(std::int64_t value) { return take(i64{value}); }
  bool number_unsigned(std::uint64_t value) {
    if (value > u64(std::numeric_limits<i64>::max())) return take(double(value));
    return take(i64(value));
  }
  bool number_float(double value, const std::string&) { return take(value); }
  bool string(std::string& value) { return take(std::move(value)); }
  bool binary(nlohmann::json::binary_t&) { return take({}); }
  bool start_object(size_t) { return open(false); }
  bool start_array(size_t) { return open(true); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    levels_.back().key = std::move(name);
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::json::exception&) { return false; }

  FlatJson values;

 private:
  struct Level {
    std::string prefix, key;
    bool is_list = false;
    size_t next = 0;
  };

  std::string path() {
    Level& level = levels_.back();
    return level.prefix + (level.is_list ? std::to_string(level.next++) : level.key);
  }
  bool take(JsonValue value) {
    if (levels_.empty()) throw std::invalid_argument("not a JSON object");
    values.insert_or_assign(path(), std::move(value));
    return true;
  }
  bool open(bool is_list) {
    if (levels_.empty() && is_list) throw std::invalid_argument("not a JSON object");
    if (int(levels_.size()) == most_levels_)
      throw std::invalid_argument(concat("nested deeper than ", most_levels_, " levels"));
    std::string prefix;
    if (!levels_.empty()) {
      prefix = path();
      values.insert_or_assign(prefix, is_list ? JsonNest::list : JsonNest::object);
      prefix += '.';
    }
    levels_.push_back({std::move(prefix), {}, is_list});
    return true;
  }
  bool close() {
    levels_.pop_back();
    return true;
  }

  int most_levels_;
  std::vector<Level> levels_;
};

}  // namespace

double number_of(const JsonValue& value) noexcept {
  if (const auto* const whole = std::get_if<i64>(&value)) return double(*whole);
  const auto* const real = std::get_if<double>(&value);
  return real ? *real : 0;
}

FlatJson flat_json(std::string_view text, int most_levels) {
  Flattener flattener(most_levels);
  if (!nlohmann::json::sax_parse(text, &flattener)) throw std::invalid_argument("not a JSON object");
  return std::move(flattener.values);
}

}  // namespace axisloom::core
