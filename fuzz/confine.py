"""Programs that may be anybody's: what they can see and spend (issue 5: code of a pull request is hostile).

Where Bubblewrap works, a program sees the system's own folders, the folders that it is given, an empty home and
nothing else: no files of ours, no network. Whoever starts it as root has it run as the user *nobody*, who can neither
read another process's environment nor signal it, and sees no process of anybody else's; else a user namespace forbids
the reading. Where Bubblewrap does not work, root can still run it as nobody, who cannot read what only its owner may;
folders that are given and lie inside such a one are bound where they are, with nothing else of it.
`means` says which it is; where nothing is possible the answer is "", and who calls decides whether that will do.
"""

from __future__ import annotations

import os
import pwd
import shlex
import stat
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

#: Programs and libraries of the system. /etc is seen in part: names of users and hosts, certificates, the linker's
#: cache; not what else an administrator keeps there.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = (
    *("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d"),
    *("group", "localtime", "nsswitch.conf", "passwd", "ssl"),
)
_NOBODY = "nobody"
#: Threads count. Of all programs that run as nobody together; in a user namespace, of one program with all that it
#: starts (since Linux 5.14; before, of all processes of the user).
_MOST_PROCESSES = 4096
#: Gives /proc anew, for the program that follows: without the processes of other users.
_HIDING = "mount -t proc -o hidepid=invisible,nosuid,nodev,noexec proc /proc"
#: Where folders wait while what lies above them is covered: one of these that none of them lies in.
_WAITING = ("/mnt", "/media", "/srv")
_LARGEST_FILE = 4 << 30


@dataclass(frozen=True)
class Cage:
    """What a confined program gets: folders to read, folders to write, and how much it may write elsewhere.

    It starts in `folder` (without: in its home). `home` is an empty folder of its own in memory that holds at most
    `disk_mb` MiB, as does /tmp; a process may hold `memory_mb` MiB. With `processes` it has a process namespace of its
    own; a worker's parent needs to know the worker by its number, so workers are without.
    """

    home: Path
    read: tuple[Path, ...] = ()
    write: tuple[Path, ...] = ()
    disk_mb: int = 2048
    memory_mb: int = 16384
    processes: bool = False
    folder: Path | None = None


@cache
def means() -> str:
    """How programs are confined here: ``bubblewrap and user``, ``bubblewrap``, ``user``, or "" for not at all."""
    return next((name for name, built in _MEANS.items() if _works(built)), "")


def command(cage: Cage, program: Sequence[str]) -> list[str]:
    """`program` as it is to be started; the folders that it may write become its user's.

    Raises OSError where nothing can confine it: `means` says so before.
    """
    chosen = means()
    if not chosen:
        raise OSError("programs cannot be confined here: install bubblewrap, or allow user namespaces")
    if "user" in chosen:
        nobody = pwd.getpwnam(_NOBODY)
        for folder in cage.write:
            for place in (folder, *folder.rglob("*")):
                os.chown(place, nobody.pw_uid, nobody.pw_gid, follow_symlinks=False)
    return _MEANS[chosen](cage, program)


def interpreter_folders(python: str) -> tuple[Path, ...]:
    """The folders that a Python needs to be seen: its environment and the installation that this was made from."""
    environment = Path(python).absolute().parent.parent
    real = Path(os.path.realpath(python)).parent.parent
    return tuple(dict.fromkeys((environment, real)))


def _bubblewrap(cage: Cage) -> list[str]:
    arguments = ["bwrap", "--unshare-ipc", "--unshare-net", "--unshare-uts"]
    # A worker writes to a file of its own below /proc; what others own there is closed to its user anyway.
    # A build dies with the thread that waits for it; a worker's parent outlives the thread that happened to start it.
    alone = ["--die-with-parent", "--unshare-pid", "--proc", "/proc"]
    arguments += alone if cage.processes else ["--bind", "/proc", "/proc"]
    for folder in _SYSTEM:
        path = Path(folder)
        if path.is_symlink():
            arguments += ["--symlink", os.readlink(folder), folder]
        elif path.is_dir():
            arguments += ["--ro-bind", folder, folder]
    for name in _ETC:
        arguments += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    room = ["--perms", "1777", "--size", str(cage.disk_mb << 20), "--tmpfs"]
    arguments += ["--dev", "/dev", *room, "/tmp"]
    for parent in _parents((cage.home, *cage.read, *cage.write)):  # left to bwrap, only their owner could enter them
        arguments += ["--perms", "0755", "--dir", str(parent)]
    arguments += [*room, str(cage.home)]
    for seen in cage.read:
        arguments += ["--ro-bind-try", str(seen), str(seen)]
    for written in cage.write:
        arguments += ["--bind", str(written), str(written)]
    return [*arguments, "--chdir", str(cage.folder or cage.home)]


