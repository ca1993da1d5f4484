#include "c_api.hpp"

namespace {

using clbin::base::ErrorCode;

constexpr bool same(clbin_status status, ErrorCode code) {
  return static_cast<std::int32_t>(status) == static_cast<std::int32_t>(code);
}
// guarded() casts ErrorCode to clbin_status.
static_assert(same(CLBIN_ERROR_INVALID_ARGUMENT, ErrorCode::invalid_argument));
static_assert(same(CLBIN_ERROR_OUT_OF_MEMORY, ErrorCode::out_of_memory));
static_assert(same(CLBIN_ERROR_INTERNAL, ErrorCode::internal));
static_assert(same(CLBIN_ERROR_FILE_NOT_FOUND, ErrorCode::file_not_found));
static_assert(same(CLBIN_ERROR_FILE_READ, ErrorCode::file_read));
static_assert(same(CLBIN_ERROR_FILE_WRITE, ErrorCode::file_write));
static_assert(same(CLBIN_ERROR_NOT_A_BUNDLE, ErrorCode::not_a_bundle));
static_assert(same(CLBIN_ERROR_TRUNCATED, ErrorCode::truncated));
static_assert(same(CLBIN_ERROR_NEWER_VERSION, ErrorCode::newer_version));
static_assert(same(CLBIN_ERROR_UNKNOWN_REQUIRED_SECTION, ErrorCode::unknown_required_section));
static_assert(same(CLBIN_ERROR_DAMAGED, ErrorCode::damaged));
static_assert(same(CLBIN_ERROR_DIGEST_MISMATCH, ErrorCode::digest_mismatch));
static_assert(same(CLBIN_ERROR_LIMIT_EXCEEDED, ErrorCode::limit_exceeded));
static_assert(same(CLBIN_ERROR_TRAILING_BYTES, ErrorCode::trailing_bytes));
static_assert(same(CLBIN_ERROR_MANIFEST_INVALID, ErrorCode::manifest_invalid));
static_assert(same(CLBIN_ERROR_ENCRYPTED, ErrorCode::encrypted));
static_assert(same(CLBIN_ERROR_NO_SUCH_PROGRAM, ErrorCode::no_such_program));
static_assert(same(CLBIN_ERROR_NO_SUCH_VARIANT, ErrorCode::no_such_variant));
static_assert(same(CLBIN_ERROR_NO_MATCHING_ENTRY, ErrorCode::no_matching_entry));
static_assert(same(CLBIN_ERROR_NO_SOURCE, ErrorCode::no_source));
static_assert(same(CLBIN_ERROR_CONFLICT, ErrorCode::conflict));
static_assert(same(CLBIN_ERROR_UNSAFE_OPTIONS, ErrorCode::unsafe_options));
static_assert(same(CLBIN_ERROR_NO_OPENCL, ErrorCode::no_opencl));
static_assert(same(CLBIN_ERROR_NO_DEVICE, ErrorCode::no_device));
static_assert(same(CLBIN_ERROR_OPENCL_CALL, ErrorCode::opencl_call));
static_assert(same(CLBIN_ERROR_BUILD_FAILED, ErrorCode::build_failed));
static_assert(same(CLBIN_ERROR_BINARY_REFUSED, ErrorCode::binary_refused));
static_assert(same(CLBIN_ERROR_SEVERAL_DEVICES_REFUSED, ErrorCode::several_devices_refused));
static_assert(same(CLBIN_ERROR_NOT_SIGNED, ErrorCode::not_signed));
static_assert(same(CLBIN_ERROR_UNTRUSTED_KEY, ErrorCode::untrusted_key));
static_assert(same(CLBIN_ERROR_BAD_SIGNATURE, ErrorCode::bad_signature));
static_assert(same(CLBIN_ERROR_OLD_COUNTER, ErrorCode::old_counter));
static_assert(same(CLBIN_ERROR_WRONG_KEY, ErrorCode::wrong_key));

} // namespace

namespace clbin::c_api {

clbin_status set_error(clbin_error** error, clbin_status status, std::string&& message) noexcept {
  if (error == nullptr) {
    return status;
  }
  auto* const created = new (std::nothrow) clbin_error;
  *error = created;
  if (created == nullptr) {
    return CLBIN_ERROR_OUT_OF_MEMORY;
  }
  created->message = std::move(message);
  created->text = created->message.c_str();
  return status;
}

clbin_status set_error_text(clbin_error** error, clbin_status status, const char* text) noexcept {
  const clbin_status result = set_error(error, status, {});
  if (error != nullptr && *error != nullptr) {
    (*error)->text = text;
  }
  return result;
}

} // namespace clbin::c_api

uint32_t clbin_version(void) {
  return CLBIN_VERSION_NUMBER;
}

