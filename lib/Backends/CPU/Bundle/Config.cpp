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
    auto *global =
        new llvm::GlobalVariable(module, data->getType(), /*isConstant=*/true,
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

  /// A SymbolTableEntry, and a GlowishSymbol.
  llvm::Constant *getTableEntry(const BundleSymbol &symbol);
  llvm::Constant *getSymbol(const BundleSymbol &symbol);
  /// Structs or pointers of one type, as an array.
  llvm::Constant *getTable(llvm::ArrayRef<llvm::Constant *> entries);
  llvm::Constant *getConfig(const BundleFacts &facts,
                            const BundleProgram &program);
  llvm::Constant *getVariants(const BundleFacts &facts);

private:
  llvm::Module &module;
  llvm::LLVMContext &context;
};

} // namespace

llvm::Constant *DataEmitter::getTableEntry(const BundleSymbol &symbol) {
  return llvm::ConstantStruct::getAnon(
      {getString(symbol.identifier), getInt(64, symbol.offset),
       getInt(64, symbol.type.getNumElements()),
       getInt(8, symbol.isInArena ? 2 : 1)});
}

llvm::Constant *DataEmitter::getSymbol(const BundleSymbol &symbol) {
  const Type &type = symbol.type;
  QuantParams quant;
  if (type.isQuantized())
    quant = type.getQuantParams();
  std::vector<uint64_t> dims(type.getShape().begin(), type.getShape().end());
  return llvm::ConstantStruct::getAnon(
      {getString(symbol.modelName), getInt(64, symbol.offset),
       getInt(64, type.getNumElements()), getInt(64, type.getSizeInBytes()),
       getInt(8, symbol.direction), getInt(8, getKindNumber(type.getKind())),
       getInt(8, type.getRank()), getInt(8, getRegionNumber(symbol)),
       getInt(32, uint32_t(quant.axis)), getArray<uint64_t>(dims),
       getInt(64, quant.scales.size()), getArray<float>(quant.scales),
       getArray<int32_t>(quant.offsets),
       getInt(64, symbol.extents ? *symbol.extents : UINT64_MAX)});
}

llvm::Constant *
DataEmitter::getTable(llvm::ArrayRef<llvm::Constant *> entries) {
  if (entries.empty())
    return llvm::ConstantPointerNull::get(
        llvm::PointerType::getUnqual(context));
  auto *type = llvm::ArrayType::get(entries[0]->getType(), entries.size());
  return getPointerTo(llvm::ConstantArray::get(type, entries),
                      /*isEmpty=*/false);
}

llvm::Constant *DataEmitter::getConfig(const BundleFacts &facts,
                                       const BundleProgram &program) {
  std::vector<llvm::Constant *> entries, symbols;
  for (const BundleSymbol &symbol : program.symbols) {
    entries.push_back(getTableEntry(symbol));
    symbols.push_back(getSymbol(symbol));
  }
  return llvm::ConstantStruct::getAnon(
      {getInt(64, facts.constantSize), getInt(64, program.plan.mutableSize),
       getInt(64, program.activationSize), getInt(64, facts.alignment),
       getInt(64, entries.size()), getTable(entries), getTable(symbols),
       getInt(64, bundleAbiVersion), getInt(64, facts.options.modelHash),
       getInt(64, facts.weightsChecksum)});
}

llvm::Constant *DataEmitter::getVariants(const BundleFacts &facts) {
  std::vector<llvm::Constant *> names, programs;
  for (const BundleDim &dim : facts.dims)
    names.push_back(getString(dim.modelName));
  for (const BundleProgram &program : facts.programs) {
    std::vector<uint64_t> values(program.values.begin(), program.values.end());
    programs.push_back(llvm::ConstantStruct::getAnon(
        {getArray<uint64_t>(values), getConfig(facts, program)}));
  }
  return llvm::ConstantStruct::getAnon(
      {getInt(64, names.size()), getTable(names),
       getInt(64, facts.constantSize), getInt(64, facts.mutableSize),
       getInt(64, facts.activationSize), getInt(64, facts.alignment),
       getInt(64, programs.size()), getTable(programs)});
}

void glowish::emitConfig(llvm::Module &module, const BundleFacts &facts) {
  DataEmitter data(module);
  auto add = [&](const std::string &name, llvm::Constant *config) {
    new llvm::GlobalVariable(module, config->getType(), /*isConstant=*/true,
                             llvm::GlobalValue::ExternalLinkage, config, name);
  };
  if (!facts.dims.empty())
    return add(facts.options.networkName + "_variants",
               data.getVariants(facts));
  for (const BundleProgram &program : facts.programs)
    add(getConfigName(facts, program), data.getConfig(facts, program));
}

void glowish::emitBytes(llvm::Module &module, llvm::StringRef name,
                        llvm::ArrayRef<uint8_t> data, uint64_t alignment) {
  llvm::Constant *bytes =
      llvm::ConstantDataArray::get(module.getContext(), data);
  auto *global =
      new llvm::GlobalVariable(module, bytes->getType(), /*isConstant=*/true,
                               llvm::GlobalValue::ExternalLinkage, bytes, name);
  global->setAlignment(llvm::Align(alignment));
}
