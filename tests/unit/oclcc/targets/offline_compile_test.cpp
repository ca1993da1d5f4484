// Tests the compile mode for offline targets: every fault, on any machine.
#include "offline_compile_fixture.hpp"

namespace oclcc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(OfflineCompile, MakesAnEntryForEachTargetWithoutADriver) {
  m_options.targets = {"spirv:1.2,1.0", "spirv:1.2:32"};
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success);
  EXPECT_EQ(outcome.messages, "");
  EXPECT_THAT(targets_of("out.clbin"),
              ::testing::UnorderedElementsAre("spirv:1.0", "spirv:1.2:32", "spirv:1.2"));
}

TEST_F(OfflineCompile, GivesTheSameBytesWithAnyNumberOfJobsAndOrderOfTargets) {
  m_options.targets = {"spirv:1.2", "spirv:1.0"};
  m_options.jobs = 1;
  EXPECT_EQ(run().code, ExitCode::success);
  fs::rename("out.clbin", "one.clbin");
  m_options.targets = {"spirv:1.0", "spirv:1.2", "spirv:1.2"};
  m_options.jobs = 4;
  EXPECT_EQ(run().code, ExitCode::success);
  EXPECT_TRUE(clbin::test::file_text("one.clbin") == clbin::test::file_text("out.clbin"));
}

TEST_F(OfflineCompile, RecordsTheVersionsOfItsTools) {
  ASSERT_EQ(run().code, ExitCode::success);
  const BundleReader reader = sound_bundle("out.clbin");
  const auto group = reader.find_group("k", "default");
  ASSERT_TRUE(group);
  const auto manifest = reader.read_manifest(*group);
  ASSERT_TRUE(manifest);
  const auto& tools = manifest->entries[0].tools;
  EXPECT_EQ(tools.at("clang"), "15.0.6");
  EXPECT_EQ(tools.at("llvm-spirv"), "15.0.6");
  EXPECT_EQ(tools.count("driver"), 0U);
}

TEST_F(OfflineCompile, NamesTheUsersFileInDiagnostics) {
  add_tool("clang", "echo \"kernel.cl:1:8: error: no such type\" >&2; exit 1");
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_THAT(outcome.messages, HasSubstr("k.cl:1:8: error: no such type\n"));
  EXPECT_EQ(starts("llvm-spirv"), 0U);
  EXPECT_FALSE(fs::exists("out.clbin"));
}

TEST_F(OfflineCompile, DoesNotBlameTheSourceForWhatClangDoesNotAccept) {
  add_tool("clang", "echo \"error: unknown argument: '-x'\" >&2; exit 1");
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_EQ(outcome.messages,
            "oclcc: error: k.cl: 'spirv:1.2': '" + (m_folder.path() / "tool-clang").string() +
                "' does not accept what oclcc passes to it: unknown argument: '-x'\n");
  // The last error of a source with many has no place, either.
  add_tool("clang", "echo \"kernel.cl:1:8: error: no such type\" >&2; echo 'fatal error: too many "
                    "errors emitted' >&2; exit 1");
  EXPECT_THAT(run().messages, HasSubstr("k.cl:1:8: error: no such type\n"));
}

TEST_F(OfflineCompile, UsesTypedPointersOnlyIfClangHasThem) {
  add_tool("clang", "[[ $* == *-no-opaque-pointers* ]] && exit 1\n"
                    "cat kernel.cl > \"$(echo \"$@\" | sed 's/.*-o \\([^ ]*\\).*/\\1/')\"");
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success);
  EXPECT_EQ(outcome.messages, "");
}

TEST_F(OfflineCompile, FailsTheUnitOfAToolThatFails) {
  add_tool("llvm-spirv", "echo cannot translate >&2; exit 3");
  expect_failure("llvm-spirv ended with 3: cannot translate");
}

TEST_F(OfflineCompile, NamesTheFirstErrorOfALongOutput) {
  add_tool("llvm-spirv", "seq 1000; echo 'error: the first'; echo 'error: the second'; exit 3");
  expect_failure("llvm-spirv ended with 3: error: the first");
  add_tool("llvm-spirv", "exit 3");
  expect_failure("llvm-spirv ended with 3, without a message");
}

