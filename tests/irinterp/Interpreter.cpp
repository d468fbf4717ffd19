//===- Interpreter.cpp - Runs LLVM IR with checks -------------------------===//

#include "Interpreter.h"
#include "glowish/Support/Error.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace glowish;
using namespace glowish::irinterp;
using llvm::cast;
using llvm::dyn_cast;

char Unsupported::ID = 0;

/// More than that is a loop without an end.
static constexpr uint64_t maxSteps = 400'000'000;

Interpreter::~Interpreter() = default;

/// A call that runs: its code, the lanes of its values, and its variables.
struct Interpreter::Frame {
  Frame(Memory &memory, const Code &code)
      : memory(memory), code(code), lanes(code.numSlots) {}
  ~Frame() {
    for (uint64_t address : variables)
      memory.release(address);
  }
  Lanes get(const Operand &operand) const {
    return {operand.constant ? operand.constant : &lanes[operand.slot],
            operand.count};
  }
  LanesOut getResult(const Step &step) {
    return {lanes.data() + step.slot, step.type->lanes.size()};
  }

  Memory &memory;
  const Code &code;
  std::vector<Lane> lanes;
  std::vector<uint64_t> variables;
  llvm::SmallVector<Lane, 8> returned;
};

static std::string print(const llvm::Instruction &instr) {
  std::string text;
  llvm::raw_string_ostream os(text);
  instr.print(os);
  return "in " + instr.getFunction()->getName().str() + ":" + text;
}

/// Whether errors of \p instr are those of instructions of another function.
static bool callsFunction(const llvm::Instruction &instr) {
  auto *call = dyn_cast<llvm::CallBase>(&instr);
  return call && call->getCalledFunction() &&
         !call->getCalledFunction()->isIntrinsic();
}

//===- Blocks and branches ------------------------------------------------===//

llvm::Expected<llvm::SmallVector<Lane, 8>>
Interpreter::run(const llvm::Function &function, Lanes arguments) {
  if (function.isDeclaration())
    return llvm::make_error<Unsupported>("a call of " +
                                         function.getName().str());
  if (depth > 100)
    return makeError("calls are nested too deeply");
  GLOWISH_ASSIGN_OR_RETURN(const Code *code, getCode(function));
  ++depth;
  auto result = runCode(function, *code, arguments);
  --depth;
  return result;
}

llvm::Expected<llvm::SmallVector<Lane, 8>>
Interpreter::runCode(const llvm::Function &function, const Code &code,
                     Lanes arguments) {
  Frame frame(memory, code);
  llvm::copy(arguments, frame.lanes.begin());
  const llvm::BasicBlock *from = nullptr, *block = &function.getEntryBlock();
  while (block) {
    GLOWISH_RETURN_IF_ERROR(enter(frame, from, block));
    const std::vector<Step> &steps = code.blocks.find(block)->second.steps;
    for (const Step &step : llvm::ArrayRef(steps).drop_back()) {
      if (llvm::Error error = execute(frame, step)) {
        if (error.isA<Unsupported>() || callsFunction(*step.source))
          return error;
        return makeError("{0}: {1}", llvm::toString(std::move(error)),
                         print(*step.source));
      }
    }
    numSteps += steps.size();
    if (numSteps > maxSteps)
      return makeError("more than {0} instructions", maxSteps);
    from = block;
    GLOWISH_ASSIGN_OR_RETURN(block, branch(frame, steps.back()));
  }
  return std::move(frame.returned);
}

/// All phis of a block take their values at the same time.
llvm::Error Interpreter::enter(Frame &frame, const llvm::BasicBlock *from,
                               const llvm::BasicBlock *to) {
  const Block &block = frame.code.blocks.find(to)->second;
  llvm::SmallVector<Lane, 64> values;
  for (const Step &step : block.phis) {
    int index = cast<llvm::PHINode>(step.source)->getBasicBlockIndex(from);
    Lanes lanes = frame.get(step.operands[unsigned(index)]);
    values.append(lanes.begin(), lanes.end());
  }
  const Lane *next = values.begin();
  for (const Step &step : block.phis)
    for (Lane &lane : frame.getResult(step))
      lane = *next++;
  return llvm::Error::success();
}

