// Compares the size of a bundle of real device binaries with the limit of doc/performance.md: 1.05
// x a solid tar | zstd -19 of the same files + 160 bytes per entry + 4 KiB.
//
//     bundle_size BINARIES [SOURCES]
//
// BINARIES is a directory of files PROGRAM.TARGET…, SOURCES one of PROGRAM.cl. Exit status 1 if the
// limit is not met.
#include "base/file_io.hpp"
#include "base/zstd_codec.hpp"
#include "call_times.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/bundle_writer.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

namespace {

using namespace clbin;
using bench::value_of;

constexpr int k_level = 19;
constexpr std::uint64_t k_max_file_bytes = 1U << 30U;
constexpr std::size_t k_tar_block_bytes = 512;

std::map<std::string, base::Bytes> files_of(const std::filesystem::path& folder) {
  std::map<std::string, base::Bytes> files;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    files.emplace(file.path().filename().string(),
                  value_of(base::read_whole_file(file.path(), k_max_file_bytes)));
  }
  return files;
}

std::string stem_of(const std::string& name) {
  return name.substr(0, name.find('.'));
}

// Appends a file as tar does: a block for its name, its bytes, and zeros up to the next block.
void append_to_tar(base::ByteWriter& tar, const std::string& name, base::ByteView bytes) {
  tar.write_bytes(base::as_bytes(name));
  tar.align(k_tar_block_bytes);
  tar.write_bytes(bytes);
  tar.align(k_tar_block_bytes);
}

format::EntryInput entry_of(const std::string& file_name, const base::Bytes& bytes) {
  format::EntryInput entry;
  entry.variant = format::k_default_variant;
  entry.target.origin = format::TargetOrigin::offline;
  entry.target.spec = file_name.substr(file_name.find('.') + 1);
  entry.payload = bytes;
  format::KernelReflection kernel;
  kernel.name = stem_of(file_name);
  entry.kernels.push_back(kernel);
  return entry;
}

format::BundleInput input_of(const std::map<std::string, base::Bytes>& binaries,
                             const std::map<std::string, base::Bytes>& sources) {
  std::map<std::string, format::ProgramInput> programs;
  for (const auto& [name, bytes] : binaries) {
    format::ProgramInput& program = programs[stem_of(name)];
    program.name = stem_of(name);
    program.variants = {{std::string(format::k_default_variant), ""}};
    program.entries.push_back(entry_of(name, bytes));
  }
  for (const auto& [name, bytes] : sources) {
    const auto program = programs.find(stem_of(name));
    if (program != programs.end()) {
      format::SourcePackage source;
      source.main = {name, name, std::string(base::as_text(bytes))};
      program->second.source = std::move(source);
    }
  }
  format::BundleInput input;
  input.producer = "bundle_size";
  for (auto& [name, program] : programs) {
    input.programs.push_back(std::move(program));
  }
  return input;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void print_blobs(const format::BundleReader& reader) {
  std::uint64_t stored = 0;
  std::uint32_t referring = 0;
  for (std::uint32_t i = 0; i < reader.blob_count(); ++i) {
    const format::BlobView blob = value_of(reader.blob(i));
    stored += blob.stored_bytes;
    referring += blob.reference != format::k_no_index ? 1U : 0U;
  }
  std::printf("payloads, manifests and sources: %llu bytes, %u of %u against another one\n",
              static_cast<unsigned long long>(stored), referring, reader.blob_count());
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bundle_size BINARIES [SOURCES]\n");
    return 2;
  }
  const auto binaries = files_of(argv[1]);
  const auto sources = argc > 2 ? files_of(argv[2]) : std::map<std::string, base::Bytes>();
  base::ByteWriter tar;
  std::size_t alone = 0;
  auto start = std::chrono::steady_clock::now();
  for (const auto& [name, bytes] : binaries) {
    alone += value_of(base::zstd_compress(bytes, {}, k_level)).size();
    append_to_tar(tar, name, bytes);
  }
  const double alone_seconds = seconds_since(start);
  const format::BundleInput input = input_of(binaries, sources);
  for (const format::ProgramInput& program : input.programs) {
    if (program.source) {
      append_to_tar(tar, program.source->main.display_name,
                    base::as_bytes(program.source->main.text));
    }
  }
  const std::size_t solid = value_of(base::zstd_compress(tar.view(), {}, k_level)).size();
  start = std::chrono::steady_clock::now();
  const base::Bytes bundle = value_of(format::write_bundle(input, {k_level}));
  const double bundle_seconds = seconds_since(start);

  const double floor =
      1.05 * static_cast<double>(solid) + 160.0 * static_cast<double>(binaries.size()) + 4096.0;
  const bool met = static_cast<double>(bundle.size()) <= floor;
  std::printf("%zu binaries: each alone %zu bytes in %.2f s; solid tar %zu\n", binaries.size(),
              alone, alone_seconds, solid);
  print_blobs(value_of(
      format::BundleReader::open(base::memory_source(bundle), {}, format::TrailingBytes::refuse)));
  std::printf("bundle: %zu bytes in %.2f s (floor %.0f)  %s\n", bundle.size(), bundle_seconds,
              floor, met ? "met" : "NOT MET");
  return met ? 0 : 1;
}