TEST_F(OfflineCompile, FailsTheUnitOfAToolThatCrashes) {
  add_tool("llvm-spirv", "kill -SEGV $$");
  expect_failure("tool-llvm-spirv crashed (signal 11)");
}

TEST_F(OfflineCompile, GivesUpOnAToolThatHangs) {
  add_tool("spirv-val", "exec sleep 1000");
  m_options.timeout_seconds = 2;
  expect_failure("tool-spirv-val did not finish within 2 s");
}

TEST_F(OfflineCompile, RefusesAModuleThatIsNotValid) {
  add_tool("spirv-val", "echo 'error: line 3: no such id'; exit 1");
  expect_failure("llvm-spirv wrote a module that is not valid; spirv-val reports: no such id");
}

TEST_F(OfflineCompile, RepairsAModuleThatIsNotValidOnce) {
  add_tool("llvm-spirv",
           std::string("[[ ${@: -1} = kernel.bc ]] && touch bad || rm bad; ") + k_translates);
  add_tool("spirv-val", "[ ! -e bad ]");
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success);
  EXPECT_EQ(outcome.messages, "");
  EXPECT_EQ(starts("clang"), 4U) << "one asks for typed pointers";
  EXPECT_EQ(starts("llvm-spirv"), 2U);
  EXPECT_EQ(starts("spirv-val"), 2U);
}

TEST_F(OfflineCompile, RefusesGarbage) {
  add_tool("llvm-spirv", "echo garbage, which is long enough for a header > kernel.spv");
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_THAT(outcome.messages, HasSubstr("'spirv:1.2': "));
  EXPECT_FALSE(fs::exists("out.clbin"));
}

TEST_F(OfflineCompile, FailsTheUnitOfAToolThatWritesNothing) {
  add_tool("llvm-spirv", "exit 0");
  expect_failure("llvm-spirv wrote no file");
}

TEST_F(OfflineCompile, WarnsOfOptionsWithoutEffect) {
  m_options.driver_options = {"-cl-opt-disable"};
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success);
  EXPECT_THAT(outcome.messages, HasSubstr("'-cl-opt-disable' has no effect on 'spirv:1.2'"));
}

TEST_F(OfflineCompile, RefusesUnknownOptions) {
  m_options.driver_options = {"-cl-nv-arch=sm_90"};
  expect_failure("its compiler does not know the option '-cl-nv-arch=sm_90'");
}

TEST_F(OfflineCompile, RefusesATargetThatDoesNotExist) {
  m_options.targets = {"spirv:9.9"};
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::command_line);
  EXPECT_THAT(outcome.messages, HasSubstr("--list-targets"));
}

TEST_F(OfflineCompile, EndsWithTheStatusOfAMissingToolBeforeItStartsAny) {
  m_options.tools["clang"] = "/nonexistent/clang";
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::file);
  EXPECT_EQ(starts("llvm-spirv"), 0U);
}

TEST_F(OfflineCompile, StartsNoToolForACachedUnit) {
  m_cache.use = clbin::cache::CacheUse::on;
  m_cache.folder = m_folder.path() / "cache";
  m_cache.now = [] { return std::chrono::system_clock::now(); };
  m_cache.pause = [](std::chrono::milliseconds) {};
  ASSERT_EQ(run().code, ExitCode::success);
  EXPECT_EQ(starts("clang"), 2U) << "one asks for typed pointers";
  ASSERT_EQ(run().code, ExitCode::success);
  EXPECT_EQ(starts("clang"), 2U);
  EXPECT_EQ(starts("spirv-val"), 1U);
  std::ofstream("k.cl") << "kernel void changed() {}\n";
  ASSERT_EQ(run().code, ExitCode::success);
  EXPECT_EQ(starts("clang"), 3U) << "the answer is in the cache";
  add_tool("clang", std::string("true # changed\n") + "cp kernel.cl kernel.bc");
  ASSERT_EQ(run().code, ExitCode::success);
  EXPECT_EQ(starts("clang"), 5U) << "another compiler may generate different code";
}

} // namespace
} // namespace oclcc
