// Writes the seeds that contain this project's own formats, and packs them into the corpora:
//   make_fuzz_seeds FOLDER && tests/fuzz/seeds.py pack FOLDER tests/fuzz/corpus
#include "base/file_io.hpp"
#include "bundle_resealing.hpp"
#include "format/bundle/bundle_surgery.hpp"
#include "format/bundle/known_answers.hpp"
#include "format/bundle/manifest.hpp"
#include "golden/encrypted_bundles.hpp"
#include "golden/golden_bundles.hpp"
#include "golden/signed_bundles.hpp"
#include "support/bundle_samples.hpp"
#include "support/crafted_bundle.hpp"
#include "support/project_folders.hpp"
#include "support/sample_bundle.hpp"
#include "support/sample_identities.hpp"

#include <cstdio>
#include <filesystem>

namespace clbin::fuzz {
namespace {

format::DeviceIdentity sample_identity() {
  format::DeviceIdentity identity;
  identity.platform_name = "Portable Computing Language";
  identity.platform_version = "OpenCL 3.0 PoCL 3.1+debian";
  identity.vendor = "GenuineIntel";
  identity.device_name = "pthread-skylake";
  identity.vendor_id = 0x8086;
  identity.driver_version = "3.1+debian";
  identity.device_version = "OpenCL 3.0 pocl HSTR: pthread-x86_64-pc-linux-gnu-skylake";
  identity.opencl_c_versions = {"OpenCL C:1.2.0", "OpenCL C:3.0.0"};
  identity.il_versions = {"SPIR-V_1.2"};
  identity.address_bits = 64;
  identity.architecture = "pthread-x86_64-pc-linux-gnu-skylake";
  return identity;
}

format::KernelReflection sample_kernel() {
  format::KernelReflection kernel;
  kernel.name = "add";
  format::KernelArgument argument;
  argument.name = "a";
  argument.type_name = "float*";
  argument.address_space = format::AddressSpace::global;
  argument.is_restrict = true;
  kernel.arguments = {argument};
  kernel.argument_count = 1;
  kernel.attributes = "reqd_work_group_size(16,16,1)";
  kernel.required_work_group_size = {16, 16, 1};
  kernel.max_work_group_size = 4096;
  kernel.local_bytes = 2048;
  kernel.vendor = {{"registers", 32}};
  return kernel;
}

format::Manifest sample_manifest() {
  format::ManifestEntry installed;
  installed.variant = "default";
  installed.target.identity = sample_identity();
  installed.options = "-cl-fast-relaxed-math";
  installed.raw_digest = std::string(16, 'a');
  installed.kernels = {sample_kernel()};
  installed.build_log = "warning: \xff not UTF-8\n";
  installed.tools = {{"ptxas", "13.0.88"}};
  format::ManifestEntry offline;
  offline.variant = "default";
  offline.target.origin = format::TargetOrigin::offline;
  offline.target.spec = "nvptx:sm_70";
  offline.raw_digest = std::string(16, '0');
  return {"oclcc 0.1.0", "add", {installed, offline}};
}

// A launch that was recorded, as the golden base has one.
format::Manifest recorded_manifest() {
  const format::BundleReader base = test::must_open(test::split_bundles().back().second);
  return base.read_manifest(base.group(0).value()).value();
}

format::Manifest measured_manifest() {
  format::Manifest manifest{"oclcc 0.1.0", "add", {}};
  format::Measurement refused = test::sample_measurement("default", "d", 0);
  refused.outcome = format::MeasurementOutcome::wrong_result;
  refused.reason = "1 of 1024 values differs";
  manifest.measurements = {test::sample_measurement("default", "d", 1000), refused};
  return manifest;
}

format::SourcePackage sample_source() {
  return {{"add.cl", "kernels/add.cl", "#include \"a.h\"\n__kernel void add() {}\n"},
          {{"a.h", "kernels/a.h", "#define A 1\n"}, {"b.h", "b.h", ""}}};
}

bool write_seed(const std::filesystem::path& path, base::ByteView bytes) {
  std::error_code ignored; // the write reports the error
  std::filesystem::create_directories(path.parent_path(), ignored);
  const auto written = base::write_output_file(path, bytes);
  if (!written) {
    std::fprintf(stderr, "%s\n", written.error().message.c_str());
  }
  return written.has_value();
}

// One entry of each kind that has matching rules, to reach all of them.
format::BundleInput entries_of_many_kinds(const std::filesystem::path& binaries) {
  format::ProgramInput program;
  program.name = "add";
  program.variants = {{std::string(format::k_default_variant), ""}};
  for (const auto& file : std::filesystem::directory_iterator(binaries)) {
    auto bytes = base::read_whole_file(file.path(), 1U << 20U);
    if (bytes) {
      program.entries.push_back(test::sample_entry(
          format::k_default_variant, test::sample_device(file.path().filename().string()),
          std::move(*bytes)));
    }
  }
  return {"seeds", {program}};
}

base::Bytes with_signature_and_optional_section() {
  test::CraftedBundle crafted(test::must_write(test::sample_input()));
  crafted.append_trailing(1, 0, test::random_bytes(96, 7));
  crafted.sections.push_back({{format::SectionKind{9}, 2, 0, 0, 8, 1}, test::random_bytes(8, 8)});
  return crafted.build();
}

base::Bytes with_hidden_payload() {
  const format::BundleReader bundle = test::must_open(test::must_write(test::sample_input()));
  const auto stripped = format::strip_bundle(
      bundle, {[](const format::EntryView& entry) { return entry.index % 2 == 1; },
               format::KeepSource::no});
  return stripped ? stripped->bytes : base::Bytes{};
}

// The sample that the target loads, whose variants were measured on its device and on another one,
// and of which it is known that it changes nothing.
base::Bytes measured_sample() {
  format::BundleInput input = format::unpack_bundle(test::must_open(test::sample_bundle())).value();
  format::ProgramInput& program = input.programs.front();
  const std::string source =
      base::to_hex(base::digest_of(format::encode_source_package(*program.source)));
  std::uint64_t time = 3000;
  for (const format::VariantInput& variant : program.variants) {
    for (const std::string device : {"d", "another"}) {
      format::Measurement& one = program.measurements.emplace_back(
          test::sample_measurement(variant.name, device, time -= 500));
      one.device = format::measured_device(test::unknown_identity(device), 0);
      one.source = source;
    }
    format::KnownAnswer& answer = program.answers.emplace_back(
        format::KnownAnswer{variant.name, "saxpy", 1, {8, 1, 1}, {4, 1, 1}});
    answer.arguments.emplace_back().number.resize(4);
    format::LaunchArgument& buffer = answer.arguments.emplace_back();
    buffer = {format::ArgumentKind::buffer, {}, format::ElementType::f32, format::Fill::random, 8};
    answer.results = {format::expected_buffer(1, buffer.type, format::fill_buffer(buffer))};
  }
  return test::must_write(input);
}

// The sample that the target loads, and a launch of it that was recorded and changes nothing.
base::Bytes recorded_sample() {
  format::BundleInput input = format::unpack_bundle(test::must_open(test::sample_bundle())).value();
  format::ProgramInput& program = input.programs.front();
  const base::Bytes zeros(32);
  format::LaunchArgument buffer{.kind = format::ArgumentKind::buffer};
  buffer.type = format::ElementType::f32;
  buffer.fill = format::Fill::stored;
  buffer.count = 8;
  buffer.digest = base::to_hex(base::digest_of(zeros));
  format::KnownAnswer answer{program.variants.front().name, "saxpy", 1, {8, 1, 1}, {}};
  answer.arguments = {{format::ArgumentKind::number, base::Bytes(4)}, buffer};
  answer.results = {{1, {}, buffer.digest}};
  program.data.emplace(buffer.digest, zeros);
  program.answers.push_back(std::move(answer));
  return test::must_write(input);
}

bool write_bundle_seeds(const std::filesystem::path& corpus) {
  const std::filesystem::path folder = corpus / "bundle_reader";
  const std::filesystem::path binaries = test::tests_folder() / "unit/format/binaries";
  return write_seed(folder / "empty", test::must_write({"seeds", {}})) &&
         write_seed(folder / "sample", test::must_write(test::sample_input())) &&
         write_seed(folder / "many_kinds", test::must_write(entries_of_many_kinds(binaries))) &&
         write_seed(folder / "signed", with_signature_and_optional_section()) &&
         write_seed(folder / "measured", test::measured_bundles().front().second) &&
         write_seed(folder / "packs", test::split_bundles().back().second) &&
         write_seed(folder / "hidden_payload", with_hidden_payload());
}

// Golden bundles, and such with plaintexts in the place of ciphertexts, which the target encrypts.
bool write_encrypted_seeds(const std::filesystem::path& corpus) {
  const std::filesystem::path golden = test::tests_folder() / "golden/encrypted_v1";
  const std::filesystem::path folder = corpus / "bundle_reader";
  for (const std::string name : {"content", "recipients", "small"}) {
    const auto bytes = base::read_whole_file(golden / (name + ".clbin"), 1U << 20U);
    if (!bytes || !write_seed(folder / ("encrypted_" + name), *bytes) ||
        !write_seed(folder / ("opened_" + name), open_blobs(*bytes, *test::golden_content_key()))) {
      return false;
    }
  }
  return true;
}

// Whole bundles, and trailing records for the target to append to its own bundle.
bool write_signed_seeds(const std::filesystem::path& corpus) {
  const std::filesystem::path folder = corpus / "signed_bundle";
  const base::Bytes body = test::bundle_to_sign(test::k_signed_payload);
  const base::Bytes bundle = test::signed_with_counter(body, test::k_signed_counter);
  const base::ByteView tail = base::ByteView(bundle).subspan(body.size());
  base::Bytes two(tail.begin(), tail.end());
  two.insert(two.end(), tail.begin(), tail.end());
  test::CraftedBundle required(bundle);
  required.append_trailing(77, 1, test::random_bytes(3, 2));
  return write_seed(folder / "signed", bundle) && write_seed(folder / "unsigned", body) &&
         write_seed(folder / "records", tail) && write_seed(folder / "records_twice", two) &&
         write_seed(folder / "unknown_required", required.trailing);
}

bool write_round_trip_seeds(const std::filesystem::path& corpus) {
  for (const std::uint64_t seed : {1U, 7U, 8U}) { // the fuzzer makes other sizes of these
    const std::filesystem::path path =
        corpus / "bundle_round_trip" / fmt::format("random_{}", seed);
    if (!write_seed(path, test::random_bytes(static_cast<std::size_t>(seed * 100), seed))) {
      return false;
    }
  }
  return true;
}

bool write_seeds(const std::filesystem::path& corpus) {
  const format::SourcePackage only_main{{"k", "k", "x"}, {}};
  return write_bundle_seeds(corpus) && write_encrypted_seeds(corpus) &&
         write_round_trip_seeds(corpus) && write_signed_seeds(corpus) &&
         write_seed(corpus / "load" / "sample", test::sample_bundle()) &&
         write_seed(corpus / "load" / "measured", measured_sample()) &&
         write_seed(corpus / "load" / "recorded", recorded_sample()) &&
         write_seed(corpus / "manifest" / "two_entries",
                    format::encode_manifest(sample_manifest())) &&
         write_seed(corpus / "manifest" / "measurements",
                    format::encode_manifest(measured_manifest())) &&
         write_seed(corpus / "manifest" / "recorded_answers",
                    format::encode_manifest(recorded_manifest())) &&
         write_seed(corpus / "manifest" / "no_entry",
                    format::encode_manifest({"oclcc 0.1.0", "empty", {}})) &&
         write_seed(corpus / "source_package" / "two_headers",
                    format::encode_source_package(sample_source())) &&
         write_seed(corpus / "source_package" / "only_main",
                    format::encode_source_package(only_main));
}

} // namespace
} // namespace clbin::fuzz

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", arguments[0]);
    return 2;
  }
  return clbin::fuzz::write_seeds(arguments[1]) ? 0 : 1;
}
