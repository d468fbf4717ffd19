"""Caffe2 nets without weights: what to state so that they load, or what they
must say is missing.

Biases and statistics have the shapes that the net implies, and are zeros; of
filters nobody can tell the number of outputs.
"""

from dataclasses import dataclass, field


@dataclass
class Net:
    """Inputs by name, with their shapes; parts of the expected message."""
    path: str
    inputs: dict = field(default_factory=dict)
    error: list = field(default_factory=list)
    variant: str = ""

    @property
    def name(self):
        return self.path.split("/")[0] + self.variant


def layers(suffix, **shapes):
    return {name + suffix: shape for name, shape in shapes.items()}


ALEXNET = {"data": [1, 3, 227, 227], **layers(
    "_w", conv1=[96, 3, 11, 11], conv2=[256, 48, 5, 5], conv3=[384, 256, 3, 3],
    conv4=[384, 192, 3, 3], conv5=[256, 192, 3, 3], fc6=[4096, 9216],
    fc7=[4096, 4096], fc8=[1000, 4096])}


def vgg19():
    """Its filters are in a row: 64, 128, 256, 512, 512 channels."""
    shapes, channels = {"data": [1, 3, 224, 224]}, 3
    for block, (count, outputs) in enumerate(
            [(2, 64), (2, 128), (4, 256), (4, 512), (4, 512)]):
        for i in range(count):
            shapes[f"conv{block + 1}_{i + 1}_w"] = [outputs, channels, 3, 3]
            channels = outputs
    return {**shapes, "fc6_w": [4096, 25088], "fc7_w": [4096, 4096],
            "fc8_w": [1000, 4096]}


def resnet50():
    """Filters of its four stages of bottlenecks."""
    shapes = {"gpu_0/data": [1, 3, 224, 224],
              "gpu_0/conv1_w": [64, 3, 7, 7]}
    channels = 64
    for stage, (count, width) in enumerate(
            [(3, 64), (4, 128), (6, 256), (3, 512)], 2):
        for block in range(count):
            name = f"gpu_0/res{stage}_{block}_branch"
            shapes[name + "2a_w"] = [width, channels, 1, 1]
            shapes[name + "2b_w"] = [width, width, 3, 3]
            shapes[name + "2c_w"] = [4 * width, width, 1, 1]
            if block == 0:
                shapes[name + "1_w"] = [4 * width, channels, 1, 1]
            channels = 4 * width
    return {**shapes, "gpu_0/pred_w": [1000, 2048]}


ZFNET = {"gpu_0/data": [1, 3, 224, 224], **{
    f"gpu_0/{name}_w": shape for name, shape in {
        "conv1": [96, 3, 7, 7], "conv2": [256, 96, 5, 5],
        "conv3": [512, 256, 3, 3], "conv4": [1024, 512, 3, 3],
        "conv5": [512, 1024, 3, 3], "fc6": [4096, 18432], "fc7": [4096, 4096],
        "fc8": [1000, 4096]}.items()}}

DETECTION = ["nodes have operators that are not supported", "GenerateProposals",
             "BBoxTransform", "BoxWithNMSLimit"]

NETS = [
    Net("bvlc_alexnet/predict_net.pbtxt", ALEXNET),
    Net("vgg19/predict_net.pbtxt", vgg19()),
    Net("resnet50/predict_net.pbtxt", resnet50()),
    Net("zfnet512/predict_net.pbtxt", ZFNET),
    Net("bvlc_alexnet/predict_net.pbtxt", {"data": [1, 3, 227, 227]},
        ["8 blobs have neither a value, as init_net would give them, nor a type",
         "node 'conv1' (Conv): input 1, 'conv1_w'"], ":without"),
    Net("inception_v1/predict_net.pbtxt", {"data": [1, 3, 224, 224]},
        ["58 blobs have neither", "'conv1/7x7_s2_w'"]),
    Net("inception_v2/predict_net.pbtxt", {"data": [1, 3, 224, 224]},
        ["have neither", "'conv1/7x7_s2_w'"]),
    Net("densenet121/predict_net.pbtxt", {"data": [1, 3, 224, 224]},
        ["have neither", "'conv1_w'"]),
    Net("e2e_faster_rcnn_R-50-C4_1x/predict_net.pbtxt", {}, DETECTION),
    Net("mask_rcnn_2go_fp32/model.pbtxt", {}, DETECTION),
    Net("mask_rcnn_2go_int8/model.pbtxt", {}, DETECTION),
]
