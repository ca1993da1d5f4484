// Rows of the table about builds of earlier starts. Not on PoCL, which has its own cache, so
// libclbin does not use its user cache there.
#include "faults/scenario_table.hpp"

namespace clbin::test {

namespace {

const std::string k_no_compiler = "clCompileProgram";

// No entry matches. These bundles do not contain the foreign entry.
const StartRow k_builds{"", "source" + k_right, {"not attempted user cache", "loaded source"}};
const StartRow k_hits{"", "user cache" + k_right, {"loaded user cache"}, {}, k_no_compiler};

StartRow under(const std::string& faults, StartRow row) {
  row.faults = faults;
  return row;
}

StartRow warned(StartRow row, const std::string& warning) {
  row.warning = warning;
  return row;
}

Scenario row(const std::string& name, std::vector<StartRow> starts,
             std::vector<std::string> arguments = {},
             std::map<std::string, std::string> environment = {}) {
  return {name,
          BundleKind::source,
          std::move(arguments),
          std::move(starts),
          Needs::user_cache,
          std::move(environment)};
}

// The driver rejects the entry. libclbin removes it and builds the source.
StartRow refused(const std::string& faults, const std::string& answer) {
  return {faults, "source" + k_right, {"refused user cache: " + answer, "loaded source"}};
}

} // namespace

std::vector<Scenario> user_cache_scenarios() {
  const std::string upgrade = "answer at=clGetDeviceInfo name=CL_DRIVER_VERSION value=999";
  const std::string crash = "crash at=clCreateProgramWithBinary";
  const StartRow built_again{upgrade, "source" + k_right};
  const StartRow held_back{crash,
                           "source" + k_right,
                           {"not attempted user cache", "loaded source"},
                           {},
                           "clCreateProgramWithBinary"};
  const std::string empty = "cut-binary bytes=0 origin=source";
  const std::string unreadable = "fail at=clGetProgramInfo origin=source code=-6";
  const std::string cut = "cut-binary bytes=16 origin=source";
  return {
      {"rusticl hands out a short binary, over which it would panic",
       BundleKind::source,
       {},
       {warned(under(cut, k_builds), "16 bytes, which are not a complete binary"), k_builds,
        k_hits},
       Needs::rusticl_22},
      {"Oclgrind hands out a short binary",
       BundleKind::source,
       {},
       {under(cut, k_builds), refused("", "clCreateProgramWithBinary -42"), k_hits},
       Needs::oclgrind},
      on_each(row("the second start hits", {k_builds, k_hits, k_hits})),
      row("driver upgraded and taken back",
          {k_builds, built_again, k_hits, under(upgrade, k_hits)}),
      on_each(
          row("its entry refused at create",
              {k_builds, refused("refuse style=honest", "clCreateProgramWithBinary -42"), k_hits})),
      row("its entry refused at create with success",
          {k_builds, refused("refuse style=null-success", "clCreateProgramWithBinary -42"),
           k_hits}),
      row("its entry refused at build",
          {k_builds, refused("fail at=clBuildProgram origin=binary code=-11", "clBuildProgram -11"),
           k_hits}),
      on_each(
          row("its entry lost a kernel",
              {k_builds, refused("lose-kernel kernel=twice origin=binary", "clGetProgramInfo -46"),
               k_hits})),
      row("its entry kills the process",
          {k_builds, {crash, "SIGSEGV"}, {crash, "SIGSEGV"}, held_back, held_back}),
      on_each(row("the driver hands out an empty binary",
                  {warned(under(empty, k_builds), "a binary of 0 bytes"), k_builds, k_hits})),
      row("the driver hands out no binary",
          {warned(under(unreadable, k_builds), "CL_OUT_OF_HOST_MEMORY"), k_builds, k_hits}),
      on_each(row("options of run time",
                  {{"", "source 105 63"}, {"", "user cache 105 63", {}, {}, k_no_compiler}},
                  {"--build-options", "-DTWICE=5"})),
      row("source asked for", {{"", "source" + k_right}, {"", "source" + k_right}},
          {"--fallback", "always"}),
      row("turned off", {k_builds, k_builds}, {}, {{"CLBIN_CACHE", "0"}}),
      row("no room", {k_builds, k_builds}, {}, {{"CLBIN_CACHE_MAX_SIZE", "1"}}),
      row("a size that is none", {warned(k_builds, "not a size"), warned(k_hits, "not a size")}, {},
          {{"CLBIN_CACHE_MAX_SIZE", "much"}}),
      row("dies at the launch of what it hit",
          {k_builds, {"crash at=clEnqueueNDRangeKernel", "SIGSEGV"}, k_hits}),
  };
}

} // namespace clbin::test
