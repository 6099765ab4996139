// A function per keyword, looked up by its name.
#include "bench/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace axisloom::bench {
namespace {

using Value = nlohmann::ordered_json;
using Fault = std::optional<std::string>;

/// Where a check stands: the schema that references start from, the one in force, and the path to the value.
struct Place {
  const Value& root;
  const Value& schema;
  std::string path;
};
Fault check(const Place& place, const Value& value);

Fault fault(const Place& place, const std::string& what) {
  return fmt::format("{}: {}", place.path.empty() ? "/" : place.path, what);
}

bool has_type(const Value& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "number") return value.is_number();
  if (type != "integer" || !value.is_number()) return false;
  return value.is_number_integer() || std::floor(value.get<double>()) == value.get<double>();
}

/// Whether a value is as a keyword wants it.
using Right = bool (*)(const Value& wanted, const Value& value);

bool right_type(const Value& types, const Value& value) {
  const auto fits = [&](const Value& type) { return has_type(value, type.get_ref<const std::string&>()); };
  return types.is_array() ? std::any_of(types.begin(), types.end(), fits) : fits(types);
}

bool right_enum(const Value& values, const Value& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool right_const(const Value& wanted, const Value& value) {
  return value == wanted;
}

bool right_min_items(const Value& least, const Value& value) {
  return !value.is_array() || value.size() >= least.get<size_t>();
}

bool right_min_length(const Value& least, const Value& value) {
  return !value.is_string() || value.get_ref<const std::string&>().size() >= least.get<size_t>();
}

bool right_minimum(const Value& least, const Value& value) {
  return !value.is_number() || value.get<double>() >= least.get<double>();
}

bool right_exclusive_minimum(const Value& bound, const Value& value) {
  return !value.is_number() || value.get<double>() > bound.get<double>();
}

Fault check_required(const Place& place, const Value& names, const Value& value) {
  if (!value.is_object()) return {};
  for (const Value& name : names)
    if (!value.contains(name.get_ref<const std::string&>())) return fault(place, fmt::format("lacks {}", name.dump()));
  return {};
}

Fault check_properties(const Place& place, const Value& schemas, const Value& value) {
  if (!value.is_object()) return {};
  for (const auto& [name, schema] : schemas.items())
    if (const auto found = value.find(name); found != value.end())
      if (Fault wrong = check({place.root, schema, place.path + "/" + name}, *found)) return wrong;
  return {};
}

Fault check_additional(const Place& place, const Value& schema, const Value& value) {
  if (!value.is_object()) return {};
  const bool names_some = place.schema.contains("properties");
  for (const auto& [name, member] : value.items()) {
    if (names_some && place.schema.at("properties").contains(name)) continue;
    if (Fault wrong = check({place.root, schema, place.path + "/" + name}, member)) return wrong;
  }
  return {};
}

Fault check_items(const Place& place, const Value& schema, const Value& value) {
  for (size_t i = 0; value.is_array() && i < value.size(); ++i)
    if (Fault wrong = check({place.root, schema, fmt::format("{}/{}", place.path, i)}, value[i])) return wrong;
  return {};
}

Fault check_any_of(const Place& place, const Value& schemas, const Value& value) {
  Fault first;
  for (const Value& schema : schemas) {
    Fault wrong = check({place.root, schema, place.path}, value);
    if (!wrong) return {};
    if (!first) first = std::move(wrong);
  }
  return first;
}

Fault check_reference(const Place& place, const Value& reference, const Value& value) {
  const auto& text = reference.get_ref<const std::string&>();
  const auto target = Value::json_pointer(text.substr(text.find('#') + 1));
  if (!text.starts_with("#") || !place.root.contains(target))
    return fault(place, fmt::format("the schema refers to {}, which it does not hold", text));
  return check({place.root, place.root.at(target), place.path}, value);
}

/// A keyword that looks at the value alone has `right` and what is wrong otherwise; {0}: what is wanted, {1}: the type.
struct Keyword {
  Right right = nullptr;
  const char* wrong = "";
  Fault (*check)(const Place& place, const Value& keyword, const Value& value) = nullptr;
};

const std::map<std::string_view, Keyword>& keywords() {
  static const std::map<std::string_view, Keyword> all{
      {"type", {right_type, "is of type {1}, not {0}"}},
      {"enum", {right_enum, "is none of {0}"}},
      {"const", {right_const, "is not {0}"}},
      {"minItems", {right_min_items, "has fewer than {0} items"}},
      {"minLength", {right_min_length, "is shorter than {0}"}},
      {"minimum", {right_minimum, "is below {0}"}},
      {"exclusiveMinimum", {right_exclusive_minimum, "is not above {0}"}},
      {"required", {.check = check_required}},
      {"properties", {.check = check_properties}},
      {"additionalProperties", {.check = check_additional}},
      {"items", {.check = check_items}},
      {"anyOf", {.check = check_any_of}},
      {"$ref", {.check = check_reference}},
      {"$schema", {}},
      {"$id", {}},
      {"$defs", {}},
      {"title", {}},
      {"description", {}},
  };
  return all;
}

Fault check(const Place& place, const Value& value) {
  if (place.schema.is_boolean()) return place.schema.get<bool>() ? Fault() : fault(place, "is not known here");
  for (const auto& [name, keyword] : place.schema.items()) {
    const auto known = keywords().find(name);
    if (known == keywords().end())
      return fault(place, fmt::format("the schema's keyword \"{}\" is not understood", name));
    const auto& [right, wrong, further] = known->second;
    if (right != nullptr && !right(keyword, value))
      return fault(place, fmt::format(fmt::runtime(wrong), keyword.dump(), value.type_name()));
    if (further == nullptr) continue;
    if (Fault found = further(place, keyword, value)) return found;
  }
  return {};
}

}  // namespace

std::optional<std::string> violation(const Value& schema, const Value& value) {
  return check({schema, schema, ""}, value);
}

}  // namespace axisloom::bench
