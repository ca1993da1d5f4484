#include "c_api.hpp"

#include "base/crypto/minisign.hpp"
#include "base/file_io.hpp"
#include "format/bundle/signature_policy.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

using namespace clbin;
using base::ErrorCode;
using base::Result;

namespace {

constexpr std::size_t k_max_public_keys = 1024;

// What a caller asks of a bundle that it opens.
struct Opening {
  format::ReadLimits limits;
  std::optional<format::SignaturePolicy> required;
  c_api::UnsignedBuilds unsigned_builds = c_api::UnsignedBuilds::served;
};

Result<format::SignaturePolicy> policy_of(const clbin_open_options& given) {
  if (given.public_key_count == 0) {
    return base::fail(ErrorCode::invalid_argument,
                      "'signature_policy' requires a signature, but 'public_key_count' is 0");
  }
  CLBIN_TRY(c_api::require(given.public_keys, "public_keys"));
  if (given.public_key_count > k_max_public_keys) {
    return base::fail(ErrorCode::invalid_argument, "'public_key_count' is {}, which is above {}",
                      given.public_key_count, k_max_public_keys);
  }
  format::SignaturePolicy policy;
  policy.least_counter = given.least_counter;
  policy.keys.resize(given.public_key_count);
  const auto* next = reinterpret_cast<const std::byte*>(given.public_keys);
  for (base::PublicKey& key : policy.keys) {
    std::copy_n(next, key.bytes.size(), key.bytes.begin());
    next += key.bytes.size();
  }
  return policy;
}

Result<void> check_no_policy(const clbin_open_options& given) {
  if (given.public_keys != nullptr || given.public_key_count != 0) {
    return base::fail(ErrorCode::invalid_argument,
                      "'public_keys' is set, but 'signature_policy' does not require a signature");
  }
  if (given.least_counter != 0) {
    return base::fail(ErrorCode::invalid_argument,
                      "'least_counter' is set, but "
                      "'signature_policy' does not require a signature");
  }
  return {};
}

Result<Opening> opening_of(const clbin_open_options* options) {
  Opening opening;
  if (options == nullptr) {
    return opening;
  }
  CLBIN_TRY_ASSIGN(const clbin_open_options given,
                   c_api::copy_sized(options, "clbin_open_options"));
  format::ReadLimits& limits = opening.limits;
  if (given.max_directory_bytes != 0) {
    limits.max_directory_bytes = given.max_directory_bytes;
  }
  if (given.max_raw_bytes != 0) {
    limits.max_raw_bytes = given.max_raw_bytes;
  }
  limits.max_total_raw_bytes = given.max_total_raw_bytes;
  limits.max_memory_bytes = given.max_memory_bytes;
  CLBIN_TRY_ASSIGN(opening.unsigned_builds,
                   c_api::unsigned_builds_of(given.signature_policy, given.unsigned_builds));
  if (given.signature_policy == CLBIN_SIGNATURES_REQUIRED) {
    CLBIN_TRY_ASSIGN(opening.required, policy_of(given));
  } else {
    CLBIN_TRY(check_no_policy(given));
  }
  return opening;
}

// Copies what is read, so that memory that changes cannot change bytes that are already checked.
std::shared_ptr<const base::ByteSource> copying_source(const void* data, std::size_t size_bytes) {
  const auto copy = [data](std::uint64_t offset, std::span<std::byte> bytes) {
    std::memcpy(bytes.data(), static_cast<const std::byte*>(data) + offset, bytes.size());
    return 0;
  };
  return base::callback_source(copy, size_bytes, "memory");
}

Result<void> open_source(std::shared_ptr<const base::ByteSource> source, Opening opening,
                         format::TrailingBytes trailing, clbin_bundle** bundle) {
  std::uint64_t counter = 0;
  if (opening.required.has_value()) {
    opening.required->highest_counter = &counter;
  }
  auto opened = opening.required.has_value()
                    ? format::BundleReader::open(std::move(source), opening.limits, trailing,
                                                 *opening.required)
                    : format::BundleReader::open(std::move(source), opening.limits, trailing);
  CLBIN_TRY_ASSIGN(format::BundleReader reader, std::move(opened));
  const auto settings = cache::CacheSettings::from_environment(cache::this_process());
  const bool is_used = opening.unsigned_builds == c_api::UnsignedBuilds::served;
  *bundle = new clbin_bundle(std::move(reader),
                             is_used ? settings : c_api::without_user_cache(settings), settings);
  (*bundle)->counter = counter;
  return {};
}

} // namespace

