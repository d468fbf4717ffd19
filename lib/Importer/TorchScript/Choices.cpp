//===- Choices.cpp - Parts of tensors, and places that data decides -------===//

#include "TorchScript/Memory.h"

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchscript;

//===- Parts --------------------------------------------------------------===//

/// Returns the part that result number `call.element` of an operator that cuts
/// its argument along `dim` is; none of other operators.
static std::optional<ScriptPart> findCutPart(const ScriptPlace &place) {
  const AtenView &call = place.view.call;
  const AtenSchema &schema = call.op->schema;
  bool isUnbind = schema.name == "unbind", isSplit = schema.name == "split";
  std::optional<unsigned> dim = schema.findArgument("dim");
  if (!call.element || !dim || !call.arguments[*dim].is<int64_t>() ||
      (!isUnbind && !isSplit))
    return std::nullopt;
  DimsRef shape = place.base->type.getShape();
  ScriptPart part{call.arguments[*dim].get<int64_t>()};
  part.axis += part.axis < 0 ? int64_t(shape.size()) : 0;
  if (place.base->type.getExtent(unsigned(part.axis)))
    return std::nullopt;
  part.known = int64_t(*call.element);
  if (isUnbind)
    return part;
  std::optional<unsigned> size = schema.findArgument("split_size");
  if (!size || !call.arguments[*size].is<int64_t>())
    return std::nullopt;
  part.known *= call.arguments[*size].get<int64_t>();
  part.size = place.type.getShape()[size_t(part.axis)];
  return part;
}

std::optional<ScriptPart> TensorMemory::findPart(const ScriptPlace &place) {
  const ScriptView &view = place.view;
  if (!place.base || place.getStorage())
    return std::nullopt;
  if (!view.call.op)
    return ScriptPart{view.axis, 0, view.index, view.size};
  if (view.call.element)
    return findCutPart(place);
  const AtenSchema &schema = view.call.op->schema;
  bool isSelect = schema.name == "select", isNarrow = schema.name == "narrow";
  if (!isSelect && !isNarrow && schema.name != "slice")
    return std::nullopt;
  auto find = [&](llvm::StringRef name) -> const AtenValue * {
    std::optional<unsigned> index = schema.findArgument(name);
    return index ? &view.call.arguments[*index] : nullptr;
  };
  const AtenValue *dim = find("dim"), *step = find("step"),
                  *first = find(isSelect ? "index" : "start");
  auto isInt = [](const AtenValue *value) {
    return value && value->is<int64_t>();
  };
  bool isFirstStated = isInt(first);
  if (!isInt(dim) || (!isFirstStated && !(first && first->isNone())) ||
      (step && !(isInt(step) && step->get<int64_t>() == 1)))
    return std::nullopt;
  DimsRef shape = place.base->type.getShape();
  auto rank = int64_t(shape.size());
  ScriptPart part{dim->get<int64_t>()};
  part.axis += part.axis < 0 ? rank : 0;
  if (place.base->type.getExtent(unsigned(part.axis)))
    return std::nullopt;
  int64_t extent = shape[size_t(part.axis)];
  part.known = isFirstStated ? first->get<int64_t>() : 0;
  part.known += part.known < 0 ? extent : 0;
  part.known = std::clamp<int64_t>(part.known, 0, extent);
  if (!isSelect)
    part.size = place.type.getShape()[size_t(part.axis)];
  return part;
}

ScriptPlaceRef TensorMemory::makePart(const ScriptPlaceRef &base, int64_t axis,
                                      int64_t index) {
  static const RegisteredAtenOp *select = findAtenOperator("select.int");
  auto place = std::make_shared<ScriptPlace>();
  place->birth = tick();
  Dims shape(base->type.getShape());
  shape.erase(shape.begin() + axis);
  place->type = Type(base->type.getKind(), shape);
  place->base = base;
  place->view.call = {.op = select, .arguments = {{}, axis, index}};
  place->numWays = base->numWays;
  place->isDense = base->isDense && axis == 0;
  return place;
}

//===- Choices ------------------------------------------------------------===//

/// Returns the view of the base of both places that is one of them by
/// \p condition, if they are equal parts of it; none otherwise.
llvm::Expected<std::optional<ScriptView>>
TensorMemory::chooseIndex(NodeValue condition, const ScriptPlace &then,
                          const ScriptPlace &other) {
  std::optional<ScriptPart> x = findPart(then), y = findPart(other);
  if (!x || !y || then.base != other.base)
    return std::nullopt;
  if (x->axis != y->axis || x->size != y->size)
    return std::nullopt;
  NodeBuilder b(scope->function, nodeName);
  auto getIndex = [&](const ScriptPart &part) {
    return part.computed ? enter(part.computed)
                         : b.scalar(ElemKind::Int64, double(part.known));
  };
  ScriptView view{.axis = x->axis, .size = x->size};
  GLOWISH_ASSIGN_OR_RETURN(
      view.index,
      b.finish(b.select(enter(condition), getIndex(*x), getIndex(*y))));
  return view;
}

bool TensorMemory::areSame(const ScriptPlaceRef &x, const ScriptPlaceRef &y) {
  if (x == y)
    return true;
  if (x->getStorage() || y->getStorage())
    return x->getStorage() == y->getStorage() && x->type == y->type;
  if (x->isChoice() || y->isChoice())
    return x->condition == y->condition && x->isChoice() && y->isChoice() &&
           areSame(x->then, y->then) && areSame(x->other, y->other);
  const AtenView &own = x->view.call, &call = y->view.call;
  if (x->view.copy || y->view.copy || own.op != call.op ||
      x->view.index != y->view.index || x->view.axis != y->view.axis ||
      x->view.size != y->view.size || own.element != call.element ||
      own.self != call.self || own.arguments.size() != call.arguments.size() ||
      !areSame(x->base, y->base))
    return false;
  for (size_t i = 0; i < own.arguments.size(); ++i)
    if (i != own.self && own.arguments[i] != call.arguments[i])
      return false;
  return true;
}

llvm::Expected<ScriptPlaceRef> TensorMemory::choose(NodeValue condition,
                                                    const ScriptPlaceRef &then,
                                                    const ScriptPlaceRef &other,
                                                    NodeValue value) {
  auto place = std::make_shared<ScriptPlace>();
  if (areSame(then, other)) {
    *place = *then;
  } else {
    GLOWISH_ASSIGN_OR_RETURN(std::optional<ScriptView> view,
                             chooseIndex(condition, *then, *other));
    if (view) {
      place->base = then->base;
      place->view = std::move(*view);
      place->numWays = then->base->numWays;
    } else {
      place->condition = condition;
      place->then = then;
      place->other = other;
      place->numWays = then->numWays + other->numWays;
    }
  }
  place->birth = tick();
  place->type = then->type;
  place->isDense = then->isDense && other->isDense;
  place->value = value;
  // Each way to a storage is an update of it when the tensor is written.
  constexpr unsigned maxWays = 64;
  if (place->numWays > maxWays) {
    if (!value) {
      GLOWISH_ASSIGN_OR_RETURN(value, readAgain(*place));
    }
    ScriptPlaceRef own = create(value, std::nullopt)->place;
    join(*own, *place);
    return own;
  }
  place->version = getVersion(*place);
  return place;
}
