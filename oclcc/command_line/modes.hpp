// What oclcc can be told to do, apart from compiling (compile.hpp): one function a mode. Each
// reports its errors, and returns the exit status of the process.
#pragma once

#include "cache/cache_settings.hpp"
#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/reporter.hpp"

#include <stop_token>

namespace oclcc {

namespace worker {
struct WorkerSettings;
}

// Modes that call drivers, in workers.

// --list-devices: prints one line per device, the whole table with -v, or JSON.
[[nodiscard]] ExitCode list_devices(const Options& options, const worker::WorkerSettings& settings,
                                    Reporter& reporter);
// --list-targets: the offline targets, and which of them can be used here. Starts only tools whose
// version matters and is not in the compile cache of `cache`. ExitCode::file if the list cannot be
// written.
[[nodiscard]] ExitCode list_targets(const Options& options, const worker::WorkerSettings& settings,
                                    const clbin::cache::CacheSettings& cache, Reporter& reporter);
// --identity: prints the features of this machine (machine_description.hpp) as Slurm's
// configuration expects them, or the machine as JSON. no_opencl or no_device, as for
// find_installed_devices, if the machine has neither a device nor the programs of an offline
// target.
[[nodiscard]] ExitCode identity(const Options& options, const worker::WorkerSettings& settings,
                                Reporter& reporter);
// --verify: prints nothing for valid bundles. With --run, loads every entry on each selected device
// for which the library would try it. k_entry_does_not_load if a driver rejects one.
[[nodiscard]] ExitCode verify(const Options& options, const worker::WorkerSettings& settings,
                              Reporter& reporter);
// --explain: shows which entry each program loads on each installed device, and why. Passes every
// matching entry to the drivers; a crash affects only the line of the entry. Names IL and source
// without compiling them, and ignores the user cache.
[[nodiscard]] ExitCode explain(const Options& options, const worker::WorkerSettings& settings,
                               Reporter& reporter);

// Modes that read bundles, without OpenCL.

// --info: lists the readable parts of every bundle, then its errors. Returns the status of the
// first error.
[[nodiscard]] ExitCode info(const Options& options, Reporter& reporter);
// --diff: prints the differences between the contents of two bundles, sorted by program, variant
// and target. Ignores compression, build logs and tools, and does not compare damaged bundles.
// k_bundles_differ if there are differences.
[[nodiscard]] ExitCode diff(const Options& options, Reporter& reporter);
// --extract: writes device binaries and sources to the directory of -o, which it creates if
// necessary, or to the working directory; "-" is standard output, for one entry. Writes sources
// only if neither variants nor targets are selected. Names are from extracted_names.hpp, so that no
// file is outside the directory.
[[nodiscard]] ExitCode extract(const Options& options, Reporter& reporter);

// Modes that write bundles anew, in place or one to -o. They compress nothing again, apart from
// --repack.

// --merge: the union of the inputs to -o, which may be one of them: all are read before it is
// written.
[[nodiscard]] ExitCode merge(const Options& options, Reporter& reporter);
// --repack: the bytes that one run of oclcc would have made of the same contents; hidden payloads
// are gone.
[[nodiscard]] ExitCode repack(const Options& options, Reporter& reporter);
// --strip: removes entries, source or reflection. A bundle that would be left with nothing stays as
// it is, which is an error.
[[nodiscard]] ExitCode strip(const Options& options, Reporter& reporter);
// --strip-signature: removes signatures, counters and vouches, valid or not. No other byte changes,
// except the total size.
[[nodiscard]] ExitCode strip_signature(const Options& options, Reporter& reporter);
// --encrypt: an encrypted bundle is encrypted anew, with another key or for other recipients.
[[nodiscard]] ExitCode encrypt(const Options& options, Reporter& reporter);
// --decrypt: restores the bytes that were encrypted. A bundle that is not encrypted is an error.
[[nodiscard]] ExitCode decrypt(const Options& options, Reporter& reporter);
// --sign: signs each bundle, or writes its signature file (--detached). Verifies a bundle before it
// signs it. Call it before other threads start.
[[nodiscard]] ExitCode sign(const Options& options, std::stop_token stop, Reporter& reporter);
// --sign-message: writes what a signature of a bundle signs. Verifies the bundle first, because the
// message alone does not show what it signs.
[[nodiscard]] ExitCode sign_message(const Options& options, Reporter& reporter);

// --keygen: makes a key pair, or a content key. Never replaces a file.
[[nodiscard]] ExitCode keygen(const Options& options, std::stop_token stop, Reporter& reporter);

// --record: runs an application, and writes a bundle of the programs that it built. Returns the
// exit status of the application, 128 + the signal that ended it, 127 if it was not found, or 126
// if it could not be run; if all of this is 0, that of writing the bundle.
[[nodiscard]] ExitCode record(const Options& options,
                              const clbin::cache::ProcessEnvironment& environment,
                              Reporter& reporter);

// The user cache of libclbin and the compile cache of oclcc share a directory, which these modes
// find even if CLBIN_CACHE=0 disables them. ExitCode::file if it is not usable or cannot be
// cleared.

// --cache-stats: a missing directory is an empty cache.
[[nodiscard]] ExitCode cache_stats(const Options& options,
                                   const clbin::cache::ProcessEnvironment& environment,
                                   Reporter& reporter);
// --clear-cache: removes the entries and the counters of both caches, but no other file in the
// directory. Concurrent builds still store their results.
[[nodiscard]] ExitCode clear_cache(const clbin::cache::ProcessEnvironment& environment,
                                   Reporter& reporter);

} // namespace oclcc
