// The contents of a bundle file for --info and --diff, damaged or not.
#pragma once

#include "listing/bundle_summary.hpp"

#include <filesystem>
#include <vector>

namespace oclcc {

using clbin::listing::BundleSummary;
using clbin::listing::EntrySummary;
using clbin::listing::GroupSummary;
using clbin::listing::SourceSummary;

// Behaves like clbin::listing::summarize. Of a truncated bundle, reads the part that exists.
[[nodiscard]] BundleSummary summarize_bundle(const std::filesystem::path& path);

// Returns the errors of all bundles, in order.
[[nodiscard]] std::vector<clbin::base::Error> errors_of(const std::vector<BundleSummary>& bundles);

} // namespace oclcc
