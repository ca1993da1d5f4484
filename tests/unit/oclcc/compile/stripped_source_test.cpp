// A bundle is sufficient: after the source tree is removed and the binaries are stripped, every
// driver still builds the program.
#include "compile_case.hpp"
#include "loader/load_program.hpp"
#include "support/installed_devices.hpp"
#include "unit/oclcc/worker/worker_programs.hpp"

#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

namespace fs = std::filesystem;
using clbin::format::BundleReader;
using clbin::loader::LoadReport;
using clbin::loader::LoadRequest;
using clbin::loader::Origin;
using clbin::test::write_text;
using testing::ContainsRegex;

void write_tree(const fs::path& tree) {
  write_text(tree / "src/k.cl",
             "#include \"a/one.h\"\n"
             "#include HEADER\n"
             "#include STRING(inc/by_macro.h)\n"
             "#if defined(BREAK_MAIN)\n"
             "int broken = in_main;\n"
             "#endif\n"
             "kernel void k(global int* a) { *a = ONE + TWO + BY_MACRO + FORCED; }\n"
             "constant char text[] = TEXT;\n");
  write_text(tree / "src/a/one.h", "#pragma once\n#include \"same.h\"\n#define ONE SAME_A\n");
  write_text(tree / "src/a/same.h", "#define SAME_A 1\n"
                                    "\n"
                                    "#ifdef BREAK_HEADER\n"
                                    "int broken_too = in_header;\n"
                                    "#endif\n");
  write_text(tree / "folder/two.h", "#include \"b/same.h\"\n#define TWO SAME_B\n");
  write_text(tree / "folder/b/same.h", "#define SAME_B 2\n");
  write_text(tree / "folder/inc/by_macro.h", "#define BY_MACRO 3\n");
  write_text(tree / "forced.h", "#define FORCED 4\n");
}

std::string in_quotes(const fs::path& path) {
  return "'" + path.string() + "'";
}

class StrippedSource : public testing::Test {
protected:
  void SetUp() override {
    auto folder = clbin::base::TemporaryFolder::create({}, "oclcc-stripped-");
    ASSERT_TRUE(folder) << folder.error().message;
    m_folder.emplace(std::move(*folder));
  }

  // Returns the bundle of the tree without binaries, and removes the tree.
  [[nodiscard]] BundleReader make_bundle() const {
    const fs::path tree = m_folder->path() / "tree";
    const fs::path made = m_folder->path() / "made.clbin";
    const fs::path bundle = m_folder->path() / "stripped.clbin";
    write_tree(tree);
    const std::string oclcc = oclcc_program();
    run(oclcc + " --no-cache -I " + in_quotes(tree / "folder") + " -include " +
        in_quotes(tree / "forced.h") + " '-DTEXT=\"a b\"' '-DHEADER=<two.h>' '-DSTRING(x)=#x' " +
        in_quotes(tree / "src/k.cl") + " -o " + in_quotes(made));
    run(oclcc + " --strip --drop-target '*' " + in_quotes(made) + " -o " + in_quotes(bundle));
    fs::remove_all(tree);
    return sound_bundle(bundle);
  }

  static clbin::base::Result<clbin::opencl::Program>
  load(const clbin::test::InstalledDevice& installed, const BundleReader& bundle,
       const std::string& extra_options, LoadReport& report) {
    const clbin::opencl::Context context = clbin::test::make_context(installed);
    clbin::loader::ProgramCache cache{clbin::cache::CacheSettings()};
    LoadRequest request;
    request.program = "k";
    request.variant = "default";
    request.extra_options = extra_options;
    request.devices = {installed.device};
    return clbin::loader::load_program(installed.driver, bundle, cache, context.get(), request,
                                       report);
  }

private:
  static void run(const std::string& command) {
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }

  std::optional<clbin::base::TemporaryFolder> m_folder;
};

TEST_F(StrippedSource, BuildsOnEveryDevice) {
  std::optional<BundleReader> bundle;
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    if (!bundle) {
      bundle.emplace(make_bundle());
    }
    LoadReport report;
    const auto program = load(installed, *bundle, "", report);
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_EQ(report.origin, Origin::source);
  }
}

// Drivers report the file names of the #include lines.
TEST_F(StrippedSource, KeepsTheLinesOfErrors) {
  std::optional<BundleReader> bundle;
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    if (!bundle) {
      bundle.emplace(make_bundle());
    }
    LoadReport report;
    const auto in_main = load(installed, *bundle, "-DBREAK_MAIN", report);
    ASSERT_FALSE(in_main);
    EXPECT_THAT(in_main.error().message, ContainsRegex("k\\.cl:5:14.*in_main"));
    const auto in_header = load(installed, *bundle, "-DBREAK_HEADER", report);
    ASSERT_FALSE(in_header);
    EXPECT_THAT(in_header.error().message, ContainsRegex("same(~2)?\\.h:4:18.*in_header"));
  }
}

} // namespace
} // namespace oclcc
