// Bundles that must be signed, through clbin.h, with a scripted driver that remembers every byte.
#include "clbin/clbin.hpp"

#include "base/crypto/key_text.hpp"
#include "base/file_io.hpp"
#include "base/zstd_codec.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/signatures.hpp"
#include "golden/signed_bundles.hpp"
#include "support/bundle_samples.hpp"
#include "support/crafted_bundle.hpp"
#include "support/fake_driver.hpp"
#include "support/project_folders.hpp"
#include "support/sample_identities.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

namespace clbin {
namespace {

using base::Bytes;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Bytes golden(const std::string& name) {
  const auto path = test::tests_folder() / "golden/signed_v1" / name;
  auto bytes = base::read_whole_file(path, 1U << 20U);
  EXPECT_TRUE(bytes.has_value()) << bytes.error().message;
  return std::move(bytes).value_or(Bytes());
}

PublicKey key_bytes(const base::SecretKey& key) {
  PublicKey bytes{};
  std::memcpy(bytes.data(), key.public_key().bytes.data(), bytes.size());
  return bytes;
}

// An application that accepts only bundles that the holder of the old key allows.
class Application {
public:
  explicit Application(PublicKey trusted = key_bytes(test::old_key()),
                       std::uint64_t least_counter = test::k_signed_counter)
      : m_options(trusted) {
    ::setenv("CLBIN_CACHE", "0", 1);
    m_options.set_least_counter(least_counter);
    for (const char* const payload : {test::k_signed_payload, test::k_other_payload}) {
      m_driver.script_binary(
          payload, {test::BinaryAnswer::accept, {test::k_signed_program}, "", CL_SUCCESS});
    }
    m_driver.script_source({CL_SUCCESS, {test::k_signed_program}, "", "built"});
    m_load.resolver(&test::FakeDriver::resolve, &m_driver);
  }

  SignedOptions& options() { return m_options; }
  test::FakeDriver& driver() { return m_driver; }

  // Opens, loads and verifies. Returns the status of the first that fails.
  clbin_status use(const Bytes& bytes) {
    return use_reads(bytes.size(), [&bytes](std::uint64_t offset, void* buffer, std::size_t size) {
      std::memcpy(buffer, bytes.data() + offset, size);
      return 0;
    });
  }
  clbin_status use_reads(std::size_t size_bytes, Bundle::ReadFunction read) {
    m_is_open = false;
    m_driver.forget_calls();
    try {
      const Bundle bundle = Bundle::from_callback(std::move(read), size_bytes, m_options.get());
      m_is_open = true;
      return use_open(bundle);
    } catch (const Error& error) {
      m_message = error.what();
      return error.status();
    }
  }
  // The same, from memory in which other bytes may follow.
  clbin_status use_memory(const Bytes& bytes) {
    m_is_open = false;
    m_driver.forget_calls();
    try {
      const Bundle bundle = Bundle::from_memory(bytes.data(), bytes.size(), m_options.get());
      m_is_open = true;
      return use_open(bundle);
    } catch (const Error& error) {
      m_message = error.what();
      return error.status();
    }
  }

  // Opens and loads from memory, which then becomes `other`, and loads and verifies again.
  clbin_status use_changing_memory(Bytes memory, const Bytes& other) {
    m_driver.forget_calls();
    const Bundle bundle = Bundle::from_memory(memory.data(), memory.size(), m_options.get());
    EXPECT_EQ(use_open(bundle), CLBIN_SUCCESS);
    EXPECT_THAT(m_driver.calls(),
                ::testing::Contains(std::string("create_binary ") + test::k_signed_payload));
    std::copy(other.begin(), other.end(), memory.begin());
    try {
      return use_open(bundle);
    } catch (const Error& error) {
      m_message = error.what();
      return error.status();
    }
  }

