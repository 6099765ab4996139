// A base for what is neither copied nor moved, since it owns something or others know where it is.
#pragma once

namespace axisloom::core {

struct NotCopied {
  NotCopied() = default;
  NotCopied(const NotCopied&) = delete;
  NotCopied& operator=(const NotCopied&) = delete;
};

}  // namespace axisloom::core
