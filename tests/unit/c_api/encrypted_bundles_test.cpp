// Encrypted bundles through clbin.h, with a scripted driver that remembers every byte.
#include "clbin/clbin.hpp"

#include "base/crypto/key_text.hpp"
#include "base/file_io.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "format/bundle/encryption.hpp"
#include "golden/signed_bundles.hpp"
#include "support/bundle_samples.hpp"
#include "support/fake_driver.hpp"
#include "support/sample_identities.hpp"
#include "support/secret_search.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace clbin {
namespace {

using base::Bytes;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* k_program = "saxpy";
constexpr const char* k_source = "kernel void saxpy(global float* secret_values) {}\n";
constexpr const char* k_options = "-DV=1";
constexpr const char* k_payload = "a binary that only 'd' understands";
constexpr const char* k_other_payload = "a binary that 'd' understands, too";
constexpr const char* k_il_program = "module";

using SharedKey = std::shared_ptr<const base::ContentKey>;

SharedKey content_key(unsigned char seed = 1) {
  Bytes bytes(base::ContentKey::k_bytes, std::byte{seed});
  return base::ContentKey::from_bytes(bytes).value();
}

std::string hex(const KeyRequest::Bytes& bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += fmt::format("{:02x}", byte);
  }
  return text;
}

// A module of SPIR-V 1.2 that does nothing.
Bytes il_module() {
  const std::array<std::uint32_t, 8> words{0x07230203U, 0x00010200U,       0, 1,
                                           0,           (3U << 16U) | 14U, 2, 2};
  const base::ByteView bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

format::EntryInput entry_for(const format::DeviceIdentity& identity, const std::string& payload) {
  format::EntryInput entry;
  entry.variant = format::k_default_variant;
  entry.target.identity = identity;
  entry.options = k_options;
  entry.payload = test::bytes_of(payload);
  format::KernelReflection& kernel = entry.kernels.emplace_back();
  kernel.name = k_program;
  kernel.argument_count = 1;
  return entry;
}

format::EntryInput il_entry() {
  format::EntryInput il;
  il.variant = format::k_default_variant;
  il.target.origin = format::TargetOrigin::offline;
  il.target.identity.address_bits = 64;
  il.target.spec = "spirv:1.2";
  il.payload = il_module();
  il.kernels.emplace_back().name = k_program;
  return il;
}

// Source, entries for the devices "d" and "e", and IL; and a program of IL alone.
format::BundleInput contents(const std::string& payload) {
  format::ProgramInput program;
  program.name = k_program;
  program.variants = {{std::string(format::k_default_variant), k_options}};
  program.source = format::SourcePackage{{"saxpy.cl", "saxpy.cl", k_source}, {}};
  program.entries = {entry_for(test::unknown_identity("d"), payload),
                     entry_for(test::unknown_identity("e"), "for e: " + payload), il_entry()};
  format::ProgramInput module;
  module.name = k_il_program;
  module.variants = {{std::string(format::k_default_variant), ""}};
  module.entries = {il_entry()};
  return {"test", {program, module}};
}

Bytes written(const format::Encryption& encryption, const std::string& payload = k_payload) {
  format::WriteOptions options;
  options.encryption = encryption;
  auto bytes = format::write_bundle(contents(payload), options);
  EXPECT_TRUE(bytes.has_value()) << bytes.error().message;
  return std::move(bytes).value_or(Bytes());
}

Bytes encrypted_bundle(const std::string& payload = k_payload) {
  return written(format::encryption_with(content_key()), payload);
}

Bytes sealed_bundle(const std::vector<base::RecipientPublicKey>& recipients) {
  return written(format::encryption_for(content_key(), recipients).value());
}

Bytes plain_bundle() {
  return test::must_write(contents(k_payload));
}

Bytes signed_bundle(const Bytes& bundle) {
  return test::signed_with_counter(bundle, test::k_signed_counter);
}

clbin::PublicKey trusted_key() {
  clbin::PublicKey bytes{};
  std::memcpy(bytes.data(), test::old_key().public_key().bytes.data(), bytes.size());
  return bytes;
}

// A product with one key, and with the devices "d" and "e".
class EncryptedBundle : public ::testing::Test {
protected:
  EncryptedBundle() {
    ::setenv("CLBIN_CACHE_DIR", m_cache.c_str(), 1);
    ::setenv("CLBIN_CACHE", "1", 1);
    for (const std::string& text : {std::string(k_payload), "for e: " + std::string(k_payload),
                                    std::string("BUILT"), std::string("BUILT FOR E")}) {
      m_driver.script_binary(text, {test::BinaryAnswer::accept, {k_program}, "", CL_SUCCESS});
    }
    const Bytes il = il_module();
    m_driver.script_binary(std::string(base::as_text(il)),
                           {test::BinaryAnswer::accept, {k_program}, "", CL_SUCCESS});
    m_driver.script_source({CL_SUCCESS, {k_program}, "", "BUILT", {"BUILT FOR E"}});
    m_load.resolver(&test::FakeDriver::resolve, &m_driver);
    use_key(CLBIN_KEY_CONTENT, content_key()->bytes());
  }
  ~EncryptedBundle() override { ::unsetenv("CLBIN_CACHE_DIR"); }

  void use_key(clbin_key_kind kind, base::ByteView bytes) {
    m_kind = kind;
    m_key = base::SecretBytes::copy_of(bytes);
  }

  [[nodiscard]] EncryptedOptions options() {
    return EncryptedOptions([this](const KeyRequest& request, clbin_key& key) {
      ++m_asked;
      m_request = request;
      EXPECT_EQ(key.struct_size, sizeof(key));
      std::memcpy(&key.kind, &m_kind, sizeof(m_kind));
      std::memcpy(key.bytes, m_key.view().data(), sizeof(key.bytes));
      return m_answer;
    });
  }

  cl_device_id add_il_device() {
    auto identity = test::unknown_identity("il");
    identity.il_versions = {"SPIR-V_1.2"};
    return m_driver.add_device(identity);
  }

  // "opened", or the status and the message.
  std::string open(const Bytes& bytes, EncryptedOptions chosen) {
    clbin_bundle* bundle = nullptr;
    clbin_error* raw = nullptr;
    const clbin_status status =
        clbin_open_memory(bytes.data(), bytes.size(), chosen.get(), &bundle, &raw);
    const detail::Handle<clbin_error, clbin_error_free> error(raw);
    EXPECT_EQ(bundle == nullptr, status != CLBIN_SUCCESS);
    clbin_close(bundle);
    return status == CLBIN_SUCCESS
               ? "opened"
               : std::string(clbin_status_name(status)) + ": " + clbin_error_message(raw);
  }

  std::string load(const Bundle& bundle, const std::vector<cl_device_id>& devices,
                   Report* report = nullptr, const std::string& program = k_program) {
    try {
      m_driver.functions().ReleaseProgram(
          bundle.load(m_driver.add_context(devices), devices, program, m_load, report));
      return "loaded";
    } catch (const Error& error) {
      return std::string(error.status_name()) + ": " + error.what();
    }
  }

  [[nodiscard]] std::vector<std::string> stored_entries() const {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator files(m_cache, error), end; files != end;
         files.increment(error)) {
      if (files->path().extension() == ".clbin") {
        names.push_back(files->path().filename());
      }
    }
    return names;
  }

  base::TemporaryFolder m_folder = base::TemporaryFolder::create({}, "encrypted-cache-").value();
  std::string m_cache = (m_folder.path() / "clbin").string();
  test::FakeDriver m_driver;
  cl_device_id m_device = m_driver.add_device(test::unknown_identity("d"));
  cl_device_id m_second = m_driver.add_device(test::unknown_identity("e"));
  cl_device_id m_unknown = m_driver.add_device(test::unknown_identity("another"));
  LoadOptions m_load;
  clbin_key_kind m_kind = CLBIN_KEY_CONTENT;
  base::SecretBytes m_key;
  int m_answer = 0; // of the key function
  int m_asked = 0;
  KeyRequest m_request;
};