  [[nodiscard]] bool is_open() const { return m_is_open; }
  [[nodiscard]] const std::string& message() const { return m_message; }
  // Returns the bytes and texts that the driver received which are not those of signed.clbin.
  [[nodiscard]] std::vector<std::string> foreign_bytes() const {
    std::vector<std::string> foreign;
    for (const std::string& call : m_driver.calls()) {
      const bool is_known = call == std::string("create_binary ") + test::k_signed_payload ||
                            call == std::string("build ") + test::k_signed_options ||
                            call == "create_source" || call.starts_with("create_kernel saxpy");
      if (!is_known) {
        foreign.push_back(call);
      }
    }
    for (const std::string& source : m_driver.sources()) {
      if (source.find(test::k_signed_source) == std::string::npos) {
        foreign.push_back(source);
      }
    }
    return foreign;
  }

private:
  clbin_status use_open(const Bundle& bundle) {
    try {
      if (const cl_program program =
              bundle.load(m_context, m_device, test::k_signed_program, m_load)) {
        m_driver.functions().ReleaseProgram(program);
      }
    } catch (const Error& error) {
      m_message = error.what(); // clbin_verify reports the same
    }
    bundle.verify();
    return CLBIN_SUCCESS;
  }

  test::FakeDriver m_driver;
  cl_device_id m_device = m_driver.add_device(test::unknown_identity("d"));
  cl_context m_context = m_driver.add_context({m_device});
  SignedOptions m_options;
  LoadOptions m_load;
  bool m_is_open = false;
  std::string m_message;
};

Bytes flipped(Bytes bytes, std::size_t bit) {
  bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  return bytes;
}

std::vector<format::TrailingRecord> records_of(const Bytes& bundle) {
  return test::must_open(bundle).signature_records().value();
}

Bytes with_records(const Bytes& bundle, const std::vector<format::TrailingRecord>& records) {
  return format::with_trailing_records(bundle, records).value();
}

std::size_t body_bytes_of(const Bytes& bundle) {
  return with_records(bundle, {}).size();
}

void write_u64(Bytes& bytes, std::size_t offset, std::uint64_t value) {
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[offset + i] = static_cast<std::byte>((value >> (8 * i)) & 0xffU);
  }
}

TEST(SignedBundle, GoldenFilesAreThoseThatTheirKeysSign) {
  const std::string version(base::as_text(golden("libzstd-version")));
  if (base::zstd_version() != version) {
    GTEST_SKIP() << "the files were made with libzstd " << version << ", this is "
                 << base::zstd_version();
  }
  for (const auto& [name, bytes] : test::signed_bundles()) {
    EXPECT_EQ(golden(name), bytes) << name;
    EXPECT_EQ(records_of(golden(name)).size(), 3U) << name;
  }
}

TEST(SignedBundle, LoadsTheBinaryOfASignedBundle) {
  Application application;
  EXPECT_EQ(application.use(golden("signed.clbin")), CLBIN_SUCCESS) << application.message();
  EXPECT_THAT(application.driver().calls(),
              ::testing::Contains(std::string("create_binary ") + test::k_signed_payload));
  EXPECT_THAT(application.foreign_bytes(), IsEmpty());
  Application direct(key_bytes(test::signing_key()));
  EXPECT_EQ(direct.use(golden("signed.clbin")), CLBIN_SUCCESS) << direct.message();
  Application patient(key_bytes(test::old_key()), test::k_other_counter);
  EXPECT_EQ(patient.use(golden("other.clbin")), CLBIN_SUCCESS) << patient.message();
}

// Each of the three records is needed to trust this bundle, so that no bit of them is free.
TEST(SignedBundle, RefusesEverySingleBitFlip) {
  const Bytes bundle = golden("signed.clbin");
  const std::size_t body_bytes = body_bytes_of(bundle);
  Application application;
  std::map<clbin_status, std::size_t> refused_at_open;
  std::size_t refused_by_verify = 0;
  for (std::size_t bit = 0; bit < 8 * bundle.size(); ++bit) {
    const clbin_status status = application.use(flipped(bundle, bit));
    ASSERT_NE(status, CLBIN_SUCCESS) << "bit " << bit;
    ASSERT_THAT(application.foreign_bytes(), IsEmpty()) << "bit " << bit;
    if (application.is_open()) {
      ASSERT_LT(bit / 8, body_bytes) << "bit " << bit;
      ++refused_by_verify;
    } else {
      ASSERT_THAT(application.driver().calls(), IsEmpty()) << "bit " << bit;
      ++refused_at_open[status];
    }
  }
  EXPECT_GT(refused_by_verify, 0U);
  for (const clbin_status status :
       {CLBIN_ERROR_NOT_SIGNED, CLBIN_ERROR_UNTRUSTED_KEY, CLBIN_ERROR_BAD_SIGNATURE,
        CLBIN_ERROR_OLD_COUNTER, CLBIN_ERROR_DIGEST_MISMATCH, CLBIN_ERROR_DAMAGED}) {
    EXPECT_GT(refused_at_open[status], 0U) << clbin_status_name(status);
  }
}

TEST(SignedBundle, RefusesEveryFlipBeforeTheBodyInMemoryToo) {
  Bytes memory = golden("signed.clbin");
  const std::size_t body_bytes = body_bytes_of(memory);
  const std::size_t total = memory.size();
  const Bytes next = golden("other.clbin"); // what follows in memory
  memory.insert(memory.end(), next.begin(), next.end());
  Application application;
  for (std::size_t bit = 0; bit < 8 * total; ++bit) {
    if (bit / 8 >= 64 && bit / 8 < body_bytes) {
      continue; // as in a file
    }
    ASSERT_NE(application.use_memory(flipped(memory, bit)), CLBIN_SUCCESS) << "bit " << bit;
    ASSERT_THAT(application.driver().calls(), IsEmpty()) << "bit " << bit;
  }
}

TEST(SignedBundle, RefusesEveryCut) {
  const Bytes bundle = golden("signed.clbin");
  const std::size_t body_bytes = body_bytes_of(bundle);
  Application application;
  for (std::size_t size = 0; size < bundle.size(); ++size) {
    Bytes cut(bundle.begin(), bundle.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_NE(application.use(cut), CLBIN_SUCCESS) << size;
    ASSERT_THAT(application.driver().calls(), IsEmpty()) << size;
    if (size % 8 == 0 && size >= 64) { // whose prefix agrees with the cut
      write_u64(cut, 24, size);
      ASSERT_NE(application.use(cut), CLBIN_SUCCESS) << size;
      ASSERT_THAT(application.driver().calls(), IsEmpty()) << size;
    }
  }
  Bytes stripped = with_records(bundle, {});
  ASSERT_EQ(stripped.size(), body_bytes);
  EXPECT_EQ(application.use(stripped), CLBIN_ERROR_NOT_SIGNED);
  EXPECT_EQ(application.message(), "a signature is required, and the bundle has none");
}

// Both bundles are signed by the same key and have the same sizes.
TEST(SignedBundle, RefusesEverySpliceOfTwoSignedBundles) {
  const Bytes one = golden("signed.clbin");
  const Bytes two = golden("other.clbin");
  ASSERT_EQ(one.size(), two.size());
  Application application;
  std::size_t spliced = 0;
  for (std::size_t at = 1; at < one.size(); ++at) {
    for (const auto& [head, tail] : {std::pair(&one, &two), std::pair(&two, &one)}) {
      Bytes splice(head->begin(), head->begin() + static_cast<std::ptrdiff_t>(at));
      splice.insert(splice.end(), tail->begin() + static_cast<std::ptrdiff_t>(at), tail->end());
      if (splice == one || splice == two) {
        continue; // equal bytes on one side
      }
      ASSERT_NE(application.use(splice), CLBIN_SUCCESS) << at;
      ASSERT_THAT(application.foreign_bytes(), IsEmpty()) << at;
      ++spliced;
    }
  }
  EXPECT_GT(spliced, one.size());
  EXPECT_EQ(application.use(with_records(one, records_of(two))), CLBIN_ERROR_BAD_SIGNATURE);
  EXPECT_EQ(application.use(with_records(two, records_of(one))), CLBIN_ERROR_BAD_SIGNATURE);
}

// What was checked is what is used, whenever the bytes behind the callback change.
TEST(SignedBundle, UsesNoBytesOfAnotherBundleThatAppearsBetweenReads) {
  const Bytes one = golden("signed.clbin");
  const Bytes two = golden("other.clbin");
  Application application(key_bytes(test::old_key()), test::k_other_counter); // accepts both
  std::size_t last = 1;
  std::size_t refused = 0;
  for (std::size_t change = 1; change <= last; ++change) {
    std::size_t reads = 0;
    const clbin_status status = application.use_reads(
        one.size(), [&](std::uint64_t offset, void* buffer, std::size_t size) {
          std::memcpy(buffer, (reads++ < change ? one : two).data() + offset, size);
          return 0;
        });
    last = std::max(last, reads);
    ASSERT_THAT(application.foreign_bytes(), IsEmpty()) << change << " reads";
    refused += status == CLBIN_SUCCESS ? 0U : 1U; // the last regions are equal in both
  }
  EXPECT_GT(refused, 10U);
}

TEST(SignedBundle, UsesNoBytesOfMemoryThatChangesAfterOpening) {
  const Bytes one = golden("signed.clbin");
  const Bytes two = golden("other.clbin");
  ASSERT_EQ(one.size(), two.size());
  Application application(key_bytes(test::old_key()), test::k_other_counter); // accepts both
  EXPECT_NE(application.use_changing_memory(one, two), CLBIN_SUCCESS);
  EXPECT_THAT(application.foreign_bytes(), IsEmpty());
}

TEST(SignedBundle, RefusesThePayloadOfAnotherSignedBundle) {
  Bytes bundle = golden("signed.clbin");
  const auto payload_of = [](const Bytes& bytes, const std::string& text) {
    const auto found = std::search(bytes.begin(), bytes.end(), base::as_bytes(text).begin(),
                                   base::as_bytes(text).end());
    EXPECT_NE(found, bytes.end());
    return found - bytes.begin();
  };
  const Bytes other = golden("other.clbin");
  const std::string text = test::k_signed_payload;
  std::copy_n(other.begin() + payload_of(other, test::k_other_payload), text.size(),
              bundle.begin() + payload_of(bundle, text));
  Application application;
  EXPECT_EQ(application.use(bundle), CLBIN_ERROR_DIGEST_MISMATCH);
  EXPECT_TRUE(application.is_open());
  EXPECT_THAT(application.foreign_bytes(), IsEmpty());
  EXPECT_EQ(application.driver().sources().size(), 1U); // the source is signed, too
}

TEST(SignedBundle, RefusesRecordsThatAreSwappedStrippedRandomOrOld) {
  const Bytes bundle = golden("signed.clbin");
  const auto records = records_of(bundle);
  Application application;
  const auto expect = [&](const std::vector<format::TrailingRecord>& changed, clbin_status status) {
    EXPECT_EQ(application.use(with_records(bundle, changed)), status) << application.message();
    EXPECT_THAT(application.driver().calls(), IsEmpty());
  };
  expect({records[1], records[2]}, CLBIN_ERROR_NOT_SIGNED);
  expect({records[0], records[2]}, CLBIN_ERROR_OLD_COUNTER);
  expect({records[0], records[1]}, CLBIN_ERROR_UNTRUSTED_KEY);

  auto random = records;
  random[0].bytes = test::random_bytes(96, 1);
  expect(random, CLBIN_ERROR_UNTRUSTED_KEY);
  random = records;
  const Bytes noise = test::random_bytes(64, 2);
  std::copy(noise.begin(), noise.end(), random[0].bytes.begin() + 32);
  expect(random, CLBIN_ERROR_BAD_SIGNATURE);

  auto swapped = records; // the counter's signature as that of the bundle
  std::copy_n(records[1].bytes.begin() + 40, 64, swapped[0].bytes.begin() + 32);
  expect(swapped, CLBIN_ERROR_BAD_SIGNATURE);

  const auto root = test::must_open(bundle).root_digest();
  auto older = records;
  older[1] = to_trailing_record(
      format::sign_counter(root, test::k_signed_counter - 1, test::signing_key()));
  expect(older, CLBIN_ERROR_OLD_COUNTER);
  EXPECT_EQ(application.message(), "the counter is 6, and 7 is the least one accepted");
  EXPECT_EQ(application.use(golden("other.clbin")), CLBIN_ERROR_OLD_COUNTER);

  for (const std::uint32_t kind : {2U, 15U, 18U, 77U, 0xffffffffU}) {
    auto required = records;
    required.push_back({kind, format::k_trailing_required, {}});
    const Bytes changed = [&] {
      test::CraftedBundle crafted(bundle);
      crafted.trailing.clear();
      for (const format::TrailingRecord& record : required) {
        crafted.append_trailing(record.kind, record.flags, record.bytes);
      }
      return crafted.build();
    }();
    EXPECT_EQ(application.use(changed), CLBIN_ERROR_UNKNOWN_REQUIRED_SECTION) << kind;
    EXPECT_THAT(application.driver().calls(), IsEmpty());
  }
}

TEST(SignedBundle, IsReadWithoutAPolicyAsAnyOther) {
  const Bytes bundle = golden("signed.clbin");
  const Bundle opened = Bundle::from_memory(bundle.data(), bundle.size());
  EXPECT_NO_THROW(opened.verify());
  EXPECT_EQ(opened.list().size(), 1U);
}

// ---- The options ----

// As a caller in C can.
void set_number(clbin_signature_policy& policy, int number) {
  std::memcpy(&policy, &number, sizeof(policy));
}

std::string open_error(const clbin_open_options& options) {
  const Bytes bundle = golden("signed.clbin");
  try {
    (void)Bundle::from_memory(bundle.data(), bundle.size(), &options);
  } catch (const Error& error) {
    return std::string(error.status_name()) + ": " + error.what();
  }
  return "opened";
}

TEST(SignatureOptions, AreRefusedIfTheyWouldNotProtect) {
  const PublicKey key = key_bytes(test::old_key());
  clbin_open_options options{};
  options.struct_size = sizeof(options);
  options.signature_policy = CLBIN_SIGNATURES_REQUIRED;
  EXPECT_EQ(open_error(options), "CLBIN_ERROR_INVALID_ARGUMENT: 'signature_policy' requires a "
                                 "signature, but 'public_key_count' is 0");
  options.public_key_count = 1;
  EXPECT_EQ(open_error(options), "CLBIN_ERROR_INVALID_ARGUMENT: 'public_keys' is NULL");
  options.public_keys = key.data();
  EXPECT_EQ(open_error(options), "opened");
  options.public_key_count = 1025;
  EXPECT_EQ(open_error(options),
            "CLBIN_ERROR_INVALID_ARGUMENT: 'public_key_count' is 1025, which is above 1024");
  options.public_key_count = 1;

  options.signature_policy = CLBIN_SIGNATURES_IGNORED;
  EXPECT_EQ(open_error(options), "CLBIN_ERROR_INVALID_ARGUMENT: 'public_keys' is set, but "
                                 "'signature_policy' does not require a signature");
  options.public_keys = nullptr;
  options.public_key_count = 0;
  options.least_counter = 1;
  EXPECT_EQ(open_error(options), "CLBIN_ERROR_INVALID_ARGUMENT: 'least_counter' is set, but "
                                 "'signature_policy' does not require a signature");
  options.least_counter = 0;
  options.unsigned_builds = CLBIN_SWITCH_ON;
  EXPECT_EQ(open_error(options), "CLBIN_ERROR_INVALID_ARGUMENT: 'unsigned_builds' is set, but "
                                 "'signature_policy' does not require a signature");
  options.unsigned_builds = static_cast<clbin_switch>(3);
  EXPECT_EQ(open_error(options), "CLBIN_ERROR_INVALID_ARGUMENT: 'unsigned_builds' is 3");
  options.unsigned_builds = CLBIN_SWITCH_DEFAULT;
  set_number(options.signature_policy, 3);
  EXPECT_EQ(open_error(options), "CLBIN_ERROR_INVALID_ARGUMENT: 'signature_policy' is 3");
}

TEST(SignatureOptions, StructOfAnEarlierVersionHasNoPolicy) {
  clbin_open_options options{};
  options.struct_size = offsetof(clbin_open_options, public_keys);
  EXPECT_EQ(open_error(options), "opened");
}

TEST(SignatureOptions, OfCppTrustSeveralKeysAndKeepOtherOptions) {
  const PublicKey stranger{1};
  SignedOptions several(std::vector<PublicKey>{stranger, key_bytes(test::old_key())});
  EXPECT_EQ(open_error(*several.get()), "opened");
  several.others().max_directory_bytes = 1;
  EXPECT_THAT(open_error(*several.get()), HasSubstr("CLBIN_ERROR_LIMIT_EXCEEDED"));
  EXPECT_THAT(open_error(*SignedOptions(stranger).get()), HasSubstr("CLBIN_ERROR_UNTRUSTED_KEY"));
  EXPECT_THAT(open_error(*SignedOptions(std::vector<PublicKey>()).get()),
              HasSubstr("'public_key_count' is 0"));
}

TEST(SignatureOptions, OfCppAreAcceptedByEveryFunctionThatOpens) {
  const Bytes bundle = golden("signed.clbin");
  const auto path = test::tests_folder() / "golden/signed_v1/signed.clbin";
  const auto read = [&bundle](std::uint64_t offset, void* buffer, std::size_t size) {
    std::memcpy(buffer, bundle.data() + offset, size);
    return 0;
  };
  const auto expect = [&](const PublicKey& key, clbin_status status) {
    const SignedOptions options(key);
    const auto status_of = [](const std::function<Bundle()>& open) {
      try {
        EXPECT_EQ(open().counter(), test::k_signed_counter);
        return CLBIN_SUCCESS;
      } catch (const Error& error) {
        return error.status();
      }
    };
    EXPECT_EQ(status_of([&] { return Bundle::open(path.string(), options); }), status);
    EXPECT_EQ(status_of([&] {
                return Bundle::from_memory({bundle.data(), bundle.size()}, options);
              }),
              status);
    EXPECT_EQ(status_of([&] { return Bundle::from_memory(bundle.data(), bundle.size(), options); }),
              status);
    EXPECT_EQ(status_of([&] { return Bundle::from_callback(read, bundle.size(), options); }),
              status);
  };
  expect(key_bytes(test::old_key()), CLBIN_SUCCESS);
  expect(PublicKey{1}, CLBIN_ERROR_UNTRUSTED_KEY);
}

std::string counter_of(const Bytes& bytes, const clbin_open_options* options) {
  try {
    return std::to_string(Bundle::from_memory(bytes.data(), bytes.size(), options).counter());
  } catch (const Error& error) {
    return std::string(error.status_name()) + ": " + error.what();
  }
}

TEST(BundleCounter, IsTheHighestByATrustedKey) {
  const Bytes bundle = golden("signed.clbin");
  SignedOptions trusted(key_bytes(test::old_key()));
  EXPECT_EQ(counter_of(bundle, trusted.get()), "7");
  EXPECT_EQ(counter_of(golden("other.clbin"), trusted.get()), "6");

  const base::Digest root = test::must_open(bundle).root_digest();
  std::vector<format::TrailingRecord> records = records_of(bundle);
  const auto stranger = base::SecretKey::from_seed(std::array<std::byte, 32>{std::byte{9}});
  records.push_back(format::to_trailing_record(format::sign_counter(root, 1000, stranger)));
  records.push_back(format::to_trailing_record(format::sign_counter(root, ~0ULL, test::old_key())));
  EXPECT_EQ(counter_of(with_records(bundle, records), trusted.get()), "18446744073709551615");
  records.pop_back();
  EXPECT_EQ(counter_of(with_records(bundle, records), trusted.get()), "7");

  std::erase_if(records, [](const format::TrailingRecord& record) {
    return format::is_of_kind(record, format::TrailingKind::counter);
  });
  EXPECT_EQ(counter_of(with_records(bundle, records), trusted.get()), "0");
}

TEST(BundleCounter, RequiresThatTheSignatureWasRequired) {
  const Bytes bundle = golden("signed.clbin");
  EXPECT_EQ(counter_of(bundle, nullptr), "CLBIN_ERROR_INVALID_ARGUMENT: the bundle was opened "
                                         "without CLBIN_SIGNATURES_REQUIRED");
  std::uint64_t counter = 3;
  EXPECT_EQ(clbin_counter(nullptr, &counter, nullptr), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(counter, 0U);
  EXPECT_EQ(clbin_counter(nullptr, nullptr, nullptr), CLBIN_ERROR_INVALID_ARGUMENT);
}

TEST(SignatureOptions, ReadAPublicKeyFromTheTextOfMinisign) {
  const base::MinisignPublicKey known{{}, test::old_key().public_key()};
  EXPECT_EQ(public_key(base::to_base64(known)), key_bytes(test::old_key()));
  EXPECT_EQ(public_key(base::minisign_public_key_file(known)), key_bytes(test::old_key()));
  try {
    (void)public_key("RW");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), CLBIN_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(error.what(), HasSubstr("not a public key of minisign"));
  }
  std::uint8_t key[32];
  EXPECT_EQ(clbin_public_key_from_text(nullptr, key, nullptr), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(clbin_public_key_from_text("RW", nullptr, nullptr), CLBIN_ERROR_INVALID_ARGUMENT);
}

// ---- The user cache and builds ----

class SignedCache : public ::testing::Test {
protected:
  SignedCache() {
    ::setenv("CLBIN_CACHE_DIR", m_cache.c_str(), 1);
    ::setenv("CLBIN_CACHE", "1", 1);
    m_driver.script_source({CL_SUCCESS, {test::k_signed_program}, "", "BUILT"});
    m_driver.script_binary("BUILT",
                           {test::BinaryAnswer::accept, {test::k_signed_program}, "", CL_SUCCESS});
    m_driver.script_binary(test::k_signed_payload,
                           {test::BinaryAnswer::accept, {test::k_signed_program}, "", CL_SUCCESS});
    m_load.resolver(&test::FakeDriver::resolve, &m_driver);
  }
  ~SignedCache() override { ::unsetenv("CLBIN_CACHE_DIR"); }

  // Loads the program for a device that no entry was made for.
  Origin load(const clbin_open_options* options, Report* report = nullptr) {
    const Bytes bundle = golden("signed.clbin");
    const Bundle opened = Bundle::from_memory(bundle.data(), bundle.size(), options);
    Report own;
    Report& filled = report == nullptr ? own : *report;
    m_driver.functions().ReleaseProgram(
        opened.load(m_context, m_device, test::k_signed_program, m_load, &filled));
    return filled.origin();
  }

  [[nodiscard]] bool has_entries() const {
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator files(m_cache, error), end; files != end;
         files.increment(error)) {
      if (files->path().extension() == ".clbin") {
        return true;
      }
    }
    return false;
  }

  base::TemporaryFolder m_folder = base::TemporaryFolder::create({}, "signed-cache-").value();
  std::string m_cache = (m_folder.path() / "clbin").string();
  test::FakeDriver m_driver;
  cl_device_id m_device = m_driver.add_device(test::unknown_identity("another"));
  cl_context m_context = m_driver.add_context({m_device});
  LoadOptions m_load;
  SignedOptions m_signed{key_bytes(test::old_key())};
};

TEST_F(SignedCache, IsNeitherReadNorWrittenByASignedBundle) {
  EXPECT_EQ(load(m_signed.get()), Origin::source);
  EXPECT_EQ(load(m_signed.get()), Origin::source);
  EXPECT_FALSE(has_entries());
  EXPECT_EQ(load(nullptr), Origin::source);
  EXPECT_TRUE(has_entries());
  EXPECT_EQ(load(nullptr), Origin::user_cache);
  Report report;
  EXPECT_EQ(load(m_signed.get(), &report), Origin::source);
  EXPECT_THAT(report.text(), HasSubstr("off: a signature is required, and nobody signs its "
                                       "entries"));
}

TEST_F(SignedCache, LeavesTheQuarantineInUse) {
  m_device = m_driver.add_device(test::unknown_identity("d"));
  m_context = m_driver.add_context({m_device});
  EXPECT_EQ(load(m_signed.get()), Origin::entry);
  EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(m_cache) / "attempts"));
  EXPECT_FALSE(has_entries());
}

