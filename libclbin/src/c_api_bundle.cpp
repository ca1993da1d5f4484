#include "c_api.hpp"

#include "base/crypto/key_text.hpp"

using namespace clbin;
using base::ErrorCode;
using base::Result;

namespace {

using Opened = Result<std::unique_ptr<clbin_bundle>>;

constexpr std::size_t k_max_public_keys = 1024;

// What a caller asks of a bundle that it opens.
struct Opening {
  format::ReadLimits limits;
  std::optional<format::SignaturePolicy> required;
  loader::UnsignedSource unsigned_builds = loader::UnsignedSource::built;
  clbin_key_function key = nullptr;
  void* key_user_data = nullptr;
  loader::DecryptedBuilds decrypted_builds = loader::DecryptedBuilds::refused;
  cache::CacheSettings cache = cache::CacheSettings::from_environment(cache::this_process());
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

// invalid_argument if a member is set that requires a policy.
Result<void> check_unset(bool is_set, std::string_view member) {
  if (is_set) {
    return base::fail(ErrorCode::invalid_argument,
                      "'{}' is set, but 'signature_policy' does not require a signature", member);
  }
  return {};
}

// `unsigned_builds` is of the same options.
Result<loader::DecryptedBuilds> decrypted_builds_of(const clbin_open_options& given,
                                                    loader::UnsignedSource unsigned_builds) {
  CLBIN_TRY(c_api::check_switch(given.decrypted_builds, "decrypted_builds"));
  if (given.decrypted_builds != CLBIN_SWITCH_DEFAULT && given.key == nullptr) {
    return base::fail(ErrorCode::invalid_argument, "'decrypted_builds' is set, but 'key' is NULL");
  }
  if (given.decrypted_builds != CLBIN_SWITCH_ON) {
    return loader::DecryptedBuilds::refused;
  }
  if (unsigned_builds == loader::UnsignedSource::refused) {
    return base::fail(ErrorCode::invalid_argument,
                      "'decrypted_builds' is on, but 'unsigned_builds' is not, and "
                      "'signature_policy' requires a signature");
  }
  return loader::DecryptedBuilds::kept;
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
    CLBIN_TRY(
        check_unset(given.public_keys != nullptr || given.public_key_count != 0, "public_keys"));
    CLBIN_TRY(check_unset(given.least_counter != 0, "least_counter"));
  }
  opening.key = given.key;
  opening.key_user_data = given.key_user_data;
  CLBIN_TRY_ASSIGN(opening.decrypted_builds, decrypted_builds_of(given, opening.unsigned_builds));
  if (given.cache_dir != nullptr) {
    CLBIN_TRY(c_api::set_folder(opening.cache, given.cache_dir));
  }
  return opening;
}

std::vector<std::uint8_t> recipients_of(const std::vector<format::KeySlot>& slots) {
  std::vector<std::uint8_t> keys;
  for (const format::KeySlot& slot : slots) {
    if (slot.method == format::KeyMethod::sealed) {
      for (const std::byte byte : slot.recipient.bytes) {
        keys.push_back(std::to_integer<std::uint8_t>(byte));
      }
    }
  }
  return keys;
}

using SharedContentKey = std::shared_ptr<const base::ContentKey>;

Result<SharedContentKey> content_key_of(const clbin_key& given,
                                        const std::vector<format::KeySlot>& slots) {
  const base::ByteView bytes = std::as_bytes(std::span(given.bytes));
  switch (const int kind = c_api::number_of(given.kind); kind) {
  case CLBIN_KEY_CONTENT:
    return base::ContentKey::from_bytes(bytes);
  case CLBIN_KEY_RECIPIENT: {
    CLBIN_TRY_ASSIGN(const auto secret, base::RecipientSecretKey::from_bytes(bytes));
    return format::content_key_from(slots, secret);
  }
  default:
    return base::fail(ErrorCode::invalid_argument, "the key function stored a key of kind {}",
                      kind);
  }
}

// Asks for the key if the bundle is encrypted and there is a function, and unlocks the bundle.
// encrypted: the function returned none. wrong_key. invalid_argument: the kind of the key is
// unknown. Errors of the reader.
Result<void> unlock(format::BundleReader& reader, clbin_key_function function, void* user_data) {
  if (function == nullptr || !reader.is_encrypted()) {
    return {};
  }
  CLBIN_TRY_ASSIGN(const auto slots, reader.key_slots());
  const std::vector<std::uint8_t> recipients = recipients_of(slots);
  const base::ContentKeyId& id = slots.front().key_id; // the same in all slots
  clbin_key_request request{};
  request.struct_size = sizeof(request);
  request.key_id = reinterpret_cast<const std::uint8_t*>(id.bytes.data());
  request.recipients = recipients.empty() ? nullptr : recipients.data();
  request.recipient_count = recipients.size() / slots.front().recipient.bytes.size();
  base::SecretBytes memory(sizeof(clbin_key)); // overwritten, and not swapped if possible
  auto* const key = new (memory.writable().data()) clbin_key{};
  key->struct_size = sizeof(clbin_key);
  if (const int number = function(&request, key, user_data); number != 0) {
    return base::fail(ErrorCode::encrypted,
                      "the bundle is encrypted, and the key function returned {}", number);
  }
  CLBIN_TRY_ASSIGN(auto content_key, content_key_of(*key, slots));
  return reader.unlock(std::move(content_key));
}

// Copies what is read, so that memory that changes cannot change bytes that are already checked.
std::shared_ptr<const base::ByteSource> copying_source(const void* data, std::size_t size_bytes) {
  const auto copy = [data](std::uint64_t offset, std::span<std::byte> bytes) {
    std::memcpy(bytes.data(), static_cast<const std::byte*>(data) + offset, bytes.size());
    return 0;
  };
  return base::callback_source(copy, size_bytes, "memory");
}

// Returns the settings of the user cache for loads.
cache::CacheSettings user_cache_of(const format::BundleReader& reader, const Opening& opening) {
  if (opening.unsigned_builds == loader::UnsignedSource::refused) {
    return c_api::without_user_cache(opening.cache, c_api::k_unsigned_entries);
  }
  if (reader.is_encrypted() && opening.decrypted_builds == loader::DecryptedBuilds::refused) {
    return c_api::without_user_cache(opening.cache,
                                     "the bundle is encrypted, and its entries would not be");
  }
  return opening.cache;
}

Opened open_source(std::shared_ptr<const base::ByteSource> source, const Opening& opening,
                   format::TrailingBytes trailing) {
  CLBIN_TRY_ASSIGN(
      format::BundleReader reader,
      format::BundleReader::open(std::move(source), opening.limits, trailing, opening.required));
  CLBIN_TRY(unlock(reader, opening.key, opening.key_user_data));
  auto of_user_cache = user_cache_of(reader, opening);
  return std::make_unique<clbin_bundle>(std::move(reader), of_user_cache, opening.cache,
                                        opening.decrypted_builds);
}

// `path` is that of the file, for messages.
Opened open_at(const std::filesystem::path& path, const Opening& opening) {
  CLBIN_TRY_ASSIGN(auto source, base::open_file_source(path));
  auto bundle = open_source(std::move(source), opening, format::TrailingBytes::refuse);
  if (!bundle && bundle.error().message.find(base::in_quotes(path)) == std::string::npos) {
    return base::add_context(std::move(bundle.error()), base::in_quotes(path));
  }
  return bundle;
}

// A base, whose packs are opened from the same folder and with the same options. The content key of
// the base opens them, too: the function of the caller is not called after this.
Opened open_with_packs(const std::filesystem::path& folder, Opening opening) {
  CLBIN_TRY_ASSIGN(auto bundle, open_at(format::pack_path(folder, format::k_base_name), opening));
  CLBIN_TRY_ASSIGN(auto records, bundle->reader.packs());
  opening.key = nullptr;
  const auto open_pack = [folder, opening = std::move(opening), key = bundle->reader.content_key()](
                             const std::string& name) -> Result<format::BundleReader> {
    CLBIN_TRY_ASSIGN(auto pack, open_at(format::pack_path(folder, name), opening));
    if (key != nullptr && pack->reader.is_encrypted()) {
      CLBIN_TRY(pack->reader.unlock(key));
    }
    return std::move(pack->reader);
  };
  bundle->packs = std::make_unique<const loader::PackSet>(std::move(records), open_pack);
  return bundle;
}

} // namespace

