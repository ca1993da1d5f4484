// Tests how one bundle affects the quarantine of another.
#include "loader/load_session.hpp"

#include "base/file_io.hpp"
#include "loader_fixture.hpp"
#include "support/child_process.hpp"

#include <csignal>

namespace clbin::loader {
namespace {

using base::Bytes;
using base::ErrorCode;
using format::SectionKind;
using test::BinaryAnswer;
using test::bytes_of;
using test::CraftedBundle;
using test::installed_target;
using test::unknown_identity;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Offsets of fields in a blob's record, from clbin(5).
constexpr std::size_t k_raw_digest = 0;
constexpr std::size_t k_stored_digest = 32;
constexpr std::size_t k_stored_bytes = 72;
constexpr std::size_t k_raw_bytes = 80;
constexpr std::size_t k_reference = 88;
constexpr std::size_t k_codec = 92;

format::BundleReader reader_of(const Bytes& bytes) {
  return format::BundleReader::open(base::memory_source(bytes), {}, format::TrailingBytes::refuse)
      .value();
}

class AttemptDigestTest : public test::LoaderTest {
protected:
  AttemptDigestTest() {
    cache::CacheSettings settings;
    settings.use = cache::CacheUse::on;
    settings.folder = m_outside.path() / "clbin";
    settings.now = [] { return std::chrono::system_clock::now(); };
    settings.pause = [](std::chrono::milliseconds) {};
    m_cache = std::make_unique<ProgramCache>(settings);
    for (const char* name : {"x", "y"}) {
      m_devices.push_back(m_driver.add_device(unknown_identity(name)));
    }
    m_context = m_driver.add_context(m_devices);
  }

  // Returns a bundle of the entries added since the last call.
  Bytes take_bundle() {
    auto written = format::write_bundle(m_input, {});
    program().entries.clear();
    return written.value();
  }

  Bytes bundle_of(const std::string& payload, const std::string& options = "-DV=1") {
    add_entry(installed_target(unknown_identity("x")), payload, options);
    return take_bundle();
  }

  base::Result<opencl::Program> load_from(const Bytes& bundle, std::size_t devices = 1) {
    LoadRequest request;
    request.program = "p";
    request.devices.assign(m_devices.begin(),
                           m_devices.begin() + static_cast<std::ptrdiff_t>(devices));
    m_driver.forget_calls();
    auto program = load_program(m_driver.functions(), reader_of(bundle), *m_cache, m_context,
                                request, m_report);
    m_cache_misses = test::take_cache_misses(m_report);
    return program;
  }

  // Two processes crash while they load `bundle`.
  void die_twice(const Bytes& bundle, std::size_t devices = 1) {
    for (int death = 0; death < 2; ++death) {
      const auto end = test::run_in_child([&] {
        (void)load_from(bundle, devices);
        return 0;
      });
      EXPECT_EQ(end.signal_number, SIGKILL);
    }
  }

  void expect_quarantined(const Bytes& bundle) {
    const auto program = load_from(bundle);
    ASSERT_FALSE(program.has_value());
    EXPECT_EQ(program.error().code, ErrorCode::binary_refused);
    EXPECT_THAT(program.error().message,
                HasSubstr("in quarantine: it ended the process twice within 24 hours"));
  }

  void expect_entry(const Bytes& bundle) {
    const auto program = load_from(bundle);
    ASSERT_TRUE(program.has_value()) << program.error().message;
    EXPECT_EQ(m_report.origin, Origin::entry);
    EXPECT_THAT(m_driver.calls(), Contains(StartsWith("create_binary")));
  }

