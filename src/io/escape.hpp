// How the calls of an image library end early: libpng and libjpeg leave a failing call by longjmp.
#pragma once

#include "core/not_copied.hpp"
#include "io/file.hpp"

#include <csetjmp>
#include <cstring>

namespace axisloom::io {

struct Escape : private core::NotCopied {
  std::jmp_buf place;
  char message[200] = {};

  /// For the library's callbacks.
  [[noreturn]] void leave(const char* what) {
    std::strncpy(message, what, sizeof message - 1);
    std::longjmp(place, 1);
  }

  /// Whether `calls` of the library ran to their end. They hold nothing that needs a destructor.
  bool completes(auto&& calls) {
    if (setjmp(place) != 0) return false;
    calls();
    return true;
  }
};

/// An Escape with the file that the library reads.
struct EscapingReader : Escape {
  const InputFile& file;
  InputStream stream;

  explicit EscapingReader(const InputFile& file) : file(file), stream(file) {}

  /// Throws Error(file) about `field` where `calls` do not run to their end.
  void run(const char* field, auto&& calls) {
    if (completes(calls)) return;
    stream.require_good();
    file.fail(field, printable(message));
  }
};

}  // namespace axisloom::io
