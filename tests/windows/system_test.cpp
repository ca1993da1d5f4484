// What of libclbin is different on Windows: names and access lists, open files, and processes that
// end. The program starts itself for a process that is killed.
#include "base/file_io.hpp"
#include "base/system/folder.hpp"
#include "base/system/process.hpp"
#include "base/system/socket.hpp"
#include "base/system/windows/names.hpp"
#include "cache/cache_folder.hpp"
#include "cache/quarantine.hpp"
#include "clbin/clbin.h"
#include "opencl/driver.hpp"
#include "support/crafted_bundle.hpp"
#include "support/sample_bundle.hpp"
#include "support/texts.hpp"

#include <aclapi.h>
#include <cerrno>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sddl.h>

namespace clbin {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const wchar_t* k_folder_of_child = L"CLBIN_TEST_FOLDER";
constexpr UINT k_killed = 99;

const base::Bytes k_bytes(3, std::byte{7});

[[noreturn]] void end_at_once() {
  ::TerminateProcess(::GetCurrentProcess(), k_killed);
  std::abort();
}

// Gives everyone the rights, in addition.
void allow_everyone(const fs::path& path, DWORD rights) {
  ACL* list = nullptr;
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  const std::wstring name = base::windows::full_name(path);
  ASSERT_EQ(::GetNamedSecurityInfoW(name.c_str(), SE_FILE_OBJECT, DACL_SECURITY_INFORMATION,
                                    nullptr, nullptr, &list, nullptr, &descriptor),
            DWORD{ERROR_SUCCESS});
  EXPLICIT_ACCESSW access{};
  access.grfAccessPermissions = rights;
  access.grfAccessMode = GRANT_ACCESS;
  PSID account = nullptr;
  ASSERT_NE(::ConvertStringSidToSidW(L"S-1-1-0", &account), 0);
  access.Trustee.TrusteeForm = TRUSTEE_IS_SID;
  access.Trustee.ptstrName = static_cast<wchar_t*>(account);
  ACL* changed = nullptr;
  ASSERT_EQ(::SetEntriesInAclW(1, &access, list, &changed), DWORD{ERROR_SUCCESS});
  std::wstring writable = name;
  EXPECT_EQ(::SetNamedSecurityInfoW(writable.data(), SE_FILE_OBJECT, DACL_SECURITY_INFORMATION,
                                    nullptr, nullptr, changed, nullptr),
            DWORD{ERROR_SUCCESS});
  ::LocalFree(changed);
  ::LocalFree(descriptor);
  ::LocalFree(account);
}

class WindowsTest : public ::testing::Test {
protected:
  [[nodiscard]] const fs::path& folder() const { return m_folder.path(); }
  [[nodiscard]] cache::CacheSettings settings() const {
    cache::CacheSettings settings;
    settings.use = cache::CacheUse::on;
    settings.folder = folder() / "cache";
    settings.now = [] { return std::chrono::system_clock::now(); };
    settings.pause = [](std::chrono::milliseconds) {};
    return settings;
  }
  [[nodiscard]] cache::CacheFolder cache_folder() const {
    return cache::CacheFolder::open(folder() / "cache", cache::IfMissing::create).value();
  }

  // Runs another test of this program, which ends its process, with the same folder.
  void run_killed(const std::string& test) const {
    std::wstring program(32768, L'\0');
    program.resize(::GetModuleFileNameW(nullptr, program.data(), 32768));
    std::wstring command = L"\"" + program + L"\" --gtest_also_run_disabled_tests --gtest_filter=" +
                           base::windows::to_wide(test);
    ::SetEnvironmentVariableW(k_folder_of_child, folder().c_str());
    STARTUPINFOW start{};
    start.cb = sizeof start;
    PROCESS_INFORMATION child{};
    ASSERT_NE(::CreateProcessW(nullptr, command.data(), nullptr, nullptr, FALSE, 0, nullptr,
                               nullptr, &start, &child),
              0);
    ::WaitForSingleObject(child.hProcess, INFINITE);
    DWORD code = 0;
    EXPECT_NE(::GetExitCodeProcess(child.hProcess, &code), 0);
    EXPECT_EQ(code, k_killed);
    ::CloseHandle(child.hProcess);
    ::CloseHandle(child.hThread);
  }

