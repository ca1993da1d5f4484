#include "c_api.hpp"

#include "base/file_io.hpp"

#include <cstddef>
#include <span>

using namespace clbin;
using base::Result;

namespace {

Result<format::ReadLimits> limits_of(const clbin_open_options* options) {
  format::ReadLimits limits;
  if (options == nullptr) {
    return limits;
  }
  CLBIN_TRY_ASSIGN(const clbin_open_options given,
                   c_api::copy_sized(options, "clbin_open_options"));
  if (given.max_directory_bytes != 0) {
    limits.max_directory_bytes = given.max_directory_bytes;
  }
  if (given.max_raw_bytes != 0) {
    limits.max_raw_bytes = given.max_raw_bytes;
  }
  limits.max_total_raw_bytes = given.max_total_raw_bytes;
  limits.max_memory_bytes = given.max_memory_bytes;
  return limits;
}

Result<void> open_source(std::shared_ptr<const base::ByteSource> source,
                         const format::ReadLimits& limits, format::TrailingBytes trailing,
                         clbin_bundle** bundle) {
  CLBIN_TRY_ASSIGN(format::BundleReader reader,
                   format::BundleReader::open(std::move(source), limits, trailing));
  *bundle = new clbin_bundle(std::move(reader));
  return {};
}

} // namespace

clbin_status clbin_open(const char* path, const clbin_open_options* options, clbin_bundle** bundle,
                        clbin_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(bundle, "bundle"));
    *bundle = nullptr;
    CLBIN_TRY(c_api::require(path, "path"));
    CLBIN_TRY_ASSIGN(const format::ReadLimits limits, limits_of(options));
    CLBIN_TRY_ASSIGN(auto source, base::open_file_source(path));
    return open_source(std::move(source), limits, format::TrailingBytes::refuse, bundle);
  });
}

clbin_status clbin_open_memory(const void* data, size_t size_bytes,
                               const clbin_open_options* options, clbin_bundle** bundle,
                               clbin_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(bundle, "bundle"));
    *bundle = nullptr;
    CLBIN_TRY(c_api::require(data, "data"));
    CLBIN_TRY_ASSIGN(const format::ReadLimits limits, limits_of(options));
    auto source =
        base::memory_source(base::ByteView(static_cast<const std::byte*>(data), size_bytes));
    return open_source(std::move(source), limits, format::TrailingBytes::ignore, bundle);
  });
}

clbin_status clbin_open_callback(clbin_read_function read, void* user_data, uint64_t size_bytes,
                                 const clbin_open_options* options, clbin_bundle** bundle,
                                 clbin_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(bundle, "bundle"));
    *bundle = nullptr;
    if (read == nullptr) {
      return base::fail(base::ErrorCode::invalid_argument, "'read' is NULL");
    }
    CLBIN_TRY_ASSIGN(const format::ReadLimits limits, limits_of(options));
    const auto call = [=](std::uint64_t offset, std::span<std::byte> bytes) {
      return read(offset, bytes.data(), bytes.size(), user_data);
    };
    return open_source(base::callback_source(call, size_bytes, "callback"), limits,
                       format::TrailingBytes::refuse, bundle);
  });
}

void clbin_close(clbin_bundle* bundle) {
  delete bundle;
}

clbin_status clbin_verify(const clbin_bundle* bundle, clbin_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(bundle, "bundle"));
    return bundle->reader.verify();
  });
}