// ---- Opening ----

TEST_F(EncryptedBundle, LoadsWithTheContentKeyAndAsksForItOnce) {
  const Bytes bytes = encrypted_bundle();
  const Bundle bundle = Bundle::from_memory(bytes, options());
  EXPECT_EQ(m_asked, 1);
  EXPECT_EQ(hex(m_request.key_id), to_hex(content_key()->id()));
  EXPECT_THAT(m_request.recipients, IsEmpty());
  Report report;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(load(bundle, {m_device}, &report), "loaded") << report.text();
    EXPECT_EQ(report.origin(), Origin::entry);
  }
  EXPECT_THAT(m_driver.calls(), Contains(std::string("create_binary ") + k_payload).Times(2));
  bundle.verify();
  EXPECT_EQ(bundle.list().at(1).entries.at(0).kernels.at(0).argument_count, 1U);
  EXPECT_EQ(m_asked, 1);
}

TEST_F(EncryptedBundle, OpensFromAFileMemoryAndACallback) {
  const Bytes bytes = encrypted_bundle();
  const std::string path = (m_folder.path() / "k.clbin").string();
  std::ofstream(path, std::ios::binary) << base::as_text(bytes);
  const Bundle from_file = Bundle::open(path, options());
  const Bundle from_memory = Bundle::from_memory(bytes.data(), bytes.size(), options());
  const auto read = [&bytes](std::uint64_t offset, void* buffer, std::size_t size) {
    std::memcpy(buffer, bytes.data() + offset, size);
    return 0;
  };
  const Bundle from_callback = Bundle::from_callback(read, bytes.size(), options());
  for (const Bundle* const bundle : {&from_file, &from_memory, &from_callback}) {
    EXPECT_EQ(load(*bundle, {m_device}), "loaded");
    bundle->verify();
  }
  EXPECT_EQ(m_asked, 3);
}

TEST_F(EncryptedBundle, NeedsNoKeyIfItIsPlain) {
  const Bytes bytes = plain_bundle();
  const Bundle bundle = Bundle::from_memory(bytes, options());
  EXPECT_EQ(load(bundle, {m_device}), "loaded");
  EXPECT_EQ(m_asked, 0);
}

