//===- Variables.cpp - Values that are kept from run to run ---------------===//

#include "TFLite/Variables.h"
#include "TFLite/Boundary.h"

using namespace glowish;
using namespace glowish::tflite;

NodeValue VariableScope::read(TFLiteVariable &variable) {
  auto found = values.find(&variable);
  if (found != values.end())
    return found->second.now;
  NodeValue value = body ? body->enter(outer->read(variable))
                         : createVariable(*function, variable);
  begin(variable, value);
  return value;
}

std::vector<TFLiteVariable *> VariableScope::getAssigned() const {
  std::vector<TFLiteVariable *> assigned;
  for (const auto &[variable, value] : values)
    if (value.now != value.before)
      assigned.push_back(variable);
  return assigned;
}

bool VariableScope::isAsBeforeRun(TFLiteVariable &variable) {
  if (body)
    return false;
  read(variable);
  const Value &value = values[&variable];
  return value.now == value.before;
}

void VariableScope::save() {
  for (TFLiteVariable *variable : getAssigned()) {
    if (!variable->placeholder)
      createVariable(*function, *variable);
    saveVariable(*function, *variable, values[variable].now);
  }
}
