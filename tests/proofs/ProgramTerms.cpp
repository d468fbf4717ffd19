//===- ProgramTerms.cpp - What programs of the IR compute -----------------===//

#include "ProgramTerms.h"
#include "glowish/Base/ForEachIndex.h"
#include "glowish/IR/Instrs.h"
#include "glowish/IR/StridedLayout.h"
#include "glowish/Ops/TextForm.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace glowish;
using namespace glowish::proofs;

//===- Terms --------------------------------------------------------------===//

Term TermTable::get(const std::string &operation, std::vector<Term> arguments) {
  auto [place, isNew] = numbers.try_emplace({operation, std::move(arguments)},
                                            Term(definitions.size()));
  if (isNew)
    definitions.push_back(&place->first);
  return place->second;
}

Term TermTable::makeUndefined() {
  return get(llvm::formatv("undefined {0}", numUndefined++));
}

std::string TermTable::print(Term term, unsigned depth) const {
  const Definition &definition = *definitions[term];
  if (definition.arguments.empty())
    return definition.operation;
  constexpr size_t maxPrinted = 4;
  std::vector<std::string> arguments;
  for (Term argument :
       llvm::ArrayRef(definition.arguments).take_front(maxPrinted))
    arguments.push_back(depth ? print(argument, depth - 1) : "...");
  if (definition.arguments.size() > maxPrinted)
    arguments.push_back("...");
  return definition.operation + "(" + llvm::join(arguments, ", ") + ")";
}

/// A number by its bits, so that a Fill and a constant with the same element
/// are the same.
static Term getNumber(TermTable &terms, const Tensor &tensor, int64_t index) {
  unsigned size = getElemSize(tensor.getType().getKind());
  return terms.get(llvm::formatv(
      "{0} {1}", getElemKindName(tensor.getType().getKind()),
      llvm::toHex(tensor.getByteRange().slice(size_t(index) * size, size))));
}

//===- Programs -----------------------------------------------------------===//

namespace {

class ProgramEvaluator {
public:
  ProgramEvaluator(TermTable &terms, const IRFunction &function)
      : terms(terms), function(function) {}

  void run() {
    for (const Instruction &instr : function.getInstrs())
      run(instr);
  }
  /// All of \p root, which is no view.
  std::vector<Term> &getMemory(const Buffer &root);

private:
  std::vector<Term> read(const Buffer &buffer);
  void write(const Buffer &buffer, llvm::ArrayRef<Term> elements);
  void run(const Instruction &instr);
  Term runProgram(const ScalarProgram &program, std::vector<Term> values);
  /// \p program of each index; value i is that of \p inputs[i].
  std::vector<Term> runLoop(const ScalarProgram &program,
                            llvm::ArrayRef<std::vector<Term>> inputs,
                            size_t numElements);
  void runOther(const Instruction &instr);
  /// A term of which the results of \p instr are parts.
  Term getCall(const Instruction &instr);
  Term getBody(const IRFunction &body);

  TermTable &terms;
  const IRFunction &function;
  std::map<const Buffer *, std::vector<Term>> memory;
};

} // namespace

std::vector<Term> &ProgramEvaluator::getMemory(const Buffer &root) {
  auto [place, isNew] = memory.try_emplace(&root);
  for (int64_t i = 0; isNew && i < root.getType().getNumElements(); ++i) {
    if (root.getKind() == Buffer::Kind::Constant)
      place->second.push_back(getNumber(terms, root.getTensor(), i));
    else if (root.getKind() == Buffer::Kind::Mutable)
      place->second.push_back(
          terms.get(llvm::formatv("{0}[{1}]", root.getName(), i)));
    else
      place->second.push_back(terms.makeUndefined());
  }
  return place->second;
}

/// Calls \p visit with the position of each element of \p buffer in its root.
template <typename Fn> static void forEachElement(const Buffer &buffer, Fn fn) {
  forEachIndex(buffer.getShape(), [&](DimsRef index) {
    int64_t position = buffer.getOffset();
    for (auto [i, stride] : llvm::zip_equal(index, buffer.getStrides()))
      position += i * stride;
    fn(size_t(position));
  });
}

std::vector<Term> ProgramEvaluator::read(const Buffer &buffer) {
  const std::vector<Term> &root = getMemory(*buffer.getRoot());
  std::vector<Term> elements;
  forEachElement(buffer, [&](size_t i) { elements.push_back(root[i]); });
  return elements;
}

void ProgramEvaluator::write(const Buffer &buffer,
                             llvm::ArrayRef<Term> elements) {
  std::vector<Term> &root = getMemory(*buffer.getRoot());
  const Term *next = elements.begin();
  forEachElement(buffer, [&](size_t i) { root[i] = *next++; });
}

Term ProgramEvaluator::runProgram(const ScalarProgram &program,
                                  std::vector<Term> values) {
  for (const ScalarStep &step : program.steps) {
    const ScalarOpInfo &info = getScalarOpInfo(step.op);
    std::vector<Term> arguments;
    for (unsigned arg : step.args)
      arguments.push_back(values[arg]);
    if (info.isCommutative)
      llvm::sort(arguments);
    std::string operation =
        (info.name + " " + getElemKindName(step.kind)).str();
    for (double param : step.params)
      operation += llvm::formatv(" {0:x}", llvm::bit_cast<uint64_t>(param));
    values.push_back(terms.get(operation, std::move(arguments)));
  }
  return program.empty() ? values.front() : values.back();
}

