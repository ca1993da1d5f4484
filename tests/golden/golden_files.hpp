// The files of the folders of tests/golden, for tests.
#pragma once

#include "base/file_io.hpp"
#include "support/project_folders.hpp"

#include <filesystem>
#include <gtest/gtest.h>
#include <string>

namespace clbin::test {

inline constexpr const char* k_golden_names[] = {
    "empty.clbin",   "two_programs.clbin", "stripped.clbin",   "signed.clbin",
    "minor_1.clbin", "every_kind.clbin",   "names_only.clbin", "other_types.clbin",
    "merged.clbin",  "many_pages.clbin"};

inline constexpr const char* k_encrypted_golden_names[] = {"content.clbin", "recipients.clbin",
                                                           "small.clbin"};

inline base::Bytes golden_file(const std::string& name, const std::string& folder = "v1") {
  const auto path = test::tests_folder() / "golden" / folder / name;
  auto bytes = base::read_whole_file(path, 1U << 20U);
  EXPECT_TRUE(bytes.has_value()) << bytes.error().message;
  return bytes ? std::move(*bytes) : base::Bytes();
}

inline std::string contents_file(const std::string& name, const std::string& folder = "v1") {
  return std::string(base::as_text(golden_file(name + ".txt", folder)));
}

} // namespace clbin::test
