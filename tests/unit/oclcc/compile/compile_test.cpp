// Tests the compile mode with a driver stub: every fault and every rule, on any machine.
#include "compile_case.hpp"
#include "support/project_folders.hpp"
#include "support/ptxas_stub.hpp"
#include "unit/oclcc/worker/worker_programs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

using clbin::format::BundleReader;
using clbin::format::Manifest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class Compile : public CompileCase {
protected:
  void SetUp() override {
    CompileCase::SetUp();
    m_settings = stub_settings();
  }

  // Returns "program/variant: device" for each entry.
  static std::vector<std::string> entries_of(const std::filesystem::path& path) {
    const BundleReader reader = sound_bundle(path);
    std::vector<std::string> entries;
    for (std::uint32_t g = 0; g < reader.group_count(); ++g) {
      const auto group = reader.group(g);
      EXPECT_TRUE(group);
      for (std::uint32_t e = 0; e < group->entry_count; ++e) {
        const auto entry = reader.entry(group->first_entry + e);
        EXPECT_TRUE(entry);
        entries.push_back(group->program.str() + "/" + group->variant.str() + ": " +
                          entry->target.device_name.str());
      }
    }
    return entries;
  }

  // Returns the text of the main file in "out.clbin".
  static std::string source_of(const std::string& program, const std::string& variant) {
    const BundleReader reader = sound_bundle("out.clbin");
    const auto group = reader.find_group(program, variant);
    EXPECT_TRUE(group) << group.error().message;
    const auto source = reader.read_source(*group);
    EXPECT_TRUE(source) << source.error().message;
    return source->main.text;
  }
};

TEST_F(Compile, MakesAnEntryForEveryDeviceInSilence) {
  add_input("a", "text");
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success);
  EXPECT_EQ(outcome.messages, "");
  EXPECT_THAT(entries_of("out.clbin"),
              UnorderedElementsAre("a/default: Stub A", "a/default: Stub B", "a/default: Stub C"));
}

TEST_F(Compile, NamesTheOutputAfterTheInput) {
  std::filesystem::create_directory("dir");
  add_input("dir/a.b", "text");
  m_options.inputs[0].program = "a.b";
  m_options.output.reset();
  EXPECT_EQ(run().code, ExitCode::success);
  EXPECT_EQ(entries_of("a.b.clbin").size(), 3U);
}

TEST_F(Compile, AsksForANameOfABundleOfSeveralInputs) {
  add_input("a", "text");
  add_input("b", "text");
  m_options.output.reset();
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::command_line);
  EXPECT_EQ(outcome.messages,
            "oclcc: error: a bundle of several inputs has no default name: name it with -o\n");
}

TEST_F(Compile, AsksForANameOfABundleFromStandardInput) {
  m_options.inputs = {{"-", "stdin"}};
  m_options.output.reset();
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::command_line);
  EXPECT_EQ(outcome.messages,
            "oclcc: error: a bundle from standard input has no default name: name it with -o\n");
}

TEST_F(Compile, DoesNotOverwriteItsInput) {
  add_input("a", "text");
  m_options.output = "./a.cl";
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::command_line);
  EXPECT_EQ(outcome.messages, "oclcc: error: './a.cl' is both an input and the output\n");
  EXPECT_EQ(clbin::test::file_text("a.cl"), "text\n");
}

TEST_F(Compile, GivesTheSameBytesWithAnyNumberOfJobs) {
  for (const char* name : {"a", "b", "c", "d"}) {
    add_input(name, name);
  }
  m_options.variants = {{"one", {"-DX=1"}}, {"two", {"-DX=2"}}};
  m_options.jobs = 1;
  ASSERT_EQ(run().code, ExitCode::success);
  const std::string one = clbin::test::file_text("out.clbin");
  for (const unsigned jobs : {2U, 8U}) {
    m_options.jobs = jobs;
    ASSERT_EQ(run().code, ExitCode::success);
    EXPECT_EQ(clbin::test::file_text("out.clbin"), one) << "with -j " << jobs;
  }
  EXPECT_EQ(entries_of("out.clbin").size(), 4U * 2U * 3U);
}

