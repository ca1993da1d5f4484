// Functions that drivers use instead of libc's, because the executable exports them.
//
// Temporary files and directories get numbers instead of random names, because PoCL writes the
// names into the binary (doc/drivers.md, "PoCL"). That is as safe as libc's: the file is created
// with O_EXCL, so that no existing file is opened. Directories are listed in the order of their
// names, because drivers write files into binaries in directory order.
#include "worker/worker_main.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace {

std::atomic<bool>& is_sorting() noexcept {
  static std::atomic<bool> value{false};
  return value;
}

template <typename Function>
Function* next_function(const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// On 64-bit systems, dirent is the same.
static_assert(sizeof(dirent) == sizeof(dirent64) &&
              offsetof(dirent, d_name) == offsetof(dirent64, d_name));

struct Listing {
  std::vector<dirent64> entries;
  std::size_t next = 0;
};

struct Listings {
  std::mutex mutex;
  std::map<DIR*, Listing> by_folder;
};

Listings& listings() {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  static auto* const all = new Listings; // never destroyed: drivers read even at exit
  return *all;
}

Listing read_all(DIR* folder, dirent64* (*read)(DIR*)) {
  Listing listing;
  for (const dirent64* entry = read(folder); entry != nullptr; entry = read(folder)) {
    // A record may be shorter than the structure.
    dirent64 copy{};
    std::memcpy(&copy, entry, std::min<std::size_t>(entry->d_reclen, sizeof(copy)));
    listing.entries.push_back(copy);
  }
  std::ranges::sort(listing.entries, [](const auto& a, const auto& b) {
    return std::strcmp(a.d_name, b.d_name) < 0;
  });
  return listing;
}

// Like readdir: returns nullptr at the end, with errno unchanged. An entry is valid until the
// directory is closed.
dirent64* read_in_order(DIR* folder) {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  static auto* const read = next_function<dirent64*(DIR*)>("readdir64");
  if (!is_sorting().load()) {
    return read(folder);
  }
  const std::lock_guard lock(listings().mutex);
  auto& known = listings().by_folder;
  auto found = known.find(folder);
  if (found == known.end()) {
    found = known.emplace(folder, read_all(folder, read)).first;
  }
  Listing& listing = found->second;
  return listing.next < listing.entries.size() ? &listing.entries[listing.next++] : nullptr;
}

void forget(DIR* folder) {
  const std::lock_guard lock(listings().mutex);
  listings().by_folder.erase(folder);
}

constexpr std::size_t k_placeholder_length = 6; // "XXXXXX", as POSIX asks
constexpr std::uint32_t k_names = 1'000'000;    // the number of names with as many decimal digits

// Before the first reset, names need not be constant: concurrent processes then start at different
// numbers.
std::uint32_t first_number() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return (static_cast<std::uint32_t>(now.tv_nsec) ^ static_cast<std::uint32_t>(::getpid())) %
         k_names;
}

std::atomic<std::uint32_t>& next_number() noexcept {
  static std::atomic<std::uint32_t> number{first_number()};
  return number;
}

void write_number(char* digits, std::uint32_t number) noexcept {
  for (std::size_t i = k_placeholder_length; i > 0; --i) {
    digits[i - 1] = static_cast<char>('0' + number % 10);
    number /= 10;
  }
}

// Returns the six characters of `name` to replace, or nullptr with errno set.
char* find_placeholder(char* name, int suffix_length) noexcept {
  const std::size_t length = std::strlen(name);
  if (suffix_length >= 0 &&
      length >= k_placeholder_length + static_cast<std::size_t>(suffix_length)) {
    char* const digits =
        name + (length - static_cast<std::size_t>(suffix_length) - k_placeholder_length);
    if (std::strncmp(digits, "XXXXXX", k_placeholder_length) == 0) {
      return digits;
    }
  }
  errno = EINVAL;
  return nullptr;
}

// `make` returns -1 with errno EEXIST if the name exists.
template <typename Make>
int make_counted(char* name, int suffix_length, const Make& make) noexcept {
  char* const digits = find_placeholder(name, suffix_length);
  if (digits == nullptr) {
    return -1;
  }
  for (std::uint32_t attempt = 0; attempt < k_names; ++attempt) {
    write_number(digits, next_number().fetch_add(1) % k_names);
    const int made = make(name);
    if (made >= 0 || errno != EEXIST) {
      return made;
    }
  }
  return -1;
}

int open_counted(char* name, int suffix_length, int flags) noexcept {
  return make_counted(name, suffix_length, [flags](const char* path) {
    return ::open(path, (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL, 0600);
  });
}

} // namespace

namespace oclcc::worker {

void sort_directories() noexcept {
  is_sorting().store(true);
}

void reset_temporary_names() noexcept {
  next_number().store(0);
}

} // namespace oclcc::worker

#define OCLCC_EXPORTED __attribute__((visibility("default")))

extern "C" {

OCLCC_EXPORTED dirent* readdir(DIR* folder) {
  return reinterpret_cast<dirent*>(read_in_order(folder));
}
OCLCC_EXPORTED dirent64* readdir64(DIR* folder) {
  return read_in_order(folder);
}
OCLCC_EXPORTED void rewinddir(DIR* folder) noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  static auto* const next = next_function<void(DIR*)>("rewinddir");
  forget(folder);
  next(folder);
}
OCLCC_EXPORTED int closedir(DIR* folder) {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  static auto* const next = next_function<int(DIR*)>("closedir");
  forget(folder);
  return next(folder);
}
OCLCC_EXPORTED int mkstemp(char* name) {
  return open_counted(name, 0, 0);
}
OCLCC_EXPORTED int mkstemp64(char* name) {
  return open_counted(name, 0, 0);
}
OCLCC_EXPORTED int mkostemp(char* name, int flags) {
  return open_counted(name, 0, flags);
}
OCLCC_EXPORTED int mkostemp64(char* name, int flags) {
  return open_counted(name, 0, flags);
}
OCLCC_EXPORTED int mkstemps(char* name, int suffix) {
  return open_counted(name, suffix, 0);
}
OCLCC_EXPORTED int mkstemps64(char* name, int suffix) {
  return open_counted(name, suffix, 0);
}
OCLCC_EXPORTED int mkostemps(char* name, int suffix, int flags) {
  return open_counted(name, suffix, flags);
}
OCLCC_EXPORTED int mkostemps64(char* name, int suffix, int flags) {
  return open_counted(name, suffix, flags);
}
OCLCC_EXPORTED char* mkdtemp(char* name) {
  const int made = make_counted(name, 0, [](const char* path) { return ::mkdir(path, 0700); });
  return made == 0 ? name : nullptr;
}

} // extern "C"
