// In place of src/ops/nvidia/tensor_core.h: its words are those of emulated/tensor_core_intrinsics.h.
