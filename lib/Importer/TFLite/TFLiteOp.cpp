//===- TFLiteOp.cpp - A TensorFlow Lite operator being imported -----------===//

#include "TFLite/TFLiteOp.h"
#include "Common/ExtentFinder.h"
#include "Common/External.h"
#include "TFLite/CustomOptions.h"
#include "TFLite/ExternalOp.h"
#include "glowish/Importer/TFLite.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;
using namespace glowish::tflite;

//===- Registry -----------------------------------------------------------===//

const RegisteredTFLiteOp *
tflite::findTFLiteOperator(llvm::StringRef name, const ImportOptions &options) {
  // Any input may be absent.
  static const RegisteredTFLiteOp external{
      "",
      importExternalTFLiteOp,
      {.inputs = {0, manyInputs - 1}, .needsKnownExtents = true}};
  if (findExternalOperator(options, tfliteDomain, name))
    return &external;
  return TFLiteOperators::find(name);
}

std::vector<TFLiteOperatorInfo> glowish::listTFLiteOperators() {
  return TFLiteOperators::list<TFLiteOperatorInfo>();
}

//===- Options ------------------------------------------------------------===//

TFLiteOp::TFLiteOp(const schema::Operator &op, llvm::StringRef type,
                   llvm::ArrayRef<TFLiteTensor *> inputs,
                   llvm::ArrayRef<TFLiteTensor *> outputs,
                   llvm::ArrayRef<TFLiteTensor *> intermediates,
                   TFLiteContext &context)
    : ImportedOp(context.function,
                 outputs.empty() ? type.str() : outputs.front()->name,
                 {context.options.evaluate, context.budget}),
      op(op), type(type), inputs(inputs), outputs(outputs),
      intermediates(intermediates), context(context) {}

const void *TFLiteOp::getEmptyTable() {
  static const flatbuffers::DetachedBuffer buffer = [] {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(schema::CreateAbsOptions(builder));
    return builder.Release();
  }();
  return flatbuffers::GetRoot<schema::AbsOptions>(buffer.data());
}

llvm::Error TFLiteOp::checkReads() const {
  const TFLiteFile &file = context.model.file;
  const schema::OperatorCode &code =
      *file.getModel().operator_codes()->Get(op.opcode_index());
  auto isRead = [&](llvm::StringRef name) { return reads.contains(name); };
  GLOWISH_RETURN_IF_ERROR(checkFields(code, file.getFile()));
  GLOWISH_RETURN_IF_ERROR(checkFields(op, file.getFile()));
  GLOWISH_RETURN_IF_ERROR(checkOptions(op, isRead, file.getFile()));
  return checkCustomOptions(*this, isRead);
}

llvm::ArrayRef<uint8_t> TFLiteOp::getCustomOptions() const {
  if (!op.custom_options())
    return {};
  return {op.custom_options()->data(), op.custom_options()->size()};
}

//===- Inputs -------------------------------------------------------------===//

std::string TFLiteOp::describeInput(unsigned index) const {
  std::string type = ImportedOp::describeInput(index);
  if (!isQuantized(index))
    return type;
  const Quantization &quantization = *inputs[index]->quantization;
  return type + (quantization.isPerTensor() ? ", quantized"
                 : quantization.block       ? ", with scales of blocks"
                                            : ", with many scales");
}

TFLiteValue TFLiteOp::getValue(unsigned index) const {
  const TFLiteTensor &tensor = *inputs[index];
  if (tensor.isResource)
    return {.resource = tensor.variable};
  return {.tensor = tensor.value, .quantization = tensor.quantization};
}

llvm::Expected<TFLiteVariable *> TFLiteOp::getResource(unsigned index) const {
  if (inputs[index]->isResource)
    return inputs[index]->variable;
  return makeError("input {0} ({1}) is a tensor; accepted: a variable", index,
                   quote(inputs[index]->name));
}

/// \p value as a constant, where shape arithmetic has made it of known extents.
NodeValue TFLiteOp::foldKnown(NodeValue value) {
  if (value.getNodeAs<Constant>() || getSymbols().empty())
    return value;
  std::optional<std::vector<Extent>> extents =
      findExtents(context.model.module, value);
  if (!extents)
    return value;
  std::vector<int64_t> values;
  for (const Extent &extent : *extents) {
    if (!extent.isConstant())
      return value;
    values.push_back(*extent.getConstant());
  }
  return ints(value.getElemKind(), value.getShape(), values);
}

llvm::Error TFLiteOp::checkBroadcast(unsigned first, unsigned numOwn) const {
  for (unsigned i = first; i < getNumInputs(); ++i)
    for (unsigned j = first; j < getNumInputs(); ++j) {
      const Type &open = input(i).getType(), &other = input(j).getType();
      unsigned rank = std::min(open.getRank(), other.getRank());
      for (unsigned d = numOwn + 1; d <= rank; ++d) {
        const Extent *extent = open.getExtent(open.getRank() - d);
        int64_t known = other.getDim(other.getRank() - d);
        // Of 1 in some runs the elements would be repeated.
        if (extent && !other.getExtent(other.getRank() - d) && known != 1)
          return refuseInput(j, llvm::formatv("{0} or 1 in dimension {1}, as "
                                              "in input {2}",
                                              extent->describe(),
                                              other.getRank() - d, i));
      }
    }
  return llvm::Error::success();
}

llvm::Error TFLiteOp::checkAllKnown() const {
  for (unsigned i = 0; i < getNumInputs(); ++i)
    if (input(i) && input(i).getType().hasExtents())
      return refuseInput(i, "extents that no run decides");
  return llvm::Error::success();
}

