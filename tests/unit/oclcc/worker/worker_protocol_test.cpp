#include "worker/worker_protocol.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc::worker {
namespace {

using clbin::base::Bytes;
using clbin::base::ByteView;
using clbin::base::ErrorCode;
using clbin::format::KernelReflection;
using ::testing::HasSubstr;

DeviceDescription full_device() {
  DeviceDescription device;
  device.platform = 2;
  device.device = 3;
  device.type = 4;
  device.compiler_available = false;
  device.driver_library = "/usr/lib/libpocl.so.2";
  device.identity = {.platform_name = "Platform",
                     .platform_version = "OpenCL 3.0",
                     .vendor = "Vendor",
                     .device_name = "Device \xff",
                     .vendor_id = 0x10de,
                     .driver_version = "580.1",
                     .device_version = "OpenCL 3.0 x",
                     .opencl_c_versions = {"OpenCL C 1.2", "OpenCL C 3.0"},
                     .il_versions = {"SPIR-V_1.2"},
                     .address_bits = 64,
                     .architecture = "sm_90"};
  device.properties = {{"global memory", "16 GiB"}, {"clock", "1 MHz"}};
  return device;
}

KernelReflection full_kernel() {
  KernelReflection kernel;
  kernel.name = "matmul";
  kernel.arguments.emplace();
  kernel.arguments->push_back({.name = "a",
                               .type_name = "float*",
                               .address_space = clbin::format::AddressSpace::global,
                               .access = clbin::format::AccessQualifier::none,
                               .is_const = true,
                               .is_restrict = true,
                               .is_volatile = false,
                               .is_pipe = false});
  kernel.argument_count = 1;
  kernel.attributes = "reqd_work_group_size(16,16,1)";
  kernel.required_work_group_size = {16, 16, 1};
  kernel.max_work_group_size = 1024;
  kernel.preferred_multiple = 32;
  kernel.local_bytes = 2048;
  kernel.specialized_sizes = {{16, 16, 1}, {64, 1, 1}};
  kernel.vendor = {{"registers", 40}, {"spill_bytes", 0}};
  return kernel;
}

BuildReply full_reply() {
  BuildReply reply;
  reply.cl_code = -11;
  reply.stage = "clBuildProgram";
  reply.log = "input.cl:1:1: warning: x";
  reply.error = "e";
  reply.binary = {std::byte{1}, std::byte{0}, std::byte{255}};
  reply.kernels = {full_kernel(), KernelReflection{}};
  return reply;
}

BuildRequest full_request() {
  BuildRequest request;
  request.platform = 1;
  request.device = 2;
  request.source.main = {"a.cl", "dir/a.cl", "kernel void f() {}"};
  request.source.headers = {{"b.clh", "dir/b.clh", "#define B"}, {"c", "c", ""}};
  request.specializations = {{"f", {16, 16, 1}}, {"g", {64, 1, 1}}};
  request.options = "-DX='a  b'\t-w ";
  request.binary = {std::byte{0}, std::byte{0xff}, std::byte{7}};
  request.binary_kernels = {"f", "", "g"};
  request.fatal_kernels = {{"g", "it crashed (signal 11)"}, {"h", ""}};
  request.further_units = FurtherUnits::none;
  return request;
}

EnumerateReply full_enumeration() {
  EnumerateReply reply;
  reply.error = "e";
  reply.no_opencl = true;
  reply.load_failures = "f";
  reply.devices = {full_device(), DeviceDescription{}};
  return reply;
}

TEST(WorkerProtocol, CarriesEnumerateRequests) {
  for (const bool with_properties : {false, true}) {
    const auto decoded = decode<EnumerateRequest>(encode(EnumerateRequest{with_properties}));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(decoded->with_properties, with_properties);
  }
}

TEST(WorkerProtocol, CarriesEveryFieldOfADevice) {
  const auto decoded = decode<EnumerateReply>(encode(full_enumeration()));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->error, "e");
  EXPECT_TRUE(decoded->no_opencl);
  ASSERT_EQ(decoded->devices.size(), 2U);
  const DeviceDescription& device = decoded->devices[0];
  EXPECT_EQ(device.platform, 2U);
  EXPECT_EQ(device.device, 3U);
  EXPECT_EQ(device.type, 4U);
  EXPECT_FALSE(device.compiler_available);
  EXPECT_EQ(device.driver_library, "/usr/lib/libpocl.so.2");
  EXPECT_EQ(device.identity, full_device().identity);
  EXPECT_EQ(device.properties, full_device().properties);
  EXPECT_TRUE(decoded->devices[1].compiler_available);
}

