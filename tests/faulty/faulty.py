"""A backend that computes Relu, and on demand does the worst that a native library can do.

A case asks for a fault by the text ``fault:NAME;`` anywhere in its model (the tests put it into the
graph's doc_string, so the model stays valid). A fault either never returns, raises, returns its own
outputs, or returns None: then the right result follows.
"""

import ctypes
import mmap
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np

PACKAGES = ()
KINDS = ("onnx",)
OPTIONS = {"threads": ("1", "2")}

libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
libc.fputs.argtypes = [ctypes.c_char_p, ctypes.c_void_p]

FAULTS = {}
HELD = []
MEGABYTE = 1 << 20


def fault(function):
    FAULTS[function.__name__] = function
    return function


def warm():
    pass


def devices():
    return ["CPU"]


def execute(job, enter):
    enter("convert")
    asked = re.search(rb"fault:(\w+);", job.model)
    name, argument = re.fullmatch(r"(\w*?)_?(\d*)", asked.group(1).decode() if asked else "").groups()
    enter("compile")
    if name == "abort_while_compiling":
        libc.abort()
    enter("run")
    found = FAULTS[name](*([job, int(argument)] if argument else [job])) if name else None
    return found if found is not None else [("y", np.maximum(job.inputs["x"], 0))]


def blame(error, job):
    return (1 / 0, "") if "blame me" in str(error) else ("Relu", "")


def wrong(job):
    return [("y", job.inputs["x"] + 100)]


def in_child(action):
    pid = os.fork()
    if pid == 0:
        action()
        os._exit(0)
    return pid


# ---------------------------------------------------------------- deaths


@fault
def null_dereference(job):
    ctypes.string_at(0)


@fault
def abort_with_message(job):
    os.write(2, b"Check failed: lanes == 4 (3 vs. 4)\n")
    libc.abort()


@fault
def buffered_message_then_abort(job):
    # C's stdout is fully buffered on a pipe: without care this text would die with the process.
    libc.fputs(b"assertion in native stdout\n", ctypes.c_void_p.in_dll(libc, "stdout"))
    libc.abort()


@fault
def raise_sigsegv(job):
    os.kill(os.getpid(), signal.SIGSEGV)


@fault
def raise_sigkill(job):
    os.kill(os.getpid(), signal.SIGKILL)


@fault
def raise_real_time_signal(job):
    os.kill(os.getpid(), signal.SIGRTMIN + 3)


@fault
def float_exception(job):
    os.kill(os.getpid(), signal.SIGFPE)


@fault
def native_stack_overflow(job):
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    data = (ctypes.c_int * 2)(2, 1)

    def descend(a, b):
        libc.qsort(data, 2, 4, again)
        return 0

    sys.setrecursionlimit(1 << 30)
    again = compare(descend)
    HELD.extend([kind, again])
    libc.qsort(data, 2, 4, again)


@fault
def plain_exception_with_bad_blame(job):
    raise ValueError("blame me")


@fault
def python_recursion(job):
    def down(n):
        return down(n + 1) + 1

    down(0)


@fault
def exit_zero(job):
    os._exit(0)


@fault
def exit_three(job):
    os._exit(3)


@fault
def kill_the_parent(job):
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(1000)


@fault
def kill_the_whole_ancestry(job):
    with open(f"/proc/{os.getppid()}/stat") as stat:
        grandparent = int(stat.read().rpartition(")")[2].split()[1])
    os.kill(grandparent, signal.SIGKILL)
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(1000)


# ---------------------------------------------------------------- exceptions


@fault
def plain_exception(job):
    raise ValueError("shape mismatch in Relu")


@fault
def system_exit(job):
    sys.exit("the library thinks that it owns the process")


@fault
def keyboard_interrupt(job):
    raise KeyboardInterrupt


@fault
def base_exception(job):
    class Alien(BaseException):
        pass

    raise Alien("from elsewhere")


@fault
def enormous_message(job):
    raise ValueError("x" * (50 * MEGABYTE))


@fault
def unprintable_exception(job):
    class Unprintable(Exception):
        def __str__(self):
            raise SystemExit("not even this")

    raise Unprintable


@fault
def surrogates_in_message(job):
    raise ValueError("bad \ud800 text \x00\x1b[31m")


# ---------------------------------------------------------------- hangs


@fault
def python_loop(job):
    while True:
        pass


@fault
def take_a_second(job):
    with open(os.path.join(os.environ["HOME"], "begun"), "w"):
        time.sleep(1)


@fault
def hang_holding_the_gil(job):
    ctypes.PyDLL(None).sleep(1000)


@fault
def stop_itself(job):
    os.kill(os.getpid(), signal.SIGSTOP)


@fault
def hang_deaf_to_signals(job):
    for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(1000)


# ---------------------------------------------------------------- memory


