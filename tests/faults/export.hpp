// Exports functions by the name alone: their parameters are in the tables of the library under test, not here again.
#pragma once

/// Exports `name` as a jump to `target`, a function of the same signature.
#define AXISLOOM_EXPORT(name, target)                                                                           \
  extern "C" {                                                                                                  \
  __attribute__((visibility("hidden"), used)) void* axisloom_to_##name = reinterpret_cast<void*>(target);       \
  }                                                                                                             \
  asm(".pushsection .text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n\tjmp *axisloom_to_" #name \
      "(%rip)\n.popsection\n");
