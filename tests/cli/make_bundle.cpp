// make_bundle KIND FILE: writes bundles for the CLI tests, without a driver.
//   sample             two programs, three groups, seven entries
//   il                 one entry with IL, SPIR-V 1.0 for 64 bits
//   unit N             the sample with only its entry N, and all variants and sources
//   other-source, other-options, other-payload
//                      the sample, in conflict with itself
//   changed            the sample with another kernel, options, source, program and payload
//   hostile            names that would lead to other folders if they were file names
//   newer              the same, of format version 2.0
//   manifest FROM TO   the same, with FROM replaced by TO in the first manifest, all digests valid
//   recording …        one recorded build
//   data …             one recorded launch, with its data
//   times BUNDLE       the same contents, with measurements of programs of several variants; the
//   last
//                      variant is the fastest
//   options BUNDLE OPTIONS, kernel BUNDLE NAME, cut BUNDLE
//                      a real bundle whose entries record other options, list one kernel more than
//                      their binaries have, or contain half of their bytes; all digests valid

#include "base/file_io.hpp"
#include "format/bundle/bundle_surgery.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "support/bundle_samples.hpp"
#include "support/crafted_bundle.hpp"

#include <cstdio>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <iterator>
#include <span>
#include <sstream>

namespace {

using clbin::base::Bytes;
using clbin::format::SectionKind;
using clbin::test::CraftedBundle;

// Offsets of BLOB's fields, from clbin(5).
constexpr std::size_t k_blob_raw_digest = 0;
constexpr std::size_t k_blob_stored_digest = 32;
constexpr std::size_t k_blob_offset = 64;
constexpr std::size_t k_blob_stored_bytes = 72;
constexpr std::size_t k_blob_raw_bytes = 80;
constexpr std::size_t k_blob_reference = 88;
constexpr std::size_t k_blob_codec = 92;

Bytes newer(const Bytes& sample) {
  CraftedBundle crafted(sample);
  crafted.edit_prefix = [](clbin::format::Prefix& prefix) {
    prefix.major = 2;
    prefix.minor = 0;
  };
  return crafted.build();
}

Bytes with_manifest_changed(const Bytes& sample, const std::string& from, const std::string& to) {
  const auto reader = clbin::test::must_open(sample);
  const auto group = reader.group(0);
  const std::uint32_t blob = group->manifest_blob;
  const auto raw = reader.read_blob(blob);
  std::string json(clbin::base::as_text(*raw));
  const std::size_t place = json.find(from);
  if (place == std::string::npos) {
    std::fprintf(stderr, "make_bundle: no %s in %s\n", from.c_str(), json.c_str());
    return {};
  }
  json.replace(place, from.size(), to);

  CraftedBundle crafted(sample);
  Bytes& payload = crafted.section(SectionKind::payload).bytes;
  payload.resize((payload.size() + 7) / 8 * 8);
  const std::size_t offset = payload.size();
  const Bytes bytes = clbin::test::bytes_of(json);
  payload.insert(payload.end(), bytes.begin(), bytes.end());
  const auto digest = clbin::base::digest_of(bytes);
  crafted.set_bytes(SectionKind::blob, blob, k_blob_raw_digest, digest.bytes);
  crafted.set_bytes(SectionKind::blob, blob, k_blob_stored_digest, digest.bytes);
  crafted.set_u64(SectionKind::blob, blob, k_blob_offset, offset);
  crafted.set_u64(SectionKind::blob, blob, k_blob_stored_bytes, bytes.size());
  crafted.set_u64(SectionKind::blob, blob, k_blob_raw_bytes, bytes.size());
  crafted.set_u32(SectionKind::blob, blob, k_blob_reference, clbin::format::k_no_index);
  crafted.set_u8(SectionKind::blob, blob, k_blob_codec, 0);
  return crafted.build();
}

clbin::format::BundleInput unit(std::size_t wanted) {
  clbin::format::BundleInput input = clbin::test::sample_input();
  std::size_t number = 0;
  for (auto& program : input.programs) {
    std::vector<clbin::format::EntryInput> kept;
    for (auto& entry : program.entries) {
      if (number++ == wanted) {
        kept.push_back(std::move(entry));
      }
    }
    program.entries = std::move(kept);
  }
  return input;
}

// A header, and OpMemoryModel Physical64 OpenCL.
clbin::format::BundleInput il() {
  constexpr std::uint32_t k_words[] = {0x07230203U, 0x00010000U, 0, 1, 0, (3U << 16U) | 14U, 2, 2};
  clbin::format::BundleInput input = unit(0);
  input.programs.resize(1);
  clbin::format::EntryInput& entry = input.programs[0].entries.at(0);
  const auto bytes = std::as_bytes(std::span(k_words));
  entry.payload = Bytes(bytes.begin(), bytes.end());
  entry.target = {};
  entry.target.origin = clbin::format::TargetOrigin::offline;
  entry.target.identity.address_bits = 64;
  entry.target.spec = "spirv:1.0";
  return input;
}

clbin::format::BundleInput conflicting(const std::string& kind) {
  clbin::format::BundleInput input = clbin::test::sample_input();
  if (kind == "other-source") {
    input.programs[0].source->main.text += "// more\n";
  } else if (kind == "other-options") {
    input.programs[1].variants[0].options = "-DWIDTH=16";
  } else {
    input.programs[0].entries[0].payload = clbin::test::sample_ptx(50, "// another one\n");
  }
  return input;
}

clbin::format::BundleInput changed() {
  clbin::format::BundleInput input = clbin::test::sample_input();
  auto& matmul = input.programs[0];
  matmul.source->main.text += "// more\n";
  matmul.variants[1].options = "-cl-mad-enable";
  matmul.entries[0].payload = clbin::test::sample_ptx(50, "// another one\n");
  matmul.entries[1].kernels[0].arguments.reset();
  matmul.entries[1].kernels.pop_back();
  matmul.entries.erase(matmul.entries.begin() + 2);
  input.programs[1].name = "scan";
  return input;
}

clbin::format::BundleInput hostile() {
  clbin::format::BundleInput input = clbin::test::sample_input();
  auto& first = input.programs[0];
  first.name = "../../escaped";
  first.source->main.include_name = "../../main.cl";
  first.variants = {{"..", ""}, {"/etc/passwd", ""}};
  first.entries[0].variant = first.entries[1].variant = "..";
  first.entries[2].variant = first.entries[3].variant = first.entries[4].variant = "/etc/passwd";
  first.entries[0].target = clbin::test::sample_device("a/../../b\nc");
  first.entries[1].target = clbin::test::sample_device("A/../../B\nc");
  first.entries[2].target = clbin::test::sample_device(std::string(300, 'x'));
  auto& second = input.programs[1];
  second.name = "-rf";
  second.variants[0].name = second.entries[0].variant = second.entries[1].variant = "\x1b[31m";
  return input;
}

void spoil(clbin::format::EntryInput& entry, const std::vector<std::string>& words) {
  if (words[0] == "options") {
    entry.options = words[2];
  } else if (words[0] == "kernel") {
    clbin::format::KernelReflection more;
    more.name = words[2];
    entry.kernels.push_back(std::move(more));
  } else {
    Bytes bytes = clbin::test::bytes_kept_in(entry.payload);
    bytes.resize(bytes.size() / 2);
    entry.payload = std::move(bytes);
  }
}

// Of each variant: with NULL as local size, and with 64, which the first variant does not survive.
void add_times(clbin::format::ProgramInput& program) {
  std::uint64_t time = 90000;
  for (const auto& variant : program.variants) {
    for (const std::uint64_t size : {0U, 64U}) {
      auto one = clbin::test::sample_measurement(variant.name, "gpu a", time -= 17000);
      one.source = program.source ? clbin::base::to_hex(clbin::base::digest_of(
                                        clbin::format::encode_source_package(*program.source)))
                                  : "";
      one.local_size = {size, size == 0 ? 0U : 1U, size == 0 ? 0U : 1U};
      if (size != 0 && &variant == &program.variants.front()) {
        one.outcome = clbin::format::MeasurementOutcome::failed;
        one.reason = "clEnqueueNDRangeKernel answered CL_INVALID_WORK_GROUP_SIZE";
        one.median_ns = 0;
      }
      if (program.variants.size() > 1) {
        program.measurements.push_back(std::move(one));
      }
    }
  }
}

Bytes spoiled(const std::vector<std::string>& words) {
  const auto source = clbin::base::open_file_source(words[1]);
  const auto reader =
      source ? clbin::format::BundleReader::open(*source, {}, clbin::format::TrailingBytes::refuse)
             : tl::unexpected(source.error());
  auto contents = reader ? clbin::format::unpack_bundle(*reader) : tl::unexpected(reader.error());
  if (!contents) {
    std::fprintf(stderr, "make_bundle: %s\n", contents.error().message.c_str());
    return {};
  }
  for (auto& program : contents->programs) {
    if (words[0] == "times") {
      add_times(program);
      continue;
    }
    for (auto& entry : program.entries) {
      spoil(entry, words);
    }
  }
  return clbin::test::must_write(*contents);
}

// What the layer writes for one build. `words`: "recording", source file, program, variant,
// options, kernels, name of a device or "-" and launches, such as "scale 1 64 1 1;fill 2 0 0 0", or
// "".
clbin::format::BundleInput recording(const std::vector<std::string>& words) {
  clbin::format::BundleInput input;
  input.producer = "make_bundle";
  clbin::format::ProgramInput& program = input.programs.emplace_back();
  program.name = words[2];
  if (const auto text = clbin::base::read_whole_file(words[1], 1U << 20U)) {
    program.source.emplace();
    program.source->main = {"source", "source", std::string(clbin::base::as_text(*text))};
  }
  program.variants = {{words[3], words[4]}};
  if (words[6] != "-") {
    std::istringstream kernels(words[5]);
    program.builds.push_back({words[3],
                              clbin::test::sample_device(words[6]),
                              {std::istream_iterator<std::string>(kernels), {}}});
  }
  std::istringstream launches(words[7]);
  for (std::string launch; std::getline(launches, launch, ';');) {
    std::istringstream fields(launch);
    auto& recorded = program.launches.emplace_back();
    recorded.variant = words[3];
    fields >> recorded.kernel >> recorded.dimensions >> recorded.local_size[0] >>
        recorded.local_size[1] >> recorded.local_size[2];
  }
  return input;
}

Bytes floats(float first, float step) {
  std::array<float, 16> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = first + step * static_cast<float>(i);
  }
  const auto bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}