Result<void> c_api::check_switch(clbin_switch given, std::string_view member) {
  if (given != CLBIN_SWITCH_DEFAULT && given != CLBIN_SWITCH_ON && given != CLBIN_SWITCH_OFF) {
    return base::fail(ErrorCode::invalid_argument, "'{}' is {}", member, static_cast<int>(given));
  }
  return {};
}

Result<c_api::UnsignedBuilds> c_api::unsigned_builds_of(const clbin_signature_policy& policy,
                                                        clbin_switch unsigned_builds) {
  int number = 0; // a caller in C can pass a number that the enumeration cannot have in C++
  static_assert(sizeof(number) == sizeof(policy));
  std::memcpy(&number, &policy, sizeof(number));
  if (number != CLBIN_SIGNATURES_IGNORED && number != CLBIN_SIGNATURES_REQUIRED) {
    return base::fail(ErrorCode::invalid_argument, "'signature_policy' is {}", number);
  }
  CLBIN_TRY(check_switch(unsigned_builds, "unsigned_builds"));
  if (policy == CLBIN_SIGNATURES_REQUIRED) {
    return unsigned_builds == CLBIN_SWITCH_ON ? UnsignedBuilds::served : UnsignedBuilds::refused;
  }
  if (unsigned_builds != CLBIN_SWITCH_DEFAULT) {
    return base::fail(ErrorCode::invalid_argument,
                      "'unsigned_builds' is set, but "
                      "'signature_policy' does not require a signature");
  }
  return UnsignedBuilds::served;
}

cache::CacheSettings c_api::without_user_cache(cache::CacheSettings settings) {
  settings.use = cache::CacheUse::off;
  settings.why_off = "a signature is required, and nobody signs its entries";
  return settings;
}

clbin_status clbin_public_key_from_text(const char* text, uint8_t key[32], clbin_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(text, "text"));
    CLBIN_TRY(c_api::require(key, "key"));
    CLBIN_TRY_ASSIGN(const base::MinisignPublicKey read, base::parse_minisign_public_key(text));
    std::memcpy(key, read.key.bytes.data(), read.key.bytes.size());
    return {};
  });
}

clbin_status clbin_open(const char* path, const clbin_open_options* options, clbin_bundle** bundle,
                        clbin_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(bundle, "bundle"));
    *bundle = nullptr;
    CLBIN_TRY(c_api::require(path, "path"));
    CLBIN_TRY_ASSIGN(Opening opening, opening_of(options));
    CLBIN_TRY_ASSIGN(auto source, base::open_file_source(path));
    return open_source(std::move(source), std::move(opening), format::TrailingBytes::refuse,
                       bundle);
  });
}

clbin_status clbin_open_memory(const void* data, size_t size_bytes,
                               const clbin_open_options* options, clbin_bundle** bundle,
                               clbin_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(bundle, "bundle"));
    *bundle = nullptr;
    CLBIN_TRY(c_api::require(data, "data"));
    CLBIN_TRY_ASSIGN(Opening opening, opening_of(options));
    auto source =
        opening.required.has_value()
            ? copying_source(data, size_bytes)
            : base::memory_source(base::ByteView(static_cast<const std::byte*>(data), size_bytes));
    return open_source(std::move(source), std::move(opening), format::TrailingBytes::ignore,
                       bundle);
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
    CLBIN_TRY_ASSIGN(Opening opening, opening_of(options));
    const auto call = [=](std::uint64_t offset, std::span<std::byte> bytes) {
      return read(offset, bytes.data(), bytes.size(), user_data);
    };
    return open_source(base::callback_source(call, size_bytes, "callback"), std::move(opening),
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

clbin_status clbin_counter(const clbin_bundle* bundle, uint64_t* counter, clbin_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(counter, "counter"));
    *counter = 0;
    CLBIN_TRY(c_api::require(bundle, "bundle"));
    if (!bundle->reader.is_trusted()) {
      return base::fail(ErrorCode::invalid_argument,
                        "the bundle was opened without CLBIN_SIGNATURES_REQUIRED");
    }
    *counter = bundle->counter;
    return {};
  });
}
