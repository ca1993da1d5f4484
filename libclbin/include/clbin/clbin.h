/* libclbin: loads the right OpenCL device binary from a bundle, or builds its source.
 *
 * Open a bundle, load a program from it, create kernels from the cl_program:
 *
 *     clbin_bundle* bundle = NULL;
 *     cl_program program = NULL;
 *     if (clbin_open("kernels.clbin", NULL, &bundle, NULL) == CLBIN_SUCCESS &&
 *         clbin_load(bundle, context, &device, 1, "matmul", NULL, &program, NULL, NULL)
 *             == CLBIN_SUCCESS) {
 *       ... clCreateKernel(program, "matmul", ...) ...
 *     }
 *
 * The following applies to every function:
 *  - Untrusted input: a bundle may contain anything. No bundle makes the code of this library
 *    crash, hang, or allocate beyond the limits in clbin_open_options; a driver that receives a
 *    binary or source may crash (libclbin(3), CAVEATS). A driver receives only bytes whose digest
 *    matched. Source is closed before a driver sees it: a directive that would read a file, or
 *    test whether one exists, and that the bundle's headers do not answer becomes an #error line
 *    or 0. Loading a bundle nevertheless means running it: libclbin(3), SECURITY CONSIDERATIONS.
 *    With the default limits, a call allocates at most 64 MiB, 16 bytes for each byte of the
 *    bundle, and the payload that it reads with its reference. Its time is linear in the size of
 *    the bundle, of its output, and of the raw bytes that it reads. A call that needs more returns
 *    LIMIT_EXCEEDED.
 *  - Thread-safety: functions that accept a const object may run at the same time on the same
 *    object. Functions on different objects may run at the same time. A function that accepts a
 *    non-const object requires that no other function uses that object at the same time.
 *  - Ownership: input strings are null-terminated and are borrowed for the call. Returned
 *    strings are null-terminated, belong to the object that they were returned from, and are
 *    valid until that object is freed. On Windows, paths are UTF-8.
 *  - Side effects: the library never prints, never changes the environment, and has no global
 *    state but a note that exit() has begun. It does not link OpenCL. It obtains OpenCL functions
 *    from the resolver or the library in clbin_load_options, or otherwise from the ICD loader,
 *    which it opens at run time.
 *  - Environment: a bundle reads CLBIN_CACHE, CLBIN_CACHE_DIR and CLBIN_CACHE_MAX_SIZE
 *    (libclbin(3)) when it is opened; a builder, which also reads CLBIN_CACHE_POCL, when it is
 *    created. A process with rights that its user does not have ignores them.
 *  - Errors: every `error` parameter may be NULL. Otherwise *error receives an object on
 *    failure, which the caller frees with clbin_error_free, and NULL on success. Every other
 *    result is set to NULL on failure.
 *  - NULL: a function returns INVALID_ARGUMENT if a pointer is NULL, unless its comment allows
 *    NULL. A function that returns no status returns NULL or 0 instead. Every function that
 *    returns a status can return OUT_OF_MEMORY and INTERNAL.
 *  - Structs: the caller sets the first member, struct_size, to sizeof(the struct), so that
 *    later versions can append members. In options and other arguments, members that this library
 *    does not know must be 0. A function that fills a struct of the caller sets them to 0, and
 *    writes nothing beyond struct_size. It returns INVALID_ARGUMENT if struct_size is not set.
 *  - Versions: "Since" states the first version that contains a function. Comments name statuses
 *    without the prefix CLBIN_ERROR_.
 */
#ifndef CLBIN_CLBIN_H
#define CLBIN_CLBIN_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && defined(CLBIN_EXPORT) /* set when the DLL is built */
#define CLBIN_API __declspec(dllexport)
#elif defined(_WIN32) && !defined(CLBIN_STATIC)
#define CLBIN_API __declspec(dllimport)
#elif !defined(CLBIN_STATIC) && defined(__GNUC__)
#define CLBIN_API __attribute__((visibility("default")))
#else
#define CLBIN_API
#endif

#define CLBIN_VERSION_MAJOR 1
#define CLBIN_VERSION_MINOR 0
#define CLBIN_VERSION_PATCH 0
#define CLBIN_VERSION_NUMBER                                                                       \
  (CLBIN_VERSION_MAJOR * 10000 + CLBIN_VERSION_MINOR * 100 + CLBIN_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* The types behind cl_context, cl_device_id and cl_program. CL/cl.h need not be included. */
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Wreserved-identifier" /* Khronos chose the names */
#endif
struct _cl_context;
struct _cl_device_id;
struct _cl_program;
#ifdef __clang__
#pragma clang diagnostic pop
#endif

/* Returns CLBIN_VERSION_NUMBER of the library at run time. Since 1.0. */
CLBIN_API uint32_t clbin_version(void);

/* ---- Status ------------------------------------------------------------------------------- */

/* Numbers are pinned and never reused. Each ten is a topic: 10 the caller, 20 files, 30 the bytes
 * of a bundle, 40 selection, 50 OpenCL; 60 to 69 are reserved for trust (signatures and keys).
 * Later versions can add numbers: treat an unknown number as a failure. */
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
  CLBIN_ERROR_UNSAFE_OPTIONS = 45, /* recorded build options that no driver receives */

  CLBIN_ERROR_NO_OPENCL = 50,
  CLBIN_ERROR_NO_DEVICE = 51,
  CLBIN_ERROR_OPENCL_CALL = 52,
  CLBIN_ERROR_BUILD_FAILED = 53,
  CLBIN_ERROR_BINARY_REFUSED = 54,
  CLBIN_ERROR_SEVERAL_DEVICES_REFUSED = 55,

  CLBIN_ERROR_NOT_SIGNED = 60,    /* a signature is required, and the bundle has none */
  CLBIN_ERROR_UNTRUSTED_KEY = 61, /* the bundle is signed, but by no trusted key */
  CLBIN_ERROR_BAD_SIGNATURE = 62, /* a signature by a trusted key does not hold */
  CLBIN_ERROR_OLD_COUNTER = 63,   /* the bundle's counter is missing or too low */
  CLBIN_ERROR_WRONG_KEY = 64      /* the key does not open the encrypted bundle */
} clbin_status;

/* Returns the name of a status, such as "CLBIN_ERROR_TRUNCATED", or "unknown status". Never NULL.
 * The string is static. Since 1.0. */
CLBIN_API const char* clbin_status_name(clbin_status status);