TEST_F(EncryptedBundle, ListsTheRecipientsAndOpensWithTheKeyOfOne) {
  const auto one = base::RecipientSecretKey::generate();
  const auto two = base::RecipientSecretKey::generate();
  const Bytes bytes = sealed_bundle({one.public_key(), two.public_key()});
  for (const base::RecipientSecretKey* const secret : {&one, &two}) {
    use_key(CLBIN_KEY_RECIPIENT, secret->bytes());
    const Bundle bundle = Bundle::from_memory(bytes, options());
    EXPECT_EQ(load(bundle, {m_device}), "loaded");
  }
  EXPECT_EQ(hex(m_request.key_id), to_hex(content_key()->id()));
  ASSERT_EQ(m_request.recipients.size(), 2U);
  EXPECT_THAT(
      (std::vector<std::string>{hex(m_request.recipients[0]), hex(m_request.recipients[1])}),
      ::testing::UnorderedElementsAre(to_hex(one.public_key()), to_hex(two.public_key())));
  use_key(CLBIN_KEY_CONTENT, content_key()->bytes()); // opens a sealed bundle, too
  EXPECT_EQ(open(bytes, options()), "opened");
}

TEST_F(EncryptedBundle, RefusesAKeyThatDoesNotOpenIt) {
  const auto recipient = base::RecipientSecretKey::generate();
  const Bytes given = encrypted_bundle();
  const Bytes sealed = sealed_bundle({recipient.public_key()});
  use_key(CLBIN_KEY_CONTENT, content_key(2)->bytes());
  EXPECT_THAT(open(given, options()), HasSubstr("CLBIN_ERROR_WRONG_KEY: "));
  EXPECT_THAT(open(sealed, options()), HasSubstr("CLBIN_ERROR_WRONG_KEY: "));
  use_key(CLBIN_KEY_RECIPIENT, base::RecipientSecretKey::generate().bytes());
  EXPECT_THAT(open(given, options()), HasSubstr("CLBIN_ERROR_WRONG_KEY: "));
  EXPECT_THAT(open(sealed, options()), HasSubstr("CLBIN_ERROR_WRONG_KEY: "));
  use_key(CLBIN_KEY_CONTENT, recipient.bytes()); // of the wrong kind
  EXPECT_THAT(open(sealed, options()), HasSubstr("CLBIN_ERROR_WRONG_KEY: "));
  use_key(static_cast<clbin_key_kind>(0), recipient.bytes());
  EXPECT_EQ(open(sealed, options()),
            "CLBIN_ERROR_INVALID_ARGUMENT: the key function stored a key of kind 0");
  EXPECT_THAT(m_driver.calls(), IsEmpty());
}

TEST_F(EncryptedBundle, ReturnsTheNumberOfAKeyFunctionThatRefuses) {
  m_answer = 7;
  EXPECT_EQ(open(encrypted_bundle(), options()),
            "CLBIN_ERROR_ENCRYPTED: the bundle is encrypted, and the key function returned 7");
  EXPECT_EQ(m_asked, 1);
}

TEST_F(EncryptedBundle, AsksForTheKeyOnlyAfterTheSignatureHolds) {
  const auto required = [this] {
    EncryptedOptions chosen = options();
    chosen.require(SignedOptions(trusted_key()));
    return chosen;
  };
  const Bytes bytes = signed_bundle(encrypted_bundle());
  EXPECT_THAT(open(encrypted_bundle(), required()), HasSubstr("CLBIN_ERROR_NOT_SIGNED: "));
  Bytes changed = bytes;
  changed[changed.size() - 8] ^= std::byte{1}; // in a record
  EXPECT_NE(open(changed, required()), "opened");
  changed = bytes;
  changed[40] ^= std::byte{1}; // in the prefix
  EXPECT_NE(open(changed, required()), "opened");
  EXPECT_EQ(m_asked, 0);

  const Bundle bundle = Bundle::from_memory(bytes, required());
  EXPECT_EQ(m_asked, 1);
  EXPECT_EQ(bundle.counter(), test::k_signed_counter);
  EXPECT_EQ(load(bundle, {m_device}), "loaded");
}

TEST_F(EncryptedBundle, RejectsOptionsThatContradictEachOther) {
  const Bytes bytes = plain_bundle();
  clbin_open_options given{};
  given.struct_size = sizeof(given);
  const auto message = [&] {
    clbin_bundle* bundle = nullptr;
    clbin_error* raw = nullptr;
    EXPECT_EQ(clbin_open_memory(bytes.data(), bytes.size(), &given, &bundle, &raw),
              CLBIN_ERROR_INVALID_ARGUMENT);
    const detail::Handle<clbin_error, clbin_error_free> error(raw);
    return std::string(clbin_error_message(raw));
  };
  given.decrypted_builds = CLBIN_SWITCH_OFF;
  EXPECT_EQ(message(), "'decrypted_builds' is set, but 'key' is NULL");
  given.key = [](const clbin_key_request*, clbin_key*, void*) { return 1; };
  given.decrypted_builds = static_cast<clbin_switch>(3);
  EXPECT_EQ(message(), "'decrypted_builds' is 3");
  const clbin::PublicKey trusted = trusted_key();
  given.decrypted_builds = CLBIN_SWITCH_ON;
  given.signature_policy = CLBIN_SIGNATURES_REQUIRED;
  given.public_keys = trusted.data();
  given.public_key_count = 1;
  EXPECT_EQ(message(), "'decrypted_builds' is on, but 'unsigned_builds' is not, and "
                       "'signature_policy' requires a signature");
}