TEST_F(Compile, RecordsOptionsToolsKernelsAndSource) {
  add_input("a", "text");
  m_options.driver_options = {"-DA=1", "-cl-mad-enable"};
  m_options.variants = {{"fast", {"-cl-fast-relaxed-math"}}};
  ASSERT_EQ(run().code, ExitCode::success);
  const BundleReader reader = sound_bundle("out.clbin");
  const auto group = reader.find_group("a", "fast");
  ASSERT_TRUE(group) << group.error().message;
  EXPECT_EQ(group->options, "-DA=1 -cl-mad-enable -cl-fast-relaxed-math");
  const auto manifest = reader.read_manifest(*group);
  ASSERT_TRUE(manifest) << manifest.error().message;
  ASSERT_EQ(manifest->entries.size(), 3U);
  for (const auto& entry : manifest->entries) {
    EXPECT_EQ(entry.options, "-DA=1 -cl-mad-enable -cl-fast-relaxed-math");
    EXPECT_EQ(entry.tools.count("oclcc"), 1U);
    EXPECT_EQ(entry.tools.count("libzstd"), 1U);
    EXPECT_EQ(entry.tools.at("driver"), "1");
    ASSERT_EQ(entry.kernels.size(), 1U);
    EXPECT_EQ(entry.kernels[0].name, "stub");
  }
  const auto source = reader.read_source(*group);
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(source->main.text, "text\n");
}

TEST_F(Compile, LeavesTheSourceOutWhenAsked) {
  add_input("a", "text");
  m_options.source = SourcePolicy::drop;
  ASSERT_EQ(run().code, ExitCode::success);
  const BundleReader reader = sound_bundle("out.clbin");
  const auto source = reader.read_source(*reader.find_group("a", "default"));
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, clbin::base::ErrorCode::no_source);
}

TEST_F(Compile, ReportsACrashAndWritesNothing) {
  add_input("a", "text");
  add_input("b", "crash on Stub B");
  clbin::test::write_text("out.clbin", "old");
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_EQ(outcome.messages, "oclcc: error: b.cl: the compiler of 'Stub B' crashed (signal 11)\n"
                              "oclcc: note: it printed: about to crash\n");
  EXPECT_EQ(clbin::test::file_text("out.clbin"), "old");
}

TEST_F(Compile, LeavesNoOutputBehindWhereThereWasNone) {
  add_input("a", "fail");
  EXPECT_EQ(run().code, ExitCode::compile_failed);
  EXPECT_FALSE(std::filesystem::exists("out.clbin"));
}

TEST_F(Compile, KeepsGoingWithWhatDidCompile) {
  add_input("a", "text");
  add_input("b", "crash on Stub B");
  add_input("c", "abort");
  m_options.failure = FailurePolicy::keep_going;
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_THAT(outcome.messages, HasSubstr("c.cl: the compiler of 'Stub C' crashed (signal 6)"));
  EXPECT_THAT(entries_of("out.clbin"),
              UnorderedElementsAre("a/default: Stub A", "a/default: Stub B", "a/default: Stub C",
                                   "b/default: Stub A", "b/default: Stub C"));
}

TEST_F(Compile, KeepsTheSourceOfAnOptionalProgramForDevicesThatCannotBuildIt) {
  add_input("a", "text");
  add_input("b", "complain on Stub B");
  m_options.optional_programs = {"b"};
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success);
  EXPECT_EQ(outcome.messages, "b.cl: warning: optional program 'b' does not compile: it is built "
                              "from source when it is loaded [on 'Stub B']\n"
                              "b.cl:1:2: note: no such thing\n"
                              "    1 | complain on Stub B\n"
                              "      |  ^\n");
  EXPECT_THAT(entries_of("out.clbin"),
              UnorderedElementsAre("a/default: Stub A", "a/default: Stub B", "a/default: Stub C",
                                   "b/default: Stub A", "b/default: Stub C"));
  EXPECT_EQ(source_of("b", "default"), "complain on Stub B\n");
}

