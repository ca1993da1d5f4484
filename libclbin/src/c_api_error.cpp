#include "c_api.hpp"

namespace {

using clbin::base::ErrorCode;

struct StatusRow {
  clbin_status status;
  ErrorCode code;
  const char* name;
};
constexpr StatusRow k_statuses[] = {
    {CLBIN_ERROR_INVALID_ARGUMENT, ErrorCode::invalid_argument, "CLBIN_ERROR_INVALID_ARGUMENT"},
    {CLBIN_ERROR_OUT_OF_MEMORY, ErrorCode::out_of_memory, "CLBIN_ERROR_OUT_OF_MEMORY"},
    {CLBIN_ERROR_INTERNAL, ErrorCode::internal, "CLBIN_ERROR_INTERNAL"},
    {CLBIN_ERROR_FILE_NOT_FOUND, ErrorCode::file_not_found, "CLBIN_ERROR_FILE_NOT_FOUND"},
    {CLBIN_ERROR_FILE_READ, ErrorCode::file_read, "CLBIN_ERROR_FILE_READ"},
    {CLBIN_ERROR_FILE_WRITE, ErrorCode::file_write, "CLBIN_ERROR_FILE_WRITE"},
    {CLBIN_ERROR_NOT_A_BUNDLE, ErrorCode::not_a_bundle, "CLBIN_ERROR_NOT_A_BUNDLE"},
    {CLBIN_ERROR_TRUNCATED, ErrorCode::truncated, "CLBIN_ERROR_TRUNCATED"},
    {CLBIN_ERROR_NEWER_VERSION, ErrorCode::newer_version, "CLBIN_ERROR_NEWER_VERSION"},
    {CLBIN_ERROR_UNKNOWN_REQUIRED_SECTION, ErrorCode::unknown_required_section,
     "CLBIN_ERROR_UNKNOWN_REQUIRED_SECTION"},
    {CLBIN_ERROR_DAMAGED, ErrorCode::damaged, "CLBIN_ERROR_DAMAGED"},
    {CLBIN_ERROR_DIGEST_MISMATCH, ErrorCode::digest_mismatch, "CLBIN_ERROR_DIGEST_MISMATCH"},
    {CLBIN_ERROR_LIMIT_EXCEEDED, ErrorCode::limit_exceeded, "CLBIN_ERROR_LIMIT_EXCEEDED"},
    {CLBIN_ERROR_TRAILING_BYTES, ErrorCode::trailing_bytes, "CLBIN_ERROR_TRAILING_BYTES"},
    {CLBIN_ERROR_MANIFEST_INVALID, ErrorCode::manifest_invalid, "CLBIN_ERROR_MANIFEST_INVALID"},
    {CLBIN_ERROR_ENCRYPTED, ErrorCode::encrypted, "CLBIN_ERROR_ENCRYPTED"},
    {CLBIN_ERROR_NO_SUCH_PROGRAM, ErrorCode::no_such_program, "CLBIN_ERROR_NO_SUCH_PROGRAM"},
    {CLBIN_ERROR_NO_SUCH_VARIANT, ErrorCode::no_such_variant, "CLBIN_ERROR_NO_SUCH_VARIANT"},
    {CLBIN_ERROR_NO_MATCHING_ENTRY, ErrorCode::no_matching_entry, "CLBIN_ERROR_NO_MATCHING_ENTRY"},
    {CLBIN_ERROR_NO_SOURCE, ErrorCode::no_source, "CLBIN_ERROR_NO_SOURCE"},
    {CLBIN_ERROR_CONFLICT, ErrorCode::conflict, "CLBIN_ERROR_CONFLICT"},
    {CLBIN_ERROR_UNSAFE_OPTIONS, ErrorCode::unsafe_options, "CLBIN_ERROR_UNSAFE_OPTIONS"},
    {CLBIN_ERROR_NO_OPENCL, ErrorCode::no_opencl, "CLBIN_ERROR_NO_OPENCL"},
    {CLBIN_ERROR_NO_DEVICE, ErrorCode::no_device, "CLBIN_ERROR_NO_DEVICE"},
    {CLBIN_ERROR_OPENCL_CALL, ErrorCode::opencl_call, "CLBIN_ERROR_OPENCL_CALL"},
    {CLBIN_ERROR_BUILD_FAILED, ErrorCode::build_failed, "CLBIN_ERROR_BUILD_FAILED"},
    {CLBIN_ERROR_BINARY_REFUSED, ErrorCode::binary_refused, "CLBIN_ERROR_BINARY_REFUSED"},
    {CLBIN_ERROR_SEVERAL_DEVICES_REFUSED, ErrorCode::several_devices_refused,
     "CLBIN_ERROR_SEVERAL_DEVICES_REFUSED"},
    {CLBIN_ERROR_NOT_SIGNED, ErrorCode::not_signed, "CLBIN_ERROR_NOT_SIGNED"},
    {CLBIN_ERROR_UNTRUSTED_KEY, ErrorCode::untrusted_key, "CLBIN_ERROR_UNTRUSTED_KEY"},
    {CLBIN_ERROR_BAD_SIGNATURE, ErrorCode::bad_signature, "CLBIN_ERROR_BAD_SIGNATURE"},
    {CLBIN_ERROR_OLD_COUNTER, ErrorCode::old_counter, "CLBIN_ERROR_OLD_COUNTER"},
    {CLBIN_ERROR_WRONG_KEY, ErrorCode::wrong_key, "CLBIN_ERROR_WRONG_KEY"},
};
// guarded() casts ErrorCode to clbin_status.
static_assert(std::ranges::all_of(k_statuses, [](const StatusRow& row) {
  return static_cast<std::int32_t>(row.status) == static_cast<std::int32_t>(row.code);
}));

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

const char* clbin_status_name(clbin_status status) {
  const auto* const row = std::ranges::find(k_statuses, status, &StatusRow::status);
  return status == CLBIN_SUCCESS ? "CLBIN_SUCCESS"
                                 : (row == std::end(k_statuses) ? "unknown status" : row->name);
}

const char* clbin_error_message(const clbin_error* error) {
  return error == nullptr ? "" : error->text;
}

void clbin_error_free(clbin_error* error) {
  delete error;
}
