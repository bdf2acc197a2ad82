// From the nodes of a grammar (grammar_core/ir/nodes.py) to the program of automaton/expression.hpp. The
// nodes are named tuples, so their fields are read by position.
#include "bindings/lowering.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "automaton/deadline.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

constexpr int64_t kNone = -1, kUnbounded = -1;
constexpr int64_t kLargestCount = int64_t{1} << 62;

enum Code : int64_t {
  kLiteral,
  kCharClass,
  kRuleRef,
  kSequence,
  kChoice,
  kRepeat,
  kEndOfRule,
  kAutomaton,
  kTokenSet,
  kMembers,
  kOtherTexts,
};

// The classes of the nodes, in the order in which grammar_core/lowering.py passes them.
enum Kind : size_t {
  kLiteralNode,
  kRuleRefNode,
  kSequenceNode,
  kChoiceNode,
  kCharClassNode,
  kRepeatNode,
  kRegexNode,
  kMembersNode,
  kAutomatonNode,
  kTokenSetNode,
  kOtherTextsNode,
  kCountedAutomatonNode,
  kKindCount
};

[[noreturn]] void fail() { throw nb::python_error(); }

// The fields of a node or the items of a tuple, none of which owns what it refers to.
class Fields {
 public:
  explicit Fields(PyObject* tuple, Py_ssize_t at_least = 0) : tuple_(tuple) {
    if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) < at_least)
      throw nb::type_error("a node of a grammar has a field of a wrong type");
  }
  Py_ssize_t size() const { return PyTuple_GET_SIZE(tuple_); }
  PyObject* operator[](Py_ssize_t index) const { return PyTuple_GET_ITEM(tuple_, index); }
  PyObject* const* begin() const { return reinterpret_cast<PyTupleObject*>(tuple_)->ob_item; }
  PyObject* const* end() const { return begin() + size(); }

 private:
  PyObject* tuple_;
};

int64_t integer(PyObject* value) {
  const int64_t result = PyLong_AsLongLong(value);
  if (result == -1 && PyErr_Occurred()) fail();
  return result;
}

int64_t optional(PyObject* value) { return value == Py_None ? kNone : integer(value); }

bool truth(PyObject* value) {
  const int result = PyObject_IsTrue(value);
  if (result < 0) fail();
  return result != 0;
}

// No text is long enough to tell larger counts apart.
int64_t count(PyObject* value) {
  int overflow = 0;
  const int64_t result = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow > 0) return kLargestCount;
  if (result == -1 && PyErr_Occurred()) fail();
  return std::min(result, kLargestCount);
}

struct Bounds {
  int64_t min, max;
};

Bounds bounds(const Fields& repeat) {
  const int64_t max = repeat[2] == Py_None ? kUnbounded : count(repeat[2]);
  return {count(repeat[1]), max == kLargestCount ? kUnbounded : max};
}

int64_t multiply_bounds(int64_t one, int64_t other) {
  int64_t product;
  if (one == kUnbounded || other == kUnbounded || __builtin_mul_overflow(one, other, &product) ||
      product > kLargestCount)
    return kUnbounded;
  return product;
}

std::string_view utf8(PyObject* text) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text, &size);
  if (data == nullptr) fail();
  return {data, static_cast<size_t>(size)};
}

class ProgramWriter {
 public:
  ProgramWriter(const nb::tuple& kinds, const nb::dict& index_of_rule, const nb::dict& expansions)
      : index_of_rule_(index_of_rule), expansions_(expansions) {
    if (kinds.size() != kKindCount) throw nb::value_error("the node classes are not the known ones");
    for (size_t kind = 0; kind < kKindCount; ++kind)
      kinds_[kind] = reinterpret_cast<PyTypeObject*>(kinds[kind].ptr());
  }

