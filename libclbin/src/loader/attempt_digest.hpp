// Digests that identify attempts in the quarantine. They cover what the driver receives, after it
// was checked, and never what a bundle declares. No bundle can therefore quarantine the binary of
// another.
#pragma once

#include "loader/entry_attempts.hpp"

namespace clbin::loader {

// Returns a digest of the frame of a payload and the frame of its reference, by their checked
// digests, and of the parameters of their decompression. Excludes the raw digest, which the load
// path does not check. Fails with the errors of BundleReader::blob.
[[nodiscard]] base::Result<base::Digest> payload_digest(const format::BundleReader& bundle,
                                                        std::uint32_t blob);

// Returns a digest of the payload and of everything that the bundle and the caller add to it:
// language, options, kernels and specialisation constants.
[[nodiscard]] base::Digest attempt_digest(const LoadSession& session, const BinaryToTry& binary);

// The two digests that identify an attempt on several devices together.
struct DigestPair {
  base::Digest attempt;
  base::Digest devices; // of the identities of the devices
};

// Returns digests of the binaries that were accepted one by one, in the order of the devices, and
// of the options and kernels of the program that is created from them.
[[nodiscard]] DigestPair together_digest(const LoadSession& session,
                                         const std::vector<ProvedEntry>& entries,
                                         const std::string& options,
                                         const std::vector<std::string>& kernels);

} // namespace clbin::loader
