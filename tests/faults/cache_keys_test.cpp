// What the user cache must distinguish: one test for each bug that other caches had
// (doc/other_caches.md). Two programs that differ in one property are both built, give the right
// results, and are hits at their next start.
#include "faults/host_run.hpp"
#include "support/fault_layer.hpp"

#include "base/file_io.hpp"
#include "format/bundle/bundle_writer.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clbin::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* k_main = "#include \"factors.h\"\n"
                               "kernel void twice(global int* a) { *a *= TWICE; }\n"
                               "kernel void thrice(global int* a) { *a *= THRICE; }\n";
constexpr const char* k_header = "#ifndef TWICE\n#define TWICE 2\n#endif\n#define THRICE 3\n";

// One way to load, and the expected result.
struct Way {
  fs::path bundle;
  std::string computed = "42 63";
  std::string faults{};
  std::vector<std::string> arguments{};
};

std::string answer(const std::string& name, const std::string& value) {
  const std::string function =
      name.starts_with("CL_PLATFORM") ? "clGetPlatformInfo" : "clGetDeviceInfo";
  return "answer at=" + function + " name=" + name + " value=\"" + value + "\"\n";
}

class CacheKeys : public ::testing::Test {
protected:
  void SetUp() override {
    set_faults("");
    for (const HostPlatform& platform : host_platforms()) {
      if (!platform.has_own_cache()) {
        m_platforms.push_back(&platform);
      }
    }
    if (m_platforms.empty()) {
      GTEST_SKIP() << "no platform here uses the user cache";
    }
  }

  [[nodiscard]] fs::path path(const std::string& name) const { return m_folder.path() / name; }

  // A bundle of the program "numbers" that contains only source.
  [[nodiscard]] fs::path bundle_of(const std::string& name, const std::string& main = k_main,
                                   const std::vector<format::SourceFile>& headers = {
                                       {"factors.h", "factors.h", k_header}}) const {
    format::BundleInput input;
    input.producer = "test";
    format::ProgramInput& program = input.programs.emplace_back();
    program.name = "numbers";
    program.variants = {{"default", ""}};
    program.source = format::SourcePackage{{"numbers.cl", "numbers.cl", main}, headers};
    const auto bytes = format::write_bundle(input, {});
    EXPECT_TRUE(bytes.has_value()) << bytes.error().message;
    EXPECT_TRUE(base::write_output_file(path(name), *bytes).has_value());
    return path(name);
  }

  [[nodiscard]] HostRun start(const HostPlatform& platform, const Way& way) const {
    set_faults(way.faults);
    HostStart how;
    how.arguments = way.arguments;
    how.environment = {{"CLBIN_CACHE_DIR", path("cache").string()}};
    return run_host(platform, way.bundle, how);
  }

  void expect_built(const HostPlatform& platform, const Way& way) const {
    const HostRun run = start(platform, way);
    EXPECT_EQ(run.summary(), "source " + way.computed) << run.output;
    EXPECT_THAT(run.last().warnings, IsEmpty());
  }
  void expect_hit(const HostPlatform& platform, const Way& way) const {
    const HostRun run = start(platform, way);
    EXPECT_EQ(run.summary(), "user cache " + way.computed) << run.output;
    EXPECT_THAT(run.last().warnings, IsEmpty());
    EXPECT_THAT(fault_log_lines({"clCreateProgramWithSource"}), IsEmpty());
    EXPECT_THAT(fault_log_lines({"clCompileProgram"}), IsEmpty());
    EXPECT_THAT(fault_log_lines({"origin=binary", "-> passed code=0"}), Not(IsEmpty()));
  }

  template <typename Body>
  void for_each_platform(const Body& body) const {
    for (const HostPlatform* platform : m_platforms) {
      SCOPED_TRACE(platform->name);
      fs::remove_all(path("cache"));
      body(*platform);
    }
  }
  // On one platform, because libclbin computes the key from texts that the test sets.
  void expect_apart(const Way& one, const Way& other) const {
    const HostPlatform& platform = *fastest_cached_platform();
    SCOPED_TRACE(platform.name);
    fs::remove_all(path("cache"));
    expect_built(platform, one);
    expect_built(platform, other);
    expect_hit(platform, one);
    expect_hit(platform, other);
  }
  // Both ways load this program. Only the device's answer differs.
  void expect_answers_apart(const std::string& one, const std::string& other) const {
    const fs::path bundle = bundle_of("a.clbin");
    expect_apart({bundle, "42 63", one}, {bundle, "42 63", other});
  }

