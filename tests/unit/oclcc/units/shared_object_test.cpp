#include "units/content_digests.hpp"

#include "base/file_io.hpp"
#include "support/sample_elf.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

using clbin::cache::CacheSettings;
using clbin::test::elf_bytes;
using clbin::test::SampleElf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SharedObjectTest : public ::testing::Test {
protected:
  void write(const std::string& bytes) const {
    std::ofstream(m_path, std::ios::binary | std::ios::trunc) << bytes;
  }
  [[nodiscard]] std::optional<std::string> identity_of(const std::string& bytes) const {
    write(bytes);
    ContentDigests digests{CacheSettings()};
    return library_identity(m_path, digests);
  }

  clbin::base::TemporaryFolder m_folder =
      clbin::base::TemporaryFolder::create({}, "oclcc-test-").value();
  std::filesystem::path m_path = m_folder.path() / "lib.so";
};

const SampleElf k_llvm{"libLLVM-15.so.1", {"libz.so.1", "libc.so.6"}, "\x01\xab"};

TEST_F(SharedObjectTest, HasTheNamesAndTheBuildIdOfItsFile) {
  write(elf_bytes(k_llvm));
  const auto object = read_shared_object(m_path);
  ASSERT_TRUE(object);
  EXPECT_EQ(object->name, "libLLVM-15.so.1");
  EXPECT_EQ(object->build_id, "01ab");
  EXPECT_THAT(object->needed, ElementsAre("libz.so.1", "libc.so.6"));
  EXPECT_EQ(object->size_bytes, elf_bytes(k_llvm).size());
}

TEST_F(SharedObjectTest, OfTheSystemIsRead) {
  const auto object = read_shared_object("/proc/self/exe");
  ASSERT_TRUE(object);
  EXPECT_THAT(object->needed, ::testing::Contains("libc.so.6"));
}

TEST_F(SharedObjectTest, MayHaveNoNames) {
  write(elf_bytes({"", {}, ""}));
  const auto object = read_shared_object(m_path);
  ASSERT_TRUE(object);
  EXPECT_EQ(object->name, "");
  EXPECT_EQ(object->build_id, "");
  EXPECT_THAT(object->needed, IsEmpty());
}

TEST_F(SharedObjectTest, IsNotReadFromOtherFiles) {
  EXPECT_FALSE(read_shared_object(m_path));
  EXPECT_FALSE(read_shared_object(m_folder.path()));
  for (const std::string& bytes :
       {std::string(), std::string("#!/bin/sh\n"), std::string(100, '\0')}) {
    write(bytes);
    EXPECT_FALSE(read_shared_object(m_path));
  }
}

TEST_F(SharedObjectTest, IsReadSafelyFromTruncatedAndDamagedFiles) {
  const std::string whole = elf_bytes(k_llvm);
  for (std::size_t size = 0; size < whole.size(); size += 3) {
    write(whole.substr(0, size));
    EXPECT_FALSE(read_shared_object(m_path)) << size;
  }
  for (std::size_t place = 0; place < whole.size(); place += 3) {
    std::string damaged = whole;
    damaged[place] = '\xff';
    write(damaged);
    if (const auto object = read_shared_object(m_path)) {
      EXPECT_LE(object->needed.size(), 3U) << place;
    }
  }
}

TEST_F(SharedObjectTest, IsIdentifiedByNameSizeAndBuildId) {
  const auto first = identity_of(elf_bytes(k_llvm));
  EXPECT_EQ(first, "libLLVM-15.so.1 " + std::to_string(elf_bytes(k_llvm).size()) + " 01ab");
  SampleElf other = k_llvm;
  other.build_id = "\x01\xac";
  EXPECT_NE(identity_of(elf_bytes(other)), first);
  other = k_llvm;
  other.contents = "x";
  EXPECT_NE(identity_of(elf_bytes(other)), first);
}

TEST_F(SharedObjectTest, IsIdentifiedByItsContentsIfItHasNoBuildId) {
  SampleElf without{"lib.so", {}, ""};
  without.contents = "one";
  const auto first = identity_of(elf_bytes(without));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->size(), 64U);
  without.contents = "two";
  EXPECT_NE(identity_of(elf_bytes(without)), first);
  EXPECT_EQ(identity_of("not ELF")->size(), 64U);
  std::filesystem::remove(m_path);
  ContentDigests digests{CacheSettings()};
  EXPECT_FALSE(library_identity(m_path, digests));
}

} // namespace
} // namespace oclcc
