#include "layer/layer.hpp"

#include "base/text.hpp"
#include "layer/icd_loaders.hpp"

#include <algorithm>
#include <fmt/core.h>

namespace clbin::layer {
namespace {

std::unique_ptr<Recorder> make_recorder(const LayerSettings& settings, const LayerLog& log) {
  return settings.mode == Mode::record ? std::make_unique<Recorder>(settings.record_folder, log)
                                       : nullptr;
}

cl_icd_dispatch intercepting(cl_icd_dispatch table, const LayerSettings& settings) {
  add_program_calls(table);
  add_program_answers(table);
  add_kernel_calls(table);
  add_extension_calls(table);
  const bool has_events = table.clGetEventInfo != nullptr && table.clRetainEvent != nullptr &&
                          table.clReleaseEvent != nullptr;
  const bool stores_pocl =
      settings.mode == Mode::cache && settings.pocl == PoclCache::on && has_events;
  if (settings.mode == Mode::record || stores_pocl) {
    add_launch_calls(table);
  }
  if (stores_pocl) {
    add_wait_calls(table);
  }
  return table;
}

} // namespace

// NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks): a layer is never destroyed
Layer::Layer(const cl_icd_dispatch& next, LayerSettings settings, const cache::CacheSettings& cache,
             std::string loader)
    : m_next(next), m_table(intercepting(next, settings)), m_settings(std::move(settings)),
      m_log(m_settings.log), m_recorder(make_recorder(m_settings, m_log)),
      m_builds(m_next, m_settings, m_log, cache, m_programs, m_recorder.get()),
      m_loader(std::move(loader)) {
  if (m_recorder != nullptr) {
    m_recorder->record_loader(m_loader.empty() ? "an unknown loader" : m_loader);
  }
}
// NOLINTEND(clang-analyzer-cplusplus.NewDeleteLeaks)

void Layer::report_second_loader(std::string other) noexcept {
  without_exceptions([&] {
    if (m_has_reported_loader) {
      return;
    }
    const std::vector<std::string> loaders = loaded_icd_loaders();
    const bool is_one_ours = std::find(loaders.begin(), loaders.end(), m_loader) != loaders.end();
    for (const std::string& path : loaders) {
      const bool is_other = is_one_ours ? path != m_loader : loaders.size() > 1;
      if (other.empty() && is_other) {
        other = path;
      }
    }
    if (other.empty() || m_has_reported_loader.exchange(true)) {
      return;
    }
    const std::string text =
        fmt::format("the process has a second OpenCL ICD loader, {}: the layer "
                    "does not see what is built through it",
                    base::in_quotes(other));
    report_problem(text);
    m_log.write(text);
    if (m_recorder != nullptr) {
      m_recorder->record_loader(other);
    }
  });
}

void Layer::release(const Ended& ended) const {
  for (cl_uint i = 0; i < ended.holds; ++i) {
    (void)m_next.clReleaseProgram(ended.held);
  }
}

void Layer::set_extension(cl_platform_id platform, const std::string& name, void* function) {
  const std::scoped_lock lock(m_extensions_mutex);
  m_extensions.insert_or_assign({platform, name}, function);
}

void* Layer::extension(cl_platform_id platform, const std::string& name) const {
  const std::scoped_lock lock(m_extensions_mutex);
  const auto found = m_extensions.find({platform, name});
  return found == m_extensions.end() ? nullptr : found->second;
}

} // namespace clbin::layer
