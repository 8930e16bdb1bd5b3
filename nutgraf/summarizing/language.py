"""What the summarizers of a run share besides their models: the words, how they are written, how summaries are sought.

Read from a run folder, or from an export of it, which has only the words that its models know.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from nutgraf import recipe as recipes
from nutgraf.files import naming, read_json
from nutgraf.run.folder import Run
from nutgraf.run.manifest import MANIFEST
from nutgraf.run.systems import CASING, TEXT
from nutgraf.text.casing import FILE, Casing, Forms
from nutgraf.text.lexicon import Ids, Lexicon
from nutgraf.text.prepare import Prepared, usual_length

LEXICON, SETTINGS = "lexicon.txt", "settings.json"


@dataclass(frozen=True)
class Language:
    """Words, casing and settings."""

    lexicon: Lexicon
    casing: Casing
    text: recipes.Text
    decoding: recipes.Decoding  # with the usual length

    @classmethod
    def of(cls, run: Run) -> Language:
        """Read what a run learned of its two corpora."""
        prepared = Prepared.open(run.intact(TEXT))
        decoding = usual_length(run.recipe.decoding, prepared.summaries)
        return cls(prepared.lexicon, casing_of(run), run.recipe.text, decoding)

    def only(self, ids: Ids) -> Language:
        """Keep these words, in this order; of the others, any of which may start a text, which are no names."""
        words = self.lexicon.decode(ids.tolist())
        known = frozenset(words)

        def cut(forms: Forms) -> Forms:
            return {word: form for word, form in forms.items() if word in known or not self.casing.is_name(word)}

        casing = Casing(cut(self.casing.summaries), cut(self.casing.texts))
        return replace(self, lexicon=Lexicon(words), casing=casing)

    def save(self, folder: Path) -> None:
        """Write three files."""
        self.lexicon.save(folder / LEXICON)
        self.casing.save(folder / FILE, short=True)
        settings = {"text": asdict(self.text), "decoding": asdict(self.decoding)}
        (folder / SETTINGS).write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Language:
        """Read what `save` wrote; a RunError names a file that is something else."""
        with naming(folder / SETTINGS):
            settings = read_json(folder / SETTINGS)
            text, decoding = recipes.Text(**settings["text"]), recipes.Decoding(**settings["decoding"])
        return cls(Lexicon.load(folder / LEXICON), Casing.load(folder / FILE), text, decoding)


def casing_of(run: Run) -> Casing:
    """Return how a run's corpora write words; nothing is known of it in runs of earlier versions."""
    known = (run.step_folder(CASING) / MANIFEST).exists()
    return Casing.load(run.intact(CASING) / FILE) if known else Casing()
