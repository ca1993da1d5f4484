#include "plan/unit_key.hpp"

#include "cache/driver_variables.hpp"
#include "closure/include_closure.hpp"

#include <algorithm>

namespace oclcc::plan {

using clbin::base::Digest;
using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Hasher;
using clbin::base::Result;
using clbin::format::SourceFile;
using clbin::format::SourcePackage;

namespace {

constexpr std::string_view k_key_label = "oclcc-plan-unit-1";

void add_file(Hasher& hasher, const SourceFile& file) {
  hasher.add_field(file.include_name);
  hasher.add_field(file.text);
}

Digest digest_of(const Program& program) {
  Hasher hasher;
  hasher.add_field(program.name);
  hasher.add_u64(static_cast<std::uint64_t>(program.need));
  const SourcePackage& source = *program.source;
  add_file(hasher, source.main);
  hasher.add_field(clbin::closure::without_paths(source).main.display_name);
  hasher.add_u64(source.headers.size());
  for (const SourceFile& header : source.headers) {
    add_file(hasher, header);
  }
  return hasher.finish();
}

// `form`: whether a cubin is made of the binary, too.
Digest digest_of(const BuildTarget& target, bool has_form, const CompilerFacts& facts) {
  Hasher hasher;
  hasher.add(clbin::format::target_digest(target.target).bytes);
  hasher.add_u64(has_form ? 1 : 0);
  if (!target.device) {
    hasher.add_u64(target.compiler_facts.size());
    for (const clbin::cache::Ingredient& fact : target.compiler_facts) {
      hasher.add_field(fact.name);
      hasher.add_field(fact.value);
    }
  }
  const auto family = clbin::format::target_family(target.target);
  for (const Variable& variable : target.device ? driver_variables(facts.environment, family)
                                                : tool_variables(facts.environment, family)) {
    // Another machine can have its libraries in other directories.
    if (!chooses_libraries(variable)) {
      hasher.add_field(variable.name);
      hasher.add_field(variable.value);
    }
  }
  return hasher.finish();
}

Digest digest_of_common(const Job& job, const Options& options, const CompilerFacts& facts) {
  Hasher hasher;
  hasher.add_field(k_key_label);
  hasher.add_field(facts.version);
  hasher.add_u64(static_cast<std::uint64_t>(options.source));
  hasher.add_u64(job.specializations.size());
  for (const Specialization& specialization : job.specializations) {
    hasher.add_field(specialization.kernel);
    hasher.add_field(to_string(specialization.size));
  }
  return hasher.finish();
}

bool is_converted(const Job& job, std::size_t target) {
  return std::any_of(job.targets.begin(), job.targets.end(),
                     [&](const BuildTarget& other) { return other.input == target; });
}

} // namespace

UnitKeys::UnitKeys(const Job& job, const Options& options, const CompilerFacts& facts)
    : m_job(job), m_options(digest_of_common(job, options, facts)) {
  for (const Program& program : job.programs) {
    m_programs.push_back(digest_of(program));
  }
  for (std::size_t target = 0; target < job.targets.size(); ++target) {
    m_targets.push_back(digest_of(job.targets[target], is_converted(job, target), facts));
  }
}

Digest UnitKeys::key_of(const UnitPlace& place) const {
  const VariantOptions& variant = m_job.variants[place.variant];
  Hasher hasher;
  hasher.add(m_options.bytes);
  hasher.add(m_programs[place.program].bytes);
  hasher.add(m_targets[place.target].bytes);
  hasher.add_field(variant.name);
  hasher.add_field(variant.options.text());
  hasher.add_field(unit_options(m_job, place).text());
  return hasher.finish();
}

Result<void> keep_unit(Job& job, const Options& options, const CompilerFacts& facts,
                       const Digest& key) {
  const auto sources = std::count_if(job.targets.begin(), job.targets.end(),
                                     [](const BuildTarget& target) { return !target.input; });
  if (job.programs.size() != 1 || !job.modules.empty() || sources != 1) {
    return fail(ErrorCode::invalid_argument,
                "'--unit' requires one program and one device or target, not {} and {}",
                job.programs.size() + job.modules.size(), sources);
  }
  const UnitKeys keys(job, options, facts);
  for (std::size_t variant = 0; variant < job.variants.size(); ++variant) {
    if (keys.key_of({0, variant, 0}) == key) {
      job.variants = {std::move(job.variants[variant])};
      return {};
    }
  }
  return fail(ErrorCode::invalid_argument,
              "'{}' is no longer the unit {}: a source, an option, the compiler, a variable that "
              "it reads, or oclcc has changed since the plan was made; make the plan again",
              job.programs.front().path, clbin::base::to_hex(key));
}

} // namespace oclcc::plan
