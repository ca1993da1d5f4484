#include "closure/run_time_closure.hpp"
#include "run_time_fixture.hpp"
#include "source/recorded_names.hpp"
#include "support/child_process.hpp"

#include <csignal>
#include <fstream>

namespace clbin::loader {
namespace {

using base::ErrorCode;
using test::BinaryAnswer;
using test::installed_target;
using test::spirv;
using test::spirv_target;
using test::unknown_identity;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using RunTimeProgramTest = test::RunTimeTest;

constexpr const char* k_text = "kernel void a() {}\n";

TEST_F(RunTimeProgramTest, SecondStartServesWhatTheFirstBuilt) {
  EXPECT_EQ(build(request()), "built");
  EXPECT_EQ(m_report.origin, Origin::source);
  EXPECT_EQ(m_report.program, "run-time source");
  EXPECT_THAT(attempts(),
              ElementsAre("not attempted user cache: not in the user cache",
                          "loaded source: no binary of this source and these options is known"));
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build ", "get_binary"));
  EXPECT_THAT(m_driver.sources(), ElementsAre(k_text));

  start_anew();
  EXPECT_EQ(build(request()), "served");
  EXPECT_EQ(m_report.origin, Origin::user_cache);
  EXPECT_EQ(m_served->origin, Origin::user_cache);
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_binary BUILT", "build "));
  EXPECT_THAT(m_report.warnings, IsEmpty());
}

TEST_F(RunTimeProgramTest, ServedProgramKnowsTheLogAndTheKernelsOfItsBuild) {
  EXPECT_EQ(build(request()), "built");
  start_anew();
  EXPECT_EQ(build(request()), "served");
  ASSERT_EQ(m_served->details.size(), 1U);
  const auto details = m_served->details.front().read();
  ASSERT_TRUE(details.has_value()) << details.error().message;
  EXPECT_EQ(details->build_log, "a warning");
  ASSERT_EQ(details->kernels.size(), 2U);
  EXPECT_EQ(details->kernels[0].name, "a");
  EXPECT_EQ(details->kernels[0].arguments, std::nullopt);
}

TEST_F(RunTimeProgramTest, KernelArgumentsAreStoredOnRequestUnderAKeyOfTheirOwn) {
  EXPECT_EQ(build(request()), "built");
  start_anew();
  RunTimeRequest wanted = request();
  wanted.kernels = KernelDetail::arguments;
  EXPECT_EQ(build(wanted), "built");
  EXPECT_THAT(m_driver.calls(), Contains("create_kernel a"));
  start_anew();
  EXPECT_EQ(build(wanted), "served");
  const auto details = m_served->details.front().read();
  ASSERT_TRUE(details.has_value()) << details.error().message;
  EXPECT_EQ(details->kernels.size(), 2U);
}

TEST_F(RunTimeProgramTest, StringsReachTheDriverOneByOneAndTheKeyAsOneText) {
  RunTimeRequest parts = request();
  parts.source.strings = {"kernel void", " a() {}\n"};
  parts.source.options = "  -I /somewhere  -DA=1 ";
  EXPECT_EQ(build(parts), "built");
  EXPECT_THAT(m_driver.calls(),
              ElementsAre("create_source", "build   -I /somewhere  -DA=1 ", "get_binary"));
  start_anew();
  RunTimeRequest whole = request();
  whole.source.options = "-DA=1 -I/elsewhere";
  EXPECT_EQ(build(whole), "served");
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_binary BUILT", "build -DA=1"));
}

TEST_F(RunTimeProgramTest, ZeroBytesAtTheEndOfTheSourceAreNotPartOfIt) {
  using namespace std::string_view_literals;
  RunTimeRequest counted = request("kernel void a() {}\n\0"sv);
  EXPECT_EQ(build(counted), "built");
  EXPECT_THAT(m_driver.sources(), ElementsAre("kernel void a() {}\n\0"sv)) << "as it was given";
  RunTimeRequest several = request();
  several.source.strings = {"kernel void"sv, " a() {}\n\0"sv, "\0\0"sv};
  for (const RunTimeRequest& same : {request(), several, counted}) {
    start_anew();
    EXPECT_EQ(build(same), "served");
    EXPECT_THAT(attempts(),
                ElementsAre("loaded user cache: an earlier build of the same source for this "
                            "device"));
  }
}

TEST_F(RunTimeProgramTest, ZeroByteWithinTheSourceIsAReasonNotToStoreIt) {
  using namespace std::string_view_literals;
  RunTimeRequest within = request();
  within.source.strings = {"#define A 1\n\0"sv, "kernel void a() {}\n"sv};
  EXPECT_EQ(build(within), "built");
  start_anew();
  EXPECT_EQ(build(within), "built");
  EXPECT_THAT(attempts(),
              Contains("not attempted user cache: not used: source:2: it contains a zero byte"));
}

TEST_F(RunTimeProgramTest, EverythingThatTheDriverCompilesIsInTheKey) {
  const auto with = [&](const auto& change) {
    RunTimeRequest changed = request();
    change(changed);
    start_anew();
    return build(std::move(changed));
  };
  EXPECT_EQ(build(request()), "built");
  EXPECT_EQ(with([](RunTimeRequest& r) { r.source.strings = {"kernel void a() { }\n"}; }), "built");
  EXPECT_EQ(with([](RunTimeRequest& r) { r.source.options = "-w"; }), "built");
  EXPECT_EQ(with([](RunTimeRequest& r) { r.source.label = "matmul"; }), "served");
  EXPECT_EQ(with([](RunTimeRequest&) {}), "served");
}

TEST_F(RunTimeProgramTest, MissUnderALabelNamesTheFirstLineOrOptionThatDiffers) {
  const auto reason_of = [&](std::string_view text, const std::string& options) {
    RunTimeRequest labelled = request(text);
    labelled.source.label = "matmul";
    labelled.source.options = options;
    start_anew();
    EXPECT_EQ(build(labelled), "built");
    EXPECT_EQ(m_report.program, "matmul");
    return m_report.attempts.front().reason;
  };
  EXPECT_EQ(reason_of("one\ntwo\nthree\n", "-DA=1 -w"), "not in the user cache");
  EXPECT_EQ(reason_of("one\n2\n3\n", "-DA=1 -w"),
            "not in the user cache; the last stored entry differs in line 2 of the source");
  EXPECT_EQ(reason_of("one\n2\n", "-DA=1 -w"),
            "not in the user cache; the last stored entry differs in line 3 of the source");
  EXPECT_EQ(
      reason_of("one\n2\n", "-DA=2 -w"),
      "not in the user cache; the last stored entry differs in option: '-DA=1' before, '-DA=2' "
      "now");
  EXPECT_EQ(
      reason_of("one\n2\n", "-DA=2"),
      "not in the user cache; the last stored entry differs in option: '-w' before, now absent");
}

TEST_F(RunTimeProgramTest, CacheContainsNoSource) {
  RunTimeRequest labelled = request("kernel void a() { secret_name(); }\n");
  labelled.source.label = "matmul";
  EXPECT_EQ(build(labelled), "built");
  start_anew();
  for (const auto& item : std::filesystem::recursive_directory_iterator(m_settings.folder)) {
    if (item.is_regular_file()) {
      const auto bytes = base::read_whole_file(item.path(), 1U << 20U);
      ASSERT_TRUE(bytes.has_value());
      EXPECT_EQ(base::as_text(*bytes).find("secret_name"), std::string_view::npos) << item.path();
    }
  }
}

TEST_F(RunTimeProgramTest, QuotedOptionsDifferByTheirWhiteSpace) {
  RunTimeRequest quoted = request();
  quoted.source.options = "-DA=\"b  c\"";
  EXPECT_EQ(build(quoted), "built");
  start_anew();
  quoted.source.options = "-DA=\"b c\"";
  EXPECT_EQ(build(quoted), "built");
}

TEST_F(RunTimeProgramTest, HeaderIsInTheKeyByItsContents) {
  const auto header = m_outside.path() / "inc" / "a.h";
  std::filesystem::create_directories(header.parent_path());
  std::ofstream(header) << "int a;\n";
  RunTimeRequest with_header = request("#include \"a.h\"\n");
  with_header.source.options = "-I " + header.parent_path().string();
  EXPECT_EQ(build(with_header), "built");
  start_anew();
  EXPECT_EQ(build(with_header), "served");
  std::ofstream(header) << "int b;\n";
  start_anew();
  EXPECT_EQ(build(with_header), "built");
  EXPECT_THAT(attempts().front(), HasSubstr("the last stored entry differs in header 'a.h'"));
}

TEST_F(RunTimeProgramTest, HeaderThatChangesDuringTheBuildIsNotKept) {
  const auto header = m_outside.path() / "inc" / "a.h";
  std::filesystem::create_directories(header.parent_path());
  std::ofstream(header) << "int a;\n";
  RunTimeRequest with_header = request("#include \"a.h\"\n");
  with_header.source.options = "-I " + header.parent_path().string();
  m_before_keep = [&] { std::ofstream(header) << "int b;\n"; };
  EXPECT_EQ(build(with_header), "built");
  EXPECT_THAT(
      m_report.warnings,
      ElementsAre(
          "the user cache does not store the program: a header has changed during the build"));
  m_before_keep = nullptr;
  start_anew();
  EXPECT_EQ(build(with_header), "built");
}

// The layer builds without a look-up if other devices have builds that must stay usable.
TEST_F(RunTimeProgramTest, BuildWithoutALookUpIsKept) {
  build_without_look_up(request());
  start_anew();
  EXPECT_EQ(build(request()), "served");
}

TEST_F(RunTimeProgramTest, SourceWithoutAKeyIsBuiltEachTimeAndTheReportSaysWhy) {
  for (int start = 0; start < 2; ++start) {
    start_anew();
    EXPECT_EQ(build(request("constant char t[] = __TIME__;\n")), "built");
    EXPECT_EQ(attempts().front(),
              "not attempted user cache: not used: source:1: __TIME__ changes with every build");
    EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build "));
  }
}

TEST_F(RunTimeProgramTest, NamedHeadersAreCompiledAndKept) {
  RunTimeRequest named = request("#include \"a.h\"\n");
  named.source.headers = {{"a.h", "", "int a;\n"}};
  EXPECT_EQ(build(named), "built");
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "create_source", "compile  with a.h",
                                            "link ", "get_binary"));
  start_anew();
  EXPECT_EQ(build(named), "served");
  start_anew();
  named.source.headers.front().text = "int b;\n";
  EXPECT_EQ(build(named), "built");
}

