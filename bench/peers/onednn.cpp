// oneDNN on CPUs, from a library opened at run time: reorders between plain strided layouts, and to and from channels
// in blocks with a tail of zeros, on all its threads.
#include "bench/peers/images.hpp"
#include "bench/peers/libraries.hpp"
#include "bench/peers/onednn_api.hpp"
#include "bench/peers/peers.hpp"

#include "core/not_copied.hpp"

#include <axisloom/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace axisloom::bench::onednn {
namespace {

struct Opened : OpenedLibrary<Api> {
  Engine engine = nullptr;
  Stream stream = nullptr;
};

void bind(Opened& opened, std::vector<std::string>& missing) {
  const device::DynamicLibrary& library = opened.library;
  Api& api = opened.api;
#define AXISLOOM_ENTRY(result, name, parameters) library.require(#name, api.name, missing);
  AXISLOOM_ONEDNN(AXISLOOM_ENTRY)
#undef AXISLOOM_ENTRY
  if (library.find("dnnl_memory_desc_create_with_strides", api.dnnl_memory_desc_create_with_strides)) {
    library.require("dnnl_memory_desc_create_with_tag", api.dnnl_memory_desc_create_with_tag, missing);
    library.require("dnnl_memory_desc_destroy", api.dnnl_memory_desc_destroy, missing);
  } else {
    library.require("dnnl_memory_desc_init_by_strides", api.dnnl_memory_desc_init_by_strides, missing);
    library.require("dnnl_memory_desc_init_by_tag", api.dnnl_memory_desc_init_by_tag, missing);
  }
  if (missing.empty() && (api.dnnl_engine_create(&opened.engine, engine_cpu, 0) != 0 ||
                          api.dnnl_stream_create(&opened.stream, opened.engine, stream_in_order) != 0))
    opened.obstacle = library.path() + " has no engine for CPUs";
}

/// Looked for once.
const Opened& opened() {
  static const Opened& found = []() -> const Opened& {
    constexpr const char* variable = "AXISLOOM_ONEDNN";
    LoadingVariables variables;
    // After a reorder OpenMP's threads spin for milliseconds, while others have their turn. With this they are still
    // awake when one call follows the other.
    variables.set("GOMP_SPINCOUNT", "10000");
    return open_library<Opened>(library_files(variable, {"libdnnl.so.3", "libdnnl.so.2"}), "libdnnl.so.3 or .2",
                                variable, bind);
  }();
  return found;
}

const Api& functions() {
  return opened().api;
}

void require(Status code, const char* call) {
  if (code == 0) return;
  if (code == unimplemented || code == invalid_arguments)
    throw Error(Errc::unsupported, fmt::format("refuses the job: {} answers {}", call, code));
  throw Error(Errc::device, {.message = "oneDNN fails", .call = call, .native = code});
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
    const auto rank = int(layout.extents.size());
    std::array<i64, most_dimensions> extents{}, strides{};
    std::ranges::copy(layout.extents, extents.begin());
    std::ranges::copy(layout.strides, strides.begin());
    const Api& api = functions();
    const bool handles = api.dnnl_memory_desc_create_with_strides != nullptr;
    const auto describe = [&] {
      if (layout.tag != 0 && handles)
        return api.dnnl_memory_desc_create_with_tag(&handle_, rank, extents.data(), type, layout.tag);
      if (layout.tag != 0)
        return api.dnnl_memory_desc_init_by_tag(structure_.data(), rank, extents.data(), type, layout.tag);
      if (handles)
        return api.dnnl_memory_desc_create_with_strides(&handle_, rank, extents.data(), type, strides.data());
      return api.dnnl_memory_desc_init_by_strides(structure_.data(), rank, extents.data(), type, strides.data());
    };
    require(describe(), "the memory descriptor");
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
    const Api& api = functions();
    const Engine engine = opened().engine;
    const MemoryDescriptor source(from, type), destination(to, type);
    PrimitiveDescriptor descriptor = nullptr;
    require(api.dnnl_reorder_primitive_desc_create(&descriptor, source.address(), engine, destination.address(), engine,
                                                   nullptr),
            "dnnl_reorder_primitive_desc_create");
    const char* implementation = nullptr;
    if (api.dnnl_primitive_desc_query(descriptor, query_implementation, 0, &implementation) == 0)
      implementation_ = implementation;
    const Status created = api.dnnl_primitive_create(&primitive_, descriptor);
    api.dnnl_primitive_desc_destroy(descriptor);
    require(created, "dnnl_primitive_create");
    api.dnnl_memory_create(&arguments_[0].memory, source.address(), engine, in);
    api.dnnl_memory_create(&arguments_[1].memory, destination.address(), engine, out);
  }
  ~Reorder() {
    for (const Argument& argument : arguments_)
      if (argument.memory != nullptr) functions().dnnl_memory_destroy(argument.memory);
    if (primitive_ != nullptr) functions().dnnl_primitive_destroy(primitive_);
  }

