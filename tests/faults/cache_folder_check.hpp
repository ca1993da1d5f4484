// A cache folder after something went wrong: nothing in it may be half-written.
#pragma once

#include <filesystem>

namespace clbin::test {

// Reads and verifies every entry; expects no temporary file. A folder that is not there is fine.
void expect_whole_cache(const std::filesystem::path& folder);

} // namespace clbin::test
