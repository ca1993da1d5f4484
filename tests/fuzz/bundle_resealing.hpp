// Makes a changed bundle pass for a whole one, so that a fuzzer gets past the digests.
#pragma once

#include "base/byte_codec.hpp"

namespace clbin::fuzz {

// Recomputes what can be without understanding a record: stored digests, page digests and first
// keys, the root. What does not lie inside `bundle` is left as it is. A whole bundle comes back
// unchanged.
[[nodiscard]] base::Bytes reseal(base::Bytes bundle);

} // namespace clbin::fuzz