/// The next block; null at the end of the function.
llvm::Expected<const llvm::BasicBlock *> Interpreter::branch(Frame &frame,
                                                             const Step &step) {
  const llvm::Instruction &instr = *step.source;
  if (isa<llvm::ReturnInst>(instr)) {
    if (!step.operands.empty()) {
      Lanes lanes = frame.get(step.operands[0]);
      frame.returned.assign(lanes.begin(), lanes.end());
    }
    return nullptr;
  }
  if (auto *jump = dyn_cast<llvm::BranchInst>(&instr))
    if (jump->isUnconditional())
      return jump->getSuccessor(0);
  if (!isa<llvm::BranchInst, llvm::SwitchInst>(instr))
    return makeError("reached: {0}", print(instr));
  Lane condition = frame.get(step.operands[0])[0];
  if (condition.isPoison)
    return makeError("a branch by what has no value: {0}", print(instr));
  if (auto *jump = dyn_cast<llvm::BranchInst>(&instr))
    return jump->getSuccessor(condition.bits ? 0 : 1);
  auto *choice = cast<llvm::SwitchInst>(&instr);
  for (const auto &each : choice->cases())
    if (each.getCaseValue()->getZExtValue() == condition.bits)
      return each.getCaseSuccessor();
  return choice->getDefaultDest();
}

//===- Instructions -------------------------------------------------------===//

static Lane addAddress(const Lane &base, uint64_t offset, uint64_t mask) {
  return {(base.bits + offset) & mask, base.isPoison};
}

/// The bits of all lanes in a row, cut into those of another type.
static void bitcast(llvm::ArrayRef<ScalarType> from, Lanes lanes,
                    llvm::ArrayRef<ScalarType> to, LanesOut result) {
  unsigned begin = 0, source = 0, sourceBegin = 0;
  for (auto [type, lane] : llvm::zip(to, result)) {
    uint64_t bits = 0, poison = 0;
    unsigned end = begin + type.bits;
    for (unsigned at = begin; at < end;) {
      while (sourceBegin + from[source].bits <= at)
        sourceBegin += from[source++].bits;
      unsigned next = std::min(end, sourceBegin + from[source].bits);
      uint64_t mask = ScalarType{ScalarType::Integer, next - at}.getMask();
      unsigned skipped = at - sourceBegin;
      bits |= (lanes[source].bits >> skipped & mask) << (at - begin);
      poison |= (lanes[source].getPoisonBits() >> skipped & mask)
                << (at - begin);
      at = next;
    }
    lane = Lane::partial(bits, poison);
    begin = end;
  }
}

llvm::Error Interpreter::selectLanes(const Step &step,
                                     llvm::ArrayRef<Lanes> operands,
                                     LanesOut result) {
  for (size_t i = 0; i < result.size(); ++i) {
    Lane condition = operands[0][operands[0].size() == 1 ? 0 : i];
    result[i] = condition.isPoison ? Lane::poison()
                                   : operands[condition.bits ? 1 : 2][i];
  }
  (void)step;
  return llvm::Error::success();
}

llvm::Error Interpreter::load(const Step &step, Lanes address,
                              LanesOut result) {
  if (address[0].isPoison)
    return makeError("a read at an address that has no value");
  GLOWISH_RETURN_IF_ERROR(memory.checkAlignment(
      address[0].bits, cast<llvm::LoadInst>(step.source)->getAlign().value()));
  for (size_t i = 0; i < result.size(); ++i) {
    GLOWISH_ASSIGN_OR_RETURN(
        result[i], memory.load(address[0].bits + step.type->offsets[i],
                               step.type->lanes[i]));
  }
  return llvm::Error::success();
}

llvm::Error Interpreter::store(const Step &step, Lanes value, Lanes address) {
  if (address[0].isPoison)
    return makeError("a write at an address that has no value");
  auto *instr = cast<llvm::StoreInst>(step.source);
  GLOWISH_RETURN_IF_ERROR(
      memory.checkAlignment(address[0].bits, instr->getAlign().value()));
  GLOWISH_ASSIGN_OR_RETURN(const TypeLayout *type,
                           getLayout(instr->getValueOperand()->getType()));
  for (size_t i = 0; i < value.size(); ++i)
    GLOWISH_RETURN_IF_ERROR(memory.store(address[0].bits + type->offsets[i],
                                         type->lanes[i], value[i]));
  return llvm::Error::success();
}

/// Where the part of an aggregate with these indices begins among its lanes.
static size_t findPart(llvm::Type *type, llvm::ArrayRef<unsigned> indices,
                       const llvm::DataLayout &layout) {
  size_t begin = 0;
  for (unsigned index : indices) {
    for (unsigned i = 0; i < index; ++i)
      begin += TypeLayout::of(llvm::ExtractValueInst::getIndexedType(type, i),
                              layout)
                   .lanes.size();
    type = llvm::ExtractValueInst::getIndexedType(type, index);
  }
  return begin;
}

