#include "modes/measured_bundle.hpp"

#include "format/bundle/bundle_surgery.hpp"
#include "targets/patterns.hpp"
#include "units/unit.hpp"

namespace oclcc {

namespace {

// Returns the bundle with the variants, which are built from the source.
Result<base::Bytes> with_variants(const format::BundleReader& bundle,
                                  std::span<const Variant> variants,
                                  const std::vector<std::string>& bases) {
  std::map<std::string, format::ProgramInput> programs;
  format::TextBudget budget(bundle.total_bytes() * (1 + variants.size()));
  for (std::uint32_t index = 0; index < bundle.group_count(); ++index) {
    CLBIN_TRY_ASSIGN(const format::GroupView group, bundle.group(index));
    if (group.source_blob == format::k_no_index || !is_wanted(bases, group.variant.str()) ||
        group.variant.str().find(k_variant_separator) != std::string::npos) {
      continue;
    }
    format::ProgramInput& program = programs[group.program];
    program.name = group.program;
    for (const Variant& variant : variants) {
      CLBIN_TRY(budget.take(group));
      const std::string options = BuildOptions(variant.options).text();
      program.variants.push_back(
          {fmt::format("{}{}{}", group.variant.str(), k_variant_separator, variant.name),
           group.options.str() + (group.options.str().empty() ? "" : " ") + options,
           {group.required.begin(), group.required.end()}});
    }
  }
  format::BundleInput added{"oclcc " OCLCC_VERSION, {}};
  for (auto& [name, program] : programs) {
    added.programs.push_back(std::move(program));
  }
  CLBIN_TRY_ASSIGN(const base::Bytes bytes, format::write_bundle(added, {}));
  CLBIN_TRY_ASSIGN(const auto reader, format::BundleReader::open(base::memory_source(bytes)));
  return format::merge_bundles(std::array{&bundle, &reader});
}

} // namespace

Result<MeasuredBundle> MeasuredBundle::open(const std::filesystem::path& input,
                                            const std::filesystem::path& output,
                                            std::span<const Variant> variants,
                                            const std::vector<std::string>& bases) {
  std::error_code ignored; // of a file that does not exist
  std::shared_ptr<const base::ByteSource> replaced;
  if (std::filesystem::equivalent(input, output, ignored)) {
    CLBIN_TRY_ASSIGN(replaced, base::open_file_source(input)); // before it is read
  }
  CLBIN_TRY_ASSIGN(ValidBundle valid, read_valid_bundle(input, {}));
  auto bytes = std::make_shared<const base::Bytes>(std::move(valid.bytes));
  CLBIN_TRY_ASSIGN(auto reader, format::BundleReader::open(base::memory_source(*bytes)));
  if (reader.is_encrypted()) { // workers have no keys
    return refused("'{}' is encrypted, and '--tune' measures plain bundles only", input.string());
  }
  if (!variants.empty()) {
    CLBIN_TRY_ASSIGN(auto added, named(with_variants(reader, variants, bases), input));
    bytes = std::make_shared<const base::Bytes>(std::move(added));
    CLBIN_TRY_ASSIGN(reader, format::BundleReader::open(base::memory_source(*bytes)));
  }
  MeasuredBundle bundle(std::move(bytes), std::move(reader));
  bundle.m_output = output;
  bundle.m_replaced = std::move(replaced);
  CLBIN_TRY(named(bundle.read_programs(), input));
  CLBIN_TRY(base::OutputFile::open(output)); // whether it can be written, before it takes time
  return bundle;
}

Result<void> MeasuredBundle::read_programs() {
  format::TextBudget budget(m_reader.total_bytes());
  for (std::uint32_t index = 0; index < m_reader.group_count(); ++index) {
    CLBIN_TRY_ASSIGN(const format::GroupView group, m_reader.group(index));
    CLBIN_TRY(budget.take(group));
    const auto [place, is_new] = m_programs.try_emplace(group.program);
    Program& program = place->second;
    program.variants[group.variant] = {
        group.variant, group.options, {group.required.begin(), group.required.end()}};
    if (!is_new) {
      continue;
    }
    if (group.source_blob != format::k_no_index) {
      CLBIN_TRY_ASSIGN(const format::BlobView source, m_reader.blob(group.source_blob));
      program.source = base::to_hex(source.raw_digest);
    }
    CLBIN_TRY_ASSIGN(format::Manifest manifest, m_reader.read_manifest(group));
    program.measurements = {std::make_move_iterator(manifest.measurements.begin()),
                            std::make_move_iterator(manifest.measurements.end())};
    for (const format::RecordedBuild& build : manifest.builds) {
      program.built.insert(build.variant);
    }
    program.answers = {std::make_move_iterator(manifest.answers.begin()),
                       std::make_move_iterator(manifest.answers.end())};
    if (group.source_blob == format::k_no_index && !program.measurements.empty()) {
      program.source = program.measurements.begin()->source; // which was removed since
    }
  }
  return {};
}

std::optional<format::Measurement> MeasuredBundle::find(const std::string& program,
                                                        const format::Measurement& wanted) const {
  const Program& known = m_programs.at(program);
  const auto found = known.measurements.find(wanted);
  return found == known.measurements.end() || found->source != known.source ? std::nullopt
                                                                            : std::optional(*found);
}

void MeasuredBundle::add(const std::string& program, format::Measurement measurement) {
  Program& known = m_programs.at(program);
  measurement.source = known.source;
  known.measurements.erase(measurement);
  known.measurements.insert(std::move(measurement));
}

Result<void> MeasuredBundle::add(const std::string& program, format::KnownAnswer answer) {
  Program& known = m_programs.at(program);
  if (known.disputed.contains(answer)) {
    return {};
  }
  const auto there = known.answers.find(answer);
  if (there == known.answers.end()) {
    known.answers.insert(std::move(answer));
    return {};
  }
  const auto difference = format::difference_of_answer(*there, answer.results);
  if (!difference) {
    return {};
  }
  std::string devices = fmt::format("'{}' and '{}'", there->device, answer.device);
  known.disputed.insert(known.answers.extract(there));
  return fail(ErrorCode::conflict,
              "program '{}', kernel '{}': {} compute different results, of which none is kept: {}",
              program, answer.kernel, devices, *difference);
}

void MeasuredBundle::remove_answers(const std::string& program, const std::string& kernel) {
  std::erase_if(m_programs.at(program).answers, [&](const format::KnownAnswer& answer) {
    return answer.kernel == kernel && !is_recorded(answer);
  });
}

bool MeasuredBundle::can_replace(const std::string& program, const std::string& recorded,
                                 const std::string& variant) const {
  const std::string base = variant.substr(0, variant.find(k_variant_separator));
  return base == recorded || !m_programs.at(program).built.contains(base);
}

std::vector<LaunchDescription> MeasuredBundle::recorded_launches() const {
  std::vector<LaunchDescription> launches;
  for (const auto& [name, program] : m_programs) {
    for (const format::KnownAnswer& answer : program.answers) {
      if (is_recorded(answer)) {
        launches.push_back(description_of(name, answer));
      }
    }
  }
  return launches;
}

// Copies all frames, and unites them with a bundle that contains only the measurements and the
// known answers.
Result<base::Bytes> MeasuredBundle::make() const {
  format::BundleInput results{"oclcc " OCLCC_VERSION, {}};
  for (const auto& [name, program] : m_programs) {
    if (program.measurements.empty() && program.answers.empty()) {
      continue;
    }
    format::ProgramInput& input = results.programs.emplace_back();
    input.name = name;
    for (const auto& [variant, known] : program.variants) {
      input.variants.push_back(known);
    }
    input.measurements = {program.measurements.begin(), program.measurements.end()};
    input.answers = {program.answers.begin(), program.answers.end()};
  }
  CLBIN_TRY_ASSIGN(const auto stripped,
                   format::strip_bundle(m_reader, {.measurements = format::KeepMeasurements::no,
                                                   .answers = format::KeepAnswers::only_recorded}));
  CLBIN_TRY_ASSIGN(const base::Bytes measured, format::write_bundle(results, {}));
  CLBIN_TRY_ASSIGN(const auto base_reader,
                   format::BundleReader::open(base::memory_source(stripped.bytes)));
  CLBIN_TRY_ASSIGN(const auto measured_reader,
                   format::BundleReader::open(base::memory_source(measured)));
  return format::merge_bundles(std::array{&base_reader, &measured_reader});
}

Result<void> MeasuredBundle::write() {
  CLBIN_TRY_ASSIGN(const base::Bytes bytes, make());
  CLBIN_TRY_ASSIGN(auto file, base::OutputFile::open(m_output));
  CLBIN_TRY(file.append(bytes));
  if (m_replaced != nullptr && !m_replaced->is_current()) {
    return fail(ErrorCode::file_write,
                "cannot replace {}: another process has changed it since it was read",
                base::in_quotes(m_output));
  }
  CLBIN_TRY(file.commit());
  if (m_replaced != nullptr) {
    CLBIN_TRY_ASSIGN(m_replaced, base::open_file_source(m_output));
  }
  return {};
}

Result<bool> MeasuredBundle::is_signed() const {
  CLBIN_TRY_ASSIGN(const auto records, m_reader.signature_records());
  return !records.empty();
}

} // namespace oclcc
