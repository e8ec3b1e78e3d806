"""A moderator's browser without a screen: it keeps cookies and tells from where a form is sent."""

from __future__ import annotations

import re
from typing import Any

import requests

from bot import passphrase
from triage.ledger import Ledger
from triage.store import Store

_TOKEN = re.compile(r'name="form" value="([0-9a-f]{64})"')


def appoint(store: Store, *names: str) -> dict[str, str]:
    """New moderators and their secrets."""
    secrets = {name: passphrase.new() for name in names}
    for name, secret in secrets.items():
        Ledger(store).moderators.add(name, passphrase.kept(secret))
    return secrets


class Browser:
    """One browser at one site."""

    def __init__(self, site: str, **headers: str) -> None:
        self.site = site
        self.session = requests.Session()
        self.session.trust_env = False
        self.session.headers.update(headers)

    def get(self, path: str) -> requests.Response:
        return self._kept(self.session.get(self.site + path, allow_redirects=False))

    def _kept(self, answer: requests.Response) -> requests.Response:
        """A proxy that takes https hands requests on as http: cookies for https alone go along."""
        for cookie in self.session.cookies:
            cookie.secure = False
        return answer

    def token(self, path: str) -> str:
        """What the forms of a page carry."""
        found = _TOKEN.search(self.get(path).text)
        assert found, path
        return found[1]

    def post(self, path: str, fields: dict[str, Any], origin: str | None = None) -> requests.Response:
        """Send a form as it stands, from a page of the site itself where `origin` is not given."""
        headers = {"Origin": self.site if origin is None else origin}
        return self._kept(self.session.post(self.site + path, fields, headers=headers, allow_redirects=False))

    def sign_in(self, name: str, secret: str, onward: str = "/queue") -> requests.Response:
        token = self.token("/sign-in")
        return self.post("/sign-in", {"form": token, "name": name, "secret": secret, "next": onward})

    def say(self, path: str, **fields: Any) -> requests.Response:
        """Send a form as a page of this session would."""
        return self.post(path, {"form": self.token("/queue"), **fields})

    def cookie(self) -> str:
        return self.session.cookies.get("graphwarden", "") or ""


def signed_in(site: str, name: str, secrets: dict[str, str]) -> Browser:
    """The browser of a moderator who has signed in."""
    found = Browser(site)
    assert found.sign_in(name, secrets[name]).status_code == 303
    return found
