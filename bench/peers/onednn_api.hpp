// The few entry points of oneDNN 2 and 3 (libdnnl.so) that the benchmark calls, declared without its headers.
#pragma once

#include "core/integers.hpp"

#include <cstddef>

namespace axisloom::bench::onednn {

using Status = int;
using Engine = struct EngineOf*;
using Stream = struct StreamOf*;
using Memory = struct MemoryOf*;
using PrimitiveDescriptor = struct PrimitiveDescriptorOf*;
using Primitive = struct PrimitiveOf*;

inline constexpr Status invalid_arguments = 2, unimplemented = 3;
inline constexpr int most_dimensions = 12;  // DNNL_MAX_NDIMS
// dnnl_data_type_t
inline constexpr int type_bf16 = 2, type_f32 = 3, type_s32 = 4, type_u8 = 6;
inline constexpr int engine_cpu = 1;
inline constexpr unsigned stream_in_order = 1;
inline constexpr int argument_from = 1, argument_to = 17;
inline constexpr int query_implementation = 8;
/// dnnl_format_tag_t of N x C x pixels with the channels in blocks, by their size; 0 for other sizes.
constexpr int blocked_channels_tag(int version, i64 block) {
  const int in_version_2 = block == 4 ? 51 : block == 8 ? 60 : block == 16 ? 47 : block == 32 ? 50 : 0;
  return in_version_2 != 0 && version >= 3 ? in_version_2 + 9 : in_version_2;
}
// Of version 2 a memory descriptor is a structure that the caller provides, of version 3 a handle: in both, functions
// take one pointer.
inline constexpr size_t memory_descriptor_bytes = 696;

struct Argument {
  int index = 0;
  Memory memory = nullptr;
};

struct Version {
  int major = 0, minor = 0, patch = 0;
  const char* hash = nullptr;
  unsigned cpu_runtime = 0, gpu_runtime = 0;
};

#define AXISLOOM_ONEDNN(ENTRY)                                                                            \
  ENTRY(const Version*, dnnl_version, ())                                                                 \
  ENTRY(Status, dnnl_engine_create, (Engine*, int kind, size_t index))                                    \
  ENTRY(Status, dnnl_stream_create, (Stream*, Engine, unsigned flags))                                    \
  ENTRY(Status, dnnl_stream_wait, (Stream))                                                               \
  ENTRY(Status, dnnl_memory_create, (Memory*, const void* descriptor, Engine, void* address))             \
  ENTRY(Status, dnnl_memory_destroy, (Memory))                                                            \
  ENTRY(Status, dnnl_reorder_primitive_desc_create,                                                       \
        (PrimitiveDescriptor*, const void* from, Engine, const void* to, Engine, const void* attributes)) \
  ENTRY(Status, dnnl_primitive_desc_query, (PrimitiveDescriptor, int what, int index, void* result))      \
  ENTRY(Status, dnnl_primitive_desc_destroy, (PrimitiveDescriptor))                                       \
  ENTRY(Status, dnnl_primitive_create, (Primitive*, PrimitiveDescriptor))                                 \
  ENTRY(Status, dnnl_primitive_destroy, (Primitive))                                                      \
  ENTRY(Status, dnnl_primitive_execute, (Primitive, Stream, int count, const Argument*))

struct Api {
#define AXISLOOM_ENTRY(result, name, parameters) result(*name) parameters;
  AXISLOOM_ONEDNN(AXISLOOM_ENTRY)
#undef AXISLOOM_ENTRY
  // Of version 2, and of version 3, which are null in the other.
  Status (*dnnl_memory_desc_init_by_strides)(void* descriptor, int rank, const i64* extents, int type,
                                             const i64* strides);
  Status (*dnnl_memory_desc_init_by_tag)(void* descriptor, int rank, const i64* extents, int type, int tag);
  Status (*dnnl_memory_desc_create_with_strides)(void** descriptor, int rank, const i64* extents, int type,
                                                 const i64* strides);
  Status (*dnnl_memory_desc_create_with_tag)(void** descriptor, int rank, const i64* extents, int type, int tag);
  Status (*dnnl_memory_desc_destroy)(void* descriptor);
};

}  // namespace axisloom::bench::onednn
