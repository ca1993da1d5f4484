// A small bundle that needs no driver: program "saxpy", variants "default" and "fast", source, an
// entry for the device "d" of test::unknown_identity, and PTX for sm_70.
#pragma once

#include "base/byte_codec.hpp"

namespace clbin::test {

// The raw bytes of the entry for "d".
inline constexpr const char* k_sample_payload = "a binary that only 'd' understands";

// If it cannot be written, returns no bytes and records a failed expectation.
[[nodiscard]] base::Bytes sample_bundle();

} // namespace clbin::test
