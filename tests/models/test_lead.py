import numpy as np

from nutgraf.models.lead import Lead


def test_lead_keeps_the_first_words_also_unknown_ones() -> None:
    long, short = np.array([7, 2, 900_000, 5], dtype=np.int32), np.array([4], dtype=np.int32)
    outputs = Lead(3)([long, short, np.zeros(0, dtype=np.int32)])
    assert [output.tolist() for output in outputs] == [[7, 2, 900_000], [4], []]
    assert all(output.dtype == np.int32 for output in outputs)
