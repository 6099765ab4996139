// Kernels with a planted fault each, and one without: they prove that Oclgrind is awake before it is believed.
// Usage: axisloom_planted clean|overrun|global-race|local-race|uninitialised   Prints the platform that ran.
#include <cstdio>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace {

constexpr unsigned groups = 2;
constexpr unsigned items = 8;

constexpr const char* source = R"(
#define ONE_GROUP __attribute__((reqd_work_group_size(8, 1, 1)))
ONE_GROUP kernel void clean(global uint* out, global const uint* in) {
  out[get_global_id(0)] = in[get_global_id(0)];
}
ONE_GROUP kernel void overrun(global uint* out, global const uint* in) {
  out[get_global_id(0) + 1] = in[get_global_id(0)];
}
ONE_GROUP kernel void global_race(global uint* out, global const uint* in) {
  out[0] = in[get_global_id(0)] + (uint)get_group_id(0);
}
ONE_GROUP kernel void local_race(global uint* out, global const uint* in) {
  local uint tile[8];
  uint i = get_local_id(0);
  tile[i] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  tile[i / 2] = in[i] + i;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = tile[i];
}
ONE_GROUP kernel void uninitialised(global uint* out, global const uint* in) {
  out[get_global_id(0)] = in[get_global_id(0)] + out[get_global_id(0)];
}
)";

void run(const std::string& kernel) {
  using namespace axisloom::device;
  const auto device = open("auto");
  std::printf("%s\n", device->info().platform.c_str());
  const auto queue = device->queue(false);
  const std::vector<std::byte> zeros(groups * items * sizeof(unsigned));
  const auto in = device->allocate(zeros.size());
  const auto out = device->allocate(zeros.size());
  queue->write(*in, 0, zeros, {});
  const auto program = device->build({"planted", source, {"-cl-std=CL1.2"}});
  const Arg args[] = {Arg::of(*out), Arg::of(*in)};
  queue->launch(*program, kernel, {.groups = groups, .items = items}, args, {});
  queue->finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    run(argv[1]);
  } catch (const axisloom::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return axisloom::exit_code(error.code());
  }
  return 0;
}