TEST_F(Compile, KeepsOnlyTheSourceOfAnOptionalProgramThatNoDeviceBuilds) {
  add_input("b", "complain");
  m_options.variants = {{"one", {"-DX=1"}}, {"two", {"-DX=2"}}};
  m_options.absent_variants = AbsentVariants::refuse;
  m_options.optional_programs = {"b"};
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success);
  EXPECT_THAT(outcome.messages, HasSubstr("warning: optional program 'b' does not compile"));
  EXPECT_THAT(outcome.messages, HasSubstr("'Stub C · two'"));
  EXPECT_THAT(outcome.messages, HasSubstr("b.cl:1:2: note: no such thing\n"));
  EXPECT_THAT(outcome.messages, Not(HasSubstr("error")));
  EXPECT_THAT(entries_of("out.clbin"), testing::IsEmpty());
  EXPECT_EQ(source_of("b", "one"), "complain\n");
  EXPECT_EQ(source_of("b", "two"), "complain\n");
}

TEST_F(Compile, TellsAsNotesWhyAnOptionalProgramIsNotBuilt) {
  add_input("crashes", "crash on Stub B");
  add_input("hangs", "hang on Stub C");
  add_input("fails", "fail on Stub A");
  add_input("errs", "error on Stub A");
  m_options.optional_programs = {"hangs", "errs", "crashes", "fails"};
  m_options.timeout_seconds = 3;
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success);
  EXPECT_THAT(outcome.messages,
              HasSubstr("[on 'Stub B']\n"
                        "oclcc: note: crashes.cl: the compiler of 'Stub B' crashed (signal 11)\n"
                        "oclcc: note: it printed: about to crash\n"));
  EXPECT_THAT(outcome.messages,
              HasSubstr("[on 'Stub C']\n"
                        "oclcc: note: hangs.cl: the compiler of 'Stub C' did not finish within "
                        "3 s\n"));
  EXPECT_THAT(outcome.messages,
              HasSubstr("oclcc: note: fails.cl: the compiler of 'Stub A' rejects it: "
                        "clBuildProgram returned CL_BUILD_PROGRAM_FAILURE (-11)\n"));
  EXPECT_THAT(outcome.messages, HasSubstr("oclcc: note: errs.cl: 'Stub A': the binary is empty\n"));
  EXPECT_THAT(outcome.messages, Not(HasSubstr("error:")));
  EXPECT_EQ(entries_of("out.clbin").size(), 8U);
}

TEST_F(Compile, StillRequiresTheOtherPrograms) {
  add_input("a", "crash on Stub A");
  add_input("b", "complain");
  m_options.optional_programs = {"b"};
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_THAT(outcome.messages,
              HasSubstr("error: a.cl: the compiler of 'Stub A' crashed (signal 11)"));
  EXPECT_THAT(outcome.messages, HasSubstr("warning: optional program 'b' does not compile"));
  EXPECT_FALSE(std::filesystem::exists("out.clbin"));
  m_options.failure = FailurePolicy::keep_going;
  EXPECT_EQ(run().code, ExitCode::compile_failed);
  EXPECT_THAT(entries_of("out.clbin"),
              UnorderedElementsAre("a/default: Stub B", "a/default: Stub C"));
  EXPECT_EQ(source_of("b", "default"), "complain\n");
}

TEST_F(Compile, LooksForNoSpecializedKernelInAProgramLeftToItsSource) {
  add_input("b", "complain on Stub A");
  m_options.optional_programs = {"b"};
  m_options.specializations = {{"unseen", {4, 1, 1}}};
  EXPECT_EQ(run().code, ExitCode::success);
  m_options.inputs.clear();
  add_input("b", "text");
  EXPECT_EQ(run().code, ExitCode::command_line);
}

TEST_F(Compile, WritesNothingWhenNothingCompiled) {
  add_input("a", "exit");
  m_options.failure = FailurePolicy::keep_going;
  EXPECT_EQ(run().code, ExitCode::compile_failed);
  EXPECT_FALSE(std::filesystem::exists("out.clbin"));
}

TEST_F(Compile, EndsACompilerThatHangs) {
  add_input("a", "hang on Stub C");
  m_options.timeout_seconds = 3;
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_EQ(outcome.messages,
            "oclcc: error: a.cl: the compiler of 'Stub C' did not finish within 3 s\n");
}

TEST_F(Compile, TellsTheCodeOfAFailureThatTheLogDoesNotExplain) {
  add_input("a", "fail on Stub A");
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_EQ(outcome.messages, "oclcc: error: a.cl: the compiler of 'Stub A' rejects it: "
                              "clBuildProgram returned CL_BUILD_PROGRAM_FAILURE (-11)\n");
}