/* The reason why a call failed, besides its status. */
typedef struct clbin_error clbin_error;
/* Returns one line for people that names the object, the place and the reason. After BUILD_FAILED,
 * the build log follows on further lines. Returns "" if `error` is NULL. Since 1.0. */
CLBIN_API const char* clbin_error_message(const clbin_error* error);
/* Returns what the OpenCL call that failed returned; 0, which is also CL_SUCCESS, if the error is
 * not one of OpenCL: a wrapper that passes codes of OpenCL on must not pass this on as success.
 * Since 1.0. */
CLBIN_API int32_t clbin_error_opencl_code(const clbin_error* error);
/* Returns the name of that call ("clBuildProgram"), or "". Since 1.0. */
CLBIN_API const char* clbin_error_stage(const clbin_error* error);
/* Returns the build log of a build that failed, or "". Since 1.0. */
CLBIN_API const char* clbin_error_build_log(const clbin_error* error);
/* Frees `error`. NULL is allowed. Since 1.0. */
CLBIN_API void clbin_error_free(clbin_error* error);

/* ---- Bundles ------------------------------------------------------------------------------ */

typedef struct clbin_bundle clbin_bundle;

typedef enum clbin_switch {
  CLBIN_SWITCH_DEFAULT = 0, /* as the environment says, or as the member documents */
  CLBIN_SWITCH_ON = 1,
  CLBIN_SWITCH_OFF = 2
} clbin_switch;

/* Whether a signature is required. A bundle cannot change this. */
typedef enum clbin_signature_policy {
  CLBIN_SIGNATURES_IGNORED = 0,
  CLBIN_SIGNATURES_REQUIRED = 1 /* by a key that the caller trusts */
} clbin_signature_policy;

/* Reads an Ed25519 public key, of 32 bytes, from the text of a public key file of minisign, or from
 * its second line ("RW..."), which oclcc --keygen and minisign -G print. INVALID_ARGUMENT.
 * Since 1.0. */
CLBIN_API clbin_status clbin_public_key_from_text(const char* text, uint8_t key[32],
                                                  clbin_error** error);

/* What opens an encrypted bundle. */
typedef enum clbin_key_kind {
  CLBIN_KEY_CONTENT = 1,  /* the key that the contents are encrypted with */
  CLBIN_KEY_RECIPIENT = 2 /* the X25519 secret key of one of the recipients */
} clbin_key_kind;

/* A secret. Whoever creates one overwrites it after use; libclbin overwrites those that it passes
 * to a clbin_key_function. */
typedef struct clbin_key {
  size_t struct_size;
  clbin_key_kind kind;
  uint8_t bytes[32];
} clbin_key;

/* Reads a key from the text of a key file of oclcc --keygen, or from its second line, and stores it
 * in *key, whose struct_size the caller has set. Overwrites its own copies; the caller overwrites
 * `text`. Accepts untrusted text. No message contains a part of it. INVALID_ARGUMENT: the text is
 * no such key, for example a public key or a key of minisign. Since 1.0. */
CLBIN_API clbin_status clbin_key_from_text(const char* text, clbin_key* key, clbin_error** error);

/* Which key opens a bundle. Valid until the function returns. Unless a signature is required, these
 * values are untrusted: anybody can have written them. */
typedef struct clbin_key_request {
  size_t struct_size;
  const uint8_t* key_id;     /* of 32 bytes: identifies the content key, and does not reveal it */
  const uint8_t* recipients; /* X25519 public keys of 32 bytes each, without gaps; NULL if none */
  size_t recipient_count;    /* 0: only the content key itself opens the bundle */
} clbin_key_request;

/* Obtains the key of an encrypted bundle, for example from a licence server, a TPM, or obfuscated
 * constants. Sets kind and bytes of *key, whose struct_size libclbin has set and whose other bytes
 * are 0, and returns 0; returns any other number if there is no key. *key is in memory that is not
 * swapped if the system allows that. libclbin overwrites it. The function may call
 * clbin_key_from_text. It must not throw. */
typedef int (*clbin_key_function)(const clbin_key_request* request, clbin_key* key,
                                  void* user_data);

/* Set struct_size to sizeof(clbin_open_options), and other members to 0 for the defaults. */
typedef struct clbin_open_options {
  size_t struct_size;
  uint64_t max_directory_bytes; /* 0: 64 MiB */
  uint64_t max_raw_bytes;       /* of one payload, source or manifest, decompressed; 0: 1 GiB */
  uint64_t max_total_raw_bytes; /* that one call decompresses; 0: the larger of 2 GiB and 256 bytes
                                   for each byte of the bundle */
  uint64_t max_memory_bytes;    /* that one call allocates for manifests, sources, listings and
                                   reports; 0: 48 MiB + 8 bytes for each byte of the bundle */
  const uint8_t* public_keys;   /* of 32 bytes each, without gaps: those that the caller trusts.
                                   Copied. If the policy is not REQUIRED, this and the following
                                   members must be 0 (INVALID_ARGUMENT) */
  size_t public_key_count;      /* at least 1 if the policy is REQUIRED */
  clbin_signature_policy signature_policy;
  clbin_switch unsigned_builds; /* whether loads use the user cache, whose entries nobody signed;
                                   default: off if the policy is REQUIRED */
  uint64_t least_counter;       /* 0: the bundle needs no counter */
  clbin_key_function key;       /* NULL: what requires contents of an encrypted bundle returns
                                   ENCRYPTED */
  void* key_user_data;
  clbin_switch decrypted_builds; /* whether loads from an encrypted bundle use the user cache, which
                                    is not encrypted; default: off. INVALID_ARGUMENT if it is set
                                    without `key`, or ON without unsigned_builds although the policy
                                    is REQUIRED */
  const char* cache_dir; /* of the user cache and the quarantine of loads: an absolute path. Turns
                            the user cache on, unless another member of this struct turns it off.
                            NULL: CLBIN_CACHE_DIR and CLBIN_CACHE, see libclbin(3). Copied. If it is
                            not absolute, INVALID_ARGUMENT */
} clbin_open_options;

