// An object for each thread that asks for it, destroyed when the thread ends. A thread_local object with a destructor
// will not do: where there is no memory to register it, the C library ends the program.
#pragma once

#include <pthread.h>

#include <new>
#include <type_traits>

namespace axisloom::core {

template <class T>
class PerThread {
 public:
  static_assert(std::is_nothrow_default_constructible_v<T>);

  /// The calling thread's own, made when it first asks; null where there is no memory for it.
  static T* get() noexcept {
    if (own) return own;
    static const Key key;
    T* const made = key.known ? new (std::nothrow) T : nullptr;
    if (made && ::pthread_setspecific(key.key, made) != 0) {
      delete made;
      return nullptr;
    }
    return own = made;
  }

 private:
  struct Key {
    pthread_key_t key{};
    bool known = ::pthread_key_create(&key, destroy) == 0;
  };

  static void destroy(void* object) noexcept {
    own = nullptr;  // what other destructors of the thread still do makes another one
    delete static_cast<T*>(object);
  }

  static inline constinit thread_local T* own = nullptr;
};

}  // namespace axisloom::core
