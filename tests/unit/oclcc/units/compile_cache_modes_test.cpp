// Tests the compile cache in modes whose result is less or more than a bundle.
#include "compile_cache_case.hpp"
#include "support/ptxas_stub.hpp"

#include "command_line/bundle_file.hpp"

#include <gmock/gmock.h>

namespace oclcc {
namespace {

using clbin::format::BinaryKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class CompileCacheModes : public CompileCacheCase {};

TEST_F(CompileCacheModes, SyntaxOnlyTellsTheWarningsOfACachedUnit) {
  add_input("a", "warn");
  const CacheOutcome compiled = run();
  ASSERT_EQ(compiled.code, ExitCode::success);
  ASSERT_THAT(compiled.messages, HasSubstr("a.cl:1:1: warning: questionable\n"));
  std::filesystem::remove("out.clbin");
  m_options.goal = CompileGoal::check;
  const CacheOutcome checked = run();
  EXPECT_EQ(checked.code, ExitCode::success);
  EXPECT_THAT(checked.builds, IsEmpty());
  EXPECT_EQ(checked.messages, compiled.messages);
  EXPECT_FALSE(std::filesystem::exists("out.clbin"));
}

TEST_F(CompileCacheModes, ABundleIsMadeOfWhatSyntaxOnlyBuilt) {
  add_input("a", "warn");
  m_options.goal = CompileGoal::check;
  const CacheOutcome checked = run();
  ASSERT_EQ(checked.code, ExitCode::success);
  ASSERT_THAT(checked.builds, SizeIs(3));
  m_options.goal = CompileGoal::output;
  const CacheOutcome compiled = run();
  EXPECT_EQ(compiled.code, ExitCode::success);
  EXPECT_THAT(compiled.builds, IsEmpty());
  EXPECT_EQ(compiled.messages, checked.messages);
  const std::string cached = contents("out.clbin");
  m_options.cache = CachePolicy::ignore;
  EXPECT_THAT(run().builds, SizeIs(3));
  EXPECT_EQ(contents("out.clbin"), cached);
}

TEST_F(CompileCacheModes, SyntaxOnlyFindsTheErrorAgain) {
  add_input("a", "error");
  m_options.goal = CompileGoal::check;
  const CacheOutcome first = run();
  ASSERT_EQ(first.code, ExitCode::compile_failed);
  const CacheOutcome second = run();
  EXPECT_EQ(second.code, ExitCode::compile_failed);
  EXPECT_EQ(second.messages, first.messages);
}

class CompileCacheOfCubins : public CompileCacheModes {
protected:
  void SetUp() override {
    CompileCacheCase::SetUp();
    add_input("a", "ptx");
    m_options.device_patterns = {"Stub C"};
    m_settings.arguments = {"nvidia"}; // Stub C, an sm_90
    m_ptxas.emplace(m_folder.path() / "tools");
    m_ptxas->install(PtxasStub::k_works);
  }
  void TearDown() override {
    m_ptxas.reset();
    CompileCacheCase::TearDown();
  }

  // Runs with or without --emit-cubin.
  CacheOutcome run_with(CubinPolicy cubin) {
    m_options.cubin = cubin;
    std::filesystem::remove("out.clbin");
    return run();
  }

  static std::vector<BinaryKind> kinds() {
    const auto reader = open_bundle("out.clbin");
    EXPECT_TRUE(reader) << reader.error().message;
    std::vector<BinaryKind> found;
    for (std::uint32_t i = 0; reader && i < reader->entry_count(); ++i) {
      found.push_back(reader->entry(i)->kind);
    }
    return found;
  }

  static std::string ptxas_version() {
    const auto reader = open_bundle("out.clbin");
    const auto group = reader->find_group("a", "default");
    return reader->read_manifest(*group)->entries[1].tools.at("ptxas");
  }