TEST_F(SignedCache, ServesASignedBundleIfTheCallerSaysSo) {
  m_signed.allow_unsigned_builds();
  EXPECT_EQ(load(m_signed.get()), Origin::source);
  EXPECT_EQ(load(m_signed.get()), Origin::user_cache);
}

class SignedBuilder : public SignedCache {
protected:
  SignedBuilder() {
    m_settings.struct_size = sizeof(m_settings);
    m_settings.signature_policy = CLBIN_SIGNATURES_REQUIRED;
    m_source.options = test::k_signed_options;
  }

  std::string build(const Builder& builder, cl_device_id device, Report* report = nullptr) {
    try {
      m_driver.functions().ReleaseProgram(builder.build(
          device == m_device ? m_context : m_known_context, device, m_source, m_load, report));
      return "built";
    } catch (const Error& error) {
      return std::string(error.status_name()) + ": " + error.what();
    }
  }

  Bytes m_bytes = golden("signed.clbin");
  Bundle m_bundle = Bundle::from_memory(m_bytes.data(), m_bytes.size(), m_signed.get());
  cl_device_id m_known_device = m_driver.add_device(test::unknown_identity("d"));
  cl_context m_known_context = m_driver.add_context({m_known_device});
  clbin_builder_options m_settings{};
  Source m_source{test::k_signed_source};
};

