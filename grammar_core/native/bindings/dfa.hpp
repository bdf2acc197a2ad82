// Deterministic automata as Python objects.
#pragma once

#include <nanobind/nanobind.h>

void bind_dfa(nanobind::module_& m);
