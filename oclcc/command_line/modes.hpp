// What oclcc can be told to do, apart from compiling (compile.hpp): one function a mode. Each
// returns the exit status of the process, or the error that main() prints. Modes that go on after
// an error print it themselves.
#pragma once

#include "cache/cache_settings.hpp"
#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"

namespace oclcc {

namespace worker {
struct WorkerSettings;
}

// What modes work with, apart from the options.
struct ModeContext {
  Reporter& reporter;
  const worker::WorkerSettings& workers; // with the token that Ctrl-C stops
  const clbin::cache::ProcessEnvironment& environment;
};

// Modes that call drivers, in workers.

// --list-devices: prints one line per device, the whole table with -v, or JSON.
[[nodiscard]] Result<ExitCode> list_devices(const Options& options, const ModeContext& context);
// --list-targets: the offline targets, and which of them can be used here. Starts only tools whose
// version matters and is not in the compile cache of `cache`. ExitCode::file if the list cannot be
// written.
[[nodiscard]] Result<ExitCode> list_targets(const Options& options, const ModeContext& context);
// --identity: prints the features of this machine (machine_feature.hpp) as Slurm's configuration
// expects them, or the machine as JSON. no_opencl or no_device, as for find_installed_devices, if
// the machine has neither a device nor the programs of an offline target.
[[nodiscard]] Result<ExitCode> identity(const Options& options, const ModeContext& context);
// --verify: prints nothing for valid bundles. With --run, loads every entry on each selected device
// for which the library would try it. k_entry_does_not_load if a driver rejects one.
[[nodiscard]] Result<ExitCode> verify(const Options& options, const ModeContext& context);
// --explain: shows which entry each program loads on each installed device, and why. Passes every
// matching entry to the drivers; a crash affects only the line of the entry. Names IL and source
// without compiling them, and ignores the user cache.
[[nodiscard]] Result<ExitCode> explain(const Options& options, const ModeContext& context);

// Modes that read bundles, without OpenCL.

// --info: lists the readable parts of every bundle, then its errors. Returns the status of the
// first error.
[[nodiscard]] Result<ExitCode> info(const Options& options, const ModeContext& context);
// --diff: prints the differences between the contents of two bundles, sorted by program, variant
// and target. Ignores compression, build logs and tools, and does not compare damaged bundles.
// k_bundles_differ if there are differences.
[[nodiscard]] Result<ExitCode> diff(const Options& options, const ModeContext& context);
// --extract: writes device binaries and sources to the directory of -o, which it creates if
// necessary, or to the working directory; "-" is standard output, for one entry. Writes sources
// only if neither variants nor targets are selected. Names are from extracted_names.hpp, so that no
// file is outside the directory.
[[nodiscard]] Result<ExitCode> extract(const Options& options, const ModeContext& context);

// Modes that write bundles anew, in place or one to -o. They compress nothing again, apart from
// --repack.

// --merge: the union of the inputs to -o, which may be one of them: all are read before it is
// written.
[[nodiscard]] Result<ExitCode> merge(const Options& options, const ModeContext& context);
// --repack: the bytes that one run of oclcc would have made of the same contents; hidden payloads
// are gone.
[[nodiscard]] Result<ExitCode> repack(const Options& options, const ModeContext& context);
// --strip: removes entries, source or reflection. A bundle that would be left with nothing stays as
// it is, which is an error.
[[nodiscard]] Result<ExitCode> strip(const Options& options, const ModeContext& context);
// --strip-signature: removes signatures, counters and vouches, valid or not. No other byte changes,
// except the total size.
[[nodiscard]] Result<ExitCode> strip_signature(const Options& options, const ModeContext& context);
// --encrypt: an encrypted bundle is encrypted anew, with another key or for other recipients.
[[nodiscard]] Result<ExitCode> encrypt(const Options& options, const ModeContext& context);
// --decrypt: restores the bytes that were encrypted. A bundle that is not encrypted is an error.
[[nodiscard]] Result<ExitCode> decrypt(const Options& options, const ModeContext& context);
// --sign: signs each bundle, or writes its signature file (--detached). Verifies a bundle before it
// signs it. Call it before other threads start.
[[nodiscard]] Result<ExitCode> sign(const Options& options, const ModeContext& context);
// --sign-message: writes what a signature of a bundle signs. Verifies the bundle first, because the
// message alone does not show what it signs.
[[nodiscard]] Result<ExitCode> sign_message(const Options& options, const ModeContext& context);

// --keygen: makes a key pair, or a content key. Never replaces a file.
[[nodiscard]] Result<ExitCode> keygen(const Options& options, const ModeContext& context);

// --record: runs an application, and writes a bundle of the programs that it built. Returns the
// exit status of the application, 128 + the signal that ended it, 127 if it was not found, or 126
// if it could not be run; if all of this is 0, that of writing the bundle.
[[nodiscard]] Result<ExitCode> record(const Options& options, const ModeContext& context);

// The user cache of libclbin and the compile cache of oclcc share a directory, which these modes
// find even if CLBIN_CACHE=0 disables them. ExitCode::file if it is not usable or cannot be
// cleared.

// --cache-stats: a missing directory is an empty cache.
[[nodiscard]] Result<ExitCode> cache_stats(const Options& options, const ModeContext& context);
// --clear-cache: removes the entries and the counters of both caches, but no other file in the
// directory. Concurrent builds still store their results.
[[nodiscard]] Result<ExitCode> clear_cache(const Options& options, const ModeContext& context);

} // namespace oclcc
