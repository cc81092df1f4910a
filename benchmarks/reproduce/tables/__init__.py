"""Every table that can be reproduced, by name."""

from __future__ import annotations

from ..declaration import Table
from . import mcm, recip, slm

TABLES: dict[str, Table] = {table.name: table for table in (*slm.TABLES, *mcm.TABLES, *recip.TABLES)}