TEST_F(RunTimeProgramTest, FailedBuildReportsTheLogAndStoresNothing) {
  m_driver.script_source({CL_BUILD_PROGRAM_FAILURE, {}, "source:1: error", ""});
  for (int start = 0; start < 2; ++start) {
    start_anew();
    EXPECT_EQ(build(request()), "building 'run-time source' failed: clBuildProgram: "
                                "CL_BUILD_PROGRAM_FAILURE (-11)\nsource:1: error");
    EXPECT_EQ(m_report.origin, Origin::none);
    EXPECT_EQ(m_report.attempts.back().driver_log, "source:1: error");
  }
}

TEST_F(RunTimeProgramTest, RefusedCacheEntryIsRemovedAndTheSourceBuilt) {
  EXPECT_EQ(build(request()), "built");
  script("BUILT", BinaryAnswer::refuse_at_build);
  start_anew();
  EXPECT_EQ(build(request()), "built");
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_binary BUILT", "build ", "create_source",
                                            "build ", "get_binary"));
}

TEST_F(RunTimeProgramTest, RequestsThatNoDriverAcceptsAreRefused) {
  RunTimeRequest none;
  none.devices = {device()};
  EXPECT_EQ(build(none), "a program needs either source or IL");
  RunTimeRequest both = request();
  both.source.il = base::as_bytes("IL");
  EXPECT_EQ(build(both), "a program needs either source or IL");
  RunTimeRequest constants = request();
  constants.source.constants = {{1, base::Bytes(4)}};
  EXPECT_EQ(build(constants), "only IL has specialisation constants, source does not");
  RunTimeRequest twice = request();
  twice.devices.push_back(device());
  EXPECT_EQ(build(twice), "device 1 is given twice");
  EXPECT_THAT(m_driver.calls(), IsEmpty());
}

