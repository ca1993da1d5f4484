#include "c_api.hpp"

#include <iterator>

namespace {

struct NamedStatus {
  clbin_status status;
  clbin::base::ErrorCode code;
  const char* name;
};
constexpr auto k_errors = [] {
  using enum clbin::base::ErrorCode;
  return std::to_array<NamedStatus>({
      {CLBIN_ERROR_INVALID_ARGUMENT, invalid_argument, "CLBIN_ERROR_INVALID_ARGUMENT"},
      {CLBIN_ERROR_OUT_OF_MEMORY, out_of_memory, "CLBIN_ERROR_OUT_OF_MEMORY"},
      {CLBIN_ERROR_INTERNAL, internal, "CLBIN_ERROR_INTERNAL"},
      {CLBIN_ERROR_FILE_NOT_FOUND, file_not_found, "CLBIN_ERROR_FILE_NOT_FOUND"},
      {CLBIN_ERROR_FILE_READ, file_read, "CLBIN_ERROR_FILE_READ"},
      {CLBIN_ERROR_FILE_WRITE, file_write, "CLBIN_ERROR_FILE_WRITE"},
      {CLBIN_ERROR_NOT_A_BUNDLE, not_a_bundle, "CLBIN_ERROR_NOT_A_BUNDLE"},
      {CLBIN_ERROR_TRUNCATED, truncated, "CLBIN_ERROR_TRUNCATED"},
      {CLBIN_ERROR_NEWER_VERSION, newer_version, "CLBIN_ERROR_NEWER_VERSION"},
      {CLBIN_ERROR_UNKNOWN_REQUIRED_SECTION, unknown_required_section,
       "CLBIN_ERROR_UNKNOWN_REQUIRED_SECTION"},
      {CLBIN_ERROR_DAMAGED, damaged, "CLBIN_ERROR_DAMAGED"},
      {CLBIN_ERROR_DIGEST_MISMATCH, digest_mismatch, "CLBIN_ERROR_DIGEST_MISMATCH"},
      {CLBIN_ERROR_LIMIT_EXCEEDED, limit_exceeded, "CLBIN_ERROR_LIMIT_EXCEEDED"},
      {CLBIN_ERROR_TRAILING_BYTES, trailing_bytes, "CLBIN_ERROR_TRAILING_BYTES"},
      {CLBIN_ERROR_MANIFEST_INVALID, manifest_invalid, "CLBIN_ERROR_MANIFEST_INVALID"},
      {CLBIN_ERROR_ENCRYPTED, encrypted, "CLBIN_ERROR_ENCRYPTED"},
      {CLBIN_ERROR_NO_SUCH_PROGRAM, no_such_program, "CLBIN_ERROR_NO_SUCH_PROGRAM"},
      {CLBIN_ERROR_NO_SUCH_VARIANT, no_such_variant, "CLBIN_ERROR_NO_SUCH_VARIANT"},
      {CLBIN_ERROR_NO_MATCHING_ENTRY, no_matching_entry, "CLBIN_ERROR_NO_MATCHING_ENTRY"},
      {CLBIN_ERROR_NO_SOURCE, no_source, "CLBIN_ERROR_NO_SOURCE"},
      {CLBIN_ERROR_CONFLICT, conflict, "CLBIN_ERROR_CONFLICT"},
      {CLBIN_ERROR_UNSAFE_OPTIONS, unsafe_options, "CLBIN_ERROR_UNSAFE_OPTIONS"},
      {CLBIN_ERROR_NO_OPENCL, no_opencl, "CLBIN_ERROR_NO_OPENCL"},
      {CLBIN_ERROR_NO_DEVICE, no_device, "CLBIN_ERROR_NO_DEVICE"},
      {CLBIN_ERROR_OPENCL_CALL, opencl_call, "CLBIN_ERROR_OPENCL_CALL"},
      {CLBIN_ERROR_BUILD_FAILED, build_failed, "CLBIN_ERROR_BUILD_FAILED"},
      {CLBIN_ERROR_BINARY_REFUSED, binary_refused, "CLBIN_ERROR_BINARY_REFUSED"},
      {CLBIN_ERROR_SEVERAL_DEVICES_REFUSED, several_devices_refused,
       "CLBIN_ERROR_SEVERAL_DEVICES_REFUSED"},
      {CLBIN_ERROR_NOT_SIGNED, not_signed, "CLBIN_ERROR_NOT_SIGNED"},
      {CLBIN_ERROR_UNTRUSTED_KEY, untrusted_key, "CLBIN_ERROR_UNTRUSTED_KEY"},
      {CLBIN_ERROR_BAD_SIGNATURE, bad_signature, "CLBIN_ERROR_BAD_SIGNATURE"},
      {CLBIN_ERROR_OLD_COUNTER, old_counter, "CLBIN_ERROR_OLD_COUNTER"},
      {CLBIN_ERROR_WRONG_KEY, wrong_key, "CLBIN_ERROR_WRONG_KEY"},
  });
}();
// guarded() casts error codes to clbin_status.
static_assert(std::all_of(std::begin(k_errors), std::end(k_errors), [](const NamedStatus& error) {
  return static_cast<std::int32_t>(error.status) == static_cast<std::int32_t>(error.code);
}));

} // namespace

namespace clbin::c_api {

clbin_status set_error(clbin_error** error, base::Error&& reason) noexcept {
  const auto status = static_cast<clbin_status>(reason.code);
  if (error == nullptr) {
    return status;
  }
  *error = new (std::nothrow) clbin_error;
  if (*error == nullptr) {
    return CLBIN_ERROR_OUT_OF_MEMORY;
  }
  (*error)->message = std::move(reason.message);
  (*error)->text = (*error)->message.c_str();
  (*error)->call = std::move(reason.call);
  return status;
}

clbin_status set_error_text(clbin_error** error, clbin_status status, const char* text) noexcept {
  const clbin_status result = set_error(error, {static_cast<base::ErrorCode>(status), {}});
  if (error != nullptr && *error != nullptr) {
    (*error)->text = text;
  }
  return result;
}

} // namespace clbin::c_api

uint32_t clbin_version(void) {
  return CLBIN_VERSION_NUMBER;
}

const char* clbin_status_name(clbin_status status) {
  if (status == CLBIN_SUCCESS) {
    return "CLBIN_SUCCESS";
  }
  const auto* const found =
      std::find_if(std::begin(k_errors), std::end(k_errors),
                   [status](const NamedStatus& error) { return error.status == status; });
  return found == std::end(k_errors) ? "unknown status" : found->name;
}

const char* clbin_error_message(const clbin_error* error) {
  return error == nullptr ? "" : error->text;
}

int32_t clbin_error_opencl_code(const clbin_error* error) {
  return error == nullptr || error->call == nullptr ? 0 : error->call->code;
}

const char* clbin_error_stage(const clbin_error* error) {
  return error == nullptr || error->call == nullptr ? "" : error->call->function.c_str();
}

const char* clbin_error_build_log(const clbin_error* error) {
  return error == nullptr || error->call == nullptr ? "" : error->call->log.c_str();
}

void clbin_error_free(clbin_error* error) {
  delete error;
}
