// Where C++ ends: whatever is thrown becomes a status, and its text is kept for the thread that asks.
#pragma once

#include <axisloom/axisloom.h>
#include <axisloom/error.hpp>

#include <concepts>
#include <new>
#include <string>

namespace axisloom::c {

/// Keeps the text for axl_last_error, and gives back the status.
axl_status failed(axl_status status, const char* message, const char* remedy) noexcept;
axl_status failed(const Error& error) noexcept;
axl_status failed_without_memory() noexcept;

/// Does it, and says how it went.
axl_status guarded(const std::invocable auto& work) noexcept {
  try {
    work();
    return AXL_OK;
  } catch (const Error& error) {
    return failed(error);
  } catch (const std::bad_alloc&) {
    return failed_without_memory();
  } catch (const std::exception& error) {
    return failed(AXL_INTERNAL, error.what(), "");
  } catch (...) {
    return failed(AXL_INTERNAL, "something was thrown that is no exception", "");
  }
}

/// What a pointer points to. Throws Error(usage) where it is null.
template <class T>
T& required(T* pointer, const char* what) {
  if (!pointer) throw Error(Errc::usage, std::string(what) + " is null", "give one");
  return *pointer;
}

}  // namespace axisloom::c
