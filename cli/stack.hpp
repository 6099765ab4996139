// Several files as one array.
#pragma once

#include "io/io.hpp"

#include <functional>

namespace axisloom::cli {

/// What `read` makes of each of these files, along a new first axis; of the files only one is in memory at a time.
/// Refuses shapes and dtypes that differ.
io::HostArray stacked(const std::vector<std::string>& names,
                      const std::function<io::HostArray(const std::string&)>& read);

}  // namespace axisloom::cli
