// Moves that the ranks of a job share: each writes its part of the output file, of what it reads of the input file.
#pragma once

#include "cli/ranks.hpp"

#include "io/file.hpp"
#include "planner/registry.hpp"

#include <axisloom/ops.hpp>

#include <string>

namespace axisloom::cli {

/// What is asked for.
struct SharedMove {
  const ops::OpEntry& entry;
  Operation op;      // as typed: a pattern may cut axes over those of the mesh
  std::string mesh;  // empty: all ranks along the one axis that the pattern names
  std::string input, output;
  std::string output_format;  // empty: by the extension
  io::ReadOptions reading = {};
  io::OutputFile::Older older = io::OutputFile::Older::replaced;
  i64 workspace = 0;  // most bytes of messages of a rank at a time, each way
};

/// Whether ranks can share an operation.
bool can_share(const ops::OpEntry& entry);

/// Does it, together with the others. The file is the same as that of one process alone, and takes its name when all
/// parts are there. Returns how it was done, in one line. Throws RanksError on all ranks.
std::string share(const Ranks& ranks, const SharedMove& move);

}  // namespace axisloom::cli
