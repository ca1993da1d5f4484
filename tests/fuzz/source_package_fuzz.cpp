#include "format/bundle/manifest.hpp"
#include "fuzz_check.hpp"

#include <algorithm>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clbin;
  const base::ByteView bytes = std::as_bytes(std::span(data, size));
  const auto package = format::decode_source_package(bytes);
  if (!package) {
    const base::ErrorCode code = package.error().code;
    fuzz::require(code == base::ErrorCode::truncated || code == base::ErrorCode::damaged ||
                      code == base::ErrorCode::newer_version,
                  "a refused source package is truncated, damaged or newer");
    return 0;
  }
  const base::Bytes written = format::encode_source_package(*package);
  fuzz::require(std::equal(written.begin(), written.end(), bytes.begin(), bytes.end()),
                "a source package has one form");
  return 0;
}
