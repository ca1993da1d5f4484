// Computes the key of a finished bundle in the compile cache.
#pragma once

#include "base/digest.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "model/bundle.hpp"

#include <string_view>
#include <vector>

namespace oclcc {

// The contents of a bundle, and the keys (recipe_key) of the units that its first entries are the
// results of, in the order of the programs and of their entries. The other entries are of no unit.
struct BundleOfUnits {
  clbin::format::BundleInput input;
  std::vector<clbin::base::Digest> unit_keys;
};

// If two keys are equal, the bundles have the same names, sources and options, and results of equal
// units. The key covers the key of a unit in place of what its compiler returned (payload, kernels,
// build log, tools), so that a run of hits reads no payload for it. Of an entry without a unit, it
// covers everything. It also covers `options`, the versions of the format, of libzstd and of oclcc,
// and `executable`, the file_stamp of the writing oclcc. The same input in a different order has a
// different key. Returns errors of reading payloads.
[[nodiscard]] clbin::base::Result<clbin::base::Digest>
bundle_key(const BundleOfUnits& bundle, const clbin::format::WriteOptions& options,
           std::string_view executable);

} // namespace oclcc
