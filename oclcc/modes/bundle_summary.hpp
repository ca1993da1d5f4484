// The contents of a bundle file for --info and --diff, damaged or not.
#pragma once

#include "command_line/bundle_file.hpp"
#include "listing/bundle_summary.hpp"

namespace oclcc {

using clbin::listing::BundleSummary;
using clbin::listing::EntrySummary;
using clbin::listing::GroupSummary;
using clbin::listing::kernel_signature;
using clbin::listing::SourceSummary;

// Behaves like clbin::listing::summarize. Of a truncated bundle, reads the part that exists. If no
// key opens an encrypted bundle, lists what can be read without one, and the error.
[[nodiscard]] BundleSummary summarize_bundle(const std::filesystem::path& path,
                                             const BundleKeys& keys = {});
// Returns the summary of the plain bundle that an encrypted one contains, which can be compared
// with others. The errors contain `encrypted` if there is no key.
[[nodiscard]] BundleSummary summarize_plain_bundle(const std::filesystem::path& path,
                                                   const BundleKeys& keys);

// Returns what --info prints with -v.
[[nodiscard]] std::string info_text(const BundleSummary& bundle);
// Returns what --info prints without: a table for each program and variant, with a column for each
// entry and two lines for each kernel, in lines of at most `line_cells` cells if the names allow
// it.
[[nodiscard]] std::string info_table(const BundleSummary& bundle, std::size_t line_cells);

// Returns the known facts: "work-group 16x16x1 required, at most 256", "2048 bytes of local
// memory", …
[[nodiscard]] std::vector<std::string> kernel_facts(const format::KernelReflection& kernel);

// Returns a text for each kernel, "scale: 64, 16x16, NULL in 2 dimensions": the local sizes of its
// launches. `launches` are sorted, and of one variant.
[[nodiscard]] std::vector<std::string>
launch_texts(const std::vector<format::RecordedLaunch>& launches);
// Returns a text for each device, kernel and global size: "DEVICE (driver 1.2): sgemm 512x512:
// 1200 us with 16x16, wrong result with 32x32 (why)". The measurements are those of one variant.
[[nodiscard]] std::vector<std::string>
measurement_texts(std::vector<format::Measurement> measurements);
// Returns a text for each known answer: "sgemm 512x512 with 16x16, by PLATFORM / DEVICE / DRIVER".
[[nodiscard]] std::vector<std::string>
answer_texts(const std::vector<format::KnownAnswer>& answers);
// Returns "nvptx:sm_70", or "DEVICE (PLATFORM)".
[[nodiscard]] std::string target_text(const format::Target& target);
// Returns "DEVICE (PLATFORM): scale, fill".
[[nodiscard]] std::string build_text(const format::RecordedBuild& build);

} // namespace oclcc
