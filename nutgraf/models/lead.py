"""Lead-N: the first N words of a text, the baseline of Table 2. It learns nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nutgraf.text.lexicon import Ids


@dataclass(frozen=True)
class Lead:
    """Keeps the first `words` words."""

    words: int

    def __call__(self, sentences: Sequence[Ids]) -> list[Ids]:
        """Summarize sentences."""
        return [np.asarray(sentence[: self.words], dtype=np.int32) for sentence in sentences]
