"""The networks that bench/train trains, with batches to learn from.

Each entry of NETWORKS makes a PyTorch module, and arrays [steps, batch, ...] of
inputs and labels that can be learned: a loss that only explodes tells nothing.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

BATCH = 32


class LeNet(nn.Module):
    """LeCun et al., 1998, with ReLU: 28x28 images, ten classes."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(400, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.fc1(x.flatten(1)))
        return self.fc3(F.relu(self.fc2(x)))


class ResidualBlock(nn.Module):
    def __init__(self, channels, out_channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out_channels, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(out_channels)
        self.conv2 = nn.Conv2d(out_channels, out_channels, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(out_channels)
        # Goyal et al., 2017: blocks begin as identities.
        nn.init.zeros_(self.norm2.weight)
        self.shortcut = nn.Identity()
        if stride != 1 or channels != out_channels:
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels, out_channels, 1, stride, bias=False),
                nn.BatchNorm2d(out_channels))

    def forward(self, x):
        y = self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x)))))
        return F.relu(y + self.shortcut(x))


class ResNet18(nn.Module):
    """He et al., 2015, with a first layer for 32x32 images."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 64, 3, 1, 1, bias=False)
        self.norm = nn.BatchNorm2d(64)
        blocks, channels = [], 64
        for out_channels, stride in [(64, 1), (64, 1), (128, 2), (128, 1),
                                     (256, 2), (256, 1), (512, 2), (512, 1)]:
            blocks.append(ResidualBlock(channels, out_channels, stride))
            channels = out_channels
        self.blocks = nn.Sequential(*blocks)
        self.fc = nn.Linear(512, 10)

    def forward(self, x):
        x = self.blocks(F.relu(self.norm(self.conv(x))))
        return self.fc(x.mean((2, 3)))


class LanguageModel(nn.Module):
    """Zaremba et al., 2014, small: one LSTM layer over 35 words."""

    WORDS, WIDTH, LENGTH = 1000, 200, 35

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(self.WORDS, self.WIDTH)
        self.lstm = nn.LSTM(self.WIDTH, self.WIDTH, batch_first=True)
        self.fc = nn.Linear(self.WIDTH, self.WORDS)

    def forward(self, x):
        return self.fc(self.lstm(self.embedding(x))[0])


class Transformer(nn.Module):
    """Vaswani et al., 2017: an encoder of two layers that classifies."""

    WORDS, WIDTH, LENGTH = 1000, 128, 64

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(self.WORDS, self.WIDTH)
        self.position = nn.Parameter(
            torch.randn(1, self.LENGTH, self.WIDTH) * 0.02)
        layer = nn.TransformerEncoderLayer(self.WIDTH, 4, 4 * self.WIDTH, 0.0,
                                           "gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.fc = nn.Linear(self.WIDTH, 10)

    def forward(self, x):
        x = self.encoder(self.embedding(x) + self.position)
        return self.fc(x.mean(1))


def make_images(steps, shape):
    """A pattern for each of ten classes, under noise."""
    random = np.random.RandomState(2)
    patterns = random.randn(10, *shape)
    labels = random.randint(0, 10, (steps, BATCH))
    noise = random.randn(steps, BATCH, *shape)
    return (0.5 * patterns[labels] + noise).astype(np.float32), labels


def make_words(steps, words, length):
    """Each word is followed by one of four that belong to it."""
    random = np.random.RandomState(3)
    followers = random.randint(0, words, (words, 4))
    text = np.zeros((steps, BATCH, length + 1), np.int64)
    text[..., 0] = random.randint(0, words, (steps, BATCH))
    for i in range(length):
        choice = random.randint(0, 4, (steps, BATCH))
        text[..., i + 1] = followers[text[..., i], choice]
    return text[..., :-1].copy(), text[..., 1:].copy()


def make_sentences(steps, words, length):
    """The class is that of a keyword somewhere in the sentence."""
    random = np.random.RandomState(4)
    text = random.randint(10, words, (steps, BATCH, length))
    labels = random.randint(0, 10, (steps, BATCH))
    for _ in range(8):
        place = random.randint(0, length, (steps, BATCH, 1))
        np.put_along_axis(text, place, labels[..., None], 2)
    return text, labels


# Name: module, batches, learning rates, the bound of the relative difference of
# losses.
NETWORKS = {
    "lenet": (LeNet, lambda n: make_images(n, (1, 28, 28)),
              {"sgd": 0.003, "adam": 2e-4}, 1e-4),
    "resnet18": (ResNet18, lambda n: make_images(n, (3, 32, 32)),
                 {"sgd": 0.003, "adam": 1e-4}, 1e-4),
    "lstm": (LanguageModel,
             lambda n: make_words(n, LanguageModel.WORDS, LanguageModel.LENGTH),
             {"sgd": 0.5, "adam": 2e-3}, 1e-3),
    "transformer": (Transformer,
                    lambda n: make_sentences(n, Transformer.WORDS,
                                             Transformer.LENGTH),
                    {"sgd": 0.01, "adam": 1e-3}, 1e-4),
}
SOLVERS = ("sgd", "adam")
MOMENTUM = 0.9


def make_module(name):
    torch.manual_seed(1)
    return NETWORKS[name][0]().train()
