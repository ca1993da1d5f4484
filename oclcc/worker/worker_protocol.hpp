// What passes between oclcc and its workers. A worker is not trusted, because a driver may corrupt
// its memory: either end may crash, hang or write garbage, and every message is read with bounds
// and limits.
#pragma once

#include "base/system/socket.hpp"
#include "model/bundle.hpp"
#include "opencl/kernel_launch.hpp"
#include "terminal/reporter.hpp"

namespace oclcc::worker {

// File descriptor of the worker's end. Not standard output, because drivers print there.
inline constexpr int k_worker_channel = 3;

enum class MessageKind : std::uint32_t {
  enumerate_request = 1,
  enumerate_reply = 2,
  build_request = 3,
  build_reply = 4,
  settled = 5, // no body; follows each build_reply after the objects of the unit are released
  launch_request = 6,
  launch_reply = 7,
  warm_request = 8,
  warm_reply = 9,
};

// The payload limit of the bundle reader, plus a margin for the rest of the message.
inline constexpr std::uint64_t k_max_message_bytes = (1ULL << 30U) + (16ULL << 20U);

struct Message {
  MessageKind kind = MessageKind::enumerate_request;
  base::Bytes body;
};

using base::Deadline;

// Memory grows with the received bytes, not with the announced size. SocketFault::garbage: not a
// message, because its kind is unknown, or it is longer than k_max_message_bytes.
[[nodiscard]] base::SocketResult<Message> receive_message(int socket, const Deadline& deadline);
[[nodiscard]] base::SocketResult<void> send_message(int socket, MessageKind kind,
                                                    base::ByteView body, const Deadline& deadline);

// A file in the worker's directory, which forks of the process share. Ignores write errors.
class KernelNote {
public:
  // Opens the file in the working directory.
  KernelNote();

  void set(const std::string& kernel);
  void clear();

private:
  base::FileDescriptor m_file;
};

// Returns what the worker of `folder` noted last; std::nullopt if it noted nothing, or cleared it.
[[nodiscard]] std::optional<std::string> read_kernel_note(const std::filesystem::path& folder);

using format::BuildReply;
using format::DeviceDescription;
using format::Specialization;

struct EnumerateRequest {
  bool with_properties = false;
};
CLBIN_VISIT(EnumerateRequest, with_properties);

struct EnumerateReply {
  std::string error;      // empty on success
  bool no_opencl = false; // the ICD loader itself is missing
  // The reason why installed drivers cannot be loaded; only if there is no device.
  std::string load_failures{};
  std::vector<DeviceDescription> devices;
};
CLBIN_VISIT(EnumerateReply, error, no_opencl, load_failures, devices);

// `none`: the worker may build in its own process what otherwise requires a copy of it.
enum class FurtherUnits : std::uint8_t { expected, none };
constexpr std::array<std::string_view, 2> names_of(FurtherUnits /*unused*/) {
  return {"expected", "none"};
}

struct BuildRequest {
  std::uint32_t platform = 0;
  std::uint32_t device = 0;
  format::SourcePackage source;
  std::string options; // the worker adds -cl-kernel-arg-info for a source
  // If not empty, this device binary is loaded instead. It must contain the kernels of these names.
  base::Bytes binary{};
  std::vector<std::string> binary_kernels{};
  std::vector<Specialization> specializations{}; // those of other kernels are skipped
  // Kernels that the driver must not create, each with the reason why a worker crashed on it.
  std::map<std::string, std::string> fatal_kernels{};
  FurtherUnits further_units = FurtherUnits::expected;
};
CLBIN_VISIT(BuildRequest, platform, device, source, options, binary, binary_kernels,
            specializations, fatal_kernels, further_units);

using clbin::opencl::LaunchTime;
using format::ArgumentKind;
using format::ElementType;
using format::Fill;
using format::LaunchArgument;

// Whether the reply contains the buffers after the last launch, apart from constant ones.
enum class ReadBack : std::uint8_t { none, buffers };
constexpr std::array<std::string_view, 2> names_of(ReadBack /*unused*/) {
  return {"none", "buffers"};
}

// Loads a variant as libclbin does, without a user cache, or the given binary, and launches a
// kernel of it. The worker keeps variants and buffers for the next request.
struct LaunchRequest {
  std::uint32_t platform = 0;
  std::uint32_t device = 0;
  std::string bundle; // an absolute path of a file that does not change
  std::string program;
  std::string variant;
  std::string kernel;
  std::vector<LaunchArgument> arguments{};
  std::uint32_t dimensions = 0;
  format::GroupSize global_size{};
  format::GroupSize local_size{}; // all 0: the driver chooses
  std::uint32_t launches = 0;     // 0: only loads the program, and asks for the kernel
  ReadBack read_back = ReadBack::none;
  base::Bytes binary{};            // empty: what the bundle contains for the device
  std::string binary_options{};    // of the build that loads it
  std::vector<base::Bytes> data{}; // of stored arguments, in their order
};
CLBIN_VISIT(LaunchRequest, platform, device, bundle, program, variant, kernel, arguments,
            dimensions, global_size, local_size, launches, read_back, binary, binary_options, data);

struct LaunchReply {
  std::string error;  // of the load or of a call; one line
  std::string origin; // "entry", "il" or "source"
  format::KernelReflection kernel;
  format::GroupSize max_sizes{}; // CL_DEVICE_MAX_WORK_ITEM_SIZES
  std::vector<LaunchTime> times;
  std::vector<base::Bytes> buffers; // in the order of the arguments
  std::string failed_call{};        // of OpenCL, if it is why there is an error
  bool is_device_gone = false;      // the call returned CL_DEVICE_NOT_AVAILABLE
};
CLBIN_VISIT(LaunchReply, error, origin, kernel, max_sizes, times, buffers, failed_call,
            is_device_gone);

// Loads a variant as libclbin does, and stores in its user cache what has to be built.
struct WarmRequest {
  std::uint32_t platform = 0;
  std::uint32_t device = 0;
  std::string bundle; // an absolute path
  std::string program;
  std::string variant;
  std::vector<Specialization> specializations{}; // of first launches
  std::string cache_folder;                      // an absolute path
  std::uint64_t max_cache_bytes = 0;
};
CLBIN_VISIT(WarmRequest, platform, device, bundle, program, variant, specializations, cache_folder,
            max_cache_bytes);

struct WarmReply {
  std::string error;  // why it does not load; a text of several lines
  std::string origin; // "entry", "user cache", "il" or "source"
  std::vector<std::string> warnings;
};
CLBIN_VISIT(WarmReply, error, origin, warnings);

// What --tune has measured of a launch on a device: for the run after one that is killed.
struct CandidateTimes {
  std::string launch;   // a digest of the encoded request with `launches` 0
  std::string reason{}; // of a refusal
  format::MeasurementOutcome outcome = format::MeasurementOutcome::measured;
  std::vector<LaunchTime> times{};
};
CLBIN_VISIT(CandidateTimes, launch, reason, outcome, times);

struct TuningProgress {
  std::uint32_t rounds = 0; // that every candidate has behind it
  std::vector<CandidateTimes> candidates{};
};
CLBIN_VISIT(TuningProgress, rounds, candidates);

// For these eight messages, and TuningProgress.
template <typename Message>
[[nodiscard]] base::Bytes encode(const Message& message);
// truncated, damaged.
template <typename Message>
[[nodiscard]] Result<Message> decode(base::ByteView bytes);

} // namespace oclcc::worker
