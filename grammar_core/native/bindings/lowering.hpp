#pragma once

#include <nanobind/nanobind.h>

void bind_lowering(nanobind::module_& m);
