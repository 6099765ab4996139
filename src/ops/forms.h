// How numbers are kept in memory: as they are, as another type, as bytes of which all but 0 count as 1, or as the bits
// of a float that kernels compute with as f32. OUT_FORM is that of the result, declared where it is used.
CONSTANT(IN_FORM, one_of(FORM_SAME FORM_CAST FORM_BOOL FORM_F16 FORM_BF16))  // of ELEMENT

// The forms from FORM_F16 on are bits; which they are is known when the kernel is compiled.
#define FORM_IS_BITS(form) ((form) >= FORM_F16)
#define F32_OF_BITS(form, bits) ((form) == FORM_F16 ? f32_from_f16(bits) : f32_from_bf16(bits))
#define BITS_OF_F32(form, x) ((form) == FORM_F16 ? f16_from_f32(x) : bf16_from_f32(x))
#define LANES_OF_BITS(form, n, bits) ((form) == FORM_F16 ? F32_LANES_OF_F16(n, bits) : F32_LANES_OF_BF16(n, bits))
#define MINUS_INFINITE_BITS(form) ((form) == FORM_F16 ? 0xfc00u : 0xff80u)
