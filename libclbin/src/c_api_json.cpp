#include "c_api.hpp"

#include "listing/bundle_summary.hpp"

using namespace clbin;
using base::Result;

clbin_status clbin_list_json(const clbin_bundle* bundle, clbin_write_function write,
                             void* user_data, clbin_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(bundle, "bundle"));
    if (write == nullptr) {
      return base::fail(base::ErrorCode::invalid_argument, "'write' is NULL");
    }
    listing::BundlesJson document(
        [&](std::string_view part) { return write(part.data(), part.size(), user_data) == 0; });
    const listing::BundleSummary summary =
        listing::summarize(bundle->reader, listing::ErrorList(bundle->reader.name()));
    document.add(summary);
    if (!document.finish()) {
      return base::fail(base::ErrorCode::file_write, "{}: 'write' did not accept its listing",
                        bundle->reader.name());
    }
    if (!summary.errors.empty()) {
      return tl::unexpected(summary.errors.front());
    }
    return {};
  });
}
