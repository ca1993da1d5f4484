#include "modes/kernel_resources.hpp"

#include "format/binary/binary_kernels.hpp"
#include "listing/bundle_summary.hpp"
#include "modes/containers.hpp"
#include "targets/binary_entry.hpp"
#include "targets/patterns.hpp"

#include <tuple>

namespace oclcc {

namespace {

using clbin::listing::BundleSummary;
using clbin::listing::EntrySummary;
using clbin::listing::GroupSummary;
using format::BinaryInfo;
using format::BinaryKind;
using format::KernelReflection;
using Number = std::optional<std::uint64_t>;

std::uint64_t product_of(const format::GroupSize& size) {
  constexpr std::uint64_t k_most = std::uint64_t{1} << 20U; // of a dimension; more than any device
  std::uint64_t product = 1;
  for (const std::uint64_t items : size) {
    product *= std::min(items, k_most);
  }
  return product;
}

// Of PoCL's binaries and shared objects, the functions are the only list of kernels.
bool is_listed_by_code(const BinaryInfo& info) {
  return info.kind == BinaryKind::unknown || info.kind == BinaryKind::poclbin;
}

// The kernels of a device binary, by name.
struct BinaryResources {
  BinaryInfo info;
  std::map<std::string, KernelResources, std::less<>> kernels;
};

Result<BinaryResources> read_binary(base::ByteView bytes) {
  BinaryResources binary{format::classify_binary(bytes), {}};
  CLBIN_TRY_ASSIGN(const format::EntryInput entry,
                   offline::entry_of_binary(base::ByteRegion::borrow(bytes)));
  for (const KernelReflection& kernel : entry.kernels) {
    KernelResources& resources = binary.kernels[kernel.name];
    resources = resources_of(kernel);
    if (!resources.work_group_origin && resources.registers) { // otherwise there is no occupancy
      const std::uint64_t most = kernel.max_work_group_size.value_or(k_assumed_work_items);
      resources.work_group_size = {std::min(most, k_assumed_work_items), 1, 1};
      resources.work_group_origin = WorkGroupOrigin::assumed;
    }
  }
  CLBIN_TRY_ASSIGN(const format::KernelCodes codes, format::read_kernel_codes(bytes));
  for (const auto& [name, code] : codes) {
    const auto known = binary.kernels.find(name);
    if (known == binary.kernels.end() && !is_listed_by_code(binary.info)) {
      continue;
    }
    KernelResources& resources = binary.kernels[name];
    resources.code_bytes = code.code_bytes;
    resources.constant_bytes = code.constant_bytes;
    resources.instructions = code.instructions;
  }
  return binary;
}

void add_occupancy(const BinaryInfo& info, KernelResources& kernel) {
  if (!kernel.registers || !kernel.wave_size || kernel.work_group_size[0] == 0) {
    return;
  }
  const auto occupancy =
      occupancy_of(info, {.work_items = product_of(kernel.work_group_size),
                          .wave_size = *kernel.wave_size,
                          .registers = *kernel.registers,
                          .scalar_registers = kernel.scalar_registers.value_or(0),
                          .local_bytes = kernel.local_bytes.value_or(0)});
  if (occupancy) {
    kernel.occupancy = occupancy->waves;
    kernel.max_waves = occupancy->max_waves;
    kernel.limited_by = occupancy->limited_by;
  }
}

// What only the driver said when it compiled the kernel.
void add_recorded(const KernelReflection& recorded, KernelResources& kernel) {
  const KernelResources known = resources_of(recorded);
  for (Number KernelResources::*const number :
       {&KernelResources::wave_size, &KernelResources::registers,
        &KernelResources::scalar_registers, &KernelResources::spills,
        &KernelResources::scratch_bytes, &KernelResources::local_bytes}) {
    kernel.*number = kernel.*number ? kernel.*number : known.*number;
  }
  if (recorded.required_work_group_size[0] != 0) {
    kernel.work_group_size = recorded.required_work_group_size;
    kernel.work_group_origin = WorkGroupOrigin::required;
  }
}

// Sets the largest work-group of the recorded launches, unless the kernel requires one.
void add_launches(std::span<const format::RecordedLaunch> launches, KernelResources& kernel) {
  if (kernel.work_group_origin == WorkGroupOrigin::required) {
    return;
  }
  auto launch =
      std::ranges::lower_bound(launches, kernel.kernel, {}, &format::RecordedLaunch::kernel);
  for (; launch != launches.end() && launch->kernel == kernel.kernel; ++launch) {
    const bool is_first = kernel.work_group_origin != WorkGroupOrigin::recorded;
    if (launch->local_size[0] != 0 &&
        (is_first || product_of(launch->local_size) > product_of(kernel.work_group_size))) {
      kernel.work_group_size = launch->local_size;
      kernel.work_group_origin = WorkGroupOrigin::recorded;
    }
  }
}

void add_group(ResourceGroup group, FileResources& result) {
  if (!group.kernels.empty()) {
    std::ranges::stable_sort(group.kernels, {}, &KernelResources::kernel);
    result.groups.push_back(std::move(group));
  }
}

// ---- Bundles ------------------------------------------------------------------------------------

class BundleResources {
public:
  BundleResources(const format::BundleReader& bundle, const Options& options)
      : m_options(options), m_bundle_bytes(bundle.total_bytes()), m_blobs(bundle),
        m_budget(m_bundle_bytes) {}