TEST_F(RunTimeProgramTest, IlIsKeptByItsBytesAndConstants) {
  script("IL", BinaryAnswer::accept);
  m_driver.script_source({CL_SUCCESS, {"a", "b"}, "", "BUILT"});
  const auto with = [&](std::uint8_t value) {
    RunTimeRequest il = request();
    il.source.strings.clear();
    il.source.il = base::as_bytes("IL");
    il.source.constants = {{3, {std::byte{value}}}};
    start_anew();
    return build(std::move(il));
  };
  EXPECT_EQ(with(1), "built");
  EXPECT_THAT(m_driver.calls(),
              ElementsAre("create_il of 2 bytes", "set_constant 3 01", "build ", "get_binary"));
  EXPECT_EQ(m_report.origin, Origin::il);
}

// ---- Large texts, which are looked up before they are examined ----

// A text whose beginning is self-contained, and that ends with `end`.
std::string large_text(std::string_view end) {
  std::string text = k_text;
  while (text.size() < 8192) {
    text += "/* one of many lines */\n";
  }
  EXPECT_TRUE(closure::begins_self_contained(text));
  return text.append(end);
}

RunTimeRequest examined_after_a_miss(RunTimeRequest request, const std::string& options = {}) {
  request.examination = Examination::after_a_miss;
  request.source.options = options;
  return request;
}

class RunTimeLargeTextTest : public RunTimeProgramTest {
protected:
  std::string build_anew(std::string_view text, const std::string& options = {}) {
    start_anew();
    return build(examined_after_a_miss(request(text), options));
  }

  [[nodiscard]] std::string write_header(const std::string& text) const {
    const auto folder = m_outside.path() / "inc";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "a.h") << text;
    return "-I " + folder.string();
  }
};

TEST_F(RunTimeLargeTextTest, SecondStartServesWhatTheFirstBuilt) {
  const std::string text = large_text("kernel void b() {}\n");
  EXPECT_EQ(build_anew(text), "built");
  EXPECT_EQ(attempts().front(), "not attempted user cache: not in the user cache");
  EXPECT_EQ(m_report.attempts.size(), 2U);
  EXPECT_EQ(build_anew(text), "served");
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_binary BUILT", "build "));
}

TEST_F(RunTimeLargeTextTest, HeaderThatIsIncludedAtTheEndIsInTheKeyByItsContents) {
  const std::string text = large_text("#include \"a.h\"\n");
  const std::string options = write_header("int a;\n");
  EXPECT_EQ(build_anew(text, options), "built");
  EXPECT_EQ(m_report.attempts.size(), 2U); // one miss, although two keys were looked up
  EXPECT_EQ(build_anew(text, options), "served");
  EXPECT_EQ(write_header("int b;\n"), options);
  EXPECT_EQ(build_anew(text, options), "built");
  EXPECT_THAT(attempts().front(), HasSubstr("differs in header 'a.h'"));
}

TEST_F(RunTimeLargeTextTest, StatisticsCountOneMissABuild) {
  const std::string options = write_header("int a;\n");
  EXPECT_EQ(build_anew(large_text("#include \"a.h\"\n"), options), "built");
  EXPECT_EQ(build_anew(large_text("#include \"a.h\"\n"), options), "served");
  EXPECT_EQ(build_anew(large_text({})), "built");
  EXPECT_EQ(build_anew(large_text({})), "served");
  const auto statistics = m_builder->cache().programs.statistics();
  ASSERT_TRUE(statistics.has_value()) << statistics.error().message;
  EXPECT_EQ(statistics->counters.misses, 2U);
  EXPECT_EQ(statistics->counters.hits, 2U);
}

TEST_F(RunTimeLargeTextTest, FileThatAppearsChangesTheAnswerToATestForItAtTheEnd) {
  const std::string text = large_text("#if __has_include(\"a.h\")\nint a;\n#endif\n");
  const std::string options = "-I " + (m_outside.path() / "inc").string();
  EXPECT_EQ(build_anew(text, options), "built");
  EXPECT_EQ(build_anew(text, options), "served");
  EXPECT_EQ(write_header("int a;\n"), options);
  EXPECT_EQ(build_anew(text, options), "built");
}

TEST_F(RunTimeLargeTextTest, TextWithoutAKeyAtItsEndIsBuiltEachTimeAndTheReportSaysWhy) {
  const std::string text = large_text("constant char t[] = __TIME__;\n");
  for (int start = 0; start < 2; ++start) {
    EXPECT_EQ(build_anew(text), "built");
    EXPECT_THAT(attempts().front(), HasSubstr(": __TIME__ changes with every build"));
    EXPECT_EQ(m_report.attempts.size(), 2U);
    EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build "));
  }
}

