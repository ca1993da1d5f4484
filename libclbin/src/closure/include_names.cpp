#include "closure/include_names.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace clbin::closure {

namespace {

// Drivers' names of the main file. A header with such a name would be mistaken for it.
const std::set<std::string>& names_of_main_files() {
  static const std::set<std::string> names = {"input.cl", "CompileSource"};
  return names;
}

// Whether #include "…" can contain the name.
std::string printable_name(std::string name) {
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }, '_');
  return name;
}

// "./a//b.h" is "a/b.h"; empty for a name that leaves the headers' folder.
std::string inside_name(const std::string& spelling) {
  const std::filesystem::path path = std::filesystem::path(spelling).lexically_normal();
  const bool leaves = path.is_absolute() || path.empty() || *path.begin() == "..";
  return leaves ? std::string() : printable_name(path.generic_string());
}

std::string last_part(const std::string& spelling) {
  return printable_name(std::filesystem::path(spelling).lexically_normal().filename().string());
}

std::string numbered(const std::string& name, unsigned number) {
  const std::filesystem::path path(name);
  const std::string file =
      path.stem().string() + "~" + std::to_string(number) + path.extension().string();
  return (path.parent_path() / file).generic_string();
}

// Assigns each name once, and numbers repeated names.
class UnusedNames {
public:
  std::string take(const std::string& name) {
    // Numbers below the next one are used: counting from 2 each time would take quadratic time.
    unsigned& number = m_next.emplace(name, 2).first->second;
    std::string candidate = name;
    while (names_of_main_files().count(candidate) != 0 || !m_used.insert(candidate).second) {
      candidate = numbered(name, number++);
    }
    return candidate;
  }

private:
  std::set<std::string> m_used;
  std::map<std::string, unsigned> m_next;
};

std::vector<std::string> number_apart(std::vector<std::string> names) {
  UnusedNames unused;
  for (std::string& name : names) {
    name = name.empty() ? name : unused.take(name);
  }
  return names;
}

std::vector<std::string> spelled_names(const std::vector<std::string>& spellings) {
  std::vector<std::string> names;
  names.reserve(spellings.size());
  for (const std::string& spelling : spellings) {
    const std::string inside = spelling.empty() ? std::string() : inside_name(spelling);
    names.push_back(inside.empty() && !spelling.empty() ? last_part(spelling) : inside);
  }
  return number_apart(std::move(names));
}

std::vector<std::string> flat_names(const std::vector<std::string>& spellings) {
  std::vector<std::string> names;
  names.reserve(spellings.size());
  for (const std::string& spelling : spellings) {
    names.push_back(spelling.empty() ? std::string() : last_part(spelling));
  }
  return number_apart(std::move(names));
}

// Whether a compiler that searches the directory of the including file first finds a different
// header.
bool some_edge_goes_astray(const std::vector<std::string>& names,
                           const std::vector<IncludeEdge>& edges) {
  std::map<std::string, std::size_t> files;
  for (std::size_t i = 0; i < names.size(); ++i) {
    files.emplace(names[i], i);
  }
  return std::any_of(edges.begin(), edges.end(), [&](const IncludeEdge& edge) {
    const std::filesystem::path folder = std::filesystem::path(names[edge.from]).parent_path();
    const auto found = files.find((folder / names[edge.to]).lexically_normal().generic_string());
    return found != files.end() && found->second != edge.to;
  });
}

} // namespace

std::vector<std::string> choose_include_names(const std::vector<std::string>& spellings,
                                              const std::vector<IncludeEdge>& edges) {
  std::vector<std::string> names = spelled_names(spellings);
  return some_edge_goes_astray(names, edges) ? flat_names(spellings) : names;
}

} // namespace clbin::closure