// ---- Without a key ----

TEST_F(EncryptedBundle, ListsWithoutAKeyWhatIsNotEncrypted) {
  const Bytes bytes = encrypted_bundle();
  const Bundle bundle = Bundle::from_memory(bytes);
  const std::vector<Group> groups = bundle.list();
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[1].program, k_program);
  EXPECT_EQ(groups[1].options, k_options);
  EXPECT_TRUE(groups[1].has_source);
  ASSERT_EQ(groups[1].entries.size(), 3U);
  const auto is_of_d = [](const Entry& entry) { return entry.device == "d"; };
  const auto entry = std::find_if(groups[1].entries.begin(), groups[1].entries.end(), is_of_d);
  ASSERT_NE(entry, groups[1].entries.end());
  EXPECT_EQ(entry->raw_bytes, std::strlen(k_payload));
  EXPECT_GT(entry->stored_bytes, base::k_encryption_bytes);
  EXPECT_NE(entry->raw_digest, base::to_hex(base::digest_of(test::bytes_of(k_payload))));
  ASSERT_EQ(entry->kernels.size(), 1U);
  EXPECT_EQ(entry->kernels[0].name, k_program);
  EXPECT_EQ(entry->kernels[0].argument_count, std::nullopt);
}

TEST_F(EncryptedBundle, ReturnsEncryptedWhereContentsAreNeeded) {
  const Bytes bytes = encrypted_bundle();
  const Bundle bundle = Bundle::from_memory(bytes);
  EXPECT_THAT(load(bundle, {m_device}), HasSubstr("CLBIN_ERROR_ENCRYPTED: "));
  EXPECT_THAT(load(bundle, {m_unknown}), HasSubstr("CLBIN_ERROR_ENCRYPTED: ")); // the source
  EXPECT_THAT(load(bundle, {m_device, m_second}), HasSubstr("CLBIN_ERROR_ENCRYPTED: "));
  m_load.fallback(Fallback::always);
  EXPECT_THAT(load(bundle, {m_device}), HasSubstr("is encrypted, and no key was given"));
  EXPECT_THAT(m_driver.calls(), IsEmpty());
  try {
    (void)bundle.select(query_identity(m_device, m_load), k_program);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), CLBIN_ERROR_ENCRYPTED) << error.what();
  }
  try {
    bundle.verify();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), CLBIN_ERROR_ENCRYPTED) << error.what();
  }
}

TEST_F(EncryptedBundle, ChecksWithoutAKeyAllButTheContents) {
  Bytes bytes = encrypted_bundle();
  bytes[bytes.size() - 16] ^= std::byte{1};
  const Bundle bundle = Bundle::from_memory(bytes);
  try {
    bundle.verify();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.status(), ::testing::AnyOf(CLBIN_ERROR_DIGEST_MISMATCH, CLBIN_ERROR_DAMAGED))
        << error.what();
  }
}

// Returns the listing without white space.
std::string listing_of(const Bundle& bundle) {
  std::string text = bundle.list_json();
  std::erase_if(text, [](char character) { return character == ' ' || character == '\n'; });
  return text;
}

TEST_F(EncryptedBundle, ListingNamesTheKeyAndTheRecipients) {
  const auto recipient = base::RecipientSecretKey::generate();
  const Bytes bytes = sealed_bundle({recipient.public_key()});
  const std::string members = R"("key_id":")" + to_hex(content_key()->id()) +
                              R"(","recipients":[")" + to_hex(recipient.public_key()) + R"("]})";
  const std::string locked = listing_of(Bundle::from_memory(bytes));
  EXPECT_THAT(locked, HasSubstr(R"("encrypted":{"key_given":false,)" + members));
  EXPECT_THAT(locked, HasSubstr(R"("errors":[])"));
  EXPECT_THAT(locked, HasSubstr(R"("build_log":null)"));
  EXPECT_THAT(locked, HasSubstr(R"("source_kept":true,"sources":[])"));
  const std::string unlocked = listing_of(Bundle::from_memory(bytes, options()));
  EXPECT_THAT(unlocked, HasSubstr(R"("encrypted":{"key_given":true,)" + members));
  EXPECT_THAT(unlocked, HasSubstr(R"("build_log":"")"));
  EXPECT_THAT(unlocked, HasSubstr(R"("name":"saxpy.cl")"));
  const Bytes plain = plain_bundle();
  EXPECT_THAT(listing_of(Bundle::from_memory(plain)), Not(HasSubstr("encrypted")));
}

// ---- What reaches the driver ----

