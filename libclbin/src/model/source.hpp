// The source of a program: the main file and every file that it includes, under names that do not
// require any file of the build machine.
#pragma once

#include "model/record.hpp"

namespace clbin::format {

struct SourceFile {
  // The name in the #include line that reaches the file. For the main file, the name in
  // diagnostics.
  std::string include_name;
  std::string display_name; // the path that the user specified, for diagnostics
  std::string text;

  friend bool operator==(const SourceFile&, const SourceFile&) = default;
};
void visit(Is<SourceFile> auto& file, const auto& member) {
  auto& [include_name, display_name, text] = file;
  member("include_name", include_name);
  member("display_name", display_name);
  member("text", text);
}

struct SourcePackage {
  SourceFile main;
  std::vector<SourceFile> headers; // in order of discovery; include names are unique

  friend bool operator==(const SourcePackage&, const SourcePackage&) = default;
};
void visit(Is<SourcePackage> auto& source, const auto& member) {
  auto& [main, headers] = source;
  member("main", main);
  member("headers", headers);
}

} // namespace clbin::format