  // Appends the expressions of a rule and its end.
  void write_rule(PyObject* body, PyObject* options) {
    pending_.push_back(body);
    while (!pending_.empty()) {
      syntagma::Deadline::tick();
      PyObject* node = pending_.back();
      pending_.pop_back();
      starts_.push_back(backwards_.size());
      write_node(node);
    }
    for (size_t end = backwards_.size(); !starts_.empty(); starts_.pop_back()) {
      words_.insert(words_.end(), backwards_.begin() + static_cast<std::ptrdiff_t>(starts_.back()),
                    backwards_.begin() + static_cast<std::ptrdiff_t>(end));
      end = starts_.back();
    }
    backwards_.clear();
    write_end(options);
  }

  nb::tuple result() const {
    return nb::make_tuple(nb::bytes(words_.data(), words_.size() * sizeof(int64_t)),
                          nb::bytes(literals_.data(), literals_.size()), capture_names_);
  }

 private:
  void put(std::initializer_list<int64_t> words) {
    backwards_.insert(backwards_.end(), words.begin(), words.end());
  }

  // The operation of a node; what stands inside it is written after it and read before it.
  void write_node(PyObject* node) {
    const auto kind = std::find(kinds_.begin(), kinds_.end(), Py_TYPE(node)) - kinds_.begin();
    switch (static_cast<Kind>(kind)) {
      case kLiteralNode:
        return write_literal(Fields(node, 1)[0]);
      case kRuleRefNode:
        return put({kRuleRef, number_of_rule(node)});
      case kSequenceNode:
      case kChoiceNode: {
        const Fields items(Fields(node, 1)[0]);
        put({kind == kSequenceNode ? kSequence : kChoice, items.size()});
        pending_.insert(pending_.end(), items.begin(), items.end());
        return;
      }
      case kCharClassNode:
        return write_char_class(node);
      case kRepeatNode:
        return write_repeat(node);
      case kRegexNode:
        pending_.push_back(Fields(node, 4)[3]);
        return;
      case kMembersNode:
        return write_members(Fields(node, 6));
      case kAutomatonNode:
        return write_automaton(Fields(node, 3), {0, kUnbounded});
      case kCountedAutomatonNode:
        return write_automaton(Fields(Fields(node, 3)[0], 3), bounds(Fields(node)));
      case kTokenSetNode:
        return write_token_set(Fields(node, 2));
      case kOtherTextsNode:
        return write_other_texts(Fields(node, 2));
      case kKindCount:
        break;
    }
    expand(node);
  }

  void expand(PyObject* node) {
    auto* type = reinterpret_cast<PyObject*>(Py_TYPE(node));
    PyObject* expansion = PyDict_GetItemWithError(expansions_.ptr(), type);
    if (expansion == nullptr) {
      if (!PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, type);
      fail();
    }
    expanded_.push_back(nb::steal(PyObject_CallOneArg(expansion, node)));
    if (!expanded_.back().is_valid()) fail();
    pending_.push_back(expanded_.back().ptr());
  }

  int64_t number_of_rule(PyObject* reference) const {
    PyObject* name = Fields(reference, 1)[0];
    PyObject* number = PyDict_GetItemWithError(index_of_rule_.ptr(), name);
    if (number == nullptr) {
      if (!PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, name);
      fail();
    }
    return integer(number);
  }