/* Opens a regular file and reads its prefix and directory. The file stays open until clbin_close.
 * It is not mapped: it may be replaced, truncated or removed, because libclbin checks what it
 * reads. `options` may be NULL. The caller closes *bundle with clbin_close. FILE_NOT_FOUND,
 * FILE_READ, NOT_A_BUNDLE, TRUNCATED, NEWER_VERSION, UNKNOWN_REQUIRED_SECTION, DAMAGED,
 * DIGEST_MISMATCH, LIMIT_EXCEEDED, TRAILING_BYTES, INVALID_ARGUMENT.
 *
 * If signature_policy is REQUIRED, the bundle must be signed by one of public_keys, or by a key
 * that one of them vouches for in the bundle (clbin(5), "Verifying signatures"); otherwise
 * NOT_SIGNED, UNTRUSTED_KEY, BAD_SIGNATURE or OLD_COUNTER. Until that is known, only the prefix and
 * the trailing records are parsed. The library stores no counter: the caller keeps the highest one
 * that it has accepted.
 *
 * If the bundle is encrypted and `key` is set, calls it once, on the calling thread, after a
 * required signature was checked. ENCRYPTED if it returns no key, WRONG_KEY if the key does not
 * open the bundle, INVALID_ARGUMENT if its kind is unknown. clbin_close overwrites libclbin's copy
 * of the key. Without `key`, an encrypted bundle opens; its names, options, sizes and targets,
 * which are not encrypted, can be listed. Since 1.0. */
CLBIN_API clbin_status clbin_open(const char* path, const clbin_open_options* options,
                                  clbin_bundle** bundle, clbin_error** error);

/* Opens a folder that `oclcc --split` wrote: base.clbin, and packs beside it, bundles that contain
 * the entries of some devices each. clbin_load and clbin_select use the entries of packs like those
 * of the base; the other functions know the base alone. A pack is opened with the same options when
 * a device first needs it, and then stays open; the content key of the base opens it, without a
 * call of `key`. The base names each pack and what is in it, so that a pack of another version or
 * another product is not used, whoever signed it. The reports and errors of clbin_load name packs
 * that a device needs and that are not installed or cannot be used; one that could not be opened is
 * looked for again in the next call. clbin_is_current also covers the packs that are open.
 * `options` may be NULL. Returns the statuses of clbin_open, for the base. Since 1.0. */
CLBIN_API clbin_status clbin_open_set(const char* folder, const clbin_open_options* options,
                                      clbin_bundle** bundle, clbin_error** error);

/* Opens a bundle in memory, without copying it: `data` must stay valid and unchanged until
 * clbin_close, and should be aligned to 8 bytes. If signature_policy is REQUIRED, libclbin copies
 * each part before it checks it, so that no driver receives bytes that changed after the check.
 * Ignores bytes after the bundle's own length. `options` may be NULL. Returns the statuses of
 * clbin_open, except FILE_NOT_FOUND, FILE_READ and TRAILING_BYTES. Since 1.0. */
CLBIN_API clbin_status clbin_open_memory(const void* data, size_t size_bytes,
                                         const clbin_open_options* options, clbin_bundle** bundle,
                                         clbin_error** error);

/* Reads `size_bytes` bytes of a bundle at `offset` into `buffer`. Returns 0 if it has read all of
 * them, or any other number on failure. */
typedef int (*clbin_read_function)(uint64_t offset, void* buffer, size_t size_bytes,
                                   void* user_data);

/* Opens a bundle of `size_bytes` bytes, such as a member of an archive, through a function of the
 * caller. libclbin calls `read` until clbin_close, only for bytes within `size_bytes`, and only on
 * threads that are inside a function of this bundle. If several threads use the bundle, `read` must
 * be thread-safe. `read` must not call a function of this bundle. libclbin copies what `read`
 * returns before it checks it. `options` and `user_data` may be NULL. Returns the statuses of
 * clbin_open, except FILE_NOT_FOUND; FILE_READ if `read` fails. Since 1.0. */
CLBIN_API clbin_status clbin_open_callback(clbin_read_function read, void* user_data,
                                           uint64_t size_bytes, const clbin_open_options* options,
                                           clbin_bundle** bundle, clbin_error** error);

/* Closes a bundle. Programs that were loaded from it stay valid. Blocks until entries that loads
 * built have been written to the user cache, which takes a few milliseconds. Close every bundle
 * before libclbin is unloaded with dlclose. NULL is allowed. Since 1.0. */
CLBIN_API void clbin_close(clbin_bundle* bundle);

/* Returns 1 if the path that was passed to clbin_open still leads to the file that was opened, and
 * nobody has written to it since; otherwise 0, so that the application opens the path again: the
 * file was replaced, written, renamed or removed, or its times, owner or permissions were changed,
 * or the path cannot be reached. A relative path means what it meant when the bundle was opened.
 * Bundles from memory and callbacks are always current. Returns 0 if `bundle` is NULL. Compares the
 * result of one call of stat, which is cheap enough for each frame, and reads nothing. A file that
 * is written in place within the granularity of its times (4 ms at most on Linux) after it was
 * opened, and keeps its size, is taken for current; oclcc replaces its output instead. A bundle
 * that is not current stays usable. Thread-safe. Since 1.0. */
CLBIN_API int clbin_is_current(const clbin_bundle* bundle);

/* Reads every byte of a bundle and checks every digest and every rule of clbin(5). If the bundle
 * was opened with CLBIN_SIGNATURES_REQUIRED, also checks the signatures, counters and vouches of
 * keys that are not trusted. If the bundle is encrypted and was opened without a key, checks all
 * but the contents, and then returns ENCRYPTED. Returns the statuses of clbin_open, and
 * MANIFEST_INVALID. Since 1.0. */
CLBIN_API clbin_status clbin_verify(const clbin_bundle* bundle, clbin_error** error);

/* Sets *counter to the highest counter by a trusted key of a bundle that was opened with
 * CLBIN_SIGNATURES_REQUIRED, or to 0 if there is none. A caller that accepts no older bundle keeps
 * the highest value, where nobody else can write, and passes it as least_counter the next time.
 * Reads nothing. INVALID_ARGUMENT if the bundle was opened with another policy. Since 1.0. */
CLBIN_API clbin_status clbin_counter(const clbin_bundle* bundle, uint64_t* counter,
                                     clbin_error** error);

/* ---- Contents ------------------------------------------------------------------------------- */

/* A snapshot of the programs, variants, entries and kernels of a bundle. It is independent of the
 * bundle and is freed with clbin_listing_free. */
typedef struct clbin_listing clbin_listing;
/* Reads all tables, and the manifests, which describe kernel arguments. Arguments and required
 * work-group sizes are unknown if the bundle is encrypted and was opened without a key. Returns the
 * statuses of clbin_verify, except ENCRYPTED. Since 1.0. */
CLBIN_API clbin_status clbin_list(const clbin_bundle* bundle, clbin_listing** listing,
                                  clbin_error** error);