  Result<ResourceGroup> read(const GroupSummary& group) {
    ResourceGroup result{group.group.program, group.group.variant};
    const TargetChoice choice{m_options.keep_targets, m_options.drop_targets};
    for (const EntrySummary& entry : group.entries) {
      if (is_chosen(entry.entry.target, choice)) {
        CLBIN_TRY(add(entry, group, result.kernels));
      }
    }
    return result;
  }

private:
  Result<void> add(const EntrySummary& entry, const GroupSummary& group,
                   std::vector<KernelResources>& rows) {
    const format::TargetView& target = entry.entry.target;
    const bool is_offline = target.origin == format::TargetOrigin::offline;
    const std::string& name = is_offline ? target.spec.str() : target.device_name.str();
    for (const std::string& kernel : entry.entry.kernels) {
      if (!is_wanted(m_options.wanted_kernels, kernel)) {
        continue;
      }
      CLBIN_TRY_ASSIGN(const BinaryResources* const binary, binary_of(entry));
      CLBIN_TRY(m_budget.take(sizeof(KernelResources) + kernel.size() + name.size()));
      CLBIN_TRY(m_budget.take(group.group)); // whose names are printed in each row
      const auto found = binary->kernels.find(kernel);
      KernelResources& row =
          rows.emplace_back(found == binary->kernels.end() ? KernelResources() : found->second);
      row.kernel = kernel;
      row.target = name;
      row.format = format::to_string(entry.entry.kind);
      if (const KernelReflection* const recorded = recorded_of(entry, kernel)) {
        add_recorded(*recorded, row);
      }
      add_launches(group.launches, row);
      add_occupancy(binary->info, row);
    }
    return {};
  }

  // Returns null if the entry does not describe the kernel.
  static const KernelReflection* recorded_of(const EntrySummary& entry, std::string_view name) {
    if (!entry.details) {
      return nullptr;
    }
    const auto& kernels = entry.details->kernels;
    const auto found = std::ranges::lower_bound(kernels, name, {}, &KernelReflection::name);
    return found == kernels.end() || found->name != name ? nullptr : &*found;
  }

  // A reader needs many times the memory of a payload of small kernels.
  [[nodiscard]] Result<void> check_size(const EntrySummary& entry) const {
    constexpr std::uint64_t k_free_bytes = std::uint64_t{1} << 20U;
    constexpr std::uint64_t k_bytes_for_each = 16;
    if (const auto& blob = entry.blob;
        blob && blob->raw_bytes > k_free_bytes + k_bytes_for_each * m_bundle_bytes) {
      return fail(ErrorCode::limit_exceeded,
                  "{} has {} bytes, and its kernels are read up to {} in a bundle of {} bytes: "
                  "extract it with '--extract'",
                  format::describe(entry.entry), blob->raw_bytes,
                  k_free_bytes + k_bytes_for_each * m_bundle_bytes, m_bundle_bytes);
    }
    return {};
  }

  // Reads the payload unless it is known. A binary without a reader, or one that a driver wrote in
  // another way, has no kernels.
  Result<const BinaryResources*> binary_of(const EntrySummary& entry) {
    const auto [known, is_new] = m_binaries.try_emplace(entry.entry.blob);
    if (is_new) {
      CLBIN_TRY(check_size(entry));
      CLBIN_TRY_ASSIGN(const Bytes bytes, m_blobs.read(entry.entry.blob));
      known->second =
          read_binary(bytes).value_or(BinaryResources{format::classify_binary(bytes), {}});
      for (const auto& [name, kernel] : known->second.kernels) {
        CLBIN_TRY(m_budget.take(sizeof(kernel) + 2 * name.size()));
      }
    }
    return &known->second;
  }

