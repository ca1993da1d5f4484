// write_amplifying_bundle KIND SCALE FILE writes a bundle, and --list lists the kinds, for tests
// that are not C++. Prints two numbers: the raw bytes of the largest payload of an entry and the
// largest source, each with its reference, and the raw bytes of the largest blob with its
// reference.
#include "base/file_io.hpp"
#include "format/bundle/bundle_reader.hpp"
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

// Finds the largest blobs that a reader may be asked for.
class LargestBlobs {
public:
  explicit LargestBlobs(const clbin::format::BundleReader& reader) : m_reader(reader) {}

  [[nodiscard]] std::uint64_t extracted() const {
    std::uint64_t payload = 0;
    std::uint64_t source = 0;
    for (std::uint32_t index = 0; index < m_reader.entry_count(); ++index) {
      if (const auto entry = m_reader.entry(index)) {
        payload = std::max(payload, raw_bytes(entry->blob));
      }
    }
    for (std::uint32_t index = 0; index < m_reader.group_count(); ++index) {
      if (const auto group = m_reader.group(index)) {
        source = std::max(source, raw_bytes(group->source_blob));
      }
    }
    return payload + source;
  }

  [[nodiscard]] std::uint64_t any() const {
    std::uint64_t largest = 0;
    for (std::uint32_t index = 0; index < m_reader.blob_count(); ++index) {
      largest = std::max(largest, raw_bytes(index));
    }
    return largest;
  }

private:
  // Includes the reference. Returns 0 if there is no such blob.
  [[nodiscard]] std::uint64_t raw_bytes(std::uint32_t index) const {
    if (index >= m_reader.blob_count()) {
      return 0;
    }
    const auto blob = m_reader.blob(index);
    if (!blob) {
      return 0;
    }
    return blob->raw_bytes + raw_bytes(blob->reference);
  }

  const clbin::format::BundleReader& m_reader;
};

void print_largest(clbin::base::ByteView bytes) {
  const auto reader = clbin::format::BundleReader::open(clbin::base::memory_source(bytes), {},
                                                        clbin::format::TrailingBytes::refuse);
  if (reader) {
    const LargestBlobs largest(*reader);
    std::printf("%llu %llu\n", static_cast<unsigned long long>(largest.extracted()),
                static_cast<unsigned long long>(largest.any()));
  }
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
  const clbin::base::Bytes bytes = kind->make(static_cast<std::uint32_t>(scale));
  print_largest(bytes);
  const auto written = clbin::base::write_output_file(argv[3], bytes);
  if (!written) {
    std::fprintf(stderr, "write_amplifying_bundle: %s\n", written.error().message.c_str());
    return 1;
  }
  return 0;
}
