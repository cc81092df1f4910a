"""Every table and figure that can be reproduced, by name."""

from __future__ import annotations

from ..declaration import Table
from . import choice, figures, mcm, peers, recip, slm

# Of the papers, in their order: what ``all`` stands for.
PAPERS: dict[str, Table] = {
    table.name: table for table in (*slm.TABLES, *figures.SLM, *mcm.TABLES, *figures.MCM, *recip.TABLES, *figures.RECIP)
}
# Duels of our own, and how our grids were chosen.
PEERS: dict[str, Table] = {table.name: table for table in peers.TABLES}
TABLES: dict[str, Table] = PAPERS | PEERS | {choice.TABLE.name: choice.TABLE}
GROUPS: dict[str, dict[str, Table]] = {"all": PAPERS, "peers": PEERS}