  base::TemporaryFolder m_folder = base::TemporaryFolder::create({}, "windows-test-").value();
};

fs::path folder_of_parent() {
  std::wstring folder(32768, L'\0');
  folder.resize(::GetEnvironmentVariableW(k_folder_of_child, folder.data(), 32768));
  return folder;
}

// ---- Names
// ---------------------------------------------------------------------------------------

TEST_F(WindowsTest, PathsAreUtf8) {
  const std::string name = "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80.txt";
  const fs::path path = folder() / base::to_path(name);
  ASSERT_TRUE(base::write_output_file(path, k_bytes).has_value());
  EXPECT_EQ(base::read_regular_file(path, 100).value(), k_bytes);
  EXPECT_EQ(base::name_of(path.filename()), name);
  WIN32_FIND_DATAW found{};
  HANDLE const listing = ::FindFirstFileW((folder() / "*.txt").c_str(), &found);
  ASSERT_NE(listing, INVALID_HANDLE_VALUE);
  ::FindClose(listing);
  EXPECT_EQ(std::wstring(found.cFileName), L"gr\u00fc\u00df \u20ac \U0001F600.txt");
}

TEST_F(WindowsTest, WhatIsNoUtf8NamesNoFile) {
  const auto read = base::read_regular_file(folder() / base::to_path("\xFF\xFE"), 100);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::file_not_found);
}

TEST_F(WindowsTest, PathsMayBeLong) {
  fs::path path = folder();
  for (int i = 0; i < 4; ++i) {
    path /= std::string(100, 'd');
    ASSERT_EQ(base::OpenFolder::create(path), 0);
  }
  path /= "file";
  ASSERT_TRUE(base::write_output_file(path, k_bytes).has_value());
  EXPECT_EQ(base::read_regular_file(path, 100).value(), k_bytes);
  // std::filesystem cannot remove such paths.
  ASSERT_EQ(base::windows::remove(base::windows::full_name(path)), 0);
  for (int i = 0; i < 4; ++i) {
    path = path.parent_path();
    ASSERT_EQ(base::windows::remove(base::windows::full_name(path)), 0);
  }
}

TEST_F(WindowsTest, ReservedNamesAreErrorsThatSaySo) {
  const std::pair<const char*, const char*> cases[] = {
      {"CON", "Windows reserves the name 'CON' for a device"},
      {"nul.clbin", "Windows reserves the name 'nul.clbin' for a device"},
      {"Com1", "Windows reserves the name 'Com1' for a device"},
      {"ab:c", "a name on Windows has no ':'"},
      {"a|b", "a name on Windows has no '|'"},
      {"a?", "a name on Windows has no '?'"},
      {"a.", "a name on Windows does not end with a dot or a space"},
      {"a ", "a name on Windows does not end with a dot or a space"},
      {"a\tb", "a name on Windows has no control characters"},
  };
  for (const auto& [name, reason] : cases) {
    const fs::path path = folder() / base::to_path(name);
    const auto read = base::read_whole_file(path, 100);
    ASSERT_FALSE(read.has_value()) << name;
    EXPECT_EQ(read.error().code, ErrorCode::file_read);
    EXPECT_EQ(read.error().message, "cannot open " + base::in_quotes(path) + ": " + reason);
    const auto written = base::write_output_file(path, k_bytes);
    ASSERT_FALSE(written.has_value()) << name;
    EXPECT_EQ(written.error().code, ErrorCode::file_write);
    EXPECT_EQ(written.error().message, "cannot write " + base::in_quotes(path) + ": " + reason);
  }
  for (const char* name : {"a:b", R"(\\.\pipe\x)", R"(\\.\C:)"}) {
    EXPECT_FALSE(base::read_whole_file(base::to_path(name), 100).has_value()) << name;
  }
  EXPECT_TRUE(base::why_no_file_name(base::to_path(R"(C:\folder\..\con1\com\x.clbin)")).empty());
}

TEST_F(WindowsTest, BundleIsOpenedByAUtf8Name) {
  const fs::path path = folder() / base::to_path("k\xC3\xBC"
                                                 "bel.clbin");
  ASSERT_TRUE(base::write_output_file(path, test::sample_bundle()).has_value());
  clbin_bundle* bundle = nullptr;
  EXPECT_EQ(clbin_open(base::name_of(path).c_str(), nullptr, &bundle, nullptr), CLBIN_SUCCESS);
  EXPECT_EQ(clbin_is_current(bundle), 1);
  ASSERT_TRUE(base::write_output_file(path, k_bytes).has_value()); // although it is open
  EXPECT_EQ(clbin_is_current(bundle), 0);
  EXPECT_EQ(clbin_verify(bundle, nullptr), CLBIN_SUCCESS);
  clbin_close(bundle);
  clbin_error* error = nullptr;
  EXPECT_EQ(clbin_open("NUL", nullptr, &bundle, &error), CLBIN_ERROR_FILE_READ);
  EXPECT_STREQ(clbin_error_message(error),
               "cannot open 'NUL': Windows reserves the name 'NUL' for a device");
  clbin_error_free(error);
}

