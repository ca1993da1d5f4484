#include "worker/worker_protocol.hpp"

namespace oclcc::worker {

using clbin::base::ByteReader;
using clbin::base::Bytes;
using clbin::base::ByteView;
using clbin::base::ByteWriter;
using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;
using clbin::format::AccessQualifier;
using clbin::format::AddressSpace;
using clbin::format::DeviceIdentity;
using clbin::format::KernelArgument;
using clbin::format::KernelReflection;
using clbin::format::SourceFile;
using clbin::format::SourcePackage;

namespace {

// --- fields -------------------------------------------------------------------------------------

Result<std::string> read_string(ByteReader& reader, std::string_view field) {
  CLBIN_TRY_ASSIGN(const std::string_view text, reader.read_text(field));
  return std::string(text);
}

Result<bool> read_bool(ByteReader& reader, std::string_view field) {
  CLBIN_TRY_ASSIGN(const std::uint8_t value, reader.read_u8(field));
  if (value > 1) {
    return fail(ErrorCode::damaged, "{} is {}, which is neither 0 nor 1", field, value);
  }
  return value == 1;
}

// Every element has at least one byte, so that no count causes an allocation larger than the
// message.
Result<std::uint32_t> read_count(ByteReader& reader, std::string_view field) {
  CLBIN_TRY_ASSIGN(const std::uint32_t count, reader.read_u32(field));
  if (count > reader.remaining()) {
    return fail(ErrorCode::truncated, "{} is {}, but {} bytes are left", field, count,
                reader.remaining());
  }
  return count;
}

void write_count(ByteWriter& writer, std::size_t count) {
  writer.write_u32(static_cast<std::uint32_t>(count));
}

void write_bool(ByteWriter& writer, bool value) {
  writer.write_u8(value ? 1 : 0);
}

void write_strings(ByteWriter& writer, const std::vector<std::string>& texts) {
  write_count(writer, texts.size());
  for (const std::string& text : texts) {
    writer.write_text(text);
  }
}

Result<std::vector<std::string>> read_strings(ByteReader& reader, std::string_view field) {
  CLBIN_TRY_ASSIGN(const std::uint32_t count, read_count(reader, field));
  std::vector<std::string> texts;
  for (std::uint32_t i = 0; i < count; ++i) {
    CLBIN_TRY_ASSIGN(std::string text, read_string(reader, field));
    texts.push_back(std::move(text));
  }
  return texts;
}

void write_options(ByteWriter& writer, const BuildOptions& options) {
  const auto& recorded = options.recorded_text();
  write_bool(writer, recorded.has_value());
  if (recorded.has_value()) {
    writer.write_text(*recorded);
  } else {
    write_strings(writer, options.words());
  }
}

Result<BuildOptions> read_options(ByteReader& reader) {
  CLBIN_TRY_ASSIGN(const bool is_recorded, read_bool(reader, "kind of options"));
  if (is_recorded) {
    CLBIN_TRY_ASSIGN(std::string text, read_string(reader, "recorded options"));
    return BuildOptions::recorded(std::move(text));
  }
  CLBIN_TRY_ASSIGN(auto words, read_strings(reader, "options"));
  return BuildOptions(std::move(words));
}

void write_optional_u64(ByteWriter& writer, const std::optional<std::uint64_t>& value) {
  write_bool(writer, value.has_value());
  writer.write_u64(value.value_or(0));
}

Result<std::optional<std::uint64_t>> read_optional_u64(ByteReader& reader, std::string_view field) {
  CLBIN_TRY_ASSIGN(const bool present, read_bool(reader, field));
  CLBIN_TRY_ASSIGN(const std::uint64_t value, reader.read_u64(field));
  return present ? std::optional(value) : std::nullopt;
}

void write_size(ByteWriter& writer, const GroupSize& size) {
  for (const std::uint64_t items : size) {
    writer.write_u64(items);
  }
}

Result<GroupSize> read_size(ByteReader& reader, std::string_view field) {
  GroupSize size{};
  for (std::uint64_t& items : size) {
    CLBIN_TRY_ASSIGN(items, reader.read_u64(field));
  }
  return size;
}

// --- devices ------------------------------------------------------------------------------------

void write_identity(ByteWriter& writer, const DeviceIdentity& identity) {
  writer.write_text(identity.platform_name);
  writer.write_text(identity.platform_version);
  writer.write_text(identity.vendor);
  writer.write_text(identity.device_name);
  writer.write_u32(identity.vendor_id);
  writer.write_text(identity.driver_version);
  writer.write_text(identity.device_version);
  write_strings(writer, identity.opencl_c_versions);
  write_strings(writer, identity.il_versions);
  writer.write_u32(identity.address_bits);
  writer.write_text(identity.architecture);
}

Result<DeviceIdentity> read_identity(ByteReader& reader) {
  DeviceIdentity identity;
  CLBIN_TRY_ASSIGN(identity.platform_name, read_string(reader, "platform name"));
  CLBIN_TRY_ASSIGN(identity.platform_version, read_string(reader, "platform version"));
  CLBIN_TRY_ASSIGN(identity.vendor, read_string(reader, "vendor"));
  CLBIN_TRY_ASSIGN(identity.device_name, read_string(reader, "device name"));
  CLBIN_TRY_ASSIGN(identity.vendor_id, reader.read_u32("vendor id"));
  CLBIN_TRY_ASSIGN(identity.driver_version, read_string(reader, "driver version"));
  CLBIN_TRY_ASSIGN(identity.device_version, read_string(reader, "device version"));
  CLBIN_TRY_ASSIGN(identity.opencl_c_versions, read_strings(reader, "OpenCL C versions"));
  CLBIN_TRY_ASSIGN(identity.il_versions, read_strings(reader, "IL versions"));
  CLBIN_TRY_ASSIGN(identity.address_bits, reader.read_u32("address bits"));
  CLBIN_TRY_ASSIGN(identity.architecture, read_string(reader, "architecture"));
  return identity;
}

void write_device(ByteWriter& writer, const DeviceDescription& device) {
  writer.write_u32(device.platform);
  writer.write_u32(device.device);
  writer.write_u64(device.type);
  write_bool(writer, device.compiler_available);
  writer.write_text(device.driver_library);
  write_identity(writer, device.identity);
  write_count(writer, device.properties.size());
  for (const auto& [label, value] : device.properties) {
    writer.write_text(label);
    writer.write_text(value);
  }
}

Result<DeviceDescription> read_device(ByteReader& reader) {
  DeviceDescription device;
  CLBIN_TRY_ASSIGN(device.platform, reader.read_u32("platform index"));
  CLBIN_TRY_ASSIGN(device.device, reader.read_u32("device index"));
  CLBIN_TRY_ASSIGN(device.type, reader.read_u64("device type"));
  CLBIN_TRY_ASSIGN(device.compiler_available, read_bool(reader, "compiler available"));
  CLBIN_TRY_ASSIGN(device.driver_library, read_string(reader, "driver library"));
  CLBIN_TRY_ASSIGN(device.identity, read_identity(reader));
  CLBIN_TRY_ASSIGN(const std::uint32_t count, read_count(reader, "property count"));
  for (std::uint32_t i = 0; i < count; ++i) {
    CLBIN_TRY_ASSIGN(std::string label, read_string(reader, "property label"));
    CLBIN_TRY_ASSIGN(std::string value, read_string(reader, "property value"));
    device.properties.emplace_back(std::move(label), std::move(value));
  }
  return device;
}

// --- sources ------------------------------------------------------------------------------------

void write_source_file(ByteWriter& writer, const SourceFile& file) {
  writer.write_text(file.include_name);
  writer.write_text(file.display_name);
  writer.write_text(file.text);
}

Result<SourceFile> read_source_file(ByteReader& reader) {
  SourceFile file;
  CLBIN_TRY_ASSIGN(file.include_name, read_string(reader, "include name"));
  CLBIN_TRY_ASSIGN(file.display_name, read_string(reader, "display name"));
  CLBIN_TRY_ASSIGN(file.text, read_string(reader, "source text"));
  return file;
}

Result<SourcePackage> read_source(ByteReader& reader) {
  SourcePackage source;
  CLBIN_TRY_ASSIGN(source.main, read_source_file(reader));
  CLBIN_TRY_ASSIGN(const std::uint32_t count, read_count(reader, "header count"));
  for (std::uint32_t i = 0; i < count; ++i) {
    CLBIN_TRY_ASSIGN(SourceFile header, read_source_file(reader));
    source.headers.push_back(std::move(header));
  }
  return source;
}

// --- kernels ------------------------------------------------------------------------------------

void write_argument(ByteWriter& writer, const KernelArgument& argument) {
  writer.write_text(argument.name);
  writer.write_text(argument.type_name);
  writer.write_u8(static_cast<std::uint8_t>(argument.address_space));
  writer.write_u8(static_cast<std::uint8_t>(argument.access));
  write_bool(writer, argument.is_const);
  write_bool(writer, argument.is_restrict);
  write_bool(writer, argument.is_volatile);
  write_bool(writer, argument.is_pipe);
}

template <typename Enum>
Result<Enum> read_enum(ByteReader& reader, Enum last, std::string_view field) {
  CLBIN_TRY_ASSIGN(const std::uint8_t value, reader.read_u8(field));
  if (value > static_cast<std::uint8_t>(last)) {
    return fail(ErrorCode::damaged, "{} is {}, which is not a valid value", field, value);
  }
  return static_cast<Enum>(value);
}

Result<KernelArgument> read_argument(ByteReader& reader) {
  KernelArgument argument;
  CLBIN_TRY_ASSIGN(argument.name, read_string(reader, "argument name"));
  CLBIN_TRY_ASSIGN(argument.type_name, read_string(reader, "argument type"));
  CLBIN_TRY_ASSIGN(argument.address_space,
                   read_enum(reader, AddressSpace::constant, "address space"));
  CLBIN_TRY_ASSIGN(argument.access, read_enum(reader, AccessQualifier::read_write, "access"));
  CLBIN_TRY_ASSIGN(argument.is_const, read_bool(reader, "const"));
  CLBIN_TRY_ASSIGN(argument.is_restrict, read_bool(reader, "restrict"));
  CLBIN_TRY_ASSIGN(argument.is_volatile, read_bool(reader, "volatile"));
  CLBIN_TRY_ASSIGN(argument.is_pipe, read_bool(reader, "pipe"));
  return argument;
}

void write_arguments(ByteWriter& writer,
                     const std::optional<std::vector<KernelArgument>>& arguments) {
  write_bool(writer, arguments.has_value());
  if (!arguments) {
    return;
  }
  write_count(writer, arguments->size());
  for (const KernelArgument& argument : *arguments) {
    write_argument(writer, argument);
  }
}

Result<std::optional<std::vector<KernelArgument>>> read_arguments(ByteReader& reader) {
  CLBIN_TRY_ASSIGN(const bool present, read_bool(reader, "arguments known"));
  std::optional<std::vector<KernelArgument>> arguments;
  if (!present) {
    return arguments;
  }
  CLBIN_TRY_ASSIGN(const std::uint32_t count, read_count(reader, "argument count"));
  arguments.emplace();
  for (std::uint32_t i = 0; i < count; ++i) {
    CLBIN_TRY_ASSIGN(KernelArgument argument, read_argument(reader));
    arguments->push_back(std::move(argument));
  }
  return arguments;
}

void write_kernel(ByteWriter& writer, const KernelReflection& kernel) {
  writer.write_text(kernel.name);
  write_arguments(writer, kernel.arguments);
  write_bool(writer, kernel.argument_count.has_value());
  writer.write_u32(kernel.argument_count.value_or(0));
  writer.write_text(kernel.attributes);
  write_size(writer, kernel.required_work_group_size);
  write_optional_u64(writer, kernel.max_work_group_size);
  write_optional_u64(writer, kernel.preferred_multiple);
  write_optional_u64(writer, kernel.local_bytes);
  write_optional_u64(writer, kernel.private_bytes);
  write_count(writer, kernel.specialized_sizes.size());
  for (const GroupSize& size : kernel.specialized_sizes) {
    write_size(writer, size);
  }
  write_count(writer, kernel.vendor.size());
  for (const auto& [name, value] : kernel.vendor) {
    writer.write_text(name);
    writer.write_u64(value);
  }
}

Result<std::map<std::string, std::uint64_t>> read_vendor_facts(ByteReader& reader) {
  CLBIN_TRY_ASSIGN(const std::uint32_t count, read_count(reader, "vendor fact count"));
  std::map<std::string, std::uint64_t> facts;
  for (std::uint32_t i = 0; i < count; ++i) {
    CLBIN_TRY_ASSIGN(std::string name, read_string(reader, "vendor fact"));
    CLBIN_TRY_ASSIGN(const std::uint64_t value, reader.read_u64("vendor fact's value"));
    facts.insert_or_assign(std::move(name), value);
  }
  return facts;
}

Result<KernelReflection> read_kernel(ByteReader& reader) {
  KernelReflection kernel;
  CLBIN_TRY_ASSIGN(kernel.name, read_string(reader, "kernel name"));
  CLBIN_TRY_ASSIGN(kernel.arguments, read_arguments(reader));
  CLBIN_TRY_ASSIGN(const bool count_known, read_bool(reader, "argument count known"));
  CLBIN_TRY_ASSIGN(const std::uint32_t count, reader.read_u32("argument count"));
  kernel.argument_count = count_known ? std::optional(count) : std::nullopt;
  CLBIN_TRY_ASSIGN(kernel.attributes, read_string(reader, "kernel attributes"));
  CLBIN_TRY_ASSIGN(kernel.required_work_group_size, read_size(reader, "required work-group size"));
  CLBIN_TRY_ASSIGN(kernel.max_work_group_size,
                   read_optional_u64(reader, "largest work-group size"));
  CLBIN_TRY_ASSIGN(kernel.preferred_multiple, read_optional_u64(reader, "preferred multiple"));
  CLBIN_TRY_ASSIGN(kernel.local_bytes, read_optional_u64(reader, "local bytes"));
  CLBIN_TRY_ASSIGN(kernel.private_bytes, read_optional_u64(reader, "private bytes"));
  CLBIN_TRY_ASSIGN(const std::uint32_t sizes, read_count(reader, "specialized size count"));
  for (std::uint32_t i = 0; i < sizes; ++i) {
    CLBIN_TRY_ASSIGN(const GroupSize size, read_size(reader, "specialized size"));
    kernel.specialized_sizes.push_back(size);
  }
  CLBIN_TRY_ASSIGN(kernel.vendor, read_vendor_facts(reader));
  return kernel;
}

} // namespace

// --- messages -----------------------------------------------------------------------------------

Bytes encode(const EnumerateRequest& message) {
  ByteWriter writer;
  write_bool(writer, message.with_properties);
  return std::move(writer).take();
}

Result<EnumerateRequest> decode_enumerate_request(ByteView bytes) {
  ByteReader reader(bytes, "enumerate request");
  EnumerateRequest message;
  CLBIN_TRY_ASSIGN(message.with_properties, read_bool(reader, "with properties"));
  CLBIN_TRY(reader.require_end());
  return message;
}

Bytes encode(const EnumerateReply& message) {
  ByteWriter writer;
  writer.write_text(message.error);
  write_bool(writer, message.no_opencl);
  writer.write_text(message.load_failures);
  write_count(writer, message.devices.size());
  for (const DeviceDescription& device : message.devices) {
    write_device(writer, device);
  }
  return std::move(writer).take();
}

Result<EnumerateReply> decode_enumerate_reply(ByteView bytes) {
  ByteReader reader(bytes, "enumerate reply");
  EnumerateReply message;
  CLBIN_TRY_ASSIGN(message.error, read_string(reader, "error"));
  CLBIN_TRY_ASSIGN(message.no_opencl, read_bool(reader, "no OpenCL"));
  CLBIN_TRY_ASSIGN(message.load_failures, read_string(reader, "load failures"));
  CLBIN_TRY_ASSIGN(const std::uint32_t count, read_count(reader, "device count"));
  for (std::uint32_t i = 0; i < count; ++i) {
    CLBIN_TRY_ASSIGN(DeviceDescription device, read_device(reader));
    message.devices.push_back(std::move(device));
  }
  CLBIN_TRY(reader.require_end());
  return message;
}

Bytes encode(const BuildRequest& message) {
  ByteWriter writer;
  writer.write_u32(message.platform);
  writer.write_u32(message.device);
  write_source_file(writer, message.source.main);
  write_count(writer, message.source.headers.size());
  for (const SourceFile& header : message.source.headers) {
    write_source_file(writer, header);
  }
  write_options(writer, message.options);
  writer.write_u64(message.binary.size());
  writer.write_bytes(message.binary);
  write_count(writer, message.binary_kernels.size());
  for (const std::string& kernel : message.binary_kernels) {
    writer.write_text(kernel);
  }
  write_count(writer, message.specializations.size());
  for (const Specialization& specialization : message.specializations) {
    writer.write_text(specialization.kernel);
    write_size(writer, specialization.size);
  }
  write_count(writer, message.fatal_kernels.size());
  for (const auto& [kernel, reason] : message.fatal_kernels) {
    writer.write_text(kernel);
    writer.write_text(reason);
  }
  write_bool(writer, message.further_units == FurtherUnits::expected);
  return std::move(writer).take();
}

Result<BuildRequest> decode_build_request(ByteView bytes) {
  ByteReader reader(bytes, "build request");
  BuildRequest message;
  CLBIN_TRY_ASSIGN(message.platform, reader.read_u32("platform index"));
  CLBIN_TRY_ASSIGN(message.device, reader.read_u32("device index"));
  CLBIN_TRY_ASSIGN(message.source, read_source(reader));
  CLBIN_TRY_ASSIGN(message.options, read_options(reader));
  CLBIN_TRY_ASSIGN(const std::uint64_t binary_bytes, reader.read_u64("binary size"));
  CLBIN_TRY_ASSIGN(const ByteView binary, reader.read_bytes(binary_bytes, "binary"));
  message.binary.assign(binary.begin(), binary.end());
  CLBIN_TRY_ASSIGN(const std::uint32_t count, read_count(reader, "kernel count"));
  for (std::uint32_t i = 0; i < count; ++i) {
    CLBIN_TRY_ASSIGN(std::string kernel, read_string(reader, "kernel name"));
    message.binary_kernels.push_back(std::move(kernel));
  }
  CLBIN_TRY_ASSIGN(const std::uint32_t sizes, read_count(reader, "specialization count"));
  for (std::uint32_t i = 0; i < sizes; ++i) {
    Specialization& specialization = message.specializations.emplace_back();
    CLBIN_TRY_ASSIGN(specialization.kernel, read_string(reader, "specialized kernel"));
    CLBIN_TRY_ASSIGN(specialization.size, read_size(reader, "specialized size"));
  }
  CLBIN_TRY_ASSIGN(const std::uint32_t fatal, read_count(reader, "fatal kernel count"));
  for (std::uint32_t i = 0; i < fatal; ++i) {
    CLBIN_TRY_ASSIGN(std::string kernel, read_string(reader, "fatal kernel"));
    CLBIN_TRY_ASSIGN(message.fatal_kernels[std::move(kernel)], read_string(reader, "reason"));
  }
  CLBIN_TRY_ASSIGN(const bool expects_more, read_bool(reader, "further units"));
  message.further_units = expects_more ? FurtherUnits::expected : FurtherUnits::none;
  CLBIN_TRY(reader.require_end());
  return message;
}

Bytes encode(const BuildReply& message) {
  ByteWriter writer;
  writer.write_u32(static_cast<std::uint32_t>(message.cl_code));
  writer.write_text(message.stage);
  writer.write_text(message.log);
  writer.write_text(message.error);
  writer.write_u64(message.binary.size());
  writer.write_bytes(message.binary);
  write_count(writer, message.kernels.size());
  for (const KernelReflection& kernel : message.kernels) {
    write_kernel(writer, kernel);
  }
  return std::move(writer).take();
}

Result<BuildReply> decode_build_reply(ByteView bytes) {
  ByteReader reader(bytes, "build reply");
  BuildReply message;
  CLBIN_TRY_ASSIGN(const std::uint32_t code, reader.read_u32("OpenCL code"));
  message.cl_code = static_cast<std::int32_t>(code);
  CLBIN_TRY_ASSIGN(message.stage, read_string(reader, "stage"));
  CLBIN_TRY_ASSIGN(message.log, read_string(reader, "build log"));
  CLBIN_TRY_ASSIGN(message.error, read_string(reader, "error"));
  CLBIN_TRY_ASSIGN(const std::uint64_t binary_bytes, reader.read_u64("binary size"));
  CLBIN_TRY_ASSIGN(const ByteView binary, reader.read_bytes(binary_bytes, "binary"));
  message.binary.assign(binary.begin(), binary.end());
  CLBIN_TRY_ASSIGN(const std::uint32_t count, read_count(reader, "kernel count"));
  for (std::uint32_t i = 0; i < count; ++i) {
    CLBIN_TRY_ASSIGN(KernelReflection kernel, read_kernel(reader));
    message.kernels.push_back(std::move(kernel));
  }
  CLBIN_TRY(reader.require_end());
  return message;
}

} // namespace oclcc::worker
