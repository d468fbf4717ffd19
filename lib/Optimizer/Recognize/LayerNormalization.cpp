//===- LayerNormalization.cpp - Normalizations of primitive nodes ---------===//
//
// Layer and RMS normalization: of the forms that exporters write, those over
// trailing dimensions, and the scale and the bias that follow them one by one.
//
//===----------------------------------------------------------------------===//

#include "Recognize/NormalizationForms.h"

using namespace glowish;

/// Whether \p value can be a scale or a bias of a normalization of \p type from
/// \p axis on: nothing but dimensions of extent 1 before those.
static bool isParameter(NodeValue value, const Type &type, int64_t axis) {
  DimsRef shape = type.getShape().drop_front(axis), own = value.getShape();
  return own.size() >= shape.size() && own.size() <= type.getRank() &&
         value.getElemKind() == type.getKind() &&
         own.take_back(shape.size()) == shape &&
         llvm::all_of(own.drop_back(shape.size()),
                      [](int64_t extent) { return extent == 1; });
}

static NodeValue makeNormalization(const NormalizationForm &form,
                                   RewriteContext &context) {
  const Type &type = form.input.getType();
  int64_t axis = form.axes.front();
  auto fits = [&](NodeValue parameter) {
    return !parameter || isParameter(parameter, type, axis);
  };
  bool isTrailing = axis + int64_t(form.axes.size()) == int64_t(type.getRank());
  if (!isTrailing || !fits(form.scale) || !fits(form.bias))
    return {};
  auto reshape = [&](NodeValue value) {
    return value ? context.reshape(value, type.getShape().drop_front(axis))
                 : value;
  };
  return context.create<LayerNormalizationNode>(
      form.input, reshape(form.scale), reshape(form.bias), axis, form.epsilon,
      form.subtractMean);
}

template <typename T>
static NodeValue recognize(T &root, RewriteContext &context) {
  return matchNormalization(root, [&](const NormalizationForm &form) {
    return makeNormalization(form, context);
  });
}

//===- What follows -------------------------------------------------------===//

/// The shape of \p parameter as scale or bias of \p node.
static std::optional<Dims> getParameterShape(const LayerNormalizationNode &node,
                                             NodeValue parameter) {
  Type type = node.getType().withKind(parameter.getElemKind());
  if (!isParameter(parameter, type, node.getAxis()))
    return std::nullopt;
  return Dims(type.getShape().drop_front(node.getAxis()));
}

llvm::Expected<bool>
glowish::recognizeNormalizations(Function &function,
                                 const GraphPassContext &context) {
  return applyRewrites(function, context, [](RewriteSet &rewrites) {
    rewrites.add<recognize<DivNode>>(NodeKind::Div);
    rewrites.add<recognize<MulNode>>(NodeKind::Mul);
    rewrites.add<recognize<AddNode>>(NodeKind::Add);
    addParameterRewrites<LayerNormalizationNode, getParameterShape>(rewrites);
  });
}
