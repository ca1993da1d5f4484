#include "command_line/option_table.hpp"

#include "command_line/options.hpp"
#include "loader/recorded_options.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <unistd.h>

namespace oclcc {
namespace {

using clbin::base::ErrorCode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

using Words = std::vector<std::string>;

Options parsed(const Words& words) {
  auto result = parse_command_line(words);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result ? *result : Options();
}

std::string refused(const Words& words) {
  const auto result = parse_command_line(words);
  EXPECT_FALSE(result);
  if (result) {
    return "accepted";
  }
  EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
  return result.error().message;
}

std::vector<std::string> programs(const Options& options) {
  std::vector<std::string> names;
  for (const Input& input : options.inputs) {
    names.push_back(input.program + "=" + input.path.string());
  }
  return names;
}

TEST(CommandLine, TakesInputsAndOptionsInAnyOrder) {
  const Options options = parsed({"a.cl", "-o", "out.clbin", "dir/b.cl", "--no-source"});
  EXPECT_EQ(options.mode, Mode::compile);
  EXPECT_THAT(programs(options), ElementsAre("a=a.cl", "b=dir/b.cl"));
  EXPECT_EQ(options.output, "out.clbin");
  EXPECT_EQ(options.source, SourcePolicy::drop);
}

// A response file may contain words that are longer than a command line. Regular expressions would
// overflow the stack on them.
TEST(CommandLine, TakesAValueOfAnyLength) {
  const std::string value(3'000'000, 'a');
  EXPECT_TRUE(parsed({"a.cl", "--output=" + value}).output == value);
  EXPECT_TRUE(parsed({"a.cl", "-o" + value}).output == value);
}

TEST(CommandLine, HasTheDefaultsOfTheManual) {
  const Options options = parsed({"a.cl"});
  EXPECT_FALSE(options.output.has_value());
  EXPECT_EQ(options.source, SourcePolicy::keep);
  EXPECT_EQ(options.failure, FailurePolicy::stop);
  EXPECT_EQ(options.color, ColorMode::automatic);
  EXPECT_EQ(options.verbosity, Verbosity::normal);
  EXPECT_EQ(options.jobs, 0U);
  EXPECT_EQ(options.timeout_seconds, 300U);
  EXPECT_TRUE(options.variants.empty());
}

TEST(CommandLine, KeepsDriverOptionsInOrderAsOneWordEach) {
  const Options options = parsed({"-DX", "-D", "Y=1", "a.cl", "-UX", "-U", "Z",
                                  "-cl-fast-relaxed-math", "-w", "-Werror", "-cl-std=CL3.0"});
  EXPECT_THAT(options.driver_options,
              ElementsAre("-DX", "-DY=1", "-UX", "-UZ", "-cl-fast-relaxed-math", "-w", "-Werror",
                          "-cl-std=CL3.0"));
}

// The options that libclbin passes to a driver if a bundle records them.
TEST(CommandLine, KeepsDebugAndOptimizationOptionsForDrivers) {
  const Words words = {"-g", "-O", "-O0", "-O1", "-O2", "-O3", "-Os", "-Oz", "-Ofast"};
  for (const std::string& word : words) {
    EXPECT_THAT(parsed({"a.cl", word}).driver_options, ElementsAre(word));
    const Options options =
        parsed({"a.cl", "--variant", "v=" + word, "--device-option", "cpu=" + word});
    EXPECT_THAT(options.variants.front().options, ElementsAre(word));
    EXPECT_THAT(options.device_options.front().options, ElementsAre(word));
    EXPECT_TRUE(clbin::loader::check_recorded_options(word));
  }
  for (const std::string word : {"-Og", "-O4", "-ggdb", "-g3"}) {
    EXPECT_THAT(refused({"a.cl", word}), HasSubstr("unrecognized option '" + word + "'"));
    EXPECT_FALSE(clbin::loader::check_recorded_options(word));
  }
}

TEST(CommandLine, DoesNotSplitValuesAtCommas) {
  const Options options = parsed({"-DF(a,b)=a", "-Ia,b", "-I", "c,d", "x,y.cl"});
  EXPECT_THAT(options.driver_options, ElementsAre("-DF(a,b)=a"));
  EXPECT_THAT(options.include_folders, ElementsAre("a,b", "c,d"));
  EXPECT_THAT(programs(options), ElementsAre("x,y=x,y.cl"));
}

TEST(CommandLine, HandsUnknownClOptionsToTheDriver) {
  EXPECT_THAT(parsed({"-cl-no-such-thing", "a.cl"}).driver_options,
              ElementsAre("-cl-no-such-thing"));
}

TEST(CommandLine, TakesForcedIncludesInOrder) {
  EXPECT_THAT(parsed({"-include", "a.h", "a.cl", "-include", "b.h"}).forced_includes,
              ElementsAre("a.h", "b.h"));
}

TEST(CommandLine, TakesWordsAfterTwoDashesAsInputs) {
  const Options options = parsed({"-o", "x", "--", "-DX.cl", "--info", "@a"});
  EXPECT_THAT(programs(options), ElementsAre("-DX=-DX.cl", "--info=--info", "@a=@a"));
  EXPECT_TRUE(options.driver_options.empty());
}

TEST(CommandLine, TakesADashAsStandardInputAndOutput) {
  const Options options = parsed({"-", "-o", "-"});
  EXPECT_THAT(programs(options), ElementsAre("stdin=-"));
  EXPECT_EQ(options.output, "-");
  EXPECT_EQ(parsed({"-o-", "a.cl"}).output, "-");
}

TEST(CommandLine, TakesValuesJoinedOrApart) {
  EXPECT_EQ(parsed({"-oout", "a.cl"}).output, "out");
  EXPECT_EQ(parsed({"--output=out", "a.cl"}).output, "out");
  EXPECT_EQ(parsed({"--output", "out", "a.cl"}).output, "out");
  EXPECT_EQ(parsed({"-j4", "a.cl"}).jobs, 4U);
  EXPECT_EQ(parsed({"-j", "4", "a.cl"}).jobs, 4U);
  EXPECT_EQ(parsed({"--timeout=7", "a.cl"}).timeout_seconds, 7U);
  EXPECT_EQ(parsed({"--memory-limit", "1048576", "a.cl"}).memory_limit_bytes, 1U << 20U);
  EXPECT_EQ(parsed({"--memory-limit=3G", "a.cl"}).memory_limit_bytes, 3ULL << 30U);
  EXPECT_EQ(parsed({"--memory-limit=2048K", "a.cl"}).memory_limit_bytes, 2U << 20U);
  EXPECT_EQ(parsed({"--memory-limit=none", "a.cl"}).memory_limit_bytes, 0U);
  EXPECT_EQ(parsed({"a.cl"}).memory_limit_bytes, std::nullopt);
}

TEST(CommandLine, DoesNotTakeAValueForAnOption) {
  const Options options = parsed({"-o", "-DX", "a.cl", "--device", "-cl-x"});
  EXPECT_EQ(options.output, "-DX");
  EXPECT_THAT(options.device_patterns, ElementsAre("-cl-x"));
  EXPECT_TRUE(options.driver_options.empty());
}

TEST(CommandLine, NamesProgramsAndVariants) {
  const Options options =
      parsed({"--program", "p=dir/a.cl", "a.cl", "--variant", "fast=-DX -w", "--variant=plain="});
  EXPECT_THAT(programs(options), testing::UnorderedElementsAre("p=dir/a.cl", "a=a.cl"));
  ASSERT_EQ(options.variants.size(), 2U);
  EXPECT_EQ(options.variants[0].name, "fast");
  EXPECT_THAT(options.variants[0].options, ElementsAre("-DX", "-w"));
  EXPECT_EQ(options.variants[1].name, "plain");
  EXPECT_TRUE(options.variants[1].options.empty());
}

TEST(CommandLine, TakesColorsWithAndWithoutAValue) {
  EXPECT_EQ(parsed({"--color", "a.cl"}).color, ColorMode::always);
  EXPECT_EQ(parsed({"--color=never", "a.cl"}).color, ColorMode::never);
  EXPECT_EQ(parsed({"--color=auto", "a.cl"}).color, ColorMode::automatic);
  EXPECT_EQ(refused({"--color=red", "a.cl"}), "'--color' accepts auto, always or never, not 'red'");
}

TEST(CommandLine, ChoosesAMode) {
  EXPECT_EQ(parsed({"--info", "a.clbin"}).mode, Mode::info);
  EXPECT_EQ(parsed({"--list-devices"}).mode, Mode::list_devices);
  EXPECT_EQ(parsed({"--list-devices", "--json"}).list_format, ListFormat::json);
  EXPECT_EQ(parsed({"--help"}).mode, Mode::help);
  EXPECT_EQ(parsed({"--help"}).help, HelpExtent::common);
  EXPECT_EQ(parsed({"--help=common"}).help, HelpExtent::common);
  EXPECT_EQ(parsed({"--info", "--help=all"}).mode, Mode::help);
  EXPECT_EQ(parsed({"--help=all"}).help, HelpExtent::all);
  EXPECT_EQ(parsed({"--info", "--version"}).mode, Mode::version);
  EXPECT_EQ(parsed({"--version",
                    "-o"
                    "x",
                    "--info"})
                .mode,
            Mode::version);
  EXPECT_EQ(parsed({"--worker", "anything"}).mode, Mode::worker);
}

TEST(CommandLine, RefusesUnknownOptionsWithTheNearest) {
  EXPECT_EQ(refused({"--keep-goin", "a.cl"}),
            "unrecognized option '--keep-goin'; did you mean '--keep-going'?");
  EXPECT_EQ(refused({"--no-suorce", "a.cl"}),
            "unrecognized option '--no-suorce'; did you mean '--no-source'?");
  EXPECT_EQ(refused({"--varient=a=-w", "a.cl"}),
            "unrecognized option '--varient=a=-w'; did you mean '--variant'?");
  EXPECT_EQ(refused({"-Werr", "a.cl"}), "unrecognized option '-Werr'");
  EXPECT_EQ(refused({"-Werrror", "a.cl"}),
            "unrecognized option '-Werrror'; did you mean '-Werror'?");
  EXPECT_EQ(refused({"-help"}), "unrecognized option '-help'; did you mean '--help'?");
  EXPECT_EQ(refused({"-qv", "a.cl"}), "unrecognized option '-qv'");
  EXPECT_EQ(refused({"-y", "a.cl"}), "unrecognized option '-y'");
  EXPECT_EQ(refused({"--inputs=a.cl"}), "unrecognized option '--inputs=a.cl'");
  EXPECT_EQ(refused({"-cl-", "a.cl"}), "unrecognized option '-cl-'");
}

TEST(CommandLine, RefusesMissingAndForbiddenValues) {
  EXPECT_EQ(refused({"a.cl", "-o"}), "option '-o' needs a value: -o FILE");
  EXPECT_EQ(refused({"a.cl", "-D"}), "option '-D' needs a value: -D NAME[=VALUE]");
  EXPECT_EQ(refused({"a.cl", "-include"}), "option '-include' needs a value: -include FILE");
  EXPECT_EQ(refused({"a.cl", "--device"}), "option '--device' needs a value: --device PATTERN");
  EXPECT_EQ(refused({"a.cl", "--output="}), "option '-o' needs a value: -o FILE");
  EXPECT_EQ(refused({"--info=yes", "a.clbin"}), "option '--info' accepts no value");
  EXPECT_EQ(refused({"-j0", "a.cl"}), "'-j' requires a number from 1 to 1024, not '0'");
  EXPECT_EQ(refused({"-j", "two", "a.cl"}), "'-j' requires a number from 1 to 1024, not 'two'");
  for (const std::string size : {"", "0", "M", "1", "1MM", "1X", "-1M", "1 M", "99999999999T"}) {
    EXPECT_THAT(refused({"--memory-limit=" + size, "a.cl"}), ::testing::HasSubstr("--memory-limit"))
        << size;
  }
  EXPECT_EQ(refused({"--memory-limit", "12", "a.cl"}),
            "'--memory-limit' accepts none or a size of at least 1M, such as 512M or 4G, not '12'");
  EXPECT_EQ(refused({"--timeout", "-5", "a.cl"}),
            "'--timeout' requires a number from 1 to 86400, not '-5'");
  EXPECT_EQ(refused({"--program", "a.cl"}), "'--program' requires NAME=FILE, not 'a.cl'");
  EXPECT_EQ(refused({"--program", "a="}), "'--program a=' names no file");
  EXPECT_EQ(refused({"--variant", "-DX", "a.cl"}),
            "'--variant' requires NAME='OPTIONS', not '-DX'");
}

TEST(CommandLine, RefusesVariantsWithOtherThanDriverOptions) {
  EXPECT_EQ(refused({"a.cl", "--variant", "v=-Dx y.cl"}),
            "variant 'v': 'y.cl' is not one of -D, -U, -cl-*, -g, -O*, -w and -Werror");
  EXPECT_EQ(refused({"a.cl", "--variant", "v=-Ix"}),
            "variant 'v': '-I' is not one of -D, -U, -cl-*, -g, -O*, -w and -Werror");
  EXPECT_EQ(refused({"a.cl", "--variant", "v=-Og"}), "variant 'v': unrecognized option '-Og'");
  EXPECT_EQ(refused({"a.cl", "--variant", "v=-w", "--variant", "v="}),
            "variant 'v' is given twice");
}

TEST(CommandLine, RefusesWhatDoesNotGoTogether) {
  EXPECT_EQ(refused({}), "no input file; 'oclcc --help' lists the common options");
  EXPECT_EQ(refused({"--verify", "k.clbin", "-j2"}), "'-j' needs '--run'");
  EXPECT_EQ(refused({"--info"}), "'--info' needs a bundle");
  EXPECT_EQ(refused({"--list-devices", "a.cl"}),
            "'--list-devices' accepts no input file, but 'a.cl' is given");
  EXPECT_EQ(refused({"--info", "--list-devices"}),
            "'--info' and '--list-devices' cannot be used together");
  EXPECT_THAT(refused({"--json", "a.cl"}),
              HasSubstr("'--json' needs '--info', '--list-devices', "));
  EXPECT_EQ(refused({"--info", "a.clbin", "-o", "x"}), "'-o' cannot be used with '--info'");
  EXPECT_EQ(refused({"--info", "a.clbin", "-DX"}), "'-D' cannot be used with '--info'");
  EXPECT_EQ(refused({"-", "-"}), "standard input ('-') is given more than once");
  EXPECT_EQ(refused({""}), "an input file has an empty name");
}

TEST(CommandLine, TakesWhatVariantsRequire) {
  EXPECT_THAT(parsed({"a.cl", "--requires", "h=cl_b,cl_a", "--variant", "h=", "--requires=h=cl_c",
                      "--variant=i="})
                  .requirements,
              ElementsAre(testing::Pair("h", ElementsAre("cl_a", "cl_b", "cl_c"))));
  const Options options = parsed({"a.cl", "--variant", "h=-DH", "--requires", "h=b,a"});
  EXPECT_THAT(variant_words(options, options.variants.front()),
              ElementsAre("--variant", "h=-DH", "--requires", "h=a,b"));
  EXPECT_EQ(refused({"a.cl", "--variant", "h=", "--requires", "i=cl_a"}),
            "'--requires i=cl_a': there is no '--variant i'");
  EXPECT_EQ(refused({"a.cl", "--requires", "cl_a"}),
            "'--requires' requires VARIANT=NAME[,NAME]..., not 'cl_a'");
  for (const auto& [value, name] :
       {std::pair("h=", ""), {"h=a,", ""}, {"h=,a", ""}, {"h=a b", "a b"}, {"h=+a", "+a"}}) {
    EXPECT_EQ(refused({"a.cl", "--variant", "h=", "--requires", value}),
              fmt::format("'--requires {}': '{}' is not the name of an extension", value, name));
  }
}

TEST(CommandLine, RefusesOptionalProgramsThatAreNone) {
  EXPECT_THAT(
      parsed({"a.cl", "--program", "p=b.cl", "--optional", "p", "--optional=a"}).optional_programs,
      ElementsAre("p", "a"));
  const Options options = parsed({"a.cl", "--optional", "b"});
  const auto one = check_optional_programs(options, {"a"});
  ASSERT_FALSE(one);
  EXPECT_EQ(one.error().code, clbin::base::ErrorCode::invalid_argument);
  EXPECT_EQ(one.error().message, "'--optional b': there is no program 'b'; there is 'a'");
  const auto two = check_optional_programs(options, {"a", "p"});
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().message, "'--optional b': there is no program 'b'; there are 'a', 'p'");
  EXPECT_TRUE(check_optional_programs(options, {"a", "b"}));
  EXPECT_EQ(refused({"a.cl", "--optional", "a", "--no-source"}),
            "'--optional' keeps the source of 'a', and '--no-source' drops it; use '--strip "
            "--strip-source' on the bundle to ship only what compiled");
}

TEST(ProgramNames, AreRefusedWhereTwoAreOne) {
  const auto checked = check_program_names(parsed({"a/k.cl", "b/k.cl"}).inputs);
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().code, clbin::base::ErrorCode::invalid_argument);
  EXPECT_EQ(checked.error().message,
            "'a/k.cl' and 'b/k.cl' would both be program 'k'; name one of them with "
            "'--program NAME=FILE'");
  EXPECT_THAT(programs(parsed({"a/k.cl", "--program", "k2=b/k.cl"})),
              testing::UnorderedElementsAre("k=a/k.cl", "k2=b/k.cl"));
}

