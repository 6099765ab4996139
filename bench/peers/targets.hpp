// Functions for CPUs that have what their name says; callers ask __builtin_cpu_supports first, avx512dq for the
// wider.
#pragma once

#if defined(__x86_64__)
#define AXISLOOM_AVX512 __attribute__((target("avx512f,avx512dq,fma")))
#define AXISLOOM_AVX2 __attribute__((target("avx2,fma")))
#endif
