//===- Config.cpp - The data of a bundle's object -------------------------===//

#include "Config.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/GlobalVariable.h"

using namespace glowish;

namespace {

/// Makes constants in one LLVM module.
class DataEmitter {
public:
  explicit DataEmitter(llvm::Module &module)
      : module(module), context(module.getContext()) {}

  llvm::Constant *getInt(unsigned bits, uint64_t value) {
    return llvm::ConstantInt::get(llvm::Type::getIntNTy(context, bits), value);
  }
  /// A private global that holds \p data; null where it would be empty.
  llvm::Constant *getPointerTo(llvm::Constant *data, bool isEmpty) {
    if (isEmpty)
      return llvm::ConstantPointerNull::get(
          llvm::PointerType::getUnqual(context));
    auto *global = new llvm::GlobalVariable(
        module, data->getType(), /*isConstant=*/true,
        llvm::GlobalValue::PrivateLinkage, data);
    global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    return global;
  }
  llvm::Constant *getString(llvm::StringRef text) {
    return getPointerTo(llvm::ConstantDataArray::getString(context, text),
                        /*isEmpty=*/false);
  }
  template <typename T> llvm::Constant *getArray(llvm::ArrayRef<T> values) {
    return getPointerTo(llvm::ConstantDataArray::get(context, values),
                        values.empty());
  }

  llvm::Constant *getSymbol(const BundleSymbol &symbol);

private:
  llvm::Module &module;
  llvm::LLVMContext &context;
};

} // namespace

llvm::Constant *DataEmitter::getSymbol(const BundleSymbol &symbol) {
  const Type &type = symbol.type;
  QuantParams quant;
  if (type.isQuantized())
    quant = type.getQuantParams();
  std::vector<uint64_t> dims(type.getShape().begin(), type.getShape().end());
  return llvm::ConstantStruct::getAnon(
      {getString(symbol.modelName), getInt(64, symbol.offset),
       getInt(64, type.getNumElements()), getInt(8, 1),
       getInt(8, symbol.direction), getInt(8, getKindNumber(type.getKind())),
       getInt(8, type.getRank()), getInt(32, uint32_t(quant.axis)),
       getInt(64, type.getSizeInBytes()), getArray<uint64_t>(dims),
       getInt(64, quant.scales.size()), getArray<float>(quant.scales),
       getArray<int32_t>(quant.offsets),
       getInt(64, symbol.extents ? *symbol.extents : UINT64_MAX)});
}

void glowish::emitConfig(llvm::Module &module, const BundleFacts &facts) {
  DataEmitter data(module);
  std::vector<llvm::Constant *> entries;
  for (const BundleSymbol &symbol : facts.symbols)
    entries.push_back(data.getSymbol(symbol));
  llvm::Constant *table = llvm::ConstantPointerNull::get(
      llvm::PointerType::getUnqual(module.getContext()));
  if (!entries.empty())
    table = data.getPointerTo(
        llvm::ConstantArray::get(
            llvm::ArrayType::get(entries[0]->getType(), entries.size()),
            entries),
        /*isEmpty=*/false);
  const MemoryPlan &plan = facts.plan;
  llvm::Constant *config = llvm::ConstantStruct::getAnon(
      {data.getInt(64, plan.constantSize), data.getInt(64, plan.mutableSize),
       data.getInt(64, plan.activationSize), data.getInt(64, plan.alignment),
       data.getInt(64, entries.size()), table,
       data.getInt(64, bundleAbiVersion),
       data.getInt(64, facts.options.modelHash),
       data.getInt(64, facts.weightsChecksum)});
  new llvm::GlobalVariable(module, config->getType(), /*isConstant=*/true,
                           llvm::GlobalValue::ExternalLinkage, config,
                           facts.options.networkName + "_config");
}

void glowish::emitWeights(llvm::Module &module, const BundleFacts &facts,
                          llvm::ArrayRef<uint8_t> weights) {
  llvm::Constant *bytes =
      llvm::ConstantDataArray::get(module.getContext(), weights);
  auto *global = new llvm::GlobalVariable(
      module, bytes->getType(), /*isConstant=*/true,
      llvm::GlobalValue::ExternalLinkage, bytes,
      facts.options.networkName + "_weights");
  global->setAlignment(llvm::Align(facts.plan.alignment));
}
