// What kernels that were compiled with the library are called with, and the table of them.
//
// They are compiled apart, for several instruction sets, so nothing but plain C layout crosses between the two sides.
#pragma once

#include "core/integers.hpp"

#include <span>
#include <string_view>

namespace axisloom::device::host {

/// What a compiled kernel is called with; dialect/on_host.h declares the same.
struct KernelCall {
  const void* const* args;  // address of each argument's value, in order: of every buffer its address and (i64) offset
                            // as separate arguments, then PARAMS
  const i32* settings;      // values of what is chosen at run time, in the order of their names
  u64 groups;               // of the launch
  u8* local;                // local memory of the group that runs, aligned to 128
  u64 local_bytes;          // of it
  /// Runs the items of a group, which may meet at barriers.
  void (*run_items)(const KernelCall& call, u32 items, void (*item)(void* context, u32 number), void* context);
  /// Called by an item: returns when all items of its group have come.
  void (*barrier)();
  /// What a card would stop at: the launch ends in an error. `what` lives on.
  void (*fault)(const KernelCall& call, const char* what);
};

/// A tensor map as kernels take it; dialect/host/nvidia/tensor.h declares the same.
struct BoundMap {
  std::byte* begin;  // of the array
  u64 bytes;         // from there to the end of its buffer
  u64 element;       // these and the following as in TensorMap
  u64 extent[3], pitch[2];
  u32 box[3];
};

using Entry = void (*)(const KernelCall& call, u64 begin, u64 end);  // runs the groups begin ... end - 1, in order

/// The instruction sets that kernels are compiled for, lesser ones first. baseline: that of the library itself; v4_vnni
/// has AVX512-VNNI beyond v4, and v4_bf16 AVX512-BF16 beyond that.
enum class Isa : u8 { baseline, v3, v4, v4_vnni, v4_bf16, neon };

struct BuiltIn {
  std::string_view name;  // file, kernel, group size and constants
  Isa isa;
  Entry entry;
};

/// Sorted by name, then by isa.
std::span<const BuiltIn> built_in_kernels();

}  // namespace axisloom::device::host