class ResponseFile : public testing::Test {
protected:
  void SetUp() override {
    m_folder = std::filesystem::path(testing::TempDir()) /
               ("response_file_test_" + std::to_string(getpid()));
    std::filesystem::create_directories(m_folder);
  }
  void TearDown() override { std::filesystem::remove_all(m_folder); }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(m_folder / name) << text;
    return "@" + (m_folder / name).string();
  }
  std::filesystem::path m_folder;
};

TEST_F(ResponseFile, StandsForItsWords) {
  const std::string file = write("a", "-DX='1 2'\n\"b c.cl\"  -DY=\\\"q\\\"\n");
  const Options options = parsed({file, "a.cl"});
  EXPECT_THAT(options.driver_options, ElementsAre("-DX=1 2", "-DY=\"q\""));
  EXPECT_THAT(programs(options), ElementsAre("b c=b c.cl", "a=a.cl"));
}

TEST_F(ResponseFile, MayNameAnother) {
  const std::string inner = write("inner", "-DX");
  EXPECT_THAT(parsed({write("outer", inner), "a.cl"}).driver_options, ElementsAre("-DX"));
}

TEST_F(ResponseFile, MayNotNameItself) {
  const std::string file = "@" + (m_folder / "self").string();
  write("self", file);
  EXPECT_EQ(refused({file}), "response files are nested more than 16 deep at '" + file + "'");
}

