// A stub of NVIDIA's assembler, and the only program in PATH.
#pragma once

#include "support/project_folders.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace oclcc {

class PtxasStub {
public:
  // install() creates the stub in `folder`. Before that, PATH contains no ptxas.
  explicit PtxasStub(std::filesystem::path folder)
      : m_folder(std::move(folder)), m_path(std::getenv("PATH")) {
    ::setenv("PATH", m_folder.c_str(), 1);
  }
  ~PtxasStub() { ::setenv("PATH", m_path.c_str(), 1); }
  PtxasStub(const PtxasStub&) = delete;
  PtxasStub& operator=(const PtxasStub&) = delete;

  // `script` is run on the PTX.
  void install(const std::string& script, const std::string& version = "13.0.88") const {
    std::filesystem::create_directories(m_folder);
    std::ofstream(m_folder / "ptxas")
        << "#!/bin/bash\nPATH=" << m_path << "\necho >> '" << starts_file().string()
        << "'\nif [ \"$1\" = --version ]; then\n"
           "  echo 'Cuda compilation tools, release 13.0, V"
        << version << "'\n  exit 0\nfi\n"
        << script;
    std::filesystem::permissions(m_folder / "ptxas", std::filesystem::perms::owner_all);
  }

  // Returns how often the stub was started, for its version or to assemble.
  [[nodiscard]] std::size_t starts() const {
    std::ifstream file(starts_file());
    return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
  }

  // Checks its arguments and input, and makes a cubin for sm_90.
  inline static const std::string k_works =
      "[ \"$*\" = '-arch=sm_90 kernel.ptx -o kernel.cubin' ] || exit 9\n"
      "grep -c -a -P '\\x00' kernel.ptx && exit 8\n"
      "cp '" +
      (clbin::test::tests_folder() / "unit/format/binaries/sm_90.cubin").string() +
      "' kernel.cubin\n";

private:
  [[nodiscard]] std::filesystem::path starts_file() const { return m_folder / "starts"; }

  std::filesystem::path m_folder;
  std::string m_path;
};

} // namespace oclcc
