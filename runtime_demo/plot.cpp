#include "plot.hpp"

#include "readable_number.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>
#include <vector>

namespace runtime_demo {

namespace {

constexpr double k_width = 1040;
constexpr double k_label_width = 330;
constexpr double k_value_width = 140;
constexpr double k_bar_height = 16;
constexpr double k_bar_step = 22;
constexpr double k_panel_margin = 24;

enum class Fill : std::uint8_t { solid, hatched };

struct Bar {
  std::string label;
  double value = 0;
  Fill fill = Fill::solid;
};

struct Panel {
  std::string title;
  std::string unit;
  std::vector<Bar> bars;
};

std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    switch (letter) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      // XML does not allow control characters, but the name of a driver can contain them.
      result += static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
    }
  }
  return result;
}

Panel gflops_panel(std::span<const Measurement> measurements, const std::string& device) {
  Panel panel{{}, "GFLOPS", {}};
  for (const Measurement& one : measurements) {
    if (one.device_index != device || one.outcome != Outcome::passed || one.mflops() <= 0) {
      continue;
    }
    panel.title = fmt::format("GFLOPS a kernel: {} {}", device, one.device_name);
    panel.bars.push_back({fmt::format("{} {}", one.kernel->name, to_string(one.size)),
                          one.mflops() / 1e3, Fill::solid});
  }
  return panel;
}

Panel first_result_panel(std::span<const Measurement> measurements, const std::string& device) {
  Panel panel{{}, "ms", {}};
  for (const Measurement& one : measurements) {
    if (one.device_index != device || one.outcome != Outcome::passed) {
      continue;
    }
    panel.title = fmt::format("Time to the first result (load + first launch): {} {}", device,
                              one.device_name);
    if (one.from_source) {
      panel.bars.push_back(
          {one.kernel->name + ", source", one.from_source->total_ms(), Fill::hatched});
    }
    const bool is_source = one.first.origin == "source";
    panel.bars.push_back({fmt::format("{}, {}", one.kernel->name, is_source ? "source" : "bundle"),
                          one.first.total_ms(), is_source ? Fill::hatched : Fill::solid});
  }
  return panel;
}

double panel_height(const Panel& panel) {
  return 2 * k_panel_margin + k_bar_step * static_cast<double>(panel.bars.size());
}

std::string draw_bar(const Bar& bar, const std::string& unit, double y, double largest) {
  const double room = k_width - k_label_width - k_value_width;
  const double length = std::max(1.0, largest > 0 ? room * bar.value / largest : 0);
  const double text_y = y + k_bar_height - 4;
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n"
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" "
      "stroke=\"black\"/>\n"
      "<text x=\"{:.1f}\" y=\"{:.1f}\">{} {}</text>\n",
      k_label_width - 8, text_y, escaped(bar.label), k_label_width, y, length, k_bar_height,
      bar.fill == Fill::hatched ? "url(#hatch)" : "#555", k_label_width + length + 6, text_y,
      readable_number(bar.value), unit);
}

std::string draw_panel(const Panel& panel, double top) {
  double largest = 0;
  for (const Bar& bar : panel.bars) {
    largest = std::max(largest, bar.value);
  }
  std::string text = fmt::format("<text x=\"8\" y=\"{:.1f}\" font-weight=\"bold\">{}</text>\n",
                                 top + k_panel_margin - 8, escaped(panel.title));
  double y = top + k_panel_margin;
  for (const Bar& bar : panel.bars) {
    text += draw_bar(bar, panel.unit, y, largest);
    y += k_bar_step;
  }
  return text;
}

std::vector<Panel> panels_of(std::span<const Measurement> measurements) {
  std::vector<std::string> devices;
  for (const Measurement& one : measurements) {
    if (std::find(devices.begin(), devices.end(), one.device_index) == devices.end()) {
      devices.push_back(one.device_index);
    }
  }
  std::vector<Panel> panels;
  for (const std::string& device : devices) {
    panels.push_back(gflops_panel(measurements, device));
    panels.push_back(first_result_panel(measurements, device));
  }
  std::erase_if(panels, [](const Panel& panel) { return panel.bars.empty(); });
  return panels;
}

} // namespace

std::string svg_plot(std::span<const Measurement> measurements) {
  const std::vector<Panel> panels = panels_of(measurements);
  double height = k_panel_margin;
  for (const Panel& panel : panels) {
    height += panel_height(panel);
  }
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
      "<rect width=\"6\" height=\"6\" fill=\"white\"/>"
      "<path d=\"M0,6 L6,0\" stroke=\"black\"/></pattern></defs>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      k_width, height);
  double top = 0;
  for (const Panel& panel : panels) {
    svg += draw_panel(panel, top);
    top += panel_height(panel);
  }
  return svg + "</svg>\n";
}

} // namespace runtime_demo
