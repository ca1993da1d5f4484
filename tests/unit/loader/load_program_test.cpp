#include "loader_fixture.hpp"
#include "matching/vendor_rules.hpp"
#include "support/bundle_samples.hpp"

namespace clbin::loader {
namespace {

using base::ErrorCode;
using test::BinaryAnswer;
using test::installed_target;
using test::nvidia_identity;
using test::offline_target;
using test::ptx_for;
using test::unknown_identity;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class LoadProgram : public test::LoaderTest {};

TEST_F(LoadProgram, HandsTheEntryMadeForTheDeviceToTheDriver) {
  const auto identity = unknown_identity("d");
  add_entry(installed_target(identity), "ONE", "-DMADE=1");
  add_entry(installed_target(unknown_identity("other")), "TWO");
  add_source();
  script("ONE", BinaryAnswer::accept);
  {
    const auto program = load_for({m_driver.add_device(identity)}, FallbackPolicy::if_needed);
    ASSERT_TRUE(program.has_value()) << program.error().message;
    EXPECT_TRUE(*program);
    EXPECT_EQ(m_driver.live_programs(), 1);
  }
  EXPECT_EQ(m_driver.live_programs(), 0);
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_binary ONE", "build -DMADE=1"));
  EXPECT_EQ(m_report.origin, Origin::entry);
  EXPECT_THAT(m_report.devices, ElementsAre("Platform of d / d / 1.0"));
  ASSERT_EQ(m_report.attempts.size(), 1U); // on an exact hit, there is no other attempt
  const Attempt& attempt = m_report.attempts.front();
  EXPECT_EQ(attempt.decision, Decision::loaded);
  EXPECT_EQ(attempt.origin, Origin::entry);
  EXPECT_EQ(to_string(attempt.rule), "exact identity");
  EXPECT_EQ(attempt.target, "Platform of d / d / 1.0");
  EXPECT_FALSE(attempt.reason.empty());
  EXPECT_EQ(attempt.cl_code, CL_SUCCESS);
}

// A base, and packs made of it: entries move to packs, whatever `oclcc --split` decides.
class LoadProgramFromPacks : public LoadProgram {
protected:
  // Moves the last entry that was added to a pack of this name.
  void move_to_pack(const std::string& name) {
    format::BundleInput pack = m_input;
    pack.programs.front().source.reset();
    pack.programs.front().entries = {program().entries.back()};
    program().entries.pop_back();
    base::Bytes bytes = format::write_bundle(pack, {}).value();
    const auto reader = format::BundleReader::open(base::memory_source(bytes)).value();
    const format::EntryView entry = reader.entry(0).value();
    m_options.packs.push_back(
        {entry.match_key, base::leading_u64(entry.target.digest), reader.root_digest(), name});
    m_files[name] = std::move(bytes);
  }

  // Those of the first base, which stay open.
  const PackSet* packs_of(const format::BundleReader& base) {
    const auto open = [this](const std::string& name) -> base::Result<format::BundleReader> {
      const auto file = m_files.find(name);
      if (file == m_files.end()) {
        return base::fail(ErrorCode::file_not_found, "no such file");
      }
      ++m_opened;
      return format::BundleReader::open(base::memory_source(file->second));
    };
    if (m_packs == nullptr) {
      m_packs = std::make_unique<PackSet>(base.packs().value(), open);
    }
    return m_packs.get();
  }

  base::Result<opencl::Program> load_from_packs(cl_device_id device,
                                                FallbackPolicy policy = FallbackPolicy::if_needed) {
    m_base = format::write_bundle(m_input, m_options).value();
    const auto base = format::BundleReader::open(base::memory_source(m_base)).value();
    LoadRequest request;
    request.program = "p";
    request.fallback = policy;
    request.devices = {device};
    if (m_context == nullptr) {
      m_context = m_driver.add_context({device});
    }
    auto program = load_program(m_driver.functions(), base, *m_cache, m_context, request, m_report,
                                packs_of(base));
    m_cache_misses = test::take_cache_misses(m_report);
    return program;
  }

