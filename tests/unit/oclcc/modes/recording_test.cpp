// What oclcc --record makes of the files that the layer wrote: the log of launches, and bundles.
#include "modes/recording.hpp"

#include "base/file_io.hpp"
#include "format/bundle/bundle_writer.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

namespace format = clbin::format;
using clbin::base::Bytes;
using clbin::base::ErrorCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

format::RecordedLaunch launch_of(const std::string& line) {
  const auto logged = parse_launch(line);
  EXPECT_TRUE(logged.has_value()) << line;
  return logged.has_value() ? logged->launch : format::RecordedLaunch();
}

TEST(ParseLaunch, ReadsWhatTheLayerWrites) {
  const auto logged = parse_launch("0123 default scale 2 16 8 1");
  ASSERT_TRUE(logged.has_value());
  EXPECT_EQ(logged->program, "0123");
  EXPECT_EQ(logged->launch, (format::RecordedLaunch{"default", "scale", 2, {16, 8, 1}}));
}

TEST(ParseLaunch, ReadsASizeThatTheDriverChose) {
  EXPECT_EQ(launch_of("0123 default scale 3 0 0 0"),
            (format::RecordedLaunch{"default", "scale", 3, {0, 0, 0}}));
}

TEST(ParseLaunch, ReadsThatALaunchHasAnOffset) {
  EXPECT_EQ(launch_of("0123 default my offset 2 16 8 1 offset"),
            (format::RecordedLaunch{"default", "my offset", 2, {16, 8, 1}, true}));
}

// The names of entry points in IL are any text.
TEST(ParseLaunch, ReadsKernelsWhoseNamesContainSpaces) {
  EXPECT_EQ(launch_of("0123 default my kernel 1 64 1 1").kernel, "my kernel");
  EXPECT_EQ(launch_of("0123 default two  spaces 1 64 1 1").kernel, "two  spaces");
  EXPECT_EQ(launch_of("0123 default  padded  1 64 1 1").kernel, " padded ");
  EXPECT_EQ(launch_of("0123 default 1 2 3 1 64 1 1").kernel, "1 2 3");
  EXPECT_EQ(launch_of("0123 default scale 4 32 1 2 64 8 1"),
            (format::RecordedLaunch{"default", "scale 4 32 1", 2, {64, 8, 1}}));
}

TEST(ParseLaunch, RejectsEveryTruncationOfALine) {
  const std::string line = "0123 default scale 1 64 1 1";
  for (std::size_t length = 0; length < line.size(); ++length) {
    EXPECT_FALSE(parse_launch(line.substr(0, length)).has_value()) << length;
  }
}

TEST(ParseLaunch, RejectsLinesThatTheLayerDoesNotWrite) {
  for (const char* line : {"",
                           " ",
                           "       ",
                           "0123 default  1 64 1 1",
                           " default scale 1 64 1 1",
                           "0123  scale 1 64 1 1",
                           "0123 default scale 0 64 1 1",
                           "0123 default scale 4 64 1 1",
                           "0123 default scale 2 64 0 1",
                           "0123 default scale 1 -64 1 1",
                           "0123 default scale 1 +64 1 1",
                           "0123 default scale 1 0x40 1 1",
                           "0123 default scale 1 64 1 1 ",
                           "0123 default scale 1 64 1 one",
                           "0123 default scale 1  64 1 1",
                           "0123 default scale 1 99999999999999999999 1 1",
                           "0123 default scale 1.0 64 1 1",
                           "0123 default scale 1 64 1 1\r",
                           "0123 default scale 1 64 1 1 Offset",
                           "0123 default scale 1 64 1 1  offset",
                           "0123 default scale 1 64 1 1 offset ",
                           "0123 default scale 1 64 1 1 offset offset"}) {
    EXPECT_FALSE(parse_launch(line).has_value()) << line;
  }
  EXPECT_FALSE(parse_launch(std::string("0123 default sc\0ale 1 64 1 1", 28)).has_value());
  EXPECT_FALSE(parse_launch("0123 default sc\nale 1 64 1 1").has_value());
}

TEST(ParseLaunch, RejectsALineThatIsTooLong) {
  const auto line_of = [](std::size_t bytes) {
    const std::string rest = " 1 64 1 1";
    std::string line = "0123 default ";
    return line + std::string(bytes - line.size() - rest.size(), 'k') + rest;
  };
  EXPECT_TRUE(parse_launch(line_of(8192)).has_value());
  EXPECT_FALSE(parse_launch(line_of(8193)).has_value());
  EXPECT_FALSE(parse_launch(std::string(1 << 20, ' ')).has_value());
}

class RecordingTest : public ::testing::Test {
protected:
  void write_program(const std::string& file, const std::string& program, const std::string& text,
                     const std::string& options) const {
    format::BundleInput input;
    input.producer = "recording_test";
    format::ProgramInput& added = input.programs.emplace_back();
    added.name = program;
    added.source = format::SourcePackage{{program, program, text}, {}};
    added.variants.push_back({"default", options});
    const auto bytes = format::write_bundle(input, {});
    ASSERT_TRUE(bytes.has_value()) << bytes.error().message;
    ASSERT_TRUE(clbin::base::write_output_file(folder.path() / file, *bytes).has_value());
  }

  void write_text(const std::string& file, const std::string& text) const {
    std::ofstream(folder.path() / file) << text;
  }

  // Returns what is printed on standard error.
  std::string add_folder(SourcePolicy source = SourcePolicy::keep) {
    Reporter reporter(ColorMode::never, Verbosity::normal);
    testing::internal::CaptureStderr();
    recording.add_folder(folder.path(), source, reporter);
    return testing::internal::GetCapturedStderr();
  }

