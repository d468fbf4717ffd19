//===- TextSeeds.cpp - Small text forms to mutate -------------------------===//

#include "TextSeeds.h"
#include "Seeds.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/IR/IRText.h"
#include "glowish/Importer/ONNX.h"

using namespace glowish;
using namespace glowish::robustness;

/// \p seed as far as \p form; empty where it can't be imported.
static TextSeed print(const Seed &seed, TextForm form) {
  TextSeed result{seed.name, "", ""};
  ImportOptions options;
  options.evaluate = evaluateNode;
  auto module = importOnnx(
      llvm::ArrayRef(reinterpret_cast<const uint8_t *>(seed.model.data()),
                     seed.model.size()),
      seed.name, options);
  if (!module) {
    llvm::consumeError(module.takeError());
    return result;
  }
  std::unique_ptr<Backend> interpreter = createInterpreter();
  Compilation compilation(*interpreter, {});
  ModelGraph graph(std::move(*module));
  llvm::raw_string_ostream text(result.text), weights(result.weights);
  switch (form) {
  case TextForm::Graph:
    printModule(text, graph.getModule(), &weights);
    break;
  case TextForm::LoweredGraph:
    graph = llvm::cantFail(compilation.optimize(std::move(graph)));
    printModule(text,
                llvm::cantFail(compilation.lower(std::move(graph))).getModule(),
                &weights);
    break;
  case TextForm::IR:
    printIR(text, llvm::cantFail(compilation.compile(std::move(graph))).getIR(),
            &weights);
    break;
  }
  return result;
}

std::vector<TextSeed>
glowish::robustness::makeTextSeeds(std::initializer_list<TextForm> forms) {
  std::vector<TextSeed> texts;
  for (TextForm form : forms)
    for (const Seed &seed : makeSeeds())
      if (TextSeed text = print(seed, form); !text.text.empty())
        texts.push_back(std::move(text));
  return texts;
}
