// Runs the dialect's own kernels on any device: buffers from vectors, arguments in the dialect's order, results back.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "jit/jit.hpp"

namespace axisloom::dialect_test {

using i64 = std::int64_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr unsigned items = 32;  // of a group, but where a test says otherwise

enum class Prelude { plain, checked, traced };

inline const char* name(Prelude prelude) {
  constexpr const char* names[] = {"plain", "checked", "traced"};
  return names[static_cast<int>(prelude)];
}

/// Every device of this machine, opened once; their names are printed, so that a log tells what was tested.
inline const std::vector<std::shared_ptr<device::Device>>& every_device() {
  static const auto& devices = *[] {
    auto* opened = new std::vector<std::shared_ptr<device::Device>>;
    for (device::Runtime* runtime : {&device::opencl_runtime(), &device::cuda_runtime()}) {
      for (const DeviceInfo& info : runtime->devices()) {
        opened->push_back(runtime->open(info.index));
        std::cout << "[ DEVICE   ] " << info.label() << std::endl;
      }
    }
    return opened;
  }();
  return devices;
}

inline jit::Specialisation selftest(const std::string& file, const std::string& kernel, jit::Defines defines,
                                    std::size_t params_size, Prelude prelude, unsigned group = items) {
  defines.set("AXL_PARAMS_SIZE", static_cast<i64>(params_size));
  if (prelude == Prelude::traced) defines.set("AXL_TRACE", 1);
  return {"dialect/selftest/" + file + ".kernel", kernel, std::move(defines), group, prelude == Prelude::checked};
}

/// One launch. Buffers are given in the kernel's order; the vectors they come from hold the result afterwards.
class KernelRun {
 public:
  KernelRun(device::Device& device, std::string file, std::string kernel, Prelude prelude, jit::Defines defines = {})
      : device_(device),
        file_(std::move(file)),
        kernel_(std::move(kernel)),
        prelude_(prelude),
        defines_(std::move(defines)),
        log(log_words, 0) {}

  KernelRun& items_of_a_group(unsigned count) {
    group_ = count;
    return *this;
  }

  /// Written before the text.
  KernelRun& behind(std::string lines) {
    first_lines_ = std::move(lines);
    return *this;
  }

  /// `offset` and `length` in elements; by default CHECKED lets the whole vector be used.
  template <class T>
  KernelRun& buffer(std::vector<T>& data, i64 offset = 0, i64 length = -1) {
    const i64 ordinal = static_cast<i64>(buffers_.size());
    const i64 elements = length < 0 ? static_cast<i64>(data.size()) : length;
    buffers_.push_back(
        {std::as_writable_bytes(std::span(data)), nullptr, offset, prelude_ == Prelude::traced ? ordinal : elements});
    return *this;
  }

  template <class P>
  void launch(const P& params, unsigned groups, std::size_t local_bytes = 0) {
    launch_each(std::vector<P>{params}, groups, local_bytes);
  }

  /// One launch for each of the parameters, on the same buffers.
  template <class P>
  void launch_each(const std::vector<P>& each, unsigned groups, std::size_t local_bytes) {
    const auto what = selftest(file_, kernel_, defines_, sizeof(P), prelude_, group_);
    const DeviceInfo& info = device_.info();
    const auto program =
        device_.build({file_ + "/" + kernel_, first_lines_ + jit::full_text(what, info.api), jit::build_options(info)});
    const auto queue = device_.queue(false);
    std::vector<device::Arg> args;
    for (Bound& bound : buffers_) {
      upload(*queue, bound);
      args.push_back(device::Arg::of(*bound.buffer));
      args.push_back(device::Arg::bytes(&bound.offset, sizeof(i64)));
      if (prelude_ != Prelude::plain) args.push_back(device::Arg::bytes(&bound.watch, sizeof(i64)));
    }
    Bound log_bound{std::as_writable_bytes(std::span(log)), nullptr, 0, 0};
    if (prelude_ != Prelude::plain) {
      upload(*queue, log_bound);
      args.push_back(device::Arg::of(*log_bound.buffer));
    }
    args.emplace_back();
    for (const P& params : each) {
      args.back() = device::Arg::bytes(&params, sizeof(P));
      queue->launch(*program, kernel_, {groups, group_, local_bytes, 1}, args, {});
    }
    for (Bound& bound : buffers_) queue->read(*bound.buffer, 0, bound.data, {});
    if (prelude_ != Prelude::plain) queue->read(*log_bound.buffer, 0, log_bound.data, {});
    queue->finish();
    if (prelude_ == Prelude::checked && !expect_violation) {
      EXPECT_EQ(log[0], 0u) << "a violation at line " << (log[1] >> 12) << " of " << file_;
    }
  }

