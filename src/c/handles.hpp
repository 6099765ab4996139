// What the handles of devices and queues hold, which several parts of the C interface take.
#pragma once

#include <axisloom/axisloom.h>
#include <axisloom/device.hpp>

#include "c/failure.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

struct axl_device {
  axisloom::Device device;
  std::string label = device.info().label();
};
struct axl_queue {
  axisloom::Queue queue;
};

namespace axisloom::c {

/// Null is the host.
inline Device device_of(const axl_device* device) {
  return device ? device->device : Device::open("host");
}

/// Hands over what was made: it is the caller's from here on.
template <class Handle>
void give(Handle** place, auto&& made) {
  *place = new Handle{std::forward<decltype(made)>(made)};
}

constexpr size_t most_struct_bytes = 4096;  // of one that begins with its size, in any version to come

/// Of a struct that begins with its size: this version's, in which 0 stands for what an earlier one lacks; all of it
/// for null. `what`: "the options have".
template <class Struct>
Struct sized_copy(const Struct* given, const char* what, const char* type) {
  Struct copy{};
  if (!given) return copy;
  if (given->size < sizeof(given->size) || given->size > most_struct_bytes)
    throw Error(Errc::usage, std::string(what) + " size " + std::to_string(given->size),
                std::string("set it to sizeof(") + type + ")");
  std::memcpy(&copy, given, std::min(given->size, sizeof copy));
  return copy;
}

}  // namespace axisloom::c
