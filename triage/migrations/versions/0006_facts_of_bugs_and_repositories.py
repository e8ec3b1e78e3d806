"""What is known of bugs and of repositories in tables of their own; it stood among the switches before."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op
from sqlmodel.sql.sqltypes import AutoString, UTCDateTime

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

#: How the names of the switches began.
_JUDGED, _APART, _REPOSITORY = "judged:", "apart:", "repository id: "

_bug = sa.table("bug", sa.column("id", sa.Integer()), sa.column("fingerprint", sa.String()))
_switch = sa.table("switch", *(sa.column(name, sa.String()) for name in ("name", "value", "by", "changed")))
_judged = sa.table("judged", *(sa.column(name) for name in ("bug_id", "revision", "at")))
_apart = sa.table("apart", *(sa.column(name) for name in ("bug_id", "repository", "number", "by", "at")))
_repository = sa.table("repository", *(sa.column(name) for name in ("name", "github_id", "at")))


def upgrade() -> None:
    op.create_table(
        "judged",
        sa.Column("bug_id", sa.Integer(), nullable=False),
        sa.Column("revision", AutoString(), nullable=False),
        sa.Column("at", UTCDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["bug_id"], ["bug.id"]),
        sa.PrimaryKeyConstraint("bug_id"),
    )
    op.create_table(
        "apart",
        sa.Column("bug_id", sa.Integer(), nullable=False),
        sa.Column("repository", AutoString(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("by", AutoString(), nullable=False),
        sa.Column("at", UTCDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["bug_id"], ["bug.id"]),
        sa.PrimaryKeyConstraint("bug_id", "repository", "number"),
    )
    op.create_table(
        "repository",
        sa.Column("name", AutoString(), nullable=False),
        sa.Column("github_id", sa.BigInteger(), nullable=False),
        sa.Column("at", UTCDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    _move_switches()


def _move_switches() -> None:
    connection = op.get_bind()
    bugs = {fingerprint: number for number, fingerprint in connection.execute(sa.select(_bug.c.id, _bug.c.fingerprint))}
    for name, value, _, changed in _switches(_JUDGED):
        if name in bugs:
            connection.execute(_judged.insert().values(bug_id=bugs[name], revision=value, at=changed))
    for name, _, by, changed in _switches(_APART):
        fingerprint, _, issue = name.rpartition(":")
        repository, _, number = issue.rpartition("#")
        if fingerprint in bugs and number.isdigit():
            told = {"repository": repository, "number": int(number), "by": by, "at": changed}
            connection.execute(_apart.insert().values(bug_id=bugs[fingerprint], **told))
    for name, value, _, changed in _switches(_REPOSITORY):
        if value.isdigit():
            connection.execute(_repository.insert().values(name=name, github_id=int(value), at=changed))
    for start in (_JUDGED, _APART, _REPOSITORY):
        connection.execute(_switch.delete().where(_switch.c.name.startswith(start, autoescape=True)))


def _switches(start: str) -> Iterator[tuple[str, str, str, str]]:
    """The switches whose names begin so: the rest of the name, the value, who set it and when."""
    columns = (_switch.c.name, _switch.c.value, _switch.c.by, _switch.c.changed)
    found = sa.select(*columns).where(_switch.c.name.startswith(start, autoescape=True))
    for name, value, by, changed in op.get_bind().execute(found).all():
        yield name.removeprefix(start), value, by, changed


def downgrade() -> None:
    connection = op.get_bind()
    add = _switch.insert()
    of_bug = sa.select(_judged.c.revision, _judged.c.at, _bug.c.fingerprint).join(_bug, _bug.c.id == _judged.c.bug_id)
    for value, at, fingerprint in connection.execute(of_bug).all():
        connection.execute(add.values(name=f"{_JUDGED}{fingerprint}", value=value, by="", changed=at))
    columns = (_apart.c.repository, _apart.c.number, _apart.c.by, _apart.c.at, _bug.c.fingerprint)
    apart = sa.select(*columns).join(_bug, _bug.c.id == _apart.c.bug_id)
    for repository, number, by, at, fingerprint in connection.execute(apart).all():
        name = f"{_APART}{fingerprint}:{repository}#{number}"
        connection.execute(add.values(name=name, value="yes", by=by, changed=at))
    for name, number, at in connection.execute(sa.select(*_repository.c)).all():
        connection.execute(add.values(name=f"{_REPOSITORY}{name}", value=str(number), by="", changed=at))
    for table in ("repository", "apart", "judged"):
        op.drop_table(table)
