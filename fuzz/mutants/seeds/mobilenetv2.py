"""MobileNetV2 (Sandler et al. 2018) for CIFAR images: 99 nodes and 2,219,626 weights, as in table 3 of MT-DLComp."""

from __future__ import annotations

import onnx

from fuzz.mutants.seeds._network import Network

#: Expansion, channels, blocks, and the stride of the first block; the second stage keeps its size on small images.
_STAGES = ((1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


def build() -> onnx.ModelProto:
    """[1, 3, 32, 32] -> scores [1, 10]."""
    net = Network("mobilenetv2", 2)
    x = net.relu6(net.conv(net.input("image", (1, 3, 32, 32)), 32, 3))
    for expansion, channels, blocks, first_stride in _STAGES:
        for at in range(blocks):
            stride, before = first_stride if at == 0 else 1, net.shape[x][1]
            y = net.relu6(net.conv(x, before * expansion, 1)) if expansion > 1 else x
            y = net.relu6(net.conv(y, before * expansion, 3, stride, group=before * expansion))
            y = net.conv(y, channels, 1, gain=1.0)
            x = net.add(x, y) if net.shape[x] == net.shape[y] else y
    x = net.relu6(net.conv(x, 1280, 1))
    x = net.node("ReduceMean", (x,), (1, 1280), axes=[2, 3], keepdims=0)
    return net.model(net.dense(x, 10, gain=1.0))
