"""The reader spy: it sits at the data and records who got in and which records were touched."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Read", "Spy"]


@dataclass(frozen=True)
class Read:
    """One entry to the data: by which reader, for whom, and the ids of the records that were handed out."""

    reader: str
    subject: str
    records: tuple[str, ...]


@dataclass
class Spy:
    """Every entry to the data of a world, in order. No gate and no tool can read around it."""

    reads: list[Read] = field(default_factory=list)

    @property
    def entries(self) -> int:
        """How often the data was entered."""
        return len(self.reads)

    @property
    def records(self) -> frozenset[str]:
        """Ids of all records that were handed out to a tool."""
        return frozenset(record for read in self.reads for record in read.records)

    def note(self, reader: str, subject: str, records: tuple[str, ...]) -> None:
        """Record one entry."""
        self.reads.append(Read(reader, subject, records))