/* Frees a listing. NULL is allowed. Since 1.0. */
CLBIN_API void clbin_listing_free(clbin_listing* listing);

/* Returns the number of groups. Since 1.0. */
CLBIN_API size_t clbin_listing_group_count(const clbin_listing* listing);

/* The following functions fill a struct, whose struct_size the caller has set. Its strings belong
 * to the listing. Indices start at 0; INVALID_ARGUMENT if one is too large. Thread-safe. */

/* One variant of one program. Groups are sorted by program, then by variant. */
typedef struct clbin_group {
  size_t struct_size;
  const char* program;
  const char* variant;
  const char* options; /* the build options of its source */
  size_t entry_count;
  int has_source;       /* 1 if the bundle contains its source, otherwise 0 */
  const char* required; /* extensions that it requires of a device, separated by spaces */
} clbin_group;
/* Fills *filled. Since 1.0. */
CLBIN_API clbin_status clbin_listing_group(const clbin_listing* listing, size_t group,
                                           clbin_group* filled);

/* One binary. */
typedef struct clbin_entry {
  size_t struct_size;
  const char* platform;
  const char* device;
  const char* driver_version;
  const char* target_spec; /* of an offline target; otherwise "" */
  const char* format;      /* such as "PTX 7.5 for sm_50" */
  const char* options;
  const char* raw_digest; /* 64 hexadecimal digits; keyed if the bundle is encrypted */
  uint64_t raw_bytes;
  uint64_t stored_bytes; /* its size in the bundle */
  size_t kernel_count;
  const char* extensions; /* that -cl-ext requested for it, separated by spaces, as in
                             CL_DEVICE_EXTENSIONS, which may not contain them */
} clbin_entry;
/* Fills *filled. Since 1.0. */
CLBIN_API clbin_status clbin_listing_entry(const clbin_listing* listing, size_t group, size_t entry,
                                           clbin_entry* filled);

typedef struct clbin_kernel {
  size_t struct_size;
  const char* name;
  uint64_t required_work_group_size[3]; /* reqd_work_group_size, in work-items; all 0: none */
  int32_t argument_count;               /* -1: unknown */
} clbin_kernel;
/* Fills *filled. Since 1.0. */
CLBIN_API clbin_status clbin_listing_kernel(const clbin_listing* listing, size_t group,
                                            size_t entry, size_t kernel, clbin_kernel* filled);

/* An argument of a kernel, which clGetKernelArgInfo does not describe for a binary. */
typedef struct clbin_argument {
  size_t struct_size;
  const char* name; /* NULL: unknown */
  const char* type; /* such as "float*"; NULL: unknown */
} clbin_argument;
/* Fills *filled. Since 1.0. */
CLBIN_API clbin_status clbin_listing_argument(const clbin_listing* listing, size_t group,
                                              size_t entry, size_t kernel, size_t argument,
                                              clbin_argument* filled);

/* Receives the next `size_bytes` bytes of a document, which are valid until it returns and are not
 * null-terminated. Returns 0 if it accepts them, or any other number on failure. */
typedef int (*clbin_write_function)(const char* text, size_t size_bytes, void* user_data);

/* Writes the contents of a bundle as JSON in UTF-8: the document that "oclcc --info --json" writes
 * for one bundle (share/oclcc/schema/info.schema.json). "file" is the path that was passed to
 * clbin_open, "memory" or "callback". Reads and checks every byte of the bundle, as clbin_verify
 * does. If a part of it is invalid, writes what can be read, with every reason in "errors", and
 * returns the status of the first one. If the bundle is encrypted and was opened without a key,
 * writes what is not encrypted, which is no error.
 *
 * Calls `write` on the calling thread for one part of the document after another, so that memory
 * does not limit the size of the document. `write` must not throw and must not close the bundle. It
 * is not called again after it fails. The document is incomplete after INVALID_ARGUMENT,
 * OUT_OF_MEMORY, INTERNAL and FILE_WRITE, and complete otherwise. `user_data` may be NULL. Returns
 * the statuses of clbin_verify, except ENCRYPTED; FILE_WRITE if `write` fails. Since 1.0. */
CLBIN_API clbin_status clbin_list_json(const clbin_bundle* bundle, clbin_write_function write,
                                       void* user_data, clbin_error** error);

/* ---- Selecting without OpenCL --------------------------------------------------------------- */

/* Identifies a device. Every string may be NULL, which means "". A list contains one word a line,
 * in the driver's order. Set struct_size to sizeof(clbin_identity). clbin_identity_query fills one.
 */
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
  const char* architecture;      /* "sm_90", "gfx90a"; NULL if unknown */
  uint32_t vendor_id;            /* CL_DEVICE_VENDOR_ID */
  uint32_t address_bits;         /* CL_DEVICE_ADDRESS_BITS */
} clbin_identity;

/* Why an entry was selected or attempted. Numbers are pinned and never reused. Later versions can
 * add numbers. */
typedef enum clbin_rule {
  CLBIN_RULE_NONE = 0,
  CLBIN_RULE_EXACT_IDENTITY = 1,  /* built for this device and driver */
  CLBIN_RULE_COMPATIBLE = 2,      /* built for another device; the vendor's rule accepts it */
  CLBIN_RULE_IL = 3,              /* an intermediate language that the device accepts */
  CLBIN_RULE_NOT_COMPATIBLE = 4,  /* no rule accepts it: not attempted */
  CLBIN_RULE_USER_CACHE = 5,      /* built by an earlier load */
  CLBIN_RULE_RECOMPILED = 6,      /* the driver recompiled the IR in an entry */
  CLBIN_RULE_SEVERAL_DEVICES = 7, /* the binaries of several devices in one program */
  CLBIN_RULE_SOURCE = 8,          /* built from source */
  CLBIN_RULE_SAME_PROCESS = 9     /* the builder had it from an earlier call of this process */
} clbin_rule;

/* The best entry for a device. Its bytes have been checked and decompressed. */
typedef struct clbin_selection clbin_selection;
/* Selects the best entry of a program for a device, without any OpenCL call. `variant` may be NULL
 * for "default"; an identity contains no extensions, by which clbin_load chooses. Skips an entry
 * that is damaged or that records build options that clbin_load would not pass to a driver; if no
 * other entry fits, returns the error of the first one. The caller frees *selection with
 * clbin_selection_free. NO_SUCH_PROGRAM, NO_SUCH_VARIANT, NO_MATCHING_ENTRY, UNSAFE_OPTIONS, and
 * the statuses of reading a bundle (clbin_verify). Since 1.0. */