TEST_F(RunTimeLargeTextTest, TextWithoutAKeyIsNotKeptWithoutALookUpEither) {
  const std::string text = large_text("constant char t[] = __TIME__;\n");
  RunTimeRequest wanted = examined_after_a_miss(request(text));
  m_context = m_driver.add_context(wanted.devices);
  auto program = RunTimeProgram::begin(m_driver.functions(), *m_builder, m_context,
                                       std::move(wanted), m_report);
  ASSERT_TRUE(program.has_value());
  const auto built = (*program)->build();
  ASSERT_TRUE(built.has_value());
  (*program)->keep(built->get());
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build "));
  EXPECT_THAT((*program)->why_not_keyed(), HasSubstr("__TIME__ changes with every build"));
}

TEST_F(RunTimeLargeTextTest, HeaderAtTheEndThatIsNotLookedUpIsInTheKeyOfWhatIsKept) {
  const std::string text = large_text("#include \"a.h\"\n");
  const std::string options = write_header("int a;\n");
  build_without_look_up(examined_after_a_miss(request(text), options));
  EXPECT_EQ(build_anew(text, options), "served");
  EXPECT_EQ(write_header("int b;\n"), options);
  EXPECT_EQ(build_anew(text, options), "built");
}

TEST_F(RunTimeLargeTextTest, RefusedEntryIsRemovedAndTheSourceKeptAgain) {
  const std::string text = large_text({});
  EXPECT_EQ(build_anew(text), "built");
  script("BUILT", BinaryAnswer::refuse_at_build);
  EXPECT_EQ(build_anew(text), "built");
  script("BUILT", BinaryAnswer::accept, "");
  EXPECT_EQ(build_anew(text), "served");
}

TEST_F(RunTimeLargeTextTest, RecordedNameIsOfTheTextAndItsHeaders) {
  const std::string text = large_text("#include \"a.h\"\n");
  RunTimeRequest wanted = examined_after_a_miss(request(text), write_header("int a;\n"));
  const auto options = source::parse_build_options(wanted.source.options);
  m_context = m_driver.add_context(wanted.devices);
  auto program = RunTimeProgram::begin(m_driver.functions(), *m_builder, m_context,
                                       std::move(wanted), m_report);
  ASSERT_TRUE(program.has_value());
  const auto found = closure::find_run_time_closure(text, {}, options);
  EXPECT_EQ((*program)->program(), base::to_hex(source::source_digest(found.package.value())));
  EXPECT_EQ((*program)->package(), found.package);
}

TEST_F(RunTimeLargeTextTest, HeaderAtTheEndThatChangesDuringTheBuildIsNotKept) {
  const std::string text = large_text("#include \"a.h\"\n");
  const std::string options = write_header("int a;\n");
  m_before_keep = [&] { EXPECT_EQ(write_header("int b;\n"), options); };
  EXPECT_EQ(build_anew(text, options), "built");
  EXPECT_THAT(m_report.warnings, Contains(HasSubstr("a header has changed during the build")));
  m_before_keep = nullptr;
  EXPECT_EQ(build_anew(text, options), "built");
}

// The layer passes such a build on to the driver, without serve() and build().
TEST_F(RunTimeLargeTextTest, HeaderAtTheEndThatChangesDuringTheBuildOfAnotherIsNotKept) {
  const std::string text = large_text("#include \"a.h\"\n");
  RunTimeRequest wanted = request(text);
  wanted.source.options = write_header("int a;\n");
  m_context = m_driver.add_context(wanted.devices);
  {
    auto program =
        RunTimeProgram::begin(m_driver.functions(), *m_builder, m_context, wanted, m_report);
    ASSERT_TRUE(program.has_value());
    RunTimeRequest same = wanted;
    LoadReport report;
    auto other = RunTimeProgram::begin(m_driver.functions(), *m_builder, m_context, same, report);
    ASSERT_TRUE(other.has_value());
    const auto built = (*other)->build();
    ASSERT_TRUE(built.has_value());
    (void)write_header("int b;\n");
    (*program)->keep(built->get());
  }
  EXPECT_EQ(build_anew(text, wanted.source.options), "built");
}

TEST_F(RunTimeLargeTextTest, TextWhoseWordsOnlyLookSpecialIsServed) {
  const std::string text = large_text("kernel void b(float __half) {}\n");
  EXPECT_EQ(build_anew(text), "built");
  EXPECT_EQ(build_anew(text), "served");
  start_anew();
  EXPECT_EQ(build(request(text)), "served"); // examined in begin(): the key is the same
}

// ---- Faults ----

class RunTimeFaultsTest : public RunTimeProgramTest {
protected:
  [[nodiscard]] std::vector<std::filesystem::path> entries() const {
    std::vector<std::filesystem::path> paths;
    for (const auto& item : std::filesystem::directory_iterator(m_settings.folder / "programs")) {
      if (item.path().extension() == ".clbin") {
        paths.push_back(item.path());
      }
    }
    return paths;
  }
};

TEST_F(RunTimeFaultsTest, BinaryThatKilledTheProcessTwiceIsNotAttemptedAgain) {
  EXPECT_EQ(build(request()), "built");
  start_anew();
  script("BUILT", BinaryAnswer::kill_process);
  const RunTimeRequest wanted = request();
  for (int death = 0; death < 2; ++death) {
    const auto end = test::run_in_child([&] {
      (void)build(wanted);
      return 0;
    });
    EXPECT_EQ(end.signal_number, SIGKILL);
  }
  EXPECT_EQ(build(request()), "built");
  EXPECT_THAT(attempts().front(), HasSubstr("in quarantine"));
  EXPECT_THAT(m_driver.calls(), testing::Not(Contains("create_binary BUILT")));
}

