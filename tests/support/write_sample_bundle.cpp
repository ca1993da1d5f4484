// write_sample_bundle FILE writes the sample bundle, for tests that are not C++.
#include "base/file_io.hpp"
#include "support/sample_bundle.hpp"

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: write_sample_bundle FILE\n", stderr);
    return 1;
  }
  const auto written = clbin::base::write_output_file(argv[1], clbin::test::sample_bundle());
  if (!written) {
    std::fprintf(stderr, "write_sample_bundle: %s\n", written.error().message.c_str());
    return 1;
  }
  return 0;
}