TEST_F(SignedBuilder, RefusesABundleThatWasOpenedWithoutAPolicy) {
  const Builder builder(&m_settings);
  const Bundle unchecked = Bundle::from_memory(m_bytes.data(), m_bytes.size());
  try {
    builder.add_bundle(unchecked);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), CLBIN_ERROR_NOT_SIGNED);
    EXPECT_STREQ(error.what(), "'memory' was opened without requiring a signature, which the "
                               "builder requires");
  }
}

TEST_F(SignedBuilder, ServesSignedEntriesAndBuildsNothingElse) {
  const Builder builder(&m_settings);
  builder.add_bundle(m_bundle);
  Report report;
  EXPECT_EQ(build(builder, m_known_device, &report), "built");
  EXPECT_EQ(report.origin(), Origin::entry);

  m_driver.forget_calls();
  EXPECT_EQ(build(builder, m_device, &report),
            "CLBIN_ERROR_NOT_SIGNED: no entry of the builder's signed bundles serves 'run-time "
            "source', and what is not signed may not be built");
  EXPECT_THAT(m_driver.calls(), IsEmpty());
  EXPECT_THAT(report.text(), HasSubstr("a signature is required, and nobody signed it"));
  EXPECT_FALSE(has_entries());
}

TEST_F(SignedBuilder, ReadsNoUserCacheThatOthersFilled) {
  clbin_builder_options open_settings{};
  open_settings.struct_size = sizeof(open_settings);
  EXPECT_EQ(build(Builder(&open_settings), m_device), "built");
  ASSERT_TRUE(has_entries());
  EXPECT_THAT(build(Builder(&m_settings), m_device), HasSubstr("CLBIN_ERROR_NOT_SIGNED"));
}