TEST_F(EncryptedBundle, LoadsForSeveralDevices) {
  m_driver.script_together(test::TogetherAnswer::accept);
  const Bytes bytes = encrypted_bundle();
  const Bundle bundle = Bundle::from_memory(bytes, options());
  Report report;
  EXPECT_EQ(load(bundle, {m_device, m_second}, &report), "loaded");
  EXPECT_EQ(report.origin(), Origin::entry) << report.text();
  EXPECT_EQ(load(bundle, {m_unknown, m_second}, &report), "loaded");
  EXPECT_EQ(report.origin(), Origin::source) << report.text();
  EXPECT_THAT(stored_entries(), IsEmpty());
}

TEST_F(EncryptedBundle, LoadsIlWithSpecializationConstants) {
  const cl_device_id device = add_il_device();
  m_load.specialization_constant(3, std::uint16_t{7});
  const Bytes bytes = encrypted_bundle();
  Report report;
  for (int i = 0; i < 2; ++i) {
    const Bundle bundle = Bundle::from_memory(bytes, options());
    EXPECT_EQ(load(bundle, {device}, &report, k_il_program), "loaded") << report.text();
    EXPECT_EQ(report.origin(), Origin::il) << report.text();
  }
  EXPECT_THAT(m_driver.calls(), Contains("set_constant 3 0700").Times(2));
  EXPECT_THAT(stored_entries(), IsEmpty());
}

TEST_F(EncryptedBundle, NoChangedByteReachesTheDriver) {
  const Bytes good = encrypted_bundle();
  std::size_t opened = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    Bytes bytes = good;
    bytes[at] ^= std::byte{1} << (at % 8);
    try {
      const Bundle bundle = Bundle::from_memory(bytes, options());
      ++opened;
      m_driver.forget_calls();
      m_load.fallback(Fallback::never);
      (void)load(bundle, {m_device});
    } catch (const Error&) {
      continue;
    }
    for (const std::string& call : m_driver.calls()) {
      ASSERT_TRUE(!call.starts_with("create_binary") ||
                  call == std::string("create_binary ") + k_payload)
          << "byte " << at << ": " << call;
    }
  }
  EXPECT_GT(opened, 0U);
}

// Both bundles have the same key and sizes.
TEST_F(EncryptedBundle, UsesNoBytesOfAnotherBundleThatAppearsBetweenReads) {
  const Bytes one = encrypted_bundle();
  const Bytes two = encrypted_bundle(k_other_payload);
  ASSERT_EQ(one.size(), two.size());
  std::size_t last = 1;
  std::size_t refused = 0;
  for (std::size_t change = 1; change <= last; ++change) {
    std::size_t reads = 0;
    const auto read = [&](std::uint64_t offset, void* buffer, std::size_t size) {
      std::memcpy(buffer, (reads++ < change ? one : two).data() + offset, size);
      return 0;
    };
    m_driver.forget_calls();
    try {
      const Bundle bundle = Bundle::from_callback(read, one.size(), options());
      (void)load(bundle, {m_device});
      bundle.verify();
    } catch (const Error&) {
      ++refused;
    }
    last = std::max(last, reads);
    EXPECT_THAT(m_driver.calls(), Not(Contains(HasSubstr(k_other_payload)))) << change;
  }
  EXPECT_GT(refused, 5U);
}

TEST_F(EncryptedBundle, SeveralThreadsReadIt) {
  const Bytes bytes = encrypted_bundle();
  const Bundle bundle = Bundle::from_memory(bytes, options());
  const Identity identity = query_identity(m_device, m_load);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        const Selection selection = bundle.select(identity, k_program);
        EXPECT_EQ(base::as_text(base::ByteView(selection.data().data(), selection.data().size())),
                  k_payload);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

// ---- The user cache and builds ----

TEST_F(EncryptedBundle, LeavesNothingInTheUserCache) {
  const Bytes bytes = encrypted_bundle();
  Report report;
  for (int i = 0; i < 2; ++i) {
    const Bundle bundle = Bundle::from_memory(bytes, options());
    EXPECT_EQ(load(bundle, {m_unknown}, &report), "loaded");
    EXPECT_EQ(report.origin(), Origin::source) << report.text();
    EXPECT_THAT(report.text(), HasSubstr("off: the bundle is encrypted, and its entries would not "
                                         "be"));
    m_load.build_options("-DRUN_TIME");
    EXPECT_EQ(load(bundle, {m_device}, &report), "loaded");
    EXPECT_EQ(report.origin(), Origin::source) << report.text();
    m_load.build_options("");
    EXPECT_EQ(load(bundle, {m_device}, &report), "loaded");
  }
  EXPECT_THAT(stored_entries(), IsEmpty());
  // Markers of the quarantine exist, and show nothing.
  EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(m_cache) / "attempts"));
  for (const std::string text : {k_source, k_payload, "BUILT", "secret_values"}) {
    EXPECT_THAT(test::files_that_contain(m_cache, test::bytes_of(text)), IsEmpty()) << text;
  }
  EXPECT_THAT(test::files_that_show(m_cache, content_key()->bytes()), IsEmpty());
}

