"""VGG11 (Simonyan and Zisserman 2014) for CIFAR images: 28 nodes, 28,144,010 parameters, as in table 3 of MT-DLComp."""

from __future__ import annotations

import onnx

from fuzz.mutants.seeds._network import Network

#: Channels of the convolutions; 0 is a pooling layer.
_LAYERS = (64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0)


def build() -> onnx.ModelProto:
    """[1, 3, 32, 32] -> scores [1, 10]."""
    net = Network("vgg11", 11)
    x = net.input("image", (1, 3, 32, 32))
    for channels in _LAYERS:
        x = net.relu(net.conv(x, channels, 3)) if channels else net.max_pool(x, 2, 2)
    x = net.flatten(net.global_average(x))
    for width in (4096, 4096):
        x = net.relu(net.dense(x, width))
    return net.model(net.dense(x, 10, gain=1.0))
