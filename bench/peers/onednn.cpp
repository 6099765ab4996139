// oneDNN on CPUs, from a library opened at run time: reorders between plain strided layouts, and to and from channels
// in blocks with a tail of zeros, on all its threads.
#include "bench/peers/images.hpp"
#include "bench/peers/libraries.hpp"
#include "bench/peers/onednn_api.hpp"
#include "bench/peers/peers.hpp"

#include "core/not_copied.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace axisloom::bench::onednn {
namespace {

struct Functions : Api {
  Engine engine;
  Stream stream;
};

void require_all(OpenedLibrary<Functions>& opened) {
  Functions& api = opened.api;
#define AXISLOOM_ENTRY(result, name, parameters) opened.require(#name, api.name);
  AXISLOOM_ONEDNN(AXISLOOM_ENTRY)
  if (opened.library.find("dnnl_memory_desc_create_with_strides", api.dnnl_memory_desc_create_with_strides)) {
    AXISLOOM_ENTRY(Status, dnnl_memory_desc_create_with_tag, )
    AXISLOOM_ENTRY(Status, dnnl_memory_desc_destroy, )
  } else {
    AXISLOOM_ENTRY(Status, dnnl_memory_desc_init_by_strides, )
    AXISLOOM_ENTRY(Status, dnnl_memory_desc_init_by_tag, )
  }
#undef AXISLOOM_ENTRY
  if (opened.missing.empty() && (api.dnnl_engine_create(&api.engine, engine_cpu, 0) != 0 ||
                                 api.dnnl_stream_create(&api.stream, api.engine, stream_in_order) != 0))
    opened.obstacle = opened.library.path() + " has no engine for CPUs";
}

/// Looked for once.
const Functions& functions() {
  static const auto opened = [] {
    LoadingVariables variables;
    // After a reorder OpenMP's threads spin for milliseconds, while others have their turn. With this they are still
    // awake when one call follows the other.
    variables.set("GOMP_SPINCOUNT", "10000");
    return open_library<Functions>(library_files, "AXISLOOM_ONEDNN", {"libdnnl.so.3", "libdnnl.so.2"}, require_all);
  }();
  return opened.functions();
}

void require(Status code, const char* call) {
  if (code == unimplemented || code == invalid_arguments)
    refuse(fmt::format("refuses the job: {} answers {}", call, code));
  Requirement{"oneDNN"}(code, call);
}

/// One side of a reorder: strides, or in their place a format tag.
struct Layout {
  std::vector<i64> extents, strides;
  int tag = 0;
};

/// A layout in whichever form the library's version has it.
class MemoryDescriptor : core::NotCopied {
 public:
  MemoryDescriptor(const Layout& layout, int type) {
    const Api& api = functions();
    const int rank = layout.extents.size();
    std::array<i64, most_dimensions> extents{}, strides{};
    std::ranges::copy(layout.extents, extents.begin());
    std::ranges::copy(layout.strides, strides.begin());
    const auto describe = [&](auto* by_tag, auto* by_strides, auto* place) {
      return layout.tag != 0 ? by_tag(place, rank, extents.data(), type, layout.tag)
                             : by_strides(place, rank, extents.data(), type, strides.data());
    };
    require(api.dnnl_memory_desc_create_with_strides != nullptr
                ? describe(api.dnnl_memory_desc_create_with_tag, api.dnnl_memory_desc_create_with_strides, &handle_)
                : describe(api.dnnl_memory_desc_init_by_tag, api.dnnl_memory_desc_init_by_strides, structure_.data()),
            "the memory descriptor");
  }
  ~MemoryDescriptor() {
    if (handle_ != nullptr) functions().dnnl_memory_desc_destroy(handle_);
  }

  const void* address() const noexcept { return handle_ != nullptr ? handle_ : structure_.data(); }

 private:
  void* handle_ = nullptr;
  alignas(8) std::array<std::byte, memory_descriptor_bytes> structure_{};
};

/// A reorder that is ready to run.
class Reorder : core::NotCopied {
 public:
  Reorder(const Layout& from, void* in, const Layout& to, void* out, int type) {
    const MemoryDescriptor source(from, type), destination(to, type);
    const Engine engine = api_.engine;
    PrimitiveDescriptor descriptor = nullptr;
    require(api_.dnnl_reorder_primitive_desc_create(&descriptor, source.address(), engine, destination.address(),
                                                    engine, nullptr),
            "dnnl_reorder_primitive_desc_create");
    const char* implementation = nullptr;
    if (api_.dnnl_primitive_desc_query(descriptor, query_implementation, 0, &implementation) == 0)
      implementation_ = implementation;
    const Status created = api_.dnnl_primitive_create(&primitive_, descriptor);
    api_.dnnl_primitive_desc_destroy(descriptor);
    require(created, "dnnl_primitive_create");
    api_.dnnl_memory_create(&arguments_[0].memory, source.address(), engine, in);
    api_.dnnl_memory_create(&arguments_[1].memory, destination.address(), engine, out);
  }
  ~Reorder() {
    for (const Argument& argument : arguments_)
      if (argument.memory != nullptr) api_.dnnl_memory_destroy(argument.memory);
    if (primitive_ != nullptr) api_.dnnl_primitive_destroy(primitive_);
  }

