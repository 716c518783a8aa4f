"""One section of a federation's file: typed access to its entries. Every mistake names the file and the place."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, overload

from tacit.agent.faults import Fault, InputError, RunError

T = TypeVar("T")

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""What parties, tables and columns may be called: as in SQL without quotes."""


class FederationError(InputError):
    """A mistake in a federation's files: in which file, where in it, what is wrong and what to do."""

    def __init__(self, file: Path, place: str, problem: str, advice: str) -> None:
        where = f"{file}, {place}" if place else str(file)
        super().__init__(Fault.INPUT, f"{where}: {problem}; {advice}.")


class Section:
    """A table of the TOML file. Entries are taken one by one; ``close`` refuses those that nothing took.

    place: the section as the file writes it, for example ``tables.scores``; empty for the top of the file.
    """

    def __init__(self, file: Path, place: str, entries: object) -> None:
        self._file = file
        self._place = place
        self._taken: list[str] = []
        self._excluded: list[str] = []
        if not isinstance(entries, dict):
            raise FederationError(file, place, "is not a section", f"write it as [{place}] with entries below")
        self._entries: dict[str, Any] = entries

    @property
    def name(self) -> str:
        """The last part of the place."""
        return self._place.rpartition(".")[2]

    def error(self, problem: str, advice: str) -> FederationError:
        """A mistake in this section."""
        return FederationError(self._file, f"[{self._place}]" if self._place else "", problem, advice)

    def close(self) -> None:
        """Refuse entries that are not known here. What is refused beside the others is not offered instead."""
        for entry in self._entries:
            if entry not in self._taken:
                offered = sorted({key for key in self._taken if key not in self._excluded})
                # A section that is there may be written further, no other entry twice.
                free = [key for key in offered if isinstance(self._entries.get(key, {}), dict)]
                near = get_close_matches(entry, free, n=1)
                known = f"perhaps you mean {near[0]}" if near else f"known here are {', '.join(offered)}"
                raise self.error(f"there is no entry {entry!r}", known)

    def not_both(self, kept: str, other: str, advice: str) -> None:
        """Refuse two entries of which either makes the other superfluous."""
        present = [key for key in (kept, other) if key in self._entries]
        if len(present) == 2:
            raise self.error(f"has both {kept} and {other}", advice)
        self._excluded += [key for key in (kept, other) if present and key not in present]

    def text(self, key: str, default: str | None = None) -> str:
        """A string that is not empty."""
        value = self._take(key, default)
        if not isinstance(value, str) or not value:
            raise self._wrong(key, value, "a text in quotes")
        return value

    def choice(self, key: str, options: tuple[str, ...], default: str | None = None) -> str:
        """One of a few words."""
        value = self.text(key, default)
        if value not in options:
            raise self.error(f"{key} is {value!r}", f"write {either(options)}")
        return value

    def path(self, key: str, default: str | None = None) -> Path:
        """A file, relative to the folder of the file that names it."""
        return (self._file.parent / self.text(key, default)).resolve()

    def flag(self, key: str, default: bool) -> bool:
        """true or false."""
        value = self._take(key, default)
        if not isinstance(value, bool):
            raise self._wrong(key, value, "true or false")
        return value

    @overload
    def number(self, key: str, default: float, above: float | None = None) -> float: ...
    @overload
    def number(self, key: str, default: None, above: float | None = None) -> float | None: ...
    def number(self, key: str, default: float | None, above: float | None = None) -> float | None:
        """A number, not negative, or greater than ``above``."""
        if key not in self._entries:
            self._taken.append(key)
            return default
        value = self._take(key, None)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong(key, value, "a number")
        if not (value >= 0 if above is None else value > above) or value == float("inf"):
            raise self.error(
                f"{key} is {value}", "write a number " + ("from 0" if above is None else f"above {above:g}")
            )
        return float(value)

    def count(self, key: str, least: int) -> int | None:
        """A whole number of at least ``least``, or None if it is not there."""
        if (value := self.optional(key)) is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._wrong(key, value, "a whole number")
        if value < least:
            raise self.error(f"{key} is {value}", f"write a whole number from {least}")
        return value

    def names(self, key: str, default: Sequence[str] | None = None) -> tuple[str, ...]:
        """A list of names, none twice."""
        return self.name_list(key, self._take(key, default))

    def name_list(self, what: str, value: object) -> tuple[str, ...]:
        """A value of this section as a list of names, none twice."""
        if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
            raise self._wrong(what, value, 'a list of names, for example ["a", "b"]')
        twice = next((each for at, each in enumerate(value) if each in value[:at]), None)
        if twice is not None:
            raise self.error(f"{what} names {twice!r} twice", "name it once")
        return tuple(value)

    def all_known(self, what: str, names: Iterable[str], known: Iterable[str], kind: str) -> None:
        """Refuse a name that is not among the known ones."""
        known = tuple(known)
        for name in names:
            if name not in known:
                near = get_close_matches(name, known, n=1, cutoff=0.65)
                advice = f"perhaps you mean {near[0]}" if near else f"write {either(known)}"
                raise self.error(f"{what} names {name!r}, which is no {kind}", advice)

    def has(self, key: str) -> bool:
        """Whether an entry is there. It does not count as known here for that."""
        return key in self._entries

    def optional(self, key: str) -> Any:
        """A value of any type, or None if it is not there."""
        self._taken.append(key)
        return self._entries.get(key)

    def section(self, key: str) -> Section:
        """A section below this one; an empty one if it is not there."""
        return Section(self._file, self._below(key), self._take(key, {}))

    def inline(self, key: str, entries: object, wanted: str = 'a type in quotes, or { type = "...", ... }') -> Section:
        """A value of this section that is itself a section, written in one line."""
        if not isinstance(entries, dict):
            raise self._wrong(key, entries, wanted)
        return Section(self._file, self._below(key), entries)

    def sections(self, key: str) -> Iterator[Section]:
        """Every section below this one, under names that SQL can write and tell apart."""
        group = self.section(key)
        group.check_names(key)
        return (Section(self._file, group._below(name), entries) for name, entries in group._entries.items())

    def check_names(self, what: str) -> None:
        """All entries' names can be written in SQL without quotes and differ in more than case."""
        seen: dict[str, str] = {}
        for name in self._entries:
            if not NAME.fullmatch(name):
                problem = f"{name!r} cannot name one of the {what}"
                raise self.error(problem, "use letters, digits and _, and no digit first")
            if name.lower() in seen:
                problem = f"{seen[name.lower()]!r} and {name!r} differ in case only"
                raise self.error(problem, "rename one, because SQL takes them for the same name")
            seen[name.lower()] = name

    def items(self) -> Iterator[tuple[str, Any]]:
        """All entries, taken."""
        self._taken.extend(self._entries)
        return iter(self._entries.items())

    def _below(self, key: str) -> str:
        return f"{self._place}.{key}" if self._place else key

    def _take(self, key: str, default: object) -> Any:
        self._taken.append(key)
        if key in self._entries:
            return self._entries[key]
        if default is None:
            raise self.error(f"has no {key}", f"add {key} = ...")
        return default

    def _wrong(self, key: str, value: object, wanted: str) -> FederationError:
        return self.error(f"{key} is {shown(value)}", f"write {wanted}")


def read_section(path: Path, advice: str) -> Section:
    """All of a file. advice: what to do if it cannot be read. Raises RunError."""
    try:
        return Section(path, "", tomllib.loads(path.read_text(encoding="utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise RunError(Fault.INPUT, f"{path}: is not TOML: {str(error)[:1].lower()}{str(error)[1:]}.") from None
    except UnicodeDecodeError:
        raise RunError(Fault.INPUT, f"{path}: is not UTF-8 text; save it as UTF-8.") from None
    except ValueError:  # what else a number of thousands of digits is to Python
        raise RunError(Fault.INPUT, f"{path}: has a number of thousands of digits; write a shorter one.") from None
    except OSError as error:
        raise RunError(Fault.INPUT, f"{path}: cannot be read ({error.strerror}); {advice}.") from None


def shown(value: object) -> str:
    """A TOML value as a sentence quotes it."""
    return str(value).lower() if isinstance(value, bool) else repr(value) if isinstance(value, str) else str(value)


def either(options: Sequence[str]) -> str:
    """What may be written, as a sentence names it."""
    quoted = [f'"{option}"' for option in options]
    return " or ".join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else quoted[0]
