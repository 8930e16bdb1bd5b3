from dataclasses import replace

from nutgraf import recipe
from nutgraf.bench.operations import scored, sentence
from nutgraf.models.arithmetic import forward
from nutgraf.text.corpus import Corpus

SMALL = ["embeddings.width=4", "seq2seq.width=2", "seq2seq.encoder_layers=1", "seq2seq.decoder_layers=1"]


def test_operations_of_one_sentence_by_hand() -> None:
    small = recipe.override(recipe.Recipe(), SMALL)
    convolution = 2 * 6 * 4  # 3 inputs of 2 channels to 4
    ends = 2 * 4 * 2 + 2 * 2 * 4  # from the embedding's width to the blocks' and back
    attention = 2 * 2 * 4 + 2 * 4 * 2 + 2 * 5 * 4 + 2 * 5 * 4  # in and out, scores of 5 words, their weighted sum
    output = 2 * 4 * 70
    assert sentence(small, source=5, target=3, columns=70) == 5 * (convolution + ends) + 3 * (
        convolution + attention + ends + output
    )


def test_it_is_the_count_of_the_cost_estimate() -> None:
    cpu = recipe.load("cpu")
    assert sentence(cpu, 33, 11, cpu.text.joint_vocabulary) == forward(cpu, 33, 11)
    fewer = replace(cpu, text=replace(cpu.text, joint_vocabulary=2_500))
    assert sentence(cpu, 33, 11, 2_500) == forward(fewer, 33, 11)


def test_columns_of_a_shortlist_by_hand() -> None:
    targets = Corpus.of([[3, 40], [60, 40], [5, 99], [200, 3]])
    # Of 100 words the first 10 are certain. The first batch has 40 and 60, the second 99 besides (200 is no word of
    # the vocabulary); of 10 drawn words 88 % and 89 % are new.
    assert scored(targets, batch=2, vocabulary=100, shortlist=20) == round((12 + 8.8 + 11 + 8.9) / 2)
    assert scored(targets, batch=2, vocabulary=100, shortlist=0) == 100
    assert scored(targets, batch=2, vocabulary=100, shortlist=100) == 100
