// Keys of encrypted bundles are in memory no longer than libclbin needs them.
#include "clbin/clbin.hpp"

#include "base/crypto/secret_bytes.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "format/bundle/encryption.hpp"
#include "support/bundle_samples.hpp"
#include "support/secret_search.hpp"

#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <span>
#include <sys/wait.h>
#include <unistd.h>

namespace clbin {
namespace {

// A key that exists in memory only while libclbin has it.
class MaskedKey {
public:
  MaskedKey() {
    base::fill_randomly(m_masked);
    base::fill_randomly(m_mask);
  }
  void store(std::span<std::uint8_t, 32> bytes) const {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = std::to_integer<std::uint8_t>(m_masked[i] ^ m_mask[i]);
    }
  }
  [[nodiscard]] std::size_t copies_in_memory() const {
    return test::copies_in_memory(m_masked, m_mask);
  }
  [[nodiscard]] EncryptedOptions options() const {
    return EncryptedOptions([this](const KeyRequest&, clbin_key& key) {
      key.kind = CLBIN_KEY_CONTENT;
      store(key.bytes);
      return 0;
    });
  }
  [[nodiscard]] base::Bytes encrypted_bundle() const {
    base::SecretBytes plain(32);
    store(
        std::span<std::uint8_t, 32>(reinterpret_cast<std::uint8_t*>(plain.writable().data()), 32));
    format::WriteOptions options;
    options.encryption =
        format::encryption_with(base::ContentKey::from_bytes(plain.view()).value());
    return format::write_bundle(test::sample_input(), options).value();
  }

private:
  std::array<std::byte, 32> m_masked{};
  std::array<std::byte, 32> m_mask{};
};

TEST(KeyMemory, ContainsNoKeyAfterTheBundleIsClosed) {
  const MaskedKey masked;
  const base::Bytes bytes = masked.encrypted_bundle();
  EXPECT_EQ(masked.copies_in_memory(), 0U);
  {
    const Bundle bundle = Bundle::from_memory(bytes, masked.options());
    bundle.verify();
    EXPECT_EQ(masked.copies_in_memory(), 1U);
  }
  EXPECT_EQ(masked.copies_in_memory(), 0U);
}

TEST(KeyMemory, ContainsNoKeyAfterARefusal) {
  const MaskedKey right;
  const MaskedKey wrong;
  const base::Bytes bytes = right.encrypted_bundle();
  for (const int kind : {0, 1, 2}) {
    for (const int answer : {0, 1}) {
      const auto use = [&](const KeyRequest&, clbin_key& key) {
        std::memcpy(&key.kind, &kind, sizeof(kind));
        wrong.store(key.bytes);
        return answer;
      };
      EXPECT_THROW((void)Bundle::from_memory(bytes, EncryptedOptions(use)), Error);
      EXPECT_EQ(wrong.copies_in_memory(), 0U) << kind << " " << answer;
    }
  }
}

// The child opens the bundle again, as libclbin(3) says.
TEST(KeyMemory, ContainsNoKeyInAChildOfTheProcess) {
  if (!test::can_wipe_on_fork()) {
    GTEST_SKIP() << "this system has no MADV_WIPEONFORK";
  }
  const MaskedKey masked;
  const base::Bytes bytes = masked.encrypted_bundle();
  const Bundle bundle = Bundle::from_memory(bytes, masked.options());
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::size_t copies = masked.copies_in_memory();
    bool is_refused = false;
    try {
      bundle.verify();
    } catch (const Error&) {
      is_refused = true;
    }
    Bundle::from_memory(bytes, masked.options()).verify();
    ::_exit(copies == 0 && is_refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  bundle.verify();
}

} // namespace
} // namespace clbin
