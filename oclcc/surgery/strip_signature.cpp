#include "command_line/modes.hpp"

#include "base/file_io.hpp"
#include "input/bundle_file.hpp"
#include "surgery/bundle_change.hpp"
#include "trust/bundle_signing.hpp"

namespace oclcc {

using clbin::base::Bytes;
using clbin::base::Result;

namespace {

Result<BundleChange> without_signatures(const std::filesystem::path& path) {
  CLBIN_TRY_ASSIGN(const Bytes bundle,
                   clbin::base::read_whole_file(path, k_max_whole_bundle_bytes));
  CLBIN_TRY_ASSIGN(trust::RootAndRecords read, trust::read_root_and_records(bundle));
  BundleChange change;
  change.removed_signatures = read.records.size();
  clbin::format::remove_signatures(read.records);
  change.removed_signatures -= read.records.size();
  CLBIN_TRY_ASSIGN(change.result.bytes,
                   clbin::format::with_trailing_records(bundle, std::move(read.records)));
  return change;
}

} // namespace

ExitCode strip_signature(const Options& options, Reporter& reporter) {
  return change_files(options, without_signatures, k_in_place, reporter);
}

} // namespace oclcc
