// Loads through clbin.hpp, with raw handles and a scripted driver.
#include "clbin/clbin.hpp"

#include "format/bundle/bundle_surgery.hpp"
#include "format/bundle/known_answers.hpp"
#include "golden/signed_bundles.hpp"
#include "support/bundle_samples.hpp"
#include "support/crafted_bundle.hpp"
#include "support/fake_driver.hpp"
#include "support/sample_bundle.hpp"
#include "support/sample_identities.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ClbinHppLoad : public ::testing::Test {
protected:
  ClbinHppLoad() { m_options.resolver(&test::FakeDriver::resolve, &m_driver); }

  base::Bytes m_bytes = test::sample_bundle();
  Bundle m_bundle = Bundle::from_memory(m_bytes);
  test::FakeDriver m_driver;
  cl_device_id m_device = m_driver.add_device(test::unknown_identity("d"));
  cl_context m_context = m_driver.add_context({m_device});
  LoadOptions m_options;
};

TEST_F(ClbinHppLoad, HandsOutAProgramToBeReleased) {
  m_driver.script_binary(test::k_sample_payload,
                         {test::BinaryAnswer::accept, {"saxpy"}, "", CL_SUCCESS});
  Report report;
  cl_program program = m_bundle.load(m_context, m_device, "saxpy", m_options, &report);
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(m_driver.live_programs(), 1);
  m_driver.functions().ReleaseProgram(program);
  EXPECT_EQ(report.origin(), Origin::entry);
  ASSERT_EQ(report.attempts().size(), 1U);
  EXPECT_EQ(report.attempts()[0].decision, Decision::loaded);
  EXPECT_EQ(report.attempts()[0].rule, "exact identity");
  EXPECT_EQ(report.attempts()[0].rule_number, Rule::exact_identity);
}

// The sample with a known answer, that the kernel changes nothing, and a measurement.
base::Bytes measured_bundle() {
  auto input = format::unpack_bundle(test::must_open(test::sample_bundle())).value();
  format::ProgramInput& program = input.programs.front();
  format::Measurement measurement = test::sample_measurement("default", "d", 1000);
  measurement.kernel = "saxpy";
  measurement.local_size = {64, 1, 1};
  measurement.device = format::measured_device(test::unknown_identity("d"), 0);
  measurement.source =
      base::to_hex(base::digest_of(format::encode_source_package(*program.source)));
  program.measurements = {measurement};
  format::KnownAnswer answer{"default", "saxpy", 1, {4, 1, 1}};
  format::LaunchArgument buffer{format::ArgumentKind::buffer};
  buffer.count = 4;
  answer.results = {format::expected_buffer(0, buffer.type, format::fill_buffer(buffer))};
  answer.arguments = {buffer};
  program.answers = {answer};
  return test::must_write(input);
}

