// Bundles as files of the user: every error names the file.
#pragma once

#include "format/bundle_reader.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace oclcc {

// As the user wrote it; "<stdin>" for "-".
[[nodiscard]] std::string bundle_name(const std::filesystem::path& path);

// Returns at most `max_bytes` of the beginning of a regular file; std::nullopt for any other and
// for one that cannot be read.
[[nodiscard]] std::optional<clbin::base::ByteRegion>
start_of_file(const std::filesystem::path& path, std::uint64_t max_bytes);

// Whether it is a regular file that begins as bundles do; what cannot be read is not one: that is
// told later.
[[nodiscard]] bool is_bundle(const std::filesystem::path& path);

// "-" is standard input; that and pipes are held in memory, at most 4 GiB. file_not_found,
// file_read, limit_exceeded.
[[nodiscard]] clbin::base::Result<std::shared_ptr<const clbin::base::ByteSource>>
open_bundle_source(const std::filesystem::path& path);

// Its errors and those of BundleReader::open.
[[nodiscard]] clbin::base::Result<clbin::format::BundleReader>
open_bundle(const std::filesystem::path& path);

// "a.clbin: …", unless the message names the file already.
[[nodiscard]] clbin::base::Error named_error(clbin::base::Error error,
                                             const std::filesystem::path& path);

} // namespace oclcc
