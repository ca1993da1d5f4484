// A compiler for Windows that is one of this machine: in Wine, runs the program for Linux that has
// the name of this one, with the same words in the same folder, and prints what it prints. With
// UNIX_TOOL_HANGS in the environment, it hangs.
#include "base/file_io.hpp"
#include "base/system/process.hpp"
#include "base/system/windows/names.hpp"

#include <cstdlib>
#include <shellapi.h>

namespace base = clbin::base;
namespace windows = clbin::base::windows;

namespace {

// Functions that only Wine has.
using UnixSpawn = LONG(WINAPI*)(const char* const* words, int wait);
using UnixName = char*(CDECL*)(const wchar_t* name); // of its heap; null if there is none

template <typename Function>
Function wine_function(const wchar_t* library, const char* name) {
  return reinterpret_cast<Function>(
      reinterpret_cast<void*>(::GetProcAddress(::GetModuleHandleW(library), name)));
}

// Replaces the absolute path at the end of a word.
std::string unix_word(const std::string& word) {
  const auto unix_name = wine_function<UnixName>(L"kernel32.dll", "wine_get_unix_file_name");
  const std::size_t colon = word.find(":\\");
  if (unix_name == nullptr || colon == std::string::npos || colon == 0) {
    return word;
  }
  const char* const name = unix_name(windows::to_wide(word.substr(colon - 1)).c_str());
  return name == nullptr ? word : word.substr(0, colon - 1) + name;
}

std::vector<std::string> words_of_process() {
  int count = 0;
  wchar_t** const wide = ::CommandLineToArgvW(::GetCommandLineW(), &count);
  std::vector<std::string> words;
  for (int i = 0; i < count; ++i) {
    words.push_back(unix_word(windows::to_utf8(wide[i])));
  }
  return words;
}

} // namespace

int main() {
  if (base::environment_variable("UNIX_TOOL_HANGS")) {
    ::Sleep(INFINITE);
  }
  const auto spawn = wine_function<UnixSpawn>(L"ntdll.dll", "__wine_unix_spawnvp");
  if (spawn == nullptr) {
    return 127; // not in Wine
  }
  std::vector<std::string> own = words_of_process();
  const auto folder = std::filesystem::current_path();
  const auto output = folder / ("unix_tool-" + std::to_string(::GetCurrentProcessId()));
  std::vector<std::string> words{"/bin/sh",
                                 "-c",
                                 R"(cd "$1"; output=$2; shift 2; exec "$@" >"$output" 2>&1)",
                                 "sh",
                                 unix_word(folder.string()),
                                 unix_word(output.string())};
  words.push_back(std::filesystem::path(own.front()).stem().string());
  words.insert(words.end(), own.begin() + 1, own.end());
  std::vector<const char*> pointers;
  for (const std::string& word : words) {
    pointers.push_back(word.c_str());
  }
  pointers.push_back(nullptr);
  const int status = static_cast<int>(spawn(pointers.data(), 1));
  const auto printed = base::read_whole_file(output, 1U << 20U);
  if (printed) {
    (void)base::write_all(base::k_standard_output, *printed);
  }
  std::error_code ignored;
  std::filesystem::remove(output, ignored);
  return status;
}
