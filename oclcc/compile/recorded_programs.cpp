#include "compile/compile_job.hpp"

#include "closure/run_time_closure.hpp"
#include "format/bundle/bundle_surgery.hpp"
#include "listing/launch_compilation.hpp"
#include "loader/recorded_options.hpp"
#include "source/source_closing.hpp"
#include "source/words.hpp"
#include "trust/bundle_encryption.hpp"

namespace oclcc {

using format::BundleReader;
using format::GroupView;
using format::SourcePackage;

namespace {

// Opens one bundle, or merges several in memory. Fills the encryption of `job`, unless the options
// request one.
Result<BundleReader> open_inputs(const Options& options, const BundleKeys& keys, Job& job) {
  std::vector<BundleReader> bundles;
  std::vector<const BundleReader*> pointers;
  bundles.reserve(options.inputs.size());
  for (const Input& input : options.inputs) {
    CLBIN_TRY_ASSIGN(BundleReader bundle, open_readable_bundle(input.path, keys));
    if (bundle.has_packs()) { // entries of one target would be in two files
      return refused(
          "'{}' names packs, whose entries would not be built anew: compile what '--merge' "
          "makes of all of them",
          bundle.name());
    }
    bundles.push_back(std::move(bundle));
    pointers.push_back(&bundles.back());
  }
  if (!options.encryption.is_requested()) {
    CLBIN_TRY_ASSIGN(job.encryption, trust::encryption_of(pointers));
    job.plain_inputs_note = trust::note_of_plain_inputs(pointers);
  }
  if (bundles.size() == 1) {
    return std::move(bundles.front());
  }
  CLBIN_TRY_ASSIGN(auto merged, format::merge_bundles(pointers));
  return BundleReader::open(base::owning_source(std::move(merged), "<merged>"), {},
                            format::TrailingBytes::refuse);
}

std::string name_of(const std::vector<Input>& inputs) {
  return inputs.size() == 1 ? bundle_name(inputs.front().path) : "the bundles";
}

// Compilers and drivers differ in what they compile of a text with a zero byte that is not at its
// end (doc/drivers.md, "All drivers").
bool has_zero_byte(const SourcePackage& source) {
  const auto has = [](std::string_view text) {
    return clbin::source::without_final_zeros(text).find('\0') != std::string_view::npos;
  };
  return has(source.main.text) ||
         std::ranges::any_of(source.headers,
                             [&](const format::SourceFile& header) { return has(header.text); });
}

// The local sizes with which kernels of the variant were launched, as --specialize accepts them.
std::vector<Specialization>
specializations_of(const std::string& variant,
                   const std::vector<format::RecordedLaunch>& launches) {
  std::vector<Specialization> sizes;
  for (const format::RecordedLaunch& launch : launches) {
    if (launch.variant == variant && clbin::listing::is_specializable(launch.local_size)) {
      add_specialization(sizes, {launch.kernel, launch.local_size, launch.has_offset});
    }
  }
  return sizes;
}

std::set<std::string> launched_kernels(const std::string& variant,
                                       const format::Manifest& manifest) {
  std::set<std::string> names;
  for (const format::RecordedLaunch& launch : manifest.launches) {
    if (launch.variant == variant) {
      names.insert(launch.kernel);
    }
  }
  return names;
}

// The kernels of all variants, without these.
std::set<std::string> other_kernels(const std::set<std::string>& without,
                                    const format::Manifest& manifest) {
  std::set<std::string> names;
  for (const format::RecordedBuild& build : manifest.builds) {
    std::ranges::copy_if(build.kernels, std::inserter(names, names.end()),
                         [&](const std::string& name) { return !without.contains(name); });
  }
  return names;
}

// Returns "program 'NAME'", and what tells people more if the name is a digest.
std::string description_of(const std::string& name, const SourcePackage& source) {
  return fmt::format("program '{}'{}", name,
                     base::digest_from_hex(name) ? clbin::closure::name_in_parentheses(source)
                                                 : std::string());
}

class RecordedPrograms {
public:
  RecordedPrograms(const Options& options, Job& job, Reporter& reporter)
      : m_options(options), m_name(name_of(options.inputs)), m_job(job), m_reporter(reporter) {}