CLBIN_API clbin_status clbin_select(const clbin_bundle* bundle, const clbin_identity* identity,
                                    const char* program, const char* variant,
                                    clbin_selection** selection, clbin_error** error);
/* Frees a selection. NULL is allowed. Since 1.0. */
CLBIN_API void clbin_selection_free(clbin_selection* selection);

/* What was selected. Everything belongs to the selection. */
typedef struct clbin_selection_info {
  size_t struct_size;
  const void* data; /* the binary */
  size_t size_bytes;
  const char* format;         /* such as "PTX 7.5 for sm_50" */
  const char* options;        /* the build options that the entry was built with */
  const char* rule;           /* "exact identity" or "compatible" */
  clbin_rule rule_number;     /* EXACT_IDENTITY or COMPATIBLE */
  const char* const* kernels; /* the names of its kernels */
  size_t kernel_count;
} clbin_selection_info;
/* Fills *info, whose struct_size the caller has set. INVALID_ARGUMENT. Thread-safe. Since 1.0. */
CLBIN_API clbin_status clbin_selection_get(const clbin_selection* selection,
                                           clbin_selection_info* info);

/* ---- Loading --------------------------------------------------------------------------------- */

typedef enum clbin_fallback {
  CLBIN_FALLBACK_IF_NEEDED = 0, /* builds source if neither an entry nor the user cache serves */
  CLBIN_FALLBACK_NEVER = 1,     /* uses the device binaries of the bundle only: no IL, no source */
  CLBIN_FALLBACK_ALWAYS = 2     /* builds source only, or IL for constants; no user cache */
} clbin_fallback;

/* Where a program came from. */
typedef enum clbin_origin {
  CLBIN_ORIGIN_NONE = 0,
  CLBIN_ORIGIN_ENTRY = 1,
  CLBIN_ORIGIN_USER_CACHE = 2, /* built by an earlier load */
  CLBIN_ORIGIN_IL = 3,         /* built from SPIR-V, or by the driver from the IR in an entry */
  CLBIN_ORIGIN_SOURCE = 4
} clbin_origin;

typedef enum clbin_decision {
  CLBIN_DECISION_LOADED = 0,
  CLBIN_DECISION_REFUSED = 1,       /* by the driver */
  CLBIN_DECISION_NOT_ATTEMPTED = 2, /* by a rule, by quarantine, or missing in the user cache */
  CLBIN_DECISION_UNREADABLE = 3,    /* damaged in the bundle: the driver received no byte of it */
  CLBIN_DECISION_ACCEPTED = 4,      /* for one device, before the program for several devices */
  CLBIN_DECISION_RECOMPILED = 5,    /* the driver ignored the binary and built the IR in it: used
                                       only if no better entry loads */
  CLBIN_DECISION_WRONG_ANSWER = 6   /* it does not compute what is known (clbin_check_answers) */
} clbin_decision;

/* One step of a load. Strings are never NULL. They are valid until the callback returns, or as long
 * as the report. */
typedef struct clbin_attempt {
  size_t struct_size;
  clbin_decision decision;
  clbin_origin origin;
  uint32_t device;        /* index in the devices of the call */
  const char* target;     /* the target of the entry; "" if the step is not about one entry */
  const char* rule;       /* "exact identity", "compatible", "IL", "not compatible", "user cache",
                             "recompiled", "several devices", "source", "same process", or "" */
  const char* reason;     /* a sentence */
  const char* stage;      /* the OpenCL call that returned cl_code, or "" */
  const char* driver_log; /* or "" */
  int32_t cl_code;        /* what the OpenCL call returned */
  uint64_t microseconds;
  const char* cl_code_name; /* such as "CL_INVALID_BINARY"; "" if no OpenCL call was made */
  int32_t entry; /* index in the entries of the variant, as in clbin_listing; -1: no entry, or one
                    of a pack */
  clbin_rule rule_number; /* why the entry was attempted, or was not */
  const char* pack;       /* the pack that contains the entry (clbin_open_set); "" if none does */
} clbin_attempt;

typedef void (*clbin_attempt_callback)(const clbin_attempt* attempt, void* user_data);

/* Returns the address of an OpenCL function, such as "clBuildProgram", or NULL. */
typedef void* (*clbin_resolve_function)(const char* name, void* user_data);

/* The value of a specialization constant of SPIR-V, by its SpecId. This struct has no struct_size,
 * because it never changes. */
typedef struct clbin_specialization_constant {
  uint32_t id;
  size_t size_bytes; /* 1 to 16; a bool is one byte */
  const void* value;
} clbin_specialization_constant;

/* When a load checks known answers: launches of the bundle of which it is known what they compute
 * (oclcc-tuning(7)). */
typedef enum clbin_answers {
  CLBIN_ANSWERS_NEVER = 0,
  CLBIN_ANSWERS_ONCE = 1,  /* remembers in the user cache what it finds of a binary, or a source, on
                              a device and driver; without the cache, always */
  CLBIN_ANSWERS_ALWAYS = 2 /* at each load */
} clbin_answers;

/* A way to check known answers. Never freed. */
typedef struct clbin_answer_check clbin_answer_check;

/* Returns a value for clbin_load_options.answers; NULL for ANSWERS_NEVER. With a number that is no
 * enumerator, returns one that every call refuses. The check is a pointer so that a program that is
 * linked with the static library contains its code only if it calls this function. Thread-safe.
 * Since 1.0. */
CLBIN_API const clbin_answer_check* clbin_check_answers(clbin_answers when);

/* Set struct_size to sizeof(clbin_load_options), and other members to 0 for the defaults.
 * Everything is borrowed for the call. */
