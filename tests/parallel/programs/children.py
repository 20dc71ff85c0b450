"""A member of a program starts processes: they know whose they are, and take no part."""

import subprocess
import sys

import numpy as np

from weft import Tensor, ops
from weft.data import GeneratorDataset
from weft.parallel import communication as comm

comm.init()
rank, alone = comm.get_rank(), len(sys.argv) > 1


class Rows:
    def __getitem__(self, index):
        return np.full(2, index + 10 * comm.get_rank())

    def __len__(self):
        return 4


if alone:
    ops.AllReduce()(Tensor([1.0]))
else:
    data = GeneratorDataset(Rows(), ["x"], shuffle=False, num_parallel_workers=2, python_multiprocessing=True)
    assert [x.asnumpy()[0] for (x,) in data.create_tuple_iterator()] == [10 * rank + index for index in range(4)]
    command = [sys.executable, "-m", "weft", "run", __file__, "alone"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stderr.endswith(f"AllReduce: a process that rank {rank} of 2 has started takes no part in it\n"), done
    assert ops.AllReduce()(Tensor([1.0])).asnumpy() == [2.0]
    print("all agree")
