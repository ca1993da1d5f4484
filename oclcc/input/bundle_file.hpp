// Opens bundles of the command line. Every error names the file.
#pragma once

#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/signature_policy.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace oclcc {

// Reads a whole file, or standard input for "-", and verifies the bundle in it. Errors as for
// open_bundle and BundleReader::verify.
[[nodiscard]] clbin::base::Result<clbin::base::Bytes>
read_valid_bundle(const std::filesystem::path& path);

// Of a bundle that is read into memory as a whole.
inline constexpr std::uint64_t k_max_whole_bundle_bytes = 4ULL << 30U;

// Returns the path as given, or "<stdin>" for "-".
[[nodiscard]] std::string bundle_name(const std::filesystem::path& path);

// Returns at most `max_bytes` from the beginning of a regular file; std::nullopt if it is not a
// regular file or cannot be read.
[[nodiscard]] std::optional<clbin::base::ByteRegion>
start_of_file(const std::filesystem::path& path, std::uint64_t max_bytes);

// Whether `path` is a regular file that starts with a bundle's magic. Returns false for an
// unreadable file; opening it reports the error.
[[nodiscard]] bool is_bundle(const std::filesystem::path& path);

// Opens a file, or standard input for "-". Reads standard input and pipes into memory, at most 4
// GiB. file_not_found, file_read, limit_exceeded.
[[nodiscard]] clbin::base::Result<std::shared_ptr<const clbin::base::ByteSource>>
open_bundle_source(const std::filesystem::path& path);

// Errors as for the previous function and BundleReader::open.
[[nodiscard]] clbin::base::Result<clbin::format::BundleReader>
open_bundle(const std::filesystem::path& path);
// Requires the signatures of `policy`.
[[nodiscard]] clbin::base::Result<clbin::format::BundleReader>
open_bundle(const std::filesystem::path& path, const clbin::format::SignaturePolicy& policy);

// The note on an output whose inputs were signed.
inline constexpr std::string_view k_signatures_removed =
    "the signatures of the input were removed, because the contents changed: sign it again";
// The note if the output is signed, but not by all who signed the inputs.
inline constexpr std::string_view k_other_signatures_removed =
    "other signatures, counters or vouches of the input were removed, because the contents changed";
// Returns the signatures, counters and vouches of a bundle. None if it is unreadable.
[[nodiscard]] std::vector<clbin::format::TrailingRecord>
signatures_in(const std::filesystem::path& path);

// Prefixes the message with "a.clbin: ", unless it already names the file.
[[nodiscard]] clbin::base::Error named_error(clbin::base::Error error,
                                             const std::filesystem::path& path);

} // namespace oclcc