  std::vector<const HostPlatform*> m_platforms;
  base::TemporaryFolder m_folder = base::TemporaryFolder::create({}, "clbin-keys-").value();
};

// Boost.Compute read a digest object twice, got a new name each time, and never had a hit.
TEST_F(CacheKeys, TheSecondLoadReallyHits) {
  for_each_platform([&](const HostPlatform& platform) {
    expect_built(platform, {bundle_of("a.clbin")});
    expect_hit(platform, {bundle_of("a.clbin")}); // written anew
    expect_hit(platform, {bundle_of("other_name.clbin")});
  });
}

// Missing in the keys of darktable, xmr-stak, tinygrad and rust-gpu-tools.
TEST_F(CacheKeys, DriverVersionsAreApart) {
  expect_answers_apart("", answer("CL_DRIVER_VERSION", "999.1"));
  expect_answers_apart(answer("CL_DRIVER_VERSION", "9.1"), answer("CL_DRIVER_VERSION", "9.10"));
}

// ArrayFire PR #3444, CLBlast.
TEST_F(CacheKeys, DevicesAreApart) {
  expect_answers_apart("", answer("CL_DEVICE_NAME", "another device"));
  expect_answers_apart("", answer("CL_DEVICE_VENDOR", "another vendor"));
}

TEST_F(CacheKeys, PlatformsAreApart) {
  expect_answers_apart("", answer("CL_PLATFORM_NAME", "another platform"));
}

// PoCL reports its LLVM version only in the platform's version, others in the device's version.
TEST_F(CacheKeys, CompilerVersionsAreApart) {
  expect_answers_apart("", answer("CL_PLATFORM_VERSION", "OpenCL 3.0 X 1.2 LLVM 99"));
  expect_answers_apart("", answer("CL_DEVICE_VERSION", "OpenCL 1.2 X 99"));
}

// viennacl PR #226, OpenCV PR #9279.
TEST_F(CacheKeys, OptionsAreApart) {
  const fs::path bundle = bundle_of("a.clbin");
  expect_apart({bundle, "105 63", "", {"--build-options", "-DTWICE=5"}},
               {bundle, "147 63", "", {"--build-options", "-DTWICE=7"}});
  expect_apart({bundle}, {bundle, "105 63", "", {"--build-options", "-DTWICE=5"}});
}

// Without -U, which OpenCL does not have: Intel's CPU runtime rejects it.
TEST_F(CacheKeys, TheOrderOfOptionsCounts) {
  const fs::path bundle = bundle_of("a.clbin");
  expect_apart({bundle, "147 63", "", {"--build-options", "-DTWICE=5 -DTWICE=7"}},
               {bundle, "105 63", "", {"--build-options", "-DTWICE=7 -DTWICE=5"}});
}

// hashcat #1464: the key did not include the source.
TEST_F(CacheKeys, AnEditedSourceIsBuilt) {
  std::string edited = k_main;
  edited.replace(edited.find("*= TWICE"), 8, "*= 11 \n");
  expect_apart({bundle_of("a.clbin")}, {bundle_of("b.clbin", edited), "231 63"});
}

// PyOpenCL #18: after an edit of a header, the cache returned the old program.
TEST_F(CacheKeys, AnEditedHeaderIsSeen) {
  expect_apart({bundle_of("a.clbin")},
               {bundle_of("b.clbin", k_main,
                          {{"factors.h", "factors.h", "#define TWICE 5\n#define THRICE 7\n"}}),
                "105 147"});
}

// The same text under other names, or divided at another place.
TEST_F(CacheKeys, HeadersAreApartByNameAndBorder) {
  const std::string main = "#include \"a.h\"\n#include \"b.h\"\n"
                           "kernel void twice(global int* a) { *a *= TWICE; }\n"
                           "kernel void thrice(global int* a) { *a *= THRICE; }\n";
  const std::string two = "#define TWICE 2\n";
  const std::string three = "#define THRICE 3\n";
  expect_apart({bundle_of("a.clbin", main, {{"a.h", "a.h", two + three}, {"b.h", "b.h", "\n"}})},
               {bundle_of("b.clbin", main, {{"a.h", "a.h", two}, {"b.h", "b.h", three + "\n"}})});
  expect_apart({bundle_of("c.clbin", main, {{"a.h", "a.h", two}, {"b.h", "b.h", three}})},
               {bundle_of("d.clbin", main, {{"a.h", "a.h", three}, {"b.h", "b.h", two}})});
}