std::vector<Term>
ProgramEvaluator::runLoop(const ScalarProgram &program,
                          llvm::ArrayRef<std::vector<Term>> inputs,
                          size_t numElements) {
  std::vector<Term> results;
  for (size_t i = 0; i < numElements; ++i) {
    std::vector<Term> values;
    for (const std::vector<Term> &input : inputs)
      values.push_back(input[i]);
    results.push_back(runProgram(program, std::move(values)));
  }
  return results;
}

Term ProgramEvaluator::getBody(const IRFunction &body) {
  ProgramEvaluator inner(terms, body);
  inner.run();
  std::vector<Term> results;
  for (const Buffer *output : body.getOutputs())
    llvm::append_range(results, inner.getMemory(*output));
  return terms.get("body", std::move(results));
}

Term ProgramEvaluator::getCall(const Instruction &instr) {
  const OpInfo &info = instr.getInfo();
  std::vector<AttrValue> attrs = instr.getAttrs().vec();
  if (info.hasEpilogue())
    attrs[unsigned(info.epilogueAttr)] = ScalarProgram();
  std::string operation = info.name.str();
  llvm::raw_string_ostream os(operation);
  printAttrs(os, info, attrs, instr.getNumProgramInputs());
  for (const LoopBound &bound : instr.getLoopBounds())
    os << llvm::formatv(" bound {0}.{1} {2}", bound.operand, bound.dim,
                        bound.extent.str());
  std::vector<Term> arguments;
  // Without predicates, as a program is right with all of them ignored.
  for (unsigned i = 0; i < instr.getNumRecordOperands(); ++i) {
    const Buffer *operand = instr.getOperand(i);
    bool isFused = info.hasEpilogue() && i >= unsigned(info.fusedOperand);
    if (isFused || (operand && !instr.reads(i)))
      continue;
    os << " ";
    if (!operand) {
      os << "none";
      continue;
    }
    os << operand->getType();
    llvm::append_range(arguments, read(*operand));
  }
  for (const IRFunction *body : getBodies(instr))
    arguments.push_back(getBody(*body));
  return terms.get(operation, std::move(arguments));
}

void ProgramEvaluator::runOther(const Instruction &instr) {
  const OpInfo &info = instr.getInfo();
  Term call = getCall(instr);
  std::vector<std::vector<Term>> written(instr.getNumOperands());
  for (unsigned i = 0; i < instr.getNumOperands(); ++i) {
    const Buffer *operand = instr.getOperand(i);
    if (!operand || !instr.writes(i))
      continue;
    bool isScratch = instr.getOperandInfo(i).role == OperandRole::Scratch;
    for (int64_t e = 0; e < operand->getType().getNumElements(); ++e)
      written[i].push_back(
          isScratch ? terms.makeUndefined()
                    : terms.get(llvm::formatv("result {0}.{1}", i, e), {call}));
  }
  if (info.hasEpilogue()) {
    std::vector<std::vector<Term>> inputs = {written[0]};
    for (unsigned i = unsigned(info.fusedOperand);
         i < instr.getNumRecordOperands(); ++i)
      inputs.push_back(read(*instr.getOperand(i)));
    written[0] = runLoop(instr.getEpilogueProgram(), inputs, written[0].size());
  }
  for (unsigned i = 0; i < instr.getNumOperands(); ++i)
    if (!written[i].empty())
      write(*instr.getOperand(i), written[i]);
}

void ProgramEvaluator::run(const Instruction &instr) {
  if (instr.isLifetimeMarker()) {
    memory.erase(instr.getOperand(0));
  } else if (auto *copy = llvm::dyn_cast<CopyInstr>(&instr)) {
    write(*copy->getResult(), read(*copy->getInput()));
  } else if (auto *fill = llvm::dyn_cast<FillInstr>(&instr)) {
    const Buffer &result = *fill->getResult();
    Tensor value(Type(result.getType().getKind(), {1}));
    value.setFromDouble(0, fill->getValue());
    write(result, std::vector<Term>(size_t(result.getType().getNumElements()),
                                    getNumber(terms, value, 0)));
  } else if (auto *loop = llvm::dyn_cast<ElementWiseLoopInstr>(&instr)) {
    std::vector<std::vector<Term>> inputs;
    for (const Buffer *input : loop->getInputs())
      inputs.push_back(read(*input));
    const Buffer &result = *loop->getResult();
    write(result, runLoop(loop->getProgram(), inputs,
                          size_t(result.getType().getNumElements())));
  } else {
    runOther(instr);
  }
}

ProgramState proofs::evaluate(TermTable &terms, const IRFunction &function,
                              bool keepsInputs) {
  ProgramEvaluator evaluator(terms, function);
  evaluator.run();
  ProgramState left;
  for (const auto &buffer : function.getBuffers())
    if (buffer->getKind() == Buffer::Kind::Mutable &&
        (keepsInputs || buffer->isOutput()))
      left[buffer->getName().str()] = evaluator.getMemory(*buffer);
  return left;
}

std::string proofs::compare(const TermTable &terms, const ProgramState &before,
                            const ProgramState &after) {
  for (const auto &[name, elements] : before) {
    auto found = after.find(name);
    if (found == after.end())
      return name + " is gone";
    for (auto [i, both] :
         llvm::enumerate(llvm::zip_equal(elements, found->second))) {
      auto [x, y] = both;
      if (x != y)
        return llvm::formatv("{0}[{1}] was {2}, and is {3}", name, i,
                             terms.print(x), terms.print(y));
    }
  }
  return "";
}