TEST_F(ResponseFile, MayNotHoldAZeroByte) {
  const std::string file = write("zero", std::string("a.cl\0b.cl", 9));
  EXPECT_EQ(refused({file}), "'" + file.substr(1) + "' is not text: it contains a zero byte");
}

TEST_F(ResponseFile, MayNotMultiplyWithoutBound) {
  // Files without a word, which are neither nested too deeply nor too large.
  std::string next = write("empty", "");
  std::string multiplied = next;
  for (int level = 0; level < 14; ++level) {
    const std::string name = std::to_string(level);
    multiplied = write(name, multiplied + " " + multiplied + " " + multiplied + " " + multiplied);
  }
  EXPECT_EQ(refused({multiplied}),
            "more than 1000 response files are read: the next one is '" + next + "'");
}

TEST_F(ResponseFile, MayNotHoldTooManyWords) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) {
    text += "x.cl\n";
  }
  const std::string file = write("words", text);
  EXPECT_EQ(refused(std::vector<std::string>(11, file)),
            "response files expand to more than 1000000 words");
}

TEST_F(ResponseFile, MustExist) {
  const auto result = parse_command_line({"@/no/such/file"});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::file_not_found);
  EXPECT_EQ(result.error().message, "cannot open '/no/such/file': No such file or directory");
}