  format::WriteOptions m_options;
  base::Bytes m_base;
  std::map<std::string, base::Bytes> m_files;
  int m_opened = 0;
  std::unique_ptr<PackSet> m_packs;
};

TEST_F(LoadProgramFromPacks, TakesTheBestEntryOfAllOfThem) {
  add_entry(offline_target("sm_50"), ptx_for("sm_50")); // stays in the base
  add_entry(offline_target("sm_70"), ptx_for("sm_70"));
  move_to_pack("sm_70");
  add_entry(offline_target("sm_80"), ptx_for("sm_80"));
  move_to_pack("sm_80");
  add_entry(offline_target("sm_120"), ptx_for("sm_120"));
  move_to_pack("sm_120");
  add_source();
  script(ptx_for("sm_80"), BinaryAnswer::refuse_at_build);
  script(ptx_for("sm_70"), BinaryAnswer::accept);
  const auto device = m_driver.add_device(nvidia_identity("sm_90"));
  ASSERT_TRUE(load_from_packs(device).has_value());
  EXPECT_EQ(m_report.origin, Origin::entry);
  ASSERT_GE(m_report.attempts.size(), 2U);
  EXPECT_EQ(m_report.attempts[0].pack, "sm_80");
  EXPECT_EQ(m_report.attempts[0].decision, Decision::refused);
  EXPECT_EQ(m_report.attempts[1].pack, "sm_70");
  EXPECT_EQ(m_report.attempts[1].decision, Decision::loaded);
  EXPECT_THAT(decisions(), Contains("not attempted nvptx:sm_50")); // a better one was loaded
  EXPECT_EQ(m_opened, 2) << "the pack for sm_120 is of no use";
  EXPECT_THAT(describe(m_report), HasSubstr("entry for 'nvptx:sm_70' in pack 'sm_70'"));
  EXPECT_THAT(report_json(m_report), HasSubstr(R"("pack":"sm_70")"));
  ASSERT_TRUE(load_from_packs(device).has_value());
  EXPECT_EQ(m_opened, 2) << "they stay open";
}

TEST_F(LoadProgramFromPacks, NamesAPackThatIsNotInstalled) {
  add_entry(offline_target("sm_80"), ptx_for("sm_80"));
  move_to_pack("sm_80");
  add_source();
  const base::Bytes pack = std::exchange(m_files["sm_80"], {});
  m_files.clear();
  const auto device = m_driver.add_device(nvidia_identity("sm_90"));
  ASSERT_TRUE(load_from_packs(device).has_value());
  EXPECT_EQ(m_report.origin, Origin::source);
  EXPECT_EQ(m_report.attempts.back().reason, "the pack 'sm_80' is not installed");
  const auto refused = load_from_packs(device, FallbackPolicy::never);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::no_matching_entry);
  EXPECT_THAT(refused.error().message, HasSubstr("and the pack 'sm_80' is not installed"));
  // Installed while the bundle is open.
  m_files["sm_80"] = pack;
  script(ptx_for("sm_80"), BinaryAnswer::accept);
  ASSERT_TRUE(load_from_packs(device).has_value());
  EXPECT_EQ(m_report.origin, Origin::entry);
}

TEST_F(LoadProgramFromPacks, DoesNotUseAPackThatTheBaseDoesNotName) {
  add_entry(offline_target("sm_80"), ptx_for("sm_80"));
  move_to_pack("sm_80");
  add_entry(offline_target("sm_70"), ptx_for("sm_70"));
  move_to_pack("sm_70");
  add_source();
  m_files["sm_80"] = m_files["sm_70"]; // valid, and of another version
  m_files["sm_70"] = test::bytes_of(std::string("no bundle"));
  ASSERT_TRUE(load_from_packs(m_driver.add_device(nvidia_identity("sm_90"))).has_value());
  EXPECT_EQ(m_report.origin, Origin::source);
  std::vector<std::string> reasons;
  for (const Attempt& attempt : m_report.attempts) {
    reasons.push_back(attempt.reason);
  }
  EXPECT_THAT(reasons, Contains("the pack 'sm_80' is not the one that its base names: it is of "
                                "another version or another product"));
  EXPECT_THAT(reasons, Contains(HasSubstr("pack 'sm_70': ")));
}

TEST_F(LoadProgramFromPacks, SaysIfTheBaseWasOpenedAlone) {
  add_entry(offline_target("sm_80"), ptx_for("sm_80"));
  move_to_pack("sm_80");
  add_source();
  m_base = format::write_bundle(m_input, m_options).value();
  const auto base = format::BundleReader::open(base::memory_source(m_base)).value();
  LoadRequest request;
  request.program = "p";
  request.devices = {m_driver.add_device(nvidia_identity("sm_90"))};
  ASSERT_TRUE(load_program(m_driver.functions(), base, *m_cache,
                           m_driver.add_context(request.devices), request, m_report)
                  .has_value());
  EXPECT_EQ(m_report.origin, Origin::source);
  EXPECT_THAT(m_report.warnings, Contains("the bundle was opened without its packs, which contain "
                                          "entries of it"));
}

TEST_F(LoadProgramFromPacks, ServesSeveralDevicesFromSeveralPacks) {
  const auto one = unknown_identity("one");
  const auto two = unknown_identity("two");
  add_entry(installed_target(one), "ONE");
  move_to_pack("one");
  add_entry(installed_target(two), "TWO");
  move_to_pack("two");
  script("ONE", BinaryAnswer::accept);
  script("TWO", BinaryAnswer::accept);
  m_base = format::write_bundle(m_input, m_options).value();
  const auto base = format::BundleReader::open(base::memory_source(m_base)).value();
  LoadRequest request;
  request.program = "p";
  request.devices = {m_driver.add_device(one), m_driver.add_device(two)};
  const auto program =
      load_program(m_driver.functions(), base, *m_cache, m_driver.add_context(request.devices),
                   request, m_report, packs_of(base));
  ASSERT_TRUE(program.has_value()) << program.error().message;
  EXPECT_EQ(m_report.origin, Origin::entry);
}

// As `oclcc --import 'Adreno(TM) 740@E031.45.02.16=FILE'` records it: without kernels.
TEST_F(LoadProgram, HandsAnImportedBinaryToAPhoneWithItsGpuAndCompiler) {
  format::DeviceIdentity phone = unknown_identity("QUALCOMM Adreno(TM)");
  phone.device_version = "OpenCL 3.0 Adreno(TM) 740";
  phone.driver_version = "OpenCL 3.0 QUALCOMM build: 1 Compiler E031.45.02.16";
  add_entry(installed_target(
                matching::short_identity("Adreno(TM) 740", "E031.45.02.16", 8 * sizeof(void*))),
            "BYTES", "");
  program().entries.front().kernels.clear();
  script("BYTES", BinaryAnswer::accept);
  const auto loaded = load_for({m_driver.add_device(phone)}, FallbackPolicy::if_needed);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_binary BYTES", "build "));
  ASSERT_EQ(m_report.attempts.size(), 1U);
  EXPECT_EQ(to_string(m_report.attempts.front().rule), "exact identity");
  EXPECT_EQ(m_report.attempts.front().target, "Adreno(TM) 740 / E031.45.02.16");
}

// The build of a wrong binary succeeds, and the first clCreateKernel fails: viennacl's thread, and
// Paddle-Lite's of a binary that a process of 32 bits made.
TEST_F(LoadProgram, BelievesMaliOnlyAfterItHasCreatedTheKernels) {
  const format::DeviceIdentity mali = test::mali_identity();
  add_entry(installed_target(
                matching::short_identity(mali.device_name, mali.device_version, 8 * sizeof(void*))),
            "BYTES", "");
  program().entries.front().kernels.clear(); // as `oclcc --import` records it
  add_source();
  script("BYTES", BinaryAnswer::refuse_at_kernel);
  cl_device_id device = m_driver.add_device(mali);
  ASSERT_TRUE(load_for({device}, FallbackPolicy::if_needed).has_value());
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_binary BYTES", "build ", "create_kernel a",
                                            "create_source", "build -DV=1"));
  EXPECT_EQ(m_report.attempts.front().stage, "clCreateKernel");
  EXPECT_EQ(m_report.attempts.front().driver_log, "kernel 'a' cannot be created");
  m_driver.forget_calls();
  script("BYTES", BinaryAnswer::lose_kernels);
  ASSERT_TRUE(load_for({device}, FallbackPolicy::if_needed).has_value());
  EXPECT_EQ(m_report.attempts.front().driver_log, "the program has no kernel");
  script("BYTES", BinaryAnswer::hide_kernel_names);
  ASSERT_TRUE(load_for({device}, FallbackPolicy::if_needed).has_value());
  EXPECT_EQ(m_report.origin, Origin::source);
  EXPECT_THAT(m_report.attempts.front().driver_log, HasSubstr("CL_PROGRAM_KERNEL_NAMES"));
  m_driver.forget_calls();
  script("BYTES", BinaryAnswer::accept);
  ASSERT_TRUE(load_for({device}, FallbackPolicy::if_needed).has_value());
  EXPECT_THAT(m_driver.calls(),
              ElementsAre("create_binary BYTES", "build ", "create_kernel a", "create_kernel b"));
  EXPECT_EQ(m_report.origin, Origin::entry);
  EXPECT_EQ(m_driver.live_kernels(), 0);
}

TEST_F(LoadProgram, HandsNoBinaryOfASeriesToADriverWhoseCrashItCannotRecord) {
  const format::DeviceIdentity mali = test::mali_identity();
  add_entry(installed_target(
                matching::short_identity("Mali-G6xx", mali.device_version, 8 * sizeof(void*))),
            "BYTES", "");
  add_source();
  script("BYTES", BinaryAnswer::kill_process);
  ASSERT_TRUE(load_for({m_driver.add_device(mali)}, FallbackPolicy::if_needed).has_value());
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build -DV=1"));
  EXPECT_EQ(m_report.attempts.front().reason,
            "a binary for a whole series is not passed to a driver without a marker of the "
            "quarantine, because it can crash it");
}

