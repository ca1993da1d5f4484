#include "golden/golden_bundles.hpp"

#include "base/file_io.hpp"
#include "format/bundle/bundle_surgery.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "format/bundle/known_answers.hpp"
#include "support/bundle_samples.hpp"
#include "support/crafted_bundle.hpp"
#include "support/project_folders.hpp"

#include <filesystem>
#include <functional>
#include <map>

namespace clbin::test {

using base::Bytes;
using format::AccessQualifier;
using format::AddressSpace;
using format::SectionKind;

namespace {

// The payload that sm_70 is compressed against remains as a hidden blob.
Bytes stripped_bundle(const Bytes& bundle) {
  const auto reader = must_open(bundle);
  const auto keep = [](const format::EntryView& entry) {
    return entry.target.spec != "nvptx:sm_50" && entry.target.spec != "nvptx:sm_80";
  };
  return format::strip_bundle(reader, {keep, format::KeepSource::no}).value().bytes;
}

Bytes names_only_bundle(const Bytes& bundle) {
  return format::strip_bundle(must_open(bundle), {.reflection = format::KeepReflection::names_only})
      .value()
      .bytes;
}

// Adds only trailing records: a signature that was never made, and a record of a future kind.
Bytes signed_bundle(const Bytes& bundle) {
  constexpr std::uint32_t k_kind_to_come = 15;
  constexpr std::size_t k_signature_record_bytes = 96;
  CraftedBundle crafted(bundle);
  crafted.append_trailing(static_cast<std::uint32_t>(format::TrailingKind::ed25519_signature), 0,
                          random_bytes(k_signature_record_bytes, 1));
  crafted.append_trailing(k_kind_to_come, 0, bytes_of("skip me"));
  return crafted.build();
}

// A higher minor version, and a section of a future kind.
Bytes later_bundle(const Bytes& bundle) {
  constexpr auto k_kind_to_come = static_cast<SectionKind>(9);
  CraftedBundle crafted(bundle);
  crafted.sections.push_back(
      {{k_kind_to_come, format::k_section_paged, 0, 0, 0, 1}, bytes_of("skip me too")});
  crafted.edit_prefix = [](format::Prefix& prefix) { prefix.minor = 1; };
  return crafted.build();
}

// Entries of types that no writer makes yet: a library and a compiled object.
Bytes other_types_bundle(const Bytes& bundle) {
  constexpr std::size_t k_type_field = 26;
  CraftedBundle crafted(bundle);
  crafted.set_u8(SectionKind::entry, 0, k_type_field, 2);
  crafted.set_u8(SectionKind::entry, 1, k_type_field, 3);
  return crafted.build();
}

Bytes binary(const std::string& name) {
  const auto path = test::tests_folder() / "unit/format/binaries" / name;
  return base::read_whole_file(path, 1U << 20U).value();
}

format::Target installed(std::string platform, std::string device, std::string architecture) {
  format::Target target = sample_device(device);
  target.identity.platform_name = std::move(platform);
  target.identity.vendor = "the vendor";
  target.identity.vendor_id = 0x10de;
  target.identity.driver_version = "535.1";
  target.identity.il_versions = {"SPIR-V_1.0", "SPIR-V_1.2"};
  target.identity.architecture = std::move(architecture);
  return target;
}

// All members that a kernel and an argument can have.
std::vector<format::KernelReflection> kernels_with_every_member() {
  format::KernelReflection full;
  full.name = "full";
  full.arguments = {
      {"a", "float*", AddressSpace::global, AccessQualifier::none, true, true, true, false},
      {"in", "image2d_t", AddressSpace::global, AccessQualifier::read_only},
      {"out", "image2d_t", AddressSpace::global, AccessQualifier::write_only},
      {"both", "image3d_t", AddressSpace::global, AccessQualifier::read_write},
      {"p", "int", AddressSpace::global, AccessQualifier::none, false, false, false, true},
      {"table", "uchar4*", AddressSpace::constant},
      {"tile", "float*", AddressSpace::local},
      {"n", "int", AddressSpace::private_},
  };
  full.argument_count = 8;
  full.attributes = "reqd_work_group_size(16,4,1) vec_type_hint(float4)";
  full.required_work_group_size = {16, 4, 1};
  full.max_work_group_size = 1024;
  full.preferred_multiple = 32;
  full.local_bytes = 4096;
  full.private_bytes = 0;
  full.specialized_sizes = {{16, 4, 1}, {64, 1, 1}};
  full.vendor = {{"registers", 255}, {"spill_bytes", 8}};
  format::KernelReflection bare; // a kernel of which only the name is known
  bare.name = "bare";
  format::KernelReflection counted; // a kernel of which the arguments are not known
  counted.name = "counted";
  counted.argument_count = 3;
  return {full, bare, counted};
}

format::EntryInput entry_of(std::string_view variant, format::Target target, Bytes payload) {
  format::EntryInput entry = sample_entry(variant, std::move(target), std::move(payload));
  entry.kernels = kernels_with_every_member();
  entry.build_log = "kernel.cl:1:1: warning: \xc3\xa4, \xff and \x10\n";
  entry.tools = {{"ptxas", "13.0.88"}, {"clang", "14.0.6"}};
  return entry;
}

// A target with PTX and a cubin, IL, the binaries of every family, 32 bits, source with headers in
// folders, a program with only source, and a variant without an entry.
format::BundleInput every_kind_input() {
  format::ProgramInput all;
  all.name = "all kinds \xc3\xa9";
  all.source = sample_source("#include \"sub/deep/a.h\"\nkernel void full() {}\n");
  all.source->headers.push_back({"sub/deep/a.h", "kernels/sub/deep/a.h", ""});
  all.variants = {{"default", ""}, {"fast", "-cl-fast-relaxed-math -DX=\"a b\""}, {"none", "-w"}};
  const format::Target gpu = installed("NVIDIA CUDA", "an sm_50", "sm_50");
  format::Target narrow = sample_offline_target("spirv:1.2", "");
  narrow.identity.address_bits = 32;
  all.entries = {
      entry_of("default", gpu, binary("sm_50.nvcl.ptx")),
      entry_of("default", gpu, binary("sm_50.cuda12.cubin")),
      entry_of("fast", gpu, binary("sm_50.cuda.ptx")),
      entry_of("default", sample_offline_target("cubin:sm_90a", "sm_90a"), binary("sm_90a.cubin")),
      entry_of("default", installed("AMD Accelerated Parallel Processing", "gfx906", "gfx906"),
               binary("gfx906.v3.co")),
      entry_of("default", installed("Intel(R) OpenCL HD Graphics", "tgllp", "tgllp"),
               binary("tgllp.zebin")),
      entry_of("default", narrow, binary("kernel.spv")),
      entry_of("default", installed("rusticl", "llvmpipe", ""), binary("llvmpipe.rusticl")),
      entry_of("default", installed("Oclgrind", "Oclgrind Simulator", ""), binary("oclgrind.bc")),
      entry_of("fast", installed("other", "a", ""), bytes_of("neither we nor you know it")),
  };
  // Kinds without a matching rule, and the bytes that identify them.
  using namespace std::string_view_literals;
  for (const std::string_view start :
       {"clvk\1\0\0\0"sv, "!<arch>\n"sv, "\x50\xED\x55\xBA"sv, "__CLANG_OFFLOAD_BUNDLE__"sv,
        "\x10\xFF\x10\xAD\1\0\0\0"sv, "poclbin\0\1\2\3\4\5\6\7\10\10\0\0\0"sv}) {
    all.entries.push_back(entry_of(
        "fast", installed("other", fmt::format("{}", all.entries.size()), ""), bytes_of(start)));
  }
  format::ProgramInput source_only;
  source_only.name = "source only";
  source_only.source = sample_source("kernel void f() {}\n");
  source_only.variants = {{"default", "-DN=1"}};
  return {"oclcc 0.1.0", {all, source_only}};
}

// More than one page of every section but PAYLOAD: 103 groups, 309 entries, 66 targets, 45 blobs.
format::BundleInput many_pages_input() {
  constexpr std::uint32_t k_variants = 103;
  constexpr std::uint32_t k_targets = 66;
  constexpr std::uint32_t k_payloads = 45;
  format::ProgramInput program;
  program.name = "matmul";
  for (std::uint32_t v = 0; v < k_variants; ++v) {
    const std::string variant = fmt::format("a variant with a long name {}", v);
    program.variants.push_back({variant, fmt::format("-DV={}", v)});
    for (std::uint32_t e = 0; e < 3; ++e) {
      const std::uint32_t number = v * 3 + e;
      format::EntryInput entry =
          sample_entry(variant, sample_device(fmt::format("device {}", number % k_targets)),
                       bytes_of(fmt::format("{}", number % k_payloads)));
      entry.kernels.resize(1);
      entry.kernels[0].arguments.reset();
      program.entries.push_back(std::move(entry));
    }
  }
  return {"oclcc 0.1.0", {program}};
}

format::BundleReader read_ptx_bundle(const std::string& name, const std::vector<unsigned>& sms) {
  const std::string body = base::to_hex(base::digest_of({})) + std::string(300, 'x');
  format::ProgramInput program;
  program.name = "matmul";
  program.variants = {{"default", ""}};
  program.source = sample_source("kernel void f() {}\n");
  for (const unsigned sm : sms) {
    program.entries.push_back(
        sample_entry("default", sample_device(fmt::format("gpu {}", sm)), sample_ptx(sm, body)));
  }
  return must_open(must_write({"test " + name, {program}}), name + ".clbin");
}

// Merges overlapping bundles. The second bundle contains the payload of the first without a
// reference. The reference of the first is hidden, because sm_50 was stripped. It remains in the
// result, unused.
Bytes merged_bundle() {
  const auto keep = [](const format::EntryView& entry) {
    return entry.target.device_name != "gpu 50";
  };
  const format::BundleReader whole = read_ptx_bundle("whole", {50, 60});
  const format::BundleReader first = must_open(format::strip_bundle(whole, {keep}).value().bytes);
  const format::BundleReader second = read_ptx_bundle("second", {60});
  const format::BundleReader third = read_ptx_bundle("third", {60, 70, 80});
  const std::vector<const format::BundleReader*> inputs = {&first, &second, &third};
  return format::merge_bundles(inputs).value();
}

// Every outcome, several launches, drivers, architectures and vendors, and a variant that needs
// more of a device than others.
format::BundleInput measured_input() {
  using enum format::MeasurementOutcome;
  format::BundleInput input = sample_input();
  format::ProgramInput& program = input.programs[0];
  program.entries[0].kernels[0].local_bytes = 32768;
  const std::string source =
      program.source ? base::to_hex(base::digest_of(format::encode_source_package(*program.source)))
                     : std::string();
  std::uint64_t time = 1000;
  for (const std::string device : {"gpu a", "gpu b"}) {
    for (const format::VariantInput& variant : program.variants) {
      for (const std::uint64_t size : {std::uint64_t{1024}, std::uint64_t{4096}}) {
        format::Measurement measurement = sample_measurement(variant.name, device, time);
        measurement.kernel = "matmul";
        measurement.dimensions = 2;
        measurement.global_size = {size, size, 1};
        measurement.device.architecture = "gfx90a:sramecc+:xnack-";
        measurement.spread_ns = time / 100;
        measurement.source = source;
        program.measurements.push_back(measurement);
        measurement.local_size = {16, 16, 1};
        measurement.device.driver_version = "2.0";
        program.measurements.push_back(measurement);
        time = time * 7 % 9973;
      }
    }
  }
  for (const format::MeasurementOutcome outcome : {wrong_result, failed, crashed, timed_out}) {
    format::Measurement measurement = sample_measurement(program.variants[0].name, "cpu", 0);
    measurement.device.type = format::DeviceType::cpu;
    measurement.global_size[0] = static_cast<std::uint64_t>(outcome);
    measurement.outcome = outcome;
    measurement.reason = fmt::format("{} \xff", name_of(outcome));
    measurement.rounds = 0;
    measurement.source = source;
    program.measurements.push_back(measurement);
  }
  return input;
}

// A known answer of each variant, with a buffer of each type before it and after it, and every fill
// and kind of argument.
format::BundleInput answered_input() {
  format::BundleInput input = sample_input();
  format::ProgramInput& program = input.programs[0];
  for (const format::VariantInput& variant : program.variants) {
    format::KnownAnswer answer{variant.name, "matmul", 2, {16, 8, 1}, {4, 2, 1}};
    answer.device = "Platform / Device \xff / 1.0";
    answer.tolerance = "0.5";
    for (std::uint8_t number = 0; number < names_of(format::ElementType()).size(); ++number) {
      format::LaunchArgument buffer{format::ArgumentKind::buffer};
      buffer.type = static_cast<format::ElementType>(number);
      buffer.fill =
          static_cast<format::Fill>(number % static_cast<std::uint8_t>(format::Fill::stored));
      buffer.count = 2 + number;
      buffer.seed = number;
      buffer.is_constant = number % 4 == 3;
      if (!buffer.is_constant) {
        answer.results.push_back(
            format::expected_buffer(number, buffer.type, format::fill_buffer(buffer)));
      }
      answer.arguments.push_back(std::move(buffer));
    }
    answer.arguments.push_back({format::ArgumentKind::number, Bytes(3, std::byte{7})});
    answer.arguments.push_back({format::ArgumentKind::local});
    answer.arguments.back().count = 64;
    program.answers.push_back(answer);
    answer.local_size = {};
    answer.tolerance = "";
    program.answers.push_back(std::move(answer));
  }
  return input;
}

// A launch that was recorded: a buffer of floating-point numbers that it changes, an image, a
// sampler and NULL.
void add_recorded_answer(format::ProgramInput& program) {
  const auto keep = [&](std::string_view text) {
    const Bytes bytes = bytes_of(text);
    std::string digest = base::to_hex(base::digest_of(bytes));
    program.data.emplace(digest, bytes);
    return digest;
  };
  format::LaunchArgument buffer{.kind = format::ArgumentKind::buffer};
  buffer.type = format::ElementType::f32;
  buffer.fill = format::Fill::stored;
  buffer.count = 4;
  buffer.digest = keep("sixteen bytes...");
  format::LaunchArgument image{.kind = format::ArgumentKind::image};
  image.fill = format::Fill::stored;
  image.count = 16;
  image.is_constant = true;
  image.digest = keep("2x2 RGBA pixels.");
  image.properties = {0x10F1, 0x10B5, 0x10D2, 2, 2, 0, 0}; // 2D, RGBA, UNORM_INT8
  format::LaunchArgument sampler{.kind = format::ArgumentKind::sampler};
  sampler.properties = {0, 0x1130, 0x1140};
  format::LaunchArgument null{.kind = format::ArgumentKind::buffer};
  null.is_constant = true;
  format::KnownAnswer answer{"default", "matmul", 1, {4, 1, 1}, {}};
  answer.device = "Platform / Device / 1.0";
  answer.arguments = {buffer, image, sampler, null};
  answer.results = {{0, {}, keep("what it left....")}};
  program.answers.push_back(std::move(answer));
}

// Returns the programs with the entries for which `is_wanted`.
format::BundleInput part_of(const format::BundleInput& whole,
                            const std::function<bool(const format::EntryInput&)>& is_wanted) {
  format::BundleInput part{whole.producer, {}};
  for (format::ProgramInput program : whole.programs) {
    program.source.reset();
    program.answers.clear();
    std::erase_if(program.entries, [&](const auto& entry) { return !is_wanted(entry); });
    part.programs.push_back(std::move(program));
  }
  return part;
}

} // namespace

// PTX for every version in one pack, the entries of installed devices in another one.
std::vector<std::pair<std::string, Bytes>> split_bundles() {
  format::BundleInput whole = sample_input();
  whole.programs[0].variants[1].required = {"cl_khr_fp16", "cl_khr_subgroups"};
  add_recorded_answer(whole.programs[0]);
  const auto is_ptx = [](const auto& entry) { return entry.target.spec.starts_with("nvptx"); };
  std::vector<std::pair<std::string, Bytes>> bundles = {
      {"nvptx.clbin", must_write(part_of(whole, is_ptx))},
      {"installed.clbin", must_write(part_of(whole, std::not_fn(is_ptx)))}};
  format::WriteOptions options;
  for (const auto& [file, bytes] : bundles) {
    const auto pack = must_open(bytes);
    std::map<std::pair<std::uint64_t, std::uint64_t>, format::PackRecord> records;
    for (std::uint32_t i = 0; i < pack.entry_count(); ++i) {
      const format::EntryView entry = pack.entry(i).value();
      const std::uint64_t target = base::leading_u64(entry.target.digest);
      records[{target, entry.match_key}] = {entry.match_key, target, pack.root_digest(),
                                            file.substr(0, file.find('.'))};
    }
    std::ranges::transform(records, std::back_inserter(options.packs),
                           [](const auto& record) { return record.second; });
  }
  for (format::ProgramInput& program : whole.programs) {
    program.entries.clear();
  }
  bundles.emplace_back("base.clbin", format::write_bundle(whole, options).value());
  return bundles;
}

std::vector<std::pair<std::string, Bytes>> answered_bundles() {
  return {{"answers.clbin", must_write(answered_input())}};
}

std::vector<std::pair<std::string, Bytes>> measured_bundles() {
  const Bytes whole = must_write(measured_input());
  return {{"measured.clbin", whole},
          {"results.clbin",
           format::strip_bundle(must_open(whole), {.measurements = format::KeepMeasurements::only})
               .value()
               .bytes}};
}

std::vector<std::pair<std::string, Bytes>> golden_bundles() {
  const Bytes sample = must_write(sample_input());
  const Bytes every_kind = format::write_bundle(every_kind_input(), {}).value();
  return {
      {"empty.clbin", must_write({"oclcc 0.1.0", {}})},
      {"two_programs.clbin", sample},
      {"stripped.clbin", stripped_bundle(sample)},
      {"signed.clbin", signed_bundle(sample)},
      {"minor_1.clbin", later_bundle(sample)},
      {"every_kind.clbin", every_kind},
      {"names_only.clbin", names_only_bundle(every_kind)},
      {"other_types.clbin", other_types_bundle(sample)},
      {"merged.clbin", merged_bundle()},
      {"many_pages.clbin", format::write_bundle(many_pages_input(), {}).value()},
  };
}

} // namespace clbin::test