TEST_F(Compile, TellsAFailureAroundTheCompiler) {
  add_input("a", "error on Stub A");
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_EQ(outcome.messages, "oclcc: error: a.cl: 'Stub A': the binary is empty\n");
}

TEST_F(Compile, NamesTheDeviceOfADiagnosticOnlyWhereTheyDiffer) {
  add_input("a", "complain");
  CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_THAT(outcome.messages, HasSubstr("a.cl:1:2: error: no such thing\n"));
  EXPECT_THAT(outcome.messages, Not(HasSubstr("Stub")));
  m_options.inputs.clear();
  add_input("b", "complain on Stub B");
  outcome = run();
  EXPECT_THAT(outcome.messages, HasSubstr("b.cl:1:2: error: no such thing [on 'Stub B']\n"));
}

TEST_F(Compile, ShowsWarningsAndSucceeds) {
  add_input("a", "warn");
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success);
  EXPECT_THAT(outcome.messages, HasSubstr("a.cl:1:1: warning: questionable\n"));
  const BundleReader reader = sound_bundle("out.clbin");
  const auto manifest = reader.read_manifest(*reader.find_group("a", "default"));
  ASSERT_TRUE(manifest);
  EXPECT_THAT(manifest->entries.at(0).build_log, HasSubstr("warning: questionable"));
}

TEST_F(Compile, ShowsWhatDriversPrintOnlyWhenVerbose) {
  add_input("a", "chatter");
  EXPECT_EQ(run().messages, "");
  m_options.verbosity = Verbosity::verbose;
  EXPECT_THAT(run().messages, HasSubstr("Stub A · a.cl: the driver printed:\non stdout\n"));
}

TEST_F(Compile, CompilesForTheChosenDevices) {
  add_input("a", "text");
  m_options.device_patterns = {"1:0", "stub b"};
  ASSERT_EQ(run().code, ExitCode::success);
  EXPECT_THAT(entries_of("out.clbin"),
              UnorderedElementsAre("a/default: Stub B", "a/default: Stub C"));
}

TEST_F(Compile, ListsTheDevicesWhenAPatternMatchesNone) {
  add_input("a", "text");
  m_options.device_patterns = {"radeon"};
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::no_device);
  EXPECT_EQ(outcome.messages, "oclcc: error: no device matches 'radeon'; there are 0:0 'Stub A' "
                              "(Oclgrind), 0:1 'Stub B' (Oclgrind), 1:0 'Stub C' (Oclgrind)\n");
}

TEST_F(Compile, TellsThatThereIsNoLoaderAndThatThereIsNoDevice) {
  add_input("a", "text");
  m_settings.arguments = {"no-opencl"};
  CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::no_device);
  EXPECT_EQ(outcome.messages, "oclcc: error: no OpenCL loader here\n");
  m_settings.arguments = {"no-devices"};
  outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::no_device);
  EXPECT_THAT(outcome.messages, HasSubstr("no OpenCL device found; install a driver"));
}

TEST_F(Compile, LeavesOutDevicesWithoutACompilerWithANote) {
  add_input("a", "text");
  m_settings.arguments = {"no-compiler"}; // of Stub A
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success);
  EXPECT_EQ(outcome.messages, "oclcc: note: 'Stub A' is skipped: its driver has no compiler\n");
  EXPECT_EQ(entries_of("out.clbin").size(), 2U);
}

TEST_F(Compile, CompilesOnceForDevicesOfOneIdentity) {
  add_input("a", "text");
  m_settings.arguments = {"twins"}; // Stub A and Stub B are equal
  EXPECT_EQ(run().code, ExitCode::success);
  EXPECT_THAT(entries_of("out.clbin"),
              UnorderedElementsAre("a/default: Stub A", "a/default: Stub C"));
}