  base::TemporaryFolder m_outside = base::TemporaryFolder::create({}, "clbin-name-test-").value();
  std::vector<cl_device_id> m_devices;
};

TEST_F(AttemptDigestTest, HoldsBackNoBinaryWhoseDigestAnotherBundleDeclares) {
  const Bytes victim = bundle_of("GOOD");
  CraftedBundle crafted(bundle_of("CRASH"));
  const auto payload = reader_of(victim).entry(0).value().blob;
  const auto crashing = crafted.u32_at(SectionKind::entry, 0, 12);
  crafted.set_bytes(SectionKind::blob, crashing, k_raw_digest,
                    reader_of(victim).blob(payload).value().raw_digest.bytes);
  const Bytes hostile = crafted.build();
  script("CRASH", BinaryAnswer::kill_process);
  script("GOOD", BinaryAnswer::accept);
  die_twice(hostile);
  expect_quarantined(hostile);
  expect_entry(victim);
}

TEST_F(AttemptDigestTest, HoldsBackNoBinaryThatAnotherBundleBuildsWithOtherOptions) {
  const Bytes victim = bundle_of("GOOD");
  const Bytes hostile = bundle_of("GOOD", "-DV=1 -cl-crash");
  script("GOOD", BinaryAnswer::kill_process);
  die_twice(hostile);
  script("GOOD", BinaryAnswer::accept);
  expect_quarantined(hostile);
  expect_entry(victim);
}

TEST_F(AttemptDigestTest, HoldsBackNoBinaryOfWhichAnotherBundleWantsOtherKernels) {
  const Bytes victim = bundle_of("GOOD");
  add_entry(installed_target(unknown_identity("x")), "GOOD");
  program().entries.back().kernels.pop_back();
  const Bytes hostile = take_bundle();
  script("GOOD", BinaryAnswer::kill_process);
  die_twice(hostile);
  script("GOOD", BinaryAnswer::accept);
  expect_quarantined(hostile);
  expect_entry(victim);
}

TEST_F(AttemptDigestTest, HoldsBackTheSameBinaryOfAnotherBundle) {
  const Bytes first = bundle_of("GOOD");
  add_source();
  const Bytes second = bundle_of("GOOD");
  script("GOOD", BinaryAnswer::kill_process);
  die_twice(first);
  script("GOOD", BinaryAnswer::accept);
  const auto program = load_from(second);
  ASSERT_TRUE(program.has_value()) << program.error().message;
  EXPECT_THAT(decisions(), ElementsAre("not attempted Platform of x / x / 1.0", "loaded source"));
}

TEST_F(AttemptDigestTest, TellsOneFrameFromTheSameFrameReadInAnotherWay) {
  const Bytes honest = bundle_of(std::string(4096, 'G'));
  const auto blob = reader_of(honest).entry(0).value().blob;
  const base::Digest name = payload_digest(reader_of(honest), blob).value();

  CraftedBundle uncompressed(honest);
  ASSERT_NE(reader_of(honest).blob(blob).value().codec, 0);
  uncompressed.set_u8(SectionKind::blob, blob, k_codec, 0);
  uncompressed.set_u64(SectionKind::blob, blob, k_raw_bytes,
                       uncompressed.u64_at(SectionKind::blob, blob, k_stored_bytes));
  EXPECT_NE(payload_digest(reader_of(uncompressed.build()), blob).value(), name);

  CraftedBundle shorter(honest);
  shorter.set_u64(SectionKind::blob, blob, k_raw_bytes, 4095);
  EXPECT_NE(payload_digest(reader_of(shorter.build()), blob).value(), name);

  CraftedBundle against_another(honest);
  against_another.set_u32(SectionKind::blob, blob, k_reference, blob == 0 ? 1 : 0);
  EXPECT_NE(payload_digest(reader_of(against_another.build()), blob).value(), name);

  CraftedBundle against_changed(against_another.build());
  against_changed.set_bytes(SectionKind::blob, blob == 0 ? 1 : 0, k_stored_digest, name.bytes);
  EXPECT_NE(payload_digest(reader_of(against_changed.build()), blob).value(),
            payload_digest(reader_of(against_another.build()), blob).value());
}

class AttemptDigestOfSeveral : public AttemptDigestTest {
protected:
  AttemptDigestOfSeveral() {
    script("FOR X", BinaryAnswer::accept);
    script("FOR Y", BinaryAnswer::accept);
  }

  Bytes bundle_of_both() {
    add_entry(installed_target(unknown_identity("x")), "FOR X");
    add_entry(installed_target(unknown_identity("y")), "FOR Y");
    return take_bundle();
  }
};

TEST_F(AttemptDigestOfSeveral, HoldsBackTheProgramOfAllAndNotTheBinaryOfOne) {
  add_source();
  const Bytes both = bundle_of_both();
  m_driver.script_together(test::TogetherAnswer::kill_process);
  die_twice(both, 2);
  m_driver.script_together(test::TogetherAnswer::accept);
  {
    const auto program = load_from(both, 2);
    ASSERT_TRUE(program.has_value()) << program.error().message;
  }
  EXPECT_EQ(m_report.origin, Origin::source);
  EXPECT_THAT(m_driver.calls(), Not(Contains("create_binary FOR X+FOR Y")));
  EXPECT_THAT(decisions(),
              ElementsAre("accepted Platform of x / x / 1.0", "accepted Platform of y / y / 1.0",
                          "not attempted several devices", "loaded source"));
  EXPECT_THAT(m_report.attempts[2].reason,
              StartsWith("in quarantine: it ended the process twice within 24 hours; "));
  EXPECT_EQ(m_report.attempts[3].reason,
            "the binaries of several devices in one program are in quarantine");
  expect_entry(both);
}

TEST_F(AttemptDigestOfSeveral, FailsWithTheReasonWhereQuarantineLeavesNothing) {
  const Bytes both = bundle_of_both();
  m_driver.script_together(test::TogetherAnswer::kill_process);
  die_twice(both, 2);
  const auto program = load_from(both, 2);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().code, ErrorCode::several_devices_refused);
  EXPECT_THAT(
      program.error().message,
      StartsWith("the binaries of program 'p' are not loaded as one program for 2 devices: in "
                 "quarantine: it ended the process twice within 24 hours; "));
  EXPECT_THAT(
      program.error().message,
      ::testing::EndsWith(
          ", and the bundle contains no source; load the program for each device separately"));
}

} // namespace
} // namespace clbin::loader
