// Atomic functions of OpenCL C 3.0, and of 2.0 with their generic pointers. OpenCL C 1.2, in which
// this file is compiled, has no atomic types: the functions have their mangled names as labels.
//
// An operation is relaxed, with fences before and behind it as its memory order asks. On devices
// since sm_70, membar is a sequentially consistent fence (PTX ISA, membar).

typedef enum memory_order {
  oclcc_relaxed = 0,
  oclcc_acquire = 2,
  oclcc_release = 3,
  oclcc_acquire_release = 4,
  oclcc_sequential = 5
} memory_order;
typedef enum memory_scope {
  oclcc_work_item = 0,
  oclcc_work_group = 1,
  oclcc_device = 2,
  oclcc_all_devices = 3,
  oclcc_sub_group = 4
} memory_scope;

PART void oclcc_fence(memory_scope scope) {
  if (scope == oclcc_device)
    __asm__ volatile("membar.gl;" : : : "memory");
  else if (scope == oclcc_all_devices)
    __asm__ volatile("membar.sys;" : : : "memory");
  else if (scope != oclcc_work_item)
    __asm__ volatile("membar.cta;" : : : "memory");
}
PART void oclcc_fence_before(memory_order order, memory_scope scope) {
  if (order != oclcc_relaxed && order != oclcc_acquire)
    oclcc_fence(scope);
}
PART void oclcc_fence_after(memory_order order, memory_scope scope) {
  if (order != oclcc_relaxed && order != oclcc_release)
    oclcc_fence(scope);
}

BUILT_IN __attribute__((always_inline)) void atomic_work_item_fence(uint flags, memory_order order,
                                                                    memory_scope scope) {
  if (order != oclcc_relaxed)
    oclcc_fence(scope);
}
BUILT_IN __attribute__((convergent, always_inline)) void work_group_barrier(uint flags,
                                                                            memory_scope scope) {
  if (scope == oclcc_device || scope == oclcc_all_devices)
    oclcc_fence(scope);
  __nvvm_bar_sync(0);
}

// A function with a label. ID makes its own name, which nothing uses, unique.
#define OCLCC_LABELED(RESULT, ID, LABEL, ...)                                                      \
  __attribute__((always_inline)) RESULT oclcc_##ID(__VA_ARGS__) __asm__(LABEL);                    \
  RESULT oclcc_##ID(__VA_ARGS__)

// The three forms of NAME, whose name has SHORT characters, and LENGTH with "_explicit": with and
// without an order and a scope behind ARGUMENTS. TYPES are those of the arguments, mangled. A
// memory_order behind the first one is the same type again to the mangling: AGAIN, with FAILURE.
#define OCLCC_FORMS_WITH(RESULT, ID, SHORT, LENGTH, NAME, TYPES, AGAIN, ARGUMENTS, FAILURE, BODY)  \
  OCLCC_LABELED(RESULT, plain_##ID, "_Z" #SHORT NAME TYPES, OCLCC_LIST ARGUMENTS) {                \
    const memory_order order = oclcc_sequential, failure = order;                                  \
    const memory_scope scope = oclcc_device;                                                       \
    BODY                                                                                           \
  }                                                                                                \
  OCLCC_LABELED(RESULT, ordered_##ID, OCLCC_ORDERED(LENGTH, NAME, TYPES) AGAIN,                    \
                OCLCC_LIST ARGUMENTS, memory_order order OCLCC_LIST FAILURE) {                     \
    const memory_scope scope = oclcc_device;                                                       \
    BODY                                                                                           \
  }                                                                                                \
  OCLCC_LABELED(RESULT, ID, OCLCC_ORDERED(LENGTH, NAME, TYPES) AGAIN "12memory_scope",             \
                OCLCC_LIST ARGUMENTS, memory_order order OCLCC_LIST FAILURE, memory_scope scope) { \
    BODY                                                                                           \
  }
