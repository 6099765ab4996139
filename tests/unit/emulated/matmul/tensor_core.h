// In place of src/ops/matmul/tensor_core.h: its words are those of emulated/tensor_core_words.h.
