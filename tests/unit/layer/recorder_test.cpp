#include "layer/recorder.hpp"

#include "base/file_io.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "support/texts.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace clbin::layer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Recording : ::testing::Test {
  [[nodiscard]] std::vector<std::string> file_names() const {
    std::vector<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
      names.push_back(file.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  [[nodiscard]] std::string text_of(const std::string& name) const {
    return test::file_text(folder.path() / name);
  }

  base::TemporaryFolder folder = base::TemporaryFolder::create({}, "clbin-recorder").value();
  LayerLog log{folder.path() / "log"};
  Recorder recorder{folder.path(), log};
};

RecordedBuild sample_build() {
  RecordedBuild build;
  build.program.name = "0123";
  build.program.variants.push_back({"default", "-DA=1"});
  build.program.source = format::SourcePackage{{"0123.cl", "0123.cl", "kernel void k() {}"}, {}};
  return build;
}

TEST_F(Recording, WritesOneWholeBundleForEachBuild) {
  recorder.record(sample_build());
  recorder.record(sample_build());
  const std::string start = fmt::format("0123-default-{}-", ::getpid());
  EXPECT_THAT(file_names(), ElementsAre(start + "0.clbin", start + "1.clbin", "log"));
  const auto source = base::open_file_source(folder.path() / (start + "0.clbin"));
  ASSERT_TRUE(source.has_value());
  const auto bundle = format::BundleReader::open(*source, {}, format::TrailingBytes::refuse);
  ASSERT_TRUE(bundle.has_value()) << bundle.error().message;
  const auto group = bundle->find_group("0123", "default");
  ASSERT_TRUE(group.has_value()) << group.error().message;
  EXPECT_EQ(group->options, "-DA=1");
  EXPECT_THAT(text_of("log"), HasSubstr("recorded " + start + "0.clbin"));
}

TEST_F(Recording, WritesEachLaunchOnce) {
  const format::RecordedLaunch chosen{"default", "k", 2, {16, 8, 1}};
  const format::RecordedLaunch free_choice{"default", "k", 3, {}};
  recorder.record("0123", chosen);
  recorder.record("0123", free_choice);
  recorder.record("0123", chosen);
  recorder.record("0123", {"default", "k", 2, {16, 8, 1}, true});
  EXPECT_EQ(text_of(fmt::format("launches-{}.log", ::getpid())),
            "0123 default k 2 16 8 1\n0123 default k 3 0 0 0\n0123 default k 2 16 8 1 offset\n");
}

TEST_F(Recording, WritesNoLaunchOfAKernelWhoseNameContainsALineFeed) {
  recorder.record("0123", {"default", "k 1 0 0 0\n0456 default l", 1, {}});
  EXPECT_THAT(file_names(), ElementsAre("log"));
  EXPECT_THAT(text_of("log"), HasSubstr("not recorded: launches of a kernel whose name contains"));
}

TEST_F(Recording, DoesNotFollowALinkThatSomebodyHasPlanted) {
  const auto victim = folder.path() / "victim";
  std::ofstream(victim) << "untouched";
  const std::string name = fmt::format("launches-{}.log", ::getpid());
  std::filesystem::create_symlink(victim, folder.path() / name);
  recorder.record("0123", {"default", "k", 1, {}});
  EXPECT_EQ(text_of("victim"), "untouched");
  EXPECT_THAT(text_of("log"), HasSubstr("not recorded: cannot write '"));
  EXPECT_THAT(text_of("log"), HasSubstr(name + "': Too many levels of symbolic links"));
}

TEST_F(Recording, LogsThatTheDirectoryIsGone) {
  Recorder lost(folder.path() / "gone", log);
  lost.record(sample_build());
  lost.record("0123", {"default", "k", 1, {}});
  EXPECT_THAT(text_of("log"), HasSubstr("not recorded: cannot write"));
  EXPECT_THAT(text_of("log"), HasSubstr("No such file or directory"));
}

} // namespace
} // namespace clbin::layer
