// A libOpenCL.so.1 before the real one: hands every call on, lets calls fail on order, and keeps books of all objects.
//
// AXISLOOM_REAL_OPENCL           the loader to hand calls on to
// AXISLOOM_SHIM_MAX_ALLOCATION   bytes that CL_DEVICE_MAX_MEM_ALLOC_SIZE says, so that small arrays are cut in slices
// AXISLOOM_SHIM_DELAY            milliseconds by which kernels begin late, so that what is freed too early is noticed
#include "export.hpp"
#include "preload/injection.hpp"

#include "device/opencl/functions.hpp"

#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

void* open_real_loader() {
  const char* const path = std::getenv("AXISLOOM_REAL_OPENCL");
  void* const opened = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (opened) return opened;
  std::fprintf(stderr, "AXISLOOM_REAL_OPENCL names no OpenCL loader: %s\n", path ? dlerror() : "it is not set");
  std::_Exit(1);
}

template <typename Function>
Function* real(const char* name) {
  static void* const loader = open_real_loader();
  return reinterpret_cast<Function*>(dlsym(loader, name));
}

long number_from(const char* variable) {
  const char* const text = std::getenv(variable);
  return text ? std::atol(text) : 0;
}

/// References that the program holds. Using or releasing what is not held ends the program.
class Books {
 public:
  void add(const void* object) {
    const std::lock_guard lock(mutex_);
    ++held_[object];
  }
  void require(const void* object, const char* call) {
    const std::lock_guard lock(mutex_);
    if (!held_.contains(object)) refuse(call);
  }
  void take(const void* object, const char* call) {
    const std::lock_guard lock(mutex_);
    const auto found = held_.find(object);
    if (found == held_.end()) refuse(call);
    if (--found->second == 0) held_.erase(found);
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return held_.size();
  }

 private:
  [[noreturn]] static void refuse(const char* call) {
    std::fprintf(stderr, "shim: %s with an object that is not held\n", call);
    std::abort();
  }
  std::mutex mutex_;
  std::map<const void*, int> held_;
};

Books& books() {
  static Books& instance = *new Books;
  return instance;
}

/// Platforms, devices and lists of properties are nobody's to hold.
bool begins_with_an_object(std::string_view name) {
  return !name.starts_with("clGetPlatform") && !name.starts_with("clGetDevice") && !name.starts_with("clRetain") &&
         name != "clCreateContext";
}

template <typename First, typename... Rest>
auto last_of(First first, Rest... rest) {
  if constexpr (sizeof...(rest) == 0) {
    return first;
  } else {
    return last_of(rest...);
  }
}

/// An event that a thread sets some time later.
cl_event later(cl_command_queue queue, long milliseconds) {
  cl_context context = nullptr;
  real<decltype(clGetCommandQueueInfo)>("clGetCommandQueueInfo")(queue, CL_QUEUE_CONTEXT, sizeof context, &context,
                                                                 nullptr);
  cl_int code = CL_SUCCESS;
  const cl_event event = real<decltype(clCreateUserEvent)>("clCreateUserEvent")(context, &code);
  std::thread([=] {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    real<decltype(clSetUserEventStatus)>("clSetUserEventStatus")(event, CL_COMPLETE);
    real<decltype(clReleaseEvent)>("clReleaseEvent")(event);
  }).detach();
  return event;
}

long delay() {
  static const long milliseconds = number_from("AXISLOOM_SHIM_DELAY");
  return milliseconds;
}

/// So that a program that ends at once still meets its kernels.
void wait_for_late_kernels() {
  std::this_thread::sleep_for(2 * std::chrono::milliseconds(delay()));
}

cl_int CL_API_CALL enqueue_late(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                                const size_t* global, const size_t* local, cl_uint count, const cl_event* waits,
                                cl_event* made) {
  static const int waits_at_exit = std::atexit(wait_for_late_kernels);
  static_cast<void>(waits_at_exit);
  std::vector<cl_event> all(waits, waits + count);
  all.push_back(later(queue, delay()));
  return real<decltype(clEnqueueNDRangeKernel)>("clEnqueueNDRangeKernel")(
      queue, kernel, dimensions, offset, global, local, static_cast<cl_uint>(all.size()), all.data(), made);
}

cl_int CL_API_CALL device_info_with_limit(cl_device_id device, cl_device_info what, size_t size, void* value,
                                          size_t* used) {
  static const long most = number_from("AXISLOOM_SHIM_MAX_ALLOCATION");
  const cl_int code = real<decltype(clGetDeviceInfo)>("clGetDeviceInfo")(device, what, size, value, used);
  if (what == CL_DEVICE_MAX_MEM_ALLOC_SIZE && value) *static_cast<cl_ulong*>(value) = static_cast<cl_ulong>(most);
  return code;
}

/// What a call is handed on to: the real loader's function, or what a scenario wants in its place.
template <typename Function>
Function* target(std::string_view name) {
  if constexpr (std::is_same_v<Function, decltype(clEnqueueNDRangeKernel)>) {
    if (name == "clEnqueueNDRangeKernel" && delay()) return &enqueue_late;
  }
  if constexpr (std::is_same_v<Function, decltype(clGetDeviceInfo)>) {
    if (name == "clGetDeviceInfo" && number_from("AXISLOOM_SHIM_MAX_ALLOCATION")) return &device_info_with_limit;
  }
  return real<Function>(name.data());
}

/// One entry of the table; `Name::text` is its name.
template <typename Name, typename Function>
struct Forward;

template <typename Name, typename Result, typename First, typename... Rest>
struct Forward<Name, Result(First, Rest...)> {
  static Result CL_API_CALL run(First first, Rest... rest) {
    static auto* const function = target<Result(First, Rest...)>(Name::text);
    constexpr std::string_view name = Name::text;
    int code = 0;
    const bool strikes = axisloom_fault_strikes(Name::text, __builtin_return_address(0), &code) != 0;
    if constexpr (std::is_pointer_v<First>) {
      if (begins_with_an_object(name)) books().require(first, Name::text);
    }
    if constexpr (!std::is_same_v<Result, cl_int>) {
      cl_int* const status = last_of(rest...);
      if (strikes) return *status = code, nullptr;
      Result made = function(first, rest...);
      if (*status == CL_SUCCESS && name.starts_with("clCreate")) books().add(made);
      return made;
    } else {
      // A release that fails has released all the same, so that the books stay true.
      if constexpr (name.starts_with("clRelease")) books().take(first, Name::text);
      if (strikes && !name.starts_with("clRelease")) return code;
      const cl_int answer = function(first, rest...);
      if (strikes) return code;
      code = answer;
      if (code == CL_SUCCESS) note(name, first, rest...);
      return code;
    }
  }

 private:
  static void note(std::string_view name, First first, Rest... rest) {
    if constexpr (std::is_pointer_v<First>) {
      if (name.starts_with("clRetain")) books().add(first);
    }
    if constexpr (std::is_same_v<decltype(last_of(first, rest...)), cl_event*>) {
      if (cl_event* const made = last_of(first, rest...)) books().add(*made);
    }
  }
};

}  // namespace

#define AXISLOOM_SHIM(name)                    \
  namespace {                                  \
  struct Name_##name {                         \
    static constexpr const char* text = #name; \
  };                                           \
  }                                            \
  AXISLOOM_EXPORT(name, (&Forward<Name_##name, decltype(::name)>::run))
AXISLOOM_OPENCL_FUNCTIONS(AXISLOOM_SHIM)

/// How many objects the program holds: zero when it has released everything.
extern "C" __attribute__((visibility("default"))) std::size_t axisloom_shim_held() {
  return books().size();
}
