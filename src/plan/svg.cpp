// SPDX-License-Identifier: BSD-3-Clause
#include "plan/svg.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/words.hpp"
#include "plan/operation.hpp"
#include "plan/order.hpp"
#include "plan/text.hpp"
#include "tutti/error.hpp"

namespace tutti::plan {
namespace {

constexpr int margin = 16, head = 68, gap = 36, box_height = 36, box_gap = 8, lane_gap = 14, lane_padding = 10;
constexpr int letter = 7;  // width of a letter of the labels, about

struct Colours {
  std::string_view fill, line;
};

Colours colours(Verb verb) {
  switch (verb) {
    case Verb::send:
      return {"#dbeafe", "#2563eb"};
    case Verb::recv:
      return {"#dcfce7", "#16a34a"};
    case Verb::recv_reduce:
    case Verb::reduce:
      return {"#ffedd5", "#ea580c"};
    case Verb::copy:
      return {"#f1f5f9", "#64748b"};
    case Verb::publish:
    case Verb::await:
      return {"#f3e8ff", "#9333ea"};
    case Verb::release:
      break;
  }
  return {"#fafafa", "#a1a1aa"};
}

/// The upper line of a box: what happens, and with whom.
std::string title(const Step& step) {
  std::string text(word(step.verb));
  std::ranges::replace(text, '_', ' ');
  switch (step.verb) {
    case Verb::send:
      return text + " to " + std::to_string(step.peer);
    case Verb::recv:
    case Verb::recv_reduce:
      return text + " from " + std::to_string(step.peer);
    case Verb::publish:
      return text + (step.open ? " open" : "") + " cell " + std::to_string(step.cell);
    case Verb::release:
      return text + " cell " + std::to_string(step.cell);
    case Verb::await:
      text += step.peer == everyone ? " all" : " " + std::to_string(step.peer);
      return text + " cell " + std::to_string(step.cell);
    case Verb::reduce:
    case Verb::copy:
      break;
  }
  return text;
}

std::string text_of(const Slice& slice) {
  std::string text(word(slice.buffer));
  if (slice.buffer == Buffer::shared || slice.buffer == Buffer::exposed)
    text += "[" + std::to_string(slice.owner) + "]#" + std::to_string(slice.cell);
  text += "[" + std::to_string(slice.offset) + "..";
  return text + std::to_string(slice.offset + slice.count) + ")";
}

/// The lower line: the memory it touches.
std::string detail(const Step& step) {
  std::string text;
  if (step.source.buffer != Buffer::none) text = text_of(step.source);
  if (step.target.buffer != Buffer::none) base::add_word(text, text_of(step.target), " → ");
  return text;
}

int width(const Step& step) {
  const std::string lower = detail(step);
  const auto letters = std::max(title(step).size(), lower.size() - (lower.find("→") != std::string::npos ? 2 : 0));
  return static_cast<int>(letters) * letter + 16;
}

class Picture {
 public:
  Picture(std::span<const Plan> plans, std::span<const Rank> hosts) {
    constexpr Count any = std::numeric_limits<Count>::max();
    const Board board{.cell = {any, any, any}, .hosts = hosts};
    require_structure(plans, nullptr, board);
    operation_.join(plans, hosts);
    operation_.choose(0);
    operation_.match();
    order_.sort(std::span(&only_, 1), board, false);
  }

  std::string draw() {
    place_columns();
    place_lanes();
    begin();
    draw_lanes();
    draw_edges();
    draw_messages();
    draw_cells();
    for (Node node = 0; node < operation_.nodes(); ++node) draw_box(node);
    return std::move(text_) + "</svg>\n";
  }

 private:
  struct Box {
    int column = 0, row = 0;
    int x = 0, y = 0, width = 0;
    int right() const { return x + width; }
    int middle() const { return y + box_height / 2; }
  };

  /// A step stands right of everything it comes after.
  void place_columns() {
    boxes_.resize(order_.count());
    const auto place = [&](Node node) {
      order_.for_each_cause(
          node, [&](Node before) { boxes_[node].column = std::max(boxes_[node].column, boxes_[before].column + 1); });
    };
    for (const Node event : order_.events()) {
      place(event);
      if (event < operation_.nodes() && operation_.partner(event) != nothing) place(operation_.partner(event));
    }
    std::vector<int> widths(1);
    for (Node node = 0; node < operation_.nodes(); ++node) {
      const auto column = static_cast<std::size_t>(boxes_[node].column);
      if (widths.size() <= column) widths.resize(column + 1);
      widths[column] = std::max(widths[column], width(operation_.step(node)));
    }
    std::vector<int> left = {margin + head};
    for (const int width : widths) left.push_back(left.back() + width + gap);
    for (Node node = 0; node < operation_.nodes(); ++node) {
      const auto column = static_cast<std::size_t>(boxes_[node].column);
      boxes_[node].x = left[column];
      boxes_[node].width = widths[column];
    }
    width_ = left.back() - gap + lane_padding + margin;
  }

  /// Steps of one rank in one column stand below each other.
  void place_lanes() {
    int top = margin;
    for (Rank rank = 0; rank < operation_.size(); ++rank) {
      std::vector<int> used;
      int rows = 1;
      for (Node node = operation_.first_node(rank); node < operation_.first_node(rank + 1); ++node) {
        const auto column = static_cast<std::size_t>(boxes_[node].column);
        if (used.size() <= column) used.resize(column + 1);
        boxes_[node].y = top + lane_padding + used[column]++ * (box_height + box_gap);
        rows = std::max(rows, used[column]);
      }
      lanes_.push_back(top);
      top += 2 * lane_padding + rows * (box_height + box_gap) - box_gap + lane_gap;
    }
    lanes_.push_back(top);
    height_ = top - lane_gap + margin;
  }