// What the layer writes for a launch of KERNEL(global float* a, global const float* b, float by),
// which adds by times b to a. `words`: "data", program, variant, options, kernel, by, and the
// argument that is of another kind, or "".
clbin::format::BundleInput data(const std::vector<std::string>& words) {
  clbin::format::BundleInput input;
  input.producer = "make_bundle";
  clbin::format::ProgramInput& program = input.programs.emplace_back();
  program.name = words[1];
  program.variants = {{words[2], words[3]}};
  const float by = std::stof(words[5]);
  const auto keep = [&](Bytes bytes) {
    std::string digest = clbin::base::to_hex(clbin::base::digest_of(bytes));
    program.data.emplace(digest, std::move(bytes));
    return digest;
  };
  clbin::format::KnownAnswer& answer = program.answers.emplace_back();
  answer.variant = words[2];
  answer.kernel = words[4];
  answer.dimensions = 1;
  answer.global_size = {16, 1, 1};
  answer.device = "platform / device / 1";
  for (const bool is_constant : {false, true}) {
    auto& argument = answer.arguments.emplace_back();
    argument.kind = clbin::format::ArgumentKind::buffer;
    argument.type = clbin::format::ElementType::f32;
    argument.fill = clbin::format::Fill::stored;
    argument.count = 16;
    argument.is_constant = is_constant;
    argument.digest = keep(is_constant ? floats(1, 2) : floats(0, 1));
  }
  const auto number = std::as_bytes(std::span(&by, 1));
  answer.arguments.emplace_back().number.assign(number.begin(), number.end());
  if (!words[6].empty()) {
    answer.arguments[std::stoul(words[6])] = answer.arguments[2];
  }
  answer.results = {{0, {}, keep(floats(by, 1 + 2 * by))}};
  return input;
}

