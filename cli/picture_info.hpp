// What becomes of a picture's colour profile and resolution.
#pragma once

#include "cli/casting.hpp"

namespace axisloom::cli {

/// How a picture became a result.
struct Change {
  const Operation& op;
  const io::HostArray& input;
  View result;  // before the cast
  const Cast& cast;
};

/// Of a result that is still a picture: the profile where numbers kept their meaning, and the resolution, by axis,
/// where it can be told. Null where nothing is known.
std::shared_ptr<const io::ImageInfo> info_of_result(const Change& change);

/// Tells stderr what of it does not go into a picture of that format; null: it is none.
void tell_lost(const std::shared_ptr<const io::ImageInfo>& before, const std::shared_ptr<const io::ImageInfo>& after,
               const io::Format* format);

}  // namespace axisloom::cli