TEST_F(RunTimeFaultsTest, DamagedEntryIsRemovedAndTheSourceBuilt) {
  EXPECT_EQ(build(request()), "built");
  start_anew();
  ASSERT_EQ(entries().size(), 1U);
  std::filesystem::resize_file(entries().front(), 100);
  EXPECT_EQ(build(request()), "built");
  EXPECT_THAT(attempts().front(), HasSubstr("removed a damaged entry of the"));
  start_anew();
  EXPECT_EQ(build(request()), "served");
}

TEST_F(RunTimeFaultsTest, CacheOfOthersIsNotUsedAndTheSourceBuilt) {
  std::filesystem::create_directories(m_settings.folder);
  std::filesystem::permissions(m_settings.folder, std::filesystem::perms::all);
  start_anew();
  EXPECT_EQ(build(request()), "built");
  EXPECT_EQ(m_report.warnings.size(), 1U);
  start_anew();
  EXPECT_EQ(build(request()), "built");
}

TEST_F(RunTimeFaultsTest, FullCacheStoresNothingAndTheSourceIsBuilt) {
  m_settings.max_bytes = 1;
  for (int start = 0; start < 2; ++start) {
    start_anew();
    EXPECT_EQ(build(request()), "built");
  }
}

TEST_F(RunTimeFaultsTest, UpdatedDriverIsNotServedTheBinaryOfTheOldOne) {
  EXPECT_EQ(build(request()), "built");
  m_devices.clear();
  m_context = nullptr;
  m_identity.driver_version = "2.0";
  start_anew();
  EXPECT_EQ(build(request()), "built");
  EXPECT_THAT(attempts().front(), HasSubstr("differs in driver version: '1.0' before, '2.0' now"));
}

// ---- Bundles ----

class RunTimeBundleTest : public RunTimeProgramTest {
protected:
  // A bundle with the source `text`, and an entry for `identity`.
  void add_bundle(const std::string& name, const std::string& text, const std::string& options,
                  const format::DeviceIdentity& identity) {
    add_bundle_for(name, text, options, {{installed_target(identity), "ENTRY"}});
  }

  // A bundle with the source `text`, and an entry with this payload for each target.
  void add_bundle_for(const std::string& name, const std::string& text, const std::string& options,
                      const std::vector<std::pair<format::Target, std::string>>& targets) {
    format::ProgramInput program;
    program.name = name;
    const std::string variant = source::recorded_variant_name(options);
    program.variants = {{variant, options}};
    program.source = closure::find_run_time_closure(text, {}, source::parse_build_options(options))
                         .package.value_or(closure::package_of_text(text));
    for (const auto& [target, payload] : targets) {
      format::EntryInput entry;
      entry.variant = variant;
      entry.target = target;
      entry.options = options;
      entry.payload = test::bytes_of(payload);
      entry.build_log = "log of the entry";
      entry.kernels.resize(1);
      entry.kernels[0].name = "a";
      program.entries.push_back(entry);
      script(payload, BinaryAnswer::accept);
    }
    auto bytes = format::write_bundle({"test", {program}}, {});
    ASSERT_TRUE(bytes.has_value()) << bytes.error().message;
    auto reader = format::BundleReader::open(base::owning_source(*std::move(bytes), "app.clbin"),
                                             {}, format::TrailingBytes::refuse);
    ASSERT_TRUE(reader.has_value()) << reader.error().message;
    m_reader = std::make_shared<const format::BundleReader>(*std::move(reader));
    m_builder->add_bundle(m_reader);
  }

  static std::string recorded_name(const std::string& text) {
    return base::to_hex(source::source_digest({{"", "", text}, {}}));
  }

  std::shared_ptr<const format::BundleReader> m_reader;
};

TEST_F(RunTimeBundleTest, RecordedProgramIsServedByItsName) {
  add_bundle(recorded_name(k_text), k_text, "-DA=1", m_identity);
  RunTimeRequest with_options = request();
  with_options.source.options = "-I/x  -DA=1";
  EXPECT_EQ(build(with_options), "served");
  EXPECT_EQ(m_report.origin, Origin::entry);
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_binary ENTRY", "build -DA=1"));
  EXPECT_EQ(m_served->details.front().read().value().build_log, "log of the entry");
}

TEST_F(RunTimeBundleTest, LargeTextWithoutAKeyAtItsEndIsNotServed) {
  const std::string text = large_text("constant char t[] = __TIME__;\n");
  add_bundle(recorded_name(text), text, "", m_identity);
  EXPECT_EQ(build(examined_after_a_miss(request(text))), "built");
  EXPECT_THAT(m_driver.calls(), testing::Not(Contains("create_binary ENTRY")));
}

TEST_F(RunTimeBundleTest, BundleThatIsAddedAfterTheBeginningServesNoTextWithoutAKey) {
  const std::string text = large_text("constant char t[] = __TIME__;\n");
  RunTimeRequest wanted = examined_after_a_miss(request(text));
  m_context = m_driver.add_context(wanted.devices);
  auto program = RunTimeProgram::begin(m_driver.functions(), *m_builder, m_context,
                                       std::move(wanted), m_report);
  ASSERT_TRUE(program.has_value());
  add_bundle(recorded_name(text), text, "", m_identity);
  EXPECT_FALSE((*program)->serve().has_value());
}

TEST_F(RunTimeBundleTest, ProgramOfAFileIsServedByItsSource) {
  add_bundle("matmul", k_text, "-DA=1", m_identity);
  RunTimeRequest with_options = request();
  with_options.source.options = "-DA=1 -cl-kernel-arg-info";
  EXPECT_EQ(build(with_options), "served");
  EXPECT_EQ(m_report.origin, Origin::entry);
}