TEST_F(Compile, BuildsEqualUnitsOnce) {
  add_input("a", "log the process");
  add_input("b", "log the process");
  m_options.jobs = 1;
  m_options.device_patterns = {"Stub A"};
  ASSERT_EQ(run().code, ExitCode::success);
  const BundleReader reader = sound_bundle("out.clbin");
  const auto log_of = [&](const char* program) {
    const auto manifest = reader.read_manifest(*reader.find_group(program, "default"));
    EXPECT_TRUE(manifest) << manifest.error().message;
    return manifest->entries.at(0).build_log;
  };
  EXPECT_EQ(log_of("a"), "unit 1 of the process");
  EXPECT_EQ(log_of("b"), "unit 1 of the process");
}

TEST_F(Compile, ReportsEveryInputThatCannotBeRead) {
  m_options.inputs = {{"x.cl", "x"}, {"y.cl", "y"}};
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::file);
  EXPECT_EQ(outcome.messages, "oclcc: error: cannot open 'x.cl': No such file or directory\n"
                              "oclcc: error: cannot open 'y.cl': No such file or directory\n");
}

TEST_F(Compile, TellsWhyTheOutputCannotBeWritten) {
  add_input("a", "text");
  m_options.output = "missing/out.clbin";
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::file);
  EXPECT_THAT(outcome.messages, HasSubstr("missing/out.clbin"));
  EXPECT_THAT(outcome.messages, HasSubstr("No such file or directory"));
  m_options.output = "/dev/full";
  EXPECT_EQ(run().code, ExitCode::file);
}

TEST_F(Compile, WarnsOfAProgramWithoutKernels) {
  add_input("a", "no kernels");
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success);
  EXPECT_EQ(outcome.messages, "oclcc: warning: a.cl: it contains no kernel\n");
}

TEST_F(Compile, WritesOneRawBinary) {
  add_input("a", "text");
  m_options.output = "k.bin";
  EXPECT_EQ(run().code, ExitCode::success) << "the stub makes the same bytes for every device";
  EXPECT_EQ(clbin::test::file_text("k.bin"), "binary of text\n");
}

TEST_F(Compile, RefusesSeveralRawBinariesInOneFile) {
  add_input("a", "own name");
  m_options.output = "k.bin";
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::command_line);
  EXPECT_EQ(outcome.messages, "oclcc: error: 'k.bin' can contain only one device binary, but 3 "
                              "different ones were built; select one with --device or --target\n");
  m_options.device_patterns = {"Stub B"};
  EXPECT_EQ(run().code, ExitCode::success);
  add_input("b", "text");
  EXPECT_EQ(
      run().messages,
      "oclcc: error: 'k.bin' can contain only one device binary, but there are several inputs\n");
}

TEST_F(Compile, NamesTheFormatOfADeviceThatTheSuffixDoesNotFit) {
  add_input("a", "text");
  m_options.output = "k.spv";
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::command_line);
  EXPECT_THAT(outcome.messages, HasSubstr("cannot write 'k.spv': 'Stub A' produces "));
}

TEST_F(Compile, TellsThatNoDeviceMakesPtx) {
  add_input("a", "text");
  m_options.output = "k.ptx";
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::no_device);
  EXPECT_EQ(outcome.messages, "oclcc: error: cannot write 'k.ptx': no NVIDIA device of this "
                              "machine produces PTX, only 'Stub A', 'Stub B', 'Stub C'\n"
                              "oclcc: note: '--target' compiles without a device, for the targets "
                              "of '--list-targets'; '--source-only' writes a bundle of the "
                              "sources\n");
}

class CompileToCubin : public Compile {
protected:
  void SetUp() override {
    Compile::SetUp();
    add_input("a", "ptx");
    m_options.cubin = CubinPolicy::emit;
    m_options.device_patterns = {"Stub C"};
    m_settings.arguments = {"nvidia"}; // Stub C, an sm_90
    m_ptxas.emplace(m_folder.path() / "tools");
  }
  void TearDown() override {
    m_ptxas.reset();
    Compile::TearDown();
  }

  std::optional<PtxasStub> m_ptxas;
};