TEST_F(SignedBuilder, BuildsIfTheCallerSaysSo) {
  m_settings.unsigned_builds = CLBIN_SWITCH_ON;
  Report report;
  EXPECT_EQ(build(Builder(&m_settings), m_device, &report), "built");
  EXPECT_EQ(report.origin(), Origin::source);
  EXPECT_EQ(build(Builder(&m_settings), m_device, &report), "built");
  EXPECT_EQ(report.origin(), Origin::user_cache);
}

TEST_F(SignedBuilder, RefusesAPolicyThatIsNone) {
  set_number(m_settings.signature_policy, 2);
  EXPECT_THROW(Builder builder(&m_settings), Error);
  m_settings.signature_policy = CLBIN_SIGNATURES_IGNORED;
  m_settings.unsigned_builds = CLBIN_SWITCH_ON;
  EXPECT_THROW(Builder builder(&m_settings), Error);
}

// ---- The listing ----

// Returns the listing without white space.
std::string listing_of(const Bytes& bytes) {
  clbin_bundle* bundle = nullptr;
  EXPECT_EQ(clbin_open_memory(bytes.data(), bytes.size(), nullptr, &bundle, nullptr),
            CLBIN_SUCCESS);
  std::string text;
  const auto append = [](const char* part, size_t size, void* user_data) {
    static_cast<std::string*>(user_data)->append(part, size);
    return 0;
  };
  EXPECT_EQ(clbin_list_json(bundle, append, &text, nullptr), CLBIN_SUCCESS);
  clbin_close(bundle);
  std::erase_if(text, [](char character) { return character == ' ' || character == '\n'; });
  return text;
}

