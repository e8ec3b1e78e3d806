"""Which queries of PyTorch's attention have no key that the mask leaves to them."""

from __future__ import annotations

import numpy as np

from fuzz.oracles._site import Site


def queries_without_keys(site: Site) -> np.ndarray | None:
    """One truth value a row of the mask; None without a mask, or where it is not known."""
    mask = site.array("3", "attn_mask")
    if mask is None or not mask.ndim:
        return None
    hidden = ~mask if mask.dtype == bool else np.isneginf(mask.astype(np.float64))
    return np.asarray(hidden.all(axis=-1))


def of_queries(site: Site) -> np.ndarray | None:
    """The same for every element of the result."""
    rows, query, value = queries_without_keys(site), site.array("0", "query"), site.array("2", "value")
    if rows is None or query is None or value is None:
        return None
    lines = np.broadcast_shapes(query.shape[:-1], (*value.shape[:-2], 1), rows.shape)  # a batch of 1 is one of many
    return np.broadcast_to(rows[..., None], (*lines, value.shape[-1]))
