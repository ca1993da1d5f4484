#include "base/file_io.hpp"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <optional>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace clbin::base {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr std::uint64_t k_no_limit = ~std::uint64_t{0};

class FileIo : public testing::Test {
protected:
  void SetUp() override {
    auto folder = TemporaryFolder::create({}, "file_io_test-");
    ASSERT_TRUE(folder.has_value()) << folder.error().message;
    m_folder.emplace(std::move(*folder));
  }

  [[nodiscard]] fs::path path(const std::string& name) const { return m_folder->path() / name; }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& item : fs::directory_iterator(m_folder->path())) {
      found.push_back(item.path().filename().string());
    }
    return found;
  }

  std::optional<TemporaryFolder> m_folder;
};

void put(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string get(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777U;
}

void expect_error(const auto& result, ErrorCode code, const std::string& message) {
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, code);
  EXPECT_EQ(result.error().message, message);
}

// Runs `body` in a child, which exits with its result. Returns how the child ended.
int status_of_child(const auto& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(body());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

class Umask {
public:
  explicit Umask(mode_t mask) : m_before(::umask(mask)) {}
  ~Umask() { ::umask(m_before); }
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;

private:
  mode_t m_before;
};

TEST_F(FileIo, ReadsAWholeFile) {
  const std::string text(300000, 'x');
  put(path("a"), text);
  EXPECT_EQ(as_text(read_whole_file(path("a"), k_no_limit).value()), text);
  put(path("empty"), "");
  EXPECT_TRUE(read_whole_file(path("empty"), k_no_limit).value().empty());
}

TEST_F(FileIo, ReadsAFileWhoseSizeTheSystemDoesNotTell) {
  EXPECT_THAT(std::string(as_text(read_whole_file("/proc/self/status", k_no_limit).value())),
              HasSubstr("Name:"));
}

TEST_F(FileIo, ReadsUpToTheLimitAndNotBeyond) {
  put(path("a"), "12345");
  EXPECT_EQ(as_text(read_whole_file(path("a"), 5).value()), "12345");
  expect_error(read_whole_file(path("a"), 4), ErrorCode::limit_exceeded,
               fmt::format("'{}' is larger than the limit of 4 bytes", path("a").string()));
  fs::resize_file(path("a"), 1ULL << 40U);
  expect_error(
      read_whole_file(path("a"), 1ULL << 39U), ErrorCode::limit_exceeded,
      fmt::format("'{}' is larger than the limit of {} bytes", path("a").string(), 1ULL << 39U));
  expect_error(read_whole_file("/dev/zero", 100000), ErrorCode::limit_exceeded,
               "'/dev/zero' is larger than the limit of 100000 bytes");
  expect_error(read_whole_file("/dev/zero", 0), ErrorCode::limit_exceeded,
               "'/dev/zero' is larger than the limit of 0 bytes");
}

TEST_F(FileIo, NamesTheReasonForAFileThatCannotBeRead) {
  const std::string missing = path("x.cl").string();
  expect_error(read_whole_file(missing, k_no_limit), ErrorCode::file_not_found,
               fmt::format("cannot open '{}': No such file or directory", missing));
  expect_error(open_file_source(missing), ErrorCode::file_not_found,
               fmt::format("cannot open '{}': No such file or directory", missing));
  put(path("file"), "x");
  const std::string below_file = path("file/x.cl").string();
  expect_error(read_whole_file(below_file, k_no_limit), ErrorCode::file_not_found,
               fmt::format("cannot open '{}': Not a directory", below_file));
  const std::string folder = m_folder->path().string();
  expect_error(read_whole_file(folder, k_no_limit), ErrorCode::file_read,
               fmt::format("cannot read '{}': Is a directory", folder));
  expect_error(open_file_source(folder), ErrorCode::file_read,
               fmt::format("cannot read '{}': Is a directory", folder));
  fs::create_symlink("loop", path("loop"));
  expect_error(
      read_whole_file(path("loop"), k_no_limit), ErrorCode::file_read,
      fmt::format("cannot open '{}': Too many levels of symbolic links", path("loop").string()));
}

TEST_F(FileIo, ReadsAPipeInManySmallParts) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  std::thread writer([&] {
    std::ofstream stream(path("fifo"), std::ios::binary);
    for (int i = 0; i < 1000; ++i) {
      stream << std::string(200, static_cast<char>('a' + i % 26)) << std::flush;
    }
  });
  const auto bytes = read_whole_file(path("fifo"), k_no_limit);
  writer.join();
  ASSERT_TRUE(bytes.has_value()) << bytes.error().message;
  ASSERT_EQ(bytes->size(), 200000U);
  EXPECT_EQ(bytes->at(200), std::byte{'b'});
  EXPECT_EQ(bytes->back(), std::byte{'a' + 999 % 26});
}

