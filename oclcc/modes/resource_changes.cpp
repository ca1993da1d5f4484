#include "modes/resource_changes.hpp"

#include <fmt/format.h>
#include <tuple>

namespace oclcc {

namespace {

using Number = std::optional<std::uint64_t>;

// A number that is compared, and its name in --fail-on; empty if it cannot be limited.
struct ComparedNumber {
  std::string_view name;
  std::string_view limit;
  Number KernelResources::*number;
};
constexpr ComparedNumber k_compared[] = {
    {"wave size", "", &KernelResources::wave_size},
    {"registers", "registers", &KernelResources::registers},
    {"scalar registers", "scalar-registers", &KernelResources::scalar_registers},
    {"spills", "spills", &KernelResources::spills},
    {"scratch bytes", "scratch", &KernelResources::scratch_bytes},
    {"local bytes", "local", &KernelResources::local_bytes},
    {"constant bytes", "constant", &KernelResources::constant_bytes},
    {"code bytes", "size", &KernelResources::code_bytes},
    {"instructions", "size", &KernelResources::instructions},
    {"occupancy", "occupancy", &KernelResources::occupancy},
};

// Of all numbers but this one, less is better.
constexpr std::string_view k_occupancy = "occupancy";

bool exceeds(const ChangeLimit& limit, std::uint64_t before, std::uint64_t after) {
  const bool is_reversed = limit.number == k_occupancy;
  const std::uint64_t better = is_reversed ? after : before;
  const std::uint64_t worse = is_reversed ? before : after;
  if (worse <= better) {
    return false;
  }
  return limit.unit == ChangeUnit::percent
             ? static_cast<double>(worse - better) * 100 >
                   static_cast<double>(before) * static_cast<double>(limit.allowed)
             : worse - better > limit.allowed;
}

// "+10%", "-1", "+0"
std::string text_of(const ChangeLimit& limit) {
  return fmt::format("{}{}{}", limit.number == k_occupancy ? "-" : "+", limit.allowed,
                     limit.unit == ChangeUnit::percent ? "%" : "");
}

// Program, variant, kernel, target, format, and the number among those with equal names.
using Identity = std::tuple<std::string, std::string, std::string, std::string, std::string, int>;
using KernelPair = std::pair<const KernelResources*, const KernelResources*>;

class KernelComparison {
public:
  explicit KernelComparison(std::span<const ChangeLimit> limits) : m_limits(limits) {}

  void add(const FileResources& file, const KernelResources* KernelPair::*side) {
    std::map<Identity, int> counts; // of kernels with equal names
    for (const ResourceGroup& group : file.groups) {
      for (const KernelResources& kernel : group.kernels) {
        Identity identity(group.program, group.variant, kernel.kernel, kernel.target, kernel.format,
                          0);
        std::get<5>(identity) = counts[identity]++;
        m_pairs[identity].*side = &kernel;
      }
    }
  }

  std::vector<ResourceChange> changes() {
    for (const auto& [identity, kernels] : m_pairs) {
      const auto& [before, after] = kernels;
      const bool is_new = before == nullptr;
      if (is_new || after == nullptr) {
        add_change(identity, "kernel", "", is_new ? 0 : 1, is_new ? 1 : 0);
      }
      for (const auto& [name, limit, number] : k_compared) {
        if (!is_new && after != nullptr) {
          add_change(identity, name, limit, before->*number, after->*number);
        } else if (is_new && (limit == "spills" || limit == "scratch") && after->*number) {
          add_change(identity, name, limit, 0, after->*number);
        }
      }
    }
    return std::move(m_changes);
  }

private:
  void add_change(const Identity& identity, std::string_view name, std::string_view limit_name,
                  Number before, Number after) {
    if (before == after) {
      return;
    }
    const auto& [program, variant, kernel, target, format, index] = identity;
    ResourceChange change{program, variant,           kernel, target,
                          format,  std::string(name), before, after};
    for (const ChangeLimit& limit : m_limits) {
      if (limit.number == limit_name && before && after && exceeds(limit, *before, *after)) {
        change.exceeds = text_of(limit);
      }
    }
    m_changes.push_back(std::move(change));
  }

  std::span<const ChangeLimit> m_limits;
  std::map<Identity, KernelPair> m_pairs;
  std::vector<ResourceChange> m_changes;
};

} // namespace

std::vector<ResourceChange> resource_changes(const FileResources& before,
                                             const FileResources& after,
                                             std::span<const ChangeLimit> limits) {
  KernelComparison comparison(limits);
  comparison.add(before, &KernelPair::first);
  comparison.add(after, &KernelPair::second);
  return comparison.changes();
}

std::vector<std::string> unchecked_numbers(const FileResources& file,
                                           std::span<const ChangeLimit> limits) {
  std::set<std::string_view> known;
  for (const ResourceGroup& group : file.groups) {
    for (const ComparedNumber& compared : k_compared) {
      const auto has_number = [&](const KernelResources& kernel) {
        return (kernel.*compared.number).has_value();
      };
      if (std::ranges::any_of(group.kernels, has_number)) {
        known.insert(compared.limit);
      }
    }
  }
  std::vector<std::string> unchecked;
  for (const ChangeLimit& limit : limits) {
    if (!known.contains(limit.number)) {
      unchecked.push_back(limit.number);
    }
  }
  return unchecked;
}

} // namespace oclcc
