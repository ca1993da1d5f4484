// A worker stub for tests. The source text of each unit controls its answers, so a test can
// simulate any compiler. The only argument controls the listing of devices: "devices", "no-opencl",
// "no-devices", "crash", "hang", "flat-library", "no-compiler", "twins", "nvidia", "unmeasured",
// "updated-driver", "other-order". "crash-first", "hang-first" and "error-first" apply only if the
// stub sees the first platform, and "crash-together" if it sees both. The stub logs its starts and
// requests to the file that STUB_LOG names, one per line.
#include "worker/worker_protocol.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace oclcc::worker;
using clbin::base::ByteWriter;
using oclcc::format::BuildReply;

// Platform 0 has two devices, platform 1 has one.
struct StubDevice {
  std::uint32_t platform;
  std::uint32_t device;
  const char* library;
  const char* name;
};
constexpr StubDevice k_devices[] = {{0, 0, "/stub/first.so", "Stub A"},
                                    {0, 1, "/stub/first.so", "Stub B"},
                                    {1, 0, "/stub/second.so", "Stub C"}};

// Like an ICD loader: lists a single platform if the environment names a folder of oclcc.
std::string only_library() {
  const char* const vendors = std::getenv("OCL_ICD_VENDORS");
  if (vendors == nullptr || std::string_view(vendors) != "/proc/self/cwd/vendors") {
    return {};
  }
  std::string line;
  std::ifstream file("vendors/only.icd");
  std::getline(file, line);
  return line;
}

void adapt(DeviceDescription& device, std::string_view mode) {
  std::string& name = device.identity.device_name;
  if (mode == "no-compiler") {
    device.compiler_available = name != "Stub A";
  } else if (mode == "twins" && name == "Stub B") {
    name = "Stub A";
  } else if (mode == "unmeasured") {
    device.identity.platform_name = "Stub";
  } else if (mode == "updated-driver") {
    device.identity.driver_version = "2";
  } else if (mode == "nvidia" && name == "Stub C") {
    device.identity.platform_name = "NVIDIA CUDA";
    device.identity.vendor = "NVIDIA Corporation";
    device.identity.vendor_id = 0x10de;
    device.identity.architecture = "sm_90";
  }
}

[[noreturn]] void hang() {
  for (;;) {
    ::pause();
  }
}

// Resets the handler, because sanitizers would turn the signal into an exit.
void crash() {
  std::signal(SIGSEGV, SIG_DFL);
  std::raise(SIGSEGV);
}

EnumerateReply enumerate(std::string_view mode, bool with_properties) {
  EnumerateReply reply;
  if (mode == "no-opencl") {
    reply.no_opencl = true;
    reply.error = "no OpenCL loader here";
    return reply;
  }
  if (mode == "no-devices") {
    return reply;
  }
  const std::string only = only_library();
  if (mode == "error-first" && only != k_devices[2].library) {
    reply.error = "device 0:0: clGetDeviceInfo failed";
    return reply;
  }
  // A driver whose devices are listed only if other drivers are loaded.
  const bool hide = mode == "flat-library" && !only.empty();
  for (const StubDevice& stub : k_devices) {
    if (hide || (!only.empty() && only != stub.library)) {
      continue;
    }
    DeviceDescription device;
    device.platform = only.empty() ? stub.platform : 0;
    device.device = stub.device;
    device.type = 2; // CPU
    const char* const existing = std::getenv("STUB_LIBRARY");
    device.driver_library = existing == nullptr ? stub.library : existing;
    device.identity.platform_name = "Oclgrind"; // a driver that serves many units
    device.identity.device_name = stub.name;
    device.identity.driver_version = "1";
    if (with_properties) {
      device.properties = {{"global memory", "16 GiB"}, {"extensions", "cl_khr_fp64"}};
    }
    adapt(device, mode);
    reply.devices.push_back(device);
  }
  if (mode == "other-order" && only.empty()) {
    std::reverse(reply.devices.begin(), reply.devices.end());
    for (DeviceDescription& device : reply.devices) {
      device.platform = 1 - device.platform;
    }
  }
  return reply;
}

void log(const std::string& line) {
  if (const char* const path = std::getenv("STUB_LOG")) {
    std::ofstream(path, std::ios::app) << line + "\n"; // in one write
  }
}

[[noreturn]] void write_raw_and_exit(std::uint32_t kind, std::uint64_t length,
                                     std::string_view body) {
  ByteWriter writer;
  writer.write_u32(kind);
  writer.write_u64(length);
  writer.write_bytes(clbin::base::as_bytes(body));
  (void)::send(k_worker_channel, writer.view().data(), writer.size(), 0);
  ::_exit(0);
}

constexpr std::uint32_t k_build_reply = static_cast<std::uint32_t>(MessageKind::build_reply);

