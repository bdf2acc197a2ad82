// Python bindings: conversions only.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <string>

#include "automaton/errors.hpp"
#include "automaton/expression.hpp"
#include "parser/matcher.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace syntagma;

namespace {

void write_mask(const Matcher& matcher, const Row& row, uint32_t* words) {
  row.write(matcher.grammar().vocabulary(), words);
}

bool fill(Matcher& matcher, uint32_t* words) {
  if (const Row* known = matcher.quick_mask()) {
    write_mask(matcher, *known, words);
    return true;
  }
  const nb::gil_scoped_release release;
  write_mask(matcher, matcher.next_mask(), words);
  return true;
}

// The words of a mask array, and how many rows of `width` it has.
struct MaskRows {
  uint32_t* words;
  size_t count;
};

MaskRows checked_rows(uint32_t* words, size_t dimensions, size_t rows, size_t last, size_t width) {
  if (dimensions < 1 || dimensions > 2 || last != width)
    throw nb::value_error("the bitmask must have shape (batch, ceil(vocab_size / 32)), or be one row of it");
  return {words, dimensions == 2 ? rows : 1};
}

MaskRows rows_of_buffer(PyObject* array, size_t width) {
  Py_buffer view;
  if (PyObject_GetBuffer(array, &view, PyBUF_WRITABLE | PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) != 0)
    throw nb::python_error();
  const bool int32 = view.itemsize == 4 && view.format != nullptr &&
                     (std::strcmp(view.format, "i") == 0 || std::strcmp(view.format, "l") == 0);
  auto* words = static_cast<uint32_t*>(view.buf);
  const auto dimensions = static_cast<size_t>(view.ndim);
  const auto rows = static_cast<size_t>(view.ndim > 0 ? view.shape[0] : 0);
  const auto last = static_cast<size_t>(view.ndim > 0 ? view.shape[view.ndim - 1] : 0);
  PyBuffer_Release(&view);  // the caller's reference keeps the memory
  if (!int32) throw nb::type_error("the bitmask must be of dtype int32");
  return checked_rows(words, dimensions, rows, last, width);
}

// Torch tensors have no buffer protocol, and their DLPack export costs microseconds.
MaskRows rows_of_tensor(nb::handle tensor, size_t width) {
  static PyObject* const shape_name = PyUnicode_InternFromString("shape");
  static PyObject* const address_name = PyUnicode_InternFromString("data_ptr");
  static PyObject* const contiguous_name = PyUnicode_InternFromString("is_contiguous");
  static PyObject* const dtype_name = PyUnicode_InternFromString("dtype");
  static PyObject* const is_cpu_name = PyUnicode_InternFromString("is_cpu");
  static const nb::object int32 = nb::module_::import_("torch").attr("int32");
  const auto call = [&](PyObject* name) {
    PyObject* result = PyObject_CallMethodNoArgs(tensor.ptr(), name);
    if (result == nullptr) throw nb::python_error();
    return nb::steal(result);
  };
  const auto get = [&](PyObject* name) {
    PyObject* result = PyObject_GetAttr(tensor.ptr(), name);
    if (result == nullptr) throw nb::python_error();
    return nb::steal(result);
  };
  if (!get(dtype_name).is(int32) || get(is_cpu_name).ptr() != Py_True ||
      call(contiguous_name).ptr() != Py_True)
    throw nb::type_error("the bitmask must be a contiguous int32 tensor on the CPU");
  const nb::object shape = get(shape_name);
  const size_t dimensions = nb::len(shape);
  const auto extent = [&](size_t i) { return nb::cast<size_t>(shape[i]); };
  auto* words = reinterpret_cast<uint32_t*>(nb::cast<uintptr_t>(call(address_name)));
  return checked_rows(words, dimensions, dimensions > 0 ? extent(0) : 0,
                      dimensions > 0 ? extent(dimensions - 1) : 0, width);
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
                                         std::shared_ptr<Vocabulary> vocabulary, size_t mask_bytes_limit) {
  std::vector<int64_t> words(program.size() / sizeof(int64_t));
  std::memcpy(words.data(), program.c_str(), words.size() * sizeof(int64_t));
  std::string text(literals.c_str(), literals.size());
  const nb::gil_scoped_release release;
  GrammarSource source = decode_program(words, std::move(text), std::move(rule_names), root);
  return std::make_shared<CompiledGrammar>(std::move(source), std::move(vocabulary), mask_bytes_limit);
}

bool fill_row(Matcher& matcher, nb::handle bitmask, int64_t index) {
  const auto width = static_cast<size_t>(matcher.grammar().vocabulary().mask_words());
  const MaskRows rows = PyObject_CheckBuffer(bitmask.ptr()) ? rows_of_buffer(bitmask.ptr(), width)
                                                            : rows_of_tensor(bitmask, width);
  if (index < 0 || static_cast<size_t>(index) >= rows.count)
    throw nb::index_error("the bitmask has no row with that index");
  return fill(matcher, rows.words + static_cast<size_t>(index) * width);
}

bool accept_string(Matcher& matcher, const nb::object& text) {
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
  const nb::gil_scoped_release release;
  return matcher.accept_bytes(view);
}

// (index of the name, text) of each capture.
nb::list captures(const Matcher& matcher, bool deduplicate) {
  nb::list result;
  for (const CaptureEvent& event : matcher.captures(deduplicate)) {
    const std::string_view text = matcher.text(event.begin, event.end);
    result.append(nb::make_tuple(event.symbol, nb::bytes(text.data(), text.size())));
  }
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
    } catch (const InvalidGrammar& e) {
      PyErr_SetString(nb::module_::import_("grammar_core.errors").attr("GrammarError").ptr(), e.what());
    }
  });

  nb::class_<Vocabulary>(m, "Vocabulary")
      .def("__init__", &init_vocabulary, "tokens"_a, "stop_tokens"_a, "control_tokens"_a, "size"_a)
      .def_prop_ro("size", &Vocabulary::size)
      .def_prop_ro("memory_bytes", &Vocabulary::memory_bytes);

  nb::class_<CompiledGrammar>(m, "CompiledGrammar")
      .def_prop_ro("memory_bytes", &CompiledGrammar::memory_bytes);
  m.def("compile", &compile);

  nb::class_<Matcher>(m, "Matcher")
      .def(nb::init<std::shared_ptr<CompiledGrammar>>(), "source"_a)
      .def(nb::init<const Matcher&>(), "source"_a)
      .def("accept_token", &Matcher::accept_token, "token_id"_a)
      .def("accept_string", &accept_string, "text"_a)
      .def("fill_next_token_bitmask", &fill_row, "bitmask"_a, "index"_a = 0)
      .def(
          "fill_next_token_bitmask_at",
          [](Matcher& self, uintptr_t address) { return fill(self, reinterpret_cast<uint32_t*>(address)); },
          "address"_a)
      .def("captures", &captures, "deduplicate"_a)
      .def("active_temperature", &active_temperature)
      .def("rollback", &rollback, "num_tokens"_a = 1)
      .def("reset", &Matcher::reset)
      .def_prop_ro("step_count", &Matcher::step_count)
      .def("is_completed", &Matcher::is_completed)
      .def("is_terminated", &Matcher::is_terminated);
}
