// The resources that kernels need, read from device binaries, in bundles or not: for --report, and
// for the table of --info; what differs between two files, and which limits of --fail-on that
// exceeds.
#pragma once

#include "command_line/bundle_file.hpp"
#include "command_line/modes.hpp"
#include "targets/occupancy.hpp"
#include "terminal/terminal_text.hpp"

namespace oclcc {

// recorded: of a launch that the bundle records. assumed: nothing is known; the occupancy is that
// of k_assumed_work_items, or of the largest work-group if that is smaller.
enum class WorkGroupOrigin : std::uint8_t { required, recorded, assumed };
constexpr std::array<std::string_view, 3> names_of(WorkGroupOrigin /*unused*/) {
  return {"required", "recorded", "assumed"};
}
inline constexpr std::uint64_t k_assumed_work_items = 256;

// Of a kernel for a target. Unknown numbers are absent.
struct KernelResources {
  std::string kernel{};
  std::string target{}; // "nvptx:sm_70", or the name of a device
  std::string format{}; // "ptx"
  std::optional<std::uint64_t> wave_size{};
  std::optional<std::uint64_t> registers{};        // vector registers of a work-item; Intel: GRFs
  std::optional<std::uint64_t> scalar_registers{}; // AMD: of a wave
  std::optional<std::uint64_t> spills{};           // AMD: registers; otherwise bytes
  std::optional<std::uint64_t> scratch_bytes{};    // of a work-item; Intel: of a thread
  std::optional<std::uint64_t> local_bytes{};      // of a work-group, without arguments
  std::optional<std::uint64_t> constant_bytes{};
  std::optional<std::uint64_t> code_bytes{};
  std::optional<std::uint64_t> instructions{};
  format::GroupSize work_group_size{}; // that `occupancy` is for; 0,0,0 if none is known
  std::optional<WorkGroupOrigin> work_group_origin{};
  std::optional<std::uint64_t> occupancy{}; // waves, as in Occupancy
  std::optional<std::uint64_t> max_waves{};
  std::optional<OccupancyLimit> limited_by{};
  friend bool operator==(const KernelResources&, const KernelResources&) = default;
};
CLBIN_VISIT(KernelResources, kernel, target, format, wave_size, registers, scalar_registers, spills,
            scratch_bytes, local_bytes, constant_bytes, code_bytes, instructions, work_group_size,
            work_group_origin, occupancy, max_waves, limited_by);

// A program and a variant of a bundle; of another file, a binary.
struct ResourceGroup {
  std::string program{};                  // the place, empty if the file is no container
  std::string variant{};                  // empty if the file is no bundle
  std::vector<KernelResources> kernels{}; // in ascending order
  std::optional<std::uint64_t> bytes{};   // of the binary; absent for a bundle
  std::optional<std::string> digest{};    // BLAKE2b-256 of the binary, in hexadecimal digits
};

struct FileResources {
  std::string file; // the name for messages
  std::vector<ResourceGroup> groups{};
  std::vector<Error> errors{}; // of what cannot be read
};

// Returns what `kernel` says, without the code and the occupancy.
[[nodiscard]] KernelResources resources_of(const format::KernelReflection& kernel);

// Returns the target that a binary outside a bundle has in reports, and that patterns select:
// target_of_binary(), otherwise what the binary is.
[[nodiscard]] format::Target reported_target(const format::BinaryInfo& info);

// Reads a bundle, a device binary or a container of them, and returns the kernels that --program,
// --variant, --kernel, --keep-target and --drop-target select. Of a damaged or locked bundle,
// returns errors only. Safe on untrusted input: one call of the library reads the bundle, another
// its binaries.
[[nodiscard]] FileResources read_kernel_resources(const std::filesystem::path& path,
                                                  const Options& options, const BundleKeys& keys);

// A number that differs. "kernel" is 1 if a file has the kernel for the target, and 0 otherwise.
struct ResourceChange {
  std::string program{};
  std::string variant{};
  std::string kernel{};
  std::string target{};
  std::string format{};
  std::string number{};
  std::optional<std::uint64_t> before{};
  std::optional<std::uint64_t> after{};
  std::optional<std::string> exceeds{}; // the limit, "+10%"; std::nullopt if none is exceeded
  friend bool operator==(const ResourceChange&, const ResourceChange&) = default;
};
CLBIN_VISIT(ResourceChange, program, variant, kernel, target, format, number, before, after,
            exceeds);

// Returns the differences, sorted by program, variant, kernel and target. Kernels have the same
// identity if these and the format are equal; of several, which devices with equal names can have,
// the first corresponds to the first. A kernel that only `after` has may spill nothing if "spills"
// or "scratch" are limited.
[[nodiscard]] std::vector<ResourceChange> resource_changes(const FileResources& before,
                                                           const FileResources& after,
                                                           std::span<const ChangeLimit> limits);

// Returns the numbers of `limits` that are known of no kernel in `file`, so that the limits check
// nothing: "spills" of cubins.
[[nodiscard]] std::vector<std::string> unchecked_numbers(const FileResources& file,
                                                         std::span<const ChangeLimit> limits);

// ---- The page of --report --html ---------------------------------------------------------------

// Returns false if it cannot write.
using Print = JsonStream::Sink;

// Writes what --report, --info, --explain and --disassemble say about files as one page for a
// browser: report.html with their documents of JSON. `print_report` prints the document of --report
// and returns the exit status; if it prints nothing, no page is written. Calls drivers and starts
// disassemblers; if these are missing or fail, the page says why. Errors: invalid_argument, if the
// page would replace a file that is read; those of OutputFile and worker::with_home.
[[nodiscard]] Result<ExitCode>
write_report_page(const Options& options, const BundleKeys& keys, const ModeContext& context,
                  const std::function<Result<ExitCode>(const Print& print)>& print_report);

} // namespace oclcc
