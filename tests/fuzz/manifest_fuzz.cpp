#include "format/bundle/manifest.hpp"
#include "fuzz_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clbin;
  const auto manifest = format::decode_manifest(std::as_bytes(std::span(data, size)));
  if (!manifest) {
    fuzz::require(manifest.error().code == base::ErrorCode::manifest_invalid ||
                      manifest.error().code == base::ErrorCode::limit_exceeded,
                  "a refused manifest is manifest_invalid or beyond a limit");
    fuzz::require(!manifest.error().message.empty(), "a refusal has a message");
    return 0;
  }
  const base::Bytes written = format::encode_manifest(*manifest);
  const auto again = format::decode_manifest(written);
  fuzz::require(again.has_value() && *again == *manifest, "a manifest reads back as it was");
  fuzz::require(format::encode_manifest(*again) == written, "a manifest has one form");
  return 0;
}
