// The bundles of tests/golden/encrypted_v1, and their keys.
#pragma once

#include "base/crypto/content_key.hpp"
#include "format/bundle/encryption.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace clbin::test {

// The bytes 0, 1, … 31.
[[nodiscard]] std::shared_ptr<const base::ContentKey> golden_content_key();
// The keys of Alice and Bob in RFC 7748, section 6.1.
[[nodiscard]] base::RecipientSecretKey alice();
[[nodiscard]] base::RecipientSecretKey bob();

// Returns names and contents. recipients.clbin differs each time: its slots are sealed anew.
//   content.clbin     opened by the content key alone
//   recipients.clbin  the same contents, opened by the content key, Alice, and Bob
//   small.clbin       one entry and source, opened by the content key
[[nodiscard]] std::vector<std::pair<std::string, base::Bytes>> encrypted_bundles();

} // namespace clbin::test
