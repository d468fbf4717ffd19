//===- CodeGenerationTest.cpp - What LLVM cannot make code of -------------===//

#include "CodeGeneration.h"
#include "IRHelpers.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Backends/CPU/FatalErrors.h"
#include "glowish/Support/Error.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/ErrorHandling.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace glowish;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

/// Makes code for \p triple, which need not be accepted, of a function that
/// \p emit adds to; its argument is an int32.
static llvm::Error
makeCode(const std::string &triple,
         llvm::function_ref<llvm::Value *(llvm::IRBuilder<> &, llvm::Value *)>
             emit) {
  // Has all targets of LLVM registered.
  llvm::cantFail(CPUBackend::create(TargetOptions()));
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return makeError("{0}", message);
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, "", "", llvm::TargetOptions(), llvm::Reloc::PIC_));
  llvm::LLVMContext context;
  llvm::Module module("m", context);
  module.setTargetTriple(triple);
  module.setDataLayout(machine->createDataLayout());
  llvm::Type *type = llvm::Type::getInt32Ty(context);
  auto *function = llvm::Function::Create(
      llvm::FunctionType::get(type, {type}, false),
      llvm::GlobalValue::ExternalLinkage, "kernel", module);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "", function));
  b.CreateRet(emit(b, function->getArg(0)));
  GLOWISH_RETURN_IF_ERROR(optimizeModule(module, *machine));
  llvm::SmallVector<char, 0> code;
  return emitCode(module, *machine, llvm::CodeGenFileType::ObjectFile, code);
}

/// Float arithmetic, which BPF does not have.
static llvm::Value *emitFloats(llvm::IRBuilder<> &b, llvm::Value *x) {
  llvm::Value *value = b.CreateSIToFP(x, b.getFloatTy());
  return b.CreateFPToSI(b.CreateFMul(value, value), b.getInt32Ty());
}

/// A count of zeros, which LLVM 19 cannot make code of for Xtensa.
static llvm::Value *emitCount(llvm::IRBuilder<> &b, llvm::Value *x) {
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, x, b.getFalse());
}

TEST(CodeGeneration, ReportsWhatLLVMReports) {
  std::string message = llvm::toString(makeCode("bpfel", emitFloats));
  EXPECT_THAT(message,
              MatchesRegex("target 'bpfel': LLVM cannot make code of function "
                           "'kernel': [^\n]*"));
  EXPECT_THAT(message, Not(HasSubstr("0x")));
}

TEST(CodeGenerationDeathTest, DescribesFatalErrors) {
  auto run = [] {
    llvm::install_fatal_error_handler([](void *, const char *reason, bool) {
      llvm::errs() << describeFatalError(reason) << "\n";
      exit(1);
    });
    llvm::consumeError(makeCode("xtensa", emitCount));
    exit(0);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(1),
              "^target 'xtensa': LLVM cannot make code of function 'kernel': "
              "Cannot select: i32 = ctlz\n$");
}

TEST(CodeGeneration, DescribesFatalErrorsOutsideIt) {
  EXPECT_EQ(describeFatalError("out of ideas\nand more"), "LLVM: out of ideas");
}

/// Kinds that passes of the back end replace.
TEST(CodeGeneration, RefusesWhatPassesHadToReplace) {
  auto backend = llvm::cantFail(CPUBackend::create(TargetOptions()));
  auto emit = [&](llvm::StringRef operands, llvm::StringRef code) {
    auto function = test::parse(
        ("ir \"f\" {\n" + operands + "code {\n\"here\" " + code + "\n}\n}\n")
            .str());
    llvm::LLVMContext context;
    return llvm::toString(
        backend->emitModule(context, *function, planMemory(*function), "f", {})
            .takeError());
  };
  auto message = [](llvm::StringRef kind) {
    return ("instruction 'here' (" + kind +
            ") has no kernel: the back end's passes replace it before code is "
            "generated")
        .str();
  };
  EXPECT_EQ(
      emit("mutable %y : float<1x4x4x8> output \"y\"\n"
           "mutable %x : float<1x4x4x3> input \"x\"\n"
           "mutable %w : float<8x1x1x3> input \"w\"\n",
           "Convolution(@out %y, @in %x, @in %w, none) {strides = [1, 1], "
           "pads = [0, 0, 0, 0], dilations = [1, 1], group = 1}"),
      message("Convolution"));
  EXPECT_EQ(emit("mutable %y : int32<4x8> output \"y\"\n"
                 "mutable %x : int8<4x3> input \"x\"\n"
                 "mutable %w : int8<3x8> input \"w\"\n",
                 "MatMulInteger(@out %y, @in %x, @in %w, none)"),
            message("MatMulInteger"));
}