typedef struct clbin_load_options {
  size_t struct_size;
  const char* variant;       /* NULL or "": the variant that was measured as the fastest on the
                                first device or on one like it, unless build_options or constants
                                are given; otherwise the variant that requires most extensions, all
                                of which the devices have, or an entry for them was compiled with;
                                of equal ones the first by name; otherwise "default" */
  const char* build_options; /* known only at run time; follow those of the variant. If both
                                together are, word by word, the options of a variant of the program,
                                the load uses that variant, and the report names it; build_options
                                may repeat the variant's own options at its start. Otherwise no
                                entry was built with these options: libclbin builds the source, and
                                stores the result in the user cache. May be NULL */
  clbin_fallback fallback;
  const clbin_specialization_constant* constants; /* of several with one id, the last counts. Device
                                binaries and source do not have such constants: only the user cache
                                and IL serve such a load, for one device. With FALLBACK_NEVER it
                                fails */
  size_t constant_count;
  clbin_resolve_function resolve; /* called only during the call, for the functions that the call
                                     needs; NULL: see library */
  void* resolve_user_data;
  clbin_attempt_callback callback; /* called after every attempt, on the loading thread, with the
                                      struct_size of the library. Must not throw. May be NULL. A
                                      miss of the user cache precedes a slow build: libclbin(3) */
  void* callback_user_data;
  void* library;      /* what dlopen returned for the caller's OpenCL library, instead of `resolve`:
                         libclbin asks dlsym for the functions that it calls (libclbin(3), "Functions of
                         OpenCL"), and does not close it */
  clbin_switch store; /* OFF: what the call builds is not stored in the user cache, whose entries
                         still serve. Default: on */
  const clbin_answer_check* answers; /* from clbin_check_answers: launches kernels of the bundle on
                         the devices, in the context, before the program is returned, and tries what
                         comes next if they compute something else than is known. NULL: launches
                         nothing. libclbin(3), "Known answers" */
  uint32_t answers_ms; /* after this time, a check launches no further kernel, and the report says
                         so; a launch that has begun is not interrupted. 0: 1000 */
  const size_t* problem_size; /* the work-items of the problem that is to be computed, in each
                         dimension, none of them 0: if measurements choose the variant, clbin_load
                         takes the one that was the fastest in the nearest measured launches of each
                         kernel. libclbin(3), "Options". NULL is allowed only without dimensions */
  size_t problem_dimensions;  /* 1, 2 or 3; 0: the size is not known, and all launches count */
} clbin_load_options;

/* Asks a device for its identity, as clbin_load does. For a sub-device, returns that of its parent.
 * `options` may be NULL; only its `resolve` and `library` are used. *identity owns its strings, can
 * be passed to clbin_select, and is freed with clbin_identity_free. vendor_id is 0 on PoCL, where
 * it depends on the order of devices. INVALID_ARGUMENT, NO_OPENCL, OPENCL_CALL. Since 1.0. */
CLBIN_API clbin_status clbin_identity_query(struct _cl_device_id* device,
                                            const clbin_load_options* options,
                                            clbin_identity** identity, clbin_error** error);
/* Frees an object that clbin_identity_query returned. NULL is allowed. Since 1.0. */
CLBIN_API void clbin_identity_free(clbin_identity* identity);

/* Stores in local_size[0] to [dimensions - 1] the size of work-groups with which launches of a
 * kernel like this one were the fastest: on this device, or otherwise on the nearest ones that were
 * measured (oclcc-tuning(7)). The class of a measured launch is its size. Each divides the global
 * size. Stores 0 if the driver's own choice was the fastest, or nothing is known: then pass NULL to
 * clEnqueueNDRangeKernel. `dimensions` is 1, 2 or 3; global_size and local_size have as many
 * numbers. `variant` is that which was loaded (clbin_report_info); NULL or "": "default". `options`
 * may be NULL; only its `resolve` and `library` are used, for clGetDeviceInfo and
 * clGetPlatformInfo. Reads the manifest of the program: keep the result. INVALID_ARGUMENT,
 * NO_SUCH_PROGRAM, NO_SUCH_VARIANT, NO_OPENCL, OPENCL_CALL, and the statuses of reading a bundle
 * (clbin_verify). Thread-safe. Since 1.0. */
CLBIN_API clbin_status clbin_recommended_size(const clbin_bundle* bundle,
                                              struct _cl_device_id* device, const char* program,
                                              const char* variant, const char* kernel,
                                              const size_t* global_size, size_t dimensions,
                                              const clbin_load_options* options, size_t* local_size,
                                              clbin_error** error);

/* A record of what a load did, including a load that failed. */
typedef struct clbin_report clbin_report;

/* Loads a program for one or several devices of a context. *result is ready for clCreateKernel; the
 * caller releases it with clReleaseProgram.
 *
 * Tries, in this order: the entry that was built for this device and driver; the user cache;
 * compatible entries, best first; IL, if the device accepts it; source. Does not try an entry that
 * crashed the process twice within 24 hours, for 30 days. For several devices, tries the binary of
 * each device alone, then creates the program from all of them; if a device has no binary, builds
 * the whole program from source.
 *
 * The user cache stores what was built from IL or source, except on PoCL, which has a cache of its
 * own. libclbin asks the driver for the binary before this function returns. A thread of the bundle
 * then compresses and writes it. That thread makes no OpenCL call, blocks all signals, and ends
 * when nothing is left to write. The caller may release program, context and device at any time. If
 * the process exits without calling clbin_close, entries that have not been written yet are lost.
 * Cache problems never fail a load: they become one warning in the report, or in the report of the
 * next load if they happen afterwards.
 *
 * `options` and `report` may be NULL. A report is also created if the load fails, and the caller
 * frees it; it is NULL only if an argument was invalid or memory ran out. With a report or a
 * callback, libclbin also records entries that were not attempted, unless the entry that was built
 * for this device was loaded.
 *
 * INVALID_ARGUMENT (also for a device that is not one of the context or occurs twice),
 * NO_SUCH_PROGRAM, NO_SUCH_VARIANT, NO_MATCHING_ENTRY (with FALLBACK_NEVER), BINARY_REFUSED (by the
 * driver, by quarantine or by known answers, if source cannot serve), SEVERAL_DEVICES_REFUSED (the
 * driver rejects the binaries together, and source cannot serve), UNSAFE_OPTIONS, NO_SOURCE,
 * NO_OPENCL, OPENCL_CALL, BUILD_FAILED (also if what was built computes something wrong), and, if
 * nothing else served, the statuses of reading a bundle (clbin_verify). Thread-safe. Since 1.0. */
CLBIN_API clbin_status clbin_load(const clbin_bundle* bundle, struct _cl_context* context,
                                  struct _cl_device_id* const* devices, size_t device_count,
                                  const char* program, const clbin_load_options* options,
                                  struct _cl_program** result, clbin_report** report,
                                  clbin_error** error);

/* What clbin_warm did, in numbers of variants. */
typedef struct clbin_warmed {
  size_t struct_size;
  size_t from_entries;    /* the bundle has a binary that the device accepts */
  size_t from_user_cache; /* an earlier load had built them */
  size_t built;           /* from IL or source; a binary is in the user cache, if the driver has one
                             that can be stored */
  size_t failed;
  size_t unsuitable; /* of those that did not load: the device lacks an extension */
  size_t remaining;  /* not begun in time */
} clbin_warmed;

