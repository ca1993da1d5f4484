#include "base/crypto/key_text.hpp"
#include "base/file_io.hpp"
#include "compile/compile_job.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace oclcc {
namespace {

using clbin::base::as_bytes;
using clbin::base::as_text;
using clbin::base::Digest;
using remote::RemoteSettings;
using ::testing::ElementsAre;

TEST(RemoteTrust, ReadsItsKeys) {
  const auto folder = clbin::base::TemporaryFolder::create({}, "oclcc-trust-test-").value();
  const auto key = clbin::base::MinisignSecretKey::generate();
  const auto secret =
      clbin::base::minisign_secret_key_file(key, nullptr, clbin::base::k_interactive_cost);
  RemoteSettings settings;
  settings.sign_key = folder.path() / "a.key";
  std::ofstream(*settings.sign_key) << as_text(secret->view());
  settings.public_keys = {clbin::base::to_hex(Digest{key.key.public_key().bytes})};
  const auto trust = read_remote_trust(settings);
  ASSERT_TRUE(trust) << trust.error().message;
  EXPECT_EQ(trust->signer->public_key(), key.key.public_key());
  EXPECT_THAT(trust->required->keys, ElementsAre(key.key.public_key()));
}

TEST(RemoteTrust, AsksNobodyForAPassphrase) {
  const auto folder = clbin::base::TemporaryFolder::create({}, "oclcc-trust-test-").value();
  const auto key = clbin::base::MinisignSecretKey::generate();
  const auto passphrase = clbin::base::SecretBytes::copy_of(as_bytes("secret"));
  const auto secret =
      clbin::base::minisign_secret_key_file(key, &passphrase, clbin::base::k_interactive_cost);
  RemoteSettings settings;
  settings.sign_key = folder.path() / "a.key";
  std::ofstream(*settings.sign_key) << as_text(secret->view());
  const auto trust = read_remote_trust(settings);
  ASSERT_FALSE(trust);
  EXPECT_THAT(
      trust.error().message,
      ::testing::EndsWith("a passphrase protects this key, and nobody is asked for it here"));
}

TEST(RemoteTrust, DoesNotWaitForTheOtherEndOfAPipe) {
  const auto folder = clbin::base::TemporaryFolder::create({}, "oclcc-trust-test-").value();
  const std::filesystem::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  RemoteSettings signing;
  signing.sign_key = pipe;
  RemoteSettings requiring;
  requiring.public_keys = {pipe.string()};
  for (const RemoteSettings& settings : {signing, requiring}) {
    const auto trust = read_remote_trust(settings);
    ASSERT_FALSE(trust);
    EXPECT_EQ(trust.error().message, "'" + pipe.string() + "' is not a regular file");
  }
}

} // namespace
} // namespace oclcc
