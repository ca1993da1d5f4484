// What oclcc can be told to do, apart from compiling (compile.hpp): one function a mode.
#pragma once

#include "cache/cache_settings.hpp"
#include "command_line/options.hpp"
#include "terminal/exit_code.hpp"

namespace oclcc {

namespace worker {
struct WorkerSettings;
struct InstalledDevices;
} // namespace worker

// What modes work with, apart from the options.
struct ModeContext {
  Reporter& reporter;
  const worker::WorkerSettings& workers; // with the token that Ctrl-C stops
  const clbin::cache::ProcessEnvironment& environment;
  worker::InstalledDevices* installed = nullptr; // if they are already known; for the compile mode
};

// Returns the exit status of the process, or the error that main() prints. Modes that go on after
// an error print it themselves, and return the status of the first one.
using RunMode = Result<ExitCode>(const Options& options, const ModeContext& context);

// Modes that call drivers, in workers.

RunMode list_devices; // one line per device, the whole table with -v, or JSON
// Starts only tools whose version matters and is not in the compile cache.
RunMode list_targets;
// Prints the features of this machine for Slurm, or the machine as JSON.
// no_opencl or no_device if it has neither a device nor the programs of an offline target.
RunMode identity;
// Prints nothing for valid bundles. With --run, loads every entry on each selected device for which
// the library would try it. k_entry_does_not_load if a driver rejects one.
RunMode verify;
// Passes every matching entry to the drivers; a crash affects only the line of the entry. Names IL
// and source without compiling them, and ignores the user cache.
RunMode explain;

// Launches each variant on each selected device, and prints the times. k_entry_does_not_load if
// every variant was refused in a launch.
RunMode tune;

// Loads every variant of every program on each selected device, and stores in libclbin's user cache
// what has to be built. Goes on after a failure; k_entry_does_not_load if there was one.
// invalid_argument if the cache is off or a bundle is encrypted.
RunMode warm;

// Modes that read bundles, without OpenCL.

RunMode info; // the readable parts of every bundle, then its errors
// Ignores compression, build logs and tools, and does not compare damaged bundles. k_bundles_differ
// if there are differences.
RunMode diff;
// Writes to the directory of -o, which it creates if necessary, or to the working directory; "-" is
// standard output, for one entry. Writes sources only if neither variants nor targets are selected.
// Names are from extracted_names.hpp, so that no file is outside the directory.
RunMode extract;

// Write what one valid bundle was made of to standard output or -o: a statement of in-toto, and a
// bill of materials of CycloneDX.
RunMode provenance;
RunMode sbom;

// Prints the instructions of one binary, of a bundle or a file, or writes them to -o. Starts the
// programs of disassembler.hpp.
RunMode disassemble;

// Reads bundles and other files of device binaries, and prints the resources of every kernel that
// is selected, then the errors. With --against, prints what differs instead. k_limit_exceeded if a
// number is worse than --fail-on allows.
RunMode report;

// Modes that write bundles anew, in place or one to -o. They compress nothing again, apart from
// --repack.

RunMode merge;  // all inputs are read before the output, which may be one, is written
RunMode repack; // the bytes that one run would have made; hidden payloads are gone
// Writes a base and packs to the directory -o, which it creates if necessary, the base last; packs
// of a base that it replaces are removed. Compresses everything anew.
RunMode split;
RunMode strip;           // an error if nothing would be left
RunMode strip_signature; // no other byte changes, except the total size
RunMode encrypt;         // encrypts an encrypted bundle anew
RunMode decrypt;         // an error if the bundle is not encrypted
RunMode sign;            // verifies a bundle before it signs it
RunMode sign_message;    // verifies the bundle, because the message does not show what it signs

// Puts binaries of other tools into a new bundle. The inputs are words, [PROGRAM:][TARGET=]FILE.
// Lists the installed devices only if a target names one. Goes on after an error of a file.
RunMode import_binaries;

RunMode keygen; // never replaces a file

// Returns the exit status of the application, 128 + the signal that ended it, 127 if it was not
// found, or 126 if it could not be run; if all of this is 0, that of writing the bundle.
RunMode record;

// The user cache of libclbin and the compile cache of oclcc share a directory, which these modes
// find even if CLBIN_CACHE=0 disables them. ExitCode::file if it is not usable or cannot be
// cleared.

RunMode cache_stats; // a missing directory is an empty cache
// Removes the entries and the counters of both caches, but no other file in the directory.
// Concurrent builds still store their results.
RunMode clear_cache;

} // namespace oclcc
