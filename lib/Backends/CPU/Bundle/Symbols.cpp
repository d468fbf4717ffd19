//===- Symbols.cpp - The placeholders as a bundle shows them --------------===//

#include "Symbols.h"
#include "glowish/Backends/CPU/Bundle.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

bool glowish::isCIdentifier(llvm::StringRef name) {
  if (name.empty() || llvm::isDigit(name[0]) ||
      !llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; }))
    return false;
  static const llvm::StringSet<> keywords = {
      "alignas",   "alignof",  "and",      "asm",      "auto",      "bool",
      "break",     "case",     "catch",    "char",     "class",     "const",
      "constexpr", "continue", "default",  "delete",   "do",        "double",
      "else",      "enum",     "explicit", "export",   "extern",    "false",
      "float",     "for",      "friend",   "goto",     "if",        "inline",
      "int",       "long",     "main",     "mutable",  "namespace", "new",
      "noexcept",  "not",      "nullptr",  "operator", "or",        "private",
      "protected", "public",   "register", "restrict", "return",    "short",
      "signed",    "sizeof",   "static",   "struct",   "switch",    "template",
      "this",      "throw",    "true",     "try",      "typedef",   "typeid",
      "typename",  "union",    "unsigned", "using",    "virtual",   "void",
      "volatile",  "while",    "xor"};
  return !keywords.contains(name);
}

std::string glowish::legalizeName(llvm::StringRef name) {
  std::string text = name.empty() ? "A" : name.str();
  for (char &c : text)
    if (!llvm::isAlnum(c))
      c = '_';
  return llvm::isDigit(text[0]) ? "A" + text : text;
}

std::string glowish::makeIdentifier(llvm::StringRef name,
                                    llvm::StringSet<> &taken) {
  std::string base = legalizeName(name);
  std::string identifier = base;
  for (unsigned i = 1; !taken.insert(identifier).second; ++i)
    identifier = base + "__" + std::to_string(i);
  return identifier;
}

std::vector<BundleSymbol> glowish::getBundleSymbols(const IRFunction &function,
                                                    const MemoryPlan &plan) {
  std::vector<BundleSymbol> symbols;
  llvm::StringSet<> taken;
  llvm::DenseMap<const Buffer *, unsigned> numbers;
  for (const auto &buffer : function.getBuffers()) {
    if (buffer->getKind() != Buffer::Kind::Mutable)
      continue;
    symbols.push_back(
        {buffer->getModelName().str(),
         makeIdentifier(buffer->getModelName(), taken), buffer->getType(),
         unsigned(buffer->isInput()) | unsigned(buffer->isOutput()) << 1,
         plan.isInArena(buffer.get()), plan.getOffset(buffer.get()),
         std::nullopt});
    numbers[buffer.get()] = symbols.size() - 1;
  }
  for (auto [buffer, number] : numbers)
    if (const Buffer *extents = buffer->getExtents())
      symbols[number].extents = numbers.lookup(extents);
  return symbols;
}

std::vector<BundleConstant>
glowish::getBundleConstants(const IRFunction &function,
                            const MemoryPlan &plan) {
  std::vector<BundleConstant> constants;
  forEachFunction(function, [&](const IRFunction &each) {
    for (const auto &buffer : each.getBuffers())
      if (buffer->getKind() == Buffer::Kind::Constant)
        constants.push_back({buffer->getName().str(), buffer->getType(),
                             plan.getOffset(buffer.get())});
  });
  return constants;
}
