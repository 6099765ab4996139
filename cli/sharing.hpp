// Work that the ranks of a job share: each writes its part of the output file, of what it reads of the input file.
#pragma once

#include "cli/file_plan.hpp"
#include "cli/ranks.hpp"

#include <string>

namespace axisloom::cli {

/// Does it, together with the others. The file is the same as that of one process alone, and takes its name when all
/// parts are there. Returns how it was done, in one line. Throws RanksError on all ranks.
std::string share(const Ranks& ranks, const SharedWork& work);

}  // namespace axisloom::cli
