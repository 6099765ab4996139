// What the program and the module of CUB tell each other.
#pragma once

enum class CubKind : int { sum, max };
enum class CubNumber : int { u32, f32, f64 };  // sums of u32 are u64

/// `segments` times `elements` contiguous numbers become `segments` results.
struct CubCall {
  CubKind kind;
  CubNumber number;
  const void* in;
  void* out;
  long long segments, elements;
};

/// As CUB's own functions: without `temp` it only tells how many bytes that must have. Answers a cudaError.
using CubFunction = int(const CubCall* call, void* temp, unsigned long* temp_bytes, void* stream);
