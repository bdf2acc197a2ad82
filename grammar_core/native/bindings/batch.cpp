#include "bindings/batch.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bindings/arrays.hpp"
#include "parser/draft_tree.hpp"
#include "parser/thread_pool.hpp"

namespace syntagma {
namespace {

using namespace nb::literals;
using Links = nb::ndarray<const int64_t, nb::ndim<1>, nb::device::cpu, nb::c_contig>;
using Temperatures = nb::ndarray<float, nb::ndim<1>, nb::device::cpu, nb::c_contig>;

void fill_all(ThreadPool& pool, const std::vector<Matcher*>& matchers, nb::handle bitmask,
              const std::vector<int64_t>& indices) {
  if (matchers.size() != indices.size()) throw nb::value_error("there must be one index for each matcher");
  std::vector<uint32_t*> rows;
  for (size_t i = 0; i < matchers.size(); ++i)
    rows.push_back(mask_rows(bitmask, matchers[i]->grammar().vocabulary()).row(indices[i]));
  const nb::gil_scoped_release release;
  pool.for_each(matchers.size(), [&](size_t i) { matchers[i]->fill_mask(rows[i]); });
}

std::vector<bool> accept_tokens(ThreadPool& pool, const std::vector<Matcher*>& matchers,
                                const std::vector<int32_t>& tokens) {
  if (matchers.size() != tokens.size()) throw nb::value_error("there must be one token for each matcher");
  std::vector<uint8_t> accepted(matchers.size());
  {
    const nb::gil_scoped_release release;
    pool.for_each(matchers.size(), [&](size_t i) { accepted[i] = matchers[i]->accept_token(tokens[i]); });
  }
  return {accepted.begin(), accepted.end()};
}

std::vector<bool> accept_texts(ThreadPool& pool, const std::vector<Matcher*>& matchers,
                               const std::vector<nb::bytes>& texts) {
  if (matchers.size() != texts.size()) throw nb::value_error("there must be one text for each matcher");
  std::vector<std::string_view> views;
  for (const nb::bytes& text : texts) views.emplace_back(text.c_str(), text.size());
  std::vector<uint8_t> accepted(matchers.size());
  {
    const nb::gil_scoped_release release;
    pool.for_each(matchers.size(), [&](size_t i) { accepted[i] = matchers[i]->accept_bytes(views[i]); });
  }
  return {accepted.begin(), accepted.end()};
}

std::span<const int64_t> span_of(const Links& links) { return {links.data(), links.shape(0)}; }

bool traverse(Matcher& matcher, const Links& first_child, const Links& next_sibling, const Links& tokens,
              nb::handle bitmask, double seconds, std::optional<Temperatures> temperatures,
              float default_temperature) {
  const MaskRows rows = mask_rows(bitmask, matcher.grammar().vocabulary());
  const DraftTree tree{span_of(first_child), span_of(next_sibling), span_of(tokens)};
  if (rows.count < tree.tokens.size()) throw nb::value_error("the bitmask needs a row for each node");
  if (temperatures && temperatures->shape(0) < tree.tokens.size())
    throw nb::value_error("temperatures needs an entry for each node");
  const DraftResults results{rows.words, rows.width, temperatures ? temperatures->data() : nullptr,
                             default_temperature};
  const nb::gil_scoped_release release;
  return traverse_draft_tree(matcher, tree, results, seconds);
}

}  // namespace

void bind_batch(nb::module_& m) {
  nb::class_<ThreadPool>(m, "ThreadPool")
      .def(nb::init<int>(), "threads"_a)
      .def("fill_masks", &fill_all, "matchers"_a, "bitmask"_a, "indices"_a)
      .def("accept_tokens", &accept_tokens, "matchers"_a, "tokens"_a)
      .def("accept_texts", &accept_texts, "matchers"_a, "texts"_a);
  m.def("traverse_draft_tree", &traverse, "matcher"_a, "first_child"_a, "next_sibling"_a, "tokens"_a,
        "bitmask"_a, "seconds"_a, "temperatures"_a.none(), "default_temperature"_a);
}

}  // namespace syntagma
