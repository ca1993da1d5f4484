#include "remote/storage_client.hpp"

#include "base/file_io.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace oclcc::remote {
namespace {

using clbin::base::ErrorCode;
using clbin::cache::ProcessEnvironment;
using ::testing::HasSubstr;
using ::testing::Not;

class StorageHelperTest : public ::testing::Test {
protected:
  StorageHelperTest() {
    m_settings.url = "http://h/p";
    m_settings.token = "secret";
  }
  std::filesystem::path install(const std::string& name, const std::string& script = "") {
    const auto path = m_folder.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\n" << script;
    EXPECT_EQ(::chmod(path.c_str(), 0700), 0);
    return path;
  }
  [[nodiscard]] ProcessEnvironment environment() const {
    ProcessEnvironment environment;
    environment.variable = [this](const char* name) -> std::optional<std::string> {
      const auto found = m_variables.find(name);
      return found == m_variables.end() ? std::nullopt : std::optional(found->second);
    };
    return environment;
  }
  [[nodiscard]] std::string socket() const {
    return StorageHelper(m_settings, m_folder.path() / "oclcc-storage-http", "/folder",
                         environment())
        .socket_path();
  }
  // Starts the script as the helper, and returns why it cannot be used.
  std::string failure_of(const std::string& script, std::chrono::milliseconds time) {
    StorageHelper helper(m_settings, install("oclcc-storage-http", script), m_folder.path(),
                         environment());
    const WakeUp wake_up;
    const auto client = helper.connect(Clock::now() + time, wake_up);
    return client ? "none" : client.error().message;
  }

  clbin::base::TemporaryFolder m_folder =
      clbin::base::TemporaryFolder::create({}, "oclcc-helper-test-").value();
  std::map<std::string, std::string> m_variables;
  RemoteSettings m_settings;
};

TEST_F(StorageHelperTest, IsFoundBesideTheExecutableFirst) {
  const auto executable = install("bin/oclcc");
  const auto path = (m_folder.path() / "path").string();
  EXPECT_FALSE(find_storage_helper(executable, path));
  const auto in_path = install("path/oclcc-storage-http");
  EXPECT_EQ(find_storage_helper(executable, "relative:" + path), in_path);
  install("libexec/oclcc/oclcc-storage-http");
  EXPECT_EQ(std::filesystem::canonical(*find_storage_helper(executable, path)),
            m_folder.path() / "libexec/oclcc/oclcc-storage-http");
  const auto beside = install("bin/oclcc-storage-http");
  EXPECT_EQ(find_storage_helper(executable, path), beside);
  ASSERT_EQ(::chmod(beside.c_str(), 0600), 0); // is no program
  EXPECT_NE(find_storage_helper(executable, path), beside);
}

TEST_F(StorageHelperTest, IsNotFoundInTheWorkingDirectory) {
  install("oclcc-storage-http");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(m_folder.path());
  EXPECT_FALSE(find_storage_helper("/nonexistent/oclcc", ".::relative"));
  std::filesystem::current_path(before);
}

TEST_F(StorageHelperTest, HasASocketOfItsOwnForEachSetting) {
  const std::string first = socket();
  EXPECT_EQ(socket(), first);
  EXPECT_THAT(first, ::testing::StartsWith("/folder/"));
  EXPECT_EQ(first.size(), std::string("/folder/").size() + 32);
  EXPECT_THAT(first, Not(HasSubstr("secret")));
  const auto other_with = [&](auto change) {
    const RemoteSettings before = m_settings;
    change(m_settings);
    const std::string socket_then = socket();
    m_settings = before;
    return socket_then != first;
  };
  EXPECT_TRUE(other_with([](RemoteSettings& settings) { settings.url += "x"; }));
  EXPECT_TRUE(other_with([](RemoteSettings& settings) { settings.token += "x"; }));
  EXPECT_TRUE(other_with([](RemoteSettings& settings) { settings.mode = RemoteMode::read_only; }));
  EXPECT_TRUE(other_with([](RemoteSettings& settings) { settings.netrc = "/n"; }));
  m_variables["https_proxy"] = "http://proxy";
  EXPECT_NE(socket(), first);
  m_variables.clear();
  install("oclcc-storage-http", "another version");
  EXPECT_NE(socket(), first);
}

TEST_F(StorageHelperTest, ReportsWhyItDidNotStart) {
  constexpr std::chrono::seconds k_long{60};
  EXPECT_THAT(failure_of("echo \"it has no 'libcurl'\"; exit 1\n", k_long),
              HasSubstr("did not start: it has no 'libcurl'"));
  EXPECT_THAT(failure_of("exit 0\n", k_long), HasSubstr("did not start: it wrote nothing"));
  EXPECT_THAT(failure_of("echo ready; exit 1\n", k_long), HasSubstr("it did not exit"));
  EXPECT_THAT(failure_of("echo ready\n", k_long), HasSubstr("cannot connect to"));
}

TEST_F(StorageHelperTest, IsEndedIfItHangs) {
  EXPECT_THAT(failure_of("exec sleep 600\n", std::chrono::milliseconds(100)),
              HasSubstr("did not start: it wrote nothing"));
  EXPECT_THAT(failure_of("echo ready; exec sleep 600\n", std::chrono::milliseconds(300)),
              HasSubstr("did not start: "));
}

TEST_F(StorageHelperTest, ReadsItsSettingsAndNoTokenFromItsEnvironment) {
  ASSERT_EQ(::setenv("CLBIN_REMOTE_TOKEN", "secret", 1), 0);
  m_settings.mode = RemoteMode::read_only;
  m_settings.netrc = "/n";
  const auto log = (m_folder.path() / "log").string();
  (void)failure_of("{ cat; echo \"$# ${CLBIN_REMOTE_TOKEN-none}\"; pwd; } > " + log + "\nexit 1\n",
                   std::chrono::seconds(60));
  ASSERT_EQ(::unsetenv("CLBIN_REMOTE_TOKEN"), 0);
  std::ifstream file(log);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, "url=http://h/p\nmode=read-only\ntimeout-ms=1000\ntoken=secret\nnetrc=/n\n"
                  "1 none\n/\n");
}

