// Checks a cache folder after a failure: it must not contain partial entries.
#pragma once

#include <filesystem>

namespace clbin::test {

// Reads and verifies every entry, and expects no temporary file. The folder may be missing.
void expect_whole_cache(const std::filesystem::path& folder);

} // namespace clbin::test