// Far more than the tests allow, but limited.
[[noreturn]] void eat_memory() {
  constexpr std::size_t k_chunk_bytes = 4U << 20U;
  constexpr int k_chunks = 256;
  for (int i = 0; i < k_chunks; ++i) {
    auto* const chunk = static_cast<volatile char*>(std::malloc(k_chunk_bytes));
    for (std::size_t byte = 0; byte < k_chunk_bytes; byte += 4096) {
      chunk[byte] = 1;
    }
    ::usleep(5000);
  }
  hang();
}

// As a compiler does that has much to do: takes half a second of processor time.
void compute() {
  while (std::clock() < CLOCKS_PER_SEC / 2) {
  }
}

// Writes the first four bytes of a message.
[[noreturn]] void write_raw_and_exit(std::uint32_t kind) {
  ByteWriter writer;
  writer.write_u32(kind);
  (void)::send(k_worker_channel, writer.view().data(), writer.size(), 0);
  ::_exit(0);
}

void misbehave(std::string_view deed) {
  if (deed == "crash") {
    std::fputs("about to crash\n", stderr);
    std::fflush(stderr);
    crash();
  } else if (deed == "abort") {
    std::abort();
  } else if (deed == "killed") {
    std::raise(SIGKILL);
  } else if (deed == "exit") {
    ::_exit(3);
  } else if (deed == "hang") {
    hang();
  } else if (deed == "compute") {
    compute();
  } else if (deed == "close") {
    ::close(k_worker_channel);
    hang();
  } else if (deed == "eat") {
    eat_memory();
  } else if (deed == "half a head") {
    write_raw_and_exit(k_build_reply);
  } else if (deed == "garbage") {
    write_raw_and_exit(0xdeadbeef, 4, "abcd");
  } else if (deed == "oversize") {
    write_raw_and_exit(k_build_reply, ~0ULL, "");
  } else if (deed == "liar") {
    write_raw_and_exit(k_build_reply, 1ULL << 30U, "short");
  } else if (deed == "wrong kind") {
    write_raw_and_exit(static_cast<std::uint32_t>(MessageKind::enumerate_reply), 0, "");
  } else if (deed == "damaged body") {
    write_raw_and_exit(k_build_reply, 5, "abcde");
  } else if (deed == "chatter") {
    std::fputs("on stdout\n", stdout);
    std::fflush(stdout);
    std::fputs("on stderr\n", stderr);
  }
}

// Misbehaves after the answer, as drivers do that must release many objects.
void misbehave_afterwards(std::string_view deed) {
  if (deed == "crash afterwards") {
    crash();
  } else if (deed == "hang afterwards") {
    hang();
  }
}

std::string environment_of(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "(unset)" : value;
}

// Returns facts about the worker's environment, which tests read from the build log.
std::string describe_surroundings() {
  char folder[4096] = "";
  const char* const got = ::getcwd(folder, sizeof(folder));
  std::string open_files;
  for (int file = 0; file < 256; ++file) {
    if (::fcntl(file, F_GETFD) != -1) {
      open_files += " " + std::to_string(file);
    }
  }
  return "cwd=" + std::string(got == nullptr ? "?" : got) + "\nPWD=" + environment_of("PWD") +
         "\nPOCL_CACHE_DIR=" + environment_of("POCL_CACHE_DIR") +
         "\nCUDA_CACHE_DISABLE=" + environment_of("CUDA_CACHE_DISABLE") +
         "\nGLIBC_TUNABLES=" + environment_of("GLIBC_TUNABLES") +
         "\nHOME=" + environment_of("HOME") +
         "\nCLBIN_REMOTE_TOKEN=" + environment_of("CLBIN_REMOTE_TOKEN") +
         "\nOCL_ICD_VENDORS=" + environment_of("OCL_ICD_VENDORS") + "\nfiles=" + open_files + "\n";
}

// Applies "crash on Stub B" only on that device.
std::string deed_for(const BuildRequest& request, const EnumerateReply& devices) {
  std::string text = request.source.main.text;
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  const std::size_t on = text.find(" on ");
  if (on == std::string::npos) {
    return text;
  }
  for (const DeviceDescription& device : devices.devices) {
    if (device.platform == request.platform && device.device == request.device) {
      return text.substr(on + 4) == device.identity.device_name ? text.substr(0, on) : "";
    }
  }
  return {};
}

std::string binary_for(const std::string& deed, const BuildRequest& request,
                       const EnumerateReply& devices) {
  if (deed == "ptx" || deed == "ptx with a warning") {
    return std::string(".version 7.5\n.target sm_90, texmode_independent\n.address_size 64\n") +
           '\0';
  }
  std::string binary = "binary of " + request.source.main.text + request.options;
  if (deed == "own name") {
    for (const DeviceDescription& device : devices.devices) {
      if (device.platform == request.platform && device.device == request.device) {
        binary += device.identity.device_name;
      }
    }
  }
  return binary;
}