TEST_F(LoadProgram, TriesCandidatesBestFirstUntilOneIsAccepted) {
  for (const char* architecture : {"sm_50", "sm_90", "sm_70", "sm_100"}) {
    add_entry(offline_target(architecture), ptx_for(architecture));
  }
  add_source();
  script(ptx_for("sm_90"), BinaryAnswer::refuse_with_program);
  script(ptx_for("sm_70"), BinaryAnswer::refuse_at_build, "Unsupported .version 9.9");
  script(ptx_for("sm_50"), BinaryAnswer::accept);
  {
    const auto program =
        load_for({m_driver.add_device(nvidia_identity("sm_90"))}, FallbackPolicy::if_needed);
    ASSERT_TRUE(program.has_value()) << program.error().message;
    EXPECT_EQ(m_driver.live_programs(), 1); // the rejected ones were released
  }
  EXPECT_THAT(decisions(), ElementsAre("refused nvptx:sm_90", "refused nvptx:sm_70",
                                       "loaded nvptx:sm_50", "not attempted nvptx:sm_100"));
  EXPECT_EQ(m_report.origin, Origin::entry);
  EXPECT_EQ(m_report.attempts[0].cl_code, CL_INVALID_BINARY);
  EXPECT_EQ(m_report.attempts[0].stage, "clCreateProgramWithBinary");
  EXPECT_EQ(m_report.attempts[1].cl_code, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_EQ(m_report.attempts[1].stage, "clBuildProgram");
  EXPECT_EQ(m_report.attempts[1].driver_log, "Unsupported .version 9.9");
  EXPECT_EQ(to_string(m_report.attempts[2].rule), "compatible");
  EXPECT_THAT(m_report.attempts[3].reason, HasSubstr("sm_100"));
  EXPECT_THAT(m_driver.calls(), Not(Contains("create_source")));
}

TEST_F(LoadProgram, NeverHandsOverAnEntryThatTheRulesExclude) {
  add_entry(offline_target("sm_90"), ptx_for("sm_90"));
  add_source();
  const auto program =
      load_for({m_driver.add_device(unknown_identity("d"))}, FallbackPolicy::if_needed);
  ASSERT_TRUE(program.has_value()) << program.error().message;
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build -DV=1"));
  EXPECT_THAT(decisions(), ElementsAre("not attempted nvptx:sm_90", "loaded source"));
}

TEST_F(LoadProgram, SaysOnACompatibleHitWhyOtherEntriesWereLeftOut) {
  add_entry(offline_target("sm_70"), ptx_for("sm_70"));
  add_entry(offline_target("sm_50"), ptx_for("sm_50"));
  script(ptx_for("sm_70"), BinaryAnswer::accept);
  const auto program =
      load_for({m_driver.add_device(nvidia_identity("sm_70"))}, FallbackPolicy::never);
  ASSERT_TRUE(program.has_value()) << program.error().message;
  EXPECT_THAT(decisions(), ElementsAre("loaded nvptx:sm_70", "not attempted nvptx:sm_50"));
  EXPECT_EQ(m_report.attempts[1].reason, "matches, but a better entry was loaded");
}

TEST_F(LoadProgram, TellsAttemptsOnlyWhereTheCallerWantsNoMore) {
  add_entry(offline_target("sm_90"), ptx_for("sm_90"));
  add_source();
  cl_device_id device = m_driver.add_device(unknown_identity("d"));
  m_context = m_driver.add_context({device});
  LoadRequest request;
  request.devices = {device};
  request.detail = ReportDetail::attempts_only;
  ASSERT_TRUE(load(request).has_value());
  EXPECT_THAT(decisions(), ElementsAre("loaded source"));
}

TEST_F(LoadProgram, BuildsSourceWithTheRecordedOptionsWhereEveryEntryIsRefused) {
  const auto identity = unknown_identity("d");
  add_entry(installed_target(identity), "ONE");
  add_source();
  script("ONE", BinaryAnswer::lose_kernels);
  const auto program = load_for({m_driver.add_device(identity)}, FallbackPolicy::if_needed);
  ASSERT_TRUE(program.has_value()) << program.error().message;
  EXPECT_THAT(m_driver.calls(),
              ElementsAre("create_binary ONE", "build -DV=1", "create_source", "build -DV=1"));
  EXPECT_EQ(m_report.origin, Origin::source);
  EXPECT_THAT(decisions(), ElementsAre("refused Platform of d / d / 1.0", "loaded source"));
  EXPECT_EQ(m_report.attempts[0].driver_log, "the program has no kernel 'a'");
  EXPECT_EQ(m_report.attempts[1].origin, Origin::source);
  EXPECT_EQ(m_report.attempts[1].reason, "the driver rejected every matching entry");
}

TEST_F(LoadProgram, TakesAVariantsOwnOptions) {
  add_source();
  cl_device_id device = m_driver.add_device(unknown_identity("d"));
  m_context = m_driver.add_context({device});
  LoadRequest request;
  request.devices = {device};
  request.variant = "fast";
  ASSERT_TRUE(load(request).has_value());
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build -DV=1 -cl-fast-relaxed-math"));
  EXPECT_EQ(m_report.variant, "fast");
}

TEST_F(LoadProgram, BuildsSourceWhereOptionsAreAddedAtRunTime) {
  const auto identity = unknown_identity("d");
  add_entry(installed_target(identity), "ONE");
  add_source();
  script("ONE", BinaryAnswer::accept);
  cl_device_id device = m_driver.add_device(identity);
  m_context = m_driver.add_context({device});
  LoadRequest request;
  request.devices = {device};
  request.extra_options = "-DN=42";
  ASSERT_TRUE(load(request).has_value());
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build -DV=1 -DN=42"));
  EXPECT_EQ(m_report.attempts[0].decision, Decision::not_attempted);
  EXPECT_EQ(m_report.attempts[0].reason,
            "matches, but no entry was made with the extra options '-DN=42'");

  request.fallback = FallbackPolicy::never;
  const auto refused = load(request);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::no_matching_entry);
  EXPECT_EQ(refused.error().message, "no entry was made with the extra options '-DN=42' of program "
                                     "'p', and the caller does not allow a build from source");
}

TEST_F(LoadProgram, BuildsSourceOnlyUnderThePolicyAlways) {
  const auto identity = unknown_identity("d");
  add_entry(installed_target(identity), "ONE");
  add_source();
  script("ONE", BinaryAnswer::accept);
  ASSERT_TRUE(load_for({m_driver.add_device(identity)}, FallbackPolicy::always).has_value());
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build -DV=1"));
  EXPECT_EQ(m_report.origin, Origin::source);
}

TEST_F(LoadProgram, BuildsNoSourceUnderThePolicyNever) {
  const auto identity = unknown_identity("d");
  add_entry(installed_target(identity), "ONE");
  add_source();
  script("ONE", BinaryAnswer::refuse);
  const auto program = load_for({m_driver.add_device(identity)}, FallbackPolicy::never);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().code, ErrorCode::binary_refused);
  EXPECT_EQ(program.error().message,
            "the driver rejected 1 of the bundle's entries for program 'p', variant 'default', for "
            "'Platform of d / d / 1.0': clCreateProgramWithBinary: CL_INVALID_BINARY (-42)");
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_binary ONE"));
  EXPECT_EQ(m_report.origin, Origin::none);
}

TEST_F(LoadProgram, SaysThatNoEntryFitsUnderThePolicyNever) {
  add_entry(installed_target(unknown_identity("other")), "ONE");
  const auto program =
      load_for({m_driver.add_device(unknown_identity("d"))}, FallbackPolicy::never);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().code, ErrorCode::no_matching_entry);
  EXPECT_EQ(program.error().message,
            "no entry of program 'p', variant 'default', for 'Platform of d / d / 1.0' matches");
  EXPECT_THAT(decisions(), ElementsAre("not attempted Platform of other / other / 1.0"));
  EXPECT_FALSE(m_report.attempts[0].reason.empty());
  EXPECT_THAT(m_driver.calls(), IsEmpty());
}

TEST_F(LoadProgram, SaysThatThereIsNoSourceWhereNoEntryFits) {
  add_entry(installed_target(unknown_identity("other")), "ONE");
  const auto program =
      load_for({m_driver.add_device(unknown_identity("d"))}, FallbackPolicy::if_needed);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().code, ErrorCode::no_source);
  EXPECT_EQ(program.error().message,
            "no entry of program 'p', variant 'default', for 'Platform of d / d / 1.0' matches, "
            "and the bundle does not contain its source");
}

TEST_F(LoadProgram, ShowsNoByteOfADamagedPayloadToTheDriver) {
  for (const char* architecture : {"sm_50", "sm_70"}) {
    add_entry(offline_target(architecture), ptx_for(architecture));
    script(ptx_for(architecture), BinaryAnswer::accept);
  }
  damage(ptx_for("sm_70"));
  const auto program =
      load_for({m_driver.add_device(nvidia_identity("sm_70"))}, FallbackPolicy::never);
  // One of them was compressed against the other, so damage may affect both.
  EXPECT_THAT(m_driver.calls(), Not(Contains(HasSubstr(".target sm_70"))));
  ASSERT_FALSE(m_report.attempts.empty());
  EXPECT_EQ(m_report.attempts[0].decision, Decision::unreadable);
  EXPECT_EQ(m_report.attempts[0].target, "nvptx:sm_70");
  EXPECT_THAT(m_report.attempts[0].reason, HasSubstr("digest"));
}

// A planted bundle. doc/drivers.md: rusticl aborts the process on another driver's binary.
TEST_F(LoadProgram, ShowsNoByteOfAnotherKindThanTheTableSaysToTheDriver) {
  const auto identity = unknown_identity("d");
  add_entry(installed_target(identity), "ONE");
  add_entry(offline_target("sm_90"), ptx_for("sm_90"));
  add_source();
  swap_payloads();
  const auto program = load_for({m_driver.add_device(identity)}, FallbackPolicy::if_needed);
  ASSERT_TRUE(program.has_value()) << program.error().message;
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build -DV=1"));
  ASSERT_FALSE(m_report.attempts.empty());
  EXPECT_EQ(m_report.attempts[0].decision, Decision::unreadable);
  EXPECT_EQ(m_report.attempts[0].reason,
            "payload of entry 0 of 'memory' is ptx, but the table records unknown");
}

