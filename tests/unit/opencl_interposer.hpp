// Puts itself between the library and OpenCL: counts calls and references by entry point, and makes chosen calls fail.
#pragma once

#include "device/opencl/functions.hpp"

#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace axisloom::test {

class Interposer {
 public:
  Interposer() {
    std::lock_guard lock(state().mutex);
    state().calls.clear();
    state().live.clear();
    state().fail_call = {};
    swap_table(true);
  }
  ~Interposer() { swap_table(false); }
  Interposer(const Interposer&) = delete;
  Interposer& operator=(const Interposer&) = delete;

  /// The nth call from now on (counted from 1) to `call` returns `code` without reaching the runtime.
  void fail(const std::string& call, int nth, cl_int code) {
    std::lock_guard lock(state().mutex);
    state().fail_call = call;
    state().fail_after = nth;
    state().fail_code = code;
  }
  std::map<std::string, int> calls() const {
    std::lock_guard lock(state().mutex);
    return state().calls;
  }
  int total_calls() const {
    int total = 0;
    for (const auto& [call, count] : calls()) total += count;
    return total;
  }
  /// References made and not yet released, by kind of object: "Kernel", "MemObject", ...; kinds with none are absent.
  std::map<std::string, int> live() const {
    std::lock_guard lock(state().mutex);
    std::map<std::string, int> result;
    for (const auto& [kind, count] : state().live) {
      if (count) result[kind] = count;
    }
    return result;
  }

 private:
  struct State {
    std::mutex mutex;
    std::map<std::string, int> calls;
    std::map<std::string, int> live;
    std::string fail_call;
    int fail_after = 0;
    cl_int fail_code = 0;
  };
  static State& state() {
    static State instance;
    return instance;
  }

  static cl_int before(const char* name) {
    std::lock_guard lock(state().mutex);
    ++state().calls[name];
    if (state().fail_call != name || --state().fail_after != 0) return CL_SUCCESS;
    return state().fail_code;
  }

  static void after_success(std::string_view name, bool made_event) {
    const auto rest_of = [&](std::string_view prefix) { return std::string(name.substr(prefix.size())); };
    std::lock_guard lock(state().mutex);
    if (made_event) ++state().live["Event"];
    if (name.starts_with("clCreateProgram")) {
      ++state().live["Program"];
    } else if (name == "clCreateBuffer") {
      ++state().live["MemObject"];
    } else if (name.starts_with("clCreate")) {
      ++state().live[rest_of("clCreate")];
    } else if (name.starts_with("clRetain")) {
      ++state().live[rest_of("clRetain")];
    } else if (name.starts_with("clRelease")) {
      --state().live[rest_of("clRelease")];
    }
  }

  template <typename First, typename... Rest>
  static auto last(First first, Rest... rest) {
    if constexpr (sizeof...(rest) == 0) {
      return first;
    } else {
      return last(rest...);
    }
  }

  template <auto Member, typename Pointer>
  struct Hook;
  template <auto Member, typename Result, typename... Args>
  struct Hook<Member, Result(CL_API_CALL*)(Args...)> {
    static inline Result(CL_API_CALL* original)(Args...) = nullptr;
    static Result CL_API_CALL run(Args... args) {
      const char* const name = (device::opencl::cl().*Member).name;
      const cl_int failure = before(name);
      if constexpr (std::is_same_v<Result, cl_int>) {
        if (failure != CL_SUCCESS) return failure;
        const cl_int code = original(args...);
        if (code == CL_SUCCESS) after_success(name, returns_event(last(args...)));
        return code;
      } else {
        cl_int* const code = last(args...);
        if (failure != CL_SUCCESS) return *code = failure, nullptr;
        Result object = original(args...);
        if (*code == CL_SUCCESS) after_success(name, false);
        return object;
      }
    }
    static bool returns_event(cl_event* event) { return event != nullptr; }
    template <typename Other>
    static bool returns_event(Other) {
      return false;
    }
  };

  template <auto Member, typename Pointer>
  static void swap_entry(device::opencl::Entry<Pointer>& entry, bool in) {
    using ThisHook = Hook<Member, Pointer>;
    if (in) ThisHook::original = entry.function;
    entry.function = in ? &ThisHook::run : ThisHook::original;
  }

  static void swap_table(bool in) {
    device::opencl::Functions& table = device::opencl::cl();
#define AXISLOOM_SWAP(name) swap_entry<&device::opencl::Functions::name>(table.name, in);
    AXISLOOM_OPENCL_FUNCTIONS(AXISLOOM_SWAP)
#undef AXISLOOM_SWAP
  }
};

}  // namespace axisloom::test
