/* libclbin: loads the right OpenCL device binary from a bundle, or builds its source.
 *
 * Open a bundle, load a program from it, create kernels from the cl_program:
 *
 *     clbin_bundle* bundle = NULL;
 *     cl_program program = NULL;
 *     if (clbin_open("kernels.clbin", NULL, &bundle, NULL) == CLBIN_SUCCESS &&
 *         clbin_load(bundle, context, device, "matmul", NULL, &program, NULL, NULL)
 *             == CLBIN_SUCCESS) {
 *       ... clCreateKernel(program, "matmul", ...) ...
 *     }
 *
 * Rules that hold for every function:
 *  - Untrusted input: a bundle may hold anything. No bundle makes a function crash, hang, or
 *    allocate beyond the limits in clbin_open_options; no byte reaches a driver unless its digest
 *    matched. Source is closed before a driver sees it: directives that would read a file, or ask
 *    for one, and that the bundle's headers do not answer become #error lines or 0. Loading a
 *    bundle is running it all the same: libclbin(3), SECURITY CONSIDERATIONS.
 *    With the default limits a call takes at most 64 MiB, 16 bytes for each byte of the bundle, and
 *    the payload it reads with its reference. Its time is linear in the size of the bundle, its
 *    output and the raw bytes that it reads. A call that needs more returns LIMIT_EXCEEDED.
 *  - Threads: functions that take a const object may run at the same time on the same object; on
 *    different objects anything may run at the same time. What takes a non-const object needs that
 *    object alone.
 *  - Strings in are NUL-terminated; strings out belong to the object they were asked from, are
 *    NUL-terminated, and live until it is freed.
 *  - The library never prints, never changes the environment, and has no global state. It does not
 *    link OpenCL: functions are taken from clbin_load_options, else from the ICD loader, which is
 *    opened at run time.
 *  - The environment variables CLBIN_CACHE, CLBIN_CACHE_DIR and CLBIN_CACHE_MAX_SIZE (libclbin(3))
 *    are read when a bundle is opened, and by no process with rights that its user does not have.
 *  - Every `error` parameter may be NULL; else it receives on failure an object to be freed with
 *    clbin_error_free, and NULL on success. Every other result is NULL on failure.
 *  - NULL for a parameter that is not said to allow it is INVALID_ARGUMENT; functions that return
 *    no status answer NULL or 0. Every function that returns a status can return OUT_OF_MEMORY and
 *    INTERNAL.
 *  - A struct begins with its own size, set by the caller to sizeof(the struct), so that later
 *    versions may add members; members that this library does not know must be 0.
 */
#ifndef CLBIN_CLBIN_H
#define CLBIN_CLBIN_H

#include <stddef.h>
#include <stdint.h>

#if defined(CLBIN_STATIC)
#define CLBIN_API
#else
#define CLBIN_API __attribute__((visibility("default")))
#endif