TEST(WorkerProtocol, CarriesEveryFieldOfABuildRequest) {
  const auto decoded = decode<BuildRequest>(encode(full_request()));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->platform, 1U);
  EXPECT_EQ(decoded->device, 2U);
  EXPECT_EQ(decoded->source, full_request().source);
  EXPECT_EQ(decoded->specializations, full_request().specializations);
  EXPECT_EQ(decoded->options, full_request().options);
  EXPECT_EQ(decoded->binary, full_request().binary);
  EXPECT_EQ(decoded->binary_kernels, full_request().binary_kernels);
  EXPECT_EQ(decoded->fatal_kernels, full_request().fatal_kernels);
  EXPECT_EQ(decoded->further_units, FurtherUnits::none);
}

TEST(WorkerProtocol, CarriesEveryFieldOfALoadThatWarms) {
  const WarmRequest request{1, 2, "/a.clbin", "p", "v", {{"k", {8, 4, 1}, true}}, "/cache", 3};
  const auto decoded = decode<WarmRequest>(encode(request));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->specializations, request.specializations);
  EXPECT_EQ(encode(*decoded), encode(request));

  const WarmReply reply{"e", "source", {"w", "x"}};
  const auto decoded_reply = decode<WarmReply>(encode(reply));
  ASSERT_TRUE(decoded_reply) << decoded_reply.error().message;
  EXPECT_EQ(decoded_reply->warnings, reply.warnings);
  EXPECT_EQ(encode(*decoded_reply), encode(reply));
}

TEST(WorkerProtocol, CarriesEveryFieldOfALaunch) {
  LaunchRequest request{1, 2, "/a.clbin", "p", "v", "k"};
  LaunchArgument buffer{.kind = ArgumentKind::buffer,
                        .type = ElementType::f64,
                        .fill = Fill::random,
                        .count = 5,
                        .seed = 6,
                        .is_constant = true};
  request.arguments = {{.number = {std::byte{7}, std::byte{0}}}, buffer};
  request.dimensions = 2;
  request.global_size = {8, 9, 1};
  request.local_size = {4, 3, 1};
  request.launches = 10;
  request.read_back = ReadBack::buffers;
  const auto decoded = decode<LaunchRequest>(encode(request));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->arguments, request.arguments);
  EXPECT_EQ(encode(*decoded), encode(request));

  LaunchReply reply;
  reply.error = "e";
  reply.origin = "entry";
  reply.kernel = full_kernel();
  reply.max_sizes = {1, 2, 3};
  reply.times = {{4, 5}, {6, 7}};
  reply.buffers = {{std::byte{8}}, {}};
  reply.failed_call = "c";
  const auto decoded_reply = decode<LaunchReply>(encode(reply));
  ASSERT_TRUE(decoded_reply) << decoded_reply.error().message;
  EXPECT_EQ(decoded_reply->times[1].device_ns, 7U);
  EXPECT_EQ(decoded_reply->failed_call, "c");
  EXPECT_EQ(encode(*decoded_reply), encode(reply));
}

TEST(WorkerProtocol, RefusesABinaryToLoadThatIsLongerThanTheMessage) {
  BuildRequest request;
  request.binary = {std::byte{1}, std::byte{2}};
  Bytes message = encode(request);
  const Bytes without = encode(BuildRequest{});
  // The offset of the first byte that depends on the size of the binary.
  const auto size = std::mismatch(without.begin(), without.end(), message.begin()).second;
  std::fill_n(size, 8, std::byte{0xff});
  const auto decoded = decode<BuildRequest>(message);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::truncated);
  EXPECT_THAT(decoded.error().message, HasSubstr("binary"));
}

