// A program that uses the library while its calls fail: several threads plan and run at once, round after round, and
// every result is compared. What fails in one thread may not spoil another, nor what comes after, and nothing may stay.
//
// usage: axisloom_faults_user DEVICE THREADS ROUNDS
//   Each round meets the fault anew. Then the faults end, and a last round must be right on a device opened afresh.
// Exit code: 0 as it should be, 1 a wrong result, 6 something was left behind, 7 an exception that the library does not
// throw, 8 the last round failed.
#include <axisloom/device.hpp>
#include <axisloom/error.hpp>
#include <axisloom/plan.hpp>

#include <dirent.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

extern "C" {
void axisloom_fault_next_round() __attribute__((weak));
void axisloom_fault_stop() __attribute__((weak));
long axisloom_fault_blocks(int round) __attribute__((weak));
void axisloom_fault_tell_blocks(int round) __attribute__((weak));
}

namespace {

using axisloom::Device;
using axisloom::View;

struct Tally {
  std::atomic<int> right{0}, wrong{0}, typed{0}, untyped{0};
};
Tally tally;
std::string last_error;
bool zeros = false;  // on a card that computes nothing

/// Arrays that begin alike in every round: a plan is kept for each alignment of host memory, which would look like a leak.
template <typename T>
struct Aligned {
  using value_type = T;
  static constexpr std::align_val_t alignment{4096};
  T* allocate(std::size_t count) { return static_cast<T*>(operator new(count * sizeof(T), alignment)); }
  void deallocate(T* memory, std::size_t) { operator delete(memory, alignment); }
  bool operator==(const Aligned&) const { return true; }
};
template <typename T>
using Array = std::vector<T, Aligned<T>>;

template <typename T>
Array<T> counted(std::size_t size) {
  Array<T> values(size);
  if (!zeros) std::iota(values.begin(), values.end(), T{1});
  return values;
}

template <typename T>
std::span<std::byte> bytes(Array<T>& values) {
  return std::as_writable_bytes(std::span(values));
}

void judge(bool right) {
  ++(right ? tally.right : tally.wrong);
}

/// Through buffers and two queues, one waiting for the other.
void transpose(const Device& device) {
  constexpr std::size_t h = 61, w = 97;
  Array<float> in = counted<float>(h * w), out(h * w, -1.0F);
  const View view = View::contiguous(axisloom::Dtype::f32, {h, w});
  const axisloom::Plan plan = axisloom::plan(axisloom::transpose(), {&view, 1}, device);
  const axisloom::Queue first = device.queue(true), second = device.queue();
  const axisloom::Buffer buffers[] = {device.allocate(in.size() * sizeof(float)),
                                      device.allocate(out.size() * sizeof(float))};
  try {
    const axisloom::Event written[] = {first.write(buffers[0], 0, bytes(in))};
    const axisloom::Event done[] = {plan.run(second, buffers, {}, written)};
    first.read(buffers[1], 0, bytes(out), done).wait();
  } catch (...) {
    // What was queued may still use the arrays.
    for (const axisloom::Queue* queue : {&first, &second}) {
      try {
        queue->finish();
      } catch (const axisloom::Error&) {
      }
    }
    throw;
  }
  bool right = true;
  for (std::size_t i = 0; i < out.size(); ++i) right = right && out[i] == in[i % h * w + i / h];
  judge(right);
}

template <typename T, typename Result>
void on_host(const Device& device, const axisloom::Operation& op, const std::vector<axisloom::Dims>& shapes,
             axisloom::Dtype dtype, const std::function<Array<Result>(std::vector<Array<T>>&)>& expected) {
  std::vector<Array<T>> arrays;
  std::vector<View> views;
  std::vector<std::span<const std::byte>> in;
  for (const axisloom::Dims& shape : shapes) {
    views.push_back(View::contiguous(dtype, shape));
    arrays.push_back(counted<T>(static_cast<std::size_t>(views.back().count())));
  }
  for (auto& array : arrays) in.push_back(bytes(array));
  const Array<Result> want = expected(arrays);
  Array<Result> out(want.size());
  axisloom::run_on_host(op, views, in, bytes(out), device);
  judge(out == want);
}

Array<float> product(const Array<float>& a, const Array<float>& b, std::size_t n) {
  Array<float> c(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < n; ++k) c[i * n + j] += a[i * n + k] * b[k * n + j];
  return c;
}

void sum(const Device& device) {
  using Word = std::uint64_t;
  on_host<Word, Word>(device, axisloom::reduction("sum"), {{48, 64}}, axisloom::Dtype::u64, [](auto& arrays) {
    return Array<Word>{std::accumulate(arrays[0].begin(), arrays[0].end(), Word{0})};
  });
}

void chain(const Device& device) {
  constexpr std::size_t n = 6;  // small, so that the products are whole numbers that floats hold
  on_host<float, float>(device, axisloom::einsum("i k, k l, l j -> i j"), {{n, n}, {n, n}, {n, n}},
                        axisloom::Dtype::f32, [](auto& arrays) {
                          return product(product(arrays[0], arrays[1], n), arrays[2], n);
                        });
}

void attempt(const std::function<void()>& work) {
  try {
    work();
  } catch (const axisloom::Error&) {
    ++tally.typed;
  } catch (const std::bad_alloc&) {
    ++tally.typed;
  } catch (const std::exception& error) {
    ++tally.untyped;
    std::fprintf(stderr, "untyped: %s\n", error.what());
  }
}

void use(const char* spec) {
  Device device;
  attempt([&] { device = Device::open(spec); });
  if (!device) return;
  attempt([&] { transpose(device); });
  if (zeros) return;  // the emulated compiler knows no more kernels
  attempt([&] { sum(device); });
  attempt([&] { chain(device); });
}

void round(const char* spec, int threads) {
  std::vector<std::thread> all;
  for (int i = 1; i < threads; ++i) all.emplace_back(use, spec);
  use(spec);
  for (std::thread& thread : all) thread.join();
}

// --- what may not grow ------------------------------------------------------------------------------------------------

long entries(const char* folder) {
  long count = 0;
  DIR* const open = opendir(folder);
  while (open && readdir(open)) ++count;
  if (open) closedir(open);
  return count;
}

long held_by(const char* library) {
  void* const shim = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
  auto* const held = shim ? reinterpret_cast<std::size_t (*)()>(dlsym(shim, "axisloom_shim_held")) : nullptr;
  const long count = held ? static_cast<long>(held()) : 0;
  if (shim) dlclose(shim);
  return count;
}

struct Standing {
  long objects, descriptors, threads;