  void write_literal(PyObject* value) {
    char* data = nullptr;
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(value, &data, &size) != 0) fail();
    put({kLiteral, static_cast<int64_t>(literals_.size()), size});
    literals_.append(data, static_cast<size_t>(size));
  }

  void write_char_class(PyObject* node) {
    const Fields ranges(Fields(node, 1)[0]);
    put({kCharClass, ranges.size()});
    for (PyObject* range : ranges) put({integer(Fields(range, 2)[0]), integer(Fields(range, 2)[1])});
  }

  // One repetition for directly nested ones, so that nobody counts the ways to split the same text:
  // `(x{a,b}){c,d}` takes every number of x from ac to bd when a is 0 or 1.
  void write_repeat(PyObject* node) {
    auto [min, max] = bounds(Fields(node, 3));
    PyObject* body = Fields(node)[0];
    while (Py_TYPE(body) == kinds_[kRepeatNode]) {
      const Bounds inner = bounds(Fields(body, 3));
      if (inner.min > 1 || inner.max == 0 || max == 0) break;
      max = multiply_bounds(max, inner.max);
      min *= inner.min;
      body = Fields(body)[0];
    }
    put({kRepeat, min, max});
    pending_.push_back(body);
  }

  void write_members(const Fields& fields) {
    const Fields members(fields[0]), implications(fields[5]);
    PyObject* separator = fields[1];
    put({kMembers, members.size(), separator != Py_None, truth(fields[2]), integer(fields[3]),
         optional(fields[4])});
    for (PyObject* item : members) {
      const Fields member(item, 4);
      put({truth(member[1]), truth(member[2]), truth(member[3])});
      pending_.push_back(member[0]);
    }
    if (separator != Py_None) pending_.push_back(separator);
    put({implications.size()});
    for (PyObject* pair : implications) put({integer(Fields(pair, 2)[0]), integer(Fields(pair, 2)[1])});
  }

  void write_automaton(const Fields& fields, Bounds edge_bounds) {
    const Fields edges(fields[0]), accepting(fields[1]);
    for (PyObject* edge : edges) write_label(Fields(edge, 3)[2]);
    put({kAutomaton, integer(fields[2]), edge_bounds.min, edge_bounds.max, accepting.size()});
    for (PyObject* state : accepting) put({integer(state)});
    put({edges.size()});
    for (PyObject* edge : edges) put({integer(Fields(edge)[0]), integer(Fields(edge)[1])});
  }

  void write_label(PyObject* label) {
    if (Py_TYPE(label) == kinds_[kRuleRefNode])
      put({kRuleRef, number_of_rule(label)});
    else
      write_char_class(label);
  }

  void write_token_set(const Fields& fields) {
    const Fields ids(fields[0]);
    put({kTokenSet, truth(fields[1]), ids.size()});
    for (PyObject* id : ids) put({integer(id)});
  }

  void write_other_texts(const Fields& fields) {
    const Fields texts(fields[1]);
    put({kOtherTexts, texts.size()});
    for (PyObject* text : texts) {
      const std::string_view spelled = utf8(text);
      put({static_cast<int64_t>(literals_.size()), static_cast<int64_t>(spelled.size())});
      literals_ += spelled;
    }
    pending_.push_back(fields[0]);
  }

  void write_end(PyObject* rule_options) {
    const Fields options(rule_options, 10);
    const double temperature = options[4] == Py_None ? kNone : PyFloat_AsDouble(options[4]);
    if (PyErr_Occurred()) fail();
    const int64_t capture = number_of_capture(options[2]), stop_capture = number_of_capture(options[9]);
    for (const int64_t word :
         {int64_t{kEndOfRule}, int64_t{truth(options[3])}, capture, std::bit_cast<int64_t>(temperature),
          optional(options[0]), optional(options[1]), stop_capture, optional(options[5]),
          optional(options[6]), optional(options[7]), optional(options[8])})
      words_.push_back(word);
  }

  int64_t number_of_capture(PyObject* name) {
    if (name == Py_None) return kNone;
    capture_names_.append(nb::handle(name));
    return static_cast<int64_t>(capture_names_.size()) - 1;
  }

  std::array<PyTypeObject*, kKindCount> kinds_;
  nb::dict index_of_rule_, expansions_;
  std::vector<int64_t> words_;
  std::string literals_;
  nb::list capture_names_;
  std::vector<PyObject*> pending_;  // borrowed from the rules and from `expanded_`
  std::vector<nb::object> expanded_;
  std::vector<int64_t> backwards_;  // of one rule: operations, parents before children, last child first
  std::vector<size_t> starts_;      // of those operations
};

nb::tuple lower_rules(const nb::tuple& kinds, const nb::tuple& rules, const nb::dict& index_of_rule,
                      const nb::dict& expansions) {
  ProgramWriter writer(kinds, index_of_rule, expansions);
  for (PyObject* rule : Fields(rules.ptr())) {
    const Fields fields(rule, 3);
    writer.write_rule(fields[1], fields[2]);
  }
  return writer.result();
}

}  // namespace

void bind_lowering(nb::module_& m) {
  m.def("lower_rules", &lower_rules, "kinds"_a, "rules"_a, "index_of_rule"_a, "expansions"_a);
}