TEST_F(CompileToCubin, AddsACubinOfTheSameTargetBesideThePtx) {
  m_ptxas->install(PtxasStub::k_works);
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success) << outcome.messages;
  EXPECT_EQ(outcome.messages, "");
  const BundleReader reader = sound_bundle("out.clbin");
  const auto group = reader.find_group("a", "default");
  ASSERT_TRUE(group);
  ASSERT_EQ(group->entry_count, 2U);
  const auto ptx = reader.entry(group->first_entry);
  const auto cubin = reader.entry(group->first_entry + 1);
  EXPECT_EQ(ptx->kind, clbin::format::BinaryKind::ptx);
  EXPECT_EQ(cubin->kind, clbin::format::BinaryKind::cubin);
  EXPECT_EQ(ptx->target.digest, cubin->target.digest);
  EXPECT_EQ(ptx->kernels, cubin->kernels);
  const auto manifest = reader.read_manifest(*group);
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->entries[1].tools.at("ptxas"), "13.0.88");
  EXPECT_EQ(manifest->entries[0].tools.count("ptxas"), 0U);
}

TEST_F(CompileToCubin, WritesTheCubinItself) {
  m_ptxas->install(PtxasStub::k_works);
  m_options.cubin = CubinPolicy::skip;
  m_options.output = "k.cubin";
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success) << outcome.messages;
  EXPECT_EQ(
      clbin::test::file_text("k.cubin"),
      clbin::test::file_text(clbin::test::tests_folder() / "unit/format/binaries/sm_90.cubin"));
}

TEST_F(CompileToCubin, NamesThePackageOfAMissingPtxas) {
  if (std::filesystem::exists("/usr/local/cuda/bin/ptxas")) {
    GTEST_SKIP() << "this machine has CUDA";
  }
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::no_device);
  EXPECT_EQ(outcome.messages,
            "oclcc: error: '--emit-cubin' needs ptxas, which is not in PATH; install Debian's "
            "package nvidia-cuda-toolkit, or NVIDIA's CUDA toolkit\n");
  EXPECT_FALSE(std::filesystem::exists("out.clbin"));
}

TEST_F(CompileToCubin, TellsWhatPtxasSaid) {
  m_ptxas->install("echo 'ptxas fatal : Unresolved extern function' >&2; exit 255\n");
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_EQ(outcome.messages, "oclcc: error: a.cl: 'Stub C': ptxas ended with 255: ptxas fatal : "
                              "Unresolved extern function\n");
  EXPECT_FALSE(std::filesystem::exists("out.clbin"));
}

TEST_F(CompileToCubin, TellsACrashOfPtxas) {
  m_ptxas->install("kill -SEGV $$\n");
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_EQ(outcome.messages, "oclcc: error: a.cl: 'Stub C': ptxas crashed (signal 11)\n");
}

TEST_F(CompileToCubin, GivesUpOnAPtxasThatHangs) {
  m_ptxas->install("exec sleep 1000\n");
  m_options.timeout_seconds = 3;
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_EQ(outcome.messages, "oclcc: error: a.cl: 'Stub C': ptxas did not finish within 3 s\n");
}

TEST_F(CompileToCubin, NeedsNoPtxasWithoutAnNvidiaDevice) {
  m_options.device_patterns = {"Stub A"};
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success) << outcome.messages;
}

TEST_F(CompileToCubin, LeavesOutTheCubinOfABinaryThatIsNoPtx) {
  m_ptxas->install("exit 1\n");
  m_options.inputs.clear();
  add_input("b", "text");
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success) << outcome.messages;
  EXPECT_EQ(outcome.messages, "");
  const BundleReader reader = sound_bundle("out.clbin");
  EXPECT_EQ(reader.entry_count(), 1U);
}

TEST_F(CompileToCubin, EndsAPtxasThatUsesTooMuchMemory) {
  m_ptxas->install(
      "exec python3 -c 'text = b\"x\" * (400 << 20); import time; time.sleep(1000)'\n");
  m_settings.memory_limit_bytes = 200ULL << 20U;
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_EQ(outcome.messages, "oclcc: error: a.cl: 'Stub C': ptxas used more than 200 MiB of "
                              "memory (--memory-limit)\n");
}

TEST_F(CompileToCubin, EndsWhatPtxasLeavesRunning) {
  m_ptxas->install("echo $$ > " + (m_folder.path() / "group").string() + "\nsleep 1000 &\n" +
                   PtxasStub::k_works);
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success) << outcome.messages;
  const pid_t group = std::stoi(clbin::test::file_text((m_folder.path() / "group").string()));
  EXPECT_EQ(::kill(-group, 0), -1) << "a process of its group is still there";
}

