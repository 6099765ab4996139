// What the program and the module of HPTT tell each other.
#pragma once

enum class HpttElement : int { f32, f64, c64, c128 };

/// A permutation as HPTT is told about it: axes from the fastest to the slowest. Axis k of the output is axis
/// `order[k]` of the input. `room` of an array says how many elements apart the indices of the next axis lie, in steps
/// of the axis.
struct HpttJob {
  HpttElement element;
  int rank, threads;
  const int *order, *extents, *in_room, *out_room;
  const void* in;
  void* out;
};

/// What the module gives: make() answers null where HPTT refuses.
struct HpttModule {
  void* (*make)(const HpttJob* job);
  void (*run)(void* plan);
  void (*destroy)(void* plan);
};
