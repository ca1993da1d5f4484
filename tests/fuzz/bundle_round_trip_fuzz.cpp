#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/bundle_surgery.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "fuzz_check.hpp"
#include "fuzz_input.hpp"

#include <algorithm>
#include <array>

namespace clbin::fuzz {
namespace {

using format::BundleInput;
using format::BundleReader;
using format::EntryInput;
using format::ProgramInput;

const format::WriteOptions k_fast{.compression_level = 1};

// Nearly always returns a name that the writer accepts.
std::string name_from(FuzzInput& input) {
  const bool may_be_refused = input.byte() == 0xff;
  return may_be_refused ? input.text(8) : "n" + input.text(4);
}

// Payloads that share most of their bytes, so the writer compresses some against others.
base::Bytes payload_from(FuzzInput& input) {
  constexpr std::array<std::string_view, 4> heads{
      ".version 8.0\n.target sm_80, texmode_independent\n.address_size 64\n.entry ",
      ".version 8.0\n.target sm_90, texmode_independent\n.address_size 64\n.entry ",
      "!<arch>\n",
      "",
  };
  std::string text(heads[input.number(heads.size() - 1)]);
  const std::string unit = input.text(24);
  const std::size_t repeats = input.number(64);
  for (std::size_t index = 0; index < repeats; ++index) {
    text += unit;
  }
  text += input.text(16);
  const base::ByteView bytes = base::as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

format::Target target_from(FuzzInput& input) {
  format::Target target;
  if (input.coin()) {
    target.origin = format::TargetOrigin::offline;
    target.spec = "nvptx:" + input.text(6);
    return target;
  }
  target.identity.platform_name = input.text(8);
  target.identity.device_name = input.text(8);
  target.identity.driver_version = input.text(8);
  target.identity.vendor_id = input.byte();
  target.identity.address_bits = input.coin() ? 64 : 0;
  if (input.coin()) {
    target.identity.il_versions.push_back(input.text(4));
  }
  return target;
}

format::KernelReflection kernel_from(FuzzInput& input) {
  format::KernelReflection kernel;
  kernel.name = name_from(input);
  kernel.attributes = input.text(8);
  if (input.coin()) {
    format::KernelArgument argument;
    argument.name = input.text(8);
    argument.type_name = input.text(8);
    argument.address_space = static_cast<format::AddressSpace>(input.number(3));
    argument.is_const = input.coin();
    kernel.arguments = std::vector{argument};
    kernel.argument_count = 1;
  }
  kernel.required_work_group_size = {input.byte(), input.byte(), input.byte()};
  if (input.coin()) {
    kernel.local_bytes = input.byte();
  }
  return kernel;
}

EntryInput entry_from(FuzzInput& input, const std::vector<format::VariantInput>& variants) {
  EntryInput entry;
  entry.variant = variants[input.byte() % variants.size()].name;
  entry.target = target_from(input);
  entry.options = input.text(12);
  entry.payload = payload_from(input);
  for (std::uint8_t count = input.number(2); count != 0; --count) {
    entry.kernels.push_back(kernel_from(input));
  }
  entry.build_log = input.text(12);
  if (input.coin()) {
    entry.tools[input.text(4)] = input.text(4);
  }
  return entry;
}

format::SourcePackage source_from(FuzzInput& input) {
  format::SourcePackage source{{name_from(input), input.text(8), name_from(input)}, {}};
  for (std::uint8_t count = input.number(2); count != 0; --count) {
    source.headers.push_back({name_from(input), input.text(8), input.text(16)});
  }
  return source;
}

ProgramInput program_from(FuzzInput& input) {
  ProgramInput program;
  program.name = name_from(input);
  program.variants.push_back({std::string(format::k_default_variant), input.text(8)});
  for (std::uint8_t count = input.number(2); count != 0; --count) {
    program.variants.push_back({name_from(input), input.text(4)});
  }
  if (input.coin()) {
    program.source = source_from(input);
  }
  for (std::uint8_t count = input.number(5); count != 0; --count) {
    program.entries.push_back(entry_from(input, program.variants));
  }
  return program;
}

BundleInput bundle_from(FuzzInput& input) {
  BundleInput bundle;
  bundle.producer = input.text(8);
  for (std::uint8_t count = input.number(3); count != 0; --count) {
    bundle.programs.push_back(program_from(input));
  }
  return bundle;
}

std::vector<std::string> kernel_names(const EntryInput& entry) {
  std::vector<std::string> names;
  for (const format::KernelReflection& kernel : entry.kernels) {
    names.push_back(kernel.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

base::Bytes payload_of(const EntryInput& entry) {
  const auto region = entry.payload.read().value();
  return {region.view().begin(), region.view().end()};
}

// Of entries that differ only in options, reflection or log, the writer keeps one.
bool is_kept_for(const EntryInput& given, const EntryInput& other, const format::EntryView& view) {
  return other.variant == given.variant && other.target == given.target &&
         payload_of(other) == payload_of(given) && other.options == view.options &&
         kernel_names(other) == view.kernels;
}

bool is_entry_of(const BundleReader& bundle, const format::EntryView& view,
                 const ProgramInput& program, const EntryInput& given) {
  const auto payload = bundle.read_blob(view.blob);
  require(payload.has_value(), "a payload that was written can be read");
  return *payload == payload_of(given) &&
         view.kind == format::classify_binary(payload_of(given)).kind &&
         std::any_of(program.entries.begin(), program.entries.end(),
                     [&](const EntryInput& other) { return is_kept_for(given, other, view); });
}

void check_entry(const BundleReader& bundle, const ProgramInput& program, const EntryInput& given) {
  const auto group = bundle.find_group(program.name, given.variant);
  require(group.has_value(), "a group that was written is found");
  const auto found = bundle.find_exact(*group, format::target_digest(given.target));
  require(found.has_value(), "a look-up in a whole bundle works");
  const bool is_there =
      std::any_of(found->begin(), found->end(), [&](const format::EntryView& view) {
        return is_entry_of(bundle, view, program, given);
      });
  require(is_there, "an entry that was written is found by its target");
}

void check_program(const BundleReader& bundle, const ProgramInput& program) {
  for (const format::VariantInput& variant : program.variants) {
    const auto group = bundle.find_group(program.name, variant.name);
    require(group.has_value() && group->options == variant.options,
            "a variant that was written is found with its options");
    const auto source = bundle.read_source(*group);
    require(source.has_value() == program.source.has_value(), "source is there when it was given");
    require(!source || *source == *program.source, "source reads back as it was");
  }
  for (const EntryInput& entry : program.entries) {
    check_entry(bundle, program, entry);
  }
}

void check_bundle(const BundleInput& input, const base::Bytes& bytes) {
  const auto bundle = BundleReader::open(base::memory_source(bytes), format::ReadLimits{},
                                         format::TrailingBytes::refuse);
  require(bundle.has_value(), "a bundle that was written opens");
  require(bundle->verify().has_value(), "a bundle that was written verifies");
  for (const ProgramInput& program : input.programs) {
    check_program(*bundle, program);
  }
  const auto repacked = format::repack_bundle(*bundle, k_fast);
  require(repacked.has_value() && *repacked == bytes, "a repacked bundle is the bundle");
}

BundleInput reversed(BundleInput input) {
  std::reverse(input.programs.begin(), input.programs.end());
  for (ProgramInput& program : input.programs) {
    std::reverse(program.variants.begin(), program.variants.end());
    std::reverse(program.entries.begin(), program.entries.end());
  }
  return input;
}

} // namespace
} // namespace clbin::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clbin;
  fuzz::FuzzInput values(std::as_bytes(std::span(data, size)));
  const format::BundleInput input = fuzz::bundle_from(values);
  const auto written = format::write_bundle(input, fuzz::k_fast);
  const auto again = format::write_bundle(fuzz::reversed(input), fuzz::k_fast);
  fuzz::require(written.has_value() == again.has_value(), "order does not decide whether it works");
  if (!written) {
    fuzz::require(written.error().code == base::ErrorCode::invalid_argument,
                  "a refused bundle is invalid_argument");
    return 0;
  }
  fuzz::require(*written == *again, "order does not change a byte");
  fuzz::check_bundle(input, *written);
  return 0;
}
