#include "c_api.hpp"

#include "base/crypto/key_text.hpp"

using namespace clbin;
using base::ErrorCode;
using base::Result;

namespace {

// A clbin_key in memory that is overwritten, and not swapped if the system allows that.
class SecretKeyStruct {
public:
  SecretKeyStruct()
      : m_memory(sizeof(clbin_key)), m_key(new (m_memory.writable().data()) clbin_key{}) {
    m_key->struct_size = sizeof(clbin_key);
  }
  [[nodiscard]] clbin_key* get() noexcept { return m_key; }
  [[nodiscard]] base::ByteView bytes() const noexcept {
    return std::as_bytes(std::span(m_key->bytes));
  }
  [[nodiscard]] int kind() const noexcept { return c_api::number_of(m_key->kind); }

private:
  base::SecretBytes m_memory;
  clbin_key* m_key;
};

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

Result<SharedContentKey> opened_by(base::ByteView recipient_key,
                                   const std::vector<format::KeySlot>& slots) {
  CLBIN_TRY_ASSIGN(const auto secret, base::RecipientSecretKey::from_bytes(recipient_key));
  return format::content_key_from(slots, secret);
}

Result<SharedContentKey> content_key_of(const SecretKeyStruct& given,
                                        const std::vector<format::KeySlot>& slots) {
  switch (given.kind()) {
  case CLBIN_KEY_CONTENT:
    return base::ContentKey::from_bytes(given.bytes());
  case CLBIN_KEY_RECIPIENT:
    return opened_by(given.bytes(), slots);
  default:
    return base::fail(ErrorCode::invalid_argument, "the key function stored a key of kind {}",
                      given.kind());
  }
}

} // namespace

Result<void> c_api::unlock(format::BundleReader& reader, const KeySource& source) {
  if (source.function == nullptr || !reader.is_encrypted()) {
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
  SecretKeyStruct key;
  if (const int number = source.function(&request, key.get(), source.user_data); number != 0) {
    return base::fail(ErrorCode::encrypted,
                      "the bundle is encrypted, and the key function returned {}", number);
  }
  CLBIN_TRY_ASSIGN(auto content_key, content_key_of(key, slots));
  return reader.unlock(std::move(content_key));
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