TEST_F(CompileToCubin, KeepsThePtxOfAUnitWhoseCubinFails) {
  m_ptxas->install("exit 1\n");
  m_options.failure = FailurePolicy::keep_going;
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  const BundleReader reader = sound_bundle("out.clbin");
  ASSERT_EQ(reader.entry_count(), 1U);
  EXPECT_EQ(reader.entry(0)->kind, clbin::format::BinaryKind::ptx);
}

TEST_F(CompileToCubin, WritesNothingIfOnlyThePtxIsLeftOfACubin) {
  m_ptxas->install("exit 1\n");
  m_options.failure = FailurePolicy::keep_going;
  m_options.output = "k.cubin";
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_EQ(outcome.messages,
            "oclcc: error: a.cl: 'Stub C': ptxas ended with 1, without a message\n");
  EXPECT_FALSE(std::filesystem::exists("k.cubin"));
}

TEST_F(CompileToCubin, KeepsThePtxOfAnOptionalProgram) {
  m_ptxas->install("exit 1\n");
  m_options.optional_programs = {"a"};
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success);
  EXPECT_EQ(outcome.messages,
            "oclcc: warning: a.cl: optional program 'a' has no cubin for 'Stub C'\n"
            "oclcc: note: a.cl: 'Stub C': ptxas ended with 1, without a message\n");
  EXPECT_THAT(entries_of("out.clbin"), ElementsAre("a/default: Stub C"));
}

TEST_F(CompileToCubin, NamesADeviceOnceIfAnOptionalProgramFails) {
  m_ptxas->install(PtxasStub::k_works);
  m_options.inputs.clear();
  add_input("c", "crash");
  m_options.optional_programs = {"c"};
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success);
  EXPECT_THAT(outcome.messages, HasSubstr("[on 'Stub C']"));
  EXPECT_THAT(outcome.messages, Not(HasSubstr("'Stub C', 'Stub C'")));
  EXPECT_THAT(entries_of("out.clbin"), IsEmpty());
}

// The stub ignores -Werror, like Oclgrind. oclcc finds the warning in the log.
TEST_F(CompileToCubin, IsNotKeptOfAUnitWhoseWarningsAreErrors) {
  m_ptxas->install(PtxasStub::k_works);
  m_options.inputs.clear();
  add_input("w", "ptx with a warning");
  m_options.driver_options = {"-Werror"};
  m_options.failure = FailurePolicy::keep_going;
  EXPECT_EQ(run().code, ExitCode::compile_failed);
  EXPECT_FALSE(std::filesystem::exists("out.clbin")) << "there is nothing to write";
  m_options.failure = FailurePolicy::stop;
  m_options.optional_programs = {"w"};
  EXPECT_EQ(run().code, ExitCode::success);
  EXPECT_THAT(entries_of("out.clbin"), IsEmpty());
}

TEST_F(CompileToCubin, MakesNoVariantOfWhatItsTargetRefuses) {
  m_ptxas->install(PtxasStub::k_works);
  m_options.inputs.clear();
  add_input("w", "ptx with a warning");
  m_options.variants = {{"a", {}}, {"b", {"-Werror"}}};
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed) << outcome.messages;
  EXPECT_FALSE(std::filesystem::exists("out.clbin"));
}

TEST_F(CompileToCubin, SaysNothingOfTheCubinOfAUnitThatDoesNotCompile) {
  m_ptxas->install(PtxasStub::k_works);
  m_options.inputs.clear();
  add_input("c", "crash");
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_EQ(std::count(outcome.messages.begin(), outcome.messages.end(), '\n'), 2)
      << outcome.messages; // the crash, and the output of the driver
}

TEST_F(Compile, WritesPtxOfTheNvidiaDeviceWithoutItsNul) {
  add_input("a", "ptx");
  m_options.output = "k.ptx";
  m_settings.arguments = {"nvidia"}; // Stub C
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success) << outcome.messages;
  const std::string ptx = clbin::test::file_text("k.ptx");
  EXPECT_THAT(ptx, HasSubstr(".target sm_90"));
  EXPECT_EQ(ptx.find('\0'), std::string::npos);
}

} // namespace
} // namespace oclcc
