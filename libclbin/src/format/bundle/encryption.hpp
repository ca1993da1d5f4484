// Who can open an encrypted bundle. clbin(5), "Encryption", specifies the section KEYS.
#pragma once

#include "base/crypto/content_key.hpp"
#include "format/bundle/bundle_layout.hpp"

namespace clbin::format {

// How a reader gets the content key. Slots contain other numbers unchanged.
enum class KeyMethod : std::uint32_t {
  given = 1,  // by means that the bundle does not describe
  sealed = 2, // with the secret key of a recipient
};

// A record of KEYS.
struct KeySlot {
  static constexpr SectionKind k_section = SectionKind::keys;
  KeyMethod method = KeyMethod::given;
  std::uint32_t reserved = 0;
  base::ContentKeyId key_id;
  base::RecipientPublicKey recipient; // zeros unless the method is `sealed`
  base::SealedKey sealed{};           // likewise
  friend bool operator==(const KeySlot&, const KeySlot&) = default;
};
CLBIN_VISIT(KeySlot, method, reserved, key_id, recipient, sealed);
[[nodiscard]] Result<void> check_record(const KeySlot& slot, std::string_view origin);

// How a bundle is encrypted when it is written: with which key, and who can open it.
struct Encryption {
  std::shared_ptr<const base::ContentKey> key; // not null
  std::vector<KeySlot> slots;                  // in any order
};

// One slot: whoever has the key opens the bundle. Equal bundles have equal bytes.
[[nodiscard]] Encryption encryption_with(std::shared_ptr<const base::ContentKey> key);
// A slot for each recipient; duplicates are ignored. Two calls make different slots. Errors:
// invalid_argument, unless there are 1 to 1024 recipients, each of them a public key.
[[nodiscard]] Result<Encryption>
encryption_for(std::shared_ptr<const base::ContentKey> key,
               std::span<const base::RecipientPublicKey> recipients);

// Returns the key that the slot for this recipient contains. Errors: wrong_key, if there is none
// or it was changed; the message names the methods that this version does not know.
[[nodiscard]] Result<std::shared_ptr<const base::ContentKey>>
content_key_from(std::span<const KeySlot> slots, const base::RecipientSecretKey& recipient);

// What the encryption of a blob is bound to, and what merge and strip do not change: digests as
// BLOB contains them, and the size of the raw bytes.
using BlobBinding = std::array<std::byte, 72>;
[[nodiscard]] BlobBinding binding_of(const Digest& raw_digest, std::uint64_t raw_bytes,
                                     const std::optional<Digest>& reference);
// Returns how the plaintext of an encrypted blob is coded, and otherwise its codec.
[[nodiscard]] BlobCodec content_codec(const BlobView& blob) noexcept;

// Checks the number and order of slots, that they have one content key, and no two slots for one
// recipient. Errors: damaged.
[[nodiscard]] Result<void> check_key_slots(std::span<const KeySlot> slots);
// Returns the slots in the order of KEYS. Errors: invalid_argument, if they break a rule of KEYS or
// are not those of the key.
[[nodiscard]] Result<std::vector<KeySlot>> sorted_slots(const Encryption& encryption);

} // namespace clbin::format
