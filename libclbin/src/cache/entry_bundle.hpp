// A cache entry as a bundle: one program, one variant, one entry. The key of the entry is in the
// place of the variant's name, so that an entry under the name of another key is detected.
#pragma once

#include "base/digest.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/signatures.hpp"

#include <string>

namespace clbin::cache {

struct CacheHit {
  format::BundleReader bundle; // one program, one variant, one entry; reads its manifest on demand
  format::GroupView group;
  format::EntryView entry;
  base::Bytes payload; // its digest was checked
};

// Returns the bundle of `entry`, whose variant is ignored, under `key`. Errors of write_bundle.
[[nodiscard]] base::Result<base::Bytes>
encode_entry(const base::Digest& key, const std::string& program, format::EntryInput entry);

// What is required of an entry besides its key.
struct EntryRequirements {
  format::ReadLimits limits{};
  const format::SignaturePolicy* signatures = nullptr; // null: none; they cover the key
};
// Opens the entry `key`. `name` names the bytes in messages. Safe on untrusted input. Errors: those
// of BundleReader, and of check_signatures if signatures are required; damaged, if it is not an
// entry or has another key.
[[nodiscard]] base::Result<CacheHit> open_entry(base::Bytes bytes, const std::string& name,
                                                const base::Digest& key,
                                                const EntryRequirements& required = {});

} // namespace clbin::cache
