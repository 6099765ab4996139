// JSON Schema (draft 2020-12), as much of it as the schemas of this project use.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace axisloom::bench {

/// The first fault of a value by a schema, "/cases/3/clock: ..." with a JSON pointer to it; nothing when it is valid. A
/// keyword of the schema that is not understood is a fault too, so that nothing is passed over in silence. Understood
/// are $defs and $ref to them, type, enum, const, required, properties, additionalProperties, items, minItems,
/// minimum, exclusiveMinimum, minLength, anyOf, and what only describes.
std::optional<std::string> violation(const nlohmann::ordered_json& schema, const nlohmann::ordered_json& value);

}  // namespace axisloom::bench
