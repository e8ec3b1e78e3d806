"""PyTorch itself, but for one slip (option `slip`), mostly in the places of the values that a call picks.

For the tests of the court.
"""

import numpy as np

PACKAGES = ()
KINDS = ("instance",)


def warm():
    pass


def warm_instance():
    import torch  # noqa: F401


def devices():
    return ["CPU"]


def another_equal(x, values, places):
    """The last of equal values in the place of each."""
    for at, place in enumerate(places):
        places[at] = np.flatnonzero(x == x[place])[-1]


def one_twice(x, values, places):
    """The same place for all equal values."""
    for at, place in enumerate(places):
        places[at] = np.flatnonzero(x == x[place])[0]


def another_value(x, values, places):
    """The place of another value, last."""
    places[-1] = np.flatnonzero(x != x[places[-1]])[0]


def wrong_value(x, values, places):
    """Equal values in another order, and the last one by a little too large."""
    another_equal(x, values, places)
    values[-1] += np.float32(0.01)


def shuffled(x, values, places):
    """Equal values in the other order, each once."""
    for value in set(x[places].tolist()):
        here = np.flatnonzero(x[places] == value)
        places[here] = places[here][::-1]


def backwards(x, values, places):
    """Values and places the other way round."""
    values[:], places[:] = values[::-1].copy(), places[::-1].copy()


def first_more(x, values, places):
    """The first element one too large, a number where it is none."""
    values[0] = values[0] + values.dtype.type(1) if values[0] == values[0] else 0


def last_more(x, values, places):
    """The last element one too large."""
    values[-1] += values.dtype.type(1)


ALL = (another_equal, another_value, backwards, first_more, last_more, one_twice, shuffled, wrong_value)
SLIPS = {each.__name__: each for each in ALL}
OPTIONS = {"slip": tuple(SLIPS)}


def execute(job, enter):
    from fuzz import instance
    from fuzz.instance_torch import run_eager

    enter("run")
    found = [(name, np.array(value)) for name, value in run_eager(job)]
    x, *_ = instance.tensors(instance.parse(job.model))
    values = found[0][1].reshape(-1)
    SLIPS[job.options["slip"]](x, values, found[-1][1].reshape(-1))
    return found
