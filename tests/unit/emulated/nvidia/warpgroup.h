// Stands in for src/ops/nvidia/warpgroup.h: emulated/warpgroup_intrinsics.h has its words, for all kernels of a test.
