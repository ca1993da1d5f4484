#include "reports.hpp"

#include <algorithm>
#include <cmath>
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
constexpr double k_axis_height = 20;
constexpr double k_most_ticks = 6;

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

double bars_height(const Panel& panel) {
  return k_bar_step * static_cast<double>(panel.bars.size());
}

double panel_height(const Panel& panel) {
  return 2 * k_panel_margin + bars_height(panel) + k_axis_height;
}

// From zero, because bars are compared by their lengths.
struct Axis {
  double largest = 0;
  [[nodiscard]] double length_of(double value) const {
    return (k_width - k_label_width - k_value_width) * value / largest;
  }
};

// Returns 1, 2 or 5 times a power of ten.
double tick_step(const Axis& axis) {
  const double least = axis.largest / k_most_ticks;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) {
      return factor * power;
    }
  }
  return 10 * power;
}

std::string draw_axis(const Axis& axis, const std::string& unit, double top, double height) {
  std::string text;
  const double step = tick_step(axis);
  for (int tick = 0; tick * step <= axis.largest; ++tick) {
    const double x = k_label_width + axis.length_of(tick * step);
    text += fmt::format(
        "<path d=\"M{0:.1f},{1:.1f} V{2:.1f}\" stroke=\"#bbb\"/>\n"
        "<text x=\"{0:.1f}\" y=\"{3:.1f}\" text-anchor=\"middle\">{4:g}{5}</text>\n",
        x, top, top + height, top + height + 14, tick * step, tick == 0 ? " " + unit : "");
  }
  return text;
}

std::string draw_bar(const Bar& bar, const std::string& unit, double y, const Axis& axis) {
  const double length = std::max(1.0, axis.length_of(bar.value));
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
  Axis axis;
  for (const Bar& bar : panel.bars) {
    axis.largest = std::max(axis.largest, bar.value);
  }
  std::string text = fmt::format("<text x=\"8\" y=\"{:.1f}\" font-weight=\"bold\">{}</text>\n",
                                 top + k_panel_margin - 8, escaped(panel.title));
  double y = top + k_panel_margin;
  text += draw_axis(axis, panel.unit, y, bars_height(panel));
  for (const Bar& bar : panel.bars) {
    text += draw_bar(bar, panel.unit, y, axis);
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
