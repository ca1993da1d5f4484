// Takes device binaries out of containers, for any bytes, and reads the entries of --import. In the
// corpus, fatbinary 13.0.88, the offload tools of clang 19 and ocloc 22.43 wrote the containers.
#include "format/binary/binary_kind.hpp"
#include "format/bundle/read_limits.hpp"
#include "fuzz_check.hpp"
#include "modes/containers.hpp"
#include "targets/binary_entry.hpp"

#include <algorithm>
#include <span>

namespace clbin::fuzz {
namespace {

void check_binary(base::ByteView binary) {
  require(!binary.empty(), "a contained binary has bytes");
  const auto entry = oclcc::offline::entry_of_binary(base::ByteRegion::borrow(binary));
  require(entry.has_value() || !entry.error().message.empty(), "an error has a message");
  const auto target = oclcc::offline::target_of_binary(format::classify_binary(binary));
  require(!target || (target->origin == format::TargetOrigin::offline && !target->spec.empty()),
          "a target that a binary names is an offline target");
}

void check_container(base::ByteView file) {
  const auto container = oclcc::open_container(base::Bytes(file.begin(), file.end()));
  if (!container) {
    require(!container.error().message.empty(), "an error has a message");
    return;
  }
  require(!container->binaries.empty(), "a container has a binary");
  std::uint64_t left = format::held_bytes_limit(file.size());
  for (const oclcc::ContainedBinary& binary : container->binaries) {
    require(binary.bytes.size() <= left, "binaries stay within the limit of the container");
    left -= binary.bytes.size();
    check_binary(binary.bytes);
  }
}

} // namespace
} // namespace clbin::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  clbin::fuzz::check_container(std::as_bytes(std::span(data, size)));
  return 0;
}
