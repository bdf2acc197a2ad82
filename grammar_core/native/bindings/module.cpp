// Python bindings: conversions only.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <string>

#include "automaton/deadline.hpp"
#include "automaton/errors.hpp"
#include "automaton/expression.hpp"
#include "automaton/time_limit.hpp"
#include "automaton/typical_text.hpp"
#include "bindings/arrays.hpp"
#include "bindings/batch.hpp"
#include "bindings/dfa.hpp"
#include "bindings/lowering.hpp"
#include "parser/matcher.hpp"
#include "parser/warm_up.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace syntagma;

namespace {

bool fill(Matcher& matcher, uint32_t* words) {
  if (!matcher.fill_mask_quickly(words)) {
    const nb::gil_scoped_release release;
    matcher.work_out_mask(words);
  }
  return !matcher.mask_allows_all();
}

void init_vocabulary(Vocabulary* self, const nb::list& tokens, std::vector<int32_t> stop_tokens,
                     std::vector<int32_t> control_tokens, int32_t size) {
  std::vector<std::string> bytes;
  bytes.reserve(nb::len(tokens));
  for (const nb::handle token : tokens) {
    const auto b = nb::cast<nb::bytes>(token);
    bytes.emplace_back(b.c_str(), b.size());
  }
  const nb::gil_scoped_release release;
  new (self) Vocabulary(std::move(bytes), std::move(stop_tokens), std::move(control_tokens), size);
}

std::shared_ptr<CompiledGrammar> compile(const nb::bytes& program, const nb::bytes& literals,
                                         std::vector<std::string> rule_names, int32_t root,
                                         std::shared_ptr<Vocabulary> vocabulary,
                                         std::shared_ptr<FrameRows> frame_rows, size_t mask_bytes_limit,
                                         double compile_seconds, double step_seconds,
                                         double warm_up_seconds) {
  std::vector<int64_t> words(program.size() / sizeof(int64_t));
  std::memcpy(words.data(), program.c_str(), words.size() * sizeof(int64_t));
  std::string text(literals.c_str(), literals.size());
  const nb::gil_scoped_release release;
  const TimeLimit limit("Compiling the grammar", compile_seconds);
  GrammarSource source = decode_program(words, std::move(text), std::move(rule_names), root);
  const std::string likely = warm_up_seconds > 0 ? typical_text(source) : std::string();
  auto grammar =
      std::make_shared<CompiledGrammar>(std::move(source), std::move(vocabulary), std::move(frame_rows),
                                        CompiledGrammarLimits{mask_bytes_limit, step_seconds});
  warm_up(grammar, likely, warm_up_seconds);
  Deadline::check();  // the end of a mask's time may have been that of the compile
  return grammar;
}

void init_member_order(MemberOrder* self, const std::vector<bool>& required,
                       const std::vector<bool>& repeatable, bool ordered, int64_t min, int64_t max,
                       std::vector<std::pair<int32_t, int32_t>> implications) {
  MembersShape shape{static_cast<int32_t>(required.size()),
                     {required.begin(), required.end()},
                     {repeatable.begin(), repeatable.end()},
                     ordered,
                     min,
                     max < 0 ? kUnbounded : max,
                     std::move(implications),
                     false,
                     {}};
  new (self) MemberOrder(shape, std::vector<uint8_t>(required.size(), 1));
}

bool fill_row(Matcher& matcher, nb::handle bitmask, int64_t index) {
  return fill(matcher, mask_rows(bitmask, matcher.grammar().vocabulary()).row(index));
}

bool try_fill_row(Matcher& matcher, nb::handle bitmask, int64_t index) {
  return matcher.fill_mask_quickly(mask_rows(bitmask, matcher.grammar().vocabulary()).row(index));
}

void init_matcher(Matcher* self, std::shared_ptr<CompiledGrammar> grammar,
                  std::optional<std::vector<int32_t>> stop_tokens, bool ends_when_complete) {
  new (self) Matcher(std::move(grammar), {std::move(stop_tokens), ends_when_complete});
}

// Subclasses hear of budgets that were exceeded.
void warn_of_budgets(nb::handle self, const Matcher& matcher) {
  if (matcher.is_over_budget()) self.attr("_over_budget")();
}

bool accept_token(nb::handle_t<Matcher> self, int64_t id) {
  auto& matcher = *nb::inst_ptr<Matcher>(self);
  if (id < 0 || id > INT32_MAX || !matcher.accept_token(static_cast<int32_t>(id))) return false;
  warn_of_budgets(self, matcher);
  return true;
}

bool accept_string(nb::handle_t<Matcher> self, const nb::object& text) {
  auto& matcher = *nb::inst_ptr<Matcher>(self);
  std::string_view view;
  if (PyUnicode_Check(text.ptr())) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data == nullptr) throw nb::python_error();
    view = {data, static_cast<size_t>(size)};
  } else if (PyBytes_Check(text.ptr())) {
    view = {PyBytes_AS_STRING(text.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(text.ptr()))};
  } else {
    throw nb::type_error("accept_string takes str or bytes");
  }
  bool accepted;
  {
    const nb::gil_scoped_release release;
    accepted = matcher.accept_bytes(view);
  }
  if (accepted) warn_of_budgets(self, matcher);
  return accepted;
}