TEST_F(LoadProgram, GoesOnBehindADamagedPayload) {
  const auto identity = nvidia_identity("sm_70");
  add_entry(installed_target(identity), "SOMETHING ELSE ENTIRELY, NOT LIKE PTX AT ALL");
  add_entry(offline_target("sm_70"), ptx_for("sm_70"));
  script(ptx_for("sm_70"), BinaryAnswer::accept);
  damage("SOMETHING ELSE ENTIRELY, NOT LIKE PTX AT ALL");
  const auto program = load_for({m_driver.add_device(identity)}, FallbackPolicy::never);
  ASSERT_TRUE(program.has_value()) << program.error().message;
  EXPECT_THAT(decisions(), ElementsAre("unreadable NVIDIA CUDA / NVIDIA of sm_70 / 580.159.03",
                                       "loaded nvptx:sm_70"));
  EXPECT_THAT(m_driver.calls(), Not(Contains(HasSubstr("SOMETHING"))));
}

TEST_F(LoadProgram, GivesTheReadersErrorWhereNothingElseServes) {
  const auto identity = unknown_identity("d");
  add_entry(installed_target(identity), "ONE");
  damage("ONE");
  const auto program = load_for({m_driver.add_device(identity)}, FallbackPolicy::if_needed);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().code, ErrorCode::digest_mismatch);
  EXPECT_THAT(program.error().message, HasSubstr("program 'p', variant 'default'"));
  EXPECT_THAT(program.error().message, HasSubstr("and the bundle does not contain its source"));
  EXPECT_THAT(m_driver.calls(), IsEmpty());
}

TEST_F(LoadProgram, PutsTheBuildLogIntoTheErrorOfSourceThatDoesNotCompile) {
  add_source();
  m_driver.script_source({CL_BUILD_PROGRAM_FAILURE, {}, "p.cl:1:1: error: no such thing\n\n"});
  const auto program =
      load_for({m_driver.add_device(unknown_identity("d"))}, FallbackPolicy::if_needed);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().code, ErrorCode::build_failed);
  EXPECT_EQ(program.error().message,
            "building 'kernels/p.cl' for 'd' failed: clBuildProgram: CL_BUILD_PROGRAM_FAILURE "
            "(-11)\np.cl:1:1: error: no such thing");
  EXPECT_THAT(decisions(), ElementsAre("refused source"));
  EXPECT_EQ(m_driver.live_programs(), 0);
}

TEST_F(LoadProgram, BuildsSourceWithItsHeaders) {
  add_source({{"sub/x.h", "include/sub/x.h", "// x\n"}});
  ASSERT_TRUE(load_for({m_driver.add_device(unknown_identity("d"))}, FallbackPolicy::if_needed)
                  .has_value());
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "create_source",
                                            "compile -DV=1 with sub/clbin~x.h", "link "));
}

TEST_F(LoadProgram, ClosesSourceBeforeADriverSeesIt) {
  add_source({{"sub/x.h", "include/sub/x.h", "#include \"/etc/passwd\"\n"}});
  program().source->main.text = "#include <sub/x.h>\n#ifdef __cplusplus\n#include <stdexcept>\n"
                                "#endif\n#if __has_include(\"/etc/passwd\")\n#endif\n";
  m_driver.script_source({CL_BUILD_PROGRAM_FAILURE, {}, "sub/clbin~x.h:1:2: error: not among\n"});
  const auto loaded =
      load_for({m_driver.add_device(unknown_identity("d"))}, FallbackPolicy::if_needed);
  const std::string error = "#error the bundle does not contain this header: ";
  EXPECT_THAT(m_driver.sources(), ElementsAre("#include \"sub/clbin~x.h\"\n#ifdef __cplusplus\n" +
                                                  error + "<stdexcept>\n#endif\n#if  0 \n#endif\n",
                                              error + "\"/etc/passwd\"\n"));
  // The log uses the bundle's names of headers.
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().code, ErrorCode::build_failed);
  EXPECT_EQ(loaded.error().message,
            "building 'kernels/p.cl' for 'd' failed: clCompileProgram: CL_BUILD_PROGRAM_FAILURE "
            "(-11)\nsub/x.h:1:2: error: not among");
  EXPECT_EQ(m_report.attempts.back().driver_log, "sub/x.h:1:2: error: not among");
}

TEST_F(LoadProgram, ClosesSourceUnderTheOptionsThatItIsBuiltWith) {
  add_source({{"x.h", "x.h", "int x;\n"}, {"y.h", "y.h", "int y;\n"}});
  program().source->main.text =
      "#define S(x) #x\n#define T(x) S(x)\n#include T(HEADER)\n#include MORE\n";
  program().variants = {{"default", "-DHEADER=x.h"}};
  LoadRequest request;
  request.devices = {m_driver.add_device(unknown_identity("d"))};
  request.extra_options = "-DMORE=<y.h>";
  m_context = m_driver.add_context(request.devices);
  ASSERT_TRUE(load(request).has_value());
  EXPECT_EQ(m_driver.sources().front(), "#define S(x) #x\n#define T(x) S(x)\n"
                                        "#include \"clbin~x.h\"\n#include \"clbin~y.h\"\n");
}

// A hash of both names determines the order of the table, so variants of one program are not
// adjacent.
TEST_F(LoadProgram, FindsTheVariantOfOptionsOfRunTimeAmongThoseOfOtherPrograms) {
  const auto identity = unknown_identity("d");
  add_entry(installed_target(identity), "SLOW");
  add_entry(installed_target(identity), "FAST", "-DV=1 -cl-fast-relaxed-math");
  program().entries.back().variant = "fast";
  script("FAST", BinaryAnswer::accept);
  for (const char* name : {"matmul", "reduce", "scan", "transpose"}) {
    m_input.programs.push_back(program());
    m_input.programs.back().name = name;
  }
  LoadRequest request;
  request.devices = {m_driver.add_device(identity)};
  request.fallback = FallbackPolicy::never;
  request.extra_options = "-cl-fast-relaxed-math";
  m_context = m_driver.add_context(request.devices);
  for (const char* name : {"p", "matmul", "reduce", "scan", "transpose"}) {
    SCOPED_TRACE(name);
    request.program = name;
    const auto loaded = load(request);
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
    EXPECT_EQ(m_report.variant, "fast");
  }
}

// Blanks within quotes are part of a macro, which a list of words does not show.
TEST_F(LoadProgram, TakesQuotedOptionsOfRunTimeForOthersThanAnyVariantHas) {
  const auto identity = unknown_identity("d");
  add_entry(installed_target(identity), "SLOW");
  add_entry(installed_target(identity), "FAST", "-DV=1 -DS=\"a b\"");
  program().entries.back().variant = "fast";
  LoadRequest request;
  request.devices = {m_driver.add_device(identity)};
  request.fallback = FallbackPolicy::never;
  m_context = m_driver.add_context(request.devices);
  for (const char* extra : {"-DS=\"a b\"", "-DS=\"a  b\""}) {
    request.extra_options = extra;
    EXPECT_FALSE(load(request).has_value()) << extra;
    EXPECT_EQ(m_report.variant, "default");
  }
}

TEST_F(LoadProgram, ServesOptionsOfRunTimeFromTheVariantThatWasMadeWithThem) {
  const auto identity = unknown_identity("d");
  add_entry(installed_target(identity), "SLOW");
  add_entry(installed_target(identity), "FAST", "-DV=1 -cl-fast-relaxed-math");
  program().entries.back().variant = "fast";
  add_source();
  script("FAST", BinaryAnswer::accept);
  LoadRequest request;
  request.devices = {m_driver.add_device(identity)};
  request.fallback = FallbackPolicy::never;
  m_context = m_driver.add_context(request.devices);
  for (const char* extra :
       {"-cl-fast-relaxed-math", "  -cl-fast-relaxed-math\n", "-DV=1 -cl-fast-relaxed-math"}) {
    SCOPED_TRACE(extra);
    m_driver.forget_calls();
    request.extra_options = extra;
    const auto loaded = load(request);
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
    EXPECT_THAT(m_driver.calls(),
                ElementsAre("create_binary FAST", "build -DV=1 -cl-fast-relaxed-math"));
    EXPECT_EQ(m_report.variant, "fast");
    EXPECT_EQ(m_report.origin, Origin::entry);
  }
  // The same words in another order, or fewer, may mean something else.
  for (const char* extra :
       {"-cl-fast-relaxed-math -DV=1", "-cl-fast", "-cl-fast-relaxed-math -g"}) {
    request.extra_options = extra;
    EXPECT_FALSE(load(request).has_value()) << extra;
    EXPECT_EQ(m_report.variant, "default");
  }
  request.extra_options = " ";
  script("SLOW", BinaryAnswer::accept);
  EXPECT_TRUE(load(request).has_value());
  EXPECT_EQ(m_report.variant, "default");
}

