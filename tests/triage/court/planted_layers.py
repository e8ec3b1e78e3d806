"""A compiler of Keras layers that turns NaN into zero; with ``sum=wrong`` it is off by one beside that."""

import numpy as np

PACKAGES = ()
KINDS = ("keras",)
OPTIONS = {"sum": ("right", "wrong")}


def warm():
    pass


def warm_keras():
    from fuzz import instance_keras

    instance_keras.use("torch")


def devices():
    return ["CPU"]


def execute(job, enter):
    from fuzz import instance_keras

    enter("run")
    off = 1 if job.options.get("sum") == "wrong" else 0
    return [(name, np.nan_to_num(value) + np.float32(off)) for name, value in instance_keras.run_eager(job)]


def converters(operators):
    return ["" for _ in operators]