TEST_F(EncryptedBundle, ReadsNothingOfTheUserCache) {
  const Bytes plain = plain_bundle();
  EXPECT_EQ(load(Bundle::from_memory(plain), {m_unknown}), "loaded");
  ASSERT_THAT(stored_entries(), Not(IsEmpty()));
  const Bytes bytes = encrypted_bundle();
  Report report;
  EXPECT_EQ(load(Bundle::from_memory(bytes, options()), {m_unknown}, &report), "loaded");
  EXPECT_EQ(report.origin(), Origin::source);
}

TEST_F(EncryptedBundle, UsesTheUserCacheIfTheCallerSaysSo) {
  const Bytes bytes = encrypted_bundle();
  const auto origin = [&] {
    const Bundle bundle = Bundle::from_memory(bytes, options().allow_decrypted_builds());
    Report report;
    EXPECT_EQ(load(bundle, {m_unknown}, &report), "loaded");
    return report.origin();
  };
  EXPECT_EQ(origin(), Origin::source);
  EXPECT_THAT(stored_entries(), Not(IsEmpty()));
  EXPECT_EQ(origin(), Origin::user_cache);
  EXPECT_THAT(test::files_that_show(m_cache, content_key()->bytes()), IsEmpty());
}

TEST_F(EncryptedBundle, ThatIsSignedUsesTheUserCacheIfBothSwitchesAreOn) {
  const Bytes bytes = signed_bundle(encrypted_bundle());
  Report report;
  SignedOptions required(trusted_key());
  required.allow_unsigned_builds();
  (void)load(Bundle::from_memory(bytes, options().require(required)), {m_unknown}, &report);
  EXPECT_EQ(report.origin(), Origin::source);
  EXPECT_THAT(stored_entries(), IsEmpty());
  for (const Origin origin : {Origin::source, Origin::user_cache}) {
    (void)load(Bundle::from_memory(bytes, options().allow_decrypted_builds().require(required)),
               {m_unknown}, &report);
    EXPECT_EQ(report.origin(), origin);
  }
}

// ---- Layers ----

struct ObservedLayer {
  const test::FakeDriver* driver = nullptr;
  std::vector<std::string> asked{};
  std::vector<std::string> after{};
};

// A layer that hands out the function with which libclbin_layer.so forgets a program.
class ForgettingLayer {
public:
  // Observes the calls of `driver`, under which libclbin finds the layer.
  explicit ForgettingLayer(const test::FakeDriver& driver) { s_state = {&driver, {}, {}}; }
  ~ForgettingLayer() { s_state = {}; }
  ForgettingLayer(const ForgettingLayer&) = delete;
  ForgettingLayer& operator=(const ForgettingLayer&) = delete;

  // For LoadOptions::resolver; `user_data` is the FakeDriver.
  static void* resolve(const char* name, void* user_data) {
    return name == std::string_view("clGetExtensionFunctionAddress")
               ? reinterpret_cast<void*>(function)
               : test::FakeDriver::resolve(name, user_data);
  }

  // The names of functions that libclbin asked for.
  [[nodiscard]] static const std::vector<std::string>& asked() { return s_state.asked; }
  // The last call of the driver before each call of the function.
  [[nodiscard]] static const std::vector<std::string>& after() { return s_state.after; }

private:
  static void* CL_API_CALL function(const char* name) {
    s_state.asked.emplace_back(name);
    return s_state.asked.back() == "clbinKeepNothingOf" ? reinterpret_cast<void*>(keep_nothing_of)
                                                        : nullptr;
  }
  static void CL_API_CALL keep_nothing_of(cl_program program) {
    EXPECT_NE(program, nullptr);
    s_state.after.push_back(s_state.driver->calls().back());
  }

  // The function that asks for a function has no parameter through which it could find its state.
  static inline ObservedLayer s_state{};
};

class EncryptedBundleUnderALayer : public EncryptedBundle {
protected:
  EncryptedBundleUnderALayer() { m_load.resolver(&ForgettingLayer::resolve, &m_driver); }

  ForgettingLayer m_layer{m_driver};
};

TEST_F(EncryptedBundleUnderALayer, TellsItToForgetSourceAndIlBeforeTheBuild) {
  const cl_device_id il_device = add_il_device();
  const Bytes bytes = encrypted_bundle();
  const Bundle bundle = Bundle::from_memory(bytes, options());
  Report report;
  EXPECT_EQ(load(bundle, {m_unknown}, &report), "loaded");
  EXPECT_EQ(report.origin(), Origin::source) << report.text();
  EXPECT_EQ(load(bundle, {il_device}, &report, k_il_program), "loaded");
  EXPECT_EQ(report.origin(), Origin::il) << report.text();
  EXPECT_THAT(ForgettingLayer::after(), ElementsAre("create_source", "create_il of 32 bytes"));
  EXPECT_EQ(load(bundle, {m_device}, &report), "loaded"); // layers store no binary
  EXPECT_EQ(report.origin(), Origin::entry) << report.text();
  EXPECT_EQ(ForgettingLayer::after().size(), 2U);
}