  const std::string& implementation() const noexcept { return implementation_; }
  void run() const {
    require(functions().dnnl_primitive_execute(primitive_, opened().stream, int(arguments_.size()), arguments_.data()),
            "dnnl_primitive_execute");
    require(functions().dnnl_stream_wait(opened().stream), "dnnl_stream_wait");
  }

 private:
  Primitive primitive_ = nullptr;
  std::array<Argument, 2> arguments_{Argument{argument_from}, Argument{argument_to}};
  std::string implementation_;
};

/// The element types that it reorders without looking at them, and how many of them an element is.
struct Words {
  int type;
  i64 count;
  const char* name;
};
Words words_of(Dtype dtype) {
  const auto size = i64(size_of(dtype));
  if (size == 1) return {type_u8, 1, "u8"};
  if (size == 2) return {type_bf16, 1, "bf16"};
  if (dtype == Dtype::f32) return {type_f32, 1, "f32"};
  return {type_s32, size / 4, "s32"};
}

/// One side of a move, its elements' words as one more axis.
Layout layout_of(const core::Move& move, const Words& words, i64 core::Loop::*stride) {
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

/// Channels with a tail of zeros, as the library's own layouts have them. Nothing for other moves with a tail.
std::optional<Layouts> layouts_with_tail(const core::Move& move, const Words& words) {
  const auto images = padded_blocks(move);
  if (!images || words.count > 1) return std::nullopt;
  const std::vector<i64> extents{images->n, images->c, images->pixels};
  const Layout plain{extents, {images->n_stride, images->c_stride, images->pixel_stride}};
  const Layout blocked{extents, {}, blocked_channels_tag(functions().dnnl_version()->major, images->block)};
  if (blocked.tag == 0) return std::nullopt;
  return images->to_blocks ? Layouts{plain, blocked} : Layouts{blocked, plain};
}

std::optional<Layouts> layouts_of(const core::Move& move, const Words& words) {
  if (move.tail) return layouts_with_tail(move, words);
  return Layouts{layout_of(move, words, &core::Loop::in), layout_of(move, words, &core::Loop::out)};
}

const char* threads_of(const Version& version) {
  switch (version.cpu_runtime) {
    case 2:
      return "OpenMP";
    case 4:
      return "TBB";
    default:
      return "its own threads";
  }
}

class Call final : public Contestant {
 public:
  Call(Workload& workload, const Words& words, const Layouts& layouts)
      : Contestant(workload, "onednn", {}, Role::peer),
        reorder_(layouts.from, workload.move_from(), layouts.to, workload.move_to(), words.type),
        waking_({{side, side}, {side, 1}}, small_.data(), {{side, side}, {1, side}}, awake_.data(), type_f32) {
    const Version& version = *functions().dnnl_version();
    describe(fmt::format("reorder of {}{}, {}, oneDNN {}.{}.{}, {}", words.name,
                         words.count > 1 ? fmt::format("x{}", words.count) : "", reorder_.implementation(),
                         version.major, version.minor, version.patch, threads_of(version)));
  }

  Timing run() override {
    waking_.run();
    const double start = now();
    reorder_.run();
    return {now() - start, std::nullopt};
  }

 private:
  static constexpr i64 side = 256;

  Reorder reorder_;
  // A transpose just large enough for all threads, which then wait for the one that counts.
  std::vector<float> small_ = std::vector<float>(side * side), awake_ = small_;
  Reorder waking_;
};

}  // namespace
}  // namespace axisloom::bench::onednn

namespace axisloom::bench {

Offer offer_onednn(Workload& workload, Session&) {
  if (workload.host(0) == nullptr || workload.host_out() == nullptr) return Offer::absent("works on host memory only");
  const auto& move = workload.merged();
  if (!move) return Offer::absent("is called for moves");
  const onednn::Words words = onednn::words_of(workload.in().dtype);
  if (move->axes.size() + (words.count > 1 ? 1 : 0) > onednn::most_dimensions)
    return Offer::absent("has at most 12 axes");
  if (const std::string& why = onednn::opened().obstacle; !why.empty()) return Offer::absent(why);
  const auto layouts = onednn::layouts_of(*move, words);
  if (!layouts) return Offer::absent("has no layout with such a tail of zeros");
  return Offer::unless_refused<onednn::Call>(workload, words, *layouts);
}

}  // namespace axisloom::bench
