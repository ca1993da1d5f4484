#include "faults/cache_folder_check.hpp"

#include "base/file_io.hpp"
#include "format/bundle/bundle_reader.hpp"

#include <gtest/gtest.h>

namespace clbin::test {

namespace {

void expect_whole_entry(const std::filesystem::path& path) {
  const auto source = base::open_file_source(path);
  ASSERT_TRUE(source.has_value()) << source.error().message;
  const auto bundle = format::BundleReader::open(*source, {}, format::TrailingBytes::refuse);
  ASSERT_TRUE(bundle.has_value()) << path << ": " << bundle.error().message;
  const auto verified = bundle->verify();
  EXPECT_TRUE(verified.has_value()) << path << ": " << verified.error().message;
}

} // namespace

void expect_whole_cache(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder)) {
    return;
  }
  for (const auto& item : std::filesystem::recursive_directory_iterator(folder)) {
    EXPECT_NE(item.path().extension(), ".new") << item.path();
    if (item.path().extension() == ".clbin") {
      expect_whole_entry(item.path());
    }
  }
}

} // namespace clbin::test
