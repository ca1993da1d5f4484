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
CLBIN_VISIT(SourceFile, include_name, display_name, text);

struct SourcePackage {
  SourceFile main;
  std::vector<SourceFile> headers; // in order of discovery; include names are unique

  friend bool operator==(const SourcePackage&, const SourcePackage&) = default;
};
CLBIN_VISIT(SourcePackage, main, headers);

} // namespace clbin::format