  const std::string& implementation() const noexcept { return implementation_; }
  void run() const {
    require(api_.dnnl_primitive_execute(primitive_, api_.stream, std::size(arguments_), arguments_),
            "dnnl_primitive_execute");
    require(api_.dnnl_stream_wait(api_.stream), "dnnl_stream_wait");
  }

 private:
  const Functions& api_ = functions();
  Primitive primitive_ = nullptr;
  Argument arguments_[2] = {{argument_from}, {argument_to}};
  std::string implementation_;
};

/// The element types that it reorders without looking at them, and how many of them an element is.
struct Words {
  int type;
  i64 count;
  const char* name;
};
Words words_of(Dtype dtype) {
  const i64 size = size_of(dtype);
  if (size == 1) return {type_u8, 1, "u8"};
  if (size == 2) return {type_bf16, 1, "bf16"};
  if (dtype == Dtype::f32) return {type_f32, 1, "f32"};
  return {type_s32, size / 4, "s32"};
}

/// One side of a move, its elements' words as one more axis.
Layout layout_of(const core::Move& move, const Words& words, core::Operand stride) {
  Layout layout;
  for (const core::Loop& axis : move.axes) {
    layout.extents.push_back(axis.extent);
    layout.strides.push_back(axis.*stride * words.count);
  }
  if (words.count > 1 || move.axes.empty()) {
    layout.extents.push_back(words.count);
    layout.strides.push_back(1);
  }
  return layout;
}

/// Where a reorder comes from and where it goes.
struct Layouts {
  Layout from, to;
};

/// Channels with a tail of zeros as the library's own layouts have them.
Layouts layouts_of(const core::Move& move, const Words& words) {
  if (!move.tail) return {layout_of(move, words, &core::Loop::in), layout_of(move, words, &core::Loop::out)};
  const auto images = padded_blocks(move);
  const int tag = images ? blocked_channels_tag(functions().dnnl_version()->major, images->block) : 0;
  if (tag == 0 || words.count > 1) refuse("has no layout with such a tail of zeros");
  const std::vector<i64> extents{images->n, images->c, images->pixels};
  const Layout plain{extents, {images->n_stride, images->c_stride, images->pixel_stride}}, blocked{extents, {}, tag};
  return images->to_blocks ? Layouts{plain, blocked} : Layouts{blocked, plain};
}

const char* threads_of(const Version& version) {
  return version.cpu_runtime == 2 ? "OpenMP" : version.cpu_runtime == 4 ? "TBB" : "its own threads";
}

class Call final : public HostCall {
 public:
  Call(Workload& workload, const Words& words, const Layouts& layouts)
      : HostCall(workload, "onednn", {}),
        reorder_(layouts.from, workload.move_from(), layouts.to, workload.move_to(), words.type) {
    const Version& version = *functions().dnnl_version();
    describe(fmt::format("reorder of {}{}, {}, oneDNN {}.{}.{}, {}", words.name,
                         words.count > 1 ? concat("x", words.count) : "", reorder_.implementation(), version.major,
                         version.minor, version.patch, threads_of(version)));
  }

 private:
  void call() override { reorder_.run(); }

  Reorder reorder_;
};

}  // namespace
}  // namespace axisloom::bench::onednn

namespace axisloom::bench {

UniqueContestant make_onednn(Workload& workload, Session&) {
  if (workload.host(0) == nullptr || workload.host_out() == nullptr) refuse("works on host memory only");
  const auto& move = workload.merged();
  if (!move) refuse("is called for moves");
  const onednn::Words words = onednn::words_of(workload.in().dtype);
  if (move->axes.size() + (words.count > 1 ? 1 : 0) > onednn::most_dimensions) refuse("has at most 12 axes");
  onednn::functions();
  return std::make_unique<onednn::Call>(workload, words, onednn::layouts_of(*move, words));
}

}  // namespace axisloom::bench