TEST_F(LoadProgram, ClosesSourceForSeveralDevices) {
  add_source();
  program().source->main.text = "#include \"/etc/passwd\"\n";
  ASSERT_TRUE(load_for({m_driver.add_device(unknown_identity("d")),
                        m_driver.add_device(unknown_identity("e"))},
                       FallbackPolicy::always)
                  .has_value());
  EXPECT_THAT(m_driver.sources(), ElementsAre("#error the bundle does not contain this header: "
                                              "\"/etc/passwd\"\n"));
}

TEST_F(LoadProgram, NamesTheProgramsAndVariantsThereAre) {
  add_source();
  cl_device_id device = m_driver.add_device(unknown_identity("d"));
  m_context = m_driver.add_context({device});
  LoadRequest request;
  request.devices = {device};
  request.program = "q";
  const auto no_program = load(request);
  ASSERT_FALSE(no_program.has_value());
  EXPECT_EQ(no_program.error().code, ErrorCode::no_such_program);
  request.program = "p";
  request.variant = "slow";
  const auto no_variant = load(request);
  ASSERT_FALSE(no_variant.has_value());
  EXPECT_EQ(no_variant.error().code, ErrorCode::no_such_variant);
  EXPECT_THAT(m_driver.calls(), IsEmpty());
}

TEST_F(LoadProgram, RefusesDevicesThatAreNotOfTheContextOrTwice) {
  add_source();
  cl_device_id inside = m_driver.add_device(unknown_identity("d"));
  cl_device_id outside = m_driver.add_device(unknown_identity("e"));
  m_context = m_driver.add_context({inside});
  const auto message_of = [&](const std::vector<cl_device_id>& devices) {
    const auto program = load_for(devices, FallbackPolicy::if_needed);
    EXPECT_FALSE(program.has_value());
    EXPECT_EQ(program.error().code, ErrorCode::invalid_argument);
    return program.error().message;
  };
  EXPECT_EQ(message_of({}), "no device to load program 'p' for");
  EXPECT_EQ(message_of({inside, outside}), "device 1 is not a device of the context");
  EXPECT_EQ(message_of({inside, inside}), "device 1 is given twice");
}

TEST_F(LoadProgram, NamesTheOpenClCallThatFailed) {
  add_source();
  cl_device_id device = m_driver.add_device(unknown_identity("d"));
  m_driver.script_device_failure(device, CL_DEVICE_NAME, CL_OUT_OF_RESOURCES);
  const auto program = load_for({device}, FallbackPolicy::if_needed);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().code, ErrorCode::opencl_call);
  EXPECT_EQ(program.error().message, "clGetDeviceInfo failed: CL_OUT_OF_RESOURCES (-5)");
}

TEST_F(LoadProgram, LoadsTheParentsEntryOnASubDevice) {
  const auto identity = unknown_identity("d");
  add_entry(installed_target(identity), "ONE");
  script("ONE", BinaryAnswer::accept);
  cl_device_id part = m_driver.add_sub_device(m_driver.add_device(identity));
  const auto program = load_for({part}, FallbackPolicy::never);
  ASSERT_TRUE(program.has_value()) << program.error().message;
  EXPECT_EQ(to_string(m_report.attempts[0].rule), "exact identity");
}

TEST_F(LoadProgram, TakesASubDeviceOfADeviceOfTheContext) {
  const auto identity = unknown_identity("d");
  add_entry(installed_target(identity), "ONE");
  script("ONE", BinaryAnswer::accept);
  cl_device_id device = m_driver.add_device(identity);
  m_context = m_driver.add_context({device}); // as PoCL lists a context of sub-devices
  const auto program = load_for({m_driver.add_sub_device(device)}, FallbackPolicy::never);
  ASSERT_TRUE(program.has_value()) << program.error().message;
}

TEST_F(LoadProgram, TellsEachAttemptAsItIsMade) {
  for (const char* architecture : {"sm_50", "sm_70"}) {
    add_entry(offline_target(architecture), ptx_for(architecture));
  }
  script(ptx_for("sm_70"), BinaryAnswer::refuse);
  script(ptx_for("sm_50"), BinaryAnswer::accept);
  cl_device_id device = m_driver.add_device(nvidia_identity("sm_70"));
  m_context = m_driver.add_context({device});
  std::vector<std::string> seen;
  LoadRequest request;
  request.devices = {device};
  request.on_attempt = [&](const Attempt& attempt) {
    seen.push_back(fmt::format("{} after {} calls",
                               attempt.target.empty() ? to_string(attempt.rule) : attempt.target,
                               m_driver.calls().size()));
  };
  ASSERT_TRUE(load(request).has_value());
  EXPECT_THAT(seen, ElementsAre("user cache after 0 calls", "nvptx:sm_70 after 1 calls",
                                "nvptx:sm_50 after 3 calls"));
}

constexpr const char* k_recompiled = "warning: module got recompiled [-Wrecompiled-from-ir]";

TEST_F(LoadProgram, CallsAnEntryThatTheDriverRecompiledBuiltFromIl) {
  const auto identity = unknown_identity("d");
  add_entry(installed_target(identity), "ONE");
  add_source();
  script("ONE", BinaryAnswer::accept, k_recompiled);
  {
    const auto program = load_for({m_driver.add_device(identity)}, FallbackPolicy::if_needed);
    ASSERT_TRUE(program.has_value()) << program.error().message;
    EXPECT_EQ(m_driver.live_programs(), 1);
  }
  EXPECT_EQ(m_driver.live_programs(), 0);
  EXPECT_EQ(m_report.origin, Origin::il);
  EXPECT_THAT(decisions(), ElementsAre("recompiled Platform of d / d / 1.0", "loaded recompiled"));
  EXPECT_EQ(m_report.attempts[0].reason,
            "the driver ignored the native code of the binary and recompiled its IR");
  EXPECT_THAT(m_driver.calls(), Not(Contains("create_source")));
}

TEST_F(LoadProgram, PrefersABinaryThatTheDriverUsesToOneThatItRecompiles) {
  for (const char* architecture : {"sm_50", "sm_70"}) {
    add_entry(offline_target(architecture), ptx_for(architecture));
  }
  script(ptx_for("sm_70"), BinaryAnswer::accept, k_recompiled);
  script(ptx_for("sm_50"), BinaryAnswer::accept);
  {
    const auto program =
        load_for({m_driver.add_device(nvidia_identity("sm_70"))}, FallbackPolicy::never);
    ASSERT_TRUE(program.has_value()) << program.error().message;
    EXPECT_EQ(m_driver.live_programs(), 1); // the recompiled one was released
  }
  EXPECT_EQ(m_report.origin, Origin::entry);
  EXPECT_THAT(decisions(), ElementsAre("recompiled nvptx:sm_70", "loaded nvptx:sm_50"));
}

TEST_F(LoadProgram, TakesARecompiledEntryUnderThePolicyNever) {
  const auto identity = unknown_identity("d");
  add_entry(installed_target(identity), "ONE");
  script("ONE", BinaryAnswer::accept, k_recompiled);
  ASSERT_TRUE(load_for({m_driver.add_device(identity)}, FallbackPolicy::never).has_value());
  EXPECT_EQ(m_report.origin, Origin::il);
}

TEST_F(LoadProgram, HandsNoOptionsOverThatReadFiles) {
  const auto identity = unknown_identity("d");
  add_entry(installed_target(identity), "ONE", "-DV=1 -include /etc/passwd");
  program().variants[0].options = "-DV=1 -I/etc";
  add_source();
  script("ONE", BinaryAnswer::accept);
  const auto program = load_for({m_driver.add_device(identity)}, FallbackPolicy::if_needed);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().code, ErrorCode::unsafe_options);
  EXPECT_EQ(program.error().message,
            "p: the bundle's build options contain '-I/etc', which libclbin does not pass to a "
            "compiler: it passes only -D, -U, -cl-*, -w, -W*, -O*, -g and -x spir");
  EXPECT_THAT(decisions(),
              ElementsAre("not attempted Platform of d / d / 1.0", "not attempted source"));
  EXPECT_THAT(m_report.attempts[0].reason, HasSubstr("'-include'"));
  EXPECT_THAT(m_driver.calls(), IsEmpty());
}