Result<loader::UnsignedSource> c_api::unsigned_builds_of(const clbin_signature_policy& policy,
                                                         const clbin_switch& unsigned_builds) {
  CLBIN_TRY(check_enumerator(policy, CLBIN_SIGNATURES_REQUIRED, "signature_policy"));
  CLBIN_TRY(check_switch(unsigned_builds, "unsigned_builds"));
  if (policy == CLBIN_SIGNATURES_REQUIRED) {
    return unsigned_builds == CLBIN_SWITCH_ON ? loader::UnsignedSource::built
                                              : loader::UnsignedSource::refused;
  }
  CLBIN_TRY(check_unset(unsigned_builds != CLBIN_SWITCH_DEFAULT, "unsigned_builds"));
  return loader::UnsignedSource::built;
}

Opened c_api::open_file(const char* path, const clbin_open_options* options) {
  CLBIN_TRY_ASSIGN(const Opening opening, opening_of(options));
  return open_at(base::to_path(path), opening);
}

Result<void> c_api::check_open_options(const clbin_open_options* options) {
  CLBIN_TRY(opening_of(options));
  return {};
}

Result<void> c_api::set_folder(cache::CacheSettings& settings, const char* cache_dir) {
  settings.folder = base::to_path(cache_dir);
  if (!settings.folder.is_absolute()) {
    return base::fail(ErrorCode::invalid_argument, "'cache_dir' is '{}', not an absolute path",
                      cache_dir);
  }
  settings.warning.clear(); // there is no home directory
  settings.use = cache::CacheUse::on;
  return {};
}

