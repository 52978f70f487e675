"""The door to pandas and polars: data frames of columns, where the user has either."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from longseq.errors import UsageError

if TYPE_CHECKING:
    import pandas
    import polars


class Framed(ABC):
    """What has columns, and so is a data frame in one call."""

    @abstractmethod
    def _framed(self) -> Any:
        """A mapping of names to arrays (N,), or a `pyarrow.Table`."""

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame of pandas with these columns.

        Raises:
            UsageError: pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise _missing("pandas") from None
        framed = self._framed()
        return framed.to_pandas() if hasattr(framed, "to_pandas") else pandas.DataFrame(framed)

    def to_polars(self) -> polars.DataFrame:
        """A data frame of polars with these columns, null for NaN.

        Raises:
            UsageError: polars is not installed.
        """
        try:
            import polars
        except ImportError:
            raise _missing("polars") from None
        return polars.DataFrame(self._framed(), nan_to_null=True)


def _missing(package: str) -> UsageError:
    return UsageError(
        f"a data frame of {package} needs {package}, which is not installed", remedy=f"pip install {package}"
    )
