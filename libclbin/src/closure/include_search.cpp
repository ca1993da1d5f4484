#include "closure/include_search.hpp"

namespace clbin::closure {

namespace fs = std::filesystem;

std::vector<HeaderPlace> header_places(const IncludeSearch& search, const HeaderPlace* from,
                                       IncludeForm form, IncludeStart start, const fs::path& name) {
  if (name.is_absolute()) {
    return {{name, std::nullopt}};
  }
  std::vector<HeaderPlace> places;
  if (from != nullptr && form == IncludeForm::quoted && start == IncludeStart::first) {
    places.push_back({from->path.parent_path() / name, std::nullopt});
  }
  const bool further = from != nullptr && from->folder && start == IncludeStart::next;
  for (std::size_t i = further ? *from->folder + 1 : 0; i < search.folders.size(); ++i) {
    places.push_back({search.folders[i] / name, i});
  }
  return places;
}

bool is_irregular(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

} // namespace clbin::closure