  const Options& m_options;
  std::uint64_t m_bundle_bytes;
  format::ProvedBlobs m_blobs;
  format::TextBudget m_budget;                         // of all rows, and of the binaries
  std::map<std::uint32_t, BinaryResources> m_binaries; // by blob
};

Result<void> read_bundle(const format::BundleReader& bundle, const Options& options,
                         FileResources& result) {
  CLBIN_TRY(require_contents(bundle));
  const BundleSummary summary =
      clbin::listing::summarize(bundle, clbin::listing::ErrorList(result.file));
  result.errors = summary.errors;
  if (!summary.errors.empty()) {
    return {};
  }
  BundleResources resources(bundle, options);
  for (const GroupSummary& group : summary.groups) {
    if (is_wanted(options.wanted_programs, group.group.program) &&
        is_wanted(options.wanted_variants, group.group.variant)) {
      CLBIN_TRY_ASSIGN(ResourceGroup kernels, resources.read(group));
      add_group(std::move(kernels), result);
    }
  }
  return {};
}

// ---- Other files --------------------------------------------------------------------------------

Result<void> add_binary(const ContainedBinary& contained, const Options& options,
                        FileResources& result) {
  const base::ByteView bytes = contained.bytes;
  CLBIN_TRY_ASSIGN(BinaryResources binary, read_binary(bytes));
  if (binary.kernels.empty() && binary.info.kind == BinaryKind::llvm_bitcode) {
    return fail(ErrorCode::file_read,
                "LLVM bitcode contains neither machine code nor the resources "
                "of its kernels; '--disassemble' prints its instructions");
  }
  if (binary.kernels.empty()) {
    return fail(ErrorCode::file_read, "oclcc reads no kernels of {}", describe(binary.info));
  }
  const format::Target target = reported_target(binary.info);
  const TargetChoice choice{options.keep_targets, options.drop_targets};
  if (!is_chosen(format::view_of(target), choice)) {
    return {};
  }
  ResourceGroup group{contained.place, {}, {}, bytes.size(), base::to_hex(base::digest_of(bytes))};
  for (auto& [name, kernel] : binary.kernels) {
    if (is_wanted(options.wanted_kernels, name)) {
      kernel.kernel = name;
      kernel.target = target.spec;
      kernel.format = format::to_string(binary.info.kind);
      add_occupancy(binary.info, kernel);
      group.kernels.push_back(std::move(kernel));
    }
  }
  add_group(std::move(group), result);
  return {};
}

// What is wrong with a file that is no bundle has the status of files.
void add_error(Error error, const std::string& place, FileResources& result) {
  error.code = ErrorCode::file_read;
  error.message.insert(0, place.empty() ? "" : place + ": ");
  result.errors.push_back(std::move(error));
}

void read_file(Bytes bytes, const Options& options, FileResources& result) {
  if (const std::string_view name = format::name_of_foreign_file(bytes); !name.empty()) {
    return add_error({ErrorCode::file_read, fmt::format("it is {}", name)}, "", result);
  }
  const auto container = open_container(std::move(bytes));
  if (!container) {
    return add_error(container.error(), "", result);
  }
  for (const ContainedBinary& binary : container->binaries) {
    if (const auto added = add_binary(binary, options, result); !added) {
      add_error(added.error(), binary.place, result);
    }
  }
}

Result<void> read(const std::filesystem::path& path, const Options& options, const BundleKeys& keys,
                  FileResources& result) {
  CLBIN_TRY_ASSIGN(BundleOrBytes file, open_bundle_or_read(path, keys));
  if (Bytes* const bytes = std::get_if<Bytes>(&file)) {
    read_file(std::move(*bytes), options, result);
    return {};
  }
  return read_bundle(std::get<format::BundleReader>(file), options, result);
}

} // namespace

KernelResources resources_of(const KernelReflection& kernel) {
  const auto fact = [&](std::initializer_list<std::string_view> names) {
    Number sum;
    for (const auto& [name, value] : kernel.vendor) {
      if (std::ranges::find(names, name) != names.end()) {
        sum = sum.value_or(0) + value;
      }
    }
    return sum;
  };
  KernelResources resources{.kernel = kernel.name};
  resources.registers = fact({"registers", "vgprs", "grf_count"});
  resources.scalar_registers = fact({"sgprs"});
  resources.spills = fact({"spill_bytes", "sgpr_spills", "vgpr_spills"});
  resources.scratch_bytes = kernel.private_bytes ? kernel.private_bytes : fact({"scratch_bytes"});
  resources.local_bytes = kernel.local_bytes;
  if (fact({"vgprs", "grf_count"})) { // whose compilers omit these numbers if they are 0
    resources.spills = resources.spills.value_or(0);
    resources.scratch_bytes = resources.scratch_bytes.value_or(0);
  }
  if (resources.registers) {
    constexpr std::uint64_t k_warp = 32; // cubins do not contain it
    resources.wave_size = kernel.preferred_multiple.value_or(k_warp);
  }
  if (kernel.required_work_group_size[0] != 0) {
    resources.work_group_size = kernel.required_work_group_size;
    resources.work_group_origin = WorkGroupOrigin::required;
  }
  return resources;
}

format::Target reported_target(const BinaryInfo& info) {
  format::Target target;
  target.origin = format::TargetOrigin::offline;
  target.spec = is_listed_by_code(info) ? "PoCL" : describe(info);
  return offline::target_of_binary(info).value_or(target);
}

FileResources read_kernel_resources(const std::filesystem::path& path, const Options& options,
                                    const BundleKeys& keys) {
  FileResources result{bundle_name(path)};
  if (auto done = read(path, options, keys, result); !done) {
    result.errors.push_back(std::move(done.error()));
  } else if (result.errors.empty() && result.groups.empty()) {
    result.errors.push_back(
        {ErrorCode::no_matching_entry, "no kernel matches the selection, or there is none"});
  }
  for (Error& error : result.errors) {
    error = named_error(std::move(error), path);
  }
  return result;
}

// ---- Differences -------------------------------------------------------------------------------

namespace {

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
