// The folders of the source tree that tests read.
#pragma once

#include <filesystem>

namespace clbin::test {

std::filesystem::path tests_folder();
std::filesystem::path kernels_folder();

} // namespace clbin::test