TEST_F(EncryptedBundleUnderALayer, AsksItForNothingIfTheCallerAllowsDecryptedBuilds) {
  const Bytes bytes = encrypted_bundle();
  const Bundle bundle = Bundle::from_memory(bytes, options().allow_decrypted_builds());
  EXPECT_EQ(load(bundle, {m_unknown}), "loaded");
  EXPECT_THAT(m_driver.calls(), Contains("create_source"));
  EXPECT_THAT(ForgettingLayer::asked(), IsEmpty());
}

TEST_F(EncryptedBundleUnderALayer, AsksItForNothingIfTheBundleIsPlain) {
  const Bytes bytes = plain_bundle();
  const Bundle bundle = Bundle::from_memory(bytes, options());
  EXPECT_EQ(load(bundle, {m_unknown}), "loaded");
  EXPECT_THAT(m_driver.calls(), Contains("create_source"));
  EXPECT_THAT(ForgettingLayer::asked(), IsEmpty());
}

class EncryptedBuilder : public EncryptedBundle {
protected:
  EncryptedBuilder() {
    m_source.options = k_options;
    m_settings.struct_size = sizeof(m_settings);
    m_settings.cache = CLBIN_SWITCH_ON;
  }

  Origin build(const Builder& builder, cl_device_id device, Report* report = nullptr) {
    Report own;
    Report& filled = report == nullptr ? own : *report;
    m_driver.functions().ReleaseProgram(
        builder.build(m_driver.add_context({device}), device, m_source, m_load, &filled));
    return filled.origin();
  }

  Bytes m_bytes = encrypted_bundle();
  Source m_source{k_source};
  clbin_builder_options m_settings{};
};

TEST_F(EncryptedBuilder, RefusesABundleThatWasOpenedWithoutAKey) {
  const Builder builder(&m_settings);
  const Bundle locked = Bundle::from_memory(m_bytes);
  try {
    builder.add_bundle(locked);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), CLBIN_ERROR_ENCRYPTED);
    EXPECT_STREQ(error.what(), "'memory' is encrypted, and was opened without a key");
  }
}

TEST_F(EncryptedBuilder, ServesEntriesAndKeepsNothingOfTheBundlesSource) {
  const Bundle bundle = Bundle::from_memory(m_bytes, options());
  for (int i = 0; i < 2; ++i) {
    const Builder builder(&m_settings);
    builder.add_bundle(bundle);
    EXPECT_EQ(build(builder, m_device), Origin::entry);
    Report report;
    EXPECT_EQ(build(builder, m_unknown, &report), Origin::source);
    EXPECT_THAT(report.text(),
                HasSubstr("not used: 'memory', which is encrypted, contains the program"));
    m_source.options = "-DOTHER"; // the same source in a variant that the bundle does not contain
    EXPECT_EQ(build(builder, m_unknown, &report), Origin::source);
    EXPECT_THAT(report.text(), Not(HasSubstr("differs"))) << "nothing that it contains is told";
    m_source.options = k_options;
  }
  EXPECT_THAT(stored_entries(), IsEmpty());
}

TEST_F(EncryptedBuilder, KeepsNothingOfTheBundlesIl) {
  const cl_device_id device = add_il_device();
  for (int i = 0; i < 2; ++i) {
    const Bundle bundle = Bundle::from_memory(m_bytes, options());
    const Builder builder(&m_settings);
    builder.add_bundle(bundle);
    EXPECT_EQ(build(builder, device), Origin::il);
  }
  EXPECT_THAT(stored_entries(), IsEmpty());
  for (const Origin origin : {Origin::il, Origin::user_cache}) {
    const Bundle bundle = Bundle::from_memory(m_bytes, options().allow_decrypted_builds());
    const Builder builder(&m_settings);
    builder.add_bundle(bundle);
    EXPECT_EQ(build(builder, device), origin);
  }
}

TEST_F(EncryptedBuilder, TellsALayerToForgetTheBundlesSourceAndNoOther) {
  const ForgettingLayer layer(m_driver);
  m_load.resolver(&ForgettingLayer::resolve, &m_driver);
  const Bundle bundle = Bundle::from_memory(m_bytes, options());
  const Builder builder(&m_settings);
  builder.add_bundle(bundle);
  for (const Fallback fallback : {Fallback::if_needed, Fallback::always}) {
    m_load.fallback(fallback);
    EXPECT_EQ(build(builder, m_unknown), Origin::source);
  }
  EXPECT_THAT(ForgettingLayer::after(), ElementsAre("create_source", "create_source"));
  m_source = Source("kernel void another() {}\n");
  EXPECT_EQ(build(builder, m_unknown), Origin::source);
  EXPECT_EQ(ForgettingLayer::after().size(), 2U);
  EXPECT_EQ(ForgettingLayer::asked().size(), 2U);
}

