// Cases: one line of text each, naming an operation, the arrays it is done on, and what is special about them.
#pragma once

#include "harness/arguments.hpp"

namespace axisloom::harness {

/// How one array lies in its buffer; what is not given is contiguous, at offset 0, in a buffer of the device's
/// alignment.
struct Placement {
  std::optional<Dims> strides;  // in elements
  i64 offset = 0;               // in elements, before the array's lowest element
  i64 align = 256;              // bytes to which the buffer's start is aligned, and no more where that can be had
};

struct Case {
  Operation op;
  std::vector<Dtype> dtypes;           // of the inputs
  std::vector<Dims> shapes;            // likewise
  std::vector<Placement> inputs = {};  // likewise
  Placement output = {};
  PlanOptions options = {};  // candidate=, config=, index=
  bool in_place = false;     // the output is the input's buffer
  bool one_buffer = false;   // all arrays lie in one buffer, in which their offsets count from the same byte
  std::optional<i64> largest_buffer = {};  // bytes; arrays of the host, on a device that grants no larger buffer
  bool slow = false;
  std::optional<Errc> expect = {};  // the error that must come of it
  std::string text = {};            // the line it came from, without "slow"
};

/// A case is  [slow] OP DTYPE SHAPE ARGUMENT... [NAME=VALUE...] [--FLAG...] [in-place] [one-buffer]  with the
/// operation's arguments in quotes where they hold blanks. Several inputs have their shapes, and dtypes unless they
/// agree, separated by commas:
///   einsum f32 3x4,4x5 "i k, k j -> i j"
/// Among the values, besides lengths and options of the operation:
///   in-strides= out-strides= in-offset= out-offset= align= in-align= out-align= candidate= config=NAME:VALUE index=
///   expect=ERROR largest-buffer=BYTES    and in2-strides= ... for the second input, in3- for the third
/// Throws Error(usage).
Case parse_case(std::string_view line);

/// The line that parse_case reads as this case, without "slow".
std::string text_of(const Case& c);

/// "[slow] random N [seed=S]" stands for N random cases.
struct RandomLine {
  bool slow = false;
  i64 count = 0;
  std::optional<u64> seed;
};
std::optional<RandomLine> parse_random(std::string_view line);

/// What stands before a '#', without blanks around it.
std::string_view without_comment(std::string_view line);
/// The lines of a case file, without comments and empty ones. Throws Error(file).
Texts read_case_lines(const std::string& path);

/// Words of a line; double or single quotes hold one together.
Texts words_of(std::string_view line);

}  // namespace axisloom::harness
