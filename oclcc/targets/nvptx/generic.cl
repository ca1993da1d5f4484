// Pointers to the generic address space, for __opencl_c_generic_address_space. A pointer without an
// address space is generic for the device, also a private one. Functions that take a pointer to
// private memory therefore take generic pointers, too, under the same mangled name.

#define OCLCC_IS_IN(STATE)                                                                         \
  PART int oclcc_is_##STATE(const void* p) {                                                       \
    int result;                                                                                    \
    __asm__("{ .reg .pred in; isspacep." #STATE " in, %1; selp.s32 %0, 1, 0, in; }"                \
            : "=r"(result)                                                                         \
            : "l"(p));                                                                             \
    return result;                                                                                 \
  }
OCLCC_IS_IN(global)
OCLCC_IS_IN(shared)
OCLCC_IS_IN(local)

// clang calls these for to_global, to_local and to_private.
__global void* __to_global(void* p) {
  return oclcc_is_global(p) ? (__global void*)(ulong)p : (__global void*)0;
}
__local void* __to_local(void* p) {
  ulong address;
  __asm__("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(p));
  return oclcc_is_shared(p) ? (__local void*)address : (__local void*)0;
}
void* __to_private(void* p) {
  return oclcc_is_local(p) ? p : (void*)0;
}

// CLK_LOCAL_MEM_FENCE is 1, and CLK_GLOBAL_MEM_FENCE 2.
BUILT_IN uint get_fence(const void* p) {
  return oclcc_is_shared(p) ? 1 : (oclcc_is_global(p) ? 2 : 0);
}
BUILT_IN uint get_fence(void* p) {
  return get_fence((const void*)p);
}