def _parents(places: Sequence[Path]) -> list[Path]:
    """The folders above `places` that the system's own do not bring, outermost first."""
    above = {parent for place in places for parent in place.parents if parent != Path("/")}
    return sorted(parent for parent in above if not str(parent).startswith(_SYSTEM) and parent != Path("/tmp"))


def _caged_as_nobody(cage: Cage, program: Sequence[str]) -> list[str]:
    return [*_apart(), *_bubblewrap(cage), "--", *_limited_nobody(cage, program)]


def _caged(cage: Cage, program: Sequence[str]) -> list[str]:
    return [*_bubblewrap(cage), "--unshare-user", "--", "prlimit", *_limits(cage), "--", *program]


def _as_nobody(cage: Cage, program: Sequence[str]) -> list[str]:
    given = [*cage.read, *cage.write, *([cage.folder] if cage.folder else [])]
    closed = {folder: above for folder in given if (above := _closed(folder))}
    if closed and not _hides():
        raise OSError(f"the user {_NOBODY}, who is to run it, cannot enter {min(closed.values())}: install bubblewrap")
    return [*_apart([*_opening(closed), *_at_home(cage)]), *_limited_nobody(cage, program)]


def _closed(folder: Path) -> Path | None:
    """The outermost of the folders above one that only its owner and their group can enter."""
    return next((above for above in reversed(folder.absolute().parents) if above.is_dir() and not _open(above)), None)


def _open(folder: Path) -> bool:
    return bool(folder.stat().st_mode & stat.S_IXOTH)


def _opening(closed: Mapping[Path, Path]) -> list[str]:
    """What covers closed folders with empty ones, in which there is only what is given, bound to where it was."""
    if not closed:
        return []
    waiting = next(each for each in _WAITING if not any(str(one).startswith(f"{each}/") for one in closed))
    aside, back = [_empty(waiting)], [_empty(str(above)) for above in sorted(set(closed.values()))]
    for at, given in enumerate(closed):
        place, spot = shlex.quote(str(given)), f"{waiting}/{at}"
        aside += [f"mkdir {spot}" if given.is_dir() else f"touch {spot}", f"mount --bind {place} {spot}"]
        inside = given if given.is_dir() else given.parent
        back += [f"mkdir -p {shlex.quote(str(inside))}", f"{{ test -e {place} || touch {place}; }}"]
        back.append(f"mount --bind {spot} {place}")
    return [*aside, *back, f"umount -l {waiting}"]


def _at_home(cage: Cage) -> list[str]:
    """What gives a program a home of its own, if there is a folder of that name, and begins where it is to begin."""
    home, begin = shlex.quote(str(cage.home)), shlex.quote(str(cage.folder or cage.home))
    return [f"{{ test ! -d {home} || {_empty(str(cage.home), 1777, cage.disk_mb)}; }}", f"{{ cd {begin} || cd /; }}"]


def _empty(folder: str, mode: int = 755, mebibytes: int = 1) -> str:
    return f"mount -t tmpfs -o mode={mode},size={mebibytes}m tmpfs {shlex.quote(folder)}"


def _limited_nobody(cage: Cage, program: Sequence[str]) -> list[str]:
    nobody = pwd.getpwnam(_NOBODY)
    who = [f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
    own = ["setpriv", *who, "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all", "--"]
    return ["prlimit", *_limits(cage), "--", *own, *program]


def _apart(more: Sequence[str] = ()) -> list[str]:
    """What root puts before a program that is to see no network and no process of others; nothing where it may not."""
    return _unshared(more) if _hides() else []


@cache
def _hides() -> bool:
    """Whether processes and networks can be hidden from a program, and folders shown elsewhere."""
    return _succeeds([*_unshared(), "/bin/true"])


def _unshared(more: Sequence[str] = ()) -> list[str]:
    script = " && ".join([_HIDING, *more, 'exec "$@"'])
    return ["unshare", "--mount", "--net", "--propagation", "private", "--", "/bin/sh", "-c", script, "sh"]


def _limits(cage: Cage) -> list[str]:
    """What holds from the first instruction on, imports included; workers then get tighter limits of their own."""
    return [f"--data={cage.memory_mb << 20}", f"--fsize={_LARGEST_FILE}", "--core=0", f"--nproc={_MOST_PROCESSES}"]


def _works(built: Callable[[Cage, Sequence[str]], list[str]]) -> bool:
    """Whether a means works here: containers and distributions often forbid the namespaces that it needs."""
    if built is not _caged and os.geteuid() != 0:
        return False
    try:
        probe = built(Cage(Path("/tmp/home")), ["/bin/true"])
    except KeyError:  # no user of that name
        return False
    return _succeeds(probe)


def _succeeds(command: Sequence[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=20, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):  # no such program: bwrap, setpriv, unshare
        return False


#: In the order of preference.
_MEANS: dict[str, Callable[[Cage, Sequence[str]], list[str]]] = {
    "bubblewrap and user": _caged_as_nobody,
    "bubblewrap": _caged,
    "user": _as_nobody,
}
