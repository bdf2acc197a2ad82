#include "automaton/unit_calls.hpp"

#include "automaton/time_limit.hpp"

namespace syntagma {
namespace {

class UnitCalls {
 public:
  explicit UnitCalls(const Nfa& nfa)
      : nfa_(nfa), from_start_(nfa.state_count(), 0), to_accept_(nfa.states_before_acceptance()) {}

  std::vector<std::vector<int32_t>> run() {
    const std::vector<Symbol>& symbols = nfa_.symbols();
    std::vector<std::vector<int32_t>> calls(symbols.size());
    for (size_t symbol = 0; symbol < symbols.size(); ++symbol) {
      if (!symbols[symbol].is_counter())
        add_calls(symbols[symbol].start, calls[symbol]);
      else if (symbols[symbol].min <= 1)
        calls[symbol].push_back(symbols[symbol].counter_body);
    }
    return calls;
  }

 private:
  void add_calls(int32_t start, std::vector<int32_t>& calls) {
    pending_.assign(1, start);
    from_start_[start] = 1;
    while (!pending_.empty()) {
      const int32_t state = pending_.back();
      pending_.pop_back();
      TimeLimit::tick();
      for (const CallEdge& call : nfa_.call_edges(state))
        if (to_accept_[call.target]) calls.push_back(call.symbol);
      for (const int32_t target : nfa_.empty_edges(state)) {
        if (from_start_[target]) continue;
        from_start_[target] = 1;
        pending_.push_back(target);
      }
    }
  }

  const Nfa& nfa_;
  std::vector<uint8_t> from_start_;  // states belong to one symbol each
  std::vector<uint8_t> to_accept_;
  std::vector<int32_t> pending_;
};

}  // namespace

std::vector<std::vector<int32_t>> find_unit_calls(const Nfa& nfa) { return UnitCalls(nfa).run(); }

}  // namespace syntagma
