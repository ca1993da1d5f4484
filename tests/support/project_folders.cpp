#include "support/project_folders.hpp"

namespace clbin::test {

std::filesystem::path tests_folder() {
  return CLBIN_TEST_DATA;
}
std::filesystem::path kernels_folder() {
  return CLBIN_KERNELS;
}
std::filesystem::path fuzz_corpora_folder() {
  return CLBIN_FUZZ_CORPORA;
}

} // namespace clbin::test
