#include "targets/clang_front_end.hpp"

#include "base/file_io.hpp"
#include "support/project_folders.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc::offline {
namespace {

using clbin::base::Bytes;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(OclocLog, HasTheNameOfTheMainFile) {
  EXPECT_EQ(build_log_of("In file included from 1:1:\n"
                         "include/h/x.h:2:2: warning: from header\n"
                         "1:3:14: error: expected ';' at end of declaration\n"
                         "  int y = 3.0\n"
                         "             ^\n"),
            "In file included from kernel.cl:1:\n"
            "include/h/x.h:2:2: warning: from header\n"
            "kernel.cl:3:14: error: expected ';' at end of declaration\n"
            "  int y = 3.0\n"
            "             ^\n");
}

TEST(OclocLog, OmitsWhatOclocPrintsAboutItself) {
  EXPECT_EQ(build_log_of("\nBuild succeeded.\n"), "");
  EXPECT_EQ(build_log_of("Build failed with error code: -11\n"
                         "Command was: /usr/bin/ocloc compile -options \"-I include\"\n"),
            "");
}

TEST(OclocOptions, AreSeparatedBySpaces) {
  EXPECT_EQ(ocloc_options({"-DA=1", "-w"}).value(), "-cl-kernel-arg-info -I include -DA=1 -w");
}

TEST(OclocOptions, CannotBeQuotedOrUndefineMacros) {
  for (const std::string option : {"-UA", "-DA=1 + 2", "-DA=\"x\"", "-DA='x'", "-DA=\\"}) {
    const auto refused = ocloc_options({option});
    ASSERT_FALSE(refused) << option;
    EXPECT_EQ(refused.error().code, clbin::base::ErrorCode::invalid_argument);
    EXPECT_EQ(refused.error().message, "ocloc does not accept the option '" + option + "'");
  }
}

class ZebinSymbols : public ::testing::Test {
protected:
  // Returns a file with a table of two symbols, after the empty first one, and their names.
  static Bytes zebin(std::uint8_t section_of_second, const std::string& second = "elsewhere") {
    constexpr std::size_t k_header = 64;
    constexpr std::size_t k_symbol = 24;
    const std::string names = std::string("\0k\0", 3) + second + '\0';
    const std::size_t names_at = k_header + 3 * k_symbol;
    const std::size_t sections_at = names_at + 64;
    Bytes bytes(sections_at + 3 * k_header);
    const auto put = [&](std::size_t at, std::uint64_t value) {
      for (int i = 0; i < 8 && at < bytes.size(); ++i, ++at, value >>= 8U) {
        if (value != 0) {
          bytes[at] = std::byte(value & 0xffU);
        }
      }
    };
    put(0, 0x00010102464c457fULL);  // ELF, 64 bits, little-endian
    put(16, 0x0000000100cd0001ULL); // ET_REL, machine 205
    put(40, sections_at);
    put(52, 64);
    put(58, 0x0000000000030040ULL); // 3 sections of 64 bytes
    put(k_header + k_symbol, 1);
    put(k_header + k_symbol + 6, 1);
    put(k_header + 2 * k_symbol, 3);
    put(k_header + 2 * k_symbol + 6, section_of_second);
    for (std::size_t i = 0; i < names.size(); ++i) {
      bytes[names_at + i] = std::byte(static_cast<unsigned char>(names[i]));
    }
    put(sections_at + 64 + 4, 2);
    put(sections_at + 64 + 24, k_header);
    put(sections_at + 64 + 32, 3 * k_symbol);
    put(sections_at + 128 + 4, 3);
    put(sections_at + 128 + 24, names_at);
    put(sections_at + 128 + 32, names.size());
    return bytes;
  }
};

TEST_F(ZebinSymbols, WithoutASectionAreUndefined) {
  const auto undefined = undefined_symbols_of_zebin(zebin(0));
  ASSERT_TRUE(undefined) << undefined.error().message;
  EXPECT_THAT(*undefined, ElementsAre("elsewhere"));
}

TEST_F(ZebinSymbols, OfTheDriverAreDefinedByIt) {
  const auto undefined =
      undefined_symbols_of_zebin(zebin(0, "__INTEL_PATCH_CROSS_THREAD_OFFSET_OFF_R0"));
  ASSERT_TRUE(undefined) << undefined.error().message;
  EXPECT_THAT(*undefined, IsEmpty());
}

TEST_F(ZebinSymbols, InASectionAreDefined) {
  const auto undefined = undefined_symbols_of_zebin(zebin(1));
  ASSERT_TRUE(undefined) << undefined.error().message;
  EXPECT_THAT(*undefined, IsEmpty());
}

TEST_F(ZebinSymbols, AreDefinedInARealZebin) {
  const auto bytes = clbin::base::read_whole_file(
      clbin::test::tests_folder() / "unit/format/binaries/tgllp.zebin", 1U << 20U);
  ASSERT_TRUE(bytes);
  const auto undefined = undefined_symbols_of_zebin(*bytes);
  ASSERT_TRUE(undefined) << undefined.error().message;
  EXPECT_THAT(*undefined, IsEmpty());
}

TEST_F(ZebinSymbols, NeedAnElfFile) {
  const auto text = undefined_symbols_of_zebin(clbin::base::as_bytes("not a zebin"));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, clbin::base::ErrorCode::damaged);
  EXPECT_EQ(text.error().message, "ocloc wrote no 64-bit ELF file");
}

} // namespace
} // namespace oclcc::offline
