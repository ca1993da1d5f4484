// The compile mode with a remote cache. A machine is a compile cache of its own.
#include "fake_storage.hpp"

#include "base/crypto/key_text.hpp"
#include "remote/storage_client.hpp"
#include "unit/oclcc/units/compile_cache_case.hpp"

#include <cstdlib>
#include <gmock/gmock.h>
#include <map>

namespace oclcc {
namespace {

using remote::FakeRequest;
using remote::FakeStorage;
using remote::reply_frame;
using storage_http::Operation;
using storage_http::Status;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class RemoteCompileTest : public CompileCacheCase {
protected:
  void SetUp() override {
    CompileCacheCase::SetUp();
    write("driver.so", "the bytes of a driver");
    std::filesystem::create_directory("bin");
    write("bin/oclcc-storage-http", "#!/bin/sh\nexit 1\n"); // the test serves its socket
    std::filesystem::permissions("bin/oclcc-storage-http", std::filesystem::perms::owner_all);
    set("STUB_LIBRARY", (m_folder.path() / "driver.so").string());
    set("XDG_RUNTIME_DIR", m_folder.path().string());
    set("PATH", (m_folder.path() / "bin").string() + ":" + std::getenv("PATH"));
    m_remote.use = remote::RemoteUse::on;
    m_remote.url = "http://cache.example";
    m_remote.timeout = std::chrono::milliseconds(60'000);
  }
  void TearDown() override {
    for (const auto& [name, value] : m_variables) {
      if (value) {
        EXPECT_EQ(::setenv(name.c_str(), value->c_str(), 1), 0);
      } else {
        EXPECT_EQ(::unsetenv(name.c_str()), 0);
      }
    }
    CompileCacheCase::TearDown();
  }
  void set(const std::string& name, const std::string& value) {
    const char* const before = std::getenv(name.c_str());
    m_variables.emplace(name,
                        before == nullptr ? std::nullopt : std::optional<std::string>(before));
    ASSERT_EQ(::setenv(name.c_str(), value.c_str(), 1), 0);
  }

  // Starts a server of the current settings.
  void serve() {
    const auto environment = clbin::cache::this_process();
    const auto folder = remote::storage_folder(environment);
    ASSERT_TRUE(folder) << folder.error().message;
    const remote::StorageHelper helper(m_remote, m_folder.path() / "bin/oclcc-storage-http",
                                       *folder, environment);
    m_storage = std::make_unique<FakeStorage>(
        [this](const FakeRequest& request) { return answer(request); },
        std::string(storage_http::k_greeting), helper.socket_path());
  }
  std::string answer(const FakeRequest& request) {
    const std::lock_guard lock(m_mutex);
    if (request.kind == Operation::put) {
      m_entries[request.key] = request.entry;
      return reply_frame(Status::done);
    }
    const auto found = m_entries.find(request.key);
    return found == m_entries.end() ? reply_frame(Status::absent)
                                    : reply_frame(Status::done, found->second);
  }

  CacheOutcome run_on(const std::string& machine) {
    m_cache.folder = m_folder.path() / machine;
    return run();
  }
  std::vector<std::string> notes_on(const std::string& machine) {
    m_cache.folder = m_folder.path() / machine;
    return verbose_lines("remote cache: ");
  }

  std::map<std::string, std::optional<std::string>> m_variables; // before the test
  std::mutex m_mutex;
  std::map<clbin::base::Digest, std::string> m_entries; // of the server
  std::unique_ptr<FakeStorage> m_storage;               // its threads use the others
};

TEST_F(RemoteCompileTest, BuildsNothingOnASecondMachineAndWritesTheSameBytes) {
  serve();
  add_input("a", "text");
  add_input("b", "warn");
  const CacheOutcome first = run_on("one");
  EXPECT_EQ(first.code, ExitCode::success);
  EXPECT_EQ(first.builds.size(), 6U);
  EXPECT_EQ(m_entries.size(), 6U);
  const std::string bundle = contents("out.clbin");
  std::filesystem::remove("out.clbin");

  const CacheOutcome second = run_on("two");
  EXPECT_EQ(second.code, ExitCode::success);
  EXPECT_THAT(second.builds, IsEmpty());
  EXPECT_EQ(second.messages, first.messages); // with the warnings of the builds
  EXPECT_EQ(contents("out.clbin"), bundle);
  EXPECT_EQ(m_storage->count(Operation::put), 6U);
}

TEST_F(RemoteCompileTest, StoresHitsInTheCompileCache) {
  serve();
  add_input("a", "text");
  (void)run_on("one");
  EXPECT_THAT(notes_on("two"), AllOf(SizeIs(3), Each(EndsWith(": remote cache: hit"))));
  const std::size_t before = m_storage->requests().size();
  EXPECT_THAT(notes_on("two"), IsEmpty());
  EXPECT_EQ(m_storage->requests().size(), before);
}

TEST_F(RemoteCompileTest, ReportsMisses) {
  serve();
  add_input("a", "text");
  EXPECT_THAT(notes_on("one"), AllOf(SizeIs(3), Each(EndsWith(": remote cache: miss"))));
}

TEST_F(RemoteCompileTest, BuildsOnlyWhatTheServerDoesNotHave) {
  serve();
  add_input("a", "text");
  (void)run_on("one");
  add_input("b", "own name");
  EXPECT_EQ(run_on("two").builds.size(), 3U);
}

TEST_F(RemoteCompileTest, BuildsAgainWithAnotherDriverOfTheSameVersion) {
  serve();
  add_input("a", "text");
  (void)run_on("one");
  write("driver.so", "The bytes of a driver"); // of the same size
  EXPECT_EQ(run_on("two").builds.size(), 3U);
}

TEST_F(RemoteCompileTest, SharesNothingOfADriverThatCannotBeRead) {
  serve();
  add_input("a", "text");
  std::filesystem::remove("driver.so");
  EXPECT_THAT(notes_on("one"),
              Each(EndsWith("remote cache: not used: a file of the compiler cannot be read")));
  EXPECT_THAT(m_storage->requests(), IsEmpty());
}

TEST_F(RemoteCompileTest, SharesNothingIfTheEnvironmentLoadsLibrariesIntoCompilers) {
  serve();
  add_input("a", "text");
  set("OPENCL_LAYERS", "/stub/layer.so");
  EXPECT_THAT(notes_on("one"), ElementsAre("remote cache: off: OPENCL_LAYERS loads libraries that "
                                           "may differ on other machines"));
  EXPECT_THAT(m_storage->requests(), IsEmpty());
}

TEST_F(RemoteCompileTest, SharesNoFailure) {
  serve();
  add_input("a", "complain");
  EXPECT_EQ(run_on("one").code, ExitCode::compile_failed);
  EXPECT_THAT(m_entries, IsEmpty());
}

TEST_F(RemoteCompileTest, OnlyReadsInReadOnlyMode) {
  serve();
  add_input("a", "text");
  (void)run_on("one");
  m_remote.mode = remote::RemoteMode::read_only;
  m_storage.reset();
  serve();
  EXPECT_THAT(run_on("two").builds, IsEmpty());
  add_input("b", "text of b");
  EXPECT_EQ(run_on("two").builds.size(), 3U);
  EXPECT_EQ(m_storage->count(Operation::put), 0U);
}

TEST_F(RemoteCompileTest, WorksWithoutACompileCache) {
  serve();
  add_input("a", "text");
  (void)run_on("one");
  m_cache.use = CacheUse::off;
  EXPECT_THAT(run_on("two").builds, IsEmpty());
  write("file", "");
  m_cache.use = CacheUse::on;
  const CacheOutcome unusable = run_on("file");
  EXPECT_THAT(unusable.builds, IsEmpty());
  EXPECT_THAT(unusable.messages, HasSubstr("warning: "));
}

TEST_F(RemoteCompileTest, IsOffWithoutTheCompileCache) {
  serve();
  add_input("a", "text");
  m_options.cache = CachePolicy::ignore;
  m_remote.problems = {"wrong"}; // is not reported
  const CacheOutcome outcome = run_on("one");
  EXPECT_EQ(outcome.builds.size(), 3U);
  EXPECT_EQ(outcome.messages, "");
  EXPECT_THAT(m_storage->requests(), IsEmpty());
}

TEST_F(RemoteCompileTest, IsOffForABundleThatIsSigned) {
  serve();
  add_input("a", "text");
  const auto key = clbin::base::MinisignSecretKey::generate();
  const auto file =
      clbin::base::minisign_secret_key_file(key, nullptr, clbin::base::k_interactive_cost);
  write("release.key", std::string(clbin::base::as_text(file->view())));
  std::filesystem::permissions("release.key", std::filesystem::perms::owner_read);
  m_options.signing.key = "release.key";
  const CacheOutcome outcome = run_on("one");
  EXPECT_EQ(outcome.code, ExitCode::success) << outcome.messages;
  EXPECT_EQ(outcome.builds.size(), 3U);
  EXPECT_THAT(m_storage->requests(), IsEmpty());
}

TEST_F(RemoteCompileTest, IsOffForABundleThatIsEncrypted) {
  serve();
  add_input("a", "text");
  write("content.key",
        std::string(clbin::base::as_text(
            clbin::base::content_key_file(*clbin::base::ContentKey::generate()).view())));
  std::filesystem::permissions("content.key", std::filesystem::perms::owner_read);
  m_options.encryption.key = "content.key";
  const CacheOutcome outcome = run_on("one");
  EXPECT_EQ(outcome.code, ExitCode::success) << outcome.messages;
  EXPECT_EQ(outcome.builds.size(), 3U);
  EXPECT_THAT(m_storage->requests(), IsEmpty());
}

TEST_F(RemoteCompileTest, ReportsEachWrongSettingAndBuilds) {
  add_input("a", "text");
  m_remote.use = remote::RemoteUse::off;
  m_remote.why_off = "a setting is wrong";
  m_remote.problems = {"oclcc.conf:1: one", "oclcc.conf:2: two"};
  const CacheOutcome outcome = run_on("one");
  EXPECT_EQ(outcome.code, ExitCode::success);
  EXPECT_EQ(outcome.messages, "oclcc: warning: remote cache: oclcc.conf:1: one\n"
                              "oclcc: warning: remote cache: oclcc.conf:2: two\n");
  EXPECT_THAT(notes_on("one"), ::testing::Contains("remote cache: off: a setting is wrong"));
  m_options.verbosity = Verbosity::quiet;
  EXPECT_EQ(run_on("two").messages, "");
}

TEST_F(RemoteCompileTest, WarnsOnceAndBuildsIfTheHelperDoesNotStart) {
  add_input("a", "text");
  add_input("b", "own name");
  const CacheOutcome outcome = run_on("one"); // bin/oclcc-storage-http exits with 1
  EXPECT_EQ(outcome.code, ExitCode::success);
  EXPECT_EQ(outcome.builds.size(), 6U);
  EXPECT_THAT(outcome.messages,
              AllOf(HasSubstr("oclcc: warning: remote cache: '"),
                    HasSubstr("did not start: it wrote nothing; it is not used for the rest")));
  EXPECT_EQ(std::count(outcome.messages.begin(), outcome.messages.end(), '\n'), 1);
}

TEST_F(RemoteCompileTest, WarnsIfAKeyCannotBeRead) {
  serve();
  add_input("a", "text");
  m_remote.public_keys = {"absent.pub"};
  const CacheOutcome outcome = run_on("one");
  EXPECT_EQ(outcome.code, ExitCode::success);
  EXPECT_THAT(outcome.messages, AllOf(HasSubstr("oclcc: warning: remote cache: "),
                                      HasSubstr("absent.pub"), HasSubstr("; it is not used")));
  EXPECT_THAT(m_storage->requests(), IsEmpty());
}

TEST_F(RemoteCompileTest, PassesNoTokenToMessages) {
  m_remote.token = "sesame";
  add_input("a", "text");
  m_options.verbosity = Verbosity::verbose;
  EXPECT_THAT(run_on("one").messages, Not(HasSubstr("sesame")));
}

} // namespace
} // namespace oclcc