// Starts a process that would run for a quarter of an hour, like a linker or a driver's compiler.
pid_t start_program() {
  const pid_t program = ::fork();
  if (program == 0) {
    ::execlp("sleep", "sleep", "900", nullptr);
    ::_exit(127);
  }
  return program;
}

// Starts a process like a daemon: in a new session, and without its parent.
pid_t start_detached_program() {
  int channel[2];
  if (::pipe2(channel, O_CLOEXEC) != 0) {
    return -1;
  }
  const pid_t parent = ::fork();
  if (parent == 0) {
    ::setsid();
    const pid_t program = start_program();
    [[maybe_unused]] const ssize_t written = ::write(channel[1], &program, sizeof(program));
    ::_exit(0);
  }
  ::close(channel[1]);
  pid_t program = -1;
  [[maybe_unused]] const ssize_t got = ::read(channel[0], &program, sizeof(program));
  ::close(channel[0]);
  ::waitpid(parent, nullptr, 0);
  return program;
}

// Creates the kernels a to d. The driver crashes on b and c.
BuildReply create_kernels(const BuildRequest& request) {
  KernelNote note;
  BuildReply reply;
  for (const char* kernel : {"a", "b", "c", "d"}) {
    const auto fatal = request.fatal_kernels.find(kernel);
    if (fatal != request.fatal_kernels.end()) {
      reply.log += fmt::format("{}: {}\n", kernel, fatal->second);
      continue;
    }
    note.set(kernel);
    if (*kernel == 'b' || *kernel == 'c') {
      crash();
    }
  }
  note.clear();
  return reply;
}

BuildReply failed(std::string log) {
  BuildReply reply;
  reply.cl_code = -11;
  reply.stage = "clBuildProgram";
  reply.log = std::move(log);
  return reply;
}

BuildReply build(const BuildRequest& request, const EnumerateReply& devices, unsigned number) {
  const std::string deed = deed_for(request, devices);
  log("build " + deed);
  misbehave(deed);
  BuildReply reply = deed.starts_with("create kernels") ? create_kernels(request) : BuildReply();
  if (deed == "create kernels, then crash") {
    crash();
  }
  reply.stage = std::to_string(::getpid());
  if (deed == "surroundings") {
    reply.log = describe_surroundings();
  } else if (deed == "start a program") {
    reply.log = std::to_string(start_program());
  } else if (deed == "start a daemon") {
    reply.log = std::to_string(start_detached_program());
  } else if (deed == "log the process") {
    reply.log = "unit " + std::to_string(number) + " of the process";
  } else if (deed == "warn" || deed == "ptx with a warning") {
    reply.log = "input.cl:1:1: warning: questionable\nwarn\n^\n1 warning generated.";
  } else if (deed == "fail") {
    return failed("");
  } else if (deed == "complain") {
    return failed("input.cl:1:2: error: no such thing\ncomplain\n ^\n1 error generated.");
  } else if (deed == "error") {
    reply.error = "the binary is empty";
    return reply;
  }
  const std::string binary = binary_for(deed, request, devices);
  const auto bytes = clbin::base::as_bytes(binary);
  reply.binary.assign(bytes.begin(), bytes.end());
  if (deed != "no kernels") {
    reply.kernels.emplace_back().name = "stub";
  }
  return reply;
}

} // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "devices";
  log("start");
  unsigned units = 0;
  for (;;) {
    const auto request = receive_message(k_worker_channel, std::nullopt);
    if (!request) {
      return 0;
    }
    if (request->kind == MessageKind::enumerate_request) {
      const bool first = only_library() != k_devices[2].library;
      const bool together = only_library().empty();
      if (mode == "crash" || (mode == "crash-first" && first) ||
          (mode == "crash-together" && together)) {
        std::fputs("no such GPU\n", stderr);
        crash();
      }
      if (mode == "hang" || (mode == "hang-first" && first) ||
          (mode == "hang-alone" && !together)) {
        hang();
      }
      const auto message = decode<EnumerateRequest>(request->body);
      (void)send_message(k_worker_channel, MessageKind::enumerate_reply,
                         encode(enumerate(mode, message && message->with_properties)),
                         std::nullopt);
      continue;
    }
    const auto message = decode<BuildRequest>(request->body);
    if (!message) {
      return 4;
    }
    const EnumerateReply devices = enumerate(mode, false);
    (void)send_message(k_worker_channel, MessageKind::build_reply,
                       encode(build(*message, devices, ++units)), std::nullopt);
    misbehave_afterwards(deed_for(*message, devices));
    (void)send_message(k_worker_channel, MessageKind::settled, {}, std::nullopt);
  }
}