TEST_F(EncryptedBuilder, KeepsWhatTheCallerSaysSoAndOtherSources) {
  {
    const Bundle open_bundle = Bundle::from_memory(m_bytes, options().allow_decrypted_builds());
    const Builder builder(&m_settings);
    builder.add_bundle(open_bundle);
    EXPECT_EQ(build(builder, m_unknown), Origin::source);
  }
  EXPECT_EQ(stored_entries().size(), 1U);
  const Bundle bundle = Bundle::from_memory(m_bytes, options());
  for (const Origin origin : {Origin::source, Origin::user_cache}) {
    const Builder builder(&m_settings);
    builder.add_bundle(bundle);
    EXPECT_EQ(build(builder, m_unknown), Origin::source); // the entry exists, and is not read
    m_source = Source("kernel void saxpy(global float* others) {}\n");
    EXPECT_EQ(build(builder, m_unknown), origin);
    m_source = Source(k_source, k_options);
  }
  EXPECT_EQ(stored_entries().size(), 2U);
}

// Changes a byte of the first source.
Bytes with_damaged_source(Bytes bundle) {
  const format::BundleReader reader = test::must_open(bundle);
  for (std::uint32_t i = 0; i < reader.group_count(); ++i) {
    const format::GroupView group = reader.group(i).value();
    if (group.source_blob == format::k_no_index) {
      continue;
    }
    const format::BlobView source = reader.blob(group.source_blob).value();
    for (std::size_t at = 0; at + source.stored_bytes <= bundle.size(); at += 8) {
      const auto stored =
          base::ByteView(bundle).subspan(at, static_cast<std::size_t>(source.stored_bytes));
      if (base::digest_of(stored) == source.stored_digest) {
        Bytes damaged = bundle;
        damaged[at] ^= std::byte{1};
        return damaged;
      }
    }
  }
  ADD_FAILURE() << "the bundle has no source";
  return {};
}

TEST_F(EncryptedBuilder, KeepsNothingIfItCannotTellWhetherTheSourceIsInTheBundle) {
  const base::Bytes damaged = with_damaged_source(m_bytes);
  const Bundle bundle = Bundle::from_memory(damaged, options());
  for (int i = 0; i < 2; ++i) {
    const Builder builder(&m_settings);
    builder.add_bundle(bundle);
    Report report;
    EXPECT_EQ(build(builder, m_unknown, &report), Origin::source);
    EXPECT_THAT(report.text(), HasSubstr("not used: 'memory', which is encrypted, contains the "
                                         "program, or cannot be searched"));
  }
  EXPECT_THAT(stored_entries(), IsEmpty());
}

// ---- Keys ----

// Both kinds of files, and their second lines.
TEST(KeyText, IsReadFromFilesAndTheirSecondLine) {
  const auto recipient = base::RecipientSecretKey::generate();
  const auto second_line = [](const std::string& file) { return file.substr(file.find('\n') + 1); };
  const base::SecretBytes content_file = base::content_key_file(*content_key());
  const base::SecretBytes recipient_file = base::recipient_secret_key_file(recipient);
  const std::string of_content(base::as_text(content_file.view()));
  const std::string of_recipient(base::as_text(recipient_file.view()));
  for (const std::string& text : {of_content, second_line(of_content)}) {
    clbin_key key{};
    read_key(text, key);
    EXPECT_EQ(key.kind, CLBIN_KEY_CONTENT);
    EXPECT_EQ(std::memcmp(key.bytes, content_key()->bytes().data(), sizeof(key.bytes)), 0);
  }
  for (const std::string& text : {of_recipient, second_line(of_recipient)}) {
    clbin_key key{};
    read_key(text, key);
    EXPECT_EQ(key.kind, CLBIN_KEY_RECIPIENT);
    EXPECT_EQ(std::memcmp(key.bytes, recipient.bytes().data(), sizeof(key.bytes)), 0);
  }
}

std::string error_of_key(const std::string& text) {
  clbin_key key{};
  try {
    read_key(text, key);
  } catch (const Error& error) {
    for (const std::uint8_t byte : key.bytes) {
      EXPECT_EQ(byte, 0U);
    }
    return std::string(error.status_name()) + ": " + error.what();
  }
  return "read";
}

TEST(KeyText, OfAnotherKindIsNamed) {
  const auto recipient = base::RecipientSecretKey::generate();
  EXPECT_THAT(error_of_key(base::recipient_public_key_file(recipient.public_key())),
              HasSubstr("CLBIN_ERROR_INVALID_ARGUMENT: "));
  const base::MinisignPublicKey of_minisign{{}, test::old_key().public_key()};
  EXPECT_THAT(error_of_key(base::minisign_public_key_file(of_minisign)), HasSubstr("minisign"));
  EXPECT_THAT(error_of_key(""), HasSubstr("CLBIN_ERROR_INVALID_ARGUMENT: "));
  EXPECT_THAT(error_of_key("my secret"), Not(HasSubstr("my secret")));
  clbin_key key{};
  EXPECT_EQ(clbin_key_from_text("", &key, nullptr), CLBIN_ERROR_INVALID_ARGUMENT); // no struct_size
  key.struct_size = sizeof(key);
  EXPECT_EQ(clbin_key_from_text(nullptr, &key, nullptr), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(clbin_key_from_text("", nullptr, nullptr), CLBIN_ERROR_INVALID_ARGUMENT);
}

} // namespace
} // namespace clbin
