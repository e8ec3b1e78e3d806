"""ResNet18 (He et al. 2016) for CIFAR images: 49 nodes and 11,169,162 parameters, as in table 3 of MT-DLComp."""

from __future__ import annotations

import onnx

from fuzz.mutants.seeds._network import Network


def build() -> onnx.ModelProto:
    """[1, 3, 32, 32] -> scores [1, 10]."""
    net = Network("resnet18", 18)
    x = net.relu(net.conv(net.input("image", (1, 3, 32, 32)), 64, 3))
    x = net.max_pool(x, 3, 2, 1)
    for channels, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        x = _block(net, x, channels, stride)
        x = _block(net, x, channels, 1)
    return net.model(net.dense(net.flatten(net.global_average(x)), 10, gain=1.0))


def _block(net: Network, x: str, channels: int, stride: int) -> str:
    """Two convolutions beside a shortcut; the second one small, so that sums do not grow from block to block."""
    y = net.relu(net.conv(x, channels, 3, stride))
    y = net.conv(y, channels, 3, gain=0.25)
    shortcut = x if net.shape[x] == net.shape[y] else net.conv(x, channels, 1, stride, gain=1.0)
    return net.relu(net.add(y, shortcut))