  Result<void> read(const BundleKeys& keys) {
    CLBIN_TRY_ASSIGN(BundleReader bundle, open_inputs(m_options, keys, m_job));
    m_job.bundle.emplace(std::move(bundle));
    if (auto added = add_programs(*m_job.bundle); !added) {
      return tl::unexpected(named_error(std::move(added.error()), m_name));
    }
    if (m_job.programs.empty()) {
      const std::string_view why_none = m_unlaunched == 0
                                            ? "it has no program"
                                            : "'--launched-only': no kernel of it was launched";
      return tl::unexpected(m_first_reason.value_or(
          Error{ErrorCode::no_source, fmt::format("{}: {}", m_name, why_none)}));
    }
    if (m_has_data && m_options.source == SourcePolicy::keep) {
      m_reporter.note(fmt::format(
          "{}: contains data of an application, as the output does: '--strip --strip-data' "
          "removes them",
          m_name));
    }
    if (m_unlaunched != 0) {
      m_reporter.note(
          fmt::format("{}: {} of a program {} not built, because no kernel was launched", m_name,
                      m_unlaunched == 1 ? "a variant" : fmt::format("{} variants", m_unlaunched),
                      m_unlaunched == 1 ? "is" : "are"));
    }
    return {};
  }

private:
  Result<void> add_programs(const BundleReader& bundle) {
    format::TextBudget texts(bundle.total_bytes());
    std::map<std::string, std::map<std::string, GroupView>> programs; // by name, then by variant
    for (std::uint32_t i = 0; i < bundle.group_count(); ++i) {
      CLBIN_TRY_ASSIGN(GroupView group, bundle.group(i));
      CLBIN_TRY(texts.take(group));
      programs[group.program].insert_or_assign(group.variant.str(), std::move(group));
    }
    format::ReadBudget budget = bundle.budget(); // for all sources
    for (const auto& [name, variants] : programs) {
      CLBIN_TRY(add_program(bundle, name, variants, budget));
    }
    return {};
  }

  Result<void> add_program(const BundleReader& bundle, const std::string& name,
                           const std::map<std::string, GroupView>& variants,
                           format::ReadBudget& budget) {
    const std::string path = fmt::format("{}: program '{}'", m_name, name);
    const GroupView& first = variants.begin()->second;
    if (first.source_blob == format::k_no_index) {
      keep_as_it_is(path, {ErrorCode::no_source, "it has no source"});
      return {};
    }
    CLBIN_TRY_ASSIGN(auto source, base::in_context(bundle.read_source(first, &budget),
                                                   fmt::format("program '{}'", name)));
    if (has_zero_byte(source)) {
      keep_as_it_is(path, {ErrorCode::invalid_argument, "its source contains a zero byte, which "
                                                        "compilers read in different ways"});
      return {};
    }
    CLBIN_TRY_ASSIGN(const format::Manifest manifest, bundle.read_manifest(first, &budget));
    m_has_data = m_has_data || std::ranges::any_of(manifest.answers, format::is_recorded);
    Program program;
    program.name = name;
    program.path = fmt::format("{}: {}", m_name, description_of(name, source));
    program.source = std::make_shared<const SourcePackage>(std::move(source));
    // The driver's name of a recorded text: that of all, or its label.
    const bool is_recorded = base::digest_from_hex(name).has_value();
    program.mapped_names = {{is_recorded ? program.source->main.display_name
                                         : std::string(clbin::closure::k_run_time_source_name),
                             program.path}};
    if (is_optional(m_options, name)) {
      program.need = ProgramNeed::optional;
    }
    for (const auto& [variant, group] : variants) {
      add_variant(group, manifest, program);
    }
    if (!program.recorded.empty()) {
      m_job.programs.push_back(std::move(program));
    }
    return {};
  }

  void add_variant(const GroupView& group, const format::Manifest& manifest, Program& program) {
    const std::string options = group.options;
    if (const auto safe = clbin::loader::check_recorded_options(options); !safe) {
      keep_as_it_is(fmt::format("{}, variant '{}'", program.path, group.variant), safe.error());
      return;
    }
    SourcePackage closed = clbin::source::close_source(*program.source, options);
    std::set<std::string> launched = launched_kernels(group.variant, manifest);
    if (m_options.kernels == KernelChoice::launched) {
      if (launched.empty()) {
        ++m_unlaunched;
        return;
      }
      closed.main.text =
          clbin::source::without_functions(closed.main.text, other_kernels(launched, manifest));
    }
    const bool is_shared =
        !program.recorded.empty() && *program.recorded.rbegin()->second.source == closed;
    program.recorded[m_job.variants.size()] = {
        is_shared ? program.recorded.rbegin()->second.source
                  : std::make_shared<const SourcePackage>(std::move(closed)),
        specializations_of(group.variant, manifest.launches), std::move(launched),
        m_options.kernels};
    m_job.variants.push_back({group.variant,
                              BuildOptions::recorded(options),
                              {},
                              {group.required.begin(), group.required.end()}});
  }

  // `what` is not built, which is an error only if nothing is.
  void keep_as_it_is(const std::string& what, const Error& reason) {
    m_reporter.warning(
        fmt::format("{} is not built, and its entries are kept: {}", what, reason.message));
    if (!m_first_reason) {
      m_first_reason = Error{reason.code, fmt::format("{}: no program of it can be built", m_name)};
    }
  }

  const Options& m_options;
  std::string m_name;
  Job& m_job;
  Reporter& m_reporter;
  std::optional<Error> m_first_reason;
  std::size_t m_unlaunched = 0; // variants of programs
  bool m_has_data = false;
};

} // namespace

Result<void> read_recorded_programs(const Options& options, const BundleKeys& keys, Job& job,
                                    Reporter& reporter) {
  CLBIN_TRY(RecordedPrograms(options, job, reporter).read(keys));
  std::vector<std::string> names;
  std::ranges::transform(job.programs, std::back_inserter(names), &Program::name);
  return check_optional_programs(options, names);
}

} // namespace oclcc
