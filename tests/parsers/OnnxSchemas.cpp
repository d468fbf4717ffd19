//===- OnnxSchemas.cpp - What ONNX says of its operators ------------------===//

#include "parsers/OnnxSchemas.h"
#include "glowish/Importer/ONNX.h"
#include <onnx/defs/schema.h>
#include <set>

using namespace glowish;
using namespace glowish::parsers;

static OnnxOperator makeOperator(const std::string &name) {
  const onnx::OpSchema *schema = onnx::OpSchemaRegistry::Schema(name);
  if (!schema)
    return {name, 1, 2, 1, {}};
  OnnxOperator result = {name,
                         schema->min_input(),
                         std::min(schema->max_input(), 8),
                         schema->min_output(),
                         {}};
  for (const auto &[attribute, info] : schema->attributes())
    result.attributes.push_back({attribute, int(info.type)});
  return result;
}

const std::vector<OnnxOperator> &glowish::parsers::getOnnxOperators() {
  static const std::vector<OnnxOperator> operators = [] {
    std::vector<OnnxOperator> list;
    for (const auto &[name, versions] : listOnnxOperators())
      if (name.find('.') == std::string::npos)
        list.push_back(makeOperator(name));
    return list;
  }();
  return operators;
}

std::vector<std::string> glowish::parsers::listAttributeNames() {
  std::set<std::string> names;
  for (const OnnxOperator &op : getOnnxOperators())
    for (const OnnxOperator::Attribute &attribute : op.attributes)
      names.insert(attribute.name);
  return {names.begin(), names.end()};
}