  void put(std::string_view text) { text_ += text; }
  void put(int number) { text_ += std::to_string(number); }
  template <class... Parts>
  void line(Parts... parts) {
    (put(parts), ...);
    text_ += '\n';
  }

  void begin() {
    line("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width_, "\" height=\"", height_, "\" viewBox=\"0 0 ",
         width_, " ", height_, "\" font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\">");
    line("<defs>");
    for (const auto& [name, colour] : {std::pair("message", "#2563eb"), std::pair("cell", "#9333ea")})
      line("<marker id=\"", name, "\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" ",
           "orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"", colour, "\"/></marker>");
    line("</defs>");
    line("<rect width=\"", width_, "\" height=\"", height_, "\" rx=\"10\" fill=\"#ffffff\"/>");
  }

  void draw_lanes() {
    for (Rank rank = 0; rank < operation_.size(); ++rank) {
      const int top = lanes_[static_cast<std::size_t>(rank)];
      const int height = lanes_[static_cast<std::size_t>(rank) + 1] - lane_gap - top;
      line("<rect x=\"", margin, "\" y=\"", top, "\" width=\"", width_ - 2 * margin, "\" height=\"", height,
           "\" rx=\"8\" fill=\"#f8fafc\" stroke=\"#e2e8f0\"/>");
      line("<text x=\"", margin + 12, "\" y=\"", top + height / 2 + 4,
           "\" font-size=\"13\" font-weight=\"bold\" fill=\"#334155\">rank ", rank, "</text>");
    }
  }

  /// A curve from the right side of one box to the left side of another.
  void draw_curve(Node from, Node to, std::string_view style) {
    const Box& a = boxes_[from];
    const Box& b = boxes_[to];
    const int bend = std::max(18, (b.x - a.right()) / 2);
    line("<path d=\"M", a.right(), " ", a.middle(), " C", a.right() + bend, " ", a.middle(), " ", b.x - bend, " ",
         b.middle(), " ", b.x - 1, " ", b.middle(), "\" fill=\"none\" ", style, "/>");
  }

  void draw_edges() {
    for (Node node = 0; node < operation_.nodes(); ++node) {
      const Rank rank = operation_.rank_of(node);
      for (const Index before : operation_.plan(rank).after(operation_.step(node)))
        draw_curve(operation_.first_node(rank) + before, node, "stroke=\"#94a3b8\" stroke-width=\"1.2\"");
    }
  }

  void draw_messages() {
    for (Node node = 0; node < operation_.nodes(); ++node)
      if (operation_.step(node).verb == Verb::send && operation_.partner(node) != nothing)
        draw_curve(node, operation_.partner(node),
                   "stroke=\"#2563eb\" stroke-width=\"1.6\" marker-end=\"url(#message)\"");
  }

  void draw_cells() {
    for (Node node = 0; node < operation_.nodes(); ++node) {
      const Step& step = operation_.step(node);
      if (step.verb != Verb::await || operation_.cancelled(node)) continue;
      for (const Rank owner : operation_.ranks_of(operation_.host_of(operation_.rank_of(node))))
        if (owner == step.peer || (step.peer == everyone && owner != operation_.rank_of(node)))
          draw_curve(operation_.publisher(owner, step.cell), node,
                     "stroke=\"#9333ea\" stroke-width=\"1.3\" stroke-dasharray=\"5 3\" marker-end=\"url(#cell)\"");
    }
  }

  void draw_box(Node node) {
    const Step& step = operation_.step(node);
    const Box& box = boxes_[node];
    const Colours colour = colours(step.verb);
    const int centre = box.x + box.width / 2;
    const std::string lower = detail(step);
    line("<g", operation_.cancelled(node) ? " opacity=\"0.4\"" : "", "><rect x=\"", box.x, "\" y=\"", box.y,
         "\" width=\"", box.width, "\" height=\"", box_height, "\" rx=\"5\" fill=\"", colour.fill, "\" stroke=\"",
         colour.line, "\"/>");
    line("<text x=\"", centre, "\" y=\"", box.y + (lower.empty() ? 22 : 15),
         "\" font-size=\"11.5\" font-weight=\"bold\" text-anchor=\"middle\" fill=\"#0f172a\">", title(step), "</text>");
    if (!lower.empty())
      line("<text x=\"", centre, "\" y=\"", box.y + 29, "\" font-size=\"11\" text-anchor=\"middle\" fill=\"#475569\">",
           lower, "</text>");
    line("</g>");
  }

  Operation operation_;
  Operation* const only_ = &operation_;  // the order looks at it as long as it is asked
  Order order_;
  std::vector<Box> boxes_;
  std::vector<int> lanes_;
  int width_ = 0, height_ = 0;
  std::string text_;
};

}  // namespace

std::string draw(std::span<const Plan> plans, std::span<const Rank> hosts) {
  try {
    return Picture(plans, hosts).draw();
  } catch (const Refusal& refusal) {
    throw Error(Cause::usage, "plan: rank " + std::to_string(refusal.rank) + ": " + refusal.reason +
                                  "; only plans that fit together can be drawn");
  }
}

}  // namespace tutti::plan