/// Instructions that move lanes.
static bool moveLanes(const llvm::Instruction &instr,
                      llvm::ArrayRef<Lanes> operands, LanesOut result,
                      const llvm::DataLayout &layout) {
  switch (instr.getOpcode()) {
  case llvm::Instruction::ShuffleVector: {
    size_t size = operands[0].size();
    auto mask = cast<llvm::ShuffleVectorInst>(instr).getShuffleMask();
    for (auto [lane, from] : llvm::zip(result, mask))
      lane = from < 0              ? Lane::poison()
             : size_t(from) < size ? operands[0][size_t(from)]
                                   : operands[1][size_t(from) - size];
    return true;
  }
  case llvm::Instruction::InsertElement:
    llvm::copy(operands[0], result.begin());
    if (operands[2][0].isPoison || operands[2][0].bits >= result.size())
      std::fill(result.begin(), result.end(), Lane::poison());
    else
      result[operands[2][0].bits] = operands[1][0];
    return true;
  case llvm::Instruction::ExtractElement:
    result[0] =
        operands[1][0].isPoison || operands[1][0].bits >= operands[0].size()
            ? Lane::poison()
            : operands[0][operands[1][0].bits];
    return true;
  case llvm::Instruction::ExtractValue: {
    auto &extract = cast<llvm::ExtractValueInst>(instr);
    size_t begin = findPart(extract.getAggregateOperand()->getType(),
                            extract.getIndices(), layout);
    llvm::copy(operands[0].slice(begin, result.size()), result.begin());
    return true;
  }
  case llvm::Instruction::InsertValue: {
    auto &insert = cast<llvm::InsertValueInst>(instr);
    size_t begin = findPart(insert.getType(), insert.getIndices(), layout);
    llvm::copy(operands[0], result.begin());
    llvm::copy(operands[1], result.begin() + ptrdiff_t(begin));
    return true;
  }
  case llvm::Instruction::Freeze:
    for (auto [lane, from] : llvm::zip(result, operands[0]))
      lane = {from.bits, false};
    return true;
  default:
    return false;
  }
}

llvm::Error Interpreter::execute(Frame &frame, const Step &step) {
  const llvm::Instruction &instr = *step.source;
  LanesOut result = frame.getResult(step);
  llvm::SmallVector<Lanes, 4> operands;
  for (const Operand &operand : step.operands)
    operands.push_back(frame.get(operand));
  if (moveLanes(instr, operands, result, layout))
    return llvm::Error::success();
  switch (instr.getOpcode()) {
  case llvm::Instruction::Load:
    return load(step, operands[0], result);
  case llvm::Instruction::Store:
    return store(step, operands[0], operands[1]);
  case llvm::Instruction::Call:
    return call(frame, step, result);
  case llvm::Instruction::Select:
    return selectLanes(step, operands, result);
  case llvm::Instruction::GetElementPtr:
    for (size_t i = 0; i < result.size(); ++i) {
      uint64_t mask = step.type->lanes[i].getMask();
      result[i] = addAddress(operands[0][operands[0].size() == 1 ? 0 : i],
                             step.offset, mask);
      for (auto [index, scale] :
           llvm::zip(llvm::ArrayRef(operands).drop_front(), step.scales)) {
        Lane lane = index[index.size() == 1 ? 0 : i];
        result[i] = addAddress(result[i], lane.bits * scale, mask);
        result[i].isPoison |= lane.isPoison;
      }
    }
    return llvm::Error::success();
  case llvm::Instruction::Alloca: {
    auto &variable = cast<llvm::AllocaInst>(instr);
    uint64_t count = operands[0][0].bits;
    GLOWISH_ASSIGN_OR_RETURN(
        uint64_t address,
        memory.allocate(
            ("the variable %" + variable.getName()).str(),
            count * layout.getTypeAllocSize(variable.getAllocatedType()),
            variable.getAlign().value()));
    frame.variables.push_back(address);
    result[0] = {address, false};
    return llvm::Error::success();
  }
  default:
    break;
  }
  GLOWISH_ASSIGN_OR_RETURN(const TypeLayout *from,
                           getLayout(instr.getOperand(0)->getType()));
  if (isa<llvm::BitCastInst>(instr)) {
    bitcast(from->lanes, operands[0], step.type->lanes, result);
    return llvm::Error::success();
  }
  for (size_t i = 0; i < result.size(); ++i) {
    ScalarType type = from->lanes[i];
    if (instr.isBinaryOp()) {
      GLOWISH_ASSIGN_OR_RETURN(
          result[i],
          computeBinary(instr, type, operands[0][i], operands[1][i]));
    } else if (instr.isCast()) {
      GLOWISH_ASSIGN_OR_RETURN(
          result[i],
          computeCast(instr, type, step.type->lanes[i], operands[0][i]));
    } else if (auto *test = dyn_cast<llvm::CmpInst>(&instr)) {
      result[i] =
          compare(test->getPredicate(), type, operands[0][i], operands[1][i]);
    } else if (instr.getOpcode() == llvm::Instruction::FNeg) {
      result[i] = {operands[0][i].bits ^ uint64_t(1) << (type.bits - 1),
                   operands[0][i].isPoison};
    } else {
      return llvm::make_error<Unsupported>(instr.getOpcodeName());
    }
  }
  return llvm::Error::success();
}