/* Does for one device of a context what the first start of an application would do, so that the
 * next start builds nothing: loads every variant of every program as clbin_load does, stores what
 * it builds in the user cache, checks known answers once, and blocks until everything is written.
 * `oclcc --warm` (oclcc-tuning(7)) does the same for all devices of a machine, in processes of the
 * lowest priority that a crash of a driver does not end. This function runs on the calling thread,
 * with the priority of the caller.
 *
 * `program` restricts it to one program, and `variant` of the options to one variant; NULL and ""
 * do not. After `limit_ms` milliseconds, no further variant begins; 0: no limit. A variant that has
 * begun is not interrupted. Another call does again only what is missing; after a process that was
 * killed, too. `options` may be NULL; of them, variant, build_options, constants, resolve, library,
 * callback, and answers_ms, whose default is an hour here, are used. A variant that fails does not
 * prevent the others.
 *
 * On PoCL, stores binaries, too, which contain the code of launches with known answers. PoCL
 * compiles for other sizes of work-groups at the first launch: only `oclcc --warm` prepares these.
 * No kernel of the bundle may run meanwhile on PoCL before version 6, which would end the process.
 *
 * Fills *warmed, whose struct_size the caller has set, also if variants failed. INVALID_ARGUMENT
 * (also if the user cache is off, for example because the bundle is encrypted and was opened
 * without decrypted_builds), NO_SUCH_PROGRAM, NO_SUCH_VARIANT, and the status of the first variant
 * that failed: that of clbin_load, or FILE_WRITE if what was built cannot be stored. Thread-safe.
 * Since 1.0. */
CLBIN_API clbin_status clbin_warm(const clbin_bundle* bundle, struct _cl_context* context,
                                  struct _cl_device_id* device, const char* program,
                                  const clbin_load_options* options, uint32_t limit_ms,
                                  clbin_warmed* warmed, clbin_error** error);

/* ---- Source known only at run time ---------------------------------------------------------- */

/* clbin_build replaces clCreateProgramWithSource, clBuildProgram and any cache around them:
 *
 *     const char* text = ...;
 *     clbin_source source = {.struct_size = sizeof source, .strings = &text, .string_count = 1};
 *     source.options = "-DN=3 -I include";
 *     clbin_build(NULL, context, &device, 1, &source, NULL, &program, NULL, NULL);
 */

/* Set struct_size to sizeof(clbin_builder_options), and other members to 0 for the defaults. */
typedef struct clbin_builder_options {
  size_t struct_size;
  clbin_switch cache;         /* the user cache and the quarantine; default: CLBIN_CACHE */
  clbin_switch cache_on_pocl; /* whether the user cache serves PoCL, which has a cache of its own;
                                 see clbin_build. Default: CLBIN_CACHE_POCL, or whether cache_dir is
                                 set */
  const char* cache_dir;      /* an absolute path; NULL: CLBIN_CACHE_DIR, see libclbin(3) */
  uint64_t cache_max_bytes;   /* 0: CLBIN_CACHE_MAX_SIZE */
  clbin_signature_policy signature_policy; /* REQUIRED: only bundles that were opened with REQUIRED
                                              serve. Nothing is built, because nobody signed the
                                              source, and the user cache is off */
  clbin_switch unsigned_builds;            /* on, with REQUIRED: programs that the bundles do not
                                              serve come from the user cache, or are built.
                                              Default: off. Without REQUIRED, INVALID_ARGUMENT */
  clbin_switch reuse; /* whether clbin_build returns a program again, with one more reference, if
                         the builder has made it for the same context, devices, text and options.
                         Not for IL, headers and constants, nor for a text that includes files. The
                         builder holds at most 1024 programs, of 64 MiB of text in all, and with
                         them their contexts, until clbin_builder_free, which calls clReleaseProgram
                         unless the process is ending. Default: on */
} clbin_builder_options;

/* The cache settings, the bundles and the writing thread that builds share. */
typedef struct clbin_builder clbin_builder;
/* Reads CLBIN_CACHE, CLBIN_CACHE_POCL, CLBIN_CACHE_DIR and CLBIN_CACHE_MAX_SIZE, unless the process
 * has rights that its user does not have, and replaces them by the members of `options` that are
 * set. `options` may be NULL. The caller frees *builder with clbin_builder_free. INVALID_ARGUMENT
 * (also if cache_dir is not absolute). Since 1.0. */
CLBIN_API clbin_status clbin_builder_create(const clbin_builder_options* options,
                                            clbin_builder** builder, clbin_error** error);
/* Adds the entries of a bundle to those that builds may use, after the entries of earlier bundles.
 * The bundle must stay open until clbin_builder_free. If it is encrypted and was opened without
 * decrypted_builds, builds neither read nor write the user cache for programs whose source is in
 * the bundle. Thread-safe. NOT_SIGNED if the builder requires signatures, and the bundle was opened
 * without requiring one. ENCRYPTED if the bundle is encrypted and was opened without a key.
 * Since 1.0. */
CLBIN_API clbin_status clbin_builder_add_bundle(const clbin_builder* builder,
                                                const clbin_bundle* bundle, clbin_error** error);
/* Whether a file must exist. */
typedef enum clbin_presence { CLBIN_FILE_REQUIRED = 0, CLBIN_FILE_OPTIONAL = 1 } clbin_presence;
/* Opens a bundle as clbin_open does, and adds it as clbin_builder_add_bundle does. The builder
 * closes it. If the file is optional and does not exist, succeeds, and the report of each later
 * build has a warning. Returns the statuses of both functions. Since 1.0. */
CLBIN_API clbin_status clbin_builder_add_file(const clbin_builder* builder, const char* path,
                                              const clbin_open_options* options,
                                              clbin_presence presence, clbin_error** error);
/* Adds the bundles that the environment variable `variable` names, such as "MYAPP_BUNDLES": at most
 * 64 paths with colons between them. Opens each with `options`, which may be NULL, so that a
 * required signature is required of them, too. One that cannot be added, and that there are more,
 * is a warning in the report of each later build. Does nothing if the process has rights that its
 * user does not have. INVALID_ARGUMENT. Since 1.0. */
CLBIN_API clbin_status clbin_builder_add_files_of(const clbin_builder* builder,
                                                  const char* variable,
                                                  const clbin_open_options* options,
                                                  clbin_error** error);
/* Frees a builder. Programs that it built stay valid. Blocks until what builds produced has been
 * written to the user cache (on PoCL, see clbin_build), so that the OpenCL library must not have
 * been closed; the application may have released its contexts. NULL is allowed. Since 1.0. */