// ---- Files
// ---------------------------------------------------------------------------------------

TEST_F(WindowsTest, FolderIsNoInput) {
  const auto read = base::read_whole_file(folder(), 100);
  ASSERT_FALSE(read.has_value());
  EXPECT_THAT(read.error().message, HasSubstr("cannot read"));
  EXPECT_THAT(read.error().message, HasSubstr("Is a directory"));
}

TEST_F(WindowsTest, ErrorsHaveTheirReason) {
  const auto read = base::read_whole_file(folder() / "none", 100);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::file_not_found);
  EXPECT_THAT(read.error().message, HasSubstr("No such file or directory"));
  const auto written = base::write_output_file(folder() / "none" / "x", k_bytes);
  ASSERT_FALSE(written.has_value());
  EXPECT_THAT(written.error().message, HasSubstr("No such file or directory"));
}

// What RtlNtStatusToDosError translated last, as CreateFileW does.
TEST_F(WindowsTest, FileThatIsBeingRemovedIsBusy) {
  const auto translate =
      base::windows::function_of_system<ULONG(WINAPI*)(LONG)>("RtlNtStatusToDosError");
  ASSERT_NE(translate, nullptr);
  const auto error_after = [&](DWORD status) {
    const DWORD error = translate(static_cast<LONG>(status));
    ::SetLastError(status == 0xC0000056 ? DWORD{ERROR_ACCESS_DENIED} : error);
    return base::windows::last_error().value();
  };
  EXPECT_EQ(error_after(0xC0000022), EACCES); // STATUS_ACCESS_DENIED
  EXPECT_EQ(error_after(0xC0000056), EBUSY);  // STATUS_DELETE_PENDING
  EXPECT_EQ(error_after(0xC0000022), EACCES);
}

TEST_F(WindowsTest, OnlyLinksAndDevicesAreNoFiles) {
  using base::windows::is_link_or_device;
  EXPECT_TRUE(is_link_or_device(IO_REPARSE_TAG_SYMLINK));
  EXPECT_TRUE(is_link_or_device(IO_REPARSE_TAG_MOUNT_POINT));
  EXPECT_TRUE(is_link_or_device(0x80000023)); // IO_REPARSE_TAG_AF_UNIX
  for (const DWORD tag : {0x80000013U, 0xC0000004U, 0x80000017U, 0x9000001AU}) {
    EXPECT_FALSE(is_link_or_device(tag)) << tag; // DEDUP, HSM, WOF, CLOUD
  }
}

TEST_F(WindowsTest, RegionsAreReadAtTheirOffsets) {
  const fs::path path = folder() / "x";
  test::write_text(path, "0123456789");
  const auto source = base::open_file_source(path).value();
  EXPECT_EQ(base::as_text(source->read(4, 3, "part").value().view()), "456");
  EXPECT_EQ(base::as_text(source->read(0, 2, "part").value().view()), "01");
  test::write_text(path, "01234");
  EXPECT_EQ(source->read(4, 3, "part").error().code, ErrorCode::truncated);
}

TEST_F(WindowsTest, SpilledBytesAreReadAgain) {
  const auto file = base::SpillFile::create(folder()).value();
  const auto first = base::KeptBytes::spill(file, k_bytes).value();
  const auto second = base::KeptBytes::spill(file, base::as_bytes("abc")).value();
  EXPECT_EQ(base::as_text(second.read().value().view()), "abc");
  EXPECT_EQ(first.read().value().view()[2], std::byte{7});
}

TEST_F(WindowsTest, OutputThatIsNotCommittedLeavesNothing) {
  {
    auto output = base::OutputFile::open(folder() / "x").value();
    ASSERT_TRUE(output.append(k_bytes).has_value());
  }
  EXPECT_TRUE(fs::is_empty(folder()));
}

