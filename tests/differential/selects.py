"""A generated SELECT: its outputs, and what stands around them."""

from __future__ import annotations

from dataclasses import dataclass, field

from .expressions import Name


@dataclass
class Output:
    """An item of the SELECT list. double: whether it is a DOUBLE, which cannot be limited by. loose: see Question."""

    text: str
    name: str
    double: bool = False
    loose: bool = False


@dataclass
class Select:
    """A SELECT: what stands before and after its list, or the whole text where no list is written.

    scope: what ORDER BY may use besides the outputs.
    """

    outputs: list[Output]
    before: str = "SELECT "
    after: str = ""
    whole: str = ""
    scope: list[Name] = field(default_factory=list)

    def text(self, *, named: bool = True) -> str:
        """The SELECT, its outputs with names of their own or without."""
        listed = [f"{output.text} AS {output.name}" if named else output.text for output in self.outputs]
        return self.whole or f"{self.before}{', '.join(listed)}{self.after}"

    @property
    def can_be_nameless(self) -> bool:
        """Whether its outputs would have different names without AS, of which none is a whole query."""
        if self.whole or self.before != "SELECT " or any("SELECT" in output.text for output in self.outputs):
            return False
        return len({output.text.lower().rsplit(".", 1)[-1] for output in self.outputs}) == len(self.outputs)