// A table with one case per status; the compiler reports a missing one.
// NOLINTNEXTLINE(readability-function-size)
const char* clbin_status_name(clbin_status status) {
  switch (status) {
  case CLBIN_SUCCESS:
    return "CLBIN_SUCCESS";
  case CLBIN_ERROR_INVALID_ARGUMENT:
    return "CLBIN_ERROR_INVALID_ARGUMENT";
  case CLBIN_ERROR_OUT_OF_MEMORY:
    return "CLBIN_ERROR_OUT_OF_MEMORY";
  case CLBIN_ERROR_INTERNAL:
    return "CLBIN_ERROR_INTERNAL";
  case CLBIN_ERROR_FILE_NOT_FOUND:
    return "CLBIN_ERROR_FILE_NOT_FOUND";
  case CLBIN_ERROR_FILE_READ:
    return "CLBIN_ERROR_FILE_READ";
  case CLBIN_ERROR_FILE_WRITE:
    return "CLBIN_ERROR_FILE_WRITE";
  case CLBIN_ERROR_NOT_A_BUNDLE:
    return "CLBIN_ERROR_NOT_A_BUNDLE";
  case CLBIN_ERROR_TRUNCATED:
    return "CLBIN_ERROR_TRUNCATED";
  case CLBIN_ERROR_NEWER_VERSION:
    return "CLBIN_ERROR_NEWER_VERSION";
  case CLBIN_ERROR_UNKNOWN_REQUIRED_SECTION:
    return "CLBIN_ERROR_UNKNOWN_REQUIRED_SECTION";
  case CLBIN_ERROR_DAMAGED:
    return "CLBIN_ERROR_DAMAGED";
  case CLBIN_ERROR_DIGEST_MISMATCH:
    return "CLBIN_ERROR_DIGEST_MISMATCH";
  case CLBIN_ERROR_LIMIT_EXCEEDED:
    return "CLBIN_ERROR_LIMIT_EXCEEDED";
  case CLBIN_ERROR_TRAILING_BYTES:
    return "CLBIN_ERROR_TRAILING_BYTES";
  case CLBIN_ERROR_MANIFEST_INVALID:
    return "CLBIN_ERROR_MANIFEST_INVALID";
  case CLBIN_ERROR_ENCRYPTED:
    return "CLBIN_ERROR_ENCRYPTED";
  case CLBIN_ERROR_NO_SUCH_PROGRAM:
    return "CLBIN_ERROR_NO_SUCH_PROGRAM";
  case CLBIN_ERROR_NO_SUCH_VARIANT:
    return "CLBIN_ERROR_NO_SUCH_VARIANT";
  case CLBIN_ERROR_NO_MATCHING_ENTRY:
    return "CLBIN_ERROR_NO_MATCHING_ENTRY";
  case CLBIN_ERROR_NO_SOURCE:
    return "CLBIN_ERROR_NO_SOURCE";
  case CLBIN_ERROR_CONFLICT:
    return "CLBIN_ERROR_CONFLICT";
  case CLBIN_ERROR_UNSAFE_OPTIONS:
    return "CLBIN_ERROR_UNSAFE_OPTIONS";
  case CLBIN_ERROR_NO_OPENCL:
    return "CLBIN_ERROR_NO_OPENCL";
  case CLBIN_ERROR_NO_DEVICE:
    return "CLBIN_ERROR_NO_DEVICE";
  case CLBIN_ERROR_OPENCL_CALL:
    return "CLBIN_ERROR_OPENCL_CALL";
  case CLBIN_ERROR_BUILD_FAILED:
    return "CLBIN_ERROR_BUILD_FAILED";
  case CLBIN_ERROR_BINARY_REFUSED:
    return "CLBIN_ERROR_BINARY_REFUSED";
  case CLBIN_ERROR_SEVERAL_DEVICES_REFUSED:
    return "CLBIN_ERROR_SEVERAL_DEVICES_REFUSED";
  case CLBIN_ERROR_NOT_SIGNED:
    return "CLBIN_ERROR_NOT_SIGNED";
  case CLBIN_ERROR_UNTRUSTED_KEY:
    return "CLBIN_ERROR_UNTRUSTED_KEY";
  case CLBIN_ERROR_BAD_SIGNATURE:
    return "CLBIN_ERROR_BAD_SIGNATURE";
  case CLBIN_ERROR_OLD_COUNTER:
    return "CLBIN_ERROR_OLD_COUNTER";
  case CLBIN_ERROR_WRONG_KEY:
    return "CLBIN_ERROR_WRONG_KEY";
  }
  return "unknown status";
}

const char* clbin_error_message(const clbin_error* error) {
  return error == nullptr ? "" : error->text;
}

void clbin_error_free(clbin_error* error) {
  delete error;
}
