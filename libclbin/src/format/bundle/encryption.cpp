#include "format/bundle/encryption.hpp"

#include <set>

namespace clbin::format {

using base::ContentKey;
using base::RecipientPublicKey;
using base::RecipientSecretKey;
using base::SealedKey;

namespace {

Bytes encode_slot(const KeySlot& slot) {
  ByteWriter writer;
  write_record(writer, slot);
  return std::move(writer).take();
}

} // namespace

BlobBinding binding_of(const Digest& raw_digest, std::uint64_t raw_bytes,
                       const std::optional<Digest>& reference) {
  ByteWriter writer;
  writer.write_bytes(raw_digest.bytes);
  writer.write_u64(raw_bytes);
  writer.write_bytes(reference.value_or(Digest()).bytes);
  BlobBinding binding{};
  std::copy(writer.view().begin(), writer.view().end(), binding.begin());
  return binding;
}

BlobCodec content_codec(const BlobView& blob) noexcept {
  const auto codec = static_cast<BlobCodec>(blob.codec);
  if (codec != BlobCodec::zstd_encrypted) {
    return codec;
  }
  return blob.stored_bytes - base::k_encryption_bytes == blob.raw_bytes ? BlobCodec::stored
                                                                        : BlobCodec::zstd;
}

Result<void> check_record(const KeySlot& slot, std::string_view origin) {
  if (slot.reserved != 0) {
    return damaged(origin, "the field after method is not zero");
  }
  if (slot.method == KeyMethod::given &&
      (slot.recipient != RecipientPublicKey() || slot.sealed != SealedKey())) {
    return damaged(origin, "recipient and sealed of method 1 are not zero");
  }
  return {};
}

Result<void> check_key_slots(std::span<const KeySlot> slots) {
  if (slots.empty() || slots.size() > k_max_key_slots) {
    return fail(ErrorCode::damaged, "KEYS: count is {}, expected 1 to {}", slots.size(),
                k_max_key_slots);
  }
  std::set<RecipientPublicKey> recipients;
  Bytes last;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const KeySlot& slot = slots[i];
    if (slot.key_id != slots[0].key_id) {
      return fail(ErrorCode::damaged, "key slot {}: its key_id is not that of key slot 0", i);
    }
    Bytes bytes = encode_slot(slot);
    if (i > 0 && bytes <= last) {
      return fail(ErrorCode::damaged, "key slot {}: it is out of order", i);
    }
    last = std::move(bytes);
    if (slot.method == KeyMethod::sealed && !recipients.insert(slot.recipient).second) {
      return fail(ErrorCode::damaged, "key slot {}: a slot before it has the same recipient", i);
    }
  }
  return {};
}

Result<std::vector<KeySlot>> sorted_slots(const Encryption& encryption) {
  std::vector<KeySlot> slots = encryption.slots;
  std::ranges::sort(slots, {}, encode_slot);
  if (auto checked = check_key_slots(slots); !checked) {
    return fail(ErrorCode::invalid_argument, "{}", checked.error().message);
  }
  if (slots[0].key_id != encryption.key->id()) {
    return fail(ErrorCode::invalid_argument, "the key slots are not those of content key {}",
                to_hex(encryption.key->id()));
  }
  return slots;
}

Encryption encryption_with(std::shared_ptr<const ContentKey> key) {
  KeySlot slot;
  slot.key_id = key->id();
  return {std::move(key), {slot}};
}

Result<Encryption> encryption_for(std::shared_ptr<const ContentKey> key,
                                  std::span<const RecipientPublicKey> recipients) {
  const std::set<RecipientPublicKey> distinct(recipients.begin(), recipients.end());
  if (distinct.empty() || distinct.size() > k_max_key_slots) {
    return fail(ErrorCode::invalid_argument, "a bundle has 1 to {} recipients, not {}",
                k_max_key_slots, distinct.size());
  }
  Encryption encryption{std::move(key), {}};
  for (const RecipientPublicKey& recipient : distinct) {
    KeySlot slot;
    slot.method = KeyMethod::sealed;
    slot.key_id = encryption.key->id();
    slot.recipient = recipient;
    CLBIN_TRY_ASSIGN(slot.sealed, base::seal(*encryption.key, recipient));
    encryption.slots.push_back(slot);
  }
  return encryption;
}

Result<std::shared_ptr<const ContentKey>> content_key_from(std::span<const KeySlot> slots,
                                                           const RecipientSecretKey& recipient) {
  std::string unknown;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const KeySlot& slot = slots[i];
    const auto method = static_cast<std::uint32_t>(slot.method);
    if (slot.method == KeyMethod::sealed && slot.recipient == recipient.public_key()) {
      auto key = recipient.open_sealed(slot.sealed);
      if (!key || (*key)->id() != slot.key_id) {
        return fail(ErrorCode::wrong_key,
                    "key slot {} for recipient {} does not contain the content key: it was changed",
                    i, to_hex(slot.recipient));
      }
      return key;
    }
    if (slot.method != KeyMethod::given && slot.method != KeyMethod::sealed) {
      unknown = fmt::format(" (method {} of key slot {} is not known to this version)", method, i);
    }
  }
  return fail(ErrorCode::wrong_key, "the content key is not sealed for recipient {}{}",
              to_hex(recipient.public_key()), unknown);
}

} // namespace clbin::format