TEST_F(RunTimeBundleTest, ProgramWithAnotherValueIsNotServed) {
  add_bundle("matmul", k_text, "-DA='x y'", m_identity);
  RunTimeRequest other = request();
  other.source.options = "-DA='x -cl-kernel-arg-info y'";
  EXPECT_EQ(build(other), "built");
}

TEST_F(RunTimeBundleTest, OtherOptionsAndOtherSourceAreNotServed) {
  add_bundle("matmul", k_text, "-DA=1", m_identity);
  EXPECT_EQ(build(request()), "built");
  RunTimeRequest other = request("kernel void b() {}\n");
  other.source.options = "-DA=1";
  EXPECT_EQ(build(other), "built");
  EXPECT_THAT(m_driver.calls(), testing::Not(Contains("create_binary ENTRY")));
}

TEST_F(RunTimeBundleTest, MissNamesTheProgramThatIsMostLikeItAndWhatDiffers) {
  const std::string text = "#define N 4\nkernel void blur(global int* v) {\n  *v = N;\n}\n";
  const auto reason_of = [&](const std::string& wanted, const std::string& options) {
    start_anew();
    m_builder->add_bundle(m_reader);
    RunTimeRequest changed = request(wanted);
    changed.source.options = options;
    EXPECT_EQ(build(std::move(changed)), "built");
    return attempts().at(1);
  };
  const auto there = [&](const std::string& name, const std::string& options) {
    add_bundle(name, text, options, m_identity);
  };
  there("effects", "-D A=1 -w -cl-kernel-arg-info");
  const std::string nearest = "not attempted : 'app.clbin': its program 'effects' differs in ";
  EXPECT_EQ(reason_of(text, "-D A=2 -w"), nearest + "option: 'A=1' before, 'A=2' now");
  EXPECT_EQ(reason_of(text, "-w"),
            nearest + "option: '-D' before, now absent; option: 'A=1' before, now absent");
  EXPECT_EQ(reason_of(text, "-D A=1 -w -DB -O1"),
            nearest + "option: absent before, now '-DB'; option: absent before, now '-O1'");
  EXPECT_EQ(reason_of(text, "-w -D A=1"), nearest + "option: '-D' before, '-w' now");
  std::string other = text;
  other.replace(other.find("4"), 1, "5");
  EXPECT_EQ(reason_of(other, "-D A=1 -w"), nearest + "line 1 of the source");
  EXPECT_EQ(
      reason_of(text + "// end", "-D A=2"),
      nearest +
          "line 5 of the source; option: 'A=1' before, 'A=2' now; option: '-w' before, now absent");
  EXPECT_EQ(
      reason_of(text + "// end", "-DB -DC -DD"),
      nearest +
          "line 5 of the source; option: '-D' before, '-DB' now; option: 'A=1' before, '-DC' now");
  EXPECT_EQ(reason_of("kernel void unlike() {}\n", ""),
            "not attempted : no bundle contains a program like it");
  there(recorded_name(text), "-DA=3");
  EXPECT_EQ(reason_of(text, "-DA=4"), "not attempted : 'app.clbin': its program (kernel 'blur') "
                                      "differs in option: '-DA=3' before, '-DA=4' now");
}

TEST_F(RunTimeBundleTest, MissNamesHeadersThatDiffer) {
  const std::string text = "#include \"a.h\"\nkernel void k(global int* v) { *v = N; }\n";
  const auto with_headers = [&](std::vector<format::SourceFile> headers) {
    RunTimeRequest wanted = request(text);
    wanted.source.headers = std::move(headers);
    start_anew();
    if (m_reader != nullptr) {
      m_builder->add_bundle(m_reader);
    }
    return wanted;
  };
  format::ProgramInput program;
  program.name = "effects";
  program.variants = {{"default", ""}};
  program.source = format::SourcePackage{
      {"source", "source", text},
      {{"a.h", "a.h", "#include \"b.h\"\n"}, {"b.h", "b.h", "#define N 1\n"}}};
  auto bytes = format::write_bundle({"test", {program}}, {});
  ASSERT_TRUE(bytes.has_value()) << bytes.error().message;
  m_reader = std::make_shared<const format::BundleReader>(
      format::BundleReader::open(base::owning_source(*std::move(bytes), "app.clbin"), {},
                                 format::TrailingBytes::refuse)
          .value());
  EXPECT_EQ(
      build(with_headers({{"a.h", "a.h", "#include \"b.h\"\n"}, {"b.h", "b.h", "#define N 2\n"}})),
      "built");
  EXPECT_EQ(attempts().at(1),
            "not attempted : 'app.clbin': its program 'effects' differs in header 'b.h'");
  EXPECT_EQ(
      build(with_headers({{"a.h", "a.h", "#include \"c.h\"\n"}, {"c.h", "c.h", "#define N 1\n"}})),
      "built");
  EXPECT_EQ(attempts().at(1),
            "not attempted : 'app.clbin': its program 'effects' differs in header "
            "'a.h'; header 'c.h'; header 'b.h'");
}

TEST_F(RunTimeBundleTest, MissOfACallWithoutReportNamesNothing) {
  add_bundle("effects", k_text, "-DA=1", m_identity);
  RunTimeRequest quiet = request();
  quiet.detail = ReportDetail::attempts_only;
  EXPECT_EQ(build(std::move(quiet)), "built");
  EXPECT_THAT(attempts(), ElementsAre(HasSubstr("loaded source")));
}

