//===- ShapeRules.cpp - Types of external operators -----------------------===//

#include "ShapeRules.h"
#include "parsers/Fuzzing.h"

using namespace glowish;
using namespace glowish::parsers;

/// The rules are asked for the types of a use with two inputs, one of which is
/// absent in another use.
GLOWISH_PARSER_FUZZER(shaperules) {
  auto rules = accept(ShapeRules::parse(input, "rules"));
  if (!rules)
    return;
  ExternalUse use;
  use.inputs = {Type(ElemKind::Float, {2, 3, 4}), Type(ElemKind::Int64, {3})};
  use.constants = {nullptr, nullptr};
  use.attributes.push_back({"axis", int64_t(1)});
  accept(rules->infer(use));
  use.inputs[1] = std::nullopt;
  accept(rules->infer(use));
}
