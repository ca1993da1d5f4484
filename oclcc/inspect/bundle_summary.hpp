// The contents of a bundle file for --info and --diff, damaged or not.
#pragma once

#include "input/bundle_keys.hpp"
#include "listing/bundle_summary.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace oclcc {

using clbin::listing::BundleSummary;
using clbin::listing::EntrySummary;
using clbin::listing::GroupSummary;
using clbin::listing::SourceSummary;

// Behaves like clbin::listing::summarize. Of a truncated bundle, reads the part that exists. If no
// key opens an encrypted bundle, lists what can be read without one, and the error.
[[nodiscard]] BundleSummary summarize_bundle(const std::filesystem::path& path,
                                             const BundleKeys& keys = {});
// Returns the summary of the plain bundle that an encrypted one contains, which can be compared
// with others. The errors contain `encrypted` if there is no key.
[[nodiscard]] BundleSummary summarize_plain_bundle(const std::filesystem::path& path,
                                                   const BundleKeys& keys);
// Returns a summary of nothing but an error.
[[nodiscard]] BundleSummary unread_summary(const std::filesystem::path& path,
                                           const clbin::base::Error& error);

// Returns what --info prints.
[[nodiscard]] std::string info_text(const BundleSummary& bundle);

// Returns the errors of all bundles, in order.
[[nodiscard]] std::vector<clbin::base::Error> errors_of(const std::vector<BundleSummary>& bundles);

} // namespace oclcc