TEST(Options, RefuseHelpOfAnotherExtent) {
  EXPECT_EQ(refused({"--help=unknown"}), "'--help' accepts common or all, not 'unknown'");
  EXPECT_EQ(refused({"--help="}), "option '--help' needs a value: --help all");
}

TEST(HelpText, NamesEveryOption) {
  const std::string text = help_text(HelpExtent::all);
  for (const std::string& spelling : option_spellings()) {
    EXPECT_THAT(text, testing::AnyOf(HasSubstr("    " + spelling), HasSubstr(", " + spelling)));
  }
}

TEST(HelpText, FitsInEightyColumns) {
  for (const HelpExtent extent : {HelpExtent::common, HelpExtent::all}) {
    std::istringstream lines(help_text(extent));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 80U) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
  }
}

TEST(HelpText, SaysThatTheSourceIsShipped) {
  EXPECT_THAT(help_text(HelpExtent::all),
              testing::ContainsRegex("source and every header it includes are[ \n]+shipped"));
}

TEST(HelpText, BeginsWithKnownOptionsInFewLines) {
  const std::vector<std::string> spellings = option_spellings();
  const std::string text = help_text(HelpExtent::common);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 18);
  std::istringstream lines(text);
  unsigned option_count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("    -")) {
      ++option_count;
      const std::string option = line.substr(4, line.find_first_of(" =*", 4) - 4);
      EXPECT_THAT(spellings, testing::Contains(option));
    }
  }
  EXPECT_GE(option_count, 8U);
  EXPECT_THAT(text, HasSubstr("--help=all"));
}

