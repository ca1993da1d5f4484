// Linked into every test executable that uses a driver. Each test process gets its own driver and
// user caches, which are empty at the start and removed at the end. gtest_discover_tests runs one
// TEST per process.

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace {

class DriverEnvironment : public ::testing::Environment {
public:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "clbin-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr) << "cannot create a folder for the driver caches";
    m_folder = name;
    m_owner = getpid();
    set("POCL_CACHE_DIR", m_folder / "pocl");
    set("XDG_CACHE_HOME", m_folder / "cache");
    set("MESA_SHADER_CACHE_DIR", m_folder / "mesa");
    set("CUDA_CACHE_PATH", m_folder / "cuda");
    set("CLBIN_CACHE_DIR", m_folder / "clbin");
  }

  void TearDown() override {
    // A child of a death test must not remove folders that its parent still uses.
    if (getpid() == m_owner) {
      std::error_code ignored;
      std::filesystem::remove_all(m_folder, ignored);
    }
  }

private:
  static void set(const char* variable, const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    ASSERT_EQ(setenv(variable, folder.c_str(), 1), 0);
  }

  std::filesystem::path m_folder;
  pid_t m_owner = 0;
};

[[maybe_unused]] const auto* const k_driver_environment =
    ::testing::AddGlobalTestEnvironment(new DriverEnvironment);

} // namespace