class LoadMeasuredVariants : public LoadProgram {
protected:
  LoadMeasuredVariants() {
    program().variants.push_back({"tiled", "-DTILED"});
    add_source();
  }

  // Measured on a device like `identity`, with this driver.
  format::Measurement& add_measurement(const std::string& variant, std::uint64_t median_ns,
                                       const format::DeviceIdentity& identity,
                                       const std::string& driver = "") {
    format::Measurement measurement = test::sample_measurement(variant, "", median_ns);
    measurement.device = format::measured_device(identity, CL_DEVICE_TYPE_GPU);
    measurement.device.driver_version = driver.empty() ? identity.driver_version : driver;
    if (program().source) {
      measurement.source =
          base::to_hex(base::digest_of(format::encode_source_package(*program().source)));
    }
    return program().measurements.emplace_back(measurement);
  }

  // The times of two variants in launches of a class, of which the first one is here.
  void add_class(const std::string& kernel, std::uint32_t dimensions,
                 const format::GroupSize& global_size, std::uint64_t tiled_ns,
                 std::uint64_t default_ns) {
    for (const auto& [variant, time] :
         {std::pair("tiled", tiled_ns), std::pair("default", default_ns)}) {
      format::Measurement& one = add_measurement(variant, time, m_here);
      one.kernel = kernel;
      one.dimensions = dimensions;
      one.global_size = global_size;
    }
  }

  cl_device_id device_like(const format::DeviceIdentity& identity) {
    cl_device_id device = m_driver.add_device(identity);
    const cl_device_type type = CL_DEVICE_TYPE_GPU;
    set_number(device, CL_DEVICE_TYPE, type);
    return device;
  }

  template <typename T>
  void set_number(cl_device_id device, cl_device_info name, T value) {
    m_driver.script_device_value(device, name,
                                 std::string(reinterpret_cast<const char*>(&value), sizeof value));
  }

  // Loads on a device like `identity`, and expects the variant and the reason.
  void expect_choice(cl_device_id device, const std::string& variant, const std::string& reason) {
    LoadRequest request;
    request.devices = {device};
    request.problem_size = m_problem_size;
    m_context = m_driver.add_context({device});
    const auto loaded = load(request);
    m_context = nullptr;
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
    EXPECT_EQ(m_report.variant, variant);
    EXPECT_EQ(m_report.variant_reason, reason);
  }

  format::DeviceIdentity m_here = nvidia_identity("sm_90");
  format::LaunchSize m_problem_size{};
};

TEST_F(LoadMeasuredVariants, TakeTheFastestOnThisDeviceWithThisDriver) {
  add_measurement("tiled", 100, m_here);
  add_measurement("default", 200, m_here);
  add_measurement("fast", 300, m_here);
  add_measurement("fast", 1, m_here, "another driver");
  expect_choice(device_like(m_here), "tiled",
                "which was the fastest of 'tiled', 'default' and 'fast', measured on this device "
                "with this driver");
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build -DTILED"));
  EXPECT_THAT(describe(m_report), HasSubstr("program 'p', variant 'tiled', which was the fastest"));
}

TEST_F(LoadMeasuredVariants, FallBackFromNearToFar) {
  format::DeviceIdentity other = m_here; // of the same architecture
  other.device_name = "another one";
  format::DeviceIdentity older = nvidia_identity("sm_80");
  add_measurement("tiled", 1, m_here, "another driver");
  add_measurement("default", 2, m_here, "another driver");
  expect_choice(device_like(m_here), "tiled",
                "which was the fastest of 'tiled' and 'default', measured on this device with "
                "another driver");
  expect_choice(device_like(other), "tiled",
                "which was the fastest of 'tiled' and 'default', measured on another sm_90");
  expect_choice(device_like(older), "tiled",
                "which was the fastest of 'tiled' and 'default', measured on other devices of this "
                "vendor and type");
  expect_choice(device_like(unknown_identity("d")), "tiled",
                "which was the fastest of 'tiled' and 'default', measured on other devices");
}

TEST_F(LoadMeasuredVariants, OfOtherDevicesDoNotDecideWhereNoneWasGood) {
  format::DeviceIdentity other = m_here; // of the same architecture
  other.device_name = "another one";
  add_measurement("tiled", 1, other);
  add_measurement("default", 2, other);
  add_measurement("tiled", 1, m_here);
  program().measurements.back().outcome = format::MeasurementOutcome::crashed;
  program().measurements.back().median_ns = 0;
  program().measurements.back().spread_ns = 0;
  program().measurements.back().rounds = 0;
  program().measurements.back().reason = "signal 11";
  expect_choice(device_like(m_here), "default", "");
  expect_choice(device_like(other), "tiled",
                "which was the fastest of 'tiled' and 'default', measured on this device with this "
                "driver");
}

TEST_F(LoadMeasuredVariants, AreNotAskedForIfTheCallerNamesOne) {
  add_measurement("tiled", 1, m_here);
  LoadRequest request;
  request.devices = {device_like(m_here)};
  m_context = m_driver.add_context(request.devices);
  request.variant = "fast";
  ASSERT_TRUE(load(request).has_value());
  EXPECT_EQ(m_report.variant, "fast");
  EXPECT_EQ(m_report.variant_reason, "");
  request.variant = "";
  request.extra_options = "-DX=1";
  ASSERT_TRUE(load(request).has_value());
  EXPECT_EQ(m_report.variant, "default");
}

TEST_F(LoadMeasuredVariants, LeaveOutWhatTheDeviceCannotLaunch) {
  add_entry(offline_target("sm_90"), ptx_for("sm_90"));
  program().entries.back().variant = "tiled";
  program().entries.back().kernels[0].local_bytes = 65536;
  add_measurement("tiled", 1, nvidia_identity("sm_80"));
  add_measurement("fast", 2, nvidia_identity("sm_80"));
  cl_device_id device = device_like(m_here);
  set_number(device, CL_DEVICE_LOCAL_MEM_SIZE, cl_ulong{49152});
  expect_choice(device, "fast",
                "which was the fastest of 'fast', measured on other devices of this vendor and "
                "type");
  ASSERT_FALSE(m_report.attempts.empty());
  EXPECT_EQ(m_report.attempts[0].reason,
            "variant 'tiled' is passed over: it requires 65536 bytes of local memory, and the "
            "device has 49152");
}

TEST_F(LoadMeasuredVariants, LeaveOutWorkGroupsThatAreTooLarge) {
  add_entry(offline_target("sm_90"), ptx_for("sm_90"));
  program().entries.back().variant = "tiled";
  program().entries.back().kernels[1].required_work_group_size = {32, 32, 1};
  add_measurement("tiled", 1, nvidia_identity("sm_80"));
  cl_device_id device = device_like(m_here);
  set_number(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, std::size_t{512});
  expect_choice(device, "default", "");
  EXPECT_EQ(m_report.attempts[0].reason,
            "variant 'tiled' is passed over: it requires work-groups of 1024 work-items, and the "
            "device allows 512");
}

TEST_F(LoadMeasuredVariants, LeaveOutWhatTheOtherDevicesCannotLaunch) {
  add_entry(offline_target("sm_90"), ptx_for("sm_90"));
  program().entries.back().variant = "tiled";
  program().entries.back().kernels[1].required_work_group_size = {32, 32, 1};
  add_measurement("tiled", 1, m_here); // on the first device
  cl_device_id first = device_like(m_here);
  cl_device_id second = device_like(m_here);
  set_number(second, CL_DEVICE_MAX_WORK_GROUP_SIZE, std::size_t{512});
  (void)load_for({first, second}, FallbackPolicy::if_needed);
  EXPECT_EQ(m_report.variant, "default");
  m_context = nullptr;
  set_number(first, CL_DEVICE_MAX_WORK_GROUP_SIZE, std::size_t{512}); // it was measured there
  set_number(second, CL_DEVICE_MAX_WORK_GROUP_SIZE, std::size_t{1024});
  (void)load_for({first, second}, FallbackPolicy::if_needed);
  EXPECT_EQ(m_report.variant, "tiled");
}