  static Standing now() {
    return {held_by("libOpenCL.so.1") + held_by("libcuda.so.1"), entries("/proc/self/fd"), entries("/proc/self/task")};
  }
};

constexpr int kSettled = 3;  // rounds after which every cache is full

bool grew(const Standing& before, const Standing& after) {
  std::fprintf(stderr, "objects %ld to %ld, descriptors %ld to %ld, threads %ld to %ld\n", before.objects, after.objects,
               before.descriptors, after.descriptors, before.threads, after.threads);
  return after.objects > before.objects || after.descriptors > before.descriptors || after.threads > before.threads;
}

/// Memory that the library took in each settled round and that outlives the rounds after it. In one round it may be a
/// plan that is kept: host memory that is aligned otherwise needs another one.
bool kept_memory(int rounds) {
  if (!axisloom_fault_blocks) return false;
  int least = kSettled + 1;
  for (int round = least; round < rounds; ++round)
    if (axisloom_fault_blocks(round) < axisloom_fault_blocks(least)) least = round;
  if (axisloom_fault_blocks(least) == 0) return false;
  axisloom_fault_tell_blocks(least);
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return std::fprintf(stderr, "usage: %s DEVICE THREADS ROUNDS\n", arguments[0]), 2;
  const char* const spec = arguments[1];
  const int threads = std::atoi(arguments[2]), rounds = std::atoi(arguments[3]);
  zeros = std::strncmp(spec, "cuda", 4) == 0;
  Standing before{};
  bool leaks = false;
  for (int i = 1; i <= rounds; ++i) {
    if (axisloom_fault_next_round) axisloom_fault_next_round();
    round(spec, threads);
    if (i == kSettled) before = Standing::now();
    if (i == rounds && rounds > kSettled + 1) leaks = grew(before, Standing::now()) || kept_memory(rounds);
  }
  if (axisloom_fault_stop) axisloom_fault_stop();
  const int typed = tally.typed.exchange(0);
  const int right = tally.right.exchange(0);
  round(spec, threads);
  std::printf("%d right, %d errors, then %d right, %d errors\n", right, typed, tally.right.load(), tally.typed.load());
  if (tally.wrong) return 1;
  if (tally.untyped) return 7;
  if (tally.typed) return 8;
  return leaks ? 6 : 0;
}
