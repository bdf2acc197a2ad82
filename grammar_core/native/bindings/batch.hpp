// Bindings of what handles many matchers or many nodes in one call.
#pragma once

#include <nanobind/nanobind.h>

namespace syntagma {

void bind_batch(nanobind::module_& m);

}  // namespace syntagma
