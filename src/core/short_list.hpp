// A list for the length of a call: a few elements lie in place, so that most calls allocate nothing.
#pragma once

#include "core/integers.hpp"
#include "core/not_copied.hpp"

#include <memory>
#include <utility>

namespace axisloom::core {

/// Holds at most as many elements as it was made for: up to `usual` of them within itself, more on the heap.
template <class T, size_t usual>
class ShortList : NotCopied {
 public:
  explicit ShortList(size_t most)
      : most_(most), begin_(most <= usual ? in_place() : std::allocator<T>().allocate(most)) {}
  ~ShortList() {
    clear();
    if (most_ > usual) std::allocator<T>().deallocate(begin_, most_);
  }

  T& emplace_back(auto&&... arguments) {
    T& added = *std::construct_at(begin_ + size_, std::forward<decltype(arguments)>(arguments)...);
    ++size_;
    return added;
  }
  void push_back(T element) { emplace_back(std::move(element)); }
  void clear() noexcept {
    std::destroy_n(begin_, size_);
    size_ = 0;
  }

  size_t size() const noexcept { return size_; }
  T* data() noexcept { return begin_; }
  const T* data() const noexcept { return begin_; }
  T* begin() noexcept { return begin_; }
  T* end() noexcept { return begin_ + size_; }
  const T* begin() const noexcept { return begin_; }
  const T* end() const noexcept { return begin_ + size_; }
  T& operator[](size_t i) noexcept { return begin_[i]; }
  const T& operator[](size_t i) const noexcept { return begin_[i]; }

 private:
  T* in_place() noexcept { return reinterpret_cast<T*>(place_); }

  size_t most_, size_ = 0;
  T* begin_;
  alignas(T) std::byte place_[usual * sizeof(T)];  // not initialised
};

}  // namespace axisloom::core
