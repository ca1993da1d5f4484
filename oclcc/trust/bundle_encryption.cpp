#include "trust/bundle_encryption.hpp"

#include "base/system/folder.hpp"
#include "base/system/process.hpp"
#include "trust/key_files.hpp"

#include <tuple>

namespace oclcc::trust {

using base::ContentKey;
using base::DecryptionKey;
using base::RecipientPublicKey;
using base::SealedKey;
using format::BundleReader;
using format::Encryption;
using format::KeyMethod;
using format::KeySlot;

namespace {

void warn_of_readers(const std::filesystem::path& path, Reporter& reporter) {
  if (const auto warning = base::warning_of_readers(path)) {
    reporter.warning(*warning);
  }
}

} // namespace

Result<BundleKeys> read_decryption_keys(const Options& options, Reporter& reporter) {
  BundleKeys keys;
  for (const std::filesystem::path& path : options.decrypt_keys) {
    CLBIN_TRY_ASSIGN(DecryptionKey key, read_decryption_key(path));
    warn_of_readers(path, reporter);
    keys.add(std::move(key));
  }
  return keys;
}

Result<EncryptionRequest> EncryptionRequest::read(const Options& options, Reporter& reporter) {
  EncryptionRequest request;
  if (!options.encryption.is_requested()) {
    return request;
  }
  base::protect_memory(); // a new key is a secret, too
  for (const std::string& text : options.encryption.recipients) {
    CLBIN_TRY_ASSIGN(const RecipientPublicKey recipient, read_recipient(text));
    if (std::ranges::find(request.m_recipients, recipient) == request.m_recipients.end()) {
      request.m_recipients.push_back(recipient);
    }
  }
  if (const auto& path = options.encryption.key) {
    CLBIN_TRY_ASSIGN(request.m_key, read_content_key(*path));
    warn_of_readers(*path, reporter);
  }
  CLBIN_TRY(request.encryption()); // reports recipients that cannot be used
  return request;
}

Result<std::optional<Encryption>> EncryptionRequest::encryption() const {
  if (m_key == nullptr && m_recipients.empty()) {
    return std::nullopt;
  }
  if (m_recipients.empty()) {
    return format::encryption_with(m_key);
  }
  if (const std::size_t slots = m_recipients.size() + (m_key == nullptr ? 0 : 1);
      slots > format::k_max_key_slots) {
    return refused("'--encrypt-for' names {} recipients, but a bundle has at most {} keys",
                   m_recipients.size(), format::k_max_key_slots);
  }
  CLBIN_TRY_ASSIGN(
      Encryption encryption,
      format::encryption_for(m_key == nullptr ? ContentKey::generate() : m_key, m_recipients));
  if (m_key != nullptr) {
    const Encryption given = format::encryption_with(m_key);
    encryption.slots.insert(encryption.slots.end(), given.slots.begin(), given.slots.end());
  }
  return encryption;
}

Result<std::optional<Encryption>> encryption_of(std::span<const BundleReader* const> inputs) {
  const BundleReader* first = nullptr;
  // No two slots of a bundle are for the same recipient, except those of methods that this version
  // does not know.
  std::map<std::tuple<KeyMethod, RecipientPublicKey, SealedKey>, KeySlot> slots;
  for (const BundleReader* const input : inputs) {
    if (!input->is_encrypted()) {
      continue;
    }
    first = first == nullptr ? input : first;
    if (input->content_key()->id() != first->content_key()->id()) {
      return fail(ErrorCode::conflict,
                  "{} and {} are encrypted with different content keys: choose that of the output "
                  "with '--encrypt-key' or '--encrypt-for'",
                  first->name(), input->name());
    }
    CLBIN_TRY_ASSIGN(const std::vector<KeySlot> of_input, input->key_slots());
    for (const KeySlot& slot : of_input) {
      // Of several slots at a place, the least counts, so that the order of `inputs` does not
      // matter.
      const bool is_known = slot.method == KeyMethod::given || slot.method == KeyMethod::sealed;
      const auto [known, is_new] = slots.emplace(
          std::tuple(slot.method, slot.recipient, is_known ? SealedKey() : slot.sealed), slot);
      if (!is_new && slot.sealed < known->second.sealed) {
        known->second = slot;
      }
    }
  }
  if (first == nullptr) {
    return std::nullopt;
  }
  Encryption encryption{first->content_key(), {}};
  for (const auto& [place, slot] : slots) {
    encryption.slots.push_back(slot);
  }
  return encryption;
}

std::optional<std::string> note_of_plain_inputs(std::span<const BundleReader* const> inputs) {
  const auto is_encrypted = [](const BundleReader* input) { return input->is_encrypted(); };
  const auto encrypted = std::ranges::find_if(inputs, is_encrypted);
  const auto plain = std::ranges::find_if_not(inputs, is_encrypted);
  if (encrypted == inputs.end() || plain == inputs.end()) {
    return std::nullopt;
  }
  return fmt::format("encrypted with the key of {0}: whoever can open {0} can also read what comes "
                     "from {1}, which is plain; '--encrypt-key' or '--encrypt-for' choose another "
                     "key",
                     (*encrypted)->name(), (*plain)->name());
}

Result<std::optional<Encryption>>
encryption_of_output(const EncryptionRequest& request,
                     std::span<const BundleReader* const> inputs) {
  CLBIN_TRY_ASSIGN(auto requested, request.encryption());
  return requested ? std::move(requested) : encryption_of(inputs);
}

} // namespace oclcc::trust
