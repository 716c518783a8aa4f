"""What all estimators are: parameters by their names, and what fit learns in attributes that end in an underscore."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, Self

import tacit.array.namespace as np
from tacit.ml.metrics import accuracy_score, r2_score
from tacit.ml.ranges import declared_range
from tacit.plan.programs.refusals import ProgramError


class NotFitted(ProgramError, AttributeError):
    """What fit learns was asked for before it."""


class Estimator:
    """A model with scikit-learn's interface. Subclasses are dataclasses: their fields are the parameters."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by their names. deep: there for scikit-learn; no estimator has another one inside."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters. Raises ProgramError for a name that is none."""
        names = self._names()
        for name, value in params.items():
            if name not in names:
                raise ProgramError(f"{type(self).__name__} has no parameter {name}; it has {', '.join(names)}.")
            setattr(self, name, value)
        return self

    @classmethod
    def _names(cls) -> list[str]:
        return [each.name for each in fields(cls) if each.init]  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_") and not name.startswith("_"):
            raise NotFitted(f"{type(self).__name__} has no {name} yet; call fit before, or set it.")
        raise AttributeError(f"{type(self).__name__} has no attribute {name}.")


class Classifier(Estimator, ABC):
    """An estimator that predicts classes."""

    @abstractmethod
    def predict(self, x: Any) -> Any:
        """The class of each row, an integer from 0."""

    def score(self, x: Any, y: Any) -> Any:
        """The share of rows whose class is predicted."""
        return accuracy_score(y, self.predict(x))


class Regressor(Estimator, ABC):
    """An estimator that predicts numbers."""

    @abstractmethod
    def predict(self, x: Any) -> Any:
        """The number of each row."""

    def score(self, x: Any, y: Any) -> Any:
        """The coefficient of determination R^2.

        Predictions that are farther from a private y than its declared range is wide count as that far.
        """
        low, high = declared_range(y)
        return r2_score(y, np.clip(self.predict(x), 2 * low - high, 2 * high - low))


def with_ones(x: Any) -> Any:
    """A matrix with one more column, of ones: its coefficient is the intercept."""
    return np.concatenate([x, np.ones((len(x), 1))], axis=1)