//===- Calls --------------------------------------------------------------===//

/// Intrinsics that access memory, and those that say something only.
llvm::Error Interpreter::callMemory(const Step &step,
                                    llvm::ArrayRef<Lanes> operands,
                                    LanesOut result, bool &isKnown) {
  auto &instr = cast<llvm::CallBase>(*step.source);
  isKnown = true;
  if (isa<llvm::MemIntrinsic>(instr)) {
    if (operands[0][0].isPoison || operands[2][0].isPoison)
      return makeError("a place or size of memory has no value");
    if (isa<llvm::MemSetInst>(instr))
      return memory.fill(operands[0][0].bits, operands[1][0],
                         operands[2][0].bits);
    if (operands[1][0].isPoison)
      return makeError("a place of memory has no value");
    return memory.copy(operands[0][0].bits, operands[1][0].bits,
                       operands[2][0].bits);
  }
  switch (instr.getIntrinsicID()) {
  case llvm::Intrinsic::prefetch:
  case llvm::Intrinsic::lifetime_start:
  case llvm::Intrinsic::lifetime_end:
  case llvm::Intrinsic::assume:
  case llvm::Intrinsic::experimental_noalias_scope_decl:
    return llvm::Error::success();
  case llvm::Intrinsic::masked_load:
    for (size_t i = 0; i < result.size(); ++i) {
      if (operands[2][i].isPoison || operands[0][0].isPoison)
        return makeError("a masked read by what has no value");
      result[i] = operands[3][i];
      if (operands[2][i].bits) {
        GLOWISH_ASSIGN_OR_RETURN(
            result[i], memory.load(operands[0][0].bits + step.type->offsets[i],
                                   step.type->lanes[i]));
      }
    }
    return llvm::Error::success();
  case llvm::Intrinsic::masked_store: {
    GLOWISH_ASSIGN_OR_RETURN(const TypeLayout *type,
                             getLayout(instr.getArgOperand(0)->getType()));
    for (size_t i = 0; i < operands[0].size(); ++i) {
      if (operands[3][i].isPoison || operands[1][0].isPoison)
        return makeError("a masked write by what has no value");
      if (operands[3][i].bits)
        GLOWISH_RETURN_IF_ERROR(
            memory.store(operands[1][0].bits + type->offsets[i], type->lanes[i],
                         operands[0][i]));
    }
    return llvm::Error::success();
  }
  case llvm::Intrinsic::masked_gather:
    for (size_t i = 0; i < result.size(); ++i) {
      if (operands[2][i].isPoison ||
          (operands[2][i].bits && operands[0][i].isPoison))
        return makeError("a gather by what has no value");
      result[i] = operands[3][i];
      if (operands[2][i].bits) {
        GLOWISH_ASSIGN_OR_RETURN(
            result[i], memory.load(operands[0][i].bits, step.type->lanes[i]));
      }
    }
    return llvm::Error::success();
  default:
    isKnown = false;
    return llvm::Error::success();
  }
}

llvm::Error Interpreter::call(Frame &frame, const Step &step, LanesOut result) {
  auto &instr = cast<llvm::CallBase>(*step.source);
  llvm::SmallVector<Lanes, 4> operands;
  for (const Operand &operand : step.operands)
    operands.push_back(frame.get(operand));
  const llvm::Function *callee = instr.getCalledFunction();
  // Assembly without instructions hides a value from LLVM's passes.
  auto *assembly = dyn_cast<llvm::InlineAsm>(instr.getCalledOperand());
  if (assembly && assembly->getAsmString().empty() &&
      assembly->getConstraintString() == "=r,0") {
    llvm::copy(operands[0], result.begin());
    return llvm::Error::success();
  }
  if (!callee)
    return llvm::make_error<Unsupported>(
        instr.isInlineAsm() ? "inline assembly" : "an indirect call");
  if (callee->isIntrinsic()) {
    bool isKnown = false;
    GLOWISH_RETURN_IF_ERROR(callMemory(step, operands, result, isKnown));
    if (isKnown)
      return llvm::Error::success();
    GLOWISH_ASSIGN_OR_RETURN(const TypeLayout *type,
                             getLayout(instr.getArgOperand(0)->getType()));
    return computeIntrinsic(instr, type->lanes[0], operands, result);
  }
  llvm::SmallVector<Lane, 16> arguments;
  for (Lanes lanes : operands)
    arguments.append(lanes.begin(), lanes.end());
  GLOWISH_ASSIGN_OR_RETURN(auto returned, run(*callee, arguments));
  llvm::copy(returned, result.begin());
  return llvm::Error::success();
}
