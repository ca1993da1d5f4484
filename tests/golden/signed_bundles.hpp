// The bundles of tests/golden/signed_v1, and their keys.
#pragma once

#include "base/crypto/ed25519.hpp"

#include <string>
#include <utility>
#include <vector>

namespace clbin::test {

inline constexpr const char* k_signed_program = "saxpy";
inline constexpr const char* k_signed_source = "kernel void saxpy(global float* values) {}\n";
inline constexpr const char* k_signed_options = "-DV=1";
// The payloads of the entries of signed.clbin and other.clbin for the device "d" of
// unknown_identity.
inline constexpr const char* k_signed_payload = "a binary that only 'd' understands";
inline constexpr const char* k_other_payload = "a binary that 'd' understands, too";
inline constexpr std::uint64_t k_signed_counter = 7;
inline constexpr std::uint64_t k_other_counter = 6;

// The keys of RFC 8032, section 7.1: test 1 signs both bundles and their counters, and test 2, the
// old key, vouches for it.
[[nodiscard]] base::SecretKey signing_key();
[[nodiscard]] base::SecretKey old_key();

// Returns the unsigned contents of a bundle with one entry and source.
[[nodiscard]] base::Bytes bundle_to_sign(const std::string& payload);
// Returns `bundle` with a signature, a counter and a vouch.
[[nodiscard]] base::Bytes signed_with_counter(const base::Bytes& bundle, std::uint64_t counter);
// Returns names and contents: signed.clbin and other.clbin.
[[nodiscard]] std::vector<std::pair<std::string, base::Bytes>> signed_bundles();

} // namespace clbin::test