llvm::Error TFLiteOp::checkCount(llvm::StringRef name, int64_t stated,
                                 int64_t count) const {
  if (stated == 0 || stated == count)
    return llvm::Error::success();
  return makeError("{0} is {1}; accepted: {2}", name, stated, count);
}

llvm::Error TFLiteOp::checkNotQuantized() const {
  for (unsigned i = 0; i < getNumInputs(); ++i)
    if (isQuantized(i))
      return refuseInput(i, "tensors that are not quantized");
  return llvm::Error::success();
}

llvm::Error TFLiteOp::checkQuantized(unsigned index) const {
  if (hasInput(index) && inputs[index]->hasOneScale())
    return llvm::Error::success();
  return refuseInput(index, "integers with one scale");
}

//===- Outputs ------------------------------------------------------------===//

llvm::Error TFLiteOp::checkOutputQuantized(unsigned index) const {
  if (outputs[index]->hasOneScale())
    return llvm::Error::success();
  return makeError("output {0} ({1}) is {2}; accepted: integers with one scale",
                   index, quote(outputs[index]->name),
                   getStatedType(index).str());
}

llvm::Error TFLiteOp::checkOutputType(llvm::StringRef name,
                                      schema::TensorType stated) const {
  if (stated == schema::TensorType::FLOAT32 ||
      findKind(stated) == getOutputKind())
    return llvm::Error::success();
  return makeError("{0} is {1}, and output 0 ({2}) is {3}; accepted: one type",
                   name, schema::EnumNameTensorType(stated),
                   quote(outputs[0]->name), getStatedType().str());
}

llvm::Error TFLiteOp::setOutput(unsigned index, NodeValue value) {
  GLOWISH_ASSIGN_OR_RETURN(value, finish(value));
  // Outputs that nothing reads may be left out.
  if (index >= outputs.size())
    return llvm::Error::success();
  if (outputs[index]->isResource)
    return makeError("output {0} ({1}) is a tensor, and the file states a "
                     "variable",
                     index, quote(outputs[index]->name));
  const Type &stated = getStatedType(index), &type = value.getType();
  // What a run counts, the file may state as any number.
  context.hasOtherShapes |= type.hasExtents();
  // A scalar may be a shape that the file leaves open, but that of a variable
  // is what it is read with.
  bool isOpen = !outputs[index]->variable &&
                (context.hasOtherShapes || stated.getRank() == 0);
  if (type.getKind() != stated.getKind() ||
      (!isOpen && type.getShape() != stated.getShape()))
    return makeError("output {0} ({1}) would be {2}, and the file states {3}",
                     index, quote(outputs[index]->name), type.str(),
                     stated.str());
  if (outputs[index]->variable && type.hasExtents())
    return makeError("the variable {0} would become {1}; accepted: extents "
                     "that no run decides",
                     quote(outputs[index]->name), type.str());
  value = foldKnown(value);
  outputs[index]->value = value;
  if (outputs[index]->variable)
    context.variables.assign(*outputs[index]->variable, value);
  return llvm::Error::success();
}

llvm::Error TFLiteOp::setResource(unsigned index, TFLiteVariable &variable) {
  if (index >= outputs.size() || !outputs[index]->isResource)
    return makeError("output {0} is a variable, and the file states a tensor",
                     index);
  outputs[index]->variable = &variable;
  return llvm::Error::success();
}

llvm::Error TFLiteOp::setVariable(unsigned index, NodeValue value) {
  GLOWISH_ASSIGN_OR_RETURN(value, finish(value));
  if (!hasInput(index) || !inputs[index]->variable)
    return makeError("input {0} is no variable", index);
  if (value.getType() != inputs[index]->value.getType())
    return makeError("the variable {0} would become {1} from {2}",
                     quote(inputs[index]->name), value.getType().str(),
                     inputs[index]->value.getType().str());
  context.variables.assign(*inputs[index]->variable, value);
  return llvm::Error::success();
}

//===- Creating nodes -----------------------------------------------------===//

/// Custom operators alone have options by the names of attributes.
double TFLiteOp::readNumber(llvm::StringRef name, double defaultValue) {
  if (getCustomOptions().empty())
    return defaultValue;
  llvm::Expected<CustomOptions> options = CustomOptions::read(*this);
  if (!options) {
    keep(options.takeError());
    return defaultValue;
  }
  flexbuffers::Reference value = options->get(name.str().c_str());
  if (!value.IsNull() && !value.IsNumeric())
    keep(makeError("option {0} is no number", name));
  return value.IsNumeric() ? value.AsDouble() : defaultValue;
}

NodeValue TFLiteOp::rescale(NodeValue x, FixedPointFactor factor) {
  if (!x)
    return x;
  return make<RescaleNode>(x, scalar(ElemKind::Int32, factor.multiplier),
                           scalar(ElemKind::Int32, factor.shift));
}

NodeValue TFLiteOp::rescale(NodeValue x, double factor) {
  return rescale(x, FixedPointFactor::get(factor));
}

NodeValue TFLiteOp::rescale(NodeValue x, llvm::ArrayRef<double> factors) {
  if (factors.size() == 1)
    return rescale(x, factors.front());
  std::vector<int64_t> multipliers, shifts;
  for (double factor : factors) {
    FixedPointFactor fixed = FixedPointFactor::get(factor);
    multipliers.push_back(fixed.multiplier);
    shifts.push_back(fixed.shift);
  }
  Dims shape = {int64_t(factors.size())};
  if (!x)
    return x;
  return make<RescaleNode>(x, ints(ElemKind::Int32, shape, multipliers),
                           ints(ElemKind::Int32, shape, shifts));
}