TEST(WorkerProtocol, CarriesEveryFieldOfABuildReply) {
  const auto decoded = decode<BuildReply>(encode(full_reply()));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->cl_code, -11);
  EXPECT_EQ(decoded->stage, "clBuildProgram");
  EXPECT_EQ(decoded->log, "input.cl:1:1: warning: x");
  EXPECT_EQ(decoded->error, "e");
  EXPECT_EQ(decoded->binary, full_reply().binary);
  EXPECT_EQ(decoded->kernels, full_reply().kernels);
}

// `decode` must reject every prefix, and must not crash on any changed byte.
template <typename Decode>
void damage_every_byte(const Bytes& message, const Decode& decode) {
  for (std::size_t length = 0; length < message.size(); ++length) {
    const auto decoded = decode(ByteView(message).first(length));
    ASSERT_FALSE(decoded) << "a prefix of " << length << " bytes was accepted";
    EXPECT_EQ(decoded.error().code, ErrorCode::truncated) << decoded.error().message;
  }
  for (std::size_t at = 0; at < message.size(); ++at) {
    for (const unsigned flip : {0x01U, 0x80U, 0xffU}) {
      Bytes damaged = message;
      damaged[at] ^= static_cast<std::byte>(flip);
      const auto decoded = decode(damaged);
      if (!decoded) {
        EXPECT_FALSE(decoded.error().message.empty());
      }
    }
  }
  Bytes longer = message;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decode(longer)) << "a byte after the message was accepted";
}

TEST(WorkerProtocol, SurvivesDamageAtEveryByte) {
  damage_every_byte(encode(EnumerateRequest{}), decode<EnumerateRequest>);
  damage_every_byte(encode(full_enumeration()), decode<EnumerateReply>);
  damage_every_byte(encode(full_request()), decode<BuildRequest>);
  damage_every_byte(encode(full_reply()), decode<BuildReply>);
}

TEST(WorkerProtocol, RefusesACountBeyondTheMessage) {
  Bytes message = encode(EnumerateReply{});
  for (std::size_t i = message.size() - 8; i < message.size(); ++i) {
    message[i] = std::byte{0xff};
  }
  const auto decoded = decode<EnumerateReply>(message);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::truncated);
  EXPECT_EQ(decoded.error().message,
            "count of devices is 18446744073709551615, but 0 bytes are left");
}

TEST(WorkerProtocol, RefusesATruthValueThatIsNone) {
  Bytes message = encode(EnumerateRequest{});
  message.front() = std::byte{2};
  const auto decoded = decode<EnumerateRequest>(message);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::damaged);
  EXPECT_EQ(decoded.error().message, "with_properties is 2, which is not a valid value");
}

TEST(WorkerProtocol, RefusesAnUnknownEnumerator) {
  Bytes message = encode(BuildRequest{});
  message[message.size() - sizeof(std::uint64_t)] = std::byte{2}; // the last member
  const auto decoded = decode<BuildRequest>(message);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::damaged);
  EXPECT_EQ(decoded.error().message, "further_units is 2, which is not a valid value");
}

TEST(WorkerProtocol, RefusesABinaryLongerThanTheMessage) {
  BuildReply reply;
  Bytes message = encode(reply);
  // The code and the sizes of three empty texts, then the size of the binary.
  constexpr std::size_t k_size_offset = 4 * sizeof(std::uint64_t);
  for (std::size_t i = 0; i < 8; ++i) {
    message[k_size_offset + i] = std::byte{0xff};
  }
  const auto decoded = decode<BuildReply>(message);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::truncated);
  EXPECT_THAT(decoded.error().message, HasSubstr("binary"));
}

} // namespace
} // namespace oclcc::worker
