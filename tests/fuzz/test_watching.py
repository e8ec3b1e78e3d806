"""What the Python code of a confined build reaches for is noted; what every program does is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from fuzz import watching

REACHES = {
    "import json, decimal, ctypes; ctypes.CDLL(None)": [],
    "open(home + '/mine', 'w').write('x'); os.mkdir(home + '/folder'); os.remove(home + '/mine')": [],
    "open('/proc/self/status').read(); open('/proc/%d/maps' % os.getpid()).read(); open('/proc/meminfo').read()": [],
    "open('/etc/hostname', 'rb'); open('/dev/null', 'w')": [],
    "print('x', file=open(2, 'w', closefd=False))": [],
    "open(outside)": ["reading"],
    "open(os.fsencode(outside))": ["reading"],
    "open(home + '/../' + os.path.basename(folder) + '/key.pem')": ["reading"],
    "open('/proc/1/environ', 'rb')": ["reading"],
    "open(folder + '/new', 'w')": ["writing"],
    "os.open(folder + '/new', os.O_CREAT | os.O_WRONLY)": ["writing"],
    "os.mkdir(folder + '/new')": ["writing"],
    "os.symlink('/usr/lib', home + '/link'); os.remove(home + '/link')": [],
    "os.symlink('/usr/lib', home + '/link'); os.rename(home + '/link', home + '/other')": [],
    "open('/proc/self/fd/2'); open('/etc/mtab').read(); open('/dev/fd/2')": [],
    "os.listdir(home); os.listdir('/usr/lib'); os.listdir(); os.truncate(open(home + '/mine', 'w').fileno(), 0)": [],
    "import sqlite3; sqlite3.connect(':memory:'); sqlite3.connect(home + '/mine')": [],
    "open('/proc/self/root' + outside)": ["reading"],
    "os.chdir(home); open('/proc/self/cwd/../folder/key.pem')": ["reading"],
    "open('/dev/fd/../../' + outside)": ["reading"],
    "os.symlink(folder, home + '/link'); open(home + '/link/key.pem')": ["reading"],
    "os.symlink(folder, home + '/link'); open(home + '/link/new', 'w')": ["writing"],
    "os.listdir(folder)": ["reading"],
    "list(os.scandir(folder))": ["reading"],
    "os.link(outside, home + '/mine')": ["reading"],
    "os.symlink(home, folder + '/link')": ["writing"],
    "os.mkdir(home + '/mine'); os.rename(home + '/mine', folder + '/new')": ["writing"],
    "os.truncate(outside, 11)": ["writing"],
    "os.chown(outside, os.getuid(), os.getgid())": ["writing"],
    "os.utime(outside)": ["writing"],
    "import sqlite3; sqlite3.connect(folder + '/new.db')": ["writing"],
    "import sqlite3; sqlite3.connect('file:' + folder + '/new.db?mode=rwc', uri=True)": ["writing"],
    "import socket; socket.socket().connect(('127.0.0.1', 9))": ["network"],
    "import socket; socket.getaddrinfo('example.org', 80)": ["network"],
    "import subprocess; subprocess.run(['true'])": ["process"],
    "os.fork() or os._exit(0)": ["process"],
    "os.system('true'); open(outside)": ["process", "reading"],
}
PROGRAM = """
import json, os, sys
sys.path.insert(0, {root!r})
from fuzz import watching
home, folder, outside = {home!r}, {folder!r}, {outside!r}
watching.begin()
try:
    {code}
except OSError:
    pass
watching.rest()
open(outside)  # the worker's own
print(json.dumps(watching.taken() + watching.taken()))
"""


def reached(tmp_path: Path, code: str, confined: bool = True) -> list[str]:
    home, folder = tmp_path / "home", tmp_path / "folder"
    for each in (home, folder):
        each.mkdir()
    outside = folder / "key.pem"
    outside.write_text("PRIVATE KEY")
    root = str(Path(watching.__file__).parents[1])
    program = textwrap.dedent(PROGRAM).format(
        root=root, home=str(home), folder=str(folder), outside=str(outside), code=code
    )
    environment = {**os.environ, "HOME": str(home), **({watching.VARIABLE: "yes"} if confined else {})}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("code", REACHES, ids=str)
def test_what_is_reached_for_is_told_once(tmp_path: Path, code: str) -> None:
    assert reached(tmp_path, code) == REACHES[code]


def test_a_trusted_build_is_not_watched(tmp_path: Path) -> None:
    assert reached(tmp_path, "open(outside); os.system('true')", confined=False) == []
