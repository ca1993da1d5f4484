// The names under which quarantine remembers attempts. They cover what the driver gets, as it was
// checked, never what a bundle declares: no bundle can put another one's binary into quarantine.
#pragma once

#include "loader/load_session.hpp"

namespace clbin::loader {

// Covers the frame of a payload and the frame of its reference by their checked digests, and how
// they are decompressed. Not the raw digest, which the load path does not check. The errors of
// BundleReader::blob.
[[nodiscard]] base::Result<base::Digest> payload_digest(const format::BundleReader& bundle,
                                                        std::uint32_t blob);

// Covers the payload and everything that the bundle and the caller add to it: language, options,
// kernels and specialisation constants.
[[nodiscard]] base::Digest attempt_digest(const LoadSession& session, const BinaryToTry& binary);

// The two digests that name an attempt on several devices together.
struct DigestPair {
  base::Digest attempt;
  base::Digest devices; // of their identities
};

// Covers the attempts that were proved one by one, in the order of the devices, and the options and
// kernels of the program that is created of them.
[[nodiscard]] DigestPair together_digest(const LoadSession& session,
                                         const std::vector<ProvedEntry>& entries,
                                         const std::string& options,
                                         const std::vector<std::string>& kernels);

} // namespace clbin::loader
