"""A U-Net (Ronneberger et al. 2015) of three levels for small images: skip connections, Concat, ConvTranspose.

Images are higher than wide, and the bottom is a depthwise separable convolution with Relu6, as MobileNet has it, of
values that are often greater: so passes are seen that take height for width, order channels wrongly or forget a bound.
"""

from __future__ import annotations

import math

import onnx

from fuzz.mutants.seeds._network import Network


def build() -> onnx.ModelProto:
    """[1, 3, 32, 24] -> scores of 4 classes a pixel, [1, 4, 32, 24]."""
    net = Network("unet", 3)
    x = net.input("image", (1, 3, 32, 24))
    skipped = []
    for channels in (16, 32):
        x = _double(net, x, channels)
        skipped.append(x)
        x = net.max_pool(x, 2, 2)
    x = _separable(net, x, 64)
    for skip in reversed(skipped):
        x = _joined(net, _up(net, x), skip)
        x = _double(net, x, net.shape[skip][1])
    return net.model(net.conv(x, 4, 1, gain=1.0))


def _double(net: Network, x: str, channels: int) -> str:
    return net.relu(net.conv(net.relu(net.conv(x, channels, 3)), channels, 3))


def _separable(net: Network, x: str, channels: int) -> str:
    x = net.relu(net.conv(x, channels, 3))
    x = net.relu6(net.conv(x, channels, 3, group=channels, gain=32.0))
    return net.relu6(net.conv(x, channels, 1))


def _up(net: Network, x: str) -> str:
    """Half the channels at twice the size."""
    batch, channels, height, width = net.shape[x]
    weights = net.weights((channels, channels // 2, 2, 2), math.sqrt(2 / channels))
    shape = (batch, channels // 2, 2 * height, 2 * width)
    return net.node("ConvTranspose", (x, weights), shape, kernel_shape=[2, 2], strides=[2, 2])


def _joined(net: Network, x: str, skip: str) -> str:
    batch, channels, *sizes = net.shape[x]
    return net.node("Concat", (x, skip), (batch, channels + net.shape[skip][1], *sizes), axis=1)
