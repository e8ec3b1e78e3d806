"""INSERT … ON CONFLICT, which SQLAlchemy has once for SQLite and once for PostgreSQL. For the store alone."""

from __future__ import annotations

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session


def upserting(session: Session, table: Table) -> sqlite.Insert | postgresql.Insert:
    """An INSERT that may say what happens to rows with equal keys."""
    return postgresql.insert(table) if session.get_bind().dialect.name == "postgresql" else sqlite.insert(table)
