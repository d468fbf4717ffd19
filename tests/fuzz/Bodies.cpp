//===- Bodies.cpp - Changes of graphs with control flow -------------------===//

#include "Bodies.h"

using namespace glowish;
using namespace glowish::fuzz;

void fuzz::forEachEntry(GraphSpec &spec,
                        llvm::function_ref<void(Entry &)> change) {
  for (Entry &entry : spec.entries) {
    change(entry);
    for (GraphSpec &body : entry.bodies)
      forEachEntry(body, change);
  }
}

void fuzz::inlineBody(GraphSpec &target, size_t i, size_t b) {
  Entry entry = std::move(target.entries[i]);
  GraphSpec body = std::move(entry.bodies[b]);
  bool isLoop = entry.kind == NodeKind::Loop;
  std::vector<ValueRef> values;
  std::vector<Entry> added;
  auto add = [&](Entry value) {
    added.push_back(std::move(value));
    return ValueRef{int(i + added.size()) - 1, 0};
  };
  for (unsigned p = 0; p < body.numParameters; ++p) {
    if (!isLoop || p >= 2) {
      values.push_back(entry.operands[p + (isLoop ? 0 : 1)]);
      continue;
    }
    // The number and the condition of a loop's first run.
    Entry constant;
    constant.kind = NodeKind::Constant;
    constant.types = body.entries[p].types;
    constant.name = "positive0";
    values.push_back(add(std::move(constant)));
  }
  auto map = [&](ValueRef value) {
    if (!value)
      return value;
    ValueRef mapped = values[value.entry];
    return body.isParameter(value.entry) ? mapped
                                         : ValueRef{mapped.entry, value.result};
  };
  for (size_t e = body.numParameters; e < body.entries.size(); ++e) {
    for (ValueRef &operand : body.entries[e].operands)
      operand = map(operand);
    values.push_back(add(std::move(body.entries[e])));
  }
  int shift = int(added.size()) - 1;
  auto replace = [&](ValueRef &value) {
    if (value.entry == int(i)) {
      size_t output = std::min<size_t>(value.result + (isLoop ? 1 : 0),
                                       body.outputs.size() - 1);
      value = map(body.outputs[output].value);
    } else if (value.entry > int(i)) {
      value.entry += shift;
    }
  };
  for (size_t e = i + 1; e < target.entries.size(); ++e)
    llvm::for_each(target.entries[e].operands, replace);
  for (Output &output : target.outputs) {
    replace(output.value);
    if (output.state > int(i))
      output.state += shift;
  }
  target.entries.erase(target.entries.begin() + i);
  target.entries.insert(target.entries.begin() + i,
                        std::make_move_iterator(added.begin()),
                        std::make_move_iterator(added.end()));
}

void fuzz::removeCapture(Entry &entry, size_t operand) {
  size_t parameter = entry.kind == NodeKind::Loop ? operand : operand - 1;
  entry.operands.erase(entry.operands.begin() + operand);
  for (GraphSpec &body : entry.bodies) {
    for (Entry &inner : body.entries)
      for (ValueRef &value : inner.operands)
        value.entry -= value.entry > int(parameter);
    for (Output &output : body.outputs)
      output.value.entry -= output.value.entry > int(parameter);
    body.entries.erase(body.entries.begin() + parameter);
    --body.numParameters;
  }
}

bool fuzz::usesValue(const GraphSpec &spec, int entry) {
  auto isUse = [&](ValueRef value) { return value.entry == entry; };
  return llvm::any_of(spec.entries,
                      [&](const Entry &user) {
                        return llvm::any_of(user.operands, isUse);
                      }) ||
         llvm::any_of(spec.outputs, [&](const Output &output) {
           return isUse(output.value);
         });
}