@fault
def list_without_end(job):
    found = []
    while True:
        found.append(bytearray(MEGABYTE))


@fault
def malloc_and_touch(job):
    while True:
        block = libc.malloc(16 * MEGABYTE)
        if not block:
            os.write(2, b"terminate called after throwing an instance of 'std::bad_alloc'\n")
            libc.abort()
        libc.memset(block, 1, 16 * MEGABYTE)


@fault
def one_huge_array(job):
    return [("y", np.ones(1 << 45, dtype=np.uint8))]


@fault
def more_shared_memory_than_it_may(job):
    # Shared pages escape the limit on private data; twice the tests' limit is as much as any machine can spare.
    for _ in range(13):
        block = mmap.mmap(-1, 64 * MEGABYTE)
        for page in range(0, 64 * MEGABYTE, mmap.PAGESIZE):
            block[page] = 1
        HELD.append(block)
    time.sleep(1000)


@fault
def children_eat_the_memory(job):
    def eat():
        block = mmap.mmap(-1, 200 * MEGABYTE)
        for page in range(0, 200 * MEGABYTE, mmap.PAGESIZE):
            block[page] = 1
        time.sleep(1000)

    for _ in range(4):
        in_child(eat)
    time.sleep(1000)


# ---------------------------------------------------------------- processes


@fault
def fork_into_the_worker(job):
    os.fork()


@fault
def fork_and_raise(job):
    if os.fork() == 0:
        raise ValueError("the child's exception, which nobody asked for")


@fault
def fork_bomb(job):
    for _ in range(300):
        in_child(lambda: time.sleep(1000))
    time.sleep(1000)


@fault
def fork_a_long_chain(job):
    for _ in range(150):
        if os.fork():
            time.sleep(1000)
            os._exit(0)
    time.sleep(1000)


@fault
def leave_a_child(job):
    in_child(lambda: time.sleep(1000))


@fault
def leave_a_daemon(job):
    daemonise()


@fault
def leave_a_daemon_and_abort(job):
    daemonise()
    libc.abort()


@fault
def leave_a_daemon_and_hang(job):
    daemonise()
    time.sleep(1000)


@fault
def leave_a_daemon_and_kill_the_parent(job):
    daemonise()
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(1000)


def daemonise():
    """Double fork and setsid: what escapes from whoever waits for its own children only."""
    read, write = os.pipe()

    def second():
        os.setsid()
        in_child(stay)

    def stay():
        os.write(write, b"x")
        for fd in range(3):
            os.close(fd)
        time.sleep(1000)

    os.waitpid(in_child(second), 0)
    os.read(read, 1)
    os.close(read)
    os.close(write)


# ---------------------------------------------------------------- late effects


@fault
def thread_that_crashes_later(job):
    threading.Timer(0.01, lambda: ctypes.string_at(0)).start()


@fault
def corrupt_the_heap(job):
    """Overwrite the size of a free neighbour: glibc notices at a later allocation, not now."""
    blocks = [libc.malloc(2000) for _ in range(64)]  # the first ones may fill holes, the last are neighbours
    for block in blocks[1::2]:
        libc.free(block)
    for block in blocks[::2]:
        libc.memset(block + 2000, 0x41, 24)
    HELD.append(blocks)


@fault
def poison_later_cases(job):
    HELD.append("poison")


@fault
def count_my_cases(job):
    HELD.append("case")
    return [("y", np.full(3, HELD.count("case"), dtype=np.float32))]


@fault
def keep_a_hundred_megabytes(job):
    HELD.append(b"k" * (100 * MEGABYTE))


@fault
def use_a_hundred_megabytes(job):
    len(b"u" * (100 * MEGABYTE))


@fault
def read_uninitialised(job):
    block = libc.malloc(40000)
    found = np.frombuffer(ctypes.string_at(block + 20000, 3), dtype=np.uint8)
    return [("y", found)]


@fault
def wrong_after_poison(job):
    return wrong(job) if "poison" in HELD else None


@fault
def crash_after_poison(job):
    if "poison" in HELD:
        ctypes.string_at(0)


@fault
def change_everything(job):
    os.chdir("/")
    os.environ.clear()
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    signal.signal(signal.SIGSEGV, signal.SIG_IGN)
    sys.setrecursionlimit(100)
    os.umask(0o777)


@fault
def delete_its_home(job):
    shutil.rmtree(os.environ["HOME"])


@fault
def needs_its_home(job):
    with open(os.path.join(os.environ["TMPDIR"], "scratch"), "w") as scratch:
        scratch.write("x")
    with open(os.path.join(os.environ["HOME"], "intel", "openvino_telemetry")) as choice:
        assert choice.read() == "0"
    os.getcwd()


# ---------------------------------------------------------------- output