TEST_F(LoadMeasuredVariants, YieldToTheNextIfTheyDoNotLoad) {
  program().source.reset();
  add_entry(offline_target("sm_80"), ptx_for("sm_80"));
  program().entries.back().variant = "fast";
  script(ptx_for("sm_80"), BinaryAnswer::accept);
  add_measurement("tiled", 1, m_here); // there is no entry of it
  add_measurement("fast", 2, m_here);
  expect_choice(device_like(m_here), "fast",
                "which was the fastest that loads of 'tiled' and 'fast', measured on this device "
                "with this driver");
}

constexpr const char* k_fastest_tiled = "which was the fastest of 'tiled' and 'default'";
constexpr const char* k_fastest_default = "which was the fastest of 'default' and 'tiled'";
constexpr const char* k_here = ", measured on this device with this driver";

TEST_F(LoadMeasuredVariants, AreRankedByTheLaunchesNearTheProblemSize) {
  add_class("k", 1, {1024, 1, 1}, 300, 100);
  add_class("k", 1, {65536, 1, 1}, 5000, 9000);
  cl_device_id device = device_like(m_here);
  const auto expect = [&](std::uint32_t dimensions, std::uint64_t items, const char* variant,
                          const std::string& reason) {
    m_problem_size = {dimensions, {items, 1, 1}};
    expect_choice(device, variant, reason + k_here);
  };
  expect(0, 0, "tiled", k_fastest_tiled); // by the sums of both
  expect(1, 1024, "default", std::string(k_fastest_default) + " in launches of 1024");
  EXPECT_THAT(describe(m_report), HasSubstr(" in launches of 1024, measured on this device"));
  expect(1, 2000, "default",
         std::string(k_fastest_default) + " in launches of 1024, the nearest to 2000");
  expect(1, 1, "default",
         std::string(k_fastest_default) + " in launches of 1024, the nearest to 1");
  const std::uint64_t most = ~std::uint64_t{0};
  expect(1, most, "tiled",
         fmt::format("{} in launches of 65536, the nearest to {}", k_fastest_tiled, most));
  expect(2, 1024, "tiled", k_fastest_tiled); // nothing was launched in two dimensions
}

TEST_F(LoadMeasuredVariants, AreRankedByTheNearestClassOfEachKernel) {
  add_class("a", 2, {32, 32, 1}, 100, 300);
  add_class("a", 2, {16, 64, 1}, 300, 100); // as many work-items
  add_class("b", 2, {8, 8, 1}, 20, 10);
  add_class("other", 1, {7, 1, 1}, 20, 10); // counts for each size
  m_problem_size = {2, {32, 32, 1}};
  expect_choice(device_like(m_here), "tiled",
                std::string(k_fastest_tiled) +
                    " in launches of 8x8 and 32x32, the nearest to 32x32" + k_here);
  m_problem_size = {2, {64, 16, 1}};
  expect_choice(device_like(m_here), "default",
                std::string(k_fastest_default) +
                    " in launches of 8x8 and 16x64, the nearest to 64x16" + k_here);
}

TEST_F(LoadMeasuredVariants, CountForASizeAlsoIfTheyWereNotMeasuredInEveryClass) {
  add_class("k", 1, {1024, 1, 1}, 300, 100);
  add_measurement("fast", 7, m_here);
  add_measurement("default", 1, m_here).global_size[0] = 1 << 20U;
  m_problem_size = {1, {1000, 1, 1}};
  expect_choice(device_like(m_here), "fast",
                std::string("which was the fastest of 'fast', 'default' and 'tiled' in launches of "
                            "1024, the nearest to 1000") +
                    k_here);
}

TEST_F(LoadMeasuredVariants, AreRefusedForEachSizeIfTheyWereInAnotherClass) {
  add_class("k", 1, {1024, 1, 1}, 300, 100);
  add_measurement("fast", 7, m_here);
  format::Measurement& refused = add_measurement("fast", 0, m_here);
  refused.global_size[0] = 1 << 20U;
  refused.outcome = format::MeasurementOutcome::wrong_result;
  refused.reason = "it differs";
  refused.rounds = 0;
  m_problem_size = {1, {1000, 1, 1}};
  expect_choice(device_like(m_here), "default",
                std::string(k_fastest_default) + " in launches of 1024, the nearest to 1000" +
                    k_here);
}

TEST_F(LoadMeasuredVariants, NearASizeLeaveOutWhatTheDeviceCannotLaunch) {
  add_entry(offline_target("sm_90"), ptx_for("sm_90"));
  program().entries.back().variant = "tiled";
  program().entries.back().kernels[1].required_work_group_size = {32, 32, 1};
  add_measurement("tiled", 1, nvidia_identity("sm_80"));
  add_measurement("fast", 2, nvidia_identity("sm_80"));
  m_problem_size = {1, {1024, 1, 1}};
  cl_device_id device = device_like(m_here);
  set_number(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, std::size_t{512});
  expect_choice(device, "fast",
                "which was the fastest of 'fast' in launches of 1024, measured on other devices of "
                "this vendor and type");
  ASSERT_FALSE(m_report.attempts.empty());
  EXPECT_EQ(m_report.attempts[0].reason,
            "variant 'tiled' is passed over: it requires work-groups of 1024 work-items, and the "
            "device allows 512");
}

class LoadRequiringVariants : public LoadProgram {
protected:
  LoadRequiringVariants() {
    program().variants.push_back({"half", "-DHALF", {"cl_khr_fp16"}});
    add_source();
  }

  // Adds an entry of the variant "half" for NVIDIA's devices, which do not report cl_khr_fp16.
  void add_half_entry(const std::string& architecture, const std::string& options) {
    add_entry(offline_target(architecture), ptx_for(architecture), options);
    program().entries.back().variant = "half";
  }

  cl_device_id device_with(const std::string& extensions) {
    cl_device_id device = m_driver.add_device(nvidia_identity("sm_90"));
    m_driver.script_device_value(device, CL_DEVICE_EXTENSIONS, extensions + '\0');
    return device;
  }

  base::Result<opencl::Program> load_variant(cl_device_id device, const std::string& variant,
                                             FallbackPolicy policy = FallbackPolicy::if_needed) {
    LoadRequest request;
    request.devices = {device};
    request.variant = variant;
    request.fallback = policy;
    m_context = m_driver.add_context(request.devices);
    return load(request);
  }
};

TEST_F(LoadRequiringVariants, PreferTheOneWhoseExtensionsTheDeviceHas) {
  cl_device_id device = device_with("cl_khr_fp64 cl_khr_fp16");
  const auto loaded = load_for({device}, FallbackPolicy::if_needed);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build -DHALF"));
  EXPECT_EQ(m_report.variant, "half");
  EXPECT_EQ(m_report.variant_reason, "which requires cl_khr_fp16: the device has it");
  EXPECT_EQ(m_report.extensions, "");
  EXPECT_THAT(describe(m_report),
              HasSubstr("program 'p', variant 'half', which requires cl_khr_fp16: the device has "
                        "it: built from source in "));
}

TEST_F(LoadRequiringVariants, ArePassedOverForDevicesWithoutTheExtension) {
  for (const char* extensions : {"", "cl_khr_fp16_other xcl_khr_fp16"}) { // whole words count
    m_driver.forget_calls();
    const auto loaded = load_for({device_with(extensions)}, FallbackPolicy::if_needed);
    m_context = nullptr;
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
    EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build -DV=1"));
    EXPECT_EQ(m_report.variant, "default");
    EXPECT_EQ(m_report.variant_reason, "");
    ASSERT_EQ(m_report.attempts.size(), 2U);
    EXPECT_EQ(m_report.attempts[0].decision, Decision::not_attempted);
    EXPECT_EQ(m_report.attempts[0].reason,
              "variant 'half' is passed over: no entry of program 'p', variant 'half', for 'NVIDIA "
              "CUDA / NVIDIA of sm_90 / 580.159.03' matches; variant 'half' requires cl_khr_fp16, "
              "which the device does not have");
  }
}

