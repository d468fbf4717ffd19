//===- Settings.h - How TensorFlow Lite is read -----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TFLITE_SETTINGS_H
#define GLOWISH_LIB_IMPORTER_TFLITE_SETTINGS_H

#include "glowish/Importer/ModelFormat.h"

namespace glowish::tflite {

/// ModelFormat::createSettings.
std::unique_ptr<FormatSettings> createSettings(SettingGroup &group);

} // namespace glowish::tflite

#endif // GLOWISH_LIB_IMPORTER_TFLITE_SETTINGS_H