#define OCLCC_ORDERED(LENGTH, NAME, TYPES) "_Z" #LENGTH NAME "_explicit" TYPES "12memory_order"
#define OCLCC_FORMS(RESULT, ID, SHORT, LENGTH, NAME, TYPES, ARGUMENTS, BODY)                       \
  OCLCC_FORMS_WITH(RESULT, ID, SHORT, LENGTH, NAME, TYPES, "", ARGUMENTS, (), BODY)
#define OCLCC_LIST(...) __VA_ARGS__

// Memory of each address space: its name, its part of a mangled name, and of an instruction.
#define OCLCC_POINTER_GLOBAL "PU3AS1VU7_Atomic"
#define OCLCC_POINTER_LOCAL "PU3AS3VU7_Atomic"
#define OCLCC_POINTER_GENERIC "PVU7_Atomic"
#define OCLCC_STATE_GLOBAL "global."
#define OCLCC_STATE_LOCAL "shared."
#define OCLCC_STATE_GENERIC ""

// atom.OPERATION of the bits of a type: B is uint or ulong, and LETTER its constraint.
#define OCLCC_ATOM(ID, B, LETTER, SPACE, OPERATION)                                                \
  PART B oclcc_atom_##ID(volatile SPACE void* p, B value) {                                        \
    B old;                                                                                         \
    __asm__ volatile("atom." OPERATION " %0, [%1], %2;"                                            \
                     : "=" LETTER(old)                                                             \
                     : "l"(p), LETTER(value)                                                       \
                     : "memory");                                                                  \
    return old;                                                                                    \
  }
#define OCLCC_ATOM_CAS(ID, B, LETTER, SPACE, OPERATION)                                            \
  PART B oclcc_cas_##ID(volatile SPACE void* p, B expected, B value) {                             \
    B old;                                                                                         \
    __asm__ volatile("atom." OPERATION " %0, [%1], %2, %3;"                                        \
                     : "=" LETTER(old)                                                             \
                     : "l"(p), LETTER(expected), LETTER(value)                                     \
                     : "memory");                                                                  \
    return old;                                                                                    \
  }
