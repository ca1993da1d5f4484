#include "layer/layer_settings.hpp"

#include "base/crypto/key_text.hpp"
#include "base/file_io.hpp"
#include "support/odd_lines.hpp"

#include <array>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <sys/stat.h>

namespace clbin::layer {
namespace {

using test::OddFile;
using test::Outcome;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Variables = std::map<std::string, std::string>;

constexpr const char* k_unclear =
    "no bundle is trusted and the user cache is not used: the configuration file is not understood "
    "completely, and may require signatures";

SettingsRead settings_of(const Variables& variables) {
  return read_settings({[&variables](const char* name) -> std::optional<std::string> {
                          const auto found = variables.find(name);
                          return found == variables.end() ? std::nullopt
                                                          : std::optional(found->second);
                        },
                        cache::Rights::plain, [] { return std::filesystem::path(); }});
}

SettingsRead configuration(std::string_view text) {
  SettingsRead result;
  apply_configuration(text, "layer.conf", result);
  return result;
}

TEST(LayerSettings, CacheWithoutAnyVariable) {
  const SettingsRead read = settings_of({});
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_EQ(read.settings.mode, Mode::cache);
  EXPECT_THAT(read.settings.bundles, IsEmpty());
  EXPECT_TRUE(read.settings.log.empty());
  EXPECT_TRUE(read.settings.records_source);
  EXPECT_FALSE(read.settings.records_binaries);
  EXPECT_FALSE(read.settings.caches_pocl);
}

TEST(LayerSettings, ReadEveryVariable) {
  const SettingsRead read = settings_of({{"CLBIN_LAYER_MODE", "record"},
                                         {"CLBIN_LAYER_BUNDLES", "a.clbin::/b/c.clbin"},
                                         {"CLBIN_LAYER_LOG", "-"},
                                         {"CLBIN_LAYER_RECORD", "/recorded"},
                                         {"CLBIN_LAYER_RECORD_BINARIES", "1"},
                                         {"CLBIN_LAYER_RECORD_DATA", "4096"},
                                         {"CLBIN_LAYER_RECORD_SOURCE", "0"},
                                         {"CLBIN_CACHE_POCL", "1"}});
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_EQ(read.settings.mode, Mode::record);
  EXPECT_THAT(read.settings.bundles, ElementsAre("a.clbin", "/b/c.clbin"));
  EXPECT_EQ(read.settings.log, "-");
  EXPECT_EQ(read.settings.record_folder, "/recorded");
  EXPECT_TRUE(read.settings.records_binaries);
  EXPECT_FALSE(read.settings.records_source);
  EXPECT_EQ(read.settings.recorded_data_bytes, 4096U);
  EXPECT_TRUE(read.settings.caches_pocl);
}

TEST(LayerSettings, ReadEverySettingOfAFile) {
  const SettingsRead read = configuration("# a comment\n"
                                          "mode = strict\r\n"
                                          "\tbundles=a.clbin:b.clbin\n"
                                          "log = /tmp/log\n"
                                          "record = /recorded\n"
                                          "record-binaries = yes\n"
                                          "record-data = 1000\n"
                                          "record-source = no\n"
                                          "cache-pocl = yes\n"
                                          "[program 0123abcd]\n"
                                          "append-options = -cl-std=CL1.2 -DA=1\n"
                                          "[kernel convolve]\n"
                                          "replace-options = \n");
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_EQ(read.settings.mode, Mode::strict);
  EXPECT_THAT(read.settings.bundles, ElementsAre("a.clbin", "b.clbin"));
  EXPECT_EQ(read.settings.log, "/tmp/log");
  EXPECT_EQ(read.settings.record_folder, "/recorded");
  EXPECT_TRUE(read.settings.records_binaries);
  EXPECT_FALSE(read.settings.records_source);
  EXPECT_EQ(read.settings.recorded_data_bytes, 1000U);
  EXPECT_TRUE(read.settings.caches_pocl);
  EXPECT_THAT(read.settings.rules,
              ElementsAre(OptionRule{OptionRule::Subject::program, "0123abcd",
                                     OptionRule::Action::append, "-cl-std=CL1.2 -DA=1"},
                          OptionRule{OptionRule::Subject::kernel, "convolve",
                                     OptionRule::Action::replace, ""}));
}

TEST(LayerSettings, NameFileAndLineOfWhatIsWrongAndIgnoreIt) {
  const SettingsRead read = configuration("mode = recrod\n"
                                          "colour = red\n"
                                          "bundles\n"
                                          "record-source = maybe\n"
                                          "[program xyz]\n"
                                          "append-options = -DA\n"
                                          "[devices]\n"
                                          "[kernel]\n"
                                          "[kernel k\n"
                                          "[kernel k]\n"
                                          "prepend-options = -DB\n"
                                          "append-options = -DC\n");
  EXPECT_THAT(
      read.problems,
      ElementsAre(
          "layer.conf:1: unknown mode 'recrod': expected cache, serve, record or strict",
          "layer.conf:2: unknown setting 'colour'", "layer.conf:3: expected 'NAME = VALUE'",
          "layer.conf:4: 'maybe' is neither 1 nor 0, yes nor no",
          "layer.conf:5: 'xyz' is not 8 to 64 lower-case hexadecimal digits",
          "layer.conf:7: unknown section 'devices': expected 'program DIGEST' or 'kernel NAME'",
          "layer.conf:8: unknown section 'kernel': expected 'program DIGEST' or 'kernel NAME'",
          "layer.conf:9: missing ']'",
          "layer.conf:11: unknown setting 'prepend-options': expected append-options or "
          "replace-options"));
  EXPECT_EQ(read.settings.mode, Mode::cache);
  EXPECT_THAT(read.settings.rules, ElementsAre(OptionRule{OptionRule::Subject::kernel, "k",
                                                          OptionRule::Action::append, "-DC"}));
}

TEST(LayerSettings, ReportNoMoreThanTwentyProblems) {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += "nonsense\n";
  }
  EXPECT_EQ(configuration(text).problems.size(), 20U);
}

TEST(LayerSettings, NameTheVariableOfAWrongValue) {
  EXPECT_THAT(settings_of({{"CLBIN_LAYER_MODE", "fast"},
                           {"CLBIN_LAYER_RECORD_DATA", "64M"},
                           {"CLBIN_LAYER_RECORD_SOURCE", "2"}})
                  .problems,
              ElementsAre("CLBIN_LAYER_MODE: unknown mode 'fast': expected cache, serve, record or "
                          "strict",
                          "CLBIN_LAYER_RECORD_DATA: '64M' is not a number",
                          "CLBIN_LAYER_RECORD_SOURCE: '2' is neither 1 nor 0, yes nor no"));
}

TEST(LayerSettings, ListAtMost64BundlesAndEachOnce) {
  const SettingsRead twice = settings_of({{"CLBIN_LAYER_BUNDLES", "a:b::a:"}});
  EXPECT_THAT(twice.problems, IsEmpty());
  EXPECT_THAT(twice.settings.bundles, ElementsAre("a", "b"));
  std::string many;
  for (int i = 0; i < 65; ++i) {
    many += std::to_string(i) + ":";
  }
  const SettingsRead read = settings_of({{"CLBIN_LAYER_BUNDLES", many}});
  EXPECT_THAT(read.problems, ElementsAre(HasSubstr("more than 64 bundles")));
  EXPECT_THAT(read.settings.bundles, SizeIs(64));
}

TEST(LayerSettings, FallBackToCacheIfAModeLacksWhatItNeeds) {
  const SettingsRead record = settings_of({{"CLBIN_LAYER_MODE", "record"}});
  EXPECT_THAT(record.problems,
              ElementsAre("mode 'record' requires a directory in CLBIN_LAYER_RECORD"));
  EXPECT_EQ(record.settings.mode, Mode::cache);
  const SettingsRead serve = settings_of({{"CLBIN_LAYER_MODE", "serve"}});
  EXPECT_THAT(serve.problems, ElementsAre("mode 'serve' requires bundles in CLBIN_LAYER_BUNDLES"));
  EXPECT_EQ(serve.settings.mode, Mode::cache);
}

TEST(LayerSettings, VariablesOverrideTheFile) {
  const std::string path = ::testing::TempDir() + "/clbin-layer-settings-test.conf";
  std::ofstream(path) << "mode = strict\nbundles = a.clbin\n";
  const SettingsRead read =
      settings_of({{"CLBIN_LAYER_CONFIG", path}, {"CLBIN_LAYER_MODE", "serve"}});
  std::filesystem::remove(path);
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_EQ(read.settings.mode, Mode::serve);
  EXPECT_THAT(read.settings.bundles, ElementsAre("a.clbin"));
}

TEST(LayerSettings, ReportAFileThatCannotBeRead) {
  const SettingsRead read = settings_of({{"CLBIN_LAYER_CONFIG", "/nowhere/layer.conf"}});
  EXPECT_THAT(read.problems, ElementsAre("CLBIN_LAYER_CONFIG: cannot open '/nowhere/layer.conf': "
                                         "No such file or directory",
                                         k_unclear));
}

// ---- Signatures ----

class SignatureSettings : public ::testing::Test {
protected:
  SignatureSettings() {
    for (unsigned char number = 1; number <= 2; ++number) {
      std::array<std::byte, 32> seed{};
      seed[0] = std::byte{number};
      m_keys.push_back(base::SecretKey::from_seed(seed).public_key());
      std::ofstream(path_of(number)) << base::minisign_public_key_file({{}, m_keys.back()});
    }
  }
  [[nodiscard]] std::string path_of(int number) const {
    return (m_folder.path() / fmt::format("{}.pub", number)).string();
  }

