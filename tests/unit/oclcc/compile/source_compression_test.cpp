#include "closure/include_closure.hpp"
#include "compile/compile_job.hpp"

#include "format/bundle/manifest.hpp"

#include <gtest/gtest.h>

namespace oclcc {
namespace {

using clbin::format::SourcePackage;

std::shared_ptr<const SourcePackage> source_of(const std::string& text) {
  return std::make_shared<const SourcePackage>(SourcePackage{
      {"k.cl", "/some/folder/k.cl", text}, {{"a.h", "/some/folder/a.h", "int a;\n"}}});
}

clbin::base::Digest digest_in_bundle(const SourcePackage& source) {
  return clbin::base::digest_of(
      clbin::format::encode_source_package(clbin::closure::without_paths(source)));
}

TEST(SourceCompression, CompressesEachSourceAsTheBundleContainsIt) {
  const auto first = source_of("kernel void a() {}\n");
  const auto second = source_of("kernel void b() {}\n");
  SourceCompression compression({first, nullptr, second});
  compression.start();
  const auto compressed = compression.finish();
  EXPECT_EQ(compressed->compression_level, clbin::format::WriteOptions().compression_level);
  EXPECT_EQ(compressed->frames.size(), 2U);
  EXPECT_TRUE(compressed->frames.contains(digest_in_bundle(*first)));
  EXPECT_TRUE(compressed->frames.contains(digest_in_bundle(*second)));
}

TEST(SourceCompression, LeavesLargeSourcesToTheWriter) {
  SourceCompression compression({source_of(std::string((256U << 10U) + 1, ' '))});
  compression.start();
  EXPECT_TRUE(compression.finish()->frames.empty());
}

TEST(SourceCompression, CompressesNothingUnlessItIsStarted) {
  SourceCompression compression({source_of("kernel void a() {}\n")});
  EXPECT_TRUE(compression.finish()->frames.empty());
}

} // namespace
} // namespace oclcc