TEST_F(ClbinHppLoad, ChecksKnownAnswersAndRecommendsAWorkGroup) {
  const base::Bytes bytes = measured_bundle();
  const Bundle bundle = Bundle::from_memory(bytes);
  m_driver.script_binary(test::k_sample_payload,
                         {test::BinaryAnswer::accept, {"saxpy"}, "", CL_SUCCESS});
  Report report;
  m_options.check_answers(Answers::always, 60'000);
  m_driver.functions().ReleaseProgram(
      bundle.load(m_context, m_device, "saxpy", m_options, &report));
  EXPECT_THAT(report.attempts().at(0).reason, HasSubstr("gives its known answers"));
  const std::size_t limit = 256;
  m_driver.script_device_value(m_device, CL_DEVICE_MAX_WORK_GROUP_SIZE,
                               {reinterpret_cast<const char*>(&limit), sizeof limit});
  const auto recommended = [&](std::size_t items) {
    const std::vector<std::size_t> global = {items};
    return bundle.recommended_size(m_device, "saxpy", "saxpy", global, "default", m_options);
  };
  EXPECT_THAT(recommended(1024), ElementsAre(64U));
  EXPECT_THAT(recommended(1), ElementsAre());
  EXPECT_THROW((void)recommended(0), Error);
}

// The sample, whose variant "fast" is the fastest one in launches of 2^20 work-items only.
base::Bytes bundle_of_two_classes() {
  auto input = format::unpack_bundle(test::must_open(test::sample_bundle())).value();
  format::ProgramInput& program = input.programs.front();
  for (const auto& [variant, items, time] :
       {std::tuple("default", 1024U, 100U), std::tuple("fast", 1024U, 200U),
        std::tuple("default", 1U << 20U, 50'000U), std::tuple("fast", 1U << 20U, 20'000U)}) {
    format::Measurement& one =
        program.measurements.emplace_back(test::sample_measurement(variant, "d", time));
    one.global_size[0] = items;
    one.device = format::measured_device(test::unknown_identity("d"), 0);
    one.source = base::to_hex(base::digest_of(format::encode_source_package(*program.source)));
  }
  return test::must_write(input);
}

TEST_F(ClbinHppLoad, LoadsTheVariantThatWasFastestNearTheProblemSize) {
  base::Bytes bytes = bundle_of_two_classes();
  Bundle bundle = Bundle::from_memory(bytes);
  m_driver.script_source({CL_SUCCESS, {"saxpy"}, ""});
  const auto chosen_for = [&](const std::vector<std::size_t>& size) {
    Report report;
    m_options.problem_size(size);
    m_driver.functions().ReleaseProgram(
        bundle.load(m_context, m_device, "saxpy", m_options, &report));
    EXPECT_THAT(report.json(), HasSubstr("\"variant_reason\":\"" + report.variant_reason()));
    return report.variant() + ", " + report.variant_reason();
  };
  EXPECT_EQ(chosen_for({1000}),
            "default, which was the fastest of 'default' and 'fast' in launches of 1024, the "
            "nearest to 1000, measured on this device with this driver");
  EXPECT_EQ(chosen_for({1 << 20}),
            "fast, which was the fastest of 'fast' and 'default' in launches of 1048576, measured "
            "on this device with this driver");
  const std::string of_all = "fast, which was the fastest of 'fast' and 'default', measured on "
                             "this device with this driver";
  EXPECT_EQ(chosen_for({}), of_all);
  EXPECT_EQ(chosen_for({1024, 1}), of_all);
  EXPECT_THROW((void)chosen_for({1024, 0}), Error);
}

TEST_F(ClbinHppLoad, IgnoresTheProblemSizeIfTheManifestCannotBeRead) {
  const base::Bytes bytes = bundle_of_two_classes();
  clbin_open_options limits{};
  limits.struct_size = sizeof(limits);
  limits.max_memory_bytes = 1000; // the source needs less
  const Bundle bundle = Bundle::from_memory(bytes, &limits);
  m_driver.script_source({CL_SUCCESS, {"saxpy"}, ""});
  Report report;
  m_options.problem_size({1000});
  m_driver.functions().ReleaseProgram(
      bundle.load(m_context, m_device, "saxpy", m_options, &report));
  EXPECT_EQ(report.variant(), "fast");
  EXPECT_EQ(report.variant_reason(), "which was the fastest of 'fast' and 'default', measured on "
                                     "this device with this driver");
  EXPECT_THAT(report.warnings(),
              Contains(HasSubstr("the problem size did not choose the variant: manifest of program "
                                 "'saxpy'")));
}

// A base without entries, and a pack with those of the sample, as `oclcc --split` writes them.
struct Packs {
  base::Bytes base;
  base::Bytes pack = test::sample_bundle();
};
Packs packs_of_sample(const format::WriteOptions& options = {}) {
  Packs packs;
  auto input = format::unpack_bundle(test::must_open(packs.pack)).value();
  packs.pack = format::write_bundle(input, options).value();
  const auto reader = test::must_open(packs.pack);
  format::WriteOptions base = options;
  for (std::uint32_t i = 0; i < reader.entry_count(); ++i) {
    const auto entry = reader.entry(i).value();
    base.packs.push_back(
        {entry.match_key, base::leading_u64(entry.target.digest), reader.root_digest(), "some"});
  }
  input.programs.front().entries.clear();
  packs.base = format::write_bundle(input, base).value();
  return packs;
}

class ClbinHppPacks : public ClbinHppLoad {
protected:
  ClbinHppPacks() {
    std::string name = ::testing::TempDir() + "packs.XXXXXX";
    m_folder = ::mkdtemp(name.data());
  }
  ~ClbinHppPacks() override { std::filesystem::remove_all(m_folder); }

  void write(const Packs& packs) const {
    ASSERT_TRUE(base::write_output_file(m_folder / "base.clbin", packs.base).has_value());
    ASSERT_TRUE(base::write_output_file(pack(), packs.pack).has_value());
  }
  [[nodiscard]] std::filesystem::path pack() const { return m_folder / "some.clbin"; }
  Report load(const Bundle& bundle) {
    Report report;
    m_driver.functions().ReleaseProgram(
        bundle.load(m_context, m_device, "saxpy", m_options, &report));
    return report;
  }

  std::filesystem::path m_folder;
};

TEST_F(ClbinHppPacks, LoadAndSelectFromThePackOfTheDevice) {
  write(packs_of_sample());
  m_driver.script_binary(test::k_sample_payload,
                         {test::BinaryAnswer::accept, {"saxpy"}, "", CL_SUCCESS});
  const Bundle bundle = Bundle::open_set(m_folder.string());
  EXPECT_TRUE(bundle.is_current());
  const Report report = load(bundle);
  EXPECT_EQ(report.origin(), Origin::entry);
  ASSERT_EQ(report.attempts().size(), 1U);
  EXPECT_EQ(report.attempts()[0].pack, "some");
  EXPECT_EQ(report.attempts()[0].entry, std::nullopt);
  const Selection selected = bundle.select(query_identity(m_device, m_options), "saxpy");
  EXPECT_EQ(selected.rule_number(), Rule::exact_identity);
  // It stays open, but is no longer current.
  std::filesystem::remove(pack());
  EXPECT_EQ(load(bundle).origin(), Origin::entry);
  EXPECT_FALSE(bundle.is_current());
}

TEST_F(ClbinHppPacks, NameThePackThatIsMissing) {
  write(packs_of_sample());
  std::filesystem::remove(pack());
  const Bundle bundle = Bundle::open_set(m_folder.string());
  const Report report = load(bundle);
  EXPECT_EQ(report.origin(), Origin::source);
  EXPECT_THAT(report.text(), HasSubstr("the pack 'some' is not installed"));
  try {
    (void)bundle.select(query_identity(m_device, m_options), "saxpy");
    FAIL() << "selected";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), CLBIN_ERROR_NO_MATCHING_ENTRY);
    EXPECT_THAT(error.what(), HasSubstr("and the pack 'some' is not installed"));
  }
  std::filesystem::remove(m_folder / "base.clbin");
  try {
    (void)Bundle::open_set(m_folder.string());
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), CLBIN_ERROR_FILE_NOT_FOUND);
    EXPECT_THAT(error.what(), HasSubstr("base.clbin"));
  }
}

