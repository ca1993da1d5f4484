// The contents of bundles as JSON: what --info --json and clbin_list_json write.
#pragma once

#include "base/json_document.hpp"
#include "listing/bundle_summary.hpp"

namespace clbin::listing {

// Writes the document of oclcc/schema/info.schema.json.
class BundlesJson {
public:
  explicit BundlesJson(base::JsonStream::Sink sink);

  void add(const BundleSummary& bundle);
  // Ends the document. Returns whether all of it was written.
  [[nodiscard]] bool finish();

private:
  base::JsonStream m_document;
};

} // namespace clbin::listing