TEST_F(RunTimeBundleTest, EntryOfAnotherDeviceIsListedAndNotServed) {
  add_bundle("matmul", k_text, "", unknown_identity("other"));
  EXPECT_EQ(build(request()), "built");
  EXPECT_THAT(attempts(), Contains(HasSubstr("not attempted not compatible")));
}

TEST_F(RunTimeBundleTest, WithoutFallbackOnlyBundlesServe) {
  EXPECT_EQ(build(request()), "built");
  start_anew();
  RunTimeRequest strict = request();
  strict.fallback = FallbackPolicy::never;
  EXPECT_EQ(build(strict), "built"); // the caller decides whether it builds
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build "));
  start_anew();
  add_bundle("matmul", k_text, "", m_identity);
  EXPECT_EQ(build(strict), "served");
}

TEST_F(RunTimeBundleTest, PolicyAlwaysUsesNothing) {
  add_bundle("matmul", k_text, "", m_identity);
  RunTimeRequest always = request();
  always.fallback = FallbackPolicy::always;
  EXPECT_EQ(build(always), "built");
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build "));
}

// What is built of the source is stored under the source's key, which precedes compatible entries.
// What a driver makes of the IR in an entry could not be, because a bundle must not determine it.
TEST_F(RunTimeBundleTest, SourceIsBuiltIfTheDriverRecompilesTheEntry) {
  add_bundle("matmul", k_text, "", m_identity);
  script("ENTRY", BinaryAnswer::accept, "warning: module got recompiled [-Wrecompiled-from-ir]");
  EXPECT_EQ(build(request()), "built");
  EXPECT_EQ(m_report.origin, Origin::source);
  EXPECT_THAT(decisions(), ElementsAre("recompiled Platform of d / d / 1.0",
                                       "not attempted user cache", "loaded source"));
  start_anew();
  m_builder->add_bundle(m_reader);
  EXPECT_EQ(build(request()), "served");
  EXPECT_EQ(m_report.origin, Origin::user_cache);
}

// ---- IL of bundles ----

class RunTimeBundleIlTest : public RunTimeBundleTest {
protected:
  RunTimeBundleIlTest() { m_identity.il_versions = {"SPIR-V_1.0", "SPIR-V_1.2"}; }

  // A recording of `k_text` with "-DA=1" that was compiled to SPIR-V 1.0 and 1.2.
  void add_il_bundle() {
    add_bundle_for(recorded_name(k_text), k_text, "-DA=1",
                   {{spirv_target(0), spirv(0)}, {spirv_target(2), spirv(2, 1)}});
  }

  RunTimeRequest with_options() {
    RunTimeRequest request = this->request();
    request.source.options = "-I/x -DA=1";
    return request;
  }
};

TEST_F(RunTimeBundleIlTest, NewestIlThatTheDeviceAcceptsIsBuiltInsteadOfTheSource) {
  add_il_bundle();
  EXPECT_EQ(build(with_options()), "served");
  EXPECT_EQ(m_report.origin, Origin::il);
  EXPECT_EQ(m_served->origin, Origin::il);
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_il of 36 bytes", "build -DA=1", "get_binary"));
  EXPECT_EQ(m_served->details.front().read().value().build_log, "log of the entry");
  EXPECT_THAT(attempts(), Contains("loaded IL: the driver compiles SPIR-V 1.2, because it accepts "
                                   "SPIR-V_1.2"));
}

TEST_F(RunTimeBundleIlTest, BinaryOfTheIlIsServedNextTimeAndOnlyWithTheBundle) {
  add_il_bundle();
  EXPECT_EQ(build(with_options()), "served");
  start_anew();
  m_builder->add_bundle(m_reader);
  EXPECT_EQ(build(with_options()), "served");
  EXPECT_EQ(m_report.origin, Origin::user_cache);
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_binary BUILT", "build -DA=1"));
  EXPECT_EQ(m_served->details.front().read().value().build_log, "log of the entry");

  start_anew(); // a bundle does not determine what the source alone is built to
  EXPECT_EQ(build(with_options()), "built");
  EXPECT_EQ(m_report.origin, Origin::source);
}

TEST_F(RunTimeBundleIlTest, EntryOfTheDeviceIsBetterThanIl) {
  add_bundle_for("matmul", k_text, "-DA=1",
                 {{spirv_target(0), spirv(0)}, {installed_target(m_identity), "ENTRY"}});
  EXPECT_EQ(build(with_options()), "served");
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_binary ENTRY", "build -DA=1"));
}

TEST_F(RunTimeBundleIlTest, SourceIsBuiltIfTheDriverRejectsTheIl) {
  add_il_bundle();
  script(spirv(2, 1), BinaryAnswer::refuse_at_build, "no");
  script(spirv(0), BinaryAnswer::refuse);
  EXPECT_EQ(build(with_options()), "built");
  EXPECT_EQ(m_report.origin, Origin::source);
  EXPECT_THAT(decisions(), ElementsAre("not attempted user cache", "not attempted user cache",
                                       "refused spirv:1.2", "refused spirv:1.0", "loaded source"));
}

TEST_F(RunTimeBundleIlTest, SourceIsBuiltForADeviceThatAcceptsNoIl) {
  m_identity.il_versions.clear();
  add_il_bundle();
  EXPECT_EQ(build(with_options()), "built");
  EXPECT_EQ(m_driver.calls().front(), "create_source");
  EXPECT_THAT(decisions(), ElementsAre("not attempted user cache", "not attempted spirv:1.0",
                                       "not attempted spirv:1.2", "loaded source"));
}