TEST(WindowsChild, DISABLED_DiesWhileItWrites) {
  auto output = base::OutputFile::open(folder_of_parent() / "x").value();
  ASSERT_TRUE(output.append(k_bytes).has_value());
  end_at_once();
}

TEST_F(WindowsTest, ProcessKilledWhileItWritesLeavesTheOldFileAndNothingElse) {
  test::write_text(folder() / "x", "old");
  run_killed("WindowsChild.DISABLED_DiesWhileItWrites");
  EXPECT_EQ(test::file_text(folder() / "x"), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder()), fs::directory_iterator()), 1);
}

TEST_F(WindowsTest, SecretFileIsThisUsersAlone) {
  const fs::path path = folder() / "k.key";
  ASSERT_TRUE(base::create_file(path, base::FileUsers::owner).has_value());
  EXPECT_EQ(base::create_file(path, base::FileUsers::owner).error(), EEXIST);
  EXPECT_EQ(base::create_file(path, base::FileUsers::usual).error(), EEXIST);
  EXPECT_EQ(base::warning_of_readers(path), std::nullopt);
  allow_everyone(path, GENERIC_READ);
  EXPECT_EQ(base::warning_of_readers(path), base::in_quotes(path) +
                                                " is secret, but its access list lets others "
                                                "open it (S-1-1-0)");
}

TEST_F(WindowsTest, LockOfAFolderLeavesNoFile) {
  auto lock = base::lock_folder(folder());
  EXPECT_TRUE(lock.is_open());
  std::thread second([&] { EXPECT_TRUE(base::lock_folder(folder()).is_open()); });
  EXPECT_EQ(lock.close(), 0);
  second.join();
  EXPECT_TRUE(fs::is_empty(folder()));
  EXPECT_FALSE(base::lock_folder(folder() / "none").is_open());
}

// ---- Sockets
// -------------------------------------------------------------------------------------

TEST_F(WindowsTest, PipesPassBytesInBothDirections) {
  auto pair = base::open_socket_pair().value();
  const int one = pair.own.number();
  const int other = pair.other.number();
  EXPECT_TRUE(base::is_socket(one));
  const base::Bytes large(3U << 20U, std::byte{5}); // more than a pipe contains
  std::thread sender([&] { EXPECT_TRUE(base::send_all(one, large, std::nullopt).has_value()); });
  EXPECT_EQ(base::receive_all(other, large.size(), std::nullopt).value(), large);
  sender.join();
  EXPECT_TRUE(base::send_all(other, k_bytes, std::nullopt).has_value());
  EXPECT_TRUE(base::wait_to_receive(one, std::nullopt).has_value());
  EXPECT_EQ(base::receive_all(one, 3, std::nullopt).value(), k_bytes);
}

TEST_F(WindowsTest, PipesHaveTimeLimitsAndAnEnd) {
  auto pair = base::open_socket_pair().value();
  const int one = pair.own.number();
  const auto soon = [] { return std::chrono::steady_clock::now() + std::chrono::milliseconds(20); };
  EXPECT_EQ(base::wait_to_receive(one, soon()).error(), base::SocketFault::timed_out);
  EXPECT_EQ(base::receive_all(one, 1, soon()).error(), base::SocketFault::timed_out);
  const base::Bytes large(3U << 20U);
  EXPECT_EQ(base::send_all(one, large, soon()).error(), base::SocketFault::timed_out);
  EXPECT_EQ(pair.other.close(), 0);
  EXPECT_EQ(base::receive_all(one, 1, soon()).error(), base::SocketFault::closed);
  EXPECT_EQ(base::send_all(one, k_bytes, soon()).error(), base::SocketFault::closed);
}

// ---- The cache
// -----------------------------------------------------------------------------------

