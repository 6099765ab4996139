// Programs: operations chained on arrays in shared buffers, all planned first and then queued without a wait between.
// What the buffers hold at the end is written out for another program to judge: there is no oracle of ours here.
#pragma once

#include "cli/app.hpp"
#include "harness/runner.hpp"

namespace axisloom::cli {

struct Programs {
  std::string file;  // what their buffers hold at first is in the file of that name and ".data"
  int threads = 1;   // that run programs at the same time, on one device
};

/// Adds --programs and --threads to `check`, whose own options are there already.
void add_program_options(App& check, Programs& programs);

/// A file of programs is text; '#' starts a comment. Each program is
///   program NAME
///   buffers BYTES...                                       contents: as long a piece of the file of data
///   array BUFFER DTYPE SHAPE STRIDES OFFSET                arrays and buffers are numbered from 0; strides "-": none
///   step INPUTS OUTPUT QUEUE OP ARGUMENT... [NAME=VALUE...]    arrays by number, with commas; the rest as in a case
/// OUTPUT "-" stands for a step that has to be refused: nothing is run. The steps of queue 0, and those of queue 1,
/// follow each other without a wait; where the queue changes a step waits, on the device, for all before it.
///
/// With DIR for settings.keep, DIR/results is the file of data as the programs leave it, DIR/outcomes a line for each:
///   NAME done | NAME accepted STEP | NAME refused STEP ERROR MESSAGE | NAME differs RUN
/// "accepted": there is a plan for a step without an output; "refused": by plan or run; "differs": from the first run,
/// in bits or in how it ended.
///
/// Of the settings those of single cases count for nothing: seed, candidate, tight. Prints how many there are of each,
/// and returns whether none differs. Throws Error(usage) for a file that is not one of programs, Error(file) and
/// Error(device_lost).
bool check_programs(const Programs& programs, const CheckSettings& settings);

}  // namespace axisloom::cli