cache::CacheSettings c_api::without_user_cache(cache::CacheSettings settings, std::string reason) {
  settings.use = cache::CacheUse::off;
  settings.why_off = std::move(reason);
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

clbin_status clbin_key_from_text(const char* text, clbin_key* key, clbin_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(text, "text"));
    CLBIN_TRY(c_api::require(key, "key"));
    std::size_t size = 0;
    std::memcpy(&size, key, sizeof(size));
    if (size < sizeof(clbin_key) || size > c_api::k_max_struct_bytes) {
      return base::fail(ErrorCode::invalid_argument,
                        "struct_size of clbin_key is {}; set it to sizeof(clbin_key)", size);
    }
    CLBIN_TRY_ASSIGN(const base::DecryptionKey read, base::parse_decryption_key(text));
    const auto* const content = std::get_if<SharedContentKey>(&read);
    key->kind = content == nullptr ? CLBIN_KEY_RECIPIENT : CLBIN_KEY_CONTENT;
    const base::ByteView bytes =
        content == nullptr ? std::get<base::RecipientSecretKey>(read).bytes() : (*content)->bytes();
    std::memcpy(key->bytes, bytes.data(), sizeof(key->bytes));
    return {};
  });
}

clbin_status clbin_open(const char* path, const clbin_open_options* options, clbin_bundle** bundle,
                        clbin_error** error) {
  return c_api::guarded_make(error, bundle, "bundle", [&]() -> Opened {
    CLBIN_TRY(c_api::require(path, "path"));
    return c_api::open_file(path, options);
  });
}

clbin_status clbin_open_set(const char* folder, const clbin_open_options* options,
                            clbin_bundle** bundle, clbin_error** error) {
  return c_api::guarded_make(error, bundle, "bundle", [&]() -> Opened {
    CLBIN_TRY(c_api::require(folder, "folder"));
    CLBIN_TRY_ASSIGN(Opening opening, opening_of(options));
    std::error_code error_code; // of a working directory that was removed
    const auto path = std::filesystem::absolute(base::to_path(folder), error_code);
    return open_with_packs(error_code ? base::to_path(folder) : path, std::move(opening));
  });
}

clbin_status clbin_open_memory(const void* data, size_t size_bytes,
                               const clbin_open_options* options, clbin_bundle** bundle,
                               clbin_error** error) {
  return c_api::guarded_make(error, bundle, "bundle", [&]() -> Opened {
    CLBIN_TRY(c_api::require(data, "data"));
    CLBIN_TRY_ASSIGN(const Opening opening, opening_of(options));
    auto source =
        opening.required.has_value()
            ? copying_source(data, size_bytes)
            : base::memory_source(base::ByteView(static_cast<const std::byte*>(data), size_bytes));
    return open_source(std::move(source), opening, format::TrailingBytes::ignore);
  });
}

clbin_status clbin_open_callback(clbin_read_function read, void* user_data, uint64_t size_bytes,
                                 const clbin_open_options* options, clbin_bundle** bundle,
                                 clbin_error** error) {
  return c_api::guarded_make(error, bundle, "bundle", [&]() -> Opened {
    CLBIN_TRY(c_api::require(reinterpret_cast<const void*>(read), "read"));
    CLBIN_TRY_ASSIGN(const Opening opening, opening_of(options));
    const auto call = [=](std::uint64_t offset, std::span<std::byte> bytes) {
      return read(offset, bytes.data(), bytes.size(), user_data);
    };
    return open_source(base::callback_source(call, size_bytes, "callback"), opening,
                       format::TrailingBytes::refuse);
  });
}

void clbin_close(clbin_bundle* bundle) {
  delete bundle;
}

int clbin_is_current(const clbin_bundle* bundle) {
  return bundle != nullptr && bundle->reader.is_current() &&
                 (bundle->packs == nullptr || bundle->packs->is_current())
             ? 1
             : 0;
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
    *counter = bundle->reader.counter();
    return {};
  });
}
