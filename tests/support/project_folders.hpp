// The folders of the source tree that tests read, and the corpora of the fuzzers, unpacked.
#pragma once

#include <filesystem>

namespace clbin::test {

std::filesystem::path tests_folder();
std::filesystem::path kernels_folder();
std::filesystem::path fuzz_corpora_folder();

} // namespace clbin::test