TEST_F(WindowsTest, CacheIsBelowLocalAppData) {
  const auto settings_with = [](std::map<std::string, std::string> variables) {
    cache::ProcessEnvironment environment;
    environment.variable = [variables](const char* name) {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
    return cache::CacheSettings::from_environment(environment);
  };
  const auto usual = settings_with({{"LOCALAPPDATA", "C:\\Users\\x\\AppData\\Local"},
                                    {"XDG_CACHE_HOME", "C:\\a"},
                                    {"HOME", "C:\\b"}});
  EXPECT_EQ(usual.folder, fs::path(L"C:\\Users\\x\\AppData\\Local\\clbin\\cache"));
  EXPECT_EQ(usual.use, cache::CacheUse::on);
  EXPECT_EQ(settings_with({}).warning, "the cache is not used: LOCALAPPDATA is not set");
  EXPECT_EQ(settings_with({{"LOCALAPPDATA", "x"}}).warning,
            "the cache is not used: LOCALAPPDATA 'x' is not an absolute path");
  EXPECT_EQ(settings_with({{"CLBIN_CACHE_DIR", "C:\\c\xC3\xA9"}}).folder, fs::path(L"C:\\c\u00e9"));
}

// Other processes of the user, with fewer rights, can write to the usual folder.
TEST_F(WindowsTest, ProcessWithTheRightsOfAnAdministratorHasNoCache) {
  cache::ProcessEnvironment environment = cache::this_process();
  environment.rights = cache::Rights::elevated;
  const auto settings = cache::CacheSettings::from_environment(environment);
  EXPECT_EQ(settings.use, cache::CacheUse::off);
  EXPECT_EQ(settings.warning,
            "the cache is not used: the home directory of the effective user is not set");
  EXPECT_FALSE(base::has_rights_of_others()); // of a process in Wine, or of a usual one
}

TEST_F(WindowsTest, VariablesAreUtf8) {
  ::SetEnvironmentVariableW(L"CLBIN_TEST_VARIABLE", L"\u20ac");
  EXPECT_EQ(base::environment_variable("CLBIN_TEST_VARIABLE"), "\xE2\x82\xAC");
  ::SetEnvironmentVariableW(L"CLBIN_TEST_VARIABLE", std::wstring(5000, L'x').c_str());
  EXPECT_EQ(base::environment_variable("CLBIN_TEST_VARIABLE"), std::string(5000, 'x'));
  ::SetEnvironmentVariableW(L"CLBIN_TEST_VARIABLE", nullptr);
  EXPECT_EQ(base::environment_variable("CLBIN_TEST_VARIABLE"), std::nullopt);
  EXPECT_THAT(base::paths_in("C:\\a;;D:\\b;C:\\a"), ElementsAre("C:\\a", "D:\\b"));
}

TEST_F(WindowsTest, NewCacheFolderIsThisUsersAlone) {
  const auto opened = base::OpenFolder::open(folder());
  ASSERT_TRUE(opened.has_value());
  ASSERT_EQ(opened->create_inside("own"), 0);
  EXPECT_EQ(opened->open_inside("own")->status()->why_not_ours, "");
}

TEST_F(WindowsTest, CacheFolderIsRefusedWhereOthersMayWrite) {
  (void)cache_folder();
  allow_everyone(folder() / "cache", GENERIC_READ | GENERIC_EXECUTE);
  EXPECT_TRUE(cache::CacheFolder::open(folder() / "cache", cache::IfMissing::leave).has_value());
  allow_everyone(folder() / "cache", GENERIC_ALL);
  const auto opened = cache::CacheFolder::open(folder() / "cache", cache::IfMissing::leave);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::file_read);
  EXPECT_EQ(opened.error().message, "the cache directory " + base::in_quotes(folder() / "cache") +
                                        " is not used: other users may write to it (S-1-1-0)");
}

TEST_F(WindowsTest, CacheFileIsRefusedWhereOthersMayWrite) {
  const auto cache = cache_folder();
  ASSERT_TRUE(cache.replace("x", k_bytes, {}).has_value());
  EXPECT_EQ(cache.read("x", 100)->bytes, k_bytes);
  allow_everyone(folder() / "cache" / "x", GENERIC_ALL);
  const auto read = cache.read("x", 100);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::damaged);
  EXPECT_THAT(read.error().message, HasSubstr("other users may write to it (S-1-1-0)"));
}

TEST_F(WindowsTest, CacheFileIsReplacedWhileItIsRead) {
  const auto cache = cache_folder();
  ASSERT_TRUE(cache.replace("x", base::as_bytes("old"), {}).has_value());
  const auto opened = base::OpenFolder::open(folder() / "cache");
  const auto reader = opened->open_file("x", base::FileUse::read);
  ASSERT_TRUE(reader.has_value());
  ASSERT_TRUE(cache.replace("x", base::as_bytes("new"), {}).has_value());
  std::array<std::byte, 3> bytes{};
  EXPECT_EQ(base::read_at(reader->number(), 0, bytes), 3U);
  EXPECT_EQ(base::as_text(bytes), "old");
  EXPECT_EQ(base::as_text(cache.read("x", 100)->bytes), "new");
}

