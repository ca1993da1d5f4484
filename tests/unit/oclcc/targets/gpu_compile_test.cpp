// The compile mode for AMD's and Intel's GPUs, with scripts instead of compilers.
#include "base/file_io.hpp"
#include "offline_compile_fixture.hpp"
#include "support/project_folders.hpp"

namespace oclcc {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string binary(const char* name) {
  return (clbin::test::tests_folder() / "unit/format/binaries" / name).string();
}

class AmdCompile : public OfflineCompile {
protected:
  void SetUp() override {
    OfflineCompile::SetUp();
    m_options.targets = {"amdgcn:gfx906:xnack-"};
    add_tool("clang", "echo \"$@\" >> '" + words_file().string() +
                          "'\n"
                          "echo '; IR' > \"$(echo \"$@\" | sed 's/.* -o \\([^ ]*\\).*/\\1/')\"");
    add_tool("lld", "cp '" + binary("arguments.gfx906.v4.o") + "' kernel.co");
    fs::create_directory("libraries");
    m_options.tools["rocm-device-libs"] = fs::absolute("libraries");
  }
  [[nodiscard]] fs::path words_file() const { return m_folder.path() / "words"; }
  // Returns the arguments of every start of clang, one line each.
  [[nodiscard]] std::string words() const { return clbin::test::file_text(words_file()); }
};

TEST_F(AmdCompile, MakesAnEntryWithoutADriver) {
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success);
  EXPECT_EQ(outcome.messages, "");
  EXPECT_TRUE(fs::exists("out.clbin"));
  EXPECT_THAT(words(), HasSubstr("-target-cpu gfx906 -mcode-object-version=4 "));
  EXPECT_THAT(words(), HasSubstr(" -target-feature -xnack "));
  EXPECT_THAT(words(), HasSubstr(" -D__OPENCL_VERSION__=200 -D__IMAGE_SUPPORT__=1 "));
}

TEST_F(AmdCompile, LinksTheLibrariesOfTheProcessorAndTheOptions) {
  ASSERT_EQ(run().code, ExitCode::success);
  for (const char* library :
       {"opencl.bc", "ocml.bc", "ockl.bc", "oclc_daz_opt_off.bc", "oclc_unsafe_math_off.bc",
        "oclc_finite_only_off.bc", "oclc_correctly_rounded_sqrt_off.bc",
        "oclc_wavefrontsize64_on.bc", "oclc_isa_version_906.bc", "oclc_abi_version_400.bc"}) {
    EXPECT_THAT(words(), HasSubstr(std::string("/libraries/") + library + " "));
  }
  m_options.targets = {"amdgcn:gfx1030"};
  m_options.driver_options = {"-cl-denorms-are-zero", "-cl-fast-relaxed-math",
                              "-cl-fp32-correctly-rounded-divide-sqrt"};
  fs::remove(words_file());
  ASSERT_EQ(run().code, ExitCode::success);
  for (const char* library : {"oclc_daz_opt_on.bc", "oclc_unsafe_math_on.bc",
                              "oclc_finite_only_on.bc", "oclc_correctly_rounded_sqrt_on.bc",
                              "oclc_wavefrontsize64_off.bc", "oclc_isa_version_1030.bc"}) {
    EXPECT_THAT(words(), HasSubstr(std::string("/libraries/") + library + " "));
  }
  EXPECT_THAT(words(), HasSubstr(" -fdenormal-fp-math-f32=preserve-sign,preserve-sign "));
  EXPECT_THAT(words(), Not(HasSubstr("-cl-denorms-are-zero")));
}

