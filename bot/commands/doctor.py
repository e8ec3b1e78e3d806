"""`graphwarden doctor`: whether the bot can do its work with this configuration."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from bot import checkup
from bot.commands import bot_arguments as arguments
from bot.commands.arguments import Json
from bot.console import out, print_json
from bot.failures import ExitCode
from triage.scrub import plain

_SIGNS = {True: ("ok", "green"), False: ("bad", "red"), None: ("note", "yellow")}


def doctor(config: arguments.Config = arguments.DEFAULT, as_json: Json = False) -> int:
    """Check the App's key and permissions, the webhook secret, the database and the compilers.

    Exit code 1 when something is bad; every line says how to mend it.
    """
    found = list(checkup.findings(arguments.load(config)))
    if as_json:
        print_json([{"about": one.about, "good": one.good, "told": one.told} for one in found])
    else:
        shown = Table("", "what", "found")
        for one in found:
            sign, colour = _SIGNS[one.good]
            shown.add_row(Text(sign, colour), Text(one.about), Text(plain(one.told)))
        out.print(shown)
    return ExitCode.FAILED if any(one.good is False for one in found) else ExitCode.DONE
