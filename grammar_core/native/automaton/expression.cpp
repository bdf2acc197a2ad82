#include "automaton/expression.hpp"

#include <algorithm>
#include <bit>

#include "automaton/errors.hpp"

namespace syntagma {
namespace {

constexpr int64_t kEndOfRule = 6;

class ProgramReader {
 public:
  explicit ProgramReader(std::span<const int64_t> program) : program_(program) {}

  bool done() const { return position_ == program_.size(); }
  int64_t next() {
    if (done()) throw InvalidGrammar("the grammar program is cut short");
    return program_[position_++];
  }

 private:
  std::span<const int64_t> program_;
  size_t position_ = 0;
};

int32_t pop(std::vector<int32_t>& stack) {
  if (stack.empty()) throw InvalidGrammar("the grammar program lacks an operand");
  const int32_t top = stack.back();
  stack.pop_back();
  return top;
}

Expression read_operands(GrammarSource& source, std::vector<int32_t>& stack, Op op, int64_t count) {
  if (count < 0 || static_cast<size_t>(count) > stack.size())
    throw InvalidGrammar("the grammar program lacks an operand");
  Expression e{op, static_cast<int64_t>(source.children.size()), count};
  source.children.insert(source.children.end(), stack.end() - count, stack.end());
  stack.resize(stack.size() - count);
  return e;
}

Expression read_literal(const GrammarSource& source, ProgramReader& reader) {
  Expression e{Op::kLiteral, reader.next()};
  e.count = reader.next();
  if (e.first < 0 || e.count < 0 || e.first + e.count > static_cast<int64_t>(source.literals.size()))
    throw InvalidGrammar("the grammar program names a literal out of range");
  return e;
}

Expression read_char_class(GrammarSource& source, ProgramReader& reader) {
  Expression e{Op::kCharClass, static_cast<int64_t>(source.ranges.size()), reader.next()};
  for (int64_t i = 0; i < e.count; ++i) {
    const int64_t low = reader.next(), high = reader.next();
    if (low < 0 || high < low || high > 0x10FFFF) throw InvalidGrammar("a character range is out of range");
    source.ranges.push_back({static_cast<uint32_t>(low), static_cast<uint32_t>(high)});
  }
  return e;
}

int32_t read_below(ProgramReader& reader, int64_t limit) {
  const int64_t value = reader.next();
  if (value < 0 || value >= limit) throw InvalidGrammar("the grammar program has a number out of range");
  return static_cast<int32_t>(value);
}

Expression read_automaton(GrammarSource& source, std::vector<int32_t>& stack, ProgramReader& reader) {
  AutomatonShape shape;
  shape.state_count = read_below(reader, INT32_MAX);
  shape.min_edges = reader.next();
  const int64_t max_edges = reader.next();
  shape.max_edges = max_edges < 0 ? kUnbounded : max_edges;
  if (shape.min_edges < 0 || shape.max_edges < shape.min_edges)
    throw InvalidGrammar("an automaton has its bounds reversed");
  for (int64_t n = reader.next(); n > 0; --n)
    shape.accepting.push_back(read_below(reader, shape.state_count));
  const int64_t edges = reader.next();
  for (int64_t i = 0; i < edges; ++i) {
    const int32_t from = read_below(reader, shape.state_count);
    shape.edges.push_back({from, read_below(reader, shape.state_count)});
  }
  Expression e = read_operands(source, stack, Op::kAutomaton, edges);
  e.min = static_cast<int64_t>(source.automata.size());
  source.automata.push_back(std::move(shape));
  return e;
}

Expression read_token_set(GrammarSource& source, ProgramReader& reader) {
  TokenSet set{reader.next() != 0, {}};
  for (int64_t n = reader.next(); n > 0; --n) set.ids.push_back(read_below(reader, INT32_MAX));
  std::sort(set.ids.begin(), set.ids.end());
  source.token_sets.push_back(std::move(set));
  return {Op::kTokenSet, static_cast<int64_t>(source.token_sets.size()) - 1};
}

Expression read_members(GrammarSource& source, std::vector<int32_t>& stack, ProgramReader& reader) {
  MembersShape shape;
  shape.count = read_below(reader, INT32_MAX);
  shape.has_separator = reader.next() != 0;
  shape.ordered = reader.next() != 0;
  shape.min = reader.next();
  const int64_t max = reader.next();
  shape.max = max < 0 ? kUnbounded : max;
  for (int32_t i = 0; i < shape.count; ++i) {
    shape.required.push_back(reader.next() != 0);
    shape.repeatable.push_back(reader.next() != 0);
    shape.distinct.push_back(reader.next() != 0);
  }
  for (int64_t n = reader.next(); n > 0; --n) {
    const int32_t member = read_below(reader, shape.count);
    shape.implications.emplace_back(member, read_below(reader, shape.count));
  }
  Expression e = read_operands(source, stack, Op::kMembers, int64_t{shape.count} + shape.has_separator);
  e.min = static_cast<int64_t>(source.members.size());
  source.members.push_back(std::move(shape));
  return e;
}

Expression read_other_texts(GrammarSource& source, std::vector<int32_t>& stack, ProgramReader& reader) {
  std::vector<LiteralRange> texts;
  for (int64_t n = reader.next(); n > 0; --n) {
    const int64_t offset = reader.next(), length = reader.next();
    if (offset < 0 || length < 0 || offset + length > static_cast<int64_t>(source.literals.size()))
      throw InvalidGrammar("the grammar program names a literal out of range");
    texts.push_back({offset, length});
  }
  source.other_texts.push_back(std::move(texts));
  return {Op::kOtherTexts, pop(stack), 1, static_cast<int64_t>(source.other_texts.size()) - 1, kUnbounded};
}

int32_t read_optional(ProgramReader& reader, int64_t limit) {
  const int64_t value = reader.next();
  if (value < -1 || value >= limit) throw InvalidGrammar("the grammar program has a number out of range");
  return static_cast<int32_t>(value);
}

RuleOptions read_rule_options(ProgramReader& reader, int64_t rule_count) {
  RuleOptions options;
  options.lazy = reader.next() != 0;
  options.capture = static_cast<int32_t>(reader.next());
  options.temperature = std::bit_cast<double>(reader.next());
  options.max_tokens = reader.next();
  options.max_chars = reader.next();
  options.stop_capture = read_optional(reader, INT32_MAX);
  options.suffix_bytes = reader.next();
  options.stop_bytes = reader.next();
  options.body_rule = read_optional(reader, rule_count);
  options.marker_rule = read_optional(reader, rule_count);
  if ((options.body_rule < 0) != (options.marker_rule < 0))
    throw InvalidGrammar("the grammar program names one of a marker's rules only");
  return options;
}

Expression read_expression(GrammarSource& source, std::vector<int32_t>& stack, ProgramReader& reader,
                           int64_t code) {
  switch (static_cast<Op>(code)) {
    case Op::kLiteral:
      return read_literal(source, reader);
    case Op::kCharClass:
      return read_char_class(source, reader);
    case Op::kRuleRef: {
      const int64_t rule = reader.next();
      if (rule < 0 || rule >= static_cast<int64_t>(source.rule_names.size()))
        throw InvalidGrammar("a rule reference is out of range");
      return {Op::kRuleRef, rule};
    }
    case Op::kSequence:
    case Op::kChoice:
      return read_operands(source, stack, static_cast<Op>(code), reader.next());
    case Op::kRepeat: {
      Expression e{Op::kRepeat, pop(stack), 1, reader.next()};
      const int64_t max = reader.next();
      e.max = max < 0 ? kUnbounded : max;
      if (e.min < 0 || e.max < e.min) throw InvalidGrammar("a repetition has its bounds reversed");
      return e;
    }
    case Op::kAutomaton:
      return read_automaton(source, stack, reader);
    case Op::kTokenSet:
      return read_token_set(source, reader);
    case Op::kMembers:
      return read_members(source, stack, reader);
    case Op::kOtherTexts:
      return read_other_texts(source, stack, reader);
  }
  throw InvalidGrammar("the grammar program has an unknown operation");
}

}  // namespace

Adjacency AutomatonShape::edges_by_source() const {
  std::vector<Adjacency::Placed> placed;
  placed.reserve(edges.size());
  for (size_t i = 0; i < edges.size(); ++i) placed.push_back({edges[i].from, static_cast<int32_t>(i)});
  return Adjacency(state_count, placed);
}

bool TokenSet::contains(int32_t id) const {
  return std::binary_search(ids.begin(), ids.end(), id) != negated;
}

GrammarSource decode_program(std::span<const int64_t> program, std::string literals,
                             std::vector<std::string> rule_names, int32_t root) {
  GrammarSource source;
  source.literals = std::move(literals);
  source.rule_names = std::move(rule_names);
  source.root = root;
  std::vector<int32_t> stack;
  ProgramReader reader(program);
  while (!reader.done()) {
    const int64_t code = reader.next();
    if (code == kEndOfRule) {
      source.rule_bodies.push_back(pop(stack));
      source.rule_options.push_back(
          read_rule_options(reader, static_cast<int64_t>(source.rule_names.size())));
      continue;
    }
    const Expression e = read_expression(source, stack, reader, code);
    stack.push_back(static_cast<int32_t>(source.expressions.size()));
    source.expressions.push_back(e);
  }
  if (!stack.empty() || source.rule_bodies.size() != source.rule_names.size() || root < 0 ||
      static_cast<size_t>(root) >= source.rule_names.size())
    throw InvalidGrammar("the grammar program does not match its rules");
  return source;
}

}  // namespace syntagma
