"""Caffe2 nets without weights: what to state so that they load, or what they
must say is missing.

All weights are zeros. Those whose shapes the net implies need not be stated:
biases, statistics, and what is multiplied and added along an axis. The number
of outputs of a filter is not implied: those below are the networks' own, and a
quarter of them is stated, for which as much is checked in less time.
"""

from dataclasses import dataclass, field


@dataclass
class Net:
    """What is stated, by name, with shapes; parts of the expected message.

    Without one the net loads: its only input is the first that is stated, and
    it has `num_zeros` weights and makes `value` of any image.
    """
    path: str
    inputs: dict = field(default_factory=dict)
    error: list = field(default_factory=list)
    variant: str = ""
    num_zeros: int = 0
    value: float = 1 / 1000

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

def inception_v1():
    """GoogLeNet: modules of 1x1, 3x3 and 5x5 filters and a pooling."""
    shapes = {"data": [1, 3, 224, 224], "conv1/7x7_s2_w": [64, 3, 7, 7],
              "conv2/3x3_reduce_w": [64, 64, 1, 1],
              "conv2/3x3_w": [192, 64, 3, 3]}
    channels = 192
    for module, widths in {
            "3a": (64, 96, 128, 16, 32, 32), "3b": (128, 128, 192, 32, 96, 64),
            "4a": (192, 96, 208, 16, 48, 64), "4b": (160, 112, 224, 24, 64, 64),
            "4c": (128, 128, 256, 24, 64, 64),
            "4d": (112, 144, 288, 32, 64, 64),
            "4e": (256, 160, 320, 32, 128, 128),
            "5a": (256, 160, 320, 32, 128, 128),
            "5b": (384, 192, 384, 48, 128, 128)}.items():
        one, reduce3, three, reduce5, five, pool = widths
        shapes.update({f"inception_{module}/{name}_w": shape for name, shape in {
            "1x1": [one, channels, 1, 1],
            "3x3_reduce": [reduce3, channels, 1, 1],
            "3x3": [three, reduce3, 3, 3],
            "5x5_reduce": [reduce5, channels, 1, 1],
            "5x5": [five, reduce5, 5, 5],
            "pool_proj": [pool, channels, 1, 1]}.items()})
        channels = one + three + five + pool
    # The file has the shape that Caffe gave it: axis_w is 3.
    return {**shapes, "loss3/classifier_w": [1, 1, 1000, channels]}


def inception_v2():
    """Two 3x3 filters in place of a 5x5; 3c and 4e halve the image."""
    shapes = {"data": [1, 3, 224, 224], "conv1/7x7_s2_w": [64, 3, 7, 7],
              "conv2/3x3_reduce_w": [64, 64, 1, 1],
              "conv2/3x3_w": [192, 64, 3, 3]}
    channels = 192
    for module, widths in {
            "3a": (64, 64, 64, 64, 96, 32), "3b": (64, 64, 96, 64, 96, 64),
            "3c": (0, 128, 160, 64, 96, 0), "4a": (224, 64, 96, 96, 128, 128),
            "4b": (192, 96, 128, 96, 128, 128),
            "4c": (160, 128, 160, 128, 160, 96),
            "4d": (96, 128, 192, 160, 192, 96),
            "4e": (0, 128, 192, 192, 256, 0),
            "5a": (352, 192, 320, 160, 224, 128),
            "5b": (352, 192, 320, 192, 224, 128)}.items():
        one, reduce3, three, reduce_two, two, pool = widths
        shapes.update({f"inception_{module}/{name}_w": shape for name, shape in {
            "1x1": [one, channels, 1, 1],
            "3x3_reduce": [reduce3, channels, 1, 1],
            "3x3": [three, reduce3, 3, 3],
            "double3x3_reduce": [reduce_two, channels, 1, 1],
            "double3x3a": [two, reduce_two, 3, 3],
            "double3x3b": [two, two, 3, 3],
            "pool_proj": [pool, channels, 1, 1]}.items() if shape[0]})
        # Without a projection the pooled channels pass.
        channels = one + three + two + (pool or channels)
    return {**shapes, "loss3/classifier_w": [1000, channels]}


def densenet121():
    """Each layer of a block adds 32 channels; between them half are left."""
    shapes = {"data": [1, 3, 224, 224], "conv1_w": [64, 3, 7, 7]}
    channels = 64
    for block, count in enumerate([6, 12, 24, 16], 2):
        for i in range(count):
            shapes[f"conv{block}_{i + 1}/x1_w"] = [128, channels, 1, 1]
            shapes[f"conv{block}_{i + 1}/x2_w"] = [32, 128, 3, 3]
            channels += 32
        if block < 5:
            shapes[f"conv{block}_blk_w"] = [channels // 2, channels, 1, 1]
            channels //= 2
    return {**shapes, "fc6_w": [1000, channels, 1, 1]}


def narrow(shapes):
    """A quarter of the channels, but of the image's 3 and the 1000 classes."""
    def divide(extent):
        return extent if extent in (3, 1000) else extent // 4

    result = {}
    for name, shape in shapes.items():
        at = 2 if shape[:2] == [1, 1] else 0  # outputs and inputs
        result[name] = shape if not name.endswith("_w") else \
            [*shape[:at], *map(divide, shape[at:at + 2]), *shape[at + 2:]]
    return result


DETECTION = ["nodes have operators that are not supported", "GenerateProposals",
             "BBoxTransform", "BoxWithNMSLimit"]

NETS = [
    Net("bvlc_alexnet/predict_net.pbtxt", narrow(ALEXNET), num_zeros=16),
    Net("vgg19/predict_net.pbtxt", narrow(vgg19()), num_zeros=38),
    Net("resnet50/predict_net.pbtxt", narrow(resnet50()), num_zeros=267),
    Net("zfnet512/predict_net.pbtxt", narrow(ZFNET), num_zeros=16),
    Net("inception_v1/predict_net.pbtxt", narrow(inception_v1()),
        num_zeros=116),
    Net("inception_v2/predict_net.pbtxt", narrow(inception_v2()),
        num_zeros=485),
    # The only one without a softmax.
    Net("densenet121/predict_net.pbtxt", narrow(densenet121()),
        num_zeros=848, value=0),
    Net("bvlc_alexnet/predict_net.pbtxt", {"data": [1, 3, 227, 227]},
        ["8 blobs have neither a value, as init_net would give them, nor a type",
         "node 'conv1' (Conv): input 1, 'conv1_w'"], ":without"),
    Net("inception_v1/predict_net.pbtxt", {"data": [1, 3, 224, 224]},
        ["58 blobs have neither", "'conv1/7x7_s2_w'"], ":without"),
    Net("inception_v2/predict_net.pbtxt", {"data": [1, 3, 224, 224]},
        ["70 blobs have neither", "'conv1/7x7_s2_w'"], ":without"),
    Net("densenet121/predict_net.pbtxt", {"data": [1, 3, 224, 224]},
        ["121 blobs have neither", "'conv1_w'"], ":without"),
    Net("e2e_faster_rcnn_R-50-C4_1x/predict_net.pbtxt", {}, DETECTION),
    Net("mask_rcnn_2go_fp32/model.pbtxt", {}, DETECTION),
    Net("mask_rcnn_2go_int8/model.pbtxt", {}, DETECTION),
]
