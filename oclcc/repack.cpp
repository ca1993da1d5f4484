#include "repack.hpp"

#include "bundle_change.hpp"

namespace oclcc {

namespace format = clbin::format;
using clbin::base::Result;

ExitCode repack(const Options& options, Reporter& reporter) {
  const auto change = [](const format::BundleReader& bundle) -> Result<format::StripResult> {
    format::StripResult result;
    CLBIN_TRY_ASSIGN(result.bytes, format::repack_bundle(bundle, {}));
    return result;
  };
  return change_bundles(options, change, reporter);
}

} // namespace oclcc
