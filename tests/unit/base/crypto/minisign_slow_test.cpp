#include "base/crypto/key_text.hpp"
#include "unit/base/crypto/minisign_files.hpp"

#include <gtest/gtest.h>

namespace clbin::base {
namespace {

// Takes as long as minisign, and 1 GiB of memory, because minisign has no cheaper protection.
TEST(MinisignSlow, ReadsTheProtectedKeyOfMinisign) {
  const SecretBytes passphrase = SecretBytes::copy_of(as_bytes("secret"));
  const auto key = parse_minisign_secret_key(test::k_protected_secret, &passphrase);
  ASSERT_TRUE(key.has_value()) << key.error().message;
  EXPECT_EQ(key->public_key(), parse_minisign_public_key(test::k_protected_public));
}

} // namespace
} // namespace clbin::base
