// What is said about leaves that do not fit. Everything here is for the way out, and may be slow.
#pragma once

#include "request.hpp"

namespace varlen::bindings {

/// All leaves in order as one Python list, the elements of array rows among them.
py::list flat_leaves(PyObject* root, int depth);

/// The leaf at a place does not fit what was asked for.
[[noreturn]] void raise_misfit(const Misfit& misfit, PyObject* root, const Shape& shape,
                               const Request& request);

/// A number that the dtype which it shares with others does not hold exactly.
[[noreturn]] void raise_rounded(const std::string& path, const py::object& leaf, const std::string& dtype);

/// Integers that no one integer type holds, and no float beside them.
[[noreturn]] void raise_wide(PyObject* root, const Shape& shape, const Request& request);

/// "values[0][1]: 300 does not fit uint8": a number that a dtype cannot hold.
[[noreturn]] void raise_unfit(const std::string& path, const py::object& leaf, const py::object& dtype);

/// Names the first object that is neither a number nor a list nor an array.
[[noreturn]] void raise_invalid_leaf(PyObject* object, const std::string& path);

}  // namespace varlen::bindings
