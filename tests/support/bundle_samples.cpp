#include "support/bundle_samples.hpp"

#include "format/bundle/bundle_surgery.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "format/bundle/manifest.hpp"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <random>

namespace clbin::test {

using base::Bytes;
using base::Result;
using format::BundleInput;
using format::BundleReader;
using format::EntryInput;
using format::ProgramInput;
using format::SourcePackage;
using format::Target;

namespace {

constexpr int k_fast_level = 3;

format::KernelReflection sample_kernel(std::string name) {
  format::KernelReflection kernel;
  kernel.name = std::move(name);
  kernel.arguments = {{"a", "float*", format::AddressSpace::global},
                      {"n", "int", format::AddressSpace::private_}};
  kernel.argument_count = 2;
  kernel.required_work_group_size = {16, 16, 1};
  kernel.local_bytes = 2048;
  return kernel;
}

} // namespace

Bytes bytes_kept_in(const base::KeptBytes& kept) {
  const auto region = kept.read().value();
  return {region.view().begin(), region.view().end()};
}

Bytes bytes_of(std::string_view text) {
  const base::ByteView view = base::as_bytes(text);
  return {view.begin(), view.end()};
}

Bytes sample_ptx(unsigned sm, std::string_view body) {
  return bytes_of(fmt::format(".version 7.5\n.target sm_{}, texmode_independent\n"
                              ".address_size 64\n{}",
                              sm, body));
}

Bytes random_bytes(std::size_t size_bytes, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  Bytes bytes(size_bytes);
  std::generate(bytes.begin(), bytes.end(),
                [&generator] { return static_cast<std::byte>(generator() >> 56U); });
  return bytes;
}

Target sample_device(std::string_view device_name) {
  Target target;
  target.identity.platform_name = "Portable Computing Language";
  target.identity.platform_version = "OpenCL 3.0 PoCL 3.1";
  target.identity.vendor = "GenuineIntel";
  target.identity.device_name = device_name;
  target.identity.driver_version = "3.1";
  target.identity.device_version = "OpenCL 3.0";
  target.identity.opencl_c_versions = {"OpenCL C:1.2.0", "OpenCL C:3.0.0"};
  target.identity.address_bits = 64;
  target.identity.architecture = "skylake";
  return target;
}

Target sample_offline_target(std::string_view spec, std::string_view architecture) {
  Target target;
  target.origin = format::TargetOrigin::offline;
  target.spec = spec;
  target.identity.architecture = architecture;
  target.identity.address_bits = 64;
  return target;
}

EntryInput sample_entry(std::string_view variant, Target target, Bytes payload) {
  EntryInput entry;
  entry.variant = variant;
  entry.target = std::move(target);
  entry.options = "-DN=4";
  entry.payload = std::move(payload);
  entry.kernels = {sample_kernel("multiply"), sample_kernel("add")};
  entry.tools = {{"libzstd", "any"}};
  return entry;
}

SourcePackage sample_source(std::string_view text) {
  SourcePackage source;
  source.main = {"matmul.cl", "kernels/matmul.cl", std::string(text)};
  source.headers = {{"tile.h", "kernels/tile.h", "#define TILE 16\n"}};
  return source;
}

format::Measurement sample_measurement(std::string_view variant, std::string_view device_name,
                                       std::uint64_t median_ns) {
  format::Measurement measurement;
  measurement.variant = variant;
  measurement.kernel = "k";
  measurement.dimensions = 1;
  measurement.global_size = {1024, 1, 1};
  measurement.device = {format::DeviceType::gpu,  "platform", "vendor",
                        std::string(device_name), "",         "1.0"};
  measurement.median_ns = median_ns;
  measurement.rounds = 5;
  return measurement;
}

BundleInput sample_input() {
  const std::string body = "// " + base::to_hex(base::digest_of(random_bytes(64, 1))) + "\n" +
                           base::to_hex(base::digest_of(random_bytes(64, 2))) +
                           base::to_hex(base::digest_of(random_bytes(64, 3)));
  const std::string device_hash_and_version("\1\2\3\4\5\6\7\10\10\0\0\0", 12);
  const Bytes pocl =
      bytes_of(std::string("poclbin\0", 8) + device_hash_and_version + "a binary of one device");
  ProgramInput matmul;
  matmul.name = "matmul";
  matmul.source = sample_source("kernel void multiply(global float* a, int n) { a[n] = TILE; }\n");
  matmul.variants = {{"default", ""}, {"fast", "-cl-fast-relaxed-math"}};
  matmul.entries = {
      sample_entry("default", sample_offline_target("nvptx:sm_50", "sm_50"), sample_ptx(50, body)),
      sample_entry("default", sample_offline_target("nvptx:sm_70", "sm_70"), sample_ptx(70, body)),
      sample_entry("default", sample_device("cpu-a"), pocl),
      sample_entry("fast", sample_offline_target("nvptx:sm_70", "sm_70"), sample_ptx(70, body)),
      sample_entry("fast", sample_device("cpu-a"), random_bytes(50, 7)),
  };
  matmul.entries[2].build_log = "1 warning generated.\n";
  ProgramInput reduce;
  reduce.name = "reduce";
  reduce.variants = {{"default", "-DWIDTH=8"}};
  reduce.entries = {
      sample_entry("default", sample_offline_target("nvptx:sm_80", "sm_80"), sample_ptx(80, body)),
      sample_entry("default", sample_device("cpu-b"), pocl),
  };
  return {"test 1.0", {matmul, reduce}};
}

BundleInput large_input(std::uint32_t groups, std::uint32_t entries) {
  BundleInput input;
  input.producer = "test 1.0";
  for (std::uint32_t g = 0; g < groups; ++g) {
    ProgramInput program;
    program.name = fmt::format("program{}", g);
    program.variants = {{std::string(format::k_default_variant), ""}};
    for (std::uint32_t e = 0; e < entries; ++e) {
      const std::uint32_t number = g * entries + e;
      program.entries.push_back(
          sample_entry(format::k_default_variant, sample_device(fmt::format("device {}", number)),
                       sample_ptx(50 + number % 50, fmt::format("// {}\n", number))));
    }
    input.programs.push_back(std::move(program));
  }
  return input;
}

namespace {

// Text that depends on every number, as long as a payload of `bytes` needs.
std::string payload_text(std::uint32_t number, std::size_t bytes) {
  std::string text = fmt::format("// {}\n", number);
  for (std::uint64_t line = 0; text.size() < bytes; ++line) {
    text += base::to_hex(base::digest_of(random_bytes(8, number + (line << 32U)))) + "\n";
  }
  return text;
}

} // namespace

BundleInput unit_input(std::uint32_t number, std::size_t payload_bytes) {
  constexpr std::uint32_t k_programs = 100;
  const std::uint32_t index = number % k_programs;
  ProgramInput program;
  program.name = fmt::format("program{}", index);
  program.source = {{"p.cl", "p.cl", payload_text(index, payload_bytes)}, {}};
  program.variants = {{std::string(format::k_default_variant), ""}};
  program.entries.push_back(sample_entry(format::k_default_variant,
                                         sample_device(fmt::format("device {}", number)),
                                         sample_ptx(50, payload_text(number, payload_bytes))));
  return {"test 1.0", {program}};
}

BundleInput farm_input(std::uint32_t number, std::size_t payload_bytes) {
  constexpr std::uint32_t k_programs = 4;
  constexpr std::uint32_t k_entries = 50;
  ProgramInput program;
  program.name = fmt::format("program{}", number % k_programs);
  program.variants = {{std::string(format::k_default_variant), ""}};
  for (std::uint32_t e = 0; e < k_entries; ++e) {
    const std::uint32_t device = number * k_entries + e;
    const std::string body = payload_text(device, payload_bytes);
    program.entries.push_back(sample_entry(format::k_default_variant,
                                           sample_device(fmt::format("device {}", device)),
                                           sample_ptx(50, body)));
  }
  return {"test 1.0", {program}};
}

Bytes must_write(const BundleInput& input) {
  auto bytes = format::write_bundle(input, {k_fast_level});
  EXPECT_TRUE(bytes.has_value()) << bytes.error().message;
  return bytes ? std::move(*bytes) : Bytes();
}

Result<BundleReader> open_bytes(Bytes bytes) {
  return BundleReader::open(base::owning_source(std::move(bytes), "test.clbin"), {},
                            format::TrailingBytes::refuse);
}

BundleReader must_open(Bytes bytes, std::string name) {
  auto reader = BundleReader::open(base::owning_source(std::move(bytes), std::move(name)), {},
                                   format::TrailingBytes::refuse);
  if (!reader) {
    ADD_FAILURE() << reader.error().message;
    std::abort(); // the test cannot continue
  }
  return std::move(*reader);
}

BundleReader must_open(Bytes bytes) {
  return must_open(std::move(bytes), "test.clbin");
}

BundleInput shuffled(BundleInput input, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::shuffle(input.programs.begin(), input.programs.end(), generator);
  for (ProgramInput& program : input.programs) {
    std::shuffle(program.variants.begin(), program.variants.end(), generator);
    std::shuffle(program.entries.begin(), program.entries.end(), generator);
    for (EntryInput& entry : program.entries) {
      std::shuffle(entry.kernels.begin(), entry.kernels.end(), generator);
    }
  }
  return input;
}

Result<std::string> contents_of(const BundleReader& reader) {
  CLBIN_TRY_ASSIGN(const BundleInput input, format::unpack_bundle(reader));
  std::string text = fmt::format("producer {}\n", input.producer);
  for (const ProgramInput& program : input.programs) {
    text += fmt::format("program {}\n", program.name);
    if (program.source) {
      const Bytes source = format::encode_source_package(*program.source);
      text += fmt::format("source {}\n", base::as_text(source));
    }
    for (const auto& variant : program.variants) {
      text += fmt::format("variant {} {}\n", variant.name, variant.options);
      for (const std::string& required : variant.required) {
        text += fmt::format("requires {}\n", required);
      }
    }
    format::Manifest manifest;
    for (const EntryInput& entry : program.entries) {
      manifest.entries.push_back({entry.variant, entry.target, entry.options,
                                  format::row_digest(base::digest_of(bytes_kept_in(entry.payload))),
                                  entry.kernels, entry.build_log, entry.tools});
    }
    manifest.measurements = program.measurements;
    manifest.answers = program.answers;
    const Bytes json = format::encode_manifest(manifest);
    text += fmt::format("entries {}\n", base::as_text(json));
  }
  CLBIN_TRY_ASSIGN(const auto packs, reader.packs());
  for (const format::PackRecord& pack : packs) {
    text += fmt::format("pack {} {} {:x} {:x}\n", pack.name.str(), base::to_hex(pack.root),
                        pack.target_key, pack.match_key);
  }
  return text;
}

} // namespace clbin::test
