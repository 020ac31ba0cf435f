// SPDX-License-Identifier: BSD-3-Clause
#include "plan/text.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "tutti/error.hpp"

namespace tutti::plan {
namespace {

constexpr std::array<std::string_view, 8> verbs = {"send", "recv",    "recv_reduce", "reduce",
                                                   "copy", "publish", "await",       "release"};
constexpr std::array<std::string_view, 6> buffers = {"none", "input", "output", "scratch", "shared", "exposed"};
constexpr std::array<std::string_view, rings> ring_words = {"small", "medium", "large"};

template <class Number>
void append(std::string& text, Number number) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  text.append(digits.data(), end);
}

void append(std::string& text, const Slice& slice) {
  text += word(slice.buffer);
  if (slice.buffer == Buffer::shared || slice.buffer == Buffer::exposed) {
    text += '[';
    append(text, slice.owner);
    text += "]#";
    append(text, slice.cell);
  }
  text += '[';
  append(text, slice.offset);
  text += "..";
  // Added as unsigned numbers: a wrong plan is printed too, to say what is wrong with it.
  append(text, static_cast<Count>(static_cast<std::uint64_t>(slice.offset) + static_cast<std::uint64_t>(slice.count)));
  text += ')';
}

void append_message(std::string& text, std::string_view preposition, const Step& step) {
  text += preposition;
  append(text, step.peer);
  text += " #";
  append(text, step.message);
}

void append(std::string& text, const Step& step) {
  text += word(step.verb);
  text += ' ';
  switch (step.verb) {
    case Verb::send:
      append(text, step.source);
      append_message(text, " to ", step);
      break;
    case Verb::recv:
    case Verb::recv_reduce:
      append(text, step.target.count);
      append_message(text, " from ", step);
      text += " -> ";
      append(text, step.target);
      break;
    case Verb::reduce:
    case Verb::copy:
      append(text, step.source);
      text += " -> ";
      append(text, step.target);
      break;
    case Verb::publish:
      append(text, step.cell);
      text += ' ';
      append(text, step.source);
      if (step.open) text += " open";
      break;
    case Verb::await:
      if (step.peer == everyone)
        text += "all";
      else
        append(text, step.peer);
      text += ' ';
      append(text, step.cell);
      text += " expects ";
      append(text, step.source.count);
      break;
    case Verb::release:
      append(text, step.cell);
      break;
  }
  if (step.side == Side::right) text += " right";
}

constexpr bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Reads one line from left to right.
class Line {
 public:
  Line(std::string_view text, std::size_t number) : rest_(text), number_(number) { skip(); }

  bool empty() const { return rest_.empty(); }

  [[noreturn]] void refuse(std::string_view reason) const {
    std::string text = "plan text, line ";
    append(text, number_);
    text += ": ";
    text += reason;
    throw Error(Cause::usage, std::move(text));
  }

  bool begins(std::string_view token) const { return Line(*this).take(token); }

  bool take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    // A word ends where it ends: "after" is not the beginning of "afterwards".
    if (is_word(token.back()) && rest_.size() > token.size() && is_word(rest_[token.size()])) return false;
    rest_.remove_prefix(token.size());
    skip();
    return true;
  }

  void expect(std::string_view token) {
    if (!take(token)) refuse("expected '" + std::string(token) + "' before '" + shown() + "'");
  }

  std::string_view word(const char* what) {
    std::size_t length = 0;
    while (length < rest_.size() && is_word(rest_[length])) ++length;
    if (length == 0) refuse(std::string("expected ") + what + " before '" + shown() + "'");
    const std::string_view found = rest_.substr(0, length);
    rest_.remove_prefix(length);
    skip();
    return found;
  }

  /// A number from 0 to `most`.
  Count number(const char* what, Count most = std::numeric_limits<Count>::max()) {
    Count value = 0;
    const char* const end = rest_.data() + rest_.size();
    const auto [stop, error] = std::from_chars(rest_.data(), end, value);
    if (error != std::errc{} || value < 0 || value > most) {
      std::string reason = std::string("expected ") + what + " from 0 to ";
      append(reason, most);
      refuse(reason + " before '" + shown() + "'");
    }
    rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
    skip();
    return value;
  }

