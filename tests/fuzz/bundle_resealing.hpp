// Makes the digests and tags of a changed bundle valid again, so a fuzzer gets past them.
#pragma once

#include "base/byte_codec.hpp"
#include "base/crypto/content_key.hpp"

namespace clbin::fuzz {

// Recomputes everything that does not require parsing a record: stored digests, page digests and
// first keys, and the root. Ignores ranges outside `bundle`. Returns a valid bundle unchanged.
[[nodiscard]] base::Bytes reseal(base::Bytes bundle);

// The stored bytes of a blob of codec 2 are 24 bytes, a plaintext and 16 bytes. Encrypts the
// plaintexts of `bundle`, where fuzzers can change them, in place. Call reseal() afterwards.
[[nodiscard]] base::Bytes seal_blobs(base::Bytes bundle, const base::ContentKey& key);
// Returns an encrypted bundle with plaintexts in the place of ciphertexts, as a seed.
[[nodiscard]] base::Bytes open_blobs(base::Bytes bundle, const base::ContentKey& key);

} // namespace clbin::fuzz
