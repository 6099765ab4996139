// Ends a kernel's structure on the host, and makes the function by which it is called. AXL_ENTRY is its name,
// AXL_FUNCTION the kernel's, AXL_SETTINGS sets the settings from an array.
};

template <class... Arguments, unsigned long... I>
AXL_INLINE void axl_call_kernel(AXL_KERNEL& kernel, void (AXL_KERNEL::*const function)(Arguments...),
                                const void* const* const args, std::index_sequence<I...>) {
  (kernel.*function)(*static_cast<const std::remove_cvref_t<Arguments>*>(args[I])...);
}
template <class... Arguments>
AXL_INLINE void axl_call_kernel(AXL_KERNEL& kernel, void (AXL_KERNEL::*const function)(Arguments...)) {
  axl_call_kernel(kernel, function, kernel.axl_this_call->args, std::make_index_sequence<sizeof...(Arguments)>());
}

extern "C" void JOIN(AXL_LEVEL_NAME(AXL_LEVEL), AXL_ENTRY)(const axl_call& call, const u64 begin, const u64 end) {
  AXL_KERNEL group;
  group.axl_this_call = &call;
  group.axl_item = 0;
  AXL_SETTINGS(group, call.settings)
  for (u64 number = begin; number < end; ++number) {
#if GROUP == 1
    AXL_KERNEL one = group;
    one.axl_group = (u32)number;
    axl_call_kernel(one, &AXL_KERNEL::AXL_FUNCTION);
#else
    axl_items shared;
    __builtin_memset(&shared, 0, __builtin_offsetof(axl_items, brought));
    group.axl_shared = &shared;
    group.axl_group = (u32)number;
    call.run_items(call, GROUP, [](void* const context, const u32 item) {
      AXL_KERNEL one = *static_cast<const AXL_KERNEL*>(context);
      one.axl_item = item;
      axl_call_kernel(one, &AXL_KERNEL::AXL_FUNCTION);
    }, &group);
#endif
  }
}
}  // namespace