  clbin::base::TemporaryFolder folder =
      clbin::base::TemporaryFolder::create({}, "clbin-recording").value();
  Recording recording{clbin::base::SpillFile::create().value()};
};

TEST_F(RecordingTest, UnitesProgramsAndTheirLaunches) {
  write_program("a-default-1-0.clbin", "a", "kernel void k() {}", "-DA");
  write_program("a-default-2-0.clbin", "a", "kernel void k() {}", "-DA");
  write_program("b-default-1-1.clbin", "b", "kernel void l() {}", "");
  write_text("launches-1.log", "a default k 1 64 1 1\nb default l 2 0 0 0\n");
  write_text("launches-2.log", "a default my kernel 1 8 1 1\na default k 1 64 1 1 offset\n");
  EXPECT_EQ(add_folder(), "");
  EXPECT_EQ(recording.program_count(), 2U);
  const format::BundleInput all = recording.take();
  ASSERT_EQ(all.programs.size(), 2U);
  EXPECT_EQ(all.programs[0].name, "a");
  EXPECT_EQ(all.programs[0].variants.size(), 1U);
  EXPECT_THAT(all.programs[0].launches,
              ElementsAre(format::RecordedLaunch{"default", "k", 1, {64, 1, 1}},
                          format::RecordedLaunch{"default", "my kernel", 1, {8, 1, 1}},
                          format::RecordedLaunch{"default", "k", 1, {64, 1, 1}, true}));
  EXPECT_THAT(all.programs[1].launches,
              ElementsAre(format::RecordedLaunch{"default", "l", 2, {0, 0, 0}}));
  const auto bytes = format::write_bundle(all, {});
  EXPECT_TRUE(bytes.has_value()) << bytes.error().message;
}

TEST_F(RecordingTest, KeepsTheWholeLinesOfALogThatWasCut) {
  write_program("a-default-1-0.clbin", "a", "kernel void k() {}", "");
  write_text("launches-1.log", "a default k 1 64 1 1\na default k 1 12");
  EXPECT_EQ(add_folder(), "oclcc: warning: 1 line of 'launches-1.log' is skipped: it is no launch "
                          "of a recorded program\n");
  EXPECT_EQ(recording.take().programs[0].launches.size(), 1U);
}

// A cut behind a complete number would change the size.
TEST_F(RecordingTest, SkipsALastLineWithoutAnEndAlthoughItCanBeRead) {
  write_program("a-default-1-0.clbin", "a", "kernel void k() {}", "");
  write_text("launches-1.log", "a default k 3 1 1 1");
  EXPECT_THAT(add_folder(), HasSubstr("1 line of 'launches-1.log' is skipped"));
  EXPECT_TRUE(recording.take().programs[0].launches.empty());
}

TEST_F(RecordingTest, SkipsLaunchesOfProgramsAndVariantsThatAreNotRecorded) {
  write_program("a-default-1-0.clbin", "a", "kernel void k() {}", "");
  write_text("launches-1.log", "other default k 1 64 1 1\na other k 1 64 1 1\n\n");
  EXPECT_EQ(add_folder(), "oclcc: warning: 3 lines of 'launches-1.log' are skipped: they are no "
                          "launch of a recorded program\n");
  EXPECT_TRUE(recording.take().programs[0].launches.empty());
}

TEST_F(RecordingTest, SkipsFilesThatAreNoRecording) {
  write_program("a-default-1-0.clbin", "a", "kernel void k() {}", "");
  write_text("damaged.clbin", "damaged");
  write_text(".a-default-1-1.clbin.tmp", "half");
  std::filesystem::create_symlink("/etc/passwd", folder.path() / "launches-9.log");
  const std::string printed = add_folder();
  EXPECT_THAT(printed, HasSubstr("the recorded file 'damaged.clbin' is skipped: "));
  EXPECT_THAT(printed, HasSubstr("the recorded file '.a-default-1-1.clbin.tmp' is skipped: it is "
                                 "incomplete, or not a recording"));
  EXPECT_THAT(printed, HasSubstr("the recorded file 'launches-9.log' is skipped: it is not a "
                                 "regular file"));
  EXPECT_EQ(recording.program_count(), 1U);
}

TEST_F(RecordingTest, SkipsAProgramWhoseSourceOrOptionsDiffer) {
  write_program("a-default-1-0.clbin", "a", "kernel void k() {}", "-DA");
  write_program("b-options.clbin", "a", "kernel void k() {}", "-DB");
  write_program("c-source.clbin", "a", "kernel void other() {}", "-DA");
  const std::string printed = add_folder();
  EXPECT_THAT(printed,
              HasSubstr("the recorded file 'b-options.clbin' is skipped: program 'a', variant "
                        "'default' was recorded with options '-DA', not '-DB'"));
  EXPECT_THAT(printed, HasSubstr("the recorded file 'c-source.clbin' is skipped: "));
  const format::BundleInput all = recording.take();
  ASSERT_EQ(all.programs.size(), 1U);
  EXPECT_EQ(all.programs[0].source->main.text, "kernel void k() {}");
}

TEST_F(RecordingTest, DropsTheSourceIfAsked) {
  write_program("a-default-1-0.clbin", "a", "kernel void k() {}", "");
  EXPECT_EQ(add_folder(SourcePolicy::drop), "");
  EXPECT_FALSE(recording.take().programs[0].source.has_value());
}

} // namespace
} // namespace oclcc
