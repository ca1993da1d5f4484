// Applications with two ICD loaders, such as one of PyPI's PyOpenCL beside the system's. The layer
// sees what is built through one of them, and says so.
#include "base/file_io.hpp"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/core.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/wait.h>

namespace clbin::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class TwoLoaders : public ::testing::Test {
protected:
  void SetUp() override {
    void* const library = ::dlopen("libOpenCL.so.1", RTLD_NOW);
    Dl_info information{};
    if (library == nullptr || ::dladdr(::dlsym(library, "clGetPlatformIDs"), &information) == 0) {
      GTEST_SKIP() << "no libOpenCL.so.1";
    }
    fs::copy_file(fs::canonical(information.dli_fname), copy);
    fs::create_directories(folder.path() / "recorded");
  }

  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream file(folder.path() / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Skips the test if no platform is installed.
  void run(const std::string& mode, const std::string& scenario) {
    const std::string command = fmt::format(
        "cd {0} && env OPENCL_LAYERS={1} CLBIN_LAYER_LOG={0}/log CLBIN_LAYER_MODE={2} "
        "CLBIN_LAYER_RECORD={0}/recorded CLBIN_CACHE_DIR={0}/cache POCL_CACHE_DIR={0}/pocl "
        "XDG_CACHE_HOME={0}/xdg timeout 100 {3} {4} {5} >{0}/out 2>{0}/err",
        folder.path().string(), CLBIN_LAYER_LIBRARY, mode, CLBIN_TWO_LOADERS, copy.string(),
        scenario);
    const int status = std::system(command.c_str());
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << text_of("out") << text_of("err");
    if (text_of("out") == "no platform\n") {
      GTEST_SKIP() << "no platform";
    }
  }

  [[nodiscard]] std::string line() const {
    return fmt::format("the process has a second OpenCL ICD loader, '{}': the layer does not see "
                       "what is built through it\n",
                       copy.string());
  }

  base::TemporaryFolder folder = base::TemporaryFolder::create({}, "clbin-loaders").value();
  fs::path copy = folder.path() / "libcopied.so.9"; // known by its DT_SONAME alone
};

TEST_F(TwoLoaders, AreReportedOnceIfTheSecondOneBuilds) {
  for (const char* mode : {"cache", "strict"}) {
    fs::remove(folder.path() / "log");
    ASSERT_NO_FATAL_FAILURE(run(mode, "unseen"));
    if (IsSkipped()) {
      return;
    }
    EXPECT_EQ(text_of("out"), "built 0\n") << "the layer does not see it";
    EXPECT_THAT(text_of("err"), HasSubstr("libclbin_layer: " + line()));
    const std::string log = text_of("log");
    EXPECT_THAT(log, HasSubstr("]: " + line()));
    EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
  }
}

TEST_F(TwoLoaders, AreReportedAtTheEndIfTheSecondOneDoesNotUseLayers) {
  for (const char* scenario : {"unasked", "unused"}) {
    fs::remove(folder.path() / "log");
    ASSERT_NO_FATAL_FAILURE(run("cache", scenario));
    if (IsSkipped()) {
      return;
    }
    EXPECT_THAT(text_of("err"), HasSubstr("libclbin_layer: " + line())) << scenario;
    EXPECT_THAT(text_of("log"), HasSubstr("]: " + line())) << scenario;
  }
}

TEST_F(TwoLoaders, AreToldToTheRecording) {
  ASSERT_NO_FATAL_FAILURE(run("record", "unseen"));
  if (IsSkipped()) {
    return;
  }
  std::vector<std::string> names;
  for (const auto& file : fs::directory_iterator(folder.path() / "recorded")) {
    names.push_back("recorded/" + file.path().filename().string());
  }
  ASSERT_EQ(names.size(), 1U);
  EXPECT_THAT(names[0], HasSubstr("recorded/loaders-"));
  EXPECT_THAT(text_of(names[0]), HasSubstr("\n" + copy.string() + "\n"));
}

} // namespace
} // namespace clbin::test