@fault
def print_a_hundred_megabytes(job):
    for _ in range(100):
        os.write(1, b"o" * MEGABYTE)
        os.write(2, b"e" * MEGABYTE)
    os.write(2, b"\nthe last words\n")


@fault
def print_a_hundred_megabytes_and_raise(job):
    print_a_hundred_megabytes(job)
    raise ValueError("after all that")


@fault
def print_fifty_kilobytes(job):
    os.write(1, b"chatter chatter chatter chatter chatter chatter\n" * 1000)


@fault
def print_a_line(job):
    os.write(2, b"a line of chatter\n")


@fault
def print_for_ever(job):
    while True:
        os.write(2, b"WARNING: again\n" * 8192)


@fault
def close_all_descriptors(job):
    os.closerange(0, 4096)


def results_pipe():
    """The worker's result pipe, found as a mad library would hit it: the pipes open for writing."""
    for name in os.listdir("/proc/self/fd"):
        number = int(name)
        try:
            with open(f"/proc/self/fdinfo/{number}") as info:
                writes = "flags:\t01" in info.read()
            target = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            continue
        if number > 2 and writes and target.startswith("pipe:") and target != os.readlink("/proc/self/fd/2"):
            yield number


@fault
def garbage_on_the_result_pipe(job):
    for fd in results_pipe():
        os.write(fd, b"\xff\x01\x02\x03 nothing that anybody would understand \x00" * 3)


@fault
def a_little_garbage(job):
    for fd in results_pipe():
        os.write(fd, b"ok\n")


@fault
def garbage_without_end(job):
    for fd in results_pipe():
        while True:
            os.write(fd, b"\0" * 4096)


@fault
def forged_reply(job):
    from fuzz import wire

    for fd in results_pipe():
        os.write(fd, wire.pack({"seq": 1 << 40, "stage": "run"}, {}))


@fault
def huge_result(job):
    return [("y", np.zeros(200 * MEGABYTE, dtype=np.uint8))]


# ---------------------------------------------------------------- results


@fault
def megabyte_result(job):
    return [("y", np.ones(MEGABYTE, dtype=np.uint8))]


@fault
def unencodable_value(job):
    return [("y", {"a": object()})]


@fault
def unencodable_dtype(job):
    return [("y", np.zeros(2, dtype=[("a", "i4")]))]


@fault
def not_pairs(job):
    return 42


@fault
def name_that_is_no_text(job):
    return [(object(), np.zeros(2))]


@fault
def value_with_a_trap(job):
    class Trap(np.ndarray):
        def tobytes(self, *arguments):
            raise SystemExit("gotcha")

    return [("y", np.zeros(2, dtype=np.float32).view(Trap))]


@fault
def deeply_nested_result(job):
    found = []
    for _ in range(100000):
        found = [found]
    return [("y", found)]


SHARED = np.zeros(64, np.float32)


@fault
def return_a_shared_buffer(job):
    part = SHARED[: job.inputs["x"].size]
    part[:] = job.inputs["x"].ravel()
    return [("y", part)]


@fault
def nan_result(job):
    return [("y", np.full_like(job.inputs["x"], np.nan))]


@fault
def no_result(job):
    return []


@fault
def wrong_result(job):
    return wrong(job)


@fault
def never_the_same(job):
    noise = np.frombuffer(os.urandom(4), np.uint32)[0] / 2.0**20
    return [("y", (job.inputs["x"] + 10 + noise).astype(np.float32))]


@fault
def cannot_feed(job):
    from fuzz.wire import CannotFeed

    raise CannotFeed("no run-time value for float32")


# ---------------------------------------------------------------- what a worker may see


@fault
def use_the_network(job, port):
    socket.create_connection(("127.0.0.1", port), timeout=1).close()


@fault
def install_packages(job):
    done = [
        subprocess.run(f"{pip} install numpy", shell=True, capture_output=True, text=True) for pip in ("pip", "pip3")
    ]
    raise ValueError("|".join(f"{one.returncode} {one.stderr.strip()}" for one in done))


@fault
def show_environment(job):
    raise ValueError("\n".join("{}={}".format(*item) for item in sorted(os.environ.items())))


@fault
def show_limits(job):
    raise ValueError(
        "core {}, native threads {}".format(resource.getrlimit(resource.RLIMIT_CORE), os.environ["OMP_NUM_THREADS"])
    )


@fault
def drop_a_cycle_of_fifty_megabytes(job):
    cycle = [np.ones(50 * MEGABYTE, dtype=np.uint8)]
    cycle.append(cycle)


# ---------------------------------------------------------------- a device that is lost

LOST = []


def spent():
    return bool(LOST)


@fault
def lose_the_device(job):
    LOST.append(True)
    raise RuntimeError("device-side assert triggered")


@fault
def needs_the_device(job):
    if LOST:
        raise RuntimeError("the device is lost")