TEST_F(RunTimeBundleIlTest, IlIsNotBuiltIfTheCallerAllowsOnlyBinaries) {
  add_il_bundle();
  RunTimeRequest never = with_options();
  never.fallback = FallbackPolicy::never;
  RunTimeRequest ignored = with_options();
  ignored.bundle_il = BundleIl::ignored;
  for (const RunTimeRequest& wanted : {never, ignored}) {
    m_driver.forget_calls();
    EXPECT_EQ(build(wanted), "built"); // the caller decides whether it builds
    EXPECT_EQ(m_driver.calls().front(), "create_source");
    EXPECT_THAT(attempts(), Contains("not attempted IL: matches, but this build does not use IL"));
  }
}

TEST_F(RunTimeBundleIlTest, IlIsNotBuiltForSeveralDevices) {
  add_il_bundle();
  auto other = unknown_identity("other");
  other.il_versions = m_identity.il_versions;
  RunTimeRequest both = with_options();
  m_devices.push_back(m_driver.add_device(other));
  both.devices = m_devices;
  EXPECT_EQ(build(both), "built");
  EXPECT_EQ(m_driver.calls().front(), "create_source");
  EXPECT_THAT(attempts(), Contains("not attempted IL: matches, but this build does not use IL"));
}

TEST_F(RunTimeBundleIlTest, IlOfASecondBundleIsBuiltIfTheFirstContainsNone) {
  add_bundle(recorded_name(k_text), k_text, "-DA=1", unknown_identity("other"));
  add_il_bundle();
  EXPECT_EQ(build(with_options()), "served");
  EXPECT_EQ(m_report.origin, Origin::il);
}

// ---- Several devices ----

class RunTimeDevicesTest : public RunTimeProgramTest {
protected:
  RunTimeRequest both() {
    if (m_devices.size() < 2) {
      m_devices = {m_driver.add_device(unknown_identity("one")),
                   m_driver.add_device(unknown_identity("two"))};
      m_driver.script_source({CL_SUCCESS, {"a", "b"}, "", "ONE", {"TWO"}});
      script("ONE", BinaryAnswer::accept);
      script("TWO", BinaryAnswer::accept);
    }
    RunTimeRequest request = this->request();
    request.devices = m_devices;
    return request;
  }
};

TEST_F(RunTimeDevicesTest, BinaryOfEachDeviceIsKeptAndOneProgramServed) {
  EXPECT_EQ(build(both()), "built");
  start_anew();
  EXPECT_EQ(build(both()), "served");
  EXPECT_EQ(m_report.origin, Origin::user_cache);
  EXPECT_EQ(m_served->details.size(), 2U);
  EXPECT_EQ(m_report.attempts.back().rule, Rule::several_devices);
}

TEST_F(RunTimeDevicesTest, RefusedTogetherIsBuiltFromSource) {
  EXPECT_EQ(build(both()), "built");
  m_driver.script_together(test::TogetherAnswer::refuse_at_create);
  start_anew();
  EXPECT_EQ(build(both()), "built");
}

// ---- rusticl ----

// Its binary is the IL with the default values.
TEST_F(RunTimeProgramTest, BinaryOfRusticlIsNeitherStoredNorUsedIfConstantsAreSet) {
  m_identity.platform_name = "rusticl";
  script("IL", BinaryAnswer::accept);
  RunTimeRequest il = request();
  il.source.strings.clear();
  il.source.il = base::as_bytes("IL");
  il.source.constants = {{3, {std::byte{1}}}};
  EXPECT_EQ(build(il), "built");
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_il of 2 bytes", "set_constant 3 01", "build "));
  EXPECT_EQ(attempts().front(), "not attempted user cache: not used: a binary of rusticl loses the "
                                "values of specialisation constants");
}

// ---- PoCL ----

class RunTimePoclTest : public RunTimeProgramTest {
protected:
  RunTimePoclTest() {
    m_identity.platform_name = "Portable Computing Language";
    m_identity.platform_version = "OpenCL 3.0 PoCL 3.1";
  }
};

TEST_F(RunTimePoclTest, NothingIsKeptUnlessAsked) {
  EXPECT_EQ(build(request()), "built");
  EXPECT_EQ(attempts().front(), "not attempted user cache: not used: PoCL caches its own builds");
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build "));
}

TEST_F(RunTimePoclTest, BinaryIsTakenAfterLaunchesAndServedAfterwards) {
  m_settings.on_pocl = cache::CacheOnPocl::yes;
  start_anew();
  const RunTimeRequest wanted = request();
  m_context = m_driver.add_context(wanted.devices);
  auto first = RunTimeProgram::begin(m_driver.functions(), *m_builder, m_context, wanted, m_report);
  ASSERT_TRUE(first.has_value());
  EXPECT_FALSE((*first)->serve().has_value());
  auto built = (*first)->build();
  ASSERT_TRUE(built.has_value());
  (*first)->keep(built->get());
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build "));

  LoadReport report;
  auto second = RunTimeProgram::begin(m_driver.functions(), *m_builder, m_context, wanted, report);
  ASSERT_TRUE(second.has_value());
  (*second)->keep(built->get(), KeepTime::after_launches);
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build ", "get_binary"));
  m_builder->cache().stores.drain();
  const auto keep_again = [&](KeepTime time) {
    auto again = RunTimeProgram::begin(m_driver.functions(), *m_builder, m_context, wanted, report);
    m_driver.forget_calls();
    again.value()->keep(built->get(), time);
    m_builder->cache().stores.drain();
    return m_driver.calls();
  };
  EXPECT_THAT(keep_again(KeepTime::after_launches), IsEmpty()) << "the cache contains it";
  EXPECT_THAT(keep_again(KeepTime::after_more_launches), ElementsAre("get_binary"));
  start_anew();
  EXPECT_EQ(build(request()), "served");
}

} // namespace
} // namespace clbin::loader