#define CLBIN_VERSION_MAJOR 0
#define CLBIN_VERSION_MINOR 1
#define CLBIN_VERSION_PATCH 0
#define CLBIN_VERSION_NUMBER                                                                       \
  (CLBIN_VERSION_MAJOR * 10000 + CLBIN_VERSION_MINOR * 100 + CLBIN_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* The same types as cl_context, cl_device_id and cl_program of CL/cl.h, which need not be
 * included. */
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Wreserved-identifier" /* the names are those of Khronos */
#endif
struct _cl_context;
struct _cl_device_id;
struct _cl_program;
#ifdef __clang__
#pragma clang diagnostic pop
#endif

/* CLBIN_VERSION_NUMBER of the library at run time. */
CLBIN_API uint32_t clbin_version(void);

/* ---- Status ------------------------------------------------------------------------------- */

/* Numbers are pinned and never reused. Tens are topics: 10 the caller, 20 files, 30 the bundle's
 * bytes, 40 choosing, 50 OpenCL; 60 to 69 are reserved for trust (signatures). New ones may come:
 * treat an unknown number as a failure. */
typedef enum clbin_status {
  CLBIN_SUCCESS = 0,

  CLBIN_ERROR_INVALID_ARGUMENT = 10,
  CLBIN_ERROR_OUT_OF_MEMORY = 11,
  CLBIN_ERROR_INTERNAL = 12,

  CLBIN_ERROR_FILE_NOT_FOUND = 20,
  CLBIN_ERROR_FILE_READ = 21,
  CLBIN_ERROR_FILE_WRITE = 22,

  CLBIN_ERROR_NOT_A_BUNDLE = 30,
  CLBIN_ERROR_TRUNCATED = 31,
  CLBIN_ERROR_NEWER_VERSION = 32,
  CLBIN_ERROR_UNKNOWN_REQUIRED_SECTION = 33,
  CLBIN_ERROR_DAMAGED = 34,
  CLBIN_ERROR_DIGEST_MISMATCH = 35,
  CLBIN_ERROR_LIMIT_EXCEEDED = 36,
  CLBIN_ERROR_TRAILING_BYTES = 37,
  CLBIN_ERROR_MANIFEST_INVALID = 38,
  CLBIN_ERROR_ENCRYPTED = 39,

  CLBIN_ERROR_NO_SUCH_PROGRAM = 40,
  CLBIN_ERROR_NO_SUCH_VARIANT = 41,
  CLBIN_ERROR_NO_MATCHING_ENTRY = 42,
  CLBIN_ERROR_NO_SOURCE = 43,
  CLBIN_ERROR_CONFLICT = 44,
  CLBIN_ERROR_UNSAFE_OPTIONS = 45, /* recorded build options that no driver is given */

  CLBIN_ERROR_NO_OPENCL = 50,
  CLBIN_ERROR_NO_DEVICE = 51,
  CLBIN_ERROR_OPENCL_CALL = 52,
  CLBIN_ERROR_BUILD_FAILED = 53,
  CLBIN_ERROR_BINARY_REFUSED = 54,
  CLBIN_ERROR_SEVERAL_DEVICES_REFUSED = 55
} clbin_status;

/* "CLBIN_ERROR_TRUNCATED"; "unknown status" for a number that is none. Never NULL, never freed. */
CLBIN_API const char* clbin_status_name(clbin_status status);

/* Why a call failed: a status and one line of text. */
typedef struct clbin_error clbin_error;
CLBIN_API clbin_status clbin_error_status(const clbin_error* error);
/* For people: names the thing, the place and the reason. A failed build's holds the build log. */
CLBIN_API const char* clbin_error_message(const clbin_error* error);
/* NULL is allowed. */
CLBIN_API void clbin_error_free(clbin_error* error);

/* ---- Bundles ------------------------------------------------------------------------------ */

typedef struct clbin_bundle clbin_bundle;

/* Set struct_size to sizeof(clbin_open_options) and the rest to 0 for the defaults. */
typedef struct clbin_open_options {
  size_t struct_size;
  uint64_t max_directory_bytes; /* 0: 64 MiB */
  uint64_t max_raw_bytes;       /* of one payload, source or manifest, decompressed; 0: 1 GiB */
  uint64_t max_total_raw_bytes; /* that one call decompresses; 0: 2 GiB, or 256 bytes for each byte
                                   of the bundle where that is more */
  uint64_t max_memory_bytes;    /* that one call takes for manifests, sources, listings and reports;
                                   0: 48 MiB and 8 bytes for each byte of the bundle */
} clbin_open_options;

/* Opens a regular file and reads its prefix and directory. The file stays open (not mapped: it may
 * be replaced, cut or removed meanwhile; what is read is checked). `options` may be NULL.
 * FILE_NOT_FOUND, FILE_READ, NOT_A_BUNDLE, TRUNCATED, NEWER_VERSION, UNKNOWN_REQUIRED_SECTION,
 * DAMAGED, DIGEST_MISMATCH, LIMIT_EXCEEDED, TRAILING_BYTES, INVALID_ARGUMENT, OUT_OF_MEMORY. */
CLBIN_API clbin_status clbin_open(const char* path, const clbin_open_options* options,
                                  clbin_bundle** bundle, clbin_error** error);

/* The same from memory. Copies nothing: `data` must stay, unchanged, until clbin_close. It should
 * be 8-byte aligned. Bytes after the bundle's own length are not looked at. Errors as clbin_open
 * but those of files and TRAILING_BYTES. */
CLBIN_API clbin_status clbin_open_memory(const void* data, size_t size_bytes,
                                         const clbin_open_options* options, clbin_bundle** bundle,
                                         clbin_error** error);

/* Reads `size_bytes` bytes at `offset` of a bundle into `buffer` and returns 0, or returns any
 * other number on failure. Must read all of them: there are no short reads. */
typedef int (*clbin_read_function)(uint64_t offset, void* buffer, size_t size_bytes,
                                   void* user_data);

/* Opens a bundle of `size_bytes` bytes that `read` reads, such as a member of an archive. The size
 * must be that of the bundle, or the call returns TRAILING_BYTES or TRUNCATED. libclbin calls
 * `read` until clbin_close, within the bundle's size only, and only on threads that call a function
 * with this bundle: if several do, `read` must be thread-safe. `read` must not call a function with
 * this bundle. A failed read is FILE_READ. What `read` returned is copied and checked, so that the
 * source may change. Errors as clbin_open, except FILE_NOT_FOUND. Since 0.1. */
CLBIN_API clbin_status clbin_open_callback(clbin_read_function read, void* user_data,
                                           uint64_t size_bytes, const clbin_open_options* options,
                                           clbin_bundle** bundle, clbin_error** error);

/* Programs loaded from it stay valid. Waits until what loads built is written to the user cache, a
 * few milliseconds; close a bundle before libclbin is unloaded (dlclose). NULL is allowed. */
CLBIN_API void clbin_close(clbin_bundle* bundle);

/* Reads every byte and checks every digest and rule of clbin(5). Errors as clbin_open, and
 * MANIFEST_INVALID. */
CLBIN_API clbin_status clbin_verify(const clbin_bundle* bundle, clbin_error** error);

/* ---- What is inside ------------------------------------------------------------------------ */

/* A snapshot of what a bundle lists: programs, variants, entries, kernels. Independent of the
 * bundle once made. */
typedef struct clbin_listing clbin_listing;
/* Reads all tables, and the manifests for kernel arguments. Errors as clbin_verify. */
CLBIN_API clbin_status clbin_list(const clbin_bundle* bundle, clbin_listing** listing,
                                  clbin_error** error);
CLBIN_API void clbin_listing_free(clbin_listing* listing);

/* Indices count from 0; beyond the count, functions return 0 or NULL. A "group" is one variant of
 * one program; groups are sorted by program, then variant. */
CLBIN_API size_t clbin_listing_group_count(const clbin_listing* listing);
CLBIN_API const char* clbin_listing_program(const clbin_listing* listing, size_t group);
CLBIN_API const char* clbin_listing_variant(const clbin_listing* listing, size_t group);
CLBIN_API const char* clbin_listing_group_options(const clbin_listing* listing, size_t group);
CLBIN_API int clbin_listing_has_source(const clbin_listing* listing, size_t group);
CLBIN_API size_t clbin_listing_entry_count(const clbin_listing* listing, size_t group);

typedef enum clbin_entry_text {
  CLBIN_ENTRY_PLATFORM = 1,
  CLBIN_ENTRY_DEVICE = 2,
  CLBIN_ENTRY_DRIVER_VERSION = 3,
  CLBIN_ENTRY_TARGET_SPEC = 4, /* of an offline target, else "" */
  CLBIN_ENTRY_FORMAT = 5,      /* "PTX 7.5 for sm_50" */
  CLBIN_ENTRY_OPTIONS = 6,
  CLBIN_ENTRY_RAW_DIGEST = 7 /* 64 hexadecimal digits */
} clbin_entry_text;
CLBIN_API const char* clbin_listing_entry_text(const clbin_listing* listing, size_t group,
                                               size_t entry, clbin_entry_text what);
CLBIN_API uint64_t clbin_listing_entry_raw_bytes(const clbin_listing* listing, size_t group,
                                                 size_t entry);
CLBIN_API uint64_t clbin_listing_entry_stored_bytes(const clbin_listing* listing, size_t group,
                                                    size_t entry);
CLBIN_API size_t clbin_listing_kernel_count(const clbin_listing* listing, size_t group,
                                            size_t entry);
CLBIN_API const char* clbin_listing_kernel_name(const clbin_listing* listing, size_t group,
                                                size_t entry, size_t kernel);
/* -1 where the compiler told none. */
CLBIN_API int32_t clbin_listing_kernel_argument_count(const clbin_listing* listing, size_t group,
                                                      size_t entry, size_t kernel);
/* "name" and "type" of an argument: what clGetKernelArgInfo cannot tell for a binary. NULL where
 * unknown. */
CLBIN_API const char* clbin_listing_argument_name(const clbin_listing* listing, size_t group,
                                                  size_t entry, size_t kernel, size_t argument);
CLBIN_API const char* clbin_listing_argument_type(const clbin_listing* listing, size_t group,
                                                  size_t entry, size_t kernel, size_t argument);
/* reqd_work_group_size in work-items; {0, 0, 0} where there is none. */
CLBIN_API void clbin_listing_required_work_group_size(const clbin_listing* listing, size_t group,
                                                      size_t entry, size_t kernel,
                                                      uint64_t size[3]);

/* ---- Selecting without OpenCL --------------------------------------------------------------- */

/* What a device says of itself; every string may be NULL for "". For lists: words separated by
 * '\n', in the driver's order. Set struct_size to sizeof(clbin_identity). */
typedef struct clbin_identity {
  size_t struct_size;
  const char* platform_name;     /* CL_PLATFORM_NAME */
  const char* platform_version;  /* CL_PLATFORM_VERSION */
  const char* vendor;            /* CL_DEVICE_VENDOR */
  const char* device_name;       /* CL_DEVICE_NAME */
  const char* driver_version;    /* CL_DRIVER_VERSION */
  const char* device_version;    /* CL_DEVICE_VERSION */
  const char* opencl_c_versions; /* one a line */
  const char* il_versions;       /* one a line */
  const char* architecture;      /* "sm_90", "gfx90a"; NULL where unknown */
  uint32_t vendor_id;            /* CL_DEVICE_VENDOR_ID */
  uint32_t address_bits;         /* CL_DEVICE_ADDRESS_BITS */
} clbin_identity;

/* Why an entry was chosen or attempted. Numbers are pinned and never reused. New ones may come. */
typedef enum clbin_rule {
  CLBIN_RULE_NONE = 0,
  CLBIN_RULE_EXACT_IDENTITY = 1,  /* built for this device and driver */
  CLBIN_RULE_COMPATIBLE = 2,      /* built for another device; the vendor's rule accepts it */
  CLBIN_RULE_IL = 3,              /* an intermediate language that the device accepts */
  CLBIN_RULE_NOT_COMPATIBLE = 4,  /* no rule accepts it: not attempted */
  CLBIN_RULE_USER_CACHE = 5,      /* built by an earlier load */
  CLBIN_RULE_RECOMPILED = 6,      /* the driver recompiled the IR in an entry */
  CLBIN_RULE_SEVERAL_DEVICES = 7, /* the binaries of several devices in one program */
  CLBIN_RULE_SOURCE = 8           /* built from source */
} clbin_rule;
/* "exact identity", "compatible", "IL", "not compatible", "user cache", "recompiled", "several
 * devices", "source"; "" for NONE and for a number that is none. Never NULL, never freed. Since
 * 0.1. */
CLBIN_API const char* clbin_rule_name(clbin_rule rule);

/* The best entry for a device, its bytes checked and decompressed. */
typedef struct clbin_selection clbin_selection;
/* Makes no OpenCL call. `variant` may be NULL for "default". Skips an entry that is damaged, or
 * that records build options that clbin_load would hand to no driver; the error of the first such
 * entry is returned if no other entry fits. NO_SUCH_PROGRAM, NO_SUCH_VARIANT, NO_MATCHING_ENTRY,
 * UNSAFE_OPTIONS, and the errors of reading a bundle. */
CLBIN_API clbin_status clbin_select(const clbin_bundle* bundle, const clbin_identity* identity,
                                    const char* program, const char* variant,
                                    clbin_selection** selection, clbin_error** error);
CLBIN_API void clbin_selection_free(clbin_selection* selection);
/* Valid until clbin_selection_free. */
CLBIN_API const void* clbin_selection_data(const clbin_selection* selection, size_t* size_bytes);
/* Those it was made with. */
CLBIN_API const char* clbin_selection_options(const clbin_selection* selection);
/* "PTX 7.5 for sm_50" */
CLBIN_API const char* clbin_selection_format(const clbin_selection* selection);
/* "exact identity", "compatible" */
CLBIN_API const char* clbin_selection_rule(const clbin_selection* selection);
/* EXACT_IDENTITY or COMPATIBLE; NONE if `selection` is NULL. Since 0.1. */
CLBIN_API clbin_rule clbin_selection_rule_number(const clbin_selection* selection);
CLBIN_API size_t clbin_selection_kernel_count(const clbin_selection* selection);
CLBIN_API const char* clbin_selection_kernel_name(const clbin_selection* selection, size_t index);

/* ---- Loading --------------------------------------------------------------------------------- */

typedef enum clbin_fallback {
  CLBIN_FALLBACK_IF_NEEDED = 0, /* source where no entry loads, nor the user cache has one */
  CLBIN_FALLBACK_NEVER = 1,     /* the bundle's entries only */
  CLBIN_FALLBACK_ALWAYS = 2     /* source only; the user cache is not touched */
} clbin_fallback;

typedef enum clbin_origin {
  CLBIN_ORIGIN_NONE = 0,
  CLBIN_ORIGIN_ENTRY = 1,
  CLBIN_ORIGIN_USER_CACHE = 2, /* what an earlier load built */
  CLBIN_ORIGIN_IL = 3,         /* built from SPIR-V, or by the driver from the IR in an entry */
  CLBIN_ORIGIN_SOURCE = 4
} clbin_origin;

typedef enum clbin_decision {
  CLBIN_DECISION_LOADED = 0,
  CLBIN_DECISION_REFUSED = 1,       /* by the driver */
  CLBIN_DECISION_NOT_ATTEMPTED = 2, /* by rule, by quarantine, or not in the user cache */
  CLBIN_DECISION_UNREADABLE = 3,    /* the bundle is damaged there: no byte reached the driver */
  CLBIN_DECISION_ACCEPTED = 4,      /* alone, on the way to one program for several devices */
  CLBIN_DECISION_RECOMPILED = 5     /* the driver did not use the binary but built the IR in it:
                                       serves where nothing better loads */
} clbin_decision;

/* One step of a load. The strings are never NULL; they live until the callback returns, or as long
 * as the report. */
typedef struct clbin_attempt {
  size_t struct_size;
  clbin_decision decision;
  clbin_origin origin;
  uint32_t device;        /* index among the devices of the call */
  const char* target;     /* what the entry was made for; "" where it is not one entry */
  const char* rule;       /* clbin_rule_name(rule_number) */
  const char* reason;     /* a sentence */
  const char* stage;      /* the OpenCL call that answered, or "" */
  const char* driver_log; /* or "" */
  int32_t cl_code;        /* what it answered */
  uint64_t microseconds;
  const char* cl_code_name; /* "CL_INVALID_BINARY"; "" where no call answered */
  int32_t entry; /* among the variant's entries, as in clbin_listing; -1: none of the bundle */
  clbin_rule rule_number; /* why it was attempted, or not */
} clbin_attempt;

typedef void (*clbin_attempt_callback)(const clbin_attempt* attempt, void* user_data);

/* Maps an OpenCL function's name ("clBuildProgram") to its address, or NULL. */
typedef void* (*clbin_resolve_function)(const char* name, void* user_data);

/* How to load. Create, set, pass to any number of loads, free. */
typedef struct clbin_load_options clbin_load_options;
CLBIN_API clbin_load_options* clbin_load_options_create(void); /* NULL: out of memory */
CLBIN_API void clbin_load_options_free(clbin_load_options* options);
/* NULL or "" for "default". Copied. */
CLBIN_API clbin_status clbin_load_options_set_variant(clbin_load_options* options,
                                                      const char* variant);
/* Build options known only at run time, added to the variant's own. If the variant's options
 * followed by these are, word by word, those of a variant of the program, that variant is loaded,
 * and the report names it; a caller may repeat the variant's own options at the start. Otherwise no
 * entry was made with them: source is built, and kept in the user cache. Copied. */
CLBIN_API clbin_status clbin_load_options_set_build_options(clbin_load_options* options,
                                                            const char* build_options);
/* A specialisation constant of SPIR-V, by its SpecId; a bool is one byte. Neither entries nor
 * source know of it: such a load is served by the user cache and by IL, for one device. Replaces an
 * earlier value of the same `id`. Copied; at most 16 bytes, INVALID_ARGUMENT. */
CLBIN_API clbin_status clbin_load_options_set_specialization_constant(clbin_load_options* options,
                                                                      uint32_t id,
                                                                      size_t size_bytes,
                                                                      const void* value);
CLBIN_API clbin_status clbin_load_options_set_fallback(clbin_load_options* options,
                                                       clbin_fallback fallback);
/* Where OpenCL's functions come from instead of the ICD loader. Called during a load only. */
CLBIN_API clbin_status clbin_load_options_set_resolver(clbin_load_options* options,
                                                       clbin_resolve_function resolve,
                                                       void* user_data);
/* Called on the loading thread for every attempt as it is made; attempt->struct_size is that of
 * the library. Must not throw, nor call a function of this library on the same report. */
CLBIN_API clbin_status clbin_load_options_set_callback(clbin_load_options* options,
                                                       clbin_attempt_callback callback,
                                                       void* user_data);

/* Asks a device for its identity, as clbin_load does; that of the parent for a sub-device. The
 * functions of OpenCL come from the resolver of `options`, which may be NULL, else from the ICD
 * loader. The caller frees *identity, which owns its strings, with clbin_identity_free; it can be
 * passed to clbin_select. vendor_id is 0 on PoCL, whose value depends on the order of its devices.
 * INVALID_ARGUMENT, NO_OPENCL, OPENCL_CALL. Thread-safe as far as the driver is. Since 0.1. */
CLBIN_API clbin_status clbin_identity_query(struct _cl_device_id* device,
                                            const clbin_load_options* options,
                                            clbin_identity** identity, clbin_error** error);
/* Frees what clbin_identity_query returned, and nothing else. NULL is allowed. Since 0.1. */
CLBIN_API void clbin_identity_free(clbin_identity* identity);

/* What a load did, also when it failed. */
typedef struct clbin_report clbin_report;

/* A program ready for clCreateKernel; the caller releases it with clReleaseProgram.
 *
 * The ladder: the entry made for this very device; the user cache; compatible entries, best first;
 * IL, where the device takes it; source. An entry that ended the process twice within a day while
 * it was loaded is not attempted for 30 days. What IL or source gave for one device is kept in the
 * user cache, but not on PoCL, which has a cache of its own. The driver is asked for the binary
 * before this function returns; compressing and writing happen on a thread of the bundle, which
 * makes no call to OpenCL, takes no signal, and ends when nothing is left to write. The caller may
 * release program, context and device at any moment. A process that exits without clbin_close may
 * lose what was not written yet. Nothing about the cache makes a load fail: what goes wrong is one
 * warning in the report, or, where it goes wrong afterwards, in that of the next load.
 *
 * `options` and `report` may be NULL; a report is made on failure too, and freed by the caller: it
 * is NULL only where an argument was NULL or memory ran out. With a report or a callback, entries
 * that were not attempted are told as well, unless one made for this very device was loaded.
 * INVALID_ARGUMENT (a device that is not of the context, or twice), NO_SUCH_PROGRAM,
 * NO_SUCH_VARIANT, NO_MATCHING_ENTRY (fallback never), BINARY_REFUSED (by the driver or by
 * quarantine, where source may not serve), UNSAFE_OPTIONS, NO_SOURCE, NO_OPENCL, OPENCL_CALL,
 * BUILD_FAILED, and the errors of reading a bundle where nothing else served. */
CLBIN_API clbin_status clbin_load(const clbin_bundle* bundle, struct _cl_context* context,
                                  struct _cl_device_id* device, const char* program,
                                  const clbin_load_options* options, struct _cl_program** result,
                                  clbin_report** report, clbin_error** error);

/* One program for several devices of one context: each binary is proved alone, then all are created
 * together; if a device has no binary, the whole program is built from source, and not kept.
 * SEVERAL_DEVICES_REFUSED where the driver refuses the combined create and source may not serve;
 * else as clbin_load. */
CLBIN_API clbin_status clbin_load_devices(const clbin_bundle* bundle, struct _cl_context* context,
                                          struct _cl_device_id* const* devices, size_t device_count,
                                          const char* program, const clbin_load_options* options,
                                          struct _cl_program** result, clbin_report** report,
                                          clbin_error** error);

CLBIN_API clbin_origin clbin_report_origin(const clbin_report* report);
CLBIN_API uint64_t clbin_report_microseconds(const clbin_report* report);
CLBIN_API size_t clbin_report_attempt_count(const clbin_report* report);
/* Fills *attempt, whose struct_size the caller has set. INVALID_ARGUMENT. */
CLBIN_API clbin_status clbin_report_attempt(const clbin_report* report, size_t index,
                                            clbin_attempt* attempt);
CLBIN_API const char* clbin_report_program(const clbin_report* report);
CLBIN_API const char* clbin_report_variant(const clbin_report* report);
/* "PLATFORM / DEVICE / DRIVER VERSION"; NULL beyond the count. */
CLBIN_API size_t clbin_report_device_count(const clbin_report* report);
CLBIN_API const char* clbin_report_device(const clbin_report* report, size_t index);
/* What did not keep the load from going on; NULL beyond the count. */
CLBIN_API size_t clbin_report_warning_count(const clbin_report* report);
CLBIN_API const char* clbin_report_warning(const clbin_report* report, size_t index);
/* Several lines for people, one an attempt. */
CLBIN_API const char* clbin_report_text(const clbin_report* report);
/* All of it as one line of JSON, UTF-8; libclbin(3), REPORTS, tells its members. Made when first
 * asked for; NULL where there is no memory for it. */
CLBIN_API const char* clbin_report_json(const clbin_report* report);
CLBIN_API void clbin_report_free(clbin_report* report);

#ifdef __cplusplus
}
#endif

#endif