TEST(VersionText, NamesWhatOclccIsBuiltFromAndWith) {
  EXPECT_THAT(version_text(),
              testing::MatchesRegex("oclcc [0-9.]+\nzstd [0-9.]+\nlibsodium [0-9.]+\n"
                                    "lz4 [0-9.]+\nzlib [0-9.]+\n"
                                    "format 1[.]3\ncompiler [A-Za-z]+ [0-9.]+\nbuild [A-Za-z]+\n"
                                    "(sanitizers [a-z,]+\n)?(revision [0-9a-f]{12}\n)?"));
}

std::vector<std::string> variants_of(const std::string& space) {
  std::vector<std::string> texts;
  for (const Variant& variant : parsed({"a.cl", "--variants", space}).variants) {
    texts.push_back(fmt::format("{}: {}", variant.name, fmt::join(variant.options, " ")));
  }
  return texts;
}

TEST(VariantSpace, CombinesTheValuesOfMacrosInOrder) {
  EXPECT_THAT(variants_of("TILE=16,32 T=float4,int"),
              ElementsAre("TILE16_Tfloat4: -DTILE=16 -DT=float4", "TILE16_Tint: -DTILE=16 -DT=int",
                          "TILE32_Tfloat4: -DTILE=32 -DT=float4",
                          "TILE32_Tint: -DTILE=32 -DT=int"));
  EXPECT_THAT(variants_of("  N=1 "), ElementsAre("N1: -DN=1"));
}