TEST_F(FileIo, ReadsStandardInputThatDoesNotBlock) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_NONBLOCK), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(pipe[0], STDIN_FILENO);
    ::close(pipe[1]);
    const auto bytes = read_whole_file("-", k_no_limit);
    ::_exit(bytes.has_value() && as_text(*bytes) == "hello" ? 0 : 1);
  }
  ::usleep(20000); // the child then usually finds an empty pipe; the test is valid in both cases
  EXPECT_EQ(::write(pipe[1], "hello", 5), 5);
  ::close(pipe[0]);
  ::close(pipe[1]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(FileIo, FileSourceReadsRegionsOnly) {
  put(path("a"), "0123456789");
  const auto source = open_file_source(path("a")).value();
  EXPECT_EQ(source->size_bytes(), 10U);
  EXPECT_EQ(source->name(), path("a").string());
  EXPECT_EQ(as_text(source->read(3, 4, "x")->view()), "3456");
  EXPECT_EQ(as_text(source->read(0, 10, "x")->view()), "0123456789");
  EXPECT_TRUE(source->read(10, 0, "x")->view().empty());
  const std::string name = path("a").string();
  expect_error(source->read(9, 2, "page 3"), ErrorCode::truncated,
               fmt::format("'{}': page 3 at offset 9 needs 2 bytes of 10", name));
  EXPECT_FALSE(source->read(11, 0, "x").has_value());
  EXPECT_FALSE(source->read(1, k_no_limit, "x").has_value());
  EXPECT_FALSE(source->read(k_no_limit, 1, "x").has_value());
}

TEST_F(FileIo, FileSourceReadsBeyond4GiBOnEveryHost) {
  constexpr std::uint64_t k_5_gib = 5ULL << 30U;
  put(path("a"), "");
  fs::resize_file(path("a"), k_5_gib); // without allocating blocks
  std::ofstream file(path("a"), std::ios::in | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(k_5_gib - 3)).write("end", 3);
  file.close();
  const auto source = open_file_source(path("a")).value();
  EXPECT_EQ(source->size_bytes(), k_5_gib);
  EXPECT_EQ(as_text(source->read(k_5_gib - 3, 3, "x")->view()), "end");
}

TEST_F(FileIo, RegionOfAFileIsAPrivateCopy) {
  put(path("a"), "before");
  const auto source = open_file_source(path("a")).value();
  const auto region = source->read(0, 6, "x").value();
  put(path("a"), "after!");
  EXPECT_EQ(as_text(region.view()), "before");
}

TEST_F(FileIo, FileCutAfterOpeningIsAnError) {
  put(path("a"), "0123456789");
  const auto source = open_file_source(path("a")).value();
  fs::resize_file(path("a"), 5);
  EXPECT_EQ(as_text(source->read(0, 5, "x")->view()), "01234");
  expect_error(source->read(3, 4, "page 3"), ErrorCode::truncated,
               fmt::format("'{}': page 3 at offset 3: the file was truncated during the read",
                           path("a").string()));
}

TEST_F(FileIo, FileSourceRefusesAPipeWithoutWaiting) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  expect_error(open_file_source(path("fifo")), ErrorCode::file_read,
               fmt::format("cannot read '{}': not a regular file", path("fifo").string()));
  expect_error(open_file_source("/dev/null"), ErrorCode::file_read,
               "cannot read '/dev/null': not a regular file");
}

TEST(MemorySource, BorrowsAndChecks) {
  const std::string text = "0123456789";
  const auto source = memory_source(as_bytes(text));
  EXPECT_EQ(source->name(), "memory");
  EXPECT_EQ(source->size_bytes(), 10U);
  const auto region = source->read(2, 3, "x").value();
  EXPECT_EQ(static_cast<const void*>(region.view().data()), text.data() + 2);
  expect_error(source->read(8, 3, "entry 1"), ErrorCode::truncated,
               "memory: entry 1 at offset 8 needs 3 bytes of 10");
  EXPECT_FALSE(source->read(k_no_limit, 2, "x").has_value());
}

