// What each rank of a job reads and writes where they share work between two files.
#pragma once

#include "harness/arguments.hpp"

#include "io/file.hpp"
#include "planner/registry.hpp"

#include <axisloom/ops.hpp>

#include <optional>
#include <string>

namespace axisloom::cli {

using namespace harness;

/// What is asked for.
struct SharedWork {
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

/// The operation as one process has it. Cuts are checked, and the result does not depend on them.
Operation plain_operation(const SharedWork& work, const Dims& shape, int ranks);

/// A file's elements as one axis, and cut over the ranks, in patterns; and the shapes that go with them.
struct FileSide {
  std::string whole, cut;
  Dims whole_shape, cut_shape;
};

/// Work between two files over a mesh of all ranks, "ranks". The patterns name the axes by which elements lie in the
/// files, so that a rank's part of a file is a stretch of it.
struct FilePlan {
  FileSide in;
  std::string parts;  // right side of a pattern: the elements of which each rank makes its part of the output
  std::optional<Operation> then;  // what makes them the output: a reduction of the last axis of parts; empty: they are
  Lengths lengths;
};

/// `in` and `out`: the arrays in the files. Throws Error(usage) for what ranks cannot share.
FilePlan file_plan(const ops::OpEntry& entry, const Operation& op, const View& in, const View& out, int ranks);

}  // namespace axisloom::cli
