// JSON as a flat list of its values, each by the path that leads to it.
#pragma once

#include "core/integers.hpp"

#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace axisloom::core {

enum class JsonNest { object, list };

/// null is the monostate.
using JsonValue = std::variant<std::monostate, bool, i64, double, std::string, JsonNest>;

/// {"a": {"b": 1, "c": [true]}} is "a": object, "a.b": 1, "a.c": list, "a.c.0": true.
using FlatJson = std::map<std::string, JsonValue, std::less<>>;

/// The number that a value is, whole or not; 0 where it is none.
double number_of(const JsonValue& value) noexcept;

/// Reads one object of at most `most_levels`. No document is built of it: one allocates when it is destroyed, and where
/// there is no memory left that ends the process. Throws std::invalid_argument that says why it cannot be read.
FlatJson flat_json(std::string_view text, int most_levels = 8);

}  // namespace axisloom::core
