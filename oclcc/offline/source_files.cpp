#include "offline/source_files.hpp"

#include "base/file_io.hpp"

#include <system_error>

namespace oclcc::offline {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

Result<void> write_source_files(const clbin::format::SourcePackage& source,
                                const std::filesystem::path& folder) {
  CLBIN_TRY(clbin::base::write_output_file(folder / k_main_file,
                                           clbin::base::as_bytes(source.main.text)));
  for (const clbin::format::SourceFile& header : source.headers) {
    if (!clbin::format::is_valid_include_name(header.include_name)) {
      return fail(ErrorCode::invalid_argument,
                  "cannot write the header '{}': its name is not a relative path",
                  header.include_name);
    }
    const std::filesystem::path file = folder / k_header_folder / header.include_name;
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    if (error) {
      return fail(ErrorCode::file_write, "cannot create the folder of the header '{}': {}",
                  header.include_name, error.message());
    }
    CLBIN_TRY(clbin::base::write_output_file(file, clbin::base::as_bytes(header.text)));
  }
  return {};
}

} // namespace oclcc::offline
