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

#include <CL/cl.h>

#include <dirent.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
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
bool zeros = false;  // on a card that computes nothing
bool faults_ended = false;

/// Arrays that begin alike in every round: a plan is kept for each alignment of host memory, which would look like a
/// leak.
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

/// Does work that uses the caller's arrays; when it fails, waits until nothing that was queued uses them any more.
void finished(std::initializer_list<const axisloom::Queue*> queues, const std::function<void()>& work) {
  try {
    work();
  } catch (...) {
    for (const axisloom::Queue* queue : queues) {
      try {
        queue->finish();
      } catch (const axisloom::Error&) {
      }
    }
    throw;
  }
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
  finished({&first, &second}, [&] {
    const axisloom::Event written[] = {first.write(buffers[0], 0, bytes(in))};
    const axisloom::Event done[] = {plan.run(second, buffers, {}, written)};
    first.read(buffers[1], 0, bytes(out), done).wait();
  });
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
                        axisloom::Dtype::f32,
                        [](auto& arrays) { return product(product(arrays[0], arrays[1], n), arrays[2], n); });
}

// --- objects of the caller's ---------------------------------------------------------------------------------------

/// A function of a runtime that the library has opened already.
template <typename Function>
Function* entry(const char* library, const char* name) {
  void* const opened = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
  return opened ? reinterpret_cast<Function*>(dlsym(opened, name)) : nullptr;
}

/// Runs `give` on the way out.
template <typename Give>
class Finally {
 public:
  explicit Finally(Give give) : give_(std::move(give)) {}
  ~Finally() { give_(); }
  Finally(const Finally&) = delete;
  Finally& operator=(const Finally&) = delete;

 private:
  Give give_;
};

/// A copy through a borrowed device, queue and buffer; the library lets all of them go.
void copy_borrowed(const Device& device, void* queue, void* memory) {
  constexpr std::size_t size = 256;
  Array<unsigned> in = counted<unsigned>(size), out(size, 7U);
  View view = View::contiguous(axisloom::Dtype::u32, {size});
  view.align = 4;
  const View views[] = {view, view};
  const axisloom::Plan plan = axisloom::plan(axisloom::copy(), views, device);
  const axisloom::Queue borrowed = device.borrow_queue(queue);
  const axisloom::Buffer buffers[] = {device.allocate(size * sizeof(unsigned)),
                                      device.borrow_buffer(memory, size * sizeof(unsigned))};
  finished({&borrowed}, [&] {
    borrowed.write(buffers[0], 0, {});
    borrowed.write(buffers[0], 0, bytes(in)).wait();
    plan.run(borrowed, buffers).wait();
    borrowed.read(buffers[1], 0, bytes(out)).wait();
  });
  judge(in == out);
}

#define OPENCL(name) entry<decltype(name)>("libOpenCL.so.1", #name)

/// Our own calls may fail as well: then there is nothing to borrow.
void borrow_opencl() {
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  cl_int code = CL_SUCCESS;
  if (OPENCL(clGetPlatformIDs)(1, &platform, nullptr) != CL_SUCCESS) return;
  if (OPENCL(clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, 1, &id, nullptr) != CL_SUCCESS) return;
  const cl_context context = OPENCL(clCreateContext)(nullptr, 1, &id, nullptr, nullptr, &code);
  if (!context) return;
  const Finally with_context([&] { OPENCL(clReleaseContext)(context); });
  const cl_command_queue queue = OPENCL(clCreateCommandQueue)(context, id, 0, &code);
  if (!queue) return;
  const Finally with_queue([&] { OPENCL(clReleaseCommandQueue)(queue); });
  const cl_mem memory = OPENCL(clCreateBuffer)(context, CL_MEM_READ_WRITE, 1024, nullptr, &code);
  if (!memory) return;
  const Finally with_memory([&] { OPENCL(clReleaseMemObject)(memory); });
  copy_borrowed(Device::borrow_opencl(context, id), queue, memory);
}

#define CUDA(name, ...) entry<int(__VA_ARGS__)>("libcuda.so.1", #name)

void borrow_cuda() {
  void *context = nullptr, *stream = nullptr;
  std::uint64_t memory = 0;
  if (CUDA(cuDevicePrimaryCtxRetain, void**, int)(&context, 0) != 0) return;
  const Finally with_context([&] { CUDA(cuDevicePrimaryCtxRelease_v2, int)(0); });
  if (CUDA(cuCtxPushCurrent_v2, void*)(context) != 0) return;
  const Finally with_current([&] { CUDA(cuCtxPopCurrent_v2, void**)(&context); });
  constexpr unsigned own_order = 1;  // not that of the default stream
  if (CUDA(cuStreamCreateWithPriority, void**, unsigned, int)(&stream, own_order, 0) != 0) return;
  const Finally with_stream([&] { CUDA(cuStreamDestroy_v2, void*)(stream); });
  if (CUDA(cuMemAlloc_v2, std::uint64_t*, std::size_t)(&memory, 1024) != 0) return;
  const Finally with_memory([&] { CUDA(cuMemFree_v2, std::uint64_t)(memory); });
  copy_borrowed(Device::borrow_cuda(context), stream, reinterpret_cast<void*>(memory));
}

// --- rounds --------------------------------------------------------------------------------------------------------

void attempt(const std::function<void()>& work) {
  try {
    work();
  } catch (const axisloom::Error& error) {
    ++tally.typed;
    if (faults_ended) std::fprintf(stderr, "still: %s\n", error.what());
  } catch (const std::bad_alloc&) {
    ++tally.typed;
    if (faults_ended) std::fprintf(stderr, "still: no memory\n");
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
  if (device.info().api != axisloom::Api::host) attempt(zeros ? borrow_cuda : borrow_opencl);
  if (zeros) return;  // the emulated compiler knows no more kernels
  attempt([&] { sum(device); });
  attempt([&] { chain(device); });
}

void round(const char* spec, int threads) {
  std::vector<std::thread> all;
  try {
    for (int i = 1; i < threads; ++i) all.emplace_back(use, spec);
  } catch (const std::exception&) {  // our own threads may fail to start as well
  }
  use(spec);
  for (std::thread& thread : all) thread.join();
}

// --- what may not grow ---------------------------------------------------------------------------------------------

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

constexpr int kSettled = 5;  // rounds after which every cache is full: where a fault lets two calls through, four

bool grew(const Standing& before, const Standing& after) {
  std::fprintf(stderr, "objects %ld to %ld, descriptors %ld to %ld, threads %ld to %ld\n", before.objects,
               after.objects, before.descriptors, after.descriptors, before.threads, after.threads);
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
  faults_ended = true;
  const int typed = tally.typed.exchange(0);
  const int right = tally.right.exchange(0);
  round(spec, threads);
  std::printf("%d right, %d errors, then %d right, %d errors\n", right, typed, tally.right.load(), tally.typed.load());
  if (tally.wrong) return 1;
  if (tally.untyped) return 7;
  if (tally.typed) return 8;
  return leaks ? 6 : 0;
}
