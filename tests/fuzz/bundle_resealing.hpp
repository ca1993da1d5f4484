// Makes the digests of a changed bundle valid again, so a fuzzer gets past them.
#pragma once

#include "base/byte_codec.hpp"

namespace clbin::fuzz {

// Recomputes everything that does not require parsing a record: stored digests, page digests and
// first keys, and the root. Ignores ranges outside `bundle`. Returns a valid bundle unchanged.
[[nodiscard]] base::Bytes reseal(base::Bytes bundle);

} // namespace clbin::fuzz