TEST_F(ClbinHppPacks, NameThePackThatIsDamaged) {
  Packs packs = packs_of_sample();
  test::CraftedBundle crafted(packs.pack);
  crafted.set_u32(format::SectionKind::group, 0, 8, 1U << 30U); // the name of the program
  const base::Bytes damaged = crafted.build();
  const auto reader = test::must_open(damaged);
  auto base = format::unpack_bundle(test::must_open(packs.base)).value();
  format::WriteOptions options;
  options.packs = test::must_open(packs.base).packs().value();
  for (format::PackRecord& record : options.packs) {
    record.root = reader.root_digest();
  }
  write({format::write_bundle(base, options).value(), damaged});
  const Bundle bundle = Bundle::open_set(m_folder.string());
  EXPECT_THAT(load(bundle).text(), HasSubstr("pack 'some': "));
  try {
    (void)bundle.select(query_identity(m_device, m_options), "saxpy");
    FAIL() << "selected";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("pack 'some': "));
  }
}

TEST_F(ClbinHppPacks, NeedAFolder) {
  for (const char* folder : {"", "/nonexistent"}) {
    try {
      (void)Bundle::open_set(folder);
      FAIL() << "opened";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), CLBIN_ERROR_FILE_NOT_FOUND) << folder;
    }
  }
}

