// Decides whether the signatures of a bundle are those that a verifier requires. clbin(5),
// "Verifying signatures", specifies the rules.
#pragma once

#include "format/bundle/trailing_records.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace clbin::format {

// What a verifier trusts, whatever the bundle contains.
struct SignaturePolicy {
  std::vector<base::PublicKey> keys;
  std::uint64_t least_counter = 0; // 0: a bundle needs no counter
};

// Checks the records of a bundle with this root; ignores those of kinds that contain no signature.
// Verifies the signatures of trusted keys alone, each once. Returns the highest counter by a
// trusted key, or 0 if there is none. Errors: not_signed, untrusted_key, bad_signature,
// old_counter.
[[nodiscard]] base::Result<std::uint64_t>
check_signatures(const base::Digest& root, const std::vector<TrailingRecord>& records,
                 const SignaturePolicy& policy);

// Checks that every signature, counter and vouch holds, whoever made it. Error: bad_signature.
[[nodiscard]] base::Result<void> check_every_signature(const base::Digest& root,
                                                       const std::vector<TrailingRecord>& records);

} // namespace clbin::format
