"""Data parallel training in which one of the processes, its first argument, does something wrong, its second, in a
step in the middle."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time

import numpy as np

import weft
from weft import Tensor, context, jit, nn, ops
from weft.parallel import communication as comm

comm.init()
who, how, rank = int(sys.argv[1]), sys.argv[2], comm.get_rank()
if how == "status_before_anything" and rank == who:
    sys.exit(5)
context.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
x = Tensor(np.arange(8, dtype=np.float32).reshape(2, 4))
net = nn.Dense(4, 1)
train = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.01))
train.set_train()
doubled = jit(lambda x: ops.AllReduce()(x * 2) + 1)
comm.create_group("pair", [0, 1])


class Unsayable(Exception):
    def __str__(self):
        raise KeyError("nothing")


def fail():
    raise ValueError("bad data")


for step in range(8):
    train(x, Tensor(np.ones((2, 1), np.float32)))
    weft.save_checkpoint(net, sys.argv[3] + f"/net_{rank}.ckpt")
    given = x
    print("step", step, flush=True)
    if step == 4 and rank == who:
        if how == "killed_beside_a_child":
            subprocess.Popen(["sleep", "300"])
        if how == "killed_beside_children":  # of other groups and sessions, and one whose parent has ended
            started = [
                subprocess.Popen(["timeout", "300", "sleep", "299"]),
                subprocess.Popen(["sleep", "300"], start_new_session=True),
            ]
            orphan = subprocess.run(["sh", "-c", "setsid sleep 300 >&- & echo $!"], stdout=-1, text=True).stdout
            print("children", *[child.pid for child in started], orphan, flush=True)
        if how.startswith("killed"):
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "terminated":
            os.kill(os.getpid(), signal.SIGTERM)
        if how == "stopped":
            os.kill(os.getpid(), signal.SIGSTOP)
        if how == "crashes":
            os.kill(os.getpid(), signal.SIGSEGV)
        if how == "aborts":
            os.abort()
        if how == "library":
            np.linalg.inv(np.zeros((2, 2)))
        if how == "raises":
            fail()
        if how == "raises_with_a_hook":
            sys.excepthook = lambda *found: os._exit(9) if sys.argv[4:] else print("hooked", *found[:2], flush=True)
            fail()
        if how == "raises_what_cannot_be_said":
            raise Unsayable
        if how == "raises_beside_threads":
            threading.Thread(target=time.sleep, args=(300,)).start()
            fail()
        if how == "thread":
            thread = threading.Thread(target=fail)
            thread.start()
            thread.join()
            threading.Event().wait()
        if how == "ends":
            sys.exit(0)
        if how == "ends_at_once":
            os._exit(0)
        if how == "status":
            sys.exit(3)
        if how == "status_at_once":
            os._exit(4)
        if how == "sleeps":
            time.sleep(300)
        if how == "spins":
            while True:
                pass
        if how == "holds_the_lock":
            began = time.monotonic()
            sum(range(1_000_000_000))
            print("held it for", time.monotonic() - began, flush=True)
        if how == "writes":
            with open(sys.argv[3] + "/written", "wb") as file:
                for _ in range(80):
                    file.write(bytes(2048))
                    file.flush()
                    time.sleep(0.05)
        if how == "child_computes":
            burn = "import time\nwhile time.process_time() < 5: pass"
            subprocess.run(["timeout", "60", sys.executable, "-c", burn], check=True)
        if how in ("shape", "caught"):
            given = Tensor(np.arange(10, dtype=np.float32).reshape(2, 5))
        if how == "dtype":
            given = Tensor(np.arange(8).reshape(2, 4))
        if how == "operation":
            ops.AllGather()(x)
        if how == "rate":
            train.optimizer.learning_rate.set_data(Tensor(0.02))
        if how == "momentum":
            train = nn.TrainOneStepCell(train.network, nn.Momentum(net.trainable_params(), 0.01, 0.9))
        if how == "value":
            net.bias[0] = 1.5
        if how == "reduction":
            ops.AllReduce("max")(x)
        if how == "skips":
            continue
        if how == "launcher_beside_children":
            parted = (
                "import os, time\nprint('child', os.getpid(), flush=True)\nos.fork() or os.setsid()\ntime.sleep(300)"
            )
            subprocess.Popen([sys.executable, "-c", parted])
            subprocess.run(["sh", "-c", "setsid sleep 300 >&- & echo child $!"])
            time.sleep(0.5)
        if how.startswith("launcher"):
            os.kill(os.getppid(), signal.SIGKILL)
        if how == "disk":
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
            weft.save_checkpoint(net, sys.argv[3] + f"/net_{rank}.ckpt")
    if how == "order" and step == 4 and rank < 2:
        for group in ("pair", "") if rank == who else ("", "pair"):
            ops.AllReduce(group=group or comm.HCCL_WORLD_COMM_GROUP)(x)
    try:
        doubled(given)
    except RuntimeError:
        if how == "caught":
            break
        raise
print("done")