TEST_F(StorageHelperTest, HasItsSocketInADirectoryThatIsClosedToOthers) {
  m_variables["XDG_RUNTIME_DIR"] = m_folder.path().string();
  const auto folder = storage_folder(environment());
  ASSERT_TRUE(folder) << folder.error().message;
  EXPECT_EQ(*folder, m_folder.path() / "oclcc-storage");
  struct stat status {};
  ASSERT_EQ(::stat(folder->c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
  EXPECT_TRUE(storage_folder(environment())); // exists now
  ASSERT_EQ(::chmod(folder->c_str(), 0750), 0);
  const auto open = storage_folder(environment());
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().code, ErrorCode::file_read);
  EXPECT_THAT(open.error().message, HasSubstr("closed to others"));
}

TEST_F(StorageHelperTest, HasNoSocketBehindALink) {
  m_variables["XDG_RUNTIME_DIR"] = m_folder.path().string();
  std::filesystem::create_directory(m_folder.path() / "elsewhere");
  std::filesystem::create_directory_symlink(m_folder.path() / "elsewhere",
                                            m_folder.path() / "oclcc-storage");
  EXPECT_FALSE(storage_folder(environment()));
}

TEST_F(StorageHelperTest, UsesTheTemporaryDirectoryWithoutOneOfTheSession) {
  const std::string own = "/tmp/oclcc-storage-" + std::to_string(::geteuid());
  for (const std::string& run : {std::string("/nonexistent"), std::string("relative"),
                                 m_folder.path().string() + "/" + std::string(80, 'x')}) {
    m_variables["XDG_RUNTIME_DIR"] = run;
    EXPECT_EQ(storage_folder(environment()), own) << run;
  }
}

} // namespace
} // namespace oclcc::remote
