//===- Variables.h - Values of trainable variables --------------*- C++ -*-===//

#ifndef GLOWISH_GRAPH_VARIABLES_H
#define GLOWISH_GRAPH_VARIABLES_H

#include "glowish/Base/Tensor.h"
#include <map>
#include <memory>
#include <string>

namespace glowish {

/// Values of variables, by their names in the model. A variable is a
/// placeholder that is both an input and an output.
using VariableValues = std::map<std::string, std::shared_ptr<const Tensor>>;

} // namespace glowish

#endif // GLOWISH_GRAPH_VARIABLES_H