TEST(OwningSource, KeepsItsBytes) {
  const auto source = owning_source(Bytes(4, std::byte{'z'}), "cache entry");
  EXPECT_EQ(source->name(), "cache entry");
  EXPECT_EQ(as_text(source->read(0, 4, "x")->view()), "zzzz");
  EXPECT_EQ(owning_source({}, "nothing")->size_bytes(), 0U);
}

TEST(ByteRegion, OwnedBytesSurviveAMove) {
  ByteRegion first = ByteRegion::own(Bytes(3, std::byte{'a'}));
  const ByteRegion second = std::move(first);
  EXPECT_EQ(as_text(second.view()), "aaa");
}

TEST_F(FileIo, NewFileGetsTheModeOfTheUmask) {
  {
    const Umask umask(0027);
    ASSERT_TRUE(write_output_file(path("a"), as_bytes("text")).has_value());
  }
  EXPECT_EQ(get(path("a")), "text");
  EXPECT_EQ(mode_of(path("a")), 0640U);
  {
    const Umask umask(0);
    ASSERT_TRUE(write_output_file(path("b"), {}).has_value());
  }
  EXPECT_EQ(mode_of(path("b")), 0666U);
  EXPECT_EQ(fs::file_size(path("b")), 0U);
  EXPECT_THAT(names(), UnorderedElementsAre("a", "b"));
}

TEST_F(FileIo, ReplacedFileKeepsItsModeAndOtherLinksKeepTheirBytes) {
  put(path("a"), "old");
  ASSERT_EQ(::chmod(path("a").c_str(), 0751), 0);
  fs::create_hard_link(path("a"), path("other"));
  ASSERT_TRUE(write_output_file(path("a"), as_bytes("new")).has_value());
  EXPECT_EQ(get(path("a")), "new");
  EXPECT_EQ(mode_of(path("a")), 0751U);
  EXPECT_EQ(get(path("other")), "old") << "replaced by rename, not overwritten";
  EXPECT_THAT(names(), UnorderedElementsAre("a", "other"));
}

TEST_F(FileIo, ReplacedFileKeepsItsOwnerWhereThatIsAllowed) {
  put(path("a"), "old");
  if (::chown(path("a").c_str(), 12345, 23456) != 0) {
    GTEST_SKIP() << "this user cannot change the owner of files";
  }
  ASSERT_TRUE(write_output_file(path("a"), as_bytes("new")).has_value());
  struct stat status {};
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 12345U);
  EXPECT_EQ(status.st_gid, 23456U);
  EXPECT_EQ(get(path("a")), "new");
}

TEST_F(FileIo, WritesRelativeToTheWorkingFolder) {
  const int status = status_of_child([&] {
    fs::current_path(m_folder->path());
    return write_output_file("a.clbin", as_bytes("x")).has_value() ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(get(path("a.clbin")), "x");
}

TEST_F(FileIo, SymlinkStaysAndItsTargetIsReplaced) {
  fs::create_directory(path("real"));
  put(path("real/a"), "old");
  fs::create_symlink("real/a", path("link"));
  fs::create_symlink(path("link"), path("link to link"));
  ASSERT_TRUE(write_output_file(path("link to link"), as_bytes("new")).has_value());
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_TRUE(fs::is_symlink(path("link to link")));
  EXPECT_EQ(get(path("real/a")), "new");
  EXPECT_THAT(names(), UnorderedElementsAre("real", "link", "link to link"));
}

TEST_F(FileIo, SymlinkToNothingCreatesItsTarget) {
  fs::create_symlink("target", path("link"));
  ASSERT_TRUE(write_output_file(path("link"), as_bytes("new")).has_value());
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_FALSE(fs::is_symlink(path("target")));
  EXPECT_EQ(get(path("target")), "new");
}

TEST_F(FileIo, SymlinkLoopIsRefused) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink("a", path("b"));
  expect_error(
      write_output_file(path("a"), as_bytes("x")), ErrorCode::file_write,
      fmt::format("cannot write '{}': Too many levels of symbolic links", path("a").string()));
}

TEST_F(FileIo, PipeIsWrittenInPlace) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = get(path("fifo")); });
  const std::string text(200000, 'p');
  const auto result = write_output_file(path("fifo"), as_bytes(text));
  reader.join();
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(got, text);
  EXPECT_TRUE(fs::is_fifo(path("fifo")));
  EXPECT_THAT(names(), ElementsAre("fifo"));
}