  std::string shown() const { return rest_.empty() ? "the end of the line" : std::string(rest_.substr(0, 24)); }

 private:
  void skip() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == '\r'))
      rest_.remove_prefix(1);
  }

  std::string_view rest_;
  std::size_t number_;
};

template <class Table>
std::optional<std::size_t> position(const Table& table, std::string_view name) {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (table[i] == name) return i;
  return std::nullopt;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  Plan parse() {
    Line line = next();
    if (line.empty())
      line.refuse("the text ends before the line 'rank R of P scratch S ring small|medium|large cells K'");
    Plan plan = parse_from(line);
    if (!line.empty()) line.refuse("another plan begins, where one alone is expected");
    return plan;
  }

  std::vector<Plan> parse_all() {
    std::vector<Plan> plans;
    for (Line line = next(); !line.empty();) plans.push_back(parse_from(line));
    return plans;
  }

 private:
  /// From its line "rank ..." to that of the next plan, which is left for it, or to the end.
  Plan parse_from(Line& line) {
    labels_.clear();
    header(line);
    for (line = next(); !line.empty() && !line.begins("rank"); line = next()) step(line);
    return std::exchange(plan_, {});
  }

  /// The next line that says something; an empty one at the end.
  Line next() {
    while (!rest_.empty()) {
      const std::size_t end = rest_.find('\n');
      const std::string_view text = rest_.substr(0, end);
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
      Line line(text, ++number_);
      if (!line.empty() && !line.take("//")) return line;
    }
    return Line({}, number_);
  }

  static void finish(const Line& line) {
    if (!line.empty()) line.refuse("'" + line.shown() + "' is too much; one verb a line");
  }

  void header(Line& line) {
    constexpr Count most = std::numeric_limits<Rank>::max();
    line.expect("rank");
    const Count rank = line.number("a rank", most);
    line.expect("of");
    const Count size = line.number("a group's size", most);
    if (rank >= size) line.refuse("the rank is not below the size; ranks go from 0 to size - 1");
    plan_.rank = static_cast<Rank>(rank);
    plan_.size = static_cast<Rank>(size);
    line.expect("scratch");
    plan_.scratch = line.number("elements of scratch");
    line.expect("ring");
    const auto ring = position(ring_words, line.word("'small', 'medium' or 'large'"));
    if (!ring) line.refuse("a ring is 'small', 'medium' or 'large'");
    plan_.ring = static_cast<Ring>(*ring);
    line.expect("cells");
    plan_.cells = static_cast<std::int32_t>(line.number("a number of cells", std::numeric_limits<std::int32_t>::max()));
    finish(line);
  }

  void step(Line& line) {
    const std::string_view label = line.word("a label");
    line.expect(":");
    if (label == "any") line.refuse("'any' is no label; it is a word of the text form");
    Step step;
    const auto verb = position(verbs, line.word("a verb"));
    if (!verb) line.refuse("a verb is send, recv, recv_reduce, reduce, copy, publish, await or release");
    step.verb = static_cast<Verb>(*verb);
    operands(line, step);
    if (reduces(step.verb) && line.take("right")) step.side = Side::right;
    edges(line, step);
    finish(line);
    if (!labels_.emplace(label, static_cast<Index>(plan_.steps.size())).second)
      line.refuse("label '" + std::string(label) + "' stands twice");
    plan_.steps.push_back(step);
  }

  void operands(Line& line, Step& step) {
    switch (step.verb) {
      case Verb::send:
        step.source = slice(line);
        message(line, "to", step);
        break;
      case Verb::recv:
      case Verb::recv_reduce: {
        const Count count = line.number("a count");
        message(line, "from", step);
        line.expect("->");
        step.target = slice(line);
        if (step.target.count != count) line.refuse("the count is not that of the target");
        break;
      }
      case Verb::reduce:
      case Verb::copy:
        step.source = slice(line);
        line.expect("->");
        step.target = slice(line);
        if (step.source.count != step.target.count) line.refuse("source and target differ in length");
        break;
      case Verb::publish:
        step.cell = cell(line);
        step.source = slice(line);
        step.open = line.take("open");
        break;
      case Verb::await:
        step.peer = line.take("all") ? everyone : peer(line);
        step.cell = cell(line);
        line.expect("expects");
        step.source.count = line.number("a count");
        break;
      case Verb::release:
        step.cell = cell(line);
        break;
    }
  }

  Rank rank(Line& line) { return static_cast<Rank>(line.number("a rank", plan_.size - 1)); }

  Rank peer(Line& line) {
    const Rank found = rank(line);
    if (found == plan_.rank) line.refuse("the rank names itself as peer");
    return found;
  }

  std::int32_t cell(Line& line) {
    if (plan_.cells == 0) line.refuse("the plan takes no cells; say how many in its first line");
    return static_cast<std::int32_t>(line.number("a cell", plan_.cells - 1));
  }

  void message(Line& line, std::string_view preposition, Step& step) {
    line.expect(preposition);
    step.peer = peer(line);
    line.expect("#");
    step.message = static_cast<std::uint32_t>(line.number("a message", std::numeric_limits<std::uint32_t>::max()));
  }

  Slice slice(Line& line) {
    Slice slice;
    const auto buffer = position(buffers, line.word("a buffer"));
    if (!buffer || *buffer == 0) line.refuse("a buffer is input, output, scratch, shared or exposed");
    slice.buffer = static_cast<Buffer>(*buffer);
    line.expect("[");
    if (slice.buffer == Buffer::shared || slice.buffer == Buffer::exposed) {
      slice.owner = rank(line);
      line.expect("]");
      line.expect("#");
      slice.cell = cell(line);
      line.expect("[");
    }
    slice.offset = line.number("an offset");
    line.expect("..");
    const Count end = line.number("an offset");
    line.expect(")");
    if (end < slice.offset) line.refuse("a range ends before it begins");
    slice.count = end - slice.offset;
    return slice;
  }

  void edges(Line& line, Step& step) {
    step.first = static_cast<Index>(plan_.edges.size());
    if (line.take("after")) {
      step.any = line.take("any");
      do {
        const std::string_view label = line.word("a label");
        const auto found = labels_.find(label);
        if (found == labels_.end()) line.refuse("label '" + std::string(label) + "' does not stand on an earlier line");
        plan_.edges.push_back(found->second);
      } while (!line.empty());
    }
    step.last = static_cast<Index>(plan_.edges.size());
  }

  std::string_view rest_;
  std::size_t number_ = 0;
  Plan plan_;
  std::unordered_map<std::string_view, Index> labels_;
};

}  // namespace

std::string_view word(Verb verb) { return verbs.at(static_cast<std::size_t>(verb)); }
std::string_view word(Buffer buffer) { return buffers.at(static_cast<std::size_t>(buffer)); }
std::string_view word(Ring ring) { return ring_words.at(static_cast<std::size_t>(ring)); }

std::string print(const Step& step) {
  std::string text;
  append(text, step);
  return text;
}

std::string print(const Plan& plan) {
  std::string text = "rank ";
  append(text, plan.rank);
  text += " of ";
  append(text, plan.size);
  text += " scratch ";
  append(text, plan.scratch);
  text += " ring ";
  text += word(plan.ring);
  text += " cells ";
  append(text, plan.cells);
  text += '\n';
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    text += 's';
    append(text, i);
    text += ": ";
    append(text, plan.steps[i]);
    const auto before = plan.after(plan.steps[i]);
    if (!before.empty()) text += plan.steps[i].any ? " after any" : " after";
    for (const Index step : before) {
      text += " s";
      append(text, step);
    }
    text += '\n';
  }
  return text;
}

Plan parse(std::string_view text) { return Parser(text).parse(); }

std::vector<Plan> parse_all(std::string_view text) { return Parser(text).parse_all(); }

}  // namespace tutti::plan
