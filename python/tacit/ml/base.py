"""What all estimators have in common: their parameters are the arguments of their class."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from tacit.plan.programs.refusals import ProgramError

Self = TypeVar("Self", bound="Estimator")


class Estimator:
    """A model with parameters that are set before it is trained, in scikit-learn's way."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by their names."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self: Self, **parameters: Any) -> Self:
        """Set parameters. Raises ProgramError for a name that is none."""
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                raise ProgramError(f"{type(self).__name__} has no parameter {name!r}; there is {', '.join(known)}.")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({given})"