// A payload that no compressor makes smaller.
clbin::format::BundleInput large(std::size_t size_mib) {
  clbin::format::BundleInput input = clbin::test::sample_input();
  input.programs.resize(1);
  input.programs[0].entries.resize(1);
  input.programs[0].entries[0].payload = clbin::test::random_bytes(size_mib << 20U, 1);
  return input;
}

Bytes make(const std::vector<std::string>& words) {
  if (((words[0] == "options" || words[0] == "kernel") && words.size() == 4) ||
      ((words[0] == "cut" || words[0] == "times") && words.size() == 3)) {
    return spoiled(words);
  }
  const Bytes sample = clbin::test::must_write(clbin::test::sample_input());
  if (words[0] == "unit" && words.size() == 3) {
    return clbin::test::must_write(unit(std::stoul(words[1])));
  }
  if (words[0] == "farm" && words.size() == 4) {
    const auto number = static_cast<std::uint32_t>(std::stoul(words[1]));
    return clbin::format::write_bundle(clbin::test::farm_input(number, std::stoul(words[2])), {1})
        .value();
  }
  if (words[0] == "large" && words.size() == 3) {
    return clbin::test::must_write(large(std::stoul(words[1])));
  }
  if (words[0] == "recording" && words.size() == 9) {
    return clbin::test::must_write(recording(words));
  }
  if (words[0] == "data" && words.size() == 8) {
    return clbin::test::must_write(data(words));
  }
  if (words[0] == "il") {
    return clbin::test::must_write(il());
  }
  if (words[0] == "changed") {
    return clbin::test::must_write(changed());
  }
  if (words[0] == "hostile") {
    return clbin::test::must_write(hostile());
  }
  if (words[0].starts_with("other-")) {
    return clbin::test::must_write(conflicting(words[0]));
  }
  if (words[0] == "sample") {
    return sample;
  }
  if (words[0] == "newer") {
    return newer(sample);
  }
  return words[0] == "manifest" && words.size() == 4
             ? with_manifest_changed(sample, words[1], words[2])
             : Bytes();
}

