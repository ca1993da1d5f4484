// What oclcc does not do on Windows, each with one message.
#include "command_line/modes.hpp"
#include "compile/watch.hpp"
#include "remote/storage_client.hpp"
#include "trust/bundle_signing.hpp"

namespace oclcc {

namespace {

tl::unexpected<Error> not_on_windows(std::string_view what, std::string_view why) {
  return fail(ErrorCode::invalid_argument, "'{}' is not available on Windows: {}", what, why);
}

} // namespace

Result<ExitCode> record(const Options& /*options*/, const ModeContext& /*context*/) {
  return not_on_windows("--record", "its OpenCL loader has no layers");
}

Result<ExitCode> watch(const std::vector<std::string>& /*words*/, RunRound* /*run*/,
                       Reporter& /*reporter*/) {
  return not_on_windows("--watch", "each round would be a copy of a process");
}

Result<Bytes> trust::answer_of_command(const std::string& /*command*/, worker::WorkerHome& /*home*/,
                                       std::chrono::seconds /*limit*/, ByteView /*message*/) {
  return not_on_windows("--sign-with", "there is no /bin/sh; use '--key'");
}

namespace remote {

namespace {

tl::unexpected<Error> no_remote_cache() {
  return not_on_windows("CLBIN_REMOTE", "there is no oclcc-storage-http");
}

} // namespace

WakeUp::WakeUp() = default;
void WakeUp::wake() noexcept {}

Result<StorageClient> StorageClient::connect(const std::string& /*path*/,
                                             Clock::time_point /*deadline*/,
                                             const WakeUp& /*wake_up*/) {
  return no_remote_cache();
}

Result<StorageReply> StorageClient::request(storage_http::Operation /*kind*/,
                                            const base::Digest& /*key*/, ByteView /*entry*/,
                                            Clock::time_point /*deadline*/) const {
  return no_remote_cache();
}

// storage_folder() reports that there is none.
std::optional<std::filesystem::path> find_storage_helper(const std::filesystem::path& executable,
                                                         std::string_view /*path*/) {
  return executable;
}

Result<std::filesystem::path>
storage_folder(const clbin::cache::ProcessEnvironment& /*environment*/) {
  return no_remote_cache();
}

StorageHelper::StorageHelper(const RemoteSettings& /*settings*/,
                             const std::filesystem::path& program,
                             const std::filesystem::path& /*folder*/,
                             const clbin::cache::ProcessEnvironment& /*environment*/)
    : m_program(program) {}

Result<StorageClient> StorageHelper::connect(Clock::time_point /*deadline*/,
                                             const WakeUp& /*wake_up*/) {
  return no_remote_cache();
}

} // namespace remote
} // namespace oclcc
