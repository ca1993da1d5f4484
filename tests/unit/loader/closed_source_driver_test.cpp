// Source from a bundle cannot read any file, on every driver of this machine.

#include "base/file_io.hpp"
#include "driver_samples.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::loader {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Returns a bundle without entries, so the source is built.
format::BundleReader bundle_of(const std::string& text,
                               const std::vector<format::SourceFile>& headers) {
  format::BundleInput input;
  input.producer = "test";
  format::ProgramInput& program = input.programs.emplace_back();
  program.name = "sample";
  program.source = {{"sample.cl", "sample.cl", text}, headers};
  program.variants = {{"default", ""}};
  auto written = format::write_bundle(input, {});
  EXPECT_TRUE(written.has_value()) << written.error().message;
  auto reader = format::BundleReader::open(base::owning_source(std::move(written).value(), "test"),
                                           {}, format::TrailingBytes::refuse);
  EXPECT_TRUE(reader.has_value()) << reader.error().message;
  return std::move(reader).value();
}

// Runs in a working directory with a secret file.
class ClosedSourceOnDrivers : public ::testing::Test {
protected:
  void SetUp() override {
    m_before = fs::current_path();
    auto folder = base::TemporaryFolder::create({}, "closed_source_test");
    ASSERT_TRUE(folder.has_value());
    m_folder.emplace(*std::move(folder));
    fs::current_path(m_folder->path());
    m_secret = (m_folder->path() / "secret.h").string();
    std::ofstream(m_secret) << "xyzzy_secret plugh;\n#error xyzzy_secret\n";
  }
  void TearDown() override { fs::current_path(m_before); }

  // Returns what the caller sees of the load: "loaded" and the report, or the error and the report.
  static std::string seen(const test::InstalledDevice& installed, const std::string& text,
                          const std::vector<format::SourceFile>& headers) {
    const opencl::Context context = test::make_context(installed);
    LoadReport report;
    const auto program =
        test::load(installed.driver, bundle_of(text, headers), context.get(),
                   test::request_for({installed.device}, FallbackPolicy::always), report);
    return (program ? "loaded" : program.error().message) + "\n" + describe(report);
  }

  std::string m_secret;

private:
  fs::path m_before;
  std::optional<base::TemporaryFolder> m_folder;
};

constexpr std::string_view k_kernel = "kernel void a(global int* p) { p[0] = 1; }\n";

TEST_F(ClosedSourceOnDrivers, ShowsNothingOfAFile) {
  const std::string name = '"' + m_secret + '"';
  CLBIN_FOR_EACH_DEVICE(installed) {
    for (const std::string& directive :
         {"#include " + name, "#import " + name, "#include_next " + name, "%:include " + name,
          "?\?=include " + name, "int x;\r#include " + name, "#define F " + name + "\n#include F",
          "#inc\\\nlude " + name, "// c \r#/**/include " + name,
          std::string("#include \"secret.h\"\n"), std::string("#include <secret.h>\n")}) {
      SCOPED_TRACE(installed.name + ": " + directive);
      const std::string text = seen(installed, directive + "\n" + std::string(k_kernel), {});
      EXPECT_THAT(text, Not(HasSubstr("xyzzy")));
      EXPECT_THAT(text, Not(HasSubstr("loaded\n")));
      EXPECT_THAT(text, HasSubstr("the bundle does not contain this header"));
    }
  }
}

TEST_F(ClosedSourceOnDrivers, TellsNothingOfWhatFilesThereAre) {
  const std::string asks = "(\"" + m_secret + "\")";
  CLBIN_FOR_EACH_DEVICE(installed) {
    for (const std::string& condition :
         {"#if __has_include" + asks, "#define H __has_include\n#if H" + asks,
          "#define C(a, b) a##b\n#if C(__has_, include)" + asks,
          std::string("#if defined(__has_include) && __has_include(<secret.h>)")}) {
      SCOPED_TRACE(installed.name + ": " + condition);
      const std::string text =
          seen(installed, condition + "\n#error xyzzy\n#else\n#error none\n#endif\n", {});
      EXPECT_THAT(text, Not(HasSubstr("xyzzy")));
      EXPECT_THAT(
          text, AnyOf(HasSubstr("none"), HasSubstr("a preprocessor word that searches for files")));
    }
    const std::string missing =
        seen(installed, "#pragma GCC dependency \"/no/such/file\"\n#error none\n", {});
    EXPECT_THAT(missing, Not(HasSubstr("file not found"))) << installed.name;
  }
}

// Oclgrind and rusticl would use the file in the working directory instead of the embedded header.
TEST_F(ClosedSourceOnDrivers, TakesTheHeaderAndNotTheFileOfItsName) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const std::vector<format::SourceFile> headers = {{"secret.h", "secret.h", "#define ONE 1\n"}};
    const std::string text =
        seen(installed, "#include \"secret.h\"\nkernel void a(global int* p) { p[0] = ONE; }\n",
             headers);
    EXPECT_THAT(text, HasSubstr("loaded\n"));
    EXPECT_THAT(text, Not(HasSubstr("xyzzy")));
  }
}

// As in philox.cl of pyopencl-random123.
TEST_F(ClosedSourceOnDrivers, BuildsWhereTheBranchIsNotTaken) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    EXPECT_THAT(seen(installed,
                     "#ifdef __cplusplus\n#include <stdexcept> /* don't\n*/\n#endif\n"
                     "#if 0\n#include \"secret.h\"\n#endif\n"
                     "#if defined(__has_include) && __has_include(\"x.h\")\n#include \"x.h\"\n"
                     "#endif\nkernel void a(global int* p) { p[0] = X; }\n",
                     {{"x.h", "x.h", "#define X 1\n"}}),
                HasSubstr("loaded\n"));
  }
}

TEST_F(ClosedSourceOnDrivers, NamesTheLineAndTheHeaderThatIsMissing) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const std::string text = seen(installed, "#include \"x.h\"\n" + std::string(k_kernel),
                                  {{"x.h", "x.h", "\n\n#include \"/no/such.h\"\n"}});
    EXPECT_THAT(text, HasSubstr("x.h:3:"));
    EXPECT_THAT(text, Not(HasSubstr("clbin~")));
    EXPECT_THAT(text, HasSubstr("the bundle does not contain this header: \"/no/such.h\""));
  }
}

} // namespace
} // namespace clbin::loader
