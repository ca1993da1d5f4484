// golden_generator [KIND] FOLDER: writes the golden bundles, and beside each a text of its
// contents.
// --signed, --encrypted, --measured, --answered and --split write the signed and the encrypted
// bundles, those with measurements and known answers, and a base with packs, instead. Refuses a
// folder that contains the file 'sha256sums', because it is frozen. For a future version:
//     build/dev/tests/golden/golden_generator tests/golden/v2
//     (cd tests/golden/v2 && sha256sum *.clbin *.txt libzstd-version > sha256sums)
#include "base/file_io.hpp"
#include "base/zstd_codec.hpp"
#include "golden/encrypted_bundles.hpp"
#include "golden/golden_bundles.hpp"
#include "golden/signed_bundles.hpp"
#include "support/bundle_samples.hpp"

#include <cstdio>
#include <filesystem>
#include <string_view>

namespace {

bool write(const std::filesystem::path& path, clbin::base::ByteView bytes) {
  const auto written = clbin::base::write_output_file(path, bytes);
  if (!written) {
    std::fprintf(stderr, "golden_generator: %s\n", written.error().message.c_str());
  }
  return written.has_value();
}

} // namespace

int main(int argc, char** argv) {
  using namespace clbin;
  const std::string_view option = argc == 3 ? argv[1] : "";
  if (argc != 2 && option != "--signed" && option != "--encrypted" && option != "--measured" &&
      option != "--answered" && option != "--split") {
    std::fprintf(stderr, "usage: golden_generator [--signed | --encrypted | --measured | "
                         "--answered | --split] FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[argc - 1];
  if (std::filesystem::exists(folder / "sha256sums")) {
    std::fprintf(stderr, "golden_generator: %s is frozen\n", folder.string().c_str());
    return 1;
  }
  bool good = write(folder / "libzstd-version", base::as_bytes(base::zstd_version()));
  for (const auto& [name, bytes] : option == "--signed"      ? test::signed_bundles()
                                   : option == "--encrypted" ? test::encrypted_bundles()
                                   : option == "--measured"  ? test::measured_bundles()
                                   : option == "--answered"  ? test::answered_bundles()
                                   : option == "--split"     ? test::split_bundles()
                                                             : test::golden_bundles()) {
    format::BundleReader reader = test::must_open(bytes);
    if (reader.is_encrypted()) {
      good = reader.unlock(test::golden_content_key()).has_value() && good;
    }
    const std::string contents = test::contents_of(reader).value();
    good = write(folder / name, bytes) &&
           write(folder / (name + ".txt"), base::as_bytes(contents)) && good;
  }
  return good ? 0 : 1;
}