// AMD's libraries of 2022 do not know these processors.
TEST_F(AmdCompile, DefinesTheVersionsOfProcessorsThatAreNewerThanClang15) {
  add_tool("clang",
           "echo \"$@\" >> '" + words_file().string() +
               "'\n"
               "[ ! -f constants.cl ] || cat constants.cl >> '" +
               words_file().string() +
               "'\n"
               "echo '; IR' > \"$(echo \"$@\" | sed 's/.* -o \\([^ ]*\\).*/\\1/')\"",
           "22.1.8");
  m_options.targets = {"amdgcn:gfx1201"};
  ASSERT_EQ(run().code, ExitCode::success);
  EXPECT_THAT(words(), HasSubstr("-target-cpu gfx1201 -mcode-object-version=5 "));
  EXPECT_THAT(words(), HasSubstr("const __constant int __oclc_ISA_version = 12001;\n"
                                 "const __constant int __oclc_ABI_version = 500;\n"));
  EXPECT_THAT(words(), HasSubstr("/libraries/oclc_wavefrontsize64_off.bc"));
  EXPECT_THAT(words(), Not(HasSubstr("oclc_isa_version")));
  EXPECT_THAT(words(), HasSubstr(" -D__IMAGE_SUPPORT__=1 "));
  m_options.targets = {"amdgcn:gfx9-4-generic:xnack-"};
  fs::remove(words_file());
  ASSERT_EQ(run().code, ExitCode::success);
  EXPECT_THAT(words(), HasSubstr("-target-cpu gfx9-4-generic -mcode-object-version=6 "));
  EXPECT_THAT(words(), HasSubstr(" -target-feature -xnack "));
  EXPECT_THAT(words(), HasSubstr("const __constant int __oclc_ISA_version = 9402;\n"
                                 "const __constant int __oclc_ABI_version = 600;\n"));
  EXPECT_THAT(words(), HasSubstr("/libraries/oclc_wavefrontsize64_on.bc"));
  EXPECT_THAT(words(), Not(HasSubstr("__IMAGE_SUPPORT__")));
  m_options.targets = {"amdgcn:gfx90a:co5"};
  fs::remove(words_file());
  ASSERT_EQ(run().code, ExitCode::success);
  EXPECT_THAT(words(), HasSubstr("-target-cpu gfx90a -mcode-object-version=5 "));
  EXPECT_THAT(words(), HasSubstr("const __constant int __oclc_ISA_version = 9010;\n"
                                 "const __constant int __oclc_ABI_version = 500;\n"));
}

TEST_F(AmdCompile, RefusesAClangThatDoesNotHaveTheProcessor) {
  m_options.targets = {"amdgcn:gfx1200"};
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_EQ(outcome.messages,
            "oclcc: error: k.cl: 'amdgcn:gfx1200': requires clang 18 or later, and '" +
                m_options.tools["clang"].string() + "' is of version 15.0.6\n");
}

// LLVM lowers printf to calls of the libraries when it optimizes.
TEST_F(AmdCompile, OptimizesBeforeTheLibrariesAreLinkedOnlyIfPrintfIsCalled) {
  const char* const without_passes = " -disable-llvm-passes -w -emit-llvm-bc ";
  ASSERT_EQ(run().code, ExitCode::success);
  EXPECT_THAT(words(), HasSubstr(without_passes));
  add_tool("clang", "echo \"$@\" >> '" + words_file().string() +
                        "'\n"
                        "echo '  %1 = call i32 (ptr addrspace(4), ...) @printf(ptr addrspace(4) "
                        "@f)' > \"$(echo \"$@\" | sed 's/.* -o \\([^ ]*\\).*/\\1/')\"");
  fs::remove(words_file());
  ASSERT_EQ(run().code, ExitCode::success);
  EXPECT_THAT(words(), Not(HasSubstr(without_passes)));
  EXPECT_THAT(words(), HasSubstr(" -w -emit-llvm-bc "));
}

// clang 20 made them an error.
TEST_F(AmdCompile, AcceptsPointersOfOtherTypesWithEveryReleaseOfClang) {
  ASSERT_EQ(run().code, ExitCode::success);
  EXPECT_THAT(words(), HasSubstr(" -Wno-error=incompatible-pointer-types "));
  m_options.driver_options = {"-Werror"};
  fs::remove(words_file());
  ASSERT_EQ(run().code, ExitCode::success);
  EXPECT_THAT(words(), Not(HasSubstr("incompatible-pointer-types")));
}

TEST_F(AmdCompile, UsesTypedPointersOnlyIfClangHasThem) {
  ASSERT_EQ(run().code, ExitCode::success);
  EXPECT_THAT(words(), HasSubstr(" -no-opaque-pointers -fvisibility hidden -D__OPENCL_VERSION__"));
  add_tool("clang", "[[ $* != *-no-opaque-pointers* ]] || exit 1\n"
                    "echo \"$@\" >> '" +
                        words_file().string() +
                        "'\n"
                        "echo '; IR' > \"$(echo \"$@\" | sed 's/.* -o \\([^ ]*\\).*/\\1/')\"");
  fs::remove(words_file());
  ASSERT_EQ(run().code, ExitCode::success);
  EXPECT_THAT(words(), HasSubstr(" -fvisibility=hidden -D__OPENCL_VERSION__"));
}

