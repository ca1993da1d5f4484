#include "remote/remote_settings.hpp"

#include "base/file_io.hpp"
#include "support/odd_lines.hpp"

#include <array>
#include <fmt/core.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace oclcc::remote {
namespace {

using clbin::cache::ProcessEnvironment;
using clbin::cache::Rights;
using clbin::test::odd_files;
using clbin::test::OddFile;
using clbin::test::Outcome;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using Variables = std::map<std::string, std::string>;

ProcessEnvironment environment_of(Variables variables, Rights rights = Rights::plain) {
  ProcessEnvironment environment;
  environment.rights = rights;
  environment.variable =
      [variables = std::move(variables)](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  return environment;
}

RemoteSettings settings_of(const Variables& variables) {
  return read_remote_settings(environment_of(variables));
}

std::string problem_of(const Variables& variables) {
  const RemoteSettings settings = settings_of(variables);
  EXPECT_EQ(settings.use, RemoteUse::off);
  EXPECT_EQ(settings.why_off, "a setting is wrong");
  EXPECT_THAT(settings.problems, SizeIs(1));
  return settings.problems.empty() ? "" : settings.problems.front();
}

constexpr const char* k_url = "http://cache.example:8080/clbin";

TEST(RemoteSettings, AreOffWithoutAnAddress) {
  const RemoteSettings settings = settings_of({});
  EXPECT_EQ(settings.use, RemoteUse::off);
  EXPECT_EQ(settings.why_off, "");
  EXPECT_THAT(settings.problems, IsEmpty());
}

TEST(RemoteSettings, AreReadFromVariables) {
  const RemoteSettings settings = settings_of({{"CLBIN_REMOTE", "https://h/p"},
                                               {"CLBIN_REMOTE_TOKEN", "se.cr=et"},
                                               {"CLBIN_REMOTE_READ_ONLY", "1"},
                                               {"CLBIN_REMOTE_TIMEOUT", "250"},
                                               {"CLBIN_REMOTE_NETRC", "/home/a/.netrc"},
                                               {"CLBIN_REMOTE_PUBLIC_KEY", "one.pub:two.pub"},
                                               {"CLBIN_REMOTE_SIGN_KEY", "a.key"}});
  EXPECT_THAT(settings.problems, IsEmpty());
  EXPECT_EQ(settings.use, RemoteUse::on);
  EXPECT_EQ(settings.url, "https://h/p");
  EXPECT_EQ(settings.token, "se.cr=et");
  EXPECT_EQ(settings.mode, RemoteMode::read_only);
  EXPECT_EQ(settings.timeout, std::chrono::milliseconds(250));
  EXPECT_EQ(settings.netrc, "/home/a/.netrc");
  EXPECT_THAT(settings.public_keys, ElementsAre("one.pub", "two.pub"));
  EXPECT_EQ(settings.sign_key, "a.key");
}

TEST(RemoteSettings, HaveDefaults) {
  const RemoteSettings settings = settings_of({{"CLBIN_REMOTE", k_url}});
  EXPECT_EQ(settings.use, RemoteUse::on);
  EXPECT_EQ(settings.mode, RemoteMode::read_write);
  EXPECT_EQ(settings.timeout, std::chrono::milliseconds(1000));
  EXPECT_EQ(settings.token, "");
  EXPECT_THAT(settings.public_keys, IsEmpty());
}

TEST(RemoteSettings, CanBeSwitchedOff) {
  EXPECT_EQ(settings_of({{"CLBIN_REMOTE", "0"}}).why_off, "CLBIN_REMOTE is 0");
  const RemoteSettings settings = settings_of({{"CLBIN_REMOTE", k_url}, {"CLBIN_CACHE", "0"}});
  EXPECT_EQ(settings.use, RemoteUse::off);
  EXPECT_EQ(settings.why_off, "CLBIN_CACHE is 0");
}

TEST(RemoteSettings, AreNotReadByAProcessWithMoreRightsThanItsUser) {
  const RemoteSettings settings = read_remote_settings(
      environment_of({{"CLBIN_REMOTE", k_url}, {"HOME", "/nonexistent"}}, Rights::elevated));
  EXPECT_EQ(settings.use, RemoteUse::off);
  EXPECT_EQ(settings.url, "");
  EXPECT_EQ(settings.why_off, "this process has rights that its user does not have");
}

TEST(RemoteSettings, RejectAddressesThatAreNone) {
  for (const char* const url : {"cache.example", "ftp://h/p", "http://", "http:///p", "http://h/?a",
                                "http://h/#a", "http://h/ p", "http://h/\np"}) {
    EXPECT_THAT(problem_of({{"CLBIN_REMOTE", url}}), HasSubstr("CLBIN_REMOTE: ")) << url;
  }
}

TEST(RemoteSettings, RejectAPasswordInTheAddressWithoutRepeatingIt) {
  const std::string problem = problem_of({{"CLBIN_REMOTE", "http://me:secret@h/p"}});
  EXPECT_THAT(problem, HasSubstr("use a token or a netrc file"));
  EXPECT_THAT(problem, Not(HasSubstr("secret")));
}

TEST(RemoteSettings, RejectAQueryInTheAddressWithoutRepeatingIt) {
  for (const char* const url : {"http://h/c?token=Secret9", "http://h/c#Secret9",
                                "http://me:Secret9/x?@h/", "http:// Secret9"}) {
    const std::string problem = problem_of({{"CLBIN_REMOTE", url}});
    EXPECT_THAT(problem, HasSubstr("an address has no spaces, '?' and '#'")) << url;
    EXPECT_THAT(problem, Not(HasSubstr("Secret9")));
  }
}

TEST(RemoteSettings, RejectWrongValues) {
  const auto with = [](const char* name, const char* value) {
    return problem_of({{"CLBIN_REMOTE", k_url}, {name, value}});
  };
  EXPECT_EQ(with("CLBIN_REMOTE_READ_ONLY", "maybe"),
            "CLBIN_REMOTE_READ_ONLY: 'maybe' is neither 1 nor 0, yes nor no");
  EXPECT_EQ(with("CLBIN_REMOTE_TIMEOUT", "1s"),
            "CLBIN_REMOTE_TIMEOUT: '1s' is not a number of milliseconds from 1 to 60000");
  EXPECT_THAT(with("CLBIN_REMOTE_TIMEOUT", "0"), HasSubstr("'0' is not a number"));
  EXPECT_THAT(with("CLBIN_REMOTE_TIMEOUT", "60001"), HasSubstr("'60001' is not a number"));
}

// A variable of trust that a script left empty must not mean that everything is trusted.
TEST(RemoteSettings, RejectAnEmptyKey) {
  EXPECT_EQ(problem_of({{"CLBIN_REMOTE", k_url}, {"CLBIN_REMOTE_PUBLIC_KEY", ""}}),
            "CLBIN_REMOTE_PUBLIC_KEY: no key is named, and no entry would be trusted");
  EXPECT_EQ(problem_of({{"CLBIN_REMOTE", k_url}, {"CLBIN_REMOTE_SIGN_KEY", ""}}),
            "CLBIN_REMOTE_SIGN_KEY: no file is named");
}

// A token with a line end would be a further setting of the helper.
TEST(RemoteSettings, RejectATokenThatIsNoneWithoutRepeatingIt) {
  for (const char* const token : {"sec ret", "sec\nret", "sec\x1bret", "secr\xc3\xa4t"}) {
    const std::string problem =
        problem_of({{"CLBIN_REMOTE", k_url}, {"CLBIN_REMOTE_TOKEN", token}});
    EXPECT_EQ(problem,
              "CLBIN_REMOTE_TOKEN: a token consists of 1 to 4096 visible ASCII characters");
  }
}

class RemoteSettingsFiles : public ::testing::Test {
protected:
  std::string write(const std::string& name, const std::string& text, mode_t mode = 0600) {
    const auto path = m_folder.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path.string();
  }
  RemoteSettings configured(const std::string& text, Variables variables = {}) {
    m_file = write("clbin/oclcc.conf", text);
    variables.emplace("XDG_CONFIG_HOME", m_folder.path().string());
    return settings_of(variables);
  }

  clbin::base::TemporaryFolder m_folder =
      clbin::base::TemporaryFolder::create({}, "oclcc-settings-test-").value();
  std::string m_file;
};

TEST_F(RemoteSettingsFiles, AreReadFromTheConfigurationFile) {
  const std::string token = write("token", "secret\n");
  const RemoteSettings settings = configured("# the cache of the team\n"
                                             "remote = http://h/p\r\n\n"
                                             "remote-token-file = " +
                                             token +
                                             "\n"
                                             "remote-read-only = yes\n"
                                             "remote-timeout = 10\n"
                                             "remote-netrc = /n\n"
                                             "remote-public-key = a.pub\n"
                                             "remote-sign-key = a.key\n");
  EXPECT_THAT(settings.problems, IsEmpty());
  EXPECT_EQ(settings.use, RemoteUse::on);
  EXPECT_EQ(settings.url, "http://h/p");
  EXPECT_EQ(settings.token, "secret");
  EXPECT_EQ(settings.mode, RemoteMode::read_only);
  EXPECT_EQ(settings.timeout, std::chrono::milliseconds(10));
  EXPECT_EQ(settings.netrc, "/n");
  EXPECT_THAT(settings.public_keys, ElementsAre("a.pub"));
  EXPECT_EQ(settings.sign_key, "a.key");
}

TEST_F(RemoteSettingsFiles, AreReadFromTheHomeDirectory) {
  write(".config/clbin/oclcc.conf", "remote = http://h/p\n");
  EXPECT_EQ(settings_of({{"HOME", m_folder.path().string()}}).url, "http://h/p");
  EXPECT_EQ(settings_of({{"HOME", m_folder.path().string()}, {"XDG_CONFIG_HOME", "relative"}}).url,
            "http://h/p");
}

TEST_F(RemoteSettingsFiles, YieldToVariables) {
  const std::string text = "remote = http://h/p\nremote-token = one\nremote-read-only = 1\n";
  const RemoteSettings settings =
      configured(text, {{"CLBIN_REMOTE", "http://other"}, {"CLBIN_REMOTE_READ_ONLY", "0"}});
  EXPECT_EQ(settings.url, "http://other");
  EXPECT_EQ(settings.mode, RemoteMode::read_write);
  EXPECT_EQ(settings.token, "one");
  EXPECT_EQ(configured(text, {{"CLBIN_REMOTE", "0"}}).use, RemoteUse::off);
  const std::string file = write("token", "two");
  EXPECT_EQ(configured(text, {{"CLBIN_REMOTE_TOKEN_FILE", file}}).token, "two");
}

TEST_F(RemoteSettingsFiles, ReportEachWrongLineAndUseNothing) {
  const RemoteSettings settings = configured("remote = http://h/p\n"
                                             "remote-tokn = secret\n"
                                             "remote-timeout = soon\n"
                                             "what\n"
                                             "[program]\n");
  EXPECT_EQ(settings.use, RemoteUse::off);
  EXPECT_THAT(settings.problems,
              ElementsAre(m_file + ":2: unknown setting 'remote-tokn'",
                          m_file + ":3: 'soon' is not a number of milliseconds from 1 to 60000",
                          m_file + ":4: expected 'NAME = VALUE'", m_file + ":5: unknown section"));
}

TEST_F(RemoteSettingsFiles, ReportAFileThatCannotBeRead) {
  std::filesystem::create_directories(m_folder.path() / "clbin/oclcc.conf");
  const RemoteSettings settings =
      settings_of({{"XDG_CONFIG_HOME", m_folder.path().string()}, {"CLBIN_REMOTE", k_url}});
  EXPECT_EQ(settings.use, RemoteUse::off);
  ASSERT_THAT(settings.problems, SizeIs(1));
  EXPECT_THAT(settings.problems[0], HasSubstr("oclcc.conf"));
}

TEST_F(RemoteSettingsFiles, ReportATokenFileThatIsWrongOrMissing) {
  EXPECT_THAT(problem_of({{"CLBIN_REMOTE_TOKEN_FILE", "/nonexistent"}}),
              HasSubstr("cannot open '/nonexistent'"));
  const std::string file = write("token", "one\ntwo\n");
  EXPECT_EQ(problem_of({{"CLBIN_REMOTE_TOKEN_FILE", file}}),
            "CLBIN_REMOTE_TOKEN_FILE: '" + file +
                "': a token consists of 1 to 4096 visible ASCII characters");
}

TEST_F(RemoteSettingsFiles, RejectTwoTokens) {
  const std::string file = write("token", "one");
  EXPECT_EQ(problem_of({{"CLBIN_REMOTE_TOKEN_FILE", file}, {"CLBIN_REMOTE_TOKEN", "two"}}),
            "CLBIN_REMOTE_TOKEN and CLBIN_REMOTE_TOKEN_FILE are both set");
}

TEST_F(RemoteSettingsFiles, WarnOfASecretThatOthersCanReadAndUseIt) {
  const std::string file = write("token", "one", 0644);
  const RemoteSettings settings =
      settings_of({{"CLBIN_REMOTE", k_url}, {"CLBIN_REMOTE_TOKEN_FILE", file}});
  EXPECT_EQ(settings.use, RemoteUse::on);
  ASSERT_THAT(settings.problems, SizeIs(1));
  EXPECT_THAT(settings.problems[0], HasSubstr("its mode 644 lets others open it"));
}

// ---- Every setting with every kind of odd line ----

TEST_F(RemoteSettingsFiles, NeverDropTheKeysOfAnOddLine) {
  const std::string token = write("token", "secret");
  for (const std::string& setting :
       {std::string("remote = http://h/p"), std::string("remote-token = secret"),
        "remote-token-file = " + token, std::string("remote-netrc = /n"),
        std::string("remote-read-only = no"), std::string("remote-timeout = 10"),
        std::string("remote-sign-key = /nonexistent")}) {
    for (const OddFile& file : odd_files(setting, "remote-public-key = a.pub", "remote")) {
      // The variable is where somebody else names a server.
      const RemoteSettings settings = configured(file.text, {{"CLBIN_REMOTE", k_url}});
      const std::string where = setting + ": " + file.kind;
      if (file.outcome == Outcome::trusted) {
        EXPECT_THAT(settings.problems, IsEmpty()) << where;
        EXPECT_EQ(settings.use, RemoteUse::on) << where;
        EXPECT_THAT(settings.public_keys, ElementsAre("a.pub")) << where;
      } else {
        EXPECT_EQ(settings.use, RemoteUse::off) << where;
        EXPECT_THAT(settings.problems, Not(IsEmpty())) << where;
      }
    }
  }
}

TEST_F(RemoteSettingsFiles, NameTheCharacterThatIsNotUnderstoodWithoutTheLine) {
  const RemoteSettings settings = configured("#\vremote-token = secret\n");
  EXPECT_THAT(settings.problems,
              ElementsAre(m_file + ":1: the line contains the control character U+000B"));
}

TEST_F(RemoteSettingsFiles, RejectTwoLinesOfTrust) {
  for (const std::string name : {"remote-public-key", "remote-sign-key"}) {
    const RemoteSettings settings =
        configured(fmt::format("remote = {0}\n{1} = a\n{1} = b\n", k_url, name));
    EXPECT_THAT(settings.problems, ElementsAre(m_file + ":3: '" + name + "' is set twice"));
    EXPECT_EQ(settings.use, RemoteUse::off);
  }
}

// A pipe without a writer would stop every compile. With one it is a file that is read once, which
// is enough for a token but not for a file that may name keys.
TEST_F(RemoteSettingsFiles, WaitForNoWriterOfAPipe) {
  std::filesystem::create_directories(m_folder.path() / "clbin");
  const std::string file = (m_folder.path() / "clbin/oclcc.conf").string();
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  const RemoteSettings settings =
      settings_of({{"XDG_CONFIG_HOME", m_folder.path().string()}, {"CLBIN_REMOTE", k_url}});
  EXPECT_EQ(settings.use, RemoteUse::off);
  EXPECT_THAT(settings.problems, ElementsAre("cannot read '" + file + "': not a regular file"));
  EXPECT_EQ(problem_of({{"CLBIN_REMOTE_TOKEN_FILE", file}}),
            "CLBIN_REMOTE_TOKEN_FILE: '" + file +
                "': a token consists of 1 to 4096 visible ASCII characters");
}

TEST_F(RemoteSettingsFiles, ReadATokenFromAPipe) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_EQ(::write(ends[1], "secret\n", 7), 7);
  ::close(ends[1]);
  const RemoteSettings settings = settings_of(
      {{"CLBIN_REMOTE", k_url}, {"CLBIN_REMOTE_TOKEN_FILE", fmt::format("/dev/fd/{}", ends[0])}});
  ::close(ends[0]);
  EXPECT_THAT(settings.problems, IsEmpty());
  EXPECT_EQ(settings.token, "secret");
}

} // namespace
} // namespace oclcc::remote
