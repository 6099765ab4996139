// Programs: operations chained on arrays in shared buffers, all planned first and then queued without a wait between.
// What the buffers hold at the end is written out for another program to judge: there is no oracle of ours here.
#pragma once

#include <axisloom/device.hpp>

#include <cstdint>
#include <string>

namespace axisloom::cli {

struct ProgramSettings {
  Device device;
  std::string file;       // of programs; what their buffers hold at first is in the file of that name and ".data"
  std::string keep;       // folder for "results" and "outcomes"
  int threads = 1;        // that run programs at the same time on one device
  int repeat = 1;         // further runs of each program, which must leave the same bits
  bool index_64 = false;  // force 64-bit offsets
  bool checked = false;   // the CHECKED prelude
};

/// A file of programs is text; '#' starts a comment. Each program is
///   program NAME
///   buffers BYTES...                                       contents: as long a piece of the file of data
///   array BUFFER DTYPE SHAPE STRIDES OFFSET                arrays and buffers are numbered from 0; strides "-": none
///   step INPUTS OUTPUT QUEUE OP WORD... [NAME=VALUE...]    arrays by number, with commas; the rest as in a case
/// OUTPUT "-" stands for a step that has to be refused: nothing is run from there on. The steps of one queue are not
/// waited for; one of another queue waits, on the device, for all steps before it.
///
/// DIR/results is the file of data as the programs left it, DIR/outcomes a line for each:
///   NAME done | NAME accepted STEP | NAME refused STEP ERROR MESSAGE | NAME differs RUN
/// "accepted": a plan for a step without an output; "refused": by plan or run, the text is the error's. Throws
/// Error(usage) for a file that cannot be read as programs, Error(file) and Error(device_lost).
struct ProgramTally {
  std::int64_t done = 0, accepted = 0, refused = 0, differ = 0, steps = 0;
};
ProgramTally run_programs(const ProgramSettings& settings);

}  // namespace axisloom::cli
