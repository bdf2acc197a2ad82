#include "bindings/dfa.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <string>

#include "automaton/deadline.hpp"
#include "automaton/dfa.hpp"
#include "automaton/time_limit.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace syntagma;

namespace {

constexpr double kSeconds = 2.0;

// Runs `work` without the GIL and within the limit on time.
template <typename Work>
auto compute(Work work) {
  Deadline::check();
  const nb::gil_scoped_release release;
  const TimeLimit limit("Working out a set of texts", kSeconds);
  return work();
}

std::u32string code_points(const nb::str& text) {
  const Py_ssize_t size = PyUnicode_GET_LENGTH(text.ptr());
  std::u32string result(static_cast<size_t>(size), U'\0');
  if (size > 0 && PyUnicode_AsUCS4(text.ptr(), reinterpret_cast<Py_UCS4*>(result.data()), size, 0) == nullptr)
    throw nb::python_error();
  return result;
}

nb::str python_text(const std::u32string& text) {
  return nb::steal<nb::str>(
      PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, text.data(), static_cast<Py_ssize_t>(text.size())));
}

Dfa from_program(const nb::bytes& program, const nb::bytes& literals) {
  std::vector<int64_t> words(program.size() / sizeof(int64_t));
  std::memcpy(words.data(), program.c_str(), words.size() * sizeof(int64_t));
  std::string text(literals.c_str(), literals.size());
  return compute([&] { return determinize(decode_program(words, std::move(text), {"root"}, 0)); });
}

// One of the two automata itself where the result is that.
nb::object combined(const nb::handle_t<Dfa>& one, const nb::handle_t<Dfa>& other, SetOperation operation) {
  const Dfa &first = nb::cast<const Dfa&>(one), &second = nb::cast<const Dfa&>(other);
  Combination found = compute([&] { return combine(first, second, operation); });
  if (found.kind == Combination::Kind::kOne) return nb::borrow(one);
  if (found.kind == Combination::Kind::kOther) return nb::borrow(other);
  return nb::cast(std::move(found.dfa));
}

Dfa with_length(const Dfa& dfa, int64_t min, std::optional<int64_t> max) {
  if (min < 0 || (max && *max < 0)) throw nb::value_error("a length is not negative");
  return compute([&] { return limit_length(dfa, min, max.value_or(kUnbounded)); });
}

nb::object count_object(int64_t count) {
  return count == kUnbounded ? nb::none() : nb::object(nb::int_(count));
}

nb::tuple lengths(const Dfa& dfa) {
  const LengthRange range = compute([&] { return length_range(dfa); });
  return nb::make_tuple(range.min, count_object(range.max));
}

nb::object texts(const Dfa& dfa, size_t limit) {
  const auto found = compute([&] { return all_texts(dfa, limit); });
  if (!found) return nb::none();
  nb::list result;
  for (const std::u32string& text : *found) result.append(python_text(text));
  return result;
}

nb::tuple ranges_tuple(const std::vector<CodePointRange>& ranges) {
  nb::list pairs;
  for (const CodePointRange range : ranges) pairs.append(nb::make_tuple(range.low, range.high));
  return nb::tuple(pairs);
}

// (accepting states, edges: tuples of source, target and label, number of states). `labels_of` gets the
// ranges of a set of characters and gives the labels that are to stand for it, of which each is an edge. With
// `repeat`, edges may stand for chains of states: it gets labels and two counts, and gives one label.
nb::tuple edges(const Dfa& dfa, const nb::callable& labels_of, const std::optional<nb::callable>& repeat) {
  const DfaEdges gathered =
      compute([&] { return repeat ? fold_runs(gather_edges(dfa)) : gather_edges(dfa); });
  std::vector<nb::tuple> labels;
  for (const auto& ranges : gathered.labels)
    labels.push_back(nb::cast<nb::tuple>(labels_of(ranges_tuple(ranges))));
  const auto is_single = [](const DfaEdges::Edge& edge) { return edge.min == 1 && edge.max == 1; };
  size_t count = 0;
  for (const auto& edge : gathered.edges) count += is_single(edge) ? labels[edge.label].size() : 1;
  nb::object triples = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
  if (!triples.is_valid()) throw nb::python_error();
  Py_ssize_t next = 0;
  const auto add = [&](const DfaEdges::Edge& edge, nb::handle label) {
    PyTuple_SET_ITEM(triples.ptr(), next++, nb::make_tuple(edge.source, edge.target, label).release().ptr());
  };
  for (const auto& edge : gathered.edges)
    if (is_single(edge))
      for (const nb::handle label : labels[edge.label]) add(edge, label);
    else
      add(edge, (*repeat)(labels[edge.label], edge.min, count_object(edge.max)));
  nb::list accepting;
  for (size_t state = 0; state < gathered.accepts.size(); ++state)
    if (gathered.accepts[state]) accepting.append(state);
  return nb::make_tuple(nb::tuple(accepting), triples, gathered.accepts.size());
}

}  // namespace

void bind_dfa(nb::module_& m) {
  nb::class_<Dfa>(m, "Dfa")
      .def_static("from_program", &from_program, "words"_a, "literals"_a)
      .def("intersect",
           [](nb::handle_t<Dfa> one, nb::handle_t<Dfa> other) {
             return combined(one, other, SetOperation::kIntersection);
           })
      .def("unite", [](nb::handle_t<Dfa> one,
                       nb::handle_t<Dfa> other) { return combined(one, other, SetOperation::kUnion); })
      .def("subtract",
           [](nb::handle_t<Dfa> one, nb::handle_t<Dfa> other) {
             return combined(one, other, SetOperation::kDifference);
           })
      .def("complement", [](const Dfa& dfa) { return compute([&] { return complement(dfa); }); })
      .def("with_length", &with_length, "min"_a, "max"_a.none())
      .def_prop_ro("state_count", &Dfa::state_count)
      .def("is_empty", [](const Dfa& dfa) { return is_empty(dfa); })
      .def("is_universal", [](const Dfa& dfa) { return is_universal(dfa); })
      .def("contains", [](const Dfa& dfa, const nb::str& text) { return contains(dfa, code_points(text)); })
      .def("can_be_extended", [](const Dfa& dfa) { return compute([&] { return can_be_extended(dfa); }); })
      .def("is_endless", [](const Dfa& dfa) { return compute([&] { return is_endless(dfa); }); })
      .def("length_range", &lengths)
      .def("shortest_text",
           [](const Dfa& dfa) { return python_text(compute([&] { return shortest_text(dfa); })); })
      .def("all_texts", &texts, "limit"_a)
      .def("edges", &edges, "labels_of"_a, "repeat"_a.none() = nb::none());
}
