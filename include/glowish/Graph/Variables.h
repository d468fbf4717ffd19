//===- Variables.h - What training changes ----------------------*- C++ -*-===//

#ifndef GLOWISH_GRAPH_VARIABLES_H
#define GLOWISH_GRAPH_VARIABLES_H

#include "glowish/Base/Tensor.h"
#include <map>
#include <memory>
#include <string>

namespace glowish {

/// Values of variables, by their names in the model. A variable is a
/// placeholder that is an input and an output at once.
using VariableValues = std::map<std::string, std::shared_ptr<const Tensor>>;

} // namespace glowish

#endif // GLOWISH_GRAPH_VARIABLES_H