TEST_F(LoadRequiringVariants, ServeFromEntriesThatWereCompiledWithTheExtension) {
  add_half_entry("sm_80", "-DHALF -cl-ext=+cl_khr_fp64,+cl_khr_fp16");
  add_half_entry("sm_90", "-DHALF"); // the better one, which has no half
  script(ptx_for("sm_80"), BinaryAnswer::accept);
  const auto loaded = load_for({device_with("cl_khr_fp64")}, FallbackPolicy::if_needed);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  EXPECT_EQ(m_report.variant, "half");
  EXPECT_EQ(m_report.origin, Origin::entry);
  EXPECT_EQ(m_report.extensions, "cl_khr_fp64 cl_khr_fp16");
  EXPECT_EQ(m_report.variant_reason,
            "which requires cl_khr_fp16: the entry was compiled with what the device lacks");
  EXPECT_THAT(decisions(), ElementsAre("not attempted nvptx:sm_90", "loaded nvptx:sm_80"));
  EXPECT_EQ(m_report.attempts[0].reason,
            "the device does not have cl_khr_fp16, and the entry was compiled without it");
}

// As with PTX whose .version an older driver does not know.
TEST_F(LoadRequiringVariants, YieldToTheNextIfTheDriverRejectsTheirEntries) {
  add_half_entry("sm_90", "-DHALF -cl-ext=+cl_khr_fp16");
  add_entry(offline_target("sm_50"), ptx_for("sm_50"));
  script(ptx_for("sm_90"), BinaryAnswer::refuse_at_build, "Unsupported .version 9.9");
  script(ptx_for("sm_50"), BinaryAnswer::accept);
  const auto loaded = load_for({device_with("")}, FallbackPolicy::if_needed);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  EXPECT_EQ(m_report.variant, "default");
  EXPECT_EQ(m_report.origin, Origin::entry);
  EXPECT_EQ(m_report.extensions, "");
  EXPECT_THAT(decisions(),
              ElementsAre("refused nvptx:sm_90", "not attempted ", "loaded nvptx:sm_50"));
  EXPECT_EQ(m_report.attempts[0].entry, format::k_no_index); // none of the variant "default"
  EXPECT_THAT(m_report.attempts[1].reason, HasSubstr("variant 'half' is passed over: the driver "
                                                     "rejected 1 of the bundle's entries for"));
  EXPECT_THAT(m_driver.calls(), Not(Contains("create_source")));
}

TEST_F(LoadRequiringVariants, FailWithTheExtensionIfTheApplicationNamesThem) {
  for (const auto policy :
       {FallbackPolicy::if_needed, FallbackPolicy::never, FallbackPolicy::always}) {
    const auto loaded = load_variant(device_with("cl_khr_fp64"), "half", policy);
    ASSERT_FALSE(loaded.has_value());
    EXPECT_EQ(loaded.error().code, ErrorCode::no_matching_entry);
    EXPECT_THAT(loaded.error().message,
                HasSubstr("variant 'half' requires cl_khr_fp16, which the device does not have"));
  }
  EXPECT_THAT(m_driver.calls(), IsEmpty());
  EXPECT_TRUE(load_variant(device_with("cl_khr_fp16"), "half").has_value());
  EXPECT_TRUE(load_variant(device_with("cl_khr_fp16"), "default").has_value());
  EXPECT_EQ(m_report.variant, "default");
}

TEST_F(LoadRequiringVariants, AreTriedByTheNumberOfTheirExtensionsAndThenByName) {
  program().variants.push_back({"both", "-DBOTH", {"cl_khr_fp16", "cl_intel_subgroups"}});
  program().variants.push_back({"dots", "-DDOTS", {"cl_khr_integer_dot_product"}});
  const std::pair<const char*, const char*> expected[] = {
      {"cl_khr_fp16 cl_intel_subgroups cl_khr_integer_dot_product", "both"},
      {"cl_khr_fp16 cl_khr_integer_dot_product", "dots"},
      {"cl_khr_fp16", "half"},
      {"cl_intel_subgroups cl_qcom_perf_hint", "default"}};
  for (const auto& [extensions, variant] : expected) {
    ASSERT_TRUE(load_variant(device_with(extensions), "").has_value());
    EXPECT_EQ(m_report.variant, variant) << extensions;
  }
}

TEST_F(LoadRequiringVariants, RequireTheExtensionsOfEachDevice) {
  const std::vector<cl_device_id> devices{device_with("cl_khr_fp16"), device_with("")};
  ASSERT_TRUE(load_for(devices, FallbackPolicy::if_needed).has_value());
  EXPECT_EQ(m_report.variant, "default");
  EXPECT_THAT(m_report.attempts.front().reason,
              HasSubstr("variant 'half' requires cl_khr_fp16, which a device does not have"));
}

TEST_F(LoadRequiringVariants, NeedNoDefaultVariant) {
  program().variants = {{"half", "-DHALF", {"cl_khr_fp16"}}};
  EXPECT_TRUE(load_variant(device_with("cl_khr_fp16"), "").has_value());
  const auto none = load_variant(device_with(""), "");
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::no_matching_entry);
}

TEST_F(LoadProgram, WritesTheReportAsJson) {
  for (const char* architecture : {"sm_50", "sm_70"}) {
    add_entry(offline_target(architecture), ptx_for(architecture));
  }
  script(ptx_for("sm_70"), BinaryAnswer::refuse, "a \"log\"");
  script(ptx_for("sm_50"), BinaryAnswer::accept);
  ASSERT_TRUE(load_for({m_driver.add_device(nvidia_identity("sm_70"))}, FallbackPolicy::if_needed)
                  .has_value());
  m_report.microseconds = 7;
  for (Attempt& attempt : m_report.attempts) {
    attempt.microseconds = 3;
  }
  EXPECT_EQ(
      report_json(m_report),
      "{\"attempts\":[{\"code\":-42,\"code_name\":\"CL_INVALID_BINARY\",\"decision\":\"refused\","
      "\"device\":0,\"driver_log\":\"\",\"entry\":1,\"microseconds\":3,\"origin\":\"entry\","
      "\"pack\":\"\","
      "\"reason\":\"PTX 7.5 for sm_70 is compiled by the driver for compute capability 7.0\","
      "\"rule\":\"compatible\",\"stage\":\"clCreateProgramWithBinary\",\"target\":\"nvptx:sm_70\"},"
      "{\"code\":0,\"code_name\":\"CL_SUCCESS\",\"decision\":\"loaded\","
      "\"device\":0,\"driver_log\":\"\",\"entry\":0,\"microseconds\":3,\"origin\":\"entry\","
      "\"pack\":\"\","
      "\"reason\":\"PTX 7.5 for sm_50 is compiled by the driver for compute capability 7.0\","
      "\"rule\":\"compatible\",\"stage\":\"clBuildProgram\",\"target\":\"nvptx:sm_50\"}],"
      "\"devices\":[\"NVIDIA CUDA / NVIDIA of sm_70 / 580.159.03\"],\"extensions\":\"\","
      "\"microseconds\":7,"
      "\"origin\":\"entry\",\"program\":\"p\",\"schema\":\"clbin-load-report-1\","
      "\"variant\":\"default\",\"variant_reason\":\"\",\"warnings\":[]}");
}

TEST_F(LoadProgram, DescribesEveryStepForPeople) {
  for (const char* architecture : {"sm_50", "sm_70"}) {
    add_entry(offline_target(architecture), ptx_for(architecture));
    script(ptx_for(architecture), BinaryAnswer::refuse_at_build, "ptxas fatal\nsecond line");
  }
  add_source();
  ASSERT_TRUE(load_for({m_driver.add_device(nvidia_identity("sm_60"))}, FallbackPolicy::if_needed)
                  .has_value());
  const std::string text = describe(m_report);
  EXPECT_THAT(text, HasSubstr("program 'p', variant 'default': built from source in "));
  EXPECT_THAT(text, HasSubstr("  device 0 is 'NVIDIA CUDA / NVIDIA of sm_60 / 580.159.03'\n"));
  EXPECT_THAT(text, HasSubstr("  refused, compatible, entry for 'nvptx:sm_50': "));
  EXPECT_THAT(text, HasSubstr("; clBuildProgram: CL_BUILD_PROGRAM_FAILURE (-11) ("));
  EXPECT_THAT(text, HasSubstr("\n      ptxas fatal\n      second line\n"));
  EXPECT_THAT(text, HasSubstr("  not attempted, not compatible, entry for 'nvptx:sm_70': "));
  EXPECT_THAT(text, HasSubstr("  loaded, source: the driver rejected every matching entry ("));
}

} // namespace
} // namespace clbin::loader
