//===- ProbeProgram.cpp - Programs that measure this machine --------------===//

#include "Target/ProbeProgram.h"
#include "JIT.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Module.h"

using namespace glowish;

llvm::Expected<std::unique_ptr<Executable>>
glowish::compileProbe(CPUBackend &backend, llvm::StringRef name,
                      llvm::function_ref<void(llvm::Function &entry)> emit) {
  llvm::LLVMContext context;
  llvm::Module module(name, context);
  module.setTargetTriple(backend.getTargetMachine().getTargetTriple().str());
  module.setDataLayout(backend.getTargetMachine().createDataLayout());
  llvm::Type *pointer = llvm::PointerType::getUnqual(context);
  auto *type = llvm::FunctionType::get(llvm::Type::getInt32Ty(context),
                                       {pointer, pointer, pointer},
                                       /*isVarArg=*/false);
  auto *entry = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                       jitEntryName, module);
  backend.getTarget().addFunctionAttributes(*entry);
  emit(*entry);
  GLOWISH_ASSIGN_OR_RETURN(auto object, backend.emitObject(module));
  return loadObject(object);
}