#define OCLCC_ATOMS(W, SPACE, B, LETTER, BITS)                                                     \
  OCLCC_ATOM(add_##W##_u##BITS, B, LETTER, SPACE, OCLCC_STATE_##W "add.u" #BITS)                   \
  OCLCC_ATOM(and_##W##_u##BITS, B, LETTER, SPACE, OCLCC_STATE_##W "and.b" #BITS)                   \
  OCLCC_ATOM(or_##W##_u##BITS, B, LETTER, SPACE, OCLCC_STATE_##W "or.b" #BITS)                     \
  OCLCC_ATOM(xor_##W##_u##BITS, B, LETTER, SPACE, OCLCC_STATE_##W "xor.b" #BITS)                   \
  OCLCC_ATOM(exch_##W##_u##BITS, B, LETTER, SPACE, OCLCC_STATE_##W "exch.b" #BITS)                 \
  OCLCC_ATOM(min_##W##_u##BITS, B, LETTER, SPACE, OCLCC_STATE_##W "min.u" #BITS)                   \
  OCLCC_ATOM(max_##W##_u##BITS, B, LETTER, SPACE, OCLCC_STATE_##W "max.u" #BITS)                   \
  OCLCC_ATOM(min_##W##_s##BITS, B, LETTER, SPACE, OCLCC_STATE_##W "min.s" #BITS)                   \
  OCLCC_ATOM(max_##W##_s##BITS, B, LETTER, SPACE, OCLCC_STATE_##W "max.s" #BITS)                   \
  OCLCC_ATOM_CAS(W##_u##BITS, B, LETTER, SPACE, OCLCC_STATE_##W "cas.b" #BITS)
#define OCLCC_ATOMS_OF(W, SPACE)                                                                   \
  OCLCC_ATOMS(W, SPACE, uint, "r", 32)                                                             \
  OCLCC_ATOMS(W, SPACE, ulong, "l", 64)
// A pointer without an address space is generic for the device.
OCLCC_ATOMS_OF(GLOBAL, __global)
OCLCC_ATOMS_OF(LOCAL, __local)
OCLCC_ATOMS_OF(GENERIC, )

#define OCLCC_AROUND(RESULT, OPERATION)                                                            \
  oclcc_fence_before(order, scope);                                                                \
  const RESULT result = OPERATION;                                                                 \
  oclcc_fence_after(order, scope);                                                                 \
  return result;

// Functions of every type T: C is its letter in mangled names, B the unsigned type of its size, and
// SIZE its bits.
#define OCLCC_CELL(W, SPACE, T, C, B, SIZE)                                                        \
  OCLCC_LABELED(void, init_##W##_##T, "_Z11atomic_init" OCLCC_POINTER_##W C C,                     \
                volatile SPACE T* p, T value) {                                                    \
    *p = value;                                                                                    \
  }                                                                                                \
  OCLCC_FORMS(void, store_##W##_##T, 12, 21, "atomic_store", OCLCC_POINTER_##W C C,                \
              (volatile SPACE T * p, T value), oclcc_fence_before(order, scope);                   \
              *p = value; oclcc_fence_after(order, scope);)                                        \
  OCLCC_FORMS(T, load_##W##_##T, 11, 20, "atomic_load", OCLCC_POINTER_##W C,                       \
              (volatile SPACE T * p), OCLCC_AROUND(T, *p))                                         \
  OCLCC_FORMS(                                                                                     \
      T, exchange_##W##_##T, 15, 24, "atomic_exchange", OCLCC_POINTER_##W C C,                     \
      (volatile SPACE T * p, T value),                                                             \
      OCLCC_AROUND(                                                                                \
          T, __builtin_astype(oclcc_atom_exch_##W##_u##SIZE(p, __builtin_astype(value, B)), T)))   \
  OCLCC_COMPARE_EXCHANGE(W, SPACE, T, C, B, SIZE, PRIVATE, , "P")                                  \
  OCLCC_COMPARE_EXCHANGE(W, SPACE, T, C, B, SIZE, OF_GLOBAL, __global, "PU3AS1")                   \
  OCLCC_COMPARE_EXCHANGE(W, SPACE, T, C, B, SIZE, OF_LOCAL, __local, "PU3AS3")

// The order of a failure can ask for a fence that `order` does not: acquire, beside release.
#define OCLCC_COMPARE_EXCHANGE(W, SPACE, T, C, B, SIZE, ID, FROM, POINTER)                         \
  PART bool oclcc_compare_##W##_##T##_##ID(volatile SPACE T* p, FROM T* expected, T value,         \
                                           memory_order order, memory_order failure,               \
                                           memory_scope scope) {                                   \
    const B wanted = __builtin_astype(*expected, B);                                               \
    oclcc_fence_before(order, scope);                                                              \
    const B old = oclcc_cas_##W##_u##SIZE(p, wanted, __builtin_astype(value, B));                  \
    oclcc_fence_after(order == oclcc_release ? failure : order, scope);                            \
    if (old != wanted)                                                                             \
      *expected = __builtin_astype(old, T);                                                        \
    return old == wanted;                                                                          \
  }                                                                                                \
  OCLCC_COMPARE(strong, 30, 39, W, SPACE, T, C, ID, FROM, POINTER)                                 \
  OCLCC_COMPARE(weak, 28, 37, W, SPACE, T, C, ID, FROM, POINTER)
#define OCLCC_COMPARE(STRENGTH, SHORT, LENGTH, W, SPACE, T, C, ID, FROM, POINTER)                  \
  OCLCC_FORMS_WITH(                                                                                \
      bool, STRENGTH##_##W##_##T##_##ID, SHORT, LENGTH, "atomic_compare_exchange_" #STRENGTH,      \
      OCLCC_POINTER_##W C POINTER C C, "S4_", (volatile SPACE T * p, FROM T * expected, T value),  \
      (, memory_order failure),                                                                    \
      return oclcc_compare_##W##_##T##_##ID(p, expected, value, order, failure, scope);)

// Functions of integers T with operands of type O: SIGN is u or s.
#define OCLCC_FETCH(ID, SHORT, LENGTH, NAME, W, SPACE, T, C, O, D, ATOM, OPERAND)                  \
  OCLCC_FORMS(T, ID##_##W##_##T##_##O, SHORT, LENGTH, "atomic_fetch_" NAME, OCLCC_POINTER_##W C D, \
              (volatile SPACE T * p, O value), OCLCC_AROUND(T, (T)oclcc_atom_##ATOM(p, OPERAND)))
#define OCLCC_FETCHES(W, SPACE, T, C, O, D, B, SIZE, SIGN)                                         \
  OCLCC_FETCH(add, 16, 25, "add", W, SPACE, T, C, O, D, add_##W##_u##SIZE, (B)value)               \
  OCLCC_FETCH(sub, 16, 25, "sub", W, SPACE, T, C, O, D, add_##W##_u##SIZE, 0 - (B)value)           \
  OCLCC_FETCH(or, 15, 24, "or", W, SPACE, T, C, O, D, or_##W##_u##SIZE, (B)value)                  \
  OCLCC_FETCH(xor, 16, 25, "xor", W, SPACE, T, C, O, D, xor_##W##_u##SIZE, (B)value)               \
  OCLCC_FETCH(and, 16, 25, "and", W, SPACE, T, C, O, D, and_##W##_u##SIZE, (B)value)               \
  OCLCC_FETCH(min, 16, 25, "min", W, SPACE, T, C, O, D, min_##W##_##SIGN##SIZE, (B)value)          \
  OCLCC_FETCH(max, 16, 25, "max", W, SPACE, T, C, O, D, max_##W##_##SIGN##SIZE, (B)value)

// The last two of the integers are uintptr_t with ptrdiff_t and intptr_t, and the reverse, which
// clang declares of some functions. atomic_flag is an int.
#define OCLCC_CELLS(W, SPACE)                                                                      \
  OCLCC_CELL(W, SPACE, int, "i", uint, 32)                                                         \
  OCLCC_CELL(W, SPACE, uint, "j", uint, 32)                                                        \
  OCLCC_CELL(W, SPACE, long, "l", ulong, 64)                                                       \
  OCLCC_CELL(W, SPACE, ulong, "m", ulong, 64)                                                      \
  OCLCC_CELL(W, SPACE, float, "f", uint, 32)                                                       \
  OCLCC_CELL(W, SPACE, double, "d", ulong, 64)                                                     \
  OCLCC_FETCHES(W, SPACE, int, "i", int, "i", uint, 32, s)                                         \
  OCLCC_FETCHES(W, SPACE, uint, "j", uint, "j", uint, 32, u)                                       \
  OCLCC_FETCHES(W, SPACE, long, "l", long, "l", ulong, 64, s)                                      \
  OCLCC_FETCHES(W, SPACE, ulong, "m", ulong, "m", ulong, 64, u)                                    \
  OCLCC_FETCHES(W, SPACE, ulong, "m", long, "l", ulong, 64, u)                                     \
  OCLCC_FETCHES(W, SPACE, long, "l", ulong, "m", ulong, 64, s)                                     \
  OCLCC_FORMS(bool, flag_set_##W, 24, 33, "atomic_flag_test_and_set", OCLCC_POINTER_##W "i",       \
              (volatile SPACE int* p), OCLCC_AROUND(bool, oclcc_atom_exch_##W##_u32(p, 1) != 0))   \
  OCLCC_FORMS(void, flag_clear_##W, 17, 26, "atomic_flag_clear", OCLCC_POINTER_##W "i",            \
              (volatile SPACE int* p), oclcc_fence_before(order, scope);                           \
              *p = 0; oclcc_fence_after(order, scope);)
OCLCC_CELLS(GLOBAL, __global)
OCLCC_CELLS(LOCAL, __local)
OCLCC_CELLS(GENERIC, )