  std::optional<PtxasStub> m_ptxas;
};

TEST_F(CompileCacheOfCubins, AddsACubinToACachedUnit) {
  ASSERT_EQ(run_with(CubinPolicy::skip).code, ExitCode::success);
  EXPECT_THAT(kinds(), ElementsAre(BinaryKind::ptx));
  const CacheOutcome hit = run_with(CubinPolicy::emit);
  EXPECT_EQ(hit.code, ExitCode::success) << hit.messages;
  EXPECT_THAT(hit.builds, IsEmpty());
  EXPECT_THAT(kinds(), ElementsAre(BinaryKind::ptx, BinaryKind::cubin));
  const std::string cached = contents("out.clbin");
  m_options.cache = CachePolicy::ignore;
  EXPECT_THAT(run_with(CubinPolicy::emit).builds, SizeIs(1));
  EXPECT_EQ(contents("out.clbin"), cached);
}

TEST_F(CompileCacheOfCubins, ARunWithoutCubinsAfterOneWithThemHasNone) {
  ASSERT_EQ(run_with(CubinPolicy::emit).code, ExitCode::success);
  EXPECT_THAT(kinds(), ElementsAre(BinaryKind::ptx, BinaryKind::cubin));
  const std::string with_cubin = contents("out.clbin");
  const CacheOutcome without = run_with(CubinPolicy::skip);
  EXPECT_EQ(without.code, ExitCode::success);
  EXPECT_THAT(without.builds, IsEmpty());
  EXPECT_THAT(kinds(), ElementsAre(BinaryKind::ptx));
  const CacheOutcome again = run_with(CubinPolicy::emit);
  EXPECT_THAT(again.builds, IsEmpty());
  EXPECT_EQ(contents("out.clbin"), with_cubin);
}

TEST_F(CompileCacheOfCubins, ARunOfHitsStartsNoPtxas) {
  ASSERT_EQ(run_with(CubinPolicy::emit).code, ExitCode::success);
  const std::string cold = contents("out.clbin");
  EXPECT_EQ(m_ptxas->starts(), 2U) << "for its version, and to assemble";
  EXPECT_THAT(run_with(CubinPolicy::emit).builds, IsEmpty());
  EXPECT_EQ(m_ptxas->starts(), 2U);
  EXPECT_EQ(contents("out.clbin"), cold) << "the version of ptxas is cached, too";
}

TEST_F(CompileCacheOfCubins, AFailedPtxasIsNotCached) {
  m_ptxas->install("exit 1\n");
  ASSERT_EQ(run_with(CubinPolicy::emit).code, ExitCode::compile_failed);
  m_ptxas->install(PtxasStub::k_works);
  const CacheOutcome again = run_with(CubinPolicy::emit);
  EXPECT_EQ(again.code, ExitCode::success) << again.messages;
  EXPECT_THAT(again.builds, IsEmpty()) << "the PTX is cached";
}

TEST_F(CompileCacheOfCubins, AnotherPtxasMakesAnotherCubin) {
  ASSERT_EQ(run_with(CubinPolicy::emit).code, ExitCode::success);
  EXPECT_EQ(ptxas_version(), "13.0.88");
  m_ptxas->install(PtxasStub::k_works, "13.1.7");
  const CacheOutcome updated = run_with(CubinPolicy::emit);
  EXPECT_EQ(updated.code, ExitCode::success) << updated.messages;
  EXPECT_THAT(updated.builds, IsEmpty());
  EXPECT_EQ(ptxas_version(), "13.1.7");
}

TEST_F(CompileCacheOfCubins, TellsOnACachedUnitWhatPtxasSaid) {
  ASSERT_EQ(run_with(CubinPolicy::skip).code, ExitCode::success);
  m_ptxas->install("echo 'ptxas fatal : Unresolved extern function' >&2; exit 255\n");
  const CacheOutcome outcome = run_with(CubinPolicy::emit);
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_EQ(outcome.messages, "oclcc: error: a.cl: 'Stub C': ptxas ended with 255: ptxas fatal : "
                              "Unresolved extern function\n");
  EXPECT_FALSE(std::filesystem::exists("out.clbin"));
}

} // namespace
} // namespace oclcc
