#include "command_line/modes.hpp"

#include "surgery/bundle_change.hpp"

namespace oclcc {

namespace format = clbin::format;
using clbin::base::Result;

ExitCode repack(const Options& options, Reporter& reporter) {
  const auto change = [](const format::BundleReader& bundle,
                         const format::Encryption* encryption) -> Result<format::StripResult> {
    format::StripResult result;
    format::WriteOptions write;
    if (encryption != nullptr) {
      write.encryption = *encryption;
    }
    CLBIN_TRY_ASSIGN(write.spill, clbin::base::SpillFile::create());
    CLBIN_TRY_ASSIGN(result.bytes, format::repack_bundle(bundle, write));
    return result;
  };
  return change_bundles(options, change, reporter);
}

} // namespace oclcc
