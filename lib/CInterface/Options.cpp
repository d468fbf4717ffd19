//===- Options.cpp - Options of the C interface ---------------------------===//

#include "Handles.h"
#include "glowish/Support/SettingNames.h"

using namespace glowish;

std::vector<std::string> glowish_options::describeAll() const {
  std::vector<std::string> result;
  for (const Setting *setting : all)
    result.push_back(spellSettings(setting->getDescription(), spellAsOption));
  return result;
}

glowish_options *glowish_options_create() { return new glowish_options; }

void glowish_options_free(glowish_options *options) { delete options; }

glowish_error *glowish_options_set(glowish_options *options, const char *name,
                                   const char *value) {
  GLOWISH_RETURN_IF_NULL(options);
  GLOWISH_RETURN_IF_NULL(name);
  return toCError(options->settings.set(name, value ? value : ""));
}

glowish_error *glowish_options_bind_dimension(glowish_options *options,
                                              const char *symbol,
                                              int64_t value) {
  GLOWISH_RETURN_IF_NULL(symbol);
  return glowish_options_set(
      options, "define-symbol",
      (llvm::Twine(symbol) + "," + llvm::Twine(value)).str().c_str());
}

size_t glowish_options_count(const glowish_options *options) {
  return options ? options->all.size() : 0;
}

/// Names are literals, which end with a zero.
const char *glowish_options_name(const glowish_options *options, size_t index) {
  return index < glowish_options_count(options)
             ? options->all[index]->getName().data()
             : nullptr;
}

const char *glowish_options_description(const glowish_options *options,
                                        size_t index) {
  return index < glowish_options_count(options)
             ? options->descriptions[index].c_str()
             : nullptr;
}