  base::TemporaryFolder m_folder = base::TemporaryFolder::create({}, "layer-keys-").value();
  std::vector<base::PublicKey> m_keys;
};

TEST_F(SignatureSettings, AreIgnoredWithoutKeys) {
  const SettingsRead read = settings_of({});
  EXPECT_EQ(read.settings.signatures, SignatureUse::ignored);
  EXPECT_FALSE(read.settings.has_unsigned_cache);
}

TEST_F(SignatureSettings, ReadKeysAndTheLeastCounter) {
  const SettingsRead read = settings_of({{"CLBIN_LAYER_PUBLIC_KEYS", path_of(1) + ":" + path_of(2)},
                                         {"CLBIN_LAYER_LEAST_COUNTER", "18446744073709551615"},
                                         {"CLBIN_LAYER_UNSIGNED", "1"}});
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_EQ(read.settings.signatures, SignatureUse::required);
  EXPECT_EQ(read.settings.public_keys, m_keys);
  EXPECT_EQ(read.settings.least_counter, ~0ULL);
  EXPECT_TRUE(read.settings.has_unsigned_cache);

  const SettingsRead file =
      configuration("public-keys = " + path_of(2) + "\nleast-counter = 3\nunsigned = yes\n");
  EXPECT_THAT(file.problems, IsEmpty());
  EXPECT_THAT(file.settings.public_keys, ElementsAre(m_keys[1]));
  EXPECT_EQ(file.settings.least_counter, 3U);
  EXPECT_TRUE(file.settings.has_unsigned_cache);
}

TEST_F(SignatureSettings, RequireSignaturesAlthoughAKeyCannotBeRead) {
  const std::string none = (m_folder.path() / "none.pub").string();
  const SettingsRead read = settings_of({{"CLBIN_LAYER_PUBLIC_KEYS", none}});
  EXPECT_THAT(read.problems,
              ElementsAre("CLBIN_LAYER_PUBLIC_KEYS: '" + none + "' is not trusted: cannot open '" +
                          none + "': No such file or directory"));
  EXPECT_EQ(read.settings.signatures, SignatureUse::required);
  EXPECT_THAT(read.settings.public_keys, IsEmpty());

  std::ofstream(path_of(1)) << "RW";
  const SettingsRead damaged = settings_of({{"CLBIN_LAYER_PUBLIC_KEYS", path_of(1)}});
  EXPECT_THAT(damaged.problems, ElementsAre(::testing::HasSubstr("not a public key of minisign")));
  EXPECT_EQ(damaged.settings.signatures, SignatureUse::required);
}

TEST_F(SignatureSettings, AcceptNoCounterIfTheLeastOneIsNotANumber) {
  for (const std::string value : {"x", "1x", "-1", "18446744073709551616"}) {
    const SettingsRead read = settings_of(
        {{"CLBIN_LAYER_PUBLIC_KEYS", path_of(1)}, {"CLBIN_LAYER_LEAST_COUNTER", value}});
    EXPECT_THAT(read.problems,
                ElementsAre("CLBIN_LAYER_LEAST_COUNTER: '" + value + "' is not a number"));
    EXPECT_EQ(read.settings.least_counter, ~0ULL);
  }
}

// Nothing serves: neither a bundle nor the user cache.
void expect_closed(const SettingsRead& read) {
  EXPECT_EQ(read.settings.signatures, SignatureUse::required);
  EXPECT_THAT(read.settings.public_keys, IsEmpty());
  EXPECT_FALSE(read.settings.has_unsigned_cache);
}

TEST_F(SignatureSettings, RequireASignatureAndTrustNobodyIfTheyLackKeys) {
  constexpr const char* k_lacking = "no bundle is trusted: CLBIN_LAYER_LEAST_COUNTER and "
                                    "CLBIN_LAYER_UNSIGNED require keys in CLBIN_LAYER_PUBLIC_KEYS";
  for (const auto& [name, value] :
       Variables{{"CLBIN_LAYER_LEAST_COUNTER", "1"}, {"CLBIN_LAYER_UNSIGNED", "0"}}) {
    const SettingsRead read = settings_of({{name, value}});
    EXPECT_THAT(read.problems, ElementsAre(k_lacking)) << name;
    expect_closed(read);
  }
  const SettingsRead cache = settings_of({{"CLBIN_LAYER_UNSIGNED", "1"}});
  EXPECT_THAT(cache.problems, ElementsAre(k_lacking));
  EXPECT_EQ(cache.settings.signatures, SignatureUse::required);
  EXPECT_TRUE(cache.settings.has_unsigned_cache) << "the user cache was asked for";
}

TEST_F(SignatureSettings, RequireASignatureAndTrustNobodyIfTheKeysAreEmpty) {
  for (const std::string value : {"", ":"}) {
    const SettingsRead read = settings_of({{"CLBIN_LAYER_PUBLIC_KEYS", value}});
    EXPECT_THAT(read.problems,
                ElementsAre("CLBIN_LAYER_PUBLIC_KEYS: no file is named, and no bundle is trusted"));
    expect_closed(read);
  }
  const SettingsRead file = configuration("public-keys =\n");
  EXPECT_THAT(file.problems,
              ElementsAre("layer.conf:1: no file is named, and no bundle is trusted"));
  expect_closed(file);
}

TEST_F(SignatureSettings, AcceptNoEmptyCounterAndNoEmptySwitch) {
  const std::string path = (m_folder.path() / "layer.conf").string();
  std::ofstream(path) << "public-keys = " << path_of(1) << "\nunsigned = yes\n";
  const SettingsRead read = settings_of({{"CLBIN_LAYER_CONFIG", path},
                                         {"CLBIN_LAYER_LEAST_COUNTER", ""},
                                         {"CLBIN_LAYER_UNSIGNED", "on"}});
  EXPECT_THAT(read.problems,
              ElementsAre("CLBIN_LAYER_LEAST_COUNTER: '' is not a number",
                          "CLBIN_LAYER_UNSIGNED: 'on' is neither 1 nor 0, yes nor no"));
  EXPECT_EQ(read.settings.least_counter, ~0ULL);
  EXPECT_FALSE(read.settings.has_unsigned_cache);
}

TEST_F(SignatureSettings, TrustNobodyIfTheFileCannotBeRead) {
  const std::string large = (m_folder.path() / "large.conf").string();
  std::ofstream(large) << "public-keys = " << path_of(1) << "\n# " << std::string(1U << 20U, 'x');
  for (const std::string& path :
       {std::string(), std::string("/nowhere/layer.conf"), large, m_folder.path().string()}) {
    const SettingsRead read = settings_of({{"CLBIN_LAYER_CONFIG", path},
                                           {"CLBIN_LAYER_PUBLIC_KEYS", path_of(1)},
                                           {"CLBIN_LAYER_UNSIGNED", "1"}});
    EXPECT_THAT(read.problems,
                ElementsAre(::testing::StartsWith("CLBIN_LAYER_CONFIG: "), k_unclear))
        << path;
    expect_closed(read);
  }
}

TEST_F(SignatureSettings, TrustNobodyIfALineOfTheFileIsNotUnderstood) {
  const std::string path = (m_folder.path() / "layer.conf").string();
  const std::string keys = "public-keys = " + path_of(1) + "\n";
  for (const std::string& text : std::vector<std::string>{
           "public_keys = " + path_of(1), "public-keys : " + path_of(1), "Public-Keys = x" + keys,
           "log = /tmp/log\r" + keys, "[kernel k]\n" + keys, "[kernel k]\npublic-keys : x",
           "[kernel k\n" + keys, "[kernel k] " + keys, "[" + keys, "[public-keys = x]",
           "[kernel k public-keys = x]", "[kernel k=x]", "[program xyz]", "[trust]\n" + keys,
           "[program xyz]\nleast-counter = 3", keys + "least_counter = 3",
           keys + std::string("\0", 1), "\xFF\xFEp" + keys}) {
    std::ofstream(path, std::ios::trunc) << text;
    const SettingsRead read = settings_of({{"CLBIN_LAYER_CONFIG", path}});
    ASSERT_GE(read.problems.size(), 2U) << text;
    EXPECT_EQ(read.problems.back(), k_unclear) << text;
    expect_closed(read);
  }
  std::ofstream(path, std::ios::trunc) << keys;
  std::ofstream more(path, std::ios::app);
  for (int i = 0; i < 1000; ++i) {
    more << "nonsense\n";
  }
  more.close();
  const SettingsRead many = settings_of({{"CLBIN_LAYER_CONFIG", path}});
  EXPECT_EQ(many.problems.size(), 21U) << "20, and the result";
  EXPECT_EQ(many.problems.back(), k_unclear);
  expect_closed(many);
}

TEST_F(SignatureSettings, AreNotConcernedIfAnotherSettingHasAWrongValue) {
  const std::string path = (m_folder.path() / "layer.conf").string();
  std::ofstream(path) << "mode = recrod\nrecord-source = maybe\n[kernel k]\nreplace-options =\n";
  const SettingsRead read = settings_of({{"CLBIN_LAYER_CONFIG", path}, {"CLBIN_LAYER_LOG", ""}});
  EXPECT_EQ(read.problems.size(), 2U);
  EXPECT_EQ(read.settings.signatures, SignatureUse::ignored);
}

TEST_F(SignatureSettings, AreReadBehindAByteOrderMark) {
  const SettingsRead read = configuration("\xEF\xBB\xBFpublic-keys = " + path_of(1) + "\n");
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_EQ(read.settings.signatures, SignatureUse::required);
  EXPECT_THAT(read.settings.public_keys, ElementsAre(m_keys[0]));
}

// ---- Every setting with every kind of odd line ----

// Files of a line `setting` and a line `keys`, which requires signatures.
std::vector<OddFile> odd_settings(const std::string& setting, const std::string& keys) {
  const std::string both = setting + "\n" + keys + "\n";
  std::vector<OddFile> files = test::odd_files(setting, keys, "kernel k");
  files.push_back(
      {"before a section", both + "[kernel k]\nappend-options = -DA\n", Outcome::trusted});
  files.push_back({"BOM after a value", setting + "\n" + keys + "\xEF\xBB\xBF\t\n"});
  files.push_back({"in a section with a setting", "[program 01234567]\n" + both});
  files.push_back({"in the name of a kernel", "[kernel k " + keys + "]\n"});
  return files;
}

class OddSettings : public SignatureSettings {
protected:
  [[nodiscard]] SettingsRead read(const std::string& text) const {
    const std::string path = (m_folder.path() / "layer.conf").string();
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    return settings_of({{"CLBIN_LAYER_CONFIG", path}});
  }
};

TEST_F(OddSettings, NeverMakeRequiredSignaturesOptional) {
  const std::string keys = "public-keys = " + path_of(1);
  for (const std::string setting :
       {"mode = strict", "bundles = a.clbin", "log = /tmp/log", "record = /recorded",
        "record-binaries = yes", "record-source = no", "cache-pocl = yes", "least-counter = 3",
        "unsigned = no"}) {
    for (const OddFile& file : odd_settings(setting, keys)) {
      const SettingsRead result = read(file.text);
      const std::string where = setting + ": " + file.kind;
      EXPECT_EQ(result.settings.signatures, SignatureUse::required) << where;
      EXPECT_FALSE(result.settings.has_unsigned_cache) << where;
      if (file.outcome == Outcome::trusted) {
        EXPECT_THAT(result.settings.public_keys, ElementsAre(m_keys[0])) << where;
        EXPECT_THAT(result.problems, IsEmpty()) << where;
      } else {
        EXPECT_THAT(result.settings.public_keys, IsEmpty()) << where;
        EXPECT_FALSE(result.problems.empty()) << where;
      }
    }
  }
}

// Each setting of signatures requires them alone, too, and given twice it is not clear.
TEST_F(OddSettings, OfSignaturesRequireThemAlone) {
  for (const std::string& setting :
       {"public-keys = " + path_of(2), std::string("least-counter = 3"),
        std::string("unsigned = yes"), std::string("unsigned = no")}) {
    for (const OddFile& file : odd_settings("mode = strict", setting)) {
      const SettingsRead result = read(file.text);
      EXPECT_EQ(result.settings.signatures, SignatureUse::required) << setting << ": " << file.kind;
      const bool is_clear = file.outcome == Outcome::trusted;
      EXPECT_EQ(result.settings.has_unsigned_cache, is_clear && setting == "unsigned = yes")
          << setting << ": " << file.kind;
    }
    const SettingsRead twice = read(setting + "\n" + setting + "\n");
    expect_closed(twice);
    ASSERT_GE(twice.problems.size(), 2U);
    EXPECT_THAT(twice.problems[0],
                ::testing::EndsWith("layer.conf:2: '" + setting.substr(0, setting.find(' ')) +
                                    "' is set twice"));
    EXPECT_EQ(twice.problems.back(), k_unclear);
  }
}

TEST_F(OddSettings, InVariablesNeverMakeRequiredSignaturesOptional) {
  for (const auto& [name, odd] : test::k_odd_characters) {
    if (name == "NUL") {
      continue; // no variable can contain it
    }
    for (const auto& [variable, value] : Variables{{"CLBIN_LAYER_PUBLIC_KEYS", path_of(1)},
                                                   {"CLBIN_LAYER_LEAST_COUNTER", "0"},
                                                   {"CLBIN_LAYER_UNSIGNED", "1"},
                                                   {"CLBIN_LAYER_CONFIG", path_of(1)}}) {
      for (const std::string& text : {value + odd, odd + value, odd}) {
        const SettingsRead result = settings_of({{variable, text}});
        expect_closed(result);
        EXPECT_FALSE(result.problems.empty()) << variable << ": " << name;
      }
    }
  }
}

TEST_F(OddSettings, NameTheCharacterThatIsNotUnderstood) {
  const SettingsRead result = read("# settings\rpublic-keys = K\rmode = strict\r");
  EXPECT_THAT(result.problems, ElementsAre((m_folder.path() / "layer.conf").string() +
                                               ":1: the line contains the control character U+000D",
                                           k_unclear));
}

// A pipe would stop the application, and give a second process an empty file.
TEST_F(OddSettings, AreOnlyReadFromRegularFiles) {
  const std::string pipe = (m_folder.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, std::string("/dev/null"), std::string("/dev/zero")}) {
    const SettingsRead file = settings_of({{"CLBIN_LAYER_CONFIG", path}});
    EXPECT_THAT(file.problems,
                ElementsAre("CLBIN_LAYER_CONFIG: cannot read '" + path + "': not a regular file",
                            k_unclear));
    expect_closed(file);
    const SettingsRead keys = settings_of({{"CLBIN_LAYER_PUBLIC_KEYS", path}});
    EXPECT_THAT(keys.problems,
                ElementsAre("CLBIN_LAYER_PUBLIC_KEYS: '" + path +
                            "' is not trusted: cannot read '" + path + "': not a regular file"));
    expect_closed(keys);
  }
  // "-" is a file as any other, and not the standard input of the application.
  const SettingsRead input = settings_of({{"CLBIN_LAYER_CONFIG", "-"}});
  EXPECT_THAT(
      input.problems,
      ElementsAre("CLBIN_LAYER_CONFIG: cannot open '-': No such file or directory", k_unclear));
}

TEST(LayerSettings, NameEveryMode) {
  EXPECT_EQ(format::name_of(Mode::cache), "cache");
  EXPECT_EQ(format::name_of(Mode::serve), "serve");
  EXPECT_EQ(format::name_of(Mode::record), "record");
  EXPECT_EQ(format::name_of(Mode::strict), "strict");
}

} // namespace
} // namespace clbin::layer
