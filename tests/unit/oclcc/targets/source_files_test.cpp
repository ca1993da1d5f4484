#include "targets/clang_front_end.hpp"

#include "base/file_io.hpp"

#include <gtest/gtest.h>

namespace oclcc::offline {
namespace {

std::string text_of(const std::filesystem::path& file) {
  const auto bytes = clbin::base::read_whole_file(file, 1U << 20U);
  return bytes ? std::string(clbin::base::as_text(*bytes)) : bytes.error().message;
}

class SourceFiles : public ::testing::Test {
protected:
  clbin::base::TemporaryFolder m_folder =
      clbin::base::TemporaryFolder::create({}, "oclcc-test-").value();
};

TEST_F(SourceFiles, HaveTheNamesOfIncludeLines) {
  clbin::format::SourcePackage source;
  source.main = {"k.cl", "src/k.cl", "main\n"};
  source.headers = {{"a.h", "inc/a.h", "a\n"}, {"x/y/b.h", "inc/x/y/b.h", "b\n"}};
  const auto written = write_source_files(source, m_folder.path());
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(text_of(m_folder.path() / "kernel.cl"), "main\n");
  EXPECT_EQ(text_of(m_folder.path() / "include/a.h"), "a\n");
  EXPECT_EQ(text_of(m_folder.path() / "include/x/y/b.h"), "b\n");
}

TEST_F(SourceFiles, StayInTheirFolder) {
  for (const std::string name : {"../a.h", "/tmp/a.h", "x/../../a.h"}) {
    clbin::format::SourcePackage source;
    source.headers = {{name, name, "a\n"}};
    const auto written = write_source_files(source, m_folder.path());
    ASSERT_FALSE(written) << name;
    EXPECT_EQ(written.error().code, clbin::base::ErrorCode::invalid_argument);
    EXPECT_EQ(written.error().message,
              "cannot write the header '" + name + "': its name is not a relative path");
  }
}

TEST_F(SourceFiles, CannotBeAFileAndAFolder) {
  clbin::format::SourcePackage source;
  source.headers = {{"a", "a", "a\n"}, {"a/b.h", "a/b.h", "b\n"}};
  const auto written = write_source_files(source, m_folder.path());
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, clbin::base::ErrorCode::file_write);
}

} // namespace
} // namespace oclcc::offline
