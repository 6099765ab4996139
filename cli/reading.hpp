// Options that say how input files are read, where the files themselves do not.
#pragma once

#include "cli/app.hpp"

#include "io/io.hpp"

namespace axisloom::cli {

struct Reading {
  std::string format, shape, dtype, array;  // as typed; empty: not given
};

void add_reading_options(App& command, Reading& reading);
/// Refuses a shape or a dtype where no file is raw, and the name of an array where none is .npz: they would have no
/// effect.
void refuse_pointless(const Reading& reading, const Texts& files);
/// Throws Error(usage) for what cannot be read.
io::ReadOptions read_options(const Reading& reading);

}  // namespace axisloom::cli
