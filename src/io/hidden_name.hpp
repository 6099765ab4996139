// Hidden names of unfinished files, kept where a handler of signals can find them.
#pragma once

#include "core/not_copied.hpp"

#include <string>

namespace axisloom::io {

struct HiddenSlot;

/// A name for an unfinished file beside its target. While it is held, remove_unfinished() knows it.
class HiddenName : core::NotCopied {
 public:
  HiddenName() = default;
  ~HiddenName() { remove(); }

  /// Another name than before, not in use as far as anybody can know: random, so that writers of one target do not
  /// meet.
  void choose(const std::string& target);
  const char* get() const { return name_.c_str(); }
  /// The file has its real name now.
  void forget() noexcept;
  /// Removes the file, if there is one, and forgets its name.
  void remove() noexcept;

 private:
  std::string name_;            // empty: none
  HiddenSlot* slot_ = nullptr;  // where handlers find it; null: nowhere, since too many are held
};

/// Removes the files whose hidden names are held. It may be called by a handler of signals, before the program ends.
void remove_unfinished() noexcept;

}  // namespace axisloom::io
