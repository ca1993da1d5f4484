#include "worker/directory_order.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <map>
#include <mutex>
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

template <typename Entry>
struct Listing {
  std::vector<Entry> entries;
  std::size_t next = 0;
};

template <typename Entry>
struct Listings {
  std::mutex mutex;
  std::map<DIR*, Listing<Entry>> by_folder;

  void forget(DIR* folder) {
    const std::lock_guard lock(mutex);
    by_folder.erase(folder);
  }
};

template <typename Entry>
Listings<Entry>& listings() {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  static auto* const all = new Listings<Entry>; // never destroyed: drivers read even at exit
  return *all;
}

template <typename Entry>
Listing<Entry> read_all(DIR* folder, Entry* (*read)(DIR*)) {
  Listing<Entry> listing;
  for (const Entry* entry = read(folder); entry != nullptr; entry = read(folder)) {
    // A record may be shorter than the structure.
    Entry copy{};
    std::memcpy(&copy, entry, std::min<std::size_t>(entry->d_reclen, sizeof(copy)));
    listing.entries.push_back(copy);
  }
  std::sort(listing.entries.begin(), listing.entries.end(),
            [](const Entry& a, const Entry& b) { return std::strcmp(a.d_name, b.d_name) < 0; });
  return listing;
}

// Like readdir: returns nullptr at the end, with errno unchanged. An entry is valid until the
// directory is closed.
template <typename Entry>
Entry* read_in_order(DIR* folder, Entry* (*read)(DIR*)) {
  if (!is_sorting().load()) {
    return read(folder);
  }
  const std::lock_guard lock(listings<Entry>().mutex);
  auto& known = listings<Entry>().by_folder;
  auto found = known.find(folder);
  if (found == known.end()) {
    found = known.emplace(folder, read_all(folder, read)).first;
  }
  Listing<Entry>& listing = found->second;
  return listing.next < listing.entries.size() ? &listing.entries[listing.next++] : nullptr;
}

void forget(DIR* folder) {
  listings<dirent>().forget(folder);
  listings<dirent64>().forget(folder);
}

} // namespace

namespace oclcc::worker {

void sort_directories() noexcept {
  is_sorting().store(true);
}

} // namespace oclcc::worker

#define OCLCC_EXPORTED __attribute__((visibility("default")))

extern "C" {

OCLCC_EXPORTED dirent* readdir(DIR* folder) {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  static auto* const next = next_function<dirent*(DIR*)>("readdir");
  return read_in_order(folder, next);
}
OCLCC_EXPORTED dirent64* readdir64(DIR* folder) {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  static auto* const next = next_function<dirent64*(DIR*)>("readdir64");
  return read_in_order(folder, next);
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

} // extern "C"
