"""The fixtures that OpenVINO's layer tests take from their command line, with their usual values."""

import pytest


@pytest.fixture
def ie_device():
    return "CPU"


@pytest.fixture
def precision():
    return "FP32"


@pytest.fixture
def ir_version():
    return 11