TEST_F(FileIo, DeviceIsWrittenInPlaceAndAFullOneIsReported) {
  EXPECT_TRUE(write_output_file("/dev/null", as_bytes("x")).has_value());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  expect_error(write_output_file("/dev/full", as_bytes("x")), ErrorCode::file_write,
               "cannot write '/dev/full': No space left on device");
  fs::create_symlink("/dev/full", path("link"));
  expect_error(write_output_file(path("link"), as_bytes("x")), ErrorCode::file_write,
               fmt::format("cannot write '{}': No space left on device", path("link").string()));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

// Standard output is a file that already contains a line. Names of the stream append to it.
TEST_F(FileIo, StandardOutputIsWrittenWhereItStands) {
  for (const char* const name : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    put(path("out"), "");
    const int status = status_of_child([&] {
      const int file = ::open(path("out").c_str(), O_WRONLY);
      ::dup2(file, STDOUT_FILENO);
      const bool is_written = ::write(STDOUT_FILENO, "first ", 6) == 6;
      return is_written && write_output_file(name, as_bytes("second")).has_value() ? 0 : 1;
    });
    EXPECT_EQ(status, 0) << name;
    EXPECT_EQ(get(path("out")), "first second") << name;
  }
}

TEST_F(FileIo, SymlinkToStandardOutputIsWrittenWhereItStands) {
  fs::create_symlink("/dev/stdout", path("link"));
  put(path("out"), "");
  const int status = status_of_child([&] {
    ::dup2(::open(path("out").c_str(), O_WRONLY), STDOUT_FILENO);
    const bool is_written = ::write(STDOUT_FILENO, "first ", 6) == 6;
    return is_written && write_output_file(path("link"), as_bytes("second")).has_value() ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(get(path("out")), "first second");
}

// A link of /proc whose text ("pipe:[123]") is not a path.
TEST_F(FileIo, PipeOfAnotherProcessIsWrittenInPlace) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const std::string name = fmt::format("/proc/{}/fd/{}", ::getpid(), pipe[1]);
  const auto result = write_output_file(name, as_bytes("text"));
  ASSERT_TRUE(result.has_value()) << result.error().message;
  std::array<char, 8> got{};
  EXPECT_EQ(::read(pipe[0], got.data(), got.size()), 4);
  EXPECT_STREQ(got.data(), "text");
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST_F(FileIo, FileNamedAsStandardOutputCanBeReachedByAPath) {
  fs::create_symlink("-", path("link"));
  const int status = status_of_child([&] {
    fs::current_path(m_folder->path());
    const bool is_written = write_output_file("link", as_bytes("x")).has_value();
    return is_written && write_output_file("./-", as_bytes("y")).has_value() ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(get(path("-")), "y");
}

TEST_F(FileIo, FullStandardOutputIsReported) {
  const int status = status_of_child([] {
    ::dup2(::open("/dev/full", O_WRONLY), STDOUT_FILENO);
    const auto result = write_output_file("-", as_bytes("x"));
    const std::string expected = "cannot write standard output: No space left on device";
    return !result.has_value() && result.error().message == expected ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

TEST_F(FileIo, FolderAsOutputIsRefused) {
  for (const fs::path& name :
       {m_folder->path(), path(""), m_folder->path() / ".", path("not there/")}) {
    expect_error(write_output_file(name, as_bytes("x")), ErrorCode::file_write,
                 fmt::format("cannot write '{}': Is a directory", name.string()));
  }
  expect_error(write_output_file("", as_bytes("x")), ErrorCode::file_write,
               "cannot write '': No such file or directory");
  EXPECT_TRUE(names().empty());
}

TEST_F(FileIo, UnwritableOutputNamesTheReason) {
  put(path("file"), "x");
  const std::string below_file = path("file/out").string();
  expect_error(write_output_file(below_file, as_bytes("x")), ErrorCode::file_write,
               fmt::format("cannot write '{}': Not a directory", below_file));
  const std::string missing = path("no folder/out").string();
  expect_error(write_output_file(missing, as_bytes("x")), ErrorCode::file_write,
               fmt::format("cannot write '{}': No such file or directory", missing));
  const auto in_proc = write_output_file("/proc/out", as_bytes("x"));
  ASSERT_FALSE(in_proc.has_value());
  EXPECT_THAT(in_proc.error().message, HasSubstr("cannot write '/proc/out': "));
  EXPECT_THAT(names(), ElementsAre("file"));
}

// The system's limit on file sizes simulates a disk that fills up during the write.
TEST_F(FileIo, FailedWriteLeavesTheOldFileAndNothingElse) {
  put(path("a"), "old");
  const int status = status_of_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto result = write_output_file(path("a"), Bytes(100000));
    const std::string expected =
        fmt::format("cannot write '{}': File too large", path("a").string());
    return !result.has_value() && result.error().message == expected ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(get(path("a")), "old");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(FileIo, ProcessKilledWhileWritingLeavesTheOldFileAndNothingElse) {
  const int probe = ::open(m_folder->path().c_str(), O_TMPFILE | O_WRONLY, 0600);
  if (probe < 0) {
    GTEST_SKIP() << "this file system has no unnamed files (O_TMPFILE)";
  }
  ::close(probe);
  put(path("a"), "old");
  const int status = status_of_child([&] {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit); // SIGXFSZ ends the process during the write
    (void)write_output_file(path("a"), Bytes(100000));
    return 0;
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGXFSZ);
  EXPECT_EQ(get(path("a")), "old");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(FileIo, ManyWritersOfOneFileLeaveOneWholeFile) {
  std::vector<std::thread> writers;
  for (char letter = 'a'; letter < 'i'; ++letter) {
    writers.emplace_back([this, letter] {
      const std::string text(50000, letter);
      for (int i = 0; i < 20; ++i) {
        const auto result = write_output_file(path("out"), as_bytes(text));
        EXPECT_TRUE(result.has_value()) << result.error().message;
      }
    });
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  const std::string text = get(path("out"));
  ASSERT_EQ(text.size(), 50000U);
  EXPECT_EQ(text, std::string(50000, text.front()));
  EXPECT_THAT(names(), ElementsAre("out"));
}

TEST_F(FileIo, OutputFileIsWrittenInPartsAndAppearsAsOne) {
  auto file = OutputFile::open(path("out"));
  ASSERT_TRUE(file.has_value()) << file.error().message;
  ASSERT_TRUE(file->append(Bytes(2, std::byte{'a'})).has_value());
  EXPECT_FALSE(fs::exists(path("out")));
  ASSERT_TRUE(file->append(Bytes(2, std::byte{'b'})).has_value());
  ASSERT_TRUE(file->commit().has_value());
  EXPECT_EQ(get(path("out")), "aabb");
  EXPECT_THAT(names(), ElementsAre("out"));
}

TEST_F(FileIo, OutputFileThatIsNotCommittedLeavesTheOldOneAndNothingElse) {
  put(path("out"), "old");
  {
    auto file = OutputFile::open(path("out"));
    ASSERT_TRUE(file.has_value()) << file.error().message;
    ASSERT_TRUE(file->append(Bytes(100)).has_value());
  }
  EXPECT_EQ(get(path("out")), "old");
  EXPECT_THAT(names(), ElementsAre("out"));
}

TEST_F(FileIo, OutputFileTellsBeforeTheFirstByteThatItsFolderIsMissing) {
  const fs::path missing = path("none") / "out";
  expect_error(OutputFile::open(missing), ErrorCode::file_write,
               fmt::format("cannot write '{}': No such file or directory", missing.string()));
}

TEST(TemporaryFolder, IsPrivateAndRemovedWithAllItHolds) {
  fs::path path;
  {
    const auto folder = TemporaryFolder::create({}, "clbin-test-").value();
    path = folder.path();
    EXPECT_TRUE(path.filename().string().starts_with("clbin-test-"));
    EXPECT_EQ(mode_of(path), 0700U);
    fs::create_directories(path / "a/b");
    put(path / "a/b/c", "x");
    fs::create_symlink("/proc", path / "link");
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::exists("/proc/self"));
}

TEST(TemporaryFolder, MovesWithItsOwner) {
  auto first = TemporaryFolder::create({}, "clbin-test-").value();
  const fs::path first_path = first.path();
  fs::path second_path;
  {
    auto second = TemporaryFolder::create({}, "clbin-test-").value();
    second_path = second.path();
    second = std::move(first);
    EXPECT_EQ(second.path(), first_path);
  }
  EXPECT_FALSE(fs::exists(first_path));
  const TemporaryFolder last = std::move(first);
  EXPECT_EQ(last.path(), second_path);
}

TEST(TemporaryFolder, NamesTheParentItCannotUse) {
  const auto folder = TemporaryFolder::create("/no such folder", "x-");
  expect_error(
      folder, ErrorCode::file_write,
      "cannot create a temporary directory in '/no such folder': No such file or directory");
}

} // namespace
} // namespace clbin::base