 private:
  struct Bound {
    std::span<std::byte> data;
    std::shared_ptr<device::Buffer> buffer;
    i64 offset;
    i64 watch;
  };

  void upload(device::Queue& queue, Bound& bound) {
    bound.buffer = device_.allocate(bound.data.size());
    queue.write(*bound.buffer, 0, bound.data, {});
  }

  static constexpr std::size_t log_words = 8 + 8 * 1024;

  device::Device& device_;
  std::string file_;
  std::string kernel_;
  Prelude prelude_;
  jit::Defines defines_;
  unsigned group_ = items;
  std::string first_lines_;
  std::vector<Bound> buffers_;

 public:
  std::vector<u32> log;
  bool expect_violation = false;
};

/// Calls test(device, prelude) for every device, plain and checked.
template <class Test>
void on_every_device(Test test) {
  for (const auto& device : every_device()) {
    for (const Prelude prelude : {Prelude::plain, Prelude::checked}) {
      SCOPED_TRACE(device->info().label() + ", " + name(prelude));
      test(*device, prelude);
    }
  }
}

/// Random bytes; the same every time.
template <class T>
std::vector<T> noise(std::size_t count, unsigned seed = 1) {
  std::mt19937_64 engine(seed);
  std::vector<T> data(count);
  for (T& value : data) {
    const u64 bits = engine();
    std::memcpy(&value, &bits, sizeof(T));
  }
  return data;
}

/// A binary float of 1 sign bit, `exponent_bits` and `mantissa_bits`, by its definition.
struct Format {
  int exponent_bits, mantissa_bits;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  u32 infinity() const { return ((1u << exponent_bits) - 1) << mantissa_bits; }

  u32 widened(u32 bits) const {
    const u32 sign = bits >> (exponent_bits + mantissa_bits) << 31;
    const u32 magnitude = bits & ((1u << (exponent_bits + mantissa_bits)) - 1);
    const u32 mantissa = magnitude & ((1u << mantissa_bits) - 1);
    const int exponent = static_cast<int>(magnitude >> mantissa_bits);
    if (magnitude > infinity()) return sign | 0x7fc00000u | mantissa << (23 - mantissa_bits);
    if (magnitude == infinity()) return sign | 0x7f800000u;
    const double value = exponent == 0 ? std::ldexp(mantissa, 1 - bias() - mantissa_bits)
                                       : std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias() - mantissa_bits);
    return sign | std::bit_cast<u32>(static_cast<float>(value));
  }

  u32 narrowed(u32 bits) const {
    const u32 sign = bits >> 31 << (exponent_bits + mantissa_bits);
    const u32 magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {
      return sign | infinity() | 1u << (mantissa_bits - 1) | (magnitude & 0x7fffffu) >> (23 - mantissa_bits);
    }
    const double value = std::bit_cast<float>(magnitude);
    if (value >= std::ldexp(1.0, bias() + 1)) return sign | infinity();
    const int exponent = value == 0 ? 1 - bias() : std::max(std::ilogb(value), 1 - bias());
    const auto steps = static_cast<u32>(std::nearbyint(std::ldexp(value, mantissa_bits - exponent)));
    // A mantissa that rounds up to the next power of two carries into the exponent by itself.
    return sign | ((static_cast<u32>(exponent + bias() - 1) << mantissa_bits) + steps);
  }
};

inline constexpr Format f16 = {5, 10};
inline constexpr Format bf16 = {8, 7};

}  // namespace axisloom::dialect_test