CLBIN_API void clbin_builder_free(clbin_builder* builder);

/* A program, as an application passes it to OpenCL. Set struct_size to sizeof(clbin_source), and
 * members that do not apply to 0. Everything is borrowed for the call. */
typedef struct clbin_source {
  size_t struct_size;
  const char* const* strings; /* the parameters of clCreateProgramWithSource */
  const size_t* lengths;      /* NULL, or 0 for a string: it is null-terminated. Zero bytes at the
                                 end of the source identify nothing; a zero byte within it keeps
                                 the program out of the user cache and of bundles. */
  size_t string_count;
  const void* il; /* that of clCreateProgramWithIL, if string_count is 0 */
  size_t il_bytes;
  const char* const* header_names; /* headers of clCompileProgram, by the names of #include */
  const char* const* header_texts;
  size_t header_count;
  const char* options; /* the build options; may be NULL */
  const char* label;   /* a name that stays the same if the source changes, such as "matmul"; may
                          be NULL. The report of a build then names the first line or option that
                          differs from the program that was stored last with this label and
                          device. */
} clbin_source;

/* Returns a program for one or several devices of a context. *result is ready for clCreateKernel;
 * the caller releases it with clReleaseProgram.
 *
 * Identifies the program by the contents of its source, of the headers that it includes, and of its
 * options without -I. Tries, in this order: entries that were built for this device and driver, in
 * the bundles of the builder; the user cache; compatible entries of the bundles; for one device,
 * entries in IL. A bundle serves if it contains the program under its digest (`oclcc --record`), or
 * a program with the same source and options. Otherwise builds the program: the driver receives
 * exactly the strings and options of the caller. The user cache stores the result; on PoCL only
 * with cache_on_pocl. Locks, quarantine, report and cache problems are those of clbin_load.
 *
 * PoCL compiles a kernel for a work-group size at its first launch with it, and compiles every
 * kernel once more when it is asked for a binary, 0.1 to 0.3 seconds each. The builder therefore
 * retains the program, and takes the binary of a copy that it builds from the same source: on a
 * thread of its own, one second after its last build, or in clbin_builder_free, which begins
 * nothing that would take more than 5 seconds. Launches that compile meanwhile wait for the kernel
 * that PoCL compiles. exit() waits for a binary that is being taken, and the others are not stored;
 * nothing is called in exit handlers. A program of more than 64 kernels is not stored. Three kinds
 * of programs have no such copy, so that clbin_build takes their binaries before it returns: those
 * with a required work-group size on PoCL before version 6, which would end the process if one of
 * them ran, all if PoCL's own cache is off, and IL and headers.
 *
 * The driver may read more than libclbin can know: an #include whose macros cannot be resolved, a
 * header that is a pipe or exists in two places with different contents, __TIME__, __DATE__,
 * #embed, options that name files. Such a program is built each time, and the report contains the
 * reason and its line.
 *
 * `builder` may be NULL: the call uses a builder with default options, and writes to the user cache
 * before it returns. `options` may be NULL. Of `options`, resolve, library, store, callback and
 * constants (for IL) are used as by clbin_load; build options follow those of `source`; a variant
 * is ignored. With FALLBACK_NEVER, only device binaries of bundles serve; with FALLBACK_ALWAYS, the
 * program is built and not stored. `report` and `error` are those of clbin_load;
 * clbin_attempt.entry is the index among all entries of a bundle.
 *
 * INVALID_ARGUMENT (also for source and IL together, IL with headers, and a device that is not one
 * of the context or occurs twice), NO_MATCHING_ENTRY (with FALLBACK_NEVER), NO_OPENCL, OPENCL_CALL,
 * BUILD_FAILED. Thread-safe. Since 1.0. */
CLBIN_API clbin_status clbin_build(const clbin_builder* builder, struct _cl_context* context,
                                   struct _cl_device_id* const* devices, size_t device_count,
                                   const clbin_source* source, const clbin_load_options* options,
                                   struct _cl_program** result, clbin_report** report,
                                   clbin_error** error);

/* Removes all programs, and what was found of known answers, from the user cache in `cache_dir`, an
 * absolute path, or, if it is NULL, in the directory that the environment chooses, which
 * applications share; also if the cache is off. The quarantine stays. Running builds are not
 * disturbed. INVALID_ARGUMENT, FILE_NOT_FOUND (the environment chooses no directory), FILE_READ,
 * FILE_WRITE. Thread-safe. Since 1.0. */
CLBIN_API clbin_status clbin_clear_cache(const char* cache_dir, clbin_error** error);

/* What a report says besides its attempts. Everything belongs to the report. */
typedef struct clbin_report_info {
  size_t struct_size;
  clbin_origin origin;        /* where the program came from; NONE if the load failed */
  uint64_t microseconds;      /* the duration of the whole load */
  const char* program;        /* its name */
  const char* variant;        /* that was loaded */
  const char* const* devices; /* "PLATFORM / DEVICE / DRIVER VERSION" of each device */
  size_t device_count;
  const char* const* warnings; /* problems that did not fail the load */
  size_t warning_count;
  size_t attempt_count;
  const char* extensions; /* that -cl-ext requested for the program, separated by spaces; a device
                             need not report them */
  const char* variant_reason; /* what was measured, and where the extensions are that the variant
                                 requires; or "" */
} clbin_report_info;
/* Fills *info, whose struct_size the caller has set. INVALID_ARGUMENT. Thread-safe. Since 1.0. */
CLBIN_API clbin_status clbin_report_get(const clbin_report* report, clbin_report_info* info);
/* Fills *attempt, whose struct_size the caller has set. INVALID_ARGUMENT if `index` is too large.
 * Thread-safe. Since 1.0. */
CLBIN_API clbin_status clbin_report_attempt(const clbin_report* report, size_t index,
                                            clbin_attempt* attempt);
/* Returns text for people, with one line for each attempt, or "" if `report` is NULL. Since 1.0. */
CLBIN_API const char* clbin_report_text(const clbin_report* report);
/* Returns the report as one line of JSON in UTF-8. libclbin(3), Reports, lists its members. The
 * first call creates it; NULL if there is no memory. Thread-safe. Since 1.0. */
CLBIN_API const char* clbin_report_json(const clbin_report* report);
/* Frees a report. NULL is allowed. Since 1.0. */
CLBIN_API void clbin_report_free(clbin_report* report);

#ifdef __cplusplus
}
#endif

#endif
