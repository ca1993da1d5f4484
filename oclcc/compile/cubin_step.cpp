#include "compile/cubin_step.hpp"

#include "base/file_io.hpp"
#include "format/binary_kind.hpp"

#include <map>

namespace oclcc {

using clbin::base::Bytes;
using clbin::base::Digest;
using clbin::base::Result;
using clbin::format::BinaryKind;

namespace {

Result<bool> has_nvidias_ptx(const Job& job, std::size_t unit) {
  const auto& identity = job.devices[job.places[unit].device].identity;
  if (clbin::format::device_family(identity) != clbin::format::DeviceFamily::nvidia ||
      !worker::is_built(job.results[unit])) {
    return false;
  }
  CLBIN_TRY_ASSIGN(const clbin::base::ByteRegion binary, job.binaries[unit].read());
  return clbin::format::classify_binary(binary.view()).kind == BinaryKind::ptx;
}

} // namespace

Result<void> add_cubins(Job& job, const Options& options, const std::filesystem::path& temporary) {
  job.cubins.resize(job.results.size());
  std::vector<std::size_t> units;
  for (std::size_t unit = 0; unit < job.results.size(); ++unit) {
    CLBIN_TRY_ASSIGN(const bool is_ptx, has_nvidias_ptx(job, unit));
    if (is_ptx) {
      units.push_back(unit);
    }
  }
  if (units.empty()) {
    return {};
  }
  const std::chrono::seconds timeout(options.timeout_seconds);
  CLBIN_TRY_ASSIGN(const auto folder, clbin::base::TemporaryFolder::create(temporary, "ptxas-"));
  CLBIN_TRY_ASSIGN(const offline::Ptxas ptxas, offline::find_ptxas(folder.path(), timeout));
  job.ptxas_version = ptxas.version;
  std::map<std::pair<std::string, Digest>, Result<Bytes>> known; // variants may make equal PTX
  for (const std::size_t unit : units) {
    worker::UnitResult& result = job.results[unit];
    const std::string& architecture = job.devices[job.places[unit].device].identity.architecture;
    CLBIN_TRY_ASSIGN(const clbin::base::ByteRegion ptx, job.binaries[unit].read());
    const std::pair key(architecture, clbin::base::digest_of(ptx.view()));
    auto found = known.find(key);
    if (found == known.end()) {
      found = known
                  .emplace(key, offline::assemble(ptxas, ptx.view(), architecture, folder.path(),
                                                  timeout))
                  .first;
    }
    if (found->second) {
      job.cubins[unit] = *found->second;
    } else {
      result.reply->error = found->second.error().message;
    }
  }
  return {};
}

} // namespace oclcc