// The text of each step.
nb::list history(const Matcher& matcher) {
  nb::list result;
  int64_t begin = 0;
  for (size_t step = 0; step < matcher.step_count(); ++step) {
    const std::string_view text = matcher.text(begin, matcher.text_end(step));
    result.append(nb::bytes(text.data(), text.size()));
    begin = matcher.text_end(step);
  }
  return result;
}

// (index of the name, text) of each capture.
nb::list captures(const Matcher& matcher, bool deduplicate) {
  nb::list result;
  for (const Capture& capture : matcher.captures(deduplicate))
    result.append(nb::make_tuple(capture.name, nb::bytes(capture.text.data(), capture.text.size())));
  return result;
}

// The highest temperature, or -1, and whether the active rules have different ones.
nb::tuple active_temperature(Matcher& matcher) {
  const ActiveTemperatures active = matcher.temperatures();
  return nb::make_tuple(active.highest, active.differ);
}

void rollback(Matcher& matcher, int64_t steps) {
  if (steps < 0) throw nb::value_error("the number of steps to roll back must not be negative");
  if (static_cast<size_t>(steps) > matcher.step_count())
    throw std::runtime_error("cannot roll back " + std::to_string(steps) + " steps: the history has only " +
                             std::to_string(matcher.step_count()));
  matcher.rollback(static_cast<size_t>(steps));
}

}  // namespace

NB_MODULE(_native, m) {
  m.doc() = "The native core: vocabulary trie, automata, parse stacks and masks.";

  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const LimitExceeded& e) {
      const nb::object error = nb::module_::import_("grammar_core.errors").attr("GrammarLimitError");
      PyErr_SetObject(error.ptr(), error(e.what(), "limit"_a = e.limit, "value"_a = e.value).ptr());
    } catch (const Cancelled& e) {
      PyErr_SetString(nb::module_::import_("grammar_core.deadline").attr("CancelledError").ptr(), e.what());
    } catch (const InvalidGrammar& e) {
      PyErr_SetString(nb::module_::import_("grammar_core.errors").attr("GrammarError").ptr(), e.what());
    }
  });

  nb::class_<Cancellation>(m, "Cancellation")
      .def(nb::init<>())
      .def("cancel", &Cancellation::cancel)
      .def_prop_ro("is_cancelled", &Cancellation::is_cancelled);

  nb::class_<Deadline>(m, "Deadline")
      .def(nb::init<double, std::shared_ptr<Cancellation>>(), "seconds"_a, "cancellation"_a.none())
      .def("begin", &Deadline::begin)
      .def("end", &Deadline::end);
  m.def("check_deadline", &Deadline::tick);
  m.def("check_deadline_now", &Deadline::check);

  nb::class_<Vocabulary>(m, "Vocabulary")
      .def("__init__", &init_vocabulary, "tokens"_a, "stop_tokens"_a, "control_tokens"_a, "size"_a)
      .def_prop_ro("size", &Vocabulary::size)
      .def_prop_ro("memory_bytes", &Vocabulary::memory_bytes);

  nb::class_<FrameRows>(m, "FrameRows")
      .def(nb::init<size_t>(), "limit_bytes"_a)
      .def_prop_ro("memory_bytes", &FrameRows::memory_bytes);

  nb::class_<CompiledGrammar>(m, "CompiledGrammar")
      .def_prop_ro("memory_bytes", &CompiledGrammar::memory_bytes)
      .def_prop_ro("automaton_bytes", [](CompiledGrammar& self) { return self.automaton().memory_bytes(); });
  m.def("compile", &compile);

  nb::class_<MemberOrder>(m, "MemberOrder")
      .def("__init__", &init_member_order, "required"_a, "repeatable"_a, "ordered"_a, "min"_a, "max"_a,
           "implications"_a)
      .def_prop_ro("start", &MemberOrder::start)
      .def("after", &MemberOrder::after, "configuration"_a, "member"_a)
      .def("is_complete", &MemberOrder::is_complete, "configuration"_a);

  nb::class_<Matcher>(m, "Matcher")
      .def("__init__", &init_matcher, "grammar"_a, "stop_tokens"_a.none() = nb::none(),
           "ends_when_complete"_a = false)
      .def(nb::init<const Matcher&>(), "source"_a)
      .def("accept_token", &accept_token, "token_id"_a)
      .def("accept_string", &accept_string, "text"_a)
      .def("fill_next_token_bitmask", &fill_row, "bitmask"_a, "index"_a = 0)
      .def("try_fill_next_token_bitmask", &try_fill_row, "bitmask"_a, "index"_a = 0)
      .def("captures", &captures, "deduplicate"_a)
      .def("history", &history)
      .def("is_over_budget", &Matcher::is_over_budget)
      .def("_over_budget", [](const Matcher&) {})
      .def("active_temperature", &active_temperature)
      .def("find_jump_forward_string",
           [](Matcher& self) {
             const std::string text = self.forced_text();
             return nb::str(text.data(), text.size());
           })
      .def("find_jump_forward_tokens", &Matcher::forced_tokens)
      .def("rollback", &rollback, "num_tokens"_a = 1)
      .def("reset", &Matcher::reset)
      .def_prop_ro("step_count", &Matcher::step_count)
      .def("is_completed", &Matcher::is_completed)
      .def("is_terminated", &Matcher::is_terminated);

  bind_batch(m);
  bind_dfa(m);
  bind_lowering(m);
}