// PyOpenCL joined its fields without separators.
TEST_F(CacheKeys, FieldsAreApart) {
  expect_answers_apart(answer("CL_DEVICE_NAME", "X1") + answer("CL_DEVICE_VENDOR", "2"),
                       answer("CL_DEVICE_NAME", "X") + answer("CL_DEVICE_VENDOR", "12"));
  expect_answers_apart(answer("CL_DEVICE_NAME", "X 1") + answer("CL_DRIVER_VERSION", "2"),
                       answer("CL_DEVICE_NAME", "X") + answer("CL_DRIVER_VERSION", "1 2"));
}

// Boost.Compute PR #658: the key did not include the headers that -I finds.
TEST_F(CacheKeys, HeadersFoundThroughAnotherFolderAreApart) {
  const auto write = [&](const std::string& name, const std::string& text) {
    fs::create_directories(path(name).parent_path());
    std::ofstream(path(name)) << text;
  };
  write("numbers.cl", k_main);
  write("one/factors.h", "#include \"inner.h\"\n#define THRICE 3\n");
  write("one/inner.h", "#define TWICE 2\n");
  write("two/factors.h", "#include \"inner.h\"\n#define THRICE 3\n");
  write("two/inner.h", "#define TWICE 5\n");
  for (const HostPlatform* platform : m_platforms) {
    const auto compile = [&](const std::string& folder) {
      const ChildEnd end = run_program(CLBIN_OCLCC,
                                       {"-I", path(folder).string(), path("numbers.cl").string(),
                                        "-o", path(folder + ".clbin").string(), "-q"},
                                       {{"OCL_ICD_VENDORS", platform->vendor.string()}});
      EXPECT_EQ(end, (ChildEnd{0, std::nullopt}));
      // Options of the load, so the bundle's own entry does not match.
      return Way{path(folder + ".clbin"),
                 folder == "one" ? "42 63" : "105 63",
                 "",
                 {"--build-options", "-DUNUSED"}};
    };
    SCOPED_TRACE(platform->name);
    fs::remove_all(path("cache"));
    const Way one = compile("one");
    const Way two = compile("two");
    expect_built(*platform, one);
    expect_built(*platform, two);
    expect_hit(*platform, one);
    expect_hit(*platform, two);
  }
}

// PyOpenCL waits a minute for a process that no longer exists.
TEST_F(CacheKeys, NobodyWaitsForABuilderThatDied) {
  for_each_platform([&](const HostPlatform& platform) {
    const fs::path bundle = bundle_of("a.clbin");
    EXPECT_EQ(start(platform, {bundle, "", "crash at=clCompileProgram signal=SIGKILL"}).summary(),
              "SIGKILL");
    EXPECT_TRUE(fs::exists(path("cache") / "programs"));
    expect_built(platform, {bundle}); // no warning shows that it did not wait
    expect_hit(platform, {bundle});
  });
}

// PyOpenCL has one lock for all programs.
TEST_F(CacheKeys, NobodyWaitsForTheBuilderOfAnotherProgram) {
  for_each_platform([&](const HostPlatform& platform) {
    const fs::path bundle = bundle_of("a.clbin");
    set_faults("hang at=clCompileProgram call=1");
    HostStart how;
    how.environment = {{"CLBIN_CACHE_DIR", path("cache").string()}};
    const auto builder = start_host(platform, bundle, how);
    wait_for_fault(*builder, "-> hang");
    expect_built(platform, {bundle, "105 63", "", {"--build-options", "-DTWICE=5"}});
    EXPECT_TRUE(builder->is_running());
    builder->kill_it(SIGKILL);
    EXPECT_EQ(builder->wait(), (ChildEnd{std::nullopt, SIGKILL}));
  });
}

// Only Intel's driver also reports which ingredient changed.
TEST_F(CacheKeys, TheReportSaysWhichIngredientChanged) {
  for_each_platform([&](const HostPlatform& platform) {
    const fs::path bundle = bundle_of("a.clbin");
    expect_built(platform, {bundle});
    const HostRun run = start(platform, {bundle, "", answer("CL_DRIVER_VERSION", "999.1")});
    ASSERT_FALSE(run.last().attempts.empty()) << run.output;
    EXPECT_THAT(run.last().attempts[0].reason, HasSubstr("driver version: '"));
    EXPECT_THAT(run.last().attempts[0].reason, HasSubstr("' before, '999.1' now"));
  });
}

} // namespace
} // namespace clbin::test