// Writes `count` bundles of one entry each, as a plan's units make them: FOLDER/0.clbin, …
bool write_units(std::uint32_t count, std::size_t payload_bytes, const std::string& folder) {
  for (std::uint32_t number = 0; number < count; ++number) {
    const auto bytes =
        clbin::format::write_bundle(clbin::test::unit_input(number, payload_bytes), {1});
    if (!bytes ||
        !clbin::base::write_output_file(fmt::format("{}/{}.clbin", folder, number), *bytes)) {
      return false;
    }
  }
  return true;
}

} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2) {
    std::fputs(
        "usage: make_bundle "
        "sample|il|newer|changed|hostile|other-source|other-options|other-payload FILE,\n"
        "make_bundle unit N FILE, make_bundle manifest FROM TO FILE,\n"
        "make_bundle options BUNDLE OPTIONS FILE, make_bundle kernel BUNDLE NAME FILE,\n"
        "make_bundle cut BUNDLE FILE, make_bundle times BUNDLE FILE,\n"
        "make_bundle recording SOURCE PROGRAM VARIANT OPTIONS KERNELS DEVICE LAUNCHES FILE,\n"
        "make_bundle units COUNT PAYLOAD_BYTES FOLDER,\n"
        "make_bundle farm MACHINE PAYLOAD_BYTES FILE, make_bundle large MIB FILE\n",
        stderr);
    return 2;
  }
  if (words[0] == "units" && words.size() == 4) {
    const auto count = static_cast<std::uint32_t>(std::stoul(words[1]));
    return write_units(count, std::stoul(words[2]), words[3]) ? 0 : 1;
  }
  const Bytes bytes = make(words);
  const bool made = !bytes.empty() && !testing::UnitTest::GetInstance()->Failed();
  return made && clbin::base::write_output_file(words.back(), bytes) ? 0 : 1;
}