TEST(SignedListing, ListsSignaturesCountersAndVouchesAndWhetherTheyHold) {
  const Bytes bundle = golden("signed.clbin");
  const std::string text = listing_of(bundle);
  const std::string key = to_hex(test::signing_key().public_key());
  const std::string old = to_hex(test::old_key().public_key());
  EXPECT_THAT(text, HasSubstr(R"("signatures":[{"holds":true,"public_key":")" + key + R"("}])"));
  EXPECT_THAT(
      text, HasSubstr(R"("counters":[{"counter":7,"holds":true,"public_key":")" + key + R"("}])"));
  EXPECT_THAT(text, HasSubstr(R"("vouches":[{"holds":true,"new_public_key":")" + key +
                              R"(","old_public_key":")" + old + R"("}])"));
  auto records = records_of(bundle);
  records[0].bytes[50] ^= std::byte{1};
  EXPECT_THAT(listing_of(with_records(bundle, records)),
              HasSubstr(R"("signatures":[{"holds":false,)"));
  const std::string unsigned_text = listing_of(with_records(bundle, {}));
  for (const char* const member : {"signatures", "counters", "vouches"}) {
    EXPECT_THAT(unsigned_text, ::testing::Not(HasSubstr(member)));
  }
}

} // namespace
} // namespace clbin
