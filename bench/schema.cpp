// A function per keyword, looked up by its name.
#include "bench/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace axisloom::bench {
namespace {

using Value = nlohmann::ordered_json;
using Fault = std::optional<std::string>;

bool has_type(const Value& value, const Value& type) {
  if (type != "integer" || !value.is_number()) return type == value.type_name();
  return value.is_number_integer() || std::floor(value.get<double>()) == value.get<double>();
}

/// A value that a schema is held against: the schema that references start from, the one in force, and the path to the
/// value. A function per keyword is given what the schema says there.
struct Check {
  const Value& root;
  const Value& schema;
  const Value& value;
  std::string path = {};

  Fault every_keyword() const;
  Fault fault(const std::string& what) const { return (path.empty() ? "/" : path) + ": " + what; }
  Fault member(const Value& its_schema, const Value& its_value, const std::string& name) const {
    return Check{root, its_schema, its_value, path + "/" + name}.every_keyword();
  }

  bool right_type(const Value& types) const {
    const auto fits = [&](const Value& type) { return has_type(value, type); };
    return types.is_array() ? std::ranges::any_of(types, fits) : fits(types);
  }
  bool right_enum(const Value& values) const { return std::find(values.begin(), values.end(), value) != values.end(); }
  bool right_const(const Value& wanted) const { return value == wanted; }
  bool right_min_items(const Value& least) const { return !value.is_array() || value.size() >= least.get<size_t>(); }
  bool right_min_length(const Value& least) const {
    return !value.is_string() || value.get_ref<const std::string&>().size() >= least.get<size_t>();
  }
  bool right_minimum(const Value& least) const {
    return !value.is_number() || value.get<double>() >= least.get<double>();
  }
  bool right_exclusive_minimum(const Value& bound) const {
    return !value.is_number() || value.get<double>() > bound.get<double>();
  }

  Fault required(const Value& names) const {
    if (!value.is_object()) return {};
    for (const Value& name : names)
      if (!value.contains(name.get_ref<const std::string&>())) return fault("lacks " + name.dump());
    return {};
  }
  Fault properties(const Value& schemas) const {
    if (!value.is_object()) return {};
    for (const auto& [name, its_schema] : schemas.items())
      if (const auto found = value.find(name); found != value.end())
        if (Fault wrong = member(its_schema, *found, name)) return wrong;
    return {};
  }
  Fault additional_properties(const Value& its_schema) const {
    if (!value.is_object()) return {};
    for (const auto& [name, its_value] : value.items()) {
      if (schema.contains("properties") && schema.at("properties").contains(name)) continue;
      if (Fault wrong = member(its_schema, its_value, name)) return wrong;
    }
    return {};
  }
  Fault items(const Value& its_schema) const {
    for (size_t i = 0; value.is_array() && i < value.size(); ++i)
      if (Fault wrong = member(its_schema, value[i], std::to_string(i))) return wrong;
    return {};
  }
  Fault any_of(const Value& schemas) const {
    Fault first;
    for (const Value& one : schemas) {
      Fault wrong = Check{root, one, value, path}.every_keyword();
      if (!wrong) return {};
      if (!first) first = std::move(wrong);
    }
    return first;
  }
  Fault reference(const Value& pointer) const {
    const auto& text = pointer.get_ref<const std::string&>();
    const auto target = Value::json_pointer(text.substr(text.find('#') + 1));
    if (!text.starts_with("#") || !root.contains(target))
      return fault(fmt::format("the schema refers to {}, which it does not hold", text));
    return Check{root, root.at(target), value, path}.every_keyword();
  }
};

/// A keyword that looks at the value alone has `right` and what is wrong otherwise; {0}: what is wanted, {1}: the type.
struct Keyword {
  bool (Check::*right)(const Value& wanted) const = nullptr;
  const char* wrong = "";
  Fault (Check::*check)(const Value& keyword) const = nullptr;
};

Fault Check::every_keyword() const {
  static const std::map<std::string_view, Keyword> keywords{
      {"type", {&Check::right_type, "is of type {1}, not {0}"}},
      {"enum", {&Check::right_enum, "is none of {0}"}},
      {"const", {&Check::right_const, "is not {0}"}},
      {"minItems", {&Check::right_min_items, "has fewer than {0} items"}},
      {"minLength", {&Check::right_min_length, "is shorter than {0}"}},
      {"minimum", {&Check::right_minimum, "is below {0}"}},
      {"exclusiveMinimum", {&Check::right_exclusive_minimum, "is not above {0}"}},
      {"required", {.check = &Check::required}},
      {"properties", {.check = &Check::properties}},
      {"additionalProperties", {.check = &Check::additional_properties}},
      {"items", {.check = &Check::items}},
      {"anyOf", {.check = &Check::any_of}},
      {"$ref", {.check = &Check::reference}},
      {"$schema", {}},
      {"$id", {}},
      {"$defs", {}},
      {"title", {}},
      {"description", {}},
  };
  if (schema.is_boolean()) return schema.get<bool>() ? Fault() : fault("is not known here");
  for (const auto& [name, wanted] : schema.items()) {
    const auto known = keywords.find(name);
    if (known == keywords.end()) return fault(fmt::format("the schema's keyword \"{}\" is not understood", name));
    const auto& [right, wrong, check] = known->second;
    if (right != nullptr && !(this->*right)(wanted))
      return fault(fmt::format(fmt::runtime(wrong), wanted.dump(), value.type_name()));
    if (check == nullptr) continue;
    if (Fault found = (this->*check)(wanted)) return found;
  }
  return {};
}

}  // namespace

std::optional<std::string> violation(const Value& schema, const Value& value) {
  return Check{schema, schema, value}.every_keyword();
}

}  // namespace axisloom::bench
