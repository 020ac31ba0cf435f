// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <string_view>

#include "timeline/timeline.hpp"

namespace tutti::timeline {
namespace {

constexpr double width = 1200, left = 70, right = 20, top = 46, bar = 18, lane_gap = 14, thinnest = 0.4;
constexpr std::size_t most_arrows = 500;

constexpr std::array<std::string_view, 8> colours{"#2563eb", "#16a34a", "#ea580c", "#9333ea",
                                                  "#0891b2", "#ca8a04", "#db2777", "#475569"};
constexpr std::string_view waiting_colour = "#fecaca", moving_colour = "#1e293b";

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

std::string escape(std::string_view text) {
  std::string safe;
  for (const char letter : text) {
    if (letter == '&')
      safe += "&amp;";
    else if (letter == '<')
      safe += "&lt;";
    else
      safe += letter;
  }
  return safe;
}

std::string box(double x, double y, double wide, double high, std::string_view colour, const std::string& title) {
  return "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(std::max(wide, thinnest)) +
         "\" height=\"" + number(high) + "\" fill=\"" + std::string(colour) + "\"><title>" + escape(title) +
         "</title></rect>\n";
}

std::string label(double x, double y, std::string_view anchor, const std::string& text) {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + std::string(anchor) + "\">" +
         escape(text) + "</text>\n";
}

/// 1, 2 or 5 times a power of ten, so that there are about eight of them.
double tick_of(double length) {
  const double about = std::max(length, 1.0) / 8, power = std::pow(10, std::floor(std::log10(about)));
  for (const double times : {1.0, 2.0, 5.0})
    if (times * power >= about) return times * power;
  return 10 * power;
}

class Picture {
 public:
  explicit Picture(const Timeline& timeline) : timeline_(timeline), scale_(scale_of(timeline)) {
    std::map<Rank, int> deepest;
    for (Rank rank = 0; rank < timeline.ranks; ++rank) deepest[rank] = 0;
    for (const Slice& slice : timeline.slices)
      if (slice.category != "step") deepest[slice.rank] = std::max(deepest[slice.rank], slice.lane);
    double y = top;
    for (const auto& [rank, depth] : deepest) {
      rows_[rank] = y;
      y += bar * (depth + 1) + lane_gap;
    }
    height_ = y + 10;
  }

  std::string text() {
    std::string text = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(width) + " " +
                       number(height_) + "\" font-family=\"sans-serif\" font-size=\"12\">\n" +
                       "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
    text += axis();
    for (const auto& [rank, y] : rows_) text += label(left - 8, y + bar * 0.7, "end", "rank " + std::to_string(rank));
    // Steps lie above the calls that they are part of, whatever began first.
    for (const bool steps : {false, true})
      for (const Slice& slice : timeline_.slices)
        if ((slice.category == "step") == steps) text += draw(slice);
    return text + arrows() + legend() + "</svg>\n";
  }

 private:
  static double scale_of(const Timeline& timeline) {
    return (width - left - right) / static_cast<double>(std::max<std::int64_t>(1, timeline.length()));
  }
  double x(std::int64_t time) const { return left + static_cast<double>(time) * scale_; }

  std::string draw(const Slice& slice) {
    const double from = x(slice.begin), wide = static_cast<double>(slice.length()) * scale_;
    const std::string title = slice.name + " #" + std::to_string(slice.number) + " of " + slice.group + ", " +
                              std::to_string(slice.bytes) + " bytes, " +
                              number(static_cast<double>(slice.length()) / 1e3) + " us" +
                              (slice.site.empty() ? "" : ", " + slice.site);
    const double y = rows_.at(slice.rank);
    if (slice.category == "step") {
      if (wide < thinnest) return {};
      const bool moves = slice.name == "copy" || slice.name == "reduce";
      return box(from, y + bar / 3, wide, bar / 3, moves ? moving_colour : waiting_colour, title);
    }
    if (slice.category == "wait") return box(from, y + slice.lane * bar, wide, bar - 2, waiting_colour, title);
    const auto place = kinds_.try_emplace(slice.name, kinds_.size()).first->second;
    return box(from, y + slice.lane * bar, wide, bar - 2, colours[place % colours.size()], title);
  }

  std::string axis() const {
    std::string text;
    const auto length = static_cast<double>(timeline_.length());
    const double step = tick_of(length);
    const auto [unit, name] = step >= 1e9   ? std::pair(1e9, "s")
                              : step >= 1e6 ? std::pair(1e6, "ms")
                              : step >= 1e3 ? std::pair(1e3, "us")
                                            : std::pair(1.0, "ns");
    for (int i = 0; i * step <= length; ++i) {
      const double at = left + i * step * scale_;
      text += "<line x1=\"" + number(at) + "\" y1=\"" + number(top - 10) + "\" x2=\"" + number(at) + "\" y2=\"" +
              number(height_) + "\" stroke=\"#e2e8f0\"/>\n";
      char value[40];
      std::snprintf(value, sizeof value, "%g %s", i * step / unit, name);
      text += label(at, top - 14, "middle", value);
    }
    return text;
  }

  std::string arrows() const {
    std::string text;
    if (timeline_.arrows.size() > most_arrows) return text;
    for (const Arrow& arrow : timeline_.arrows) {
      const auto from = rows_.find(arrow.from), to = rows_.find(arrow.to);
      if (from == rows_.end() || to == rows_.end()) continue;
      text += "<line x1=\"" + number(x(arrow.begin)) + "\" y1=\"" + number(from->second + bar / 2) + "\" x2=\"" +
              number(x(arrow.end)) + "\" y2=\"" + number(to->second + bar / 2) +
              "\" stroke=\"#64748b\" stroke-width=\"0.7\"/>\n";
    }
    return text;
  }

  std::string legend() const {
    std::string text;
    double at = left;
    const auto entry = [&](const std::string& name, std::string_view colour) {
      text += box(at, 6, 12, 12, colour, name) + label(at + 16, 16, "start", name);
      at += 30 + 7.0 * static_cast<double>(name.size());
    };
    std::map<std::size_t, std::string> by_place;
    for (const auto& [name, place] : kinds_) by_place[place] = name;
    for (const auto& [place, name] : by_place)
      if (place < colours.size()) entry(name, colours[place]);
    entry("waits", waiting_colour);
    entry("moves", moving_colour);
    return text;
  }

  const Timeline& timeline_;
  double scale_, height_ = 0;
  std::map<Rank, double> rows_;
  std::map<std::string, std::size_t> kinds_;
};

}  // namespace

std::string draw(const Timeline& timeline) { return Picture(timeline).text(); }

}  // namespace tutti::timeline