// The key of the base opens the packs, also after the options of the caller are gone.
TEST_F(ClbinHppPacks, AreDecryptedWithTheKeyOfTheBase) {
  format::WriteOptions options;
  const base::Bytes secret(base::ContentKey::k_bytes, std::byte{7});
  options.encryption = format::encryption_with(base::ContentKey::from_bytes(secret).value());
  write(packs_of_sample(options));
  m_driver.script_binary(test::k_sample_payload,
                         {test::BinaryAnswer::accept, {"saxpy"}, "", CL_SUCCESS});
  int calls = 0;
  const auto opened = [&] {
    EncryptedOptions with_key([&](const KeyRequest& /*request*/, clbin_key& key) {
      ++calls;
      key.kind = CLBIN_KEY_CONTENT;
      std::memcpy(key.bytes, secret.data(), secret.size());
      return 0;
    });
    return Bundle::open_set(m_folder.string(), with_key);
  };
  const Bundle bundle = opened();
  EXPECT_EQ(load(bundle).origin(), Origin::entry);
  EXPECT_EQ(calls, 1);
}

// A pack must be signed as the base, and one of another version is refused, whoever signed it.
TEST_F(ClbinHppPacks, MustHaveTheSignaturesThatAreRequired) {
  Packs packs = packs_of_sample();
  const auto sign = [](const base::Bytes& bundle) {
    return test::signed_with_counter(bundle, test::k_signed_counter);
  };
  packs.base = sign(packs.base);
  write(packs);
  PublicKey trusted{};
  const base::PublicKey key = test::signing_key().public_key();
  std::memcpy(trusted.data(), key.bytes.data(), trusted.size());
  const SignedOptions required(trusted);
  m_driver.script_binary(test::k_sample_payload,
                         {test::BinaryAnswer::accept, {"saxpy"}, "", CL_SUCCESS});
  EXPECT_THAT(load(Bundle::open_set(m_folder.string(), required)).text(),
              HasSubstr("pack 'some': "));
  packs.pack = sign(packs.pack);
  write(packs);
  EXPECT_EQ(load(Bundle::open_set(m_folder.string(), required)).origin(), Origin::entry);
  packs.pack = sign(measured_bundle()); // signed, and not the one that the base names
  write(packs);
  EXPECT_THAT(load(Bundle::open_set(m_folder.string(), required)).text(),
              HasSubstr("the pack 'some' is not the one that its base names"));
}

TEST_F(ClbinHppLoad, AsksADeviceForItsIdentity) {
  const Identity identity = query_identity(m_device, m_options);
  EXPECT_EQ(identity.device_name, "d");
  EXPECT_THAT(identity.opencl_c_versions, ElementsAre("OpenCL C 1.2"));
  EXPECT_EQ(m_bundle.select(identity, "saxpy").rule_number(), Rule::exact_identity);
}

TEST_F(ClbinHppLoad, CallsBackAlsoAfterTheOptionsWereMoved) {
  std::vector<std::string> seen;
  m_options.on_attempt([&](const Attempt& attempt) { seen.push_back(attempt.rule); });
  const LoadOptions moved = std::move(m_options);
  cl_program program = m_bundle.load(m_context, m_device, "saxpy", moved);
  m_driver.functions().ReleaseProgram(program);
  EXPECT_THAT(seen, ElementsAre("exact identity", "user cache", "not compatible", "source"));
}

TEST_F(ClbinHppLoad, ThrowsTheBuildLogAndFillsTheReport) {
  m_driver.script_source({CL_BUILD_PROGRAM_FAILURE, {}, "saxpy.cl:1:1: error: no"});
  m_options.fallback(Fallback::always).build_options("-DX");
  Report report;
  try {
    (void)m_bundle.load(m_context, m_device, "saxpy", m_options, &report);
    FAIL() << "loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), CLBIN_ERROR_BUILD_FAILED);
    EXPECT_THAT(error.what(), HasSubstr("saxpy.cl:1:1: error: no"));
  }
  EXPECT_EQ(report.origin(), Origin::none);
  EXPECT_THAT(report.text(), HasSubstr("refused, source"));
}

TEST_F(ClbinHppLoad, LoadsForSeveralDevices) {
  cl_device_id other = m_driver.add_device(test::unknown_identity("e"));
  cl_context context = m_driver.add_context({m_device, other});
  const std::vector<_cl_device_id*> devices = {m_device, other};
  Report report;
  cl_program program = m_bundle.load(context, devices, "saxpy", m_options, &report);
  m_driver.functions().ReleaseProgram(program);
  EXPECT_EQ(report.origin(), Origin::source);
}

} // namespace
} // namespace clbin
