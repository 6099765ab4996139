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

Fault check_type(const Place& place, const Value& types, const Value& value) {
  const auto fits = [&](const Value& type) { return has_type(value, type.get_ref<const std::string&>()); };
  const bool right = types.is_array() ? std::any_of(types.begin(), types.end(), fits) : fits(types);
  return right ? Fault() : fault(place, fmt::format("is of type {}, not {}", value.type_name(), types.dump()));
}

Fault check_enum(const Place& place, const Value& values, const Value& value) {
  if (std::find(values.begin(), values.end(), value) != values.end()) return {};
  return fault(place, fmt::format("is none of {}", values.dump()));
}

Fault check_const(const Place& place, const Value& wanted, const Value& value) {
  return value == wanted ? Fault() : fault(place, fmt::format("is not {}", wanted.dump()));
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
  for (std::size_t i = 0; value.is_array() && i < value.size(); ++i)
    if (Fault wrong = check({place.root, schema, fmt::format("{}/{}", place.path, i)}, value[i])) return wrong;
  return {};
}

Fault check_min_items(const Place& place, const Value& least, const Value& value) {
  const bool right = !value.is_array() || value.size() >= least.get<std::size_t>();
  return right ? Fault() : fault(place, fmt::format("has fewer than {} items", least.dump()));
}

Fault check_min_length(const Place& place, const Value& least, const Value& value) {
  const bool right = !value.is_string() || value.get_ref<const std::string&>().size() >= least.get<std::size_t>();
  return right ? Fault() : fault(place, fmt::format("is shorter than {}", least.dump()));
}

Fault check_minimum(const Place& place, const Value& least, const Value& value) {
  const bool right = !value.is_number() || value.get<double>() >= least.get<double>();
  return right ? Fault() : fault(place, fmt::format("is below {}", least.dump()));
}

Fault check_exclusive_minimum(const Place& place, const Value& bound, const Value& value) {
  const bool right = !value.is_number() || value.get<double>() > bound.get<double>();
  return right ? Fault() : fault(place, fmt::format("is not above {}", bound.dump()));
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

using Check = Fault (*)(const Place& place, const Value& keyword, const Value& value);

const std::map<std::string_view, Check>& checks() {
  static const std::map<std::string_view, Check> all{
      {"type", check_type},
      {"enum", check_enum},
      {"const", check_const},
      {"required", check_required},
      {"properties", check_properties},
      {"additionalProperties", check_additional},
      {"items", check_items},
      {"minItems", check_min_items},
      {"minLength", check_min_length},
      {"minimum", check_minimum},
      {"exclusiveMinimum", check_exclusive_minimum},
      {"anyOf", check_any_of},
      {"$ref", check_reference},
      {"$schema", nullptr},
      {"$id", nullptr},
      {"$defs", nullptr},
      {"title", nullptr},
      {"description", nullptr},
  };
  return all;
}

Fault check(const Place& place, const Value& value) {
  if (place.schema.is_boolean()) return place.schema.get<bool>() ? Fault() : fault(place, "is not known here");
  for (const auto& [name, keyword] : place.schema.items()) {
    const auto known = checks().find(name);
    if (known == checks().end())
      return fault(place, fmt::format("the schema's keyword \"{}\" is not understood", name));
    if (known->second == nullptr) continue;
    if (Fault wrong = known->second(place, keyword, value)) return wrong;
  }
  return {};
}

}  // namespace

std::optional<std::string> violation(const Value& schema, const Value& value) {
  return check({schema, schema, ""}, value);
}

}  // namespace axisloom::bench
