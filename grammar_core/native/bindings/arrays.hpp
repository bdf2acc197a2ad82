// Reading the memory of bitmask arrays: numpy arrays, anything else with a buffer, and torch tensors.
#pragma once

#include <nanobind/nanobind.h>

#include <cstring>
#include <string>

#include "vocabulary/vocabulary.hpp"

namespace syntagma {

namespace nb = nanobind;

// The words of a mask array, and how many rows of `width` it has.
struct MaskRows {
  uint32_t* words;
  size_t count;
  size_t width;

  uint32_t* row(int64_t index) const {
    if (index < 0 || static_cast<size_t>(index) >= count)
      throw nb::index_error("the bitmask has no row with that index");
    return words + static_cast<size_t>(index) * width;
  }
};

inline MaskRows checked_rows(uint32_t* words, size_t dimensions, size_t rows, size_t last, size_t width) {
  if (dimensions < 1 || dimensions > 2 || last != width)
    throw nb::value_error("the bitmask must have shape (batch, ceil(vocab_size / 32)), or be one row of it");
  return {words, dimensions == 2 ? rows : 1, width};
}

inline MaskRows rows_of_buffer(PyObject* array, size_t width) {
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
inline MaskRows rows_of_tensor(nb::handle tensor, size_t width) {
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

// Throws TypeError or ValueError for an array of another kind or shape.
inline MaskRows mask_rows(nb::handle bitmask, const Vocabulary& vocabulary) {
  const auto width = static_cast<size_t>(vocabulary.mask_words());
  return PyObject_CheckBuffer(bitmask.ptr()) ? rows_of_buffer(bitmask.ptr(), width)
                                             : rows_of_tensor(bitmask, width);
}

}  // namespace syntagma
