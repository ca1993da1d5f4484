// The keys that encrypt and decrypt bundles, and how the output of a run is encrypted.
#pragma once

#include "command_line/bundle_file.hpp"

namespace oclcc::trust {

// Reads the keys of --decrypt-key. Prints a warning for each file that others can open. Errors:
// those of read_decryption_key.
[[nodiscard]] Result<BundleKeys> read_decryption_keys(const Options& options, Reporter& reporter);

// What --encrypt-key and --encrypt-for request. Copies share the key.
class EncryptionRequest {
public:
  // Reads the keys, and prints a warning if others can open that of --encrypt-key. Errors: those of
  // read_content_key and read_recipient; invalid_argument, if there are too many recipients, or one
  // is no public key.
  [[nodiscard]] static Result<EncryptionRequest> read(const Options& options, Reporter& reporter);

  // Returns how to encrypt one bundle; std::nullopt if neither option is given. The content key is
  // that of --encrypt-key, otherwise a new one for each call. Errors: invalid_argument, as above.
  [[nodiscard]] Result<std::optional<format::Encryption>> encryption() const;

private:
  std::shared_ptr<const base::ContentKey> m_key; // null: a new one
  std::vector<base::RecipientPublicKey> m_recipients;
};

// Returns how to encrypt an output that is made of `inputs`, whose contents can be read: with the
// content key of those that are encrypted, for the recipients of all; std::nullopt if none is
// encrypted. conflict: two of them have different content keys.
[[nodiscard]] Result<std::optional<format::Encryption>>
encryption_of(std::span<const format::BundleReader* const> inputs);

// Returns what is requested, otherwise encryption_of(inputs).
[[nodiscard]] Result<std::optional<format::Encryption>>
encryption_of_output(const EncryptionRequest& request,
                     std::span<const format::BundleReader* const> inputs);

// Returns a note on an output that encryption_of(inputs) encrypts, if some of `inputs` are plain:
// who can open the encrypted ones can then read what comes from the plain ones. std::nullopt if all
// are plain, or all are encrypted.
[[nodiscard]] std::optional<std::string>
note_of_plain_inputs(std::span<const format::BundleReader* const> inputs);

// Returns the address for functions of the format; null if there is no encryption.
[[nodiscard]] inline const format::Encryption*
pointer_to(const std::optional<format::Encryption>& encryption) noexcept {
  return encryption ? &*encryption : nullptr;
}

} // namespace oclcc::trust