TEST_F(AmdCompile, NamesWhatNothingDefines) {
  add_tool("lld", "echo 'ld.lld: error: undefined symbol: _Z9elsewheref'; exit 1");
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_EQ(outcome.messages, "oclcc: error: k.cl: 'amdgcn:gfx906:xnack-': nothing defines the "
                              "function 'elsewhere'\n");
  EXPECT_FALSE(fs::exists("out.clbin"));
}

TEST_F(AmdCompile, FailsTheUnitOfALinkerThatFails) {
  add_tool("lld", "echo 'ld.lld: error: no'; exit 1");
  EXPECT_THAT(run().messages, HasSubstr("lld ended with 1: ld.lld: error: no\n"));
}

TEST_F(AmdCompile, RefusesGarbage) {
  add_tool("lld", "echo garbage > kernel.co");
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_THAT(outcome.messages, HasSubstr("AMD code object: not an ELF file of machine 224"));
  EXPECT_FALSE(fs::exists("out.clbin"));
}

TEST_F(AmdCompile, RefusesUnknownLanguages) {
  m_options.driver_options = {"-cl-std=CLC++"};
  EXPECT_THAT(run().messages, HasSubstr("does not know the option '-cl-std=CLC++'"));
  EXPECT_THAT(words(), Not(HasSubstr("kernel.cl")));
}

class IntelCompile : public OfflineCompile {
protected:
  void SetUp() override {
    OfflineCompile::SetUp();
    m_options.targets = {"intel:tgllp"};
    add_ocloc("mkdir out && cp '" + binary("arguments.tgllp.zebin") +
              "' out/kernel; echo Build succeeded.");
  }
  void add_ocloc(const std::string& script) {
    add_tool("ocloc", "[ \"$1\" = query ] && echo '22.43.24595 ' > \"$2\" && exit\n"
                      "printf '%s\\n' \"${@: -1}\" > '" +
                          options_file().string() + "'\n" + script);
  }
  [[nodiscard]] fs::path options_file() const { return m_folder.path() / "ocloc-options"; }
  [[nodiscard]] std::string options() const {
    std::ifstream file(options_file());
    std::string line;
    std::getline(file, line);
    return line;
  }
};

TEST_F(IntelCompile, MakesAnEntryAndRecordsTheVersion) {
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success);
  EXPECT_EQ(outcome.messages, "");
  const BundleReader reader = sound_bundle("out.clbin");
  const auto manifest = reader.read_manifest(*reader.find_group("k", "default"));
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->entries[0].tools.at("ocloc"), "22.43.24595");
}

TEST_F(IntelCompile, PassesOptions) {
  m_options.driver_options = {"-DA=1", "-cl-mad-enable"};
  ASSERT_EQ(run().code, ExitCode::success);
  EXPECT_EQ(options(), "-cl-kernel-arg-info -I include -DA=1 -cl-mad-enable");
}

TEST_F(IntelCompile, KeepsDefinitionsWithSpacesOutOfTheOptions) {
  m_options.driver_options = {"-DA=1 + 2"};
  ASSERT_EQ(run().code, ExitCode::success);
  EXPECT_EQ(options(), "-cl-kernel-arg-info -I include");
}

TEST_F(IntelCompile, NamesTheUsersFileInDiagnostics) {
  add_ocloc("echo \"1:1:8: error: no such type\"; echo 'Build failed with error code: -11'; "
            "exit 245");
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_THAT(outcome.messages, HasSubstr("k.cl:1:8: error: no such type\n"));
  EXPECT_THAT(outcome.messages, Not(HasSubstr("Build failed")));
  EXPECT_FALSE(fs::exists("out.clbin"));
}

TEST_F(IntelCompile, FailsTheUnitOfAnOclocThatFails) {
  add_ocloc("echo 'Failed to parse target devices from : tgllp'; exit 1");
  EXPECT_THAT(run().messages, HasSubstr("ocloc ended with 1: Failed to parse target devices"));
  add_ocloc("exit 245");
  EXPECT_THAT(run().messages, HasSubstr("ocloc ended with 245"));
}

TEST_F(IntelCompile, FailsTheUnitOfAnOclocThatWritesNothing) {
  add_ocloc("echo Build succeeded.");
  EXPECT_THAT(run().messages, HasSubstr("ocloc wrote no file"));
}

TEST_F(IntelCompile, RefusesGarbage) {
  add_ocloc("mkdir out; echo garbage > out/kernel");
  const CompileOutcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_THAT(outcome.messages, HasSubstr("ocloc did not write a zebin"));
  EXPECT_FALSE(fs::exists("out.clbin"));
}

} // namespace
} // namespace oclcc
