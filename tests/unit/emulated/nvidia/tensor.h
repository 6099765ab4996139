// Stands in for src/ops/nvidia/tensor.h: emulated/tensor_intrinsics.h has its words, for all kernels of a test.
