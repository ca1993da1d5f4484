// The keys of --decrypt-key.
#pragma once

#include "base/crypto/key_text.hpp"
#include "format/bundle/bundle_reader.hpp"

#include <vector>

namespace oclcc {

// Content keys and secret keys of recipients. Const methods are thread-safe.
class BundleKeys {
public:
  void add(clbin::base::DecryptionKey key) { m_keys.push_back(std::move(key)); }

  // Unlocks `bundle` with the first key that opens it. Does nothing if the bundle is not encrypted,
  // or if there are no keys. Errors: wrong_key, if none of the keys opens it; those of the reader.
  [[nodiscard]] clbin::base::Result<void> unlock(clbin::format::BundleReader& bundle) const;

private:
  std::vector<clbin::base::DecryptionKey> m_keys;
};

} // namespace oclcc
