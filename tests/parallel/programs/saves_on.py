"""Saves again and again, each time other values, and says which it has saved, until it is killed."""

import sys

import numpy as np

from weft import Tensor
from weft.train import save_checkpoint, save_distributed_checkpoint

form, place = sys.argv[1:]
for number in range(1, 10_000):
    values = {f"p{i}": Tensor(np.full((64, 1024 * (i + 1)), number, np.float32)) for i in range(4)}
    if form == "folder":
        save_distributed_checkpoint(values, place, {"number": number})
    else:
        save_checkpoint(values, place, append_dict={"number": number}, format=form)
    print(number, flush=True)
