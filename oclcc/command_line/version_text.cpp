// The text of --version. CMake sets these macros for this source alone, because each commit changes
// one of them. The text contains no date and no path: equal builds print equal lines.
#include "base/zstd_codec.hpp"
#include "command_line/options.hpp"
#include "format/bundle/bundle_layout.hpp"

#include <fmt/format.h>
#include <string_view>

namespace oclcc {

namespace {

std::string line_unless_empty(std::string_view name, std::string_view value) {
  return value.empty() ? "" : fmt::format("{} {}\n", name, value);
}

} // namespace

std::string version_text() {
  return fmt::format("oclcc {}\nzstd {}\nlibsodium {}\nlz4 {}\nzlib {}\nformat {}.{}\ncompiler "
                     "{}\nbuild {}\n",
                     OCLCC_VERSION, base::zstd_version(), OCLCC_SODIUM, OCLCC_LZ4, OCLCC_ZLIB,
                     format::k_format_major, format::k_minor_of_packs, OCLCC_COMPILER,
                     OCLCC_BUILD_TYPE) +
         line_unless_empty("sanitizers", OCLCC_SANITIZERS) +
         line_unless_empty("revision", OCLCC_REVISION);
}

} // namespace oclcc