TEST(VariantSpace, KeepsTheCombinationsThatMeetTheCondition) {
  EXPECT_THAT(variants_of("A=1,2,3 B=2,3 if A<B and A*B!=3"),
              ElementsAre("A1_B2: -DA=1 -DB=2", "A2_B3: -DA=2 -DB=3"));
  EXPECT_THAT(variants_of("A=1,2,3 if 2 <= A"), ElementsAre("A2: -DA=2", "A3: -DA=3"));
  EXPECT_THAT(variants_of("A=1,2,3 if A > 2"), ElementsAre("A3: -DA=3"));
  EXPECT_THAT(variants_of("A=3,4 if ceil(A/2)*2==A"), ElementsAre("A4: -DA=4"));
}

TEST(VariantSpace, IsAddedToTheOtherVariants) {
  const Options options =
      parsed({"a.cl", "--variant", "v=-w", "--variants", "A=1", "--variants=B=2"});
  ASSERT_EQ(options.variants.size(), 3U);
  EXPECT_EQ(options.variants[2].name, "B2");
  EXPECT_EQ(refused({"a.cl", "--variant", "A1=", "--variants", "A=1"}),
            "variant 'A1' is given twice");
}

TEST(VariantSpace, NamesWhatIsWrongWithIt) {
  const auto refusal = [](const std::string& space) {
    const std::string message = refused({"a.cl", "--variants", space});
    const std::string place = "--variants '" + space + "': ";
    EXPECT_TRUE(message.starts_with(place)) << message;
    return message.substr(std::min(place.size(), message.size()));
  };
  const std::string form = " is not MACRO=VALUE[,VALUE]..., of letters, digits and '_'";
  EXPECT_EQ(refusal(" "), "it names no macro");
  for (const std::string word : {"A", "A=", "=1", "A=1,", "1A=1", "A=1;2", "A=-1", "A=b=c"}) {
    EXPECT_EQ(refusal(word), "'" + word + "'" + form);
  }
  EXPECT_EQ(refusal("A=1 A=2"), "'A' is given twice");
  EXPECT_EQ(refusal("A=1,2 if A>2"), "no combination meets its condition");
  EXPECT_EQ(refusal("A=1,1"), "a value of 'A' is given twice");
  EXPECT_EQ(refusal("A=1 if A"), "one of <= >= == != < > is missing behind 'A'");
  EXPECT_EQ(refusal("A=1 if A<2 or A>3"), "'or A>3' follows a condition");
  EXPECT_EQ(refusal("A=1 if A<2 and "), "a number or a name is missing before ''");
  EXPECT_EQ(refusal("A=1 if A/2<2"), "variant 'A1': 'A/2' is 1/2, which is not a whole number");
  EXPECT_EQ(refusal("A=1 if B<2"),
            "variant 'A1': 'B': 'B' has no value, and no default such as B?16");
  std::string many = "1";
  for (int i = 2; i <= 1001; ++i) {
    many += "," + std::to_string(i);
  }
  EXPECT_THAT(refused({"a.cl", "--variants", "A=" + many}),
              HasSubstr("...': more than 1000 variants meet its condition"));
  EXPECT_THAT(refused({"a.cl", "--variants", "A=" + many + " B=" + many}),
              HasSubstr("...': it has more than 100000 combinations"));
  EXPECT_THAT(variants_of("A=" + many + " if A!=7"), SizeIs(1000));
}

