#include "units/content_digests.hpp"

#include "base/file_io.hpp"
#include "support/sample_elf.hpp"

#include <chrono>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace oclcc {
namespace {

using clbin::cache::CacheSettings;
using clbin::cache::CacheUse;
using clbin::test::elf_bytes;
using clbin::test::SampleElf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

class ContentDigestsTest : public ::testing::Test {
protected:
  ContentDigestsTest() {
    m_settings.use = CacheUse::on;
    m_settings.folder = m_folder.path() / "cache";
    // Files of this test have settled: they did not change within the last seconds.
    m_settings.now = [] { return std::chrono::system_clock::now() + std::chrono::hours(1); };
  }
  fs::path write(const std::string& name, const std::string& text) const {
    const fs::path path = m_folder.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  // Of another run.
  [[nodiscard]] std::optional<std::string> digest(const fs::path& path) const {
    return ContentDigests(m_settings).of(path);
  }
  [[nodiscard]] std::vector<fs::path> remembered() const {
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& file : fs::directory_iterator(m_settings.folder / "compilations", error)) {
      if (file.path().extension() == ".content") {
        files.push_back(file.path());
      }
    }
    return files;
  }

  clbin::base::TemporaryFolder m_folder =
      clbin::base::TemporaryFolder::create({}, "oclcc-content-test-").value();
  CacheSettings m_settings;
};

TEST_F(ContentDigestsTest, AreThoseOfTheBytes) {
  const auto file = write("a", "some bytes");
  EXPECT_EQ(digest(file),
            clbin::base::to_hex(clbin::base::digest_of(clbin::base::as_bytes("some bytes"))));
  EXPECT_EQ(digest(write("other/b", "some bytes")), digest(file));
}

TEST_F(ContentDigestsTest, OfADirectoryCoverItsFilesAndTheirNames) {
  write("one/a", "1");
  write("one/b", "2");
  write("other/b", "2");
  write("other/a", "1");
  const auto first = digest(m_folder.path() / "one");
  ASSERT_TRUE(first);
  EXPECT_EQ(digest(m_folder.path() / "other"), first);
  fs::rename(m_folder.path() / "other/a", m_folder.path() / "other/c");
  EXPECT_NE(digest(m_folder.path() / "other"), first);
}

TEST_F(ContentDigestsTest, AreRememberedForTheNextRun) {
  const auto file = write("a", "some bytes");
  const auto first = digest(file);
  ASSERT_EQ(remembered().size(), 1U);
  const auto kept = m_folder.path() / "kept";
  fs::create_hard_link(remembered()[0], kept);
  EXPECT_EQ(digest(file), first);
  EXPECT_TRUE(fs::equivalent(remembered()[0], kept)); // it was not written again
}

TEST_F(ContentDigestsTest, AreReadAgainIfWhatIsRememberedIsDamaged) {
  const auto file = write("a", "some bytes");
  const auto first = digest(file);
  ASSERT_EQ(remembered().size(), 1U);
  std::ofstream(remembered()[0], std::ios::binary) << std::string(96, 'x');
  EXPECT_EQ(digest(file), first);
  std::ofstream(remembered()[0], std::ios::binary) << "x";
  EXPECT_EQ(digest(file), first);
}

TEST_F(ContentDigestsTest, ChangeWithAFileOfTheSameSizeAndTime) {
  const auto file = write("a", "one");
  const auto time = fs::last_write_time(file);
  const auto first = digest(file);
  ASSERT_EQ(remembered().size(), 1U);
  write("a", "two");
  fs::last_write_time(file, time);
  EXPECT_NE(digest(file), first);
  fs::rename(write("b", "six"), file); // as a package manager does
  fs::last_write_time(file, time);
  EXPECT_NE(digest(file), first);
}

TEST_F(ContentDigestsTest, AreNotRememberedWhileTheFileMayStillChange) {
  m_settings.now = [] { return std::chrono::system_clock::now(); };
  EXPECT_TRUE(digest(write("a", "one")));
  EXPECT_TRUE(remembered().empty());
}

TEST_F(ContentDigestsTest, AreKnownWithoutACache) {
  const auto file = write("a", "one");
  const auto first = digest(file);
  m_settings = {};
  EXPECT_EQ(digest(file), first);
}

TEST_F(ContentDigestsTest, DoNotExistForWhatIsNoFile) {
  EXPECT_FALSE(digest(m_folder.path() / "absent"));
  const auto pipe = m_folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(digest(pipe)); // does not wait for a writer
}

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
