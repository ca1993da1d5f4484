#include "layer/program_table.hpp"

namespace clbin::layer {
namespace {

using Reading = std::shared_lock<std::shared_mutex>;
using Writing = std::unique_lock<std::shared_mutex>;

// An application that launches nothing new so often has launched what it needs.
constexpr unsigned k_repeated_launches = 16;

// Null if the map has no such key.
template <typename Map>
auto* find_in(Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

DueKeep due_keep(const std::shared_ptr<TrackedProgram>& program,
                 const std::shared_ptr<PendingKeep>& pending) {
  return {program, pending, pending->launches.size(),
          pending->stored == 0 ? loader::KeepTime::after_launches
                               : loader::KeepTime::after_more_launches};
}

// Stops watching the program. Returns it, unless the binary has been stored with all launches.
DueKeep final_keep(const std::shared_ptr<TrackedProgram>& program) {
  const std::shared_ptr<PendingKeep> pending = std::exchange(program->pending, nullptr);
  const bool is_due = pending != nullptr && pending->launches.size() != pending->stored &&
                      !pending->is_being_stored;
  return is_due ? due_keep(program, pending) : DueKeep();
}

} // namespace

std::shared_ptr<const Substitute> Substitute::refusal(BuildArguments arguments, std::string log) {
  auto substitute = std::make_shared<Substitute>(loader::ServedProgram{}, std::move(arguments));
  loader::ProgramDetails details;
  details.build_log = std::move(log);
  std::call_once(substitute->m_once,
                 [&] { substitute->m_details.assign(substitute->devices().size(), details); });
  return substitute;
}

// Most applications never ask.
const std::vector<loader::ProgramDetails>& Substitute::details() const {
  std::call_once(m_once, [this] {
    for (const loader::ServedDetails& details : m_served.details) {
      m_details.push_back(details.read().value_or(loader::ProgramDetails()));
    }
    m_details.resize(devices().size());
  });
  return m_details;
}

const std::string& Substitute::log(cl_device_id device) const {
  const auto place = std::ranges::find(devices(), device) - devices().begin();
  return details().at(static_cast<std::size_t>(place)).build_log;
}

const format::KernelReflection* Substitute::kernel(const std::string& name) const {
  for (const loader::ProgramDetails& of_device : details()) {
    for (const format::KernelReflection& kernel : of_device.kernels) {
      if (kernel.name == name) {
        return &kernel;
      }
    }
  }
  return nullptr;
}

void ProgramTable::add(TrackedProgram program) {
  auto tracked = std::make_shared<TrackedProgram>(std::move(program));
  const Writing lock(m_mutex);
  m_programs.insert_or_assign(tracked->handle, tracked);
}

ProgramView ProgramTable::find(cl_program handle) const {
  const Reading lock(m_mutex);
  const auto* const found = find_in(m_programs, handle);
  return found == nullptr
             ? ProgramView()
             : ProgramView{*found, (*found)->substitute, (*found)->own_options, (*found)->holds};
}

void ProgramTable::change(cl_program handle, const std::function<void(TrackedProgram&)>& change) {
  const Writing lock(m_mutex);
  if (auto* const found = find_in(m_programs, handle); found != nullptr) {
    change(**found);
  }
}

// A program ends with its last reference and its last kernel, as OpenCL's programs do. The kernels
// of a substitute do not keep the application's program alive in the driver; its hold does.
Ended ProgramTable::end_if_unused(const std::shared_ptr<TrackedProgram>& program) {
  if (program->references != 0 || program->kernels != 0 || program->substitute_kernels != 0 ||
      program->builds != 0) {
    return {};
  }
  const auto found = m_programs.find(program->handle);
  if (found != m_programs.end() && found->second == program) {
    m_programs.erase(found);
  }
  Ended ended{program->handle, std::exchange(program->holds, 0), std::move(program->substitute)};
  ended.due = final_keep(program);
  return ended;
}

std::optional<Ended> ProgramTable::release(cl_program handle) {
  const Writing lock(m_mutex);
  const auto* const found = find_in(m_programs, handle);
  if (found == nullptr) {
    return Ended();
  }
  const std::shared_ptr<TrackedProgram> program = *found;
  if (program->references == 0) {
    return std::nullopt;
  }
  --program->references;
  return end_if_unused(program);
}

void ProgramTable::forget(cl_program handle) {
  const Writing lock(m_mutex);
  const auto found = m_programs.find(handle);
  if (found != m_programs.end() && found->second->holds == 0) {
    m_programs.erase(found);
  }
}

std::map<cl_uint, base::Bytes>
ProgramTable::constants(const std::shared_ptr<TrackedProgram>& program) const {
  const Reading lock(m_mutex);
  return program->constants;
}

BuildTurn ProgramTable::build_turn(cl_program handle) const {
  const Reading lock(m_mutex);
  const auto* const found = find_in(m_programs, handle);
  if (found != nullptr && (*found)->substitute_kernels != 0) {
    return BuildTurn::has_substitute_kernels;
  }
  return found != nullptr && (*found)->kernels != 0 ? BuildTurn::has_kernels : BuildTurn::free;
}

void ProgramTable::begin_build(const std::shared_ptr<TrackedProgram>& program) {
  const Writing lock(m_mutex);
  ++program->builds;
  ++program->holds;
}

Ended ProgramTable::end_build(const std::shared_ptr<TrackedProgram>& program) {
  const Writing lock(m_mutex);
  --program->builds;
  Ended ended = end_if_unused(program);
  if (ended.held == nullptr) {
    const cl_uint needed = program->builds + (program->substitute != nullptr ? 1U : 0U);
    ended.held = program->handle;
    ended.holds = program->holds - std::min(needed, program->holds);
    program->holds -= ended.holds;
  }
  return ended;
}

std::shared_ptr<const Substitute>
ProgramTable::set_build(const std::shared_ptr<TrackedProgram>& program,
                        std::shared_ptr<const Substitute> substitute,
                        std::optional<std::string> own_options) {
  const Writing lock(m_mutex);
  program->own_options = std::move(own_options);
  program->pending.reset();
  return std::exchange(program->substitute, std::move(substitute));
}

bool ProgramTable::awaits_launches(cl_kernel kernel) const {
  const Reading lock(m_mutex);
  const auto* const found = find_in(m_kernels, kernel);
  return found != nullptr && found->program->pending != nullptr;
}

void ProgramTable::note_launch(cl_kernel kernel, const std::string& launch) {
  const Writing lock(m_mutex);
  const auto* const found = find_in(m_kernels, kernel);
  if (found == nullptr || found->program->pending == nullptr) {
    return;
  }
  const auto& pending = found->program->pending;
  const bool is_new = pending->launches.insert(found->name + launch).second;
  pending->repeated = is_new ? 0 : pending->repeated + 1;
  if (is_new && pending->is_early) {
    m_new_launches.push_back({found->program, pending});
    m_has_new_launches = true;
  }
}

bool ProgramTable::only_repeats(cl_kernel kernel) {
  const Writing lock(m_mutex);
  const auto* const found = find_in(m_kernels, kernel);
  if (found == nullptr || found->program->pending == nullptr ||
      found->program->pending->repeated < k_repeated_launches) {
    return false;
  }
  found->program->pending->repeated = 0;
  return true;
}

DueKeep ProgramTable::take_pending(cl_kernel kernel) {
  const Writing lock(m_mutex);
  const auto* const found = find_in(m_kernels, kernel);
  return found == nullptr ? DueKeep() : final_keep(found->program);
}

std::vector<DueKeep> ProgramTable::take_new_launches() {
  const Writing lock(m_mutex);
  m_has_new_launches = false;
  return std::exchange(m_new_launches, {});
}

DueKeep ProgramTable::begin_early_keep(const DueKeep& launch) {
  const Writing lock(m_mutex);
  PendingKeep& pending = *launch.pending;
  const std::size_t launches = pending.launches.size();
  const bool has_grown = launches > pending.stored && launches * 4 >= pending.stored * 5;
  if (launch.program->pending != launch.pending || pending.is_being_stored || !has_grown) {
    return {};
  }
  pending.is_being_stored = true;
  return due_keep(launch.program, launch.pending);
}

void ProgramTable::end_early_keep(const DueKeep& due) {
  const Writing lock(m_mutex);
  due.pending->is_being_stored = false;
  due.pending->stored = due.launches;
}

void ProgramTable::add_kernel(cl_kernel kernel, const std::shared_ptr<TrackedProgram>& program,
                              std::shared_ptr<const Substitute> substitute, std::string name) {
  const Writing lock(m_mutex);
  TrackedProgram& owner = *program;
  ++(substitute != nullptr ? owner.substitute_kernels : owner.kernels);
  m_kernels.insert_or_assign(
      kernel, TrackedKernel{program, std::move(substitute), program->recorded, std::move(name)});
}

std::optional<TrackedKernel> ProgramTable::find_kernel(cl_kernel kernel) const {
  const Reading lock(m_mutex);
  const auto* const found = find_in(m_kernels, kernel);
  return found == nullptr ? std::nullopt : std::optional<TrackedKernel>(*found);
}

void ProgramTable::retain_kernel(cl_kernel kernel) {
  const Writing lock(m_mutex);
  if (auto* const found = find_in(m_kernels, kernel); found != nullptr) {
    ++found->references;
  }
}

Ended ProgramTable::release_kernel(cl_kernel kernel) {
  const Writing lock(m_mutex);
  const auto found = m_kernels.find(kernel);
  if (found == m_kernels.end() || --found->second.references != 0) {
    return {};
  }
  const TrackedKernel ended = std::move(found->second);
  m_kernels.erase(found);
  --(ended.substitute != nullptr ? ended.program->substitute_kernels : ended.program->kernels);
  Ended result = end_if_unused(ended.program);
  result.kernel_substitute = ended.substitute; // is not released under the lock
  return result;
}

} // namespace clbin::layer
