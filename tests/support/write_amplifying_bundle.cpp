// write_amplifying_bundle KIND SCALE FILE, and --list for the kinds: for tests that are not C++.
#include "base/output_file.hpp"
#include "support/amplifying_bundles.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

int list_kinds() {
  for (const clbin::test::AmplifyingKind& kind : clbin::test::amplifying_kinds()) {
    std::printf("%.*s\n", static_cast<int>(kind.name.size()), kind.name.data());
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--list") {
    return list_kinds();
  }
  const auto kinds = clbin::test::amplifying_kinds();
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const auto& known) {
    return argc == 4 && known.name == argv[1];
  });
  const int scale = argc == 4 ? std::atoi(argv[2]) : 0;
  if (kind == kinds.end() || scale < 1) {
    std::fputs("usage: write_amplifying_bundle KIND SCALE FILE\n", stderr);
    return 1;
  }
  const auto written =
      clbin::base::write_output_file(argv[3], kind->make(static_cast<std::uint32_t>(scale)));
  if (!written) {
    std::fprintf(stderr, "write_amplifying_bundle: %s\n", written.error().message.c_str());
    return 1;
  }
  return 0;
}
