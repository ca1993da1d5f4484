// The files of the keys that encrypt and decrypt bundles: text like minisign's. oclcc-signing(7),
// "Files of keys", specifies them.
#pragma once

#include "base/crypto/recipient.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace clbin::base {

// The parsers accept the two lines of a file, or its second line alone. A line ends with "\n" or
// "\r\n". That of a public key rejects lines that editors can show as several (check_line).
// `text` can be untrusted; the caller overwrites it if it is secret. Errors: invalid_argument. A
// file of another kind gets a message that says what it is and what is wanted. No message contains
// the text.
[[nodiscard]] Result<std::shared_ptr<const ContentKey>> parse_content_key(std::string_view text);
[[nodiscard]] Result<RecipientSecretKey> parse_recipient_secret_key(std::string_view text);
[[nodiscard]] Result<RecipientPublicKey> parse_recipient_public_key(std::string_view text);

// What opens an encrypted bundle.
using DecryptionKey = std::variant<std::shared_ptr<const ContentKey>, RecipientSecretKey>;
// Accepts a content key or the secret key of a recipient.
[[nodiscard]] Result<DecryptionKey> parse_decryption_key(std::string_view text);

// Return the contents of a file.
[[nodiscard]] SecretBytes content_key_file(const ContentKey& key);
[[nodiscard]] SecretBytes recipient_secret_key_file(const RecipientSecretKey& key);
[[nodiscard]] std::string recipient_public_key_file(const RecipientPublicKey& key);
// Returns the second line of the file of a public key, without line end.
[[nodiscard]] std::string to_base64(const RecipientPublicKey& key);

// Return 16 upper-case hexadecimal digits, as in the comments of the files: the first 8 bytes.
[[nodiscard]] std::string to_text(const ContentKeyId& id);
[[nodiscard]] std::string to_text(const RecipientPublicKey& key);

} // namespace clbin::base