TEST_F(WindowsTest, CacheFilesHaveTheirTimesAndAreListed) {
  const auto cache = cache_folder();
  const auto time = std::chrono::system_clock::from_time_t(1'600'000'000);
  ASSERT_TRUE(cache.replace("x", k_bytes, time).has_value());
  const auto rows = cache.list();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows.front().name, "x");
  EXPECT_EQ(rows.front().size_bytes, 3U);
  EXPECT_EQ(rows.front().modified, time);
  cache.touch("x", time + std::chrono::hours(1));
  EXPECT_EQ(cache.list().front().modified, time + std::chrono::hours(1));
  cache.remove("x");
  EXPECT_TRUE(cache.list_names().empty());
  EXPECT_EQ(cache.read("x", 100).error().code, ErrorCode::file_not_found);
}

TEST_F(WindowsTest, LockIsExclusiveAndEndsWithItsHolder) {
  const auto cache = cache_folder();
  auto lock = cache.try_lock("x").value();
  ASSERT_TRUE(lock.has_value());
  EXPECT_FALSE(cache.try_lock("x").value().has_value());
  ASSERT_TRUE(lock->write(base::as_bytes("longer")).has_value());
  ASSERT_TRUE(lock->write(base::as_bytes("text")).has_value());
  EXPECT_EQ(base::as_text(*lock->read(100)), "text");
  lock.reset();
  lock = cache.try_lock("x").value();
  ASSERT_TRUE(lock.has_value());
  lock->remove();
  EXPECT_TRUE(cache.list_names().empty());
  EXPECT_TRUE(cache.try_lock("x").value().has_value());
}

TEST(WindowsChild, DISABLED_DiesWithALock) {
  const auto cache =
      cache::CacheFolder::open(folder_of_parent() / "cache", cache::IfMissing::leave).value();
  const auto lock = cache.try_lock("x").value();
  EXPECT_TRUE(lock.has_value());
  end_at_once();
}

TEST_F(WindowsTest, KilledProcessReleasesItsLock) {
  const auto cache = cache_folder();
  run_killed("WindowsChild.DISABLED_DiesWithALock");
  EXPECT_THAT(cache.list_names(), ElementsAre("x"));
  EXPECT_TRUE(cache.try_lock("x").value().has_value());
}

TEST(WindowsChild, DISABLED_DiesDuringAnAttempt) {
  cache::CacheSettings settings;
  settings.use = cache::CacheUse::on;
  settings.folder = folder_of_parent() / "cache";
  settings.now = [] { return std::chrono::system_clock::now(); };
  const auto permit = cache::Quarantine(settings).begin({}, {});
  EXPECT_EQ(permit.verdict, cache::AttemptVerdict::go);
  EXPECT_EQ(permit.warning, "");
  end_at_once();
}

TEST_F(WindowsTest, TwoKilledAttemptsAreQuarantined) {
  const cache::Quarantine quarantine(settings());
  run_killed("WindowsChild.DISABLED_DiesDuringAnAttempt");
  EXPECT_EQ(quarantine.begin({}, {}).verdict, cache::AttemptVerdict::go);
  run_killed("WindowsChild.DISABLED_DiesDuringAnAttempt");
  const auto permit = quarantine.begin({}, {});
  EXPECT_EQ(permit.verdict, cache::AttemptVerdict::quarantined);
  EXPECT_THAT(permit.reason, HasSubstr("it ended the process twice within 24 hours"));
}

// ---- OpenCL
// --------------------------------------------------------------------------------------

// OpenCL.dll of Wine and of old drivers has the functions of OpenCL 1.2 alone.
TEST_F(WindowsTest, LoaderOfOpenClMayLackNewFunctions) {
  const auto driver = opencl::open_icd_driver();
  ASSERT_TRUE(driver.has_value()) << driver.error().message;
  EXPECT_NE(driver->GetPlatformIDs, nullptr);
  EXPECT_NE(driver->CreateProgramWithBinary, nullptr);
  if (base::windows::to_wide("x") == L"x" &&
      ::GetProcAddress(::GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != nullptr) {
    EXPECT_EQ(driver->CreateProgramWithIL, nullptr);
  }
}

TEST_F(WindowsTest, MissingLibraryNamesTheReason) {
  EXPECT_EQ(
      base::open_library("clbin-none.dll").error(),
      "there is no clbin-none.dll in the folder of the system; drivers of devices install it");
}

} // namespace
} // namespace clbin
