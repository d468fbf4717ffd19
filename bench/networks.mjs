// The networks that are compared, and the folders that hold them.

import {spawnSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {join} from 'node:path';

export const python = '/usr/bin/python3';

// Sets of networks that have something in common; each has its own table.
export const sets = {
  'Convolutional networks': [
    'resnet18', 'resnet50', 'vgg16', 'squeezenet1_1', 'inception_v3',
    'densenet121', 'unet_small', 'espcn',
  ],
  'Depthwise convolutions':
      ['mobilenet_v2', 'mobilenet_v3_large', 'efficientnet_b0'],
  'Transformers': ['bert_base', 'bert_tiny', 'gpt2_small', 'vit_b_16'],
  'Small and recurrent networks':
      ['mlp', 'mlp_b64', 'lenet', 'lstm_text', 'dlrm'],
};

export const allNetworks = Object.values(sets).flat();

// The set that `name` belongs to; networks of one's own are in one more.
export function getSet(name) {
  return Object.keys(sets).find((set) => sets[set].includes(name)) ??
      'Other networks';
}

export function hasTorch() {
  return spawnSync(python, ['-c', 'import torchvision']).status === 0;
}

// Exports what is missing; {found, missing} names.
export function findNetworks({networks, models, exporter, quantized}) {
  const isThere = (name) => existsSync(join(models, name, 'output_0.npy'));
  const missing = networks.filter((name) => !isThere(name));
  if (missing.length && !quantized && existsSync(exporter) && hasTorch()) {
    console.error(`exporting ${missing.join(' ')}`);
    spawnSync(python, [exporter, '--out', models, ...missing],
              {stdio: ['ignore', 2, 2]});
  }
  return {found: networks.filter(isThere),
          missing: networks.filter((name) => !isThere(name))};
}