format::GroupSize size_of(const std::string& text) {
  const auto parsed = parse_specialization("k=" + text);
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed ? parsed->size : format::GroupSize{};
}

TEST(Specialization, TakesOneToThreeSizes) {
  EXPECT_EQ(size_of("64"), (format::GroupSize{64, 1, 1}));
  EXPECT_EQ(size_of("16x8"), (format::GroupSize{16, 8, 1}));
  EXPECT_EQ(size_of("8x4x2"), (format::GroupSize{8, 4, 2}));
  EXPECT_EQ(size_of("65536"), (format::GroupSize{65536, 1, 1}));
}

TEST(Specialization, KeepsTheNameOfTheKernel) {
  EXPECT_EQ(parse_specialization("matmul_2=16x16")->kernel, "matmul_2");
}

TEST(Specialization, RefusesWhatIsNoSize) {
  for (const std::string text : {"k", "=16", "k=", "k=0", "k=16x", "k=x16", "k=16x16x1x1", "k=-1",
                                 "k=16X16", "k=16 x16", "k=65537", "k=99999999999999999999"}) {
    const auto parsed = parse_specialization(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, clbin::base::ErrorCode::invalid_argument);
    EXPECT_EQ(parsed.error().message,
              "'--specialize' requires KERNEL=SIZE, such as matmul=16x16 or scale=64, with one to "
              "three numbers from 1 to 65536; not '" +
                  text + "'");
  }
}

TEST(Specialization, IsKeptOnceAndInOrderHoweverItIsGiven) {
  std::vector<Specialization> all;
  add_specialization(all, {"b", {1, 1, 1}});
  add_specialization(all, {"a", {16, 1, 1}});
  add_specialization(all, {"a", {8, 1, 1}});
  add_specialization(all, {"b", {1, 1, 1}});
  EXPECT_THAT(all, ElementsAre(Specialization{"a", {8, 1, 1}}, Specialization{"a", {16, 1, 1}},
                               Specialization{"b", {1, 1, 1}}));
}

} // namespace
} // namespace oclcc
