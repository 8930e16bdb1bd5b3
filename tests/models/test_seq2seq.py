"""The convolutional model against slow and obvious versions."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from nutgraf.models.decoding import ConvDecoder
from nutgraf.models.seq2seq import Affine, dropout, local, windows
from tests.toys import toy_model

# Two sources and targets with EOS (1) and padding (0); 15 and 17 are outside every vocabulary.
SOURCE = torch.tensor([[3, 15, 5, 6, 1], [7, 17, 1, 0, 0]])
TARGET = torch.tensor([[15, 5, 4, 1], [8, 1, 0, 0]])


def test_affine_starts_as_drawn_and_norms_its_rows() -> None:
    layer = Affine(3, 2, 1.0, torch.Generator().manual_seed(0))
    assert torch.allclose(layer.weight, layer.v)
    with torch.no_grad():
        layer.v.copy_(torch.tensor([[3.0, 4.0, 0.0], [0.0, 0.0, 2.0]]))
        layer.gain.copy_(torch.tensor([[10.0], [1.0]]))
        layer.bias.copy_(torch.tensor([1.0, 0.0]))
    # (3, 4, 0) / 5 * 10 = (6, 8, 0); times (1, 1, 1) + 1 = 15
    assert layer(torch.ones(3)).detach().tolist() == pytest.approx([15.0, 1.0])


def test_dropout_drops_and_scales_each_number_alike() -> None:
    x = torch.ones(40_003, 4, requires_grad=True)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        found = dropout(x[:, :3], 0.2, True)
        torch.manual_seed(0)
        assert torch.equal(found, dropout(x[:, :3], 0.2, True))
    assert sorted(set(found.detach().flatten().tolist())) == pytest.approx([0.0, 1.25], rel=1e-4)
    # 40,003 draws with p = 0.2 have a standard deviation of 0.002; each of a draw's four 16-bit parts is fair.
    assert (found == 0).float().mean(0).tolist() == pytest.approx([0.2] * 3, abs=0.01)
    assert [(found.flatten()[i::4] == 0).float().mean().item() for i in range(4)] == pytest.approx([0.2] * 4, abs=0.01)
    found.sum().backward()  # type: ignore[no-untyped-call]
    assert x.grad is not None
    assert torch.equal(x.grad[:, :3], found.detach())
    assert dropout(x, 0.2, False) is x


@pytest.mark.parametrize("left", [1, 2])
def test_windows_are_a_convolution(left: int) -> None:
    x, weight = torch.randn(2, 5, 4), torch.randn(6, 4, 3)
    expected = F.conv1d(F.pad(x.transpose(1, 2), (left, 2 - left)), weight).transpose(1, 2)
    ours = windows(x, 3, left) @ weight.permute(0, 2, 1).reshape(6, 12).t()
    assert torch.allclose(ours, expected, atol=1e-5)


@pytest.mark.parametrize("copy", [False, True])
def test_probabilities_sum_to_one_over_vocabulary_and_source(copy: bool) -> None:
    model = toy_model(copy).eval()
    source = SOURCE[:1]
    words = [*range(9), *([15] if copy else [])]
    total = sum(
        math.exp(float(model.log_probs(source, torch.tensor([[w, 1]])).detach()[0, 0])) for w in words if w != 0
    )
    # PAD is a column of the softmax but never a target: what is missing is its share.
    scores = (
        ConvDecoder(model).start([source[0, :-1].numpy().astype("int32")], False, top_words=99).step(torch.tensor([1]))
    )
    pad = scores[0, 0].exp()
    assert total + float(pad) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("copy", [False, True])
def test_a_changed_future_word_moves_no_earlier_probability(copy: bool) -> None:
    model = toy_model(copy).eval()
    before = model.log_probs(SOURCE, TARGET)
    changed = TARGET.clone()
    changed[0, 2] = 6
    after = model.log_probs(SOURCE, changed)
    assert torch.equal(before[:, :2], after[:, :2])
    assert torch.equal(before[1], after[1])
    assert not torch.equal(before[0, 3], after[0, 3])


@pytest.mark.parametrize("copy", [False, True])
def test_padding_changes_nothing(copy: bool) -> None:
    model = toy_model(copy).eval()
    alone = model.log_probs(SOURCE[1:, :3], TARGET[1:, :2])
    padded = model.log_probs(SOURCE, TARGET)[1:, :2]
    assert torch.allclose(alone, padded, atol=1e-5)


def test_a_word_outside_the_vocabulary_gets_its_copied_probability() -> None:
    model = toy_model(copy=True).eval()
    encoded = model.encode(SOURCE)
    previous = torch.tensor([[1]])
    one = type(encoded)(*(getattr(encoded, f)[:1] for f in ("words", "keys", "values", "pad", "scale")))
    _, states, weights = model.decoder(model.target_table[previous], one)
    assert model.gate is not None
    gate = torch.sigmoid(model.gate(states))[0, 0, 0]
    expected = (1 - gate) * weights[0, 0, 1]  # 15 stands at place 1, once
    assert float(model.log_probs(SOURCE, TARGET).detach()[0, 0].exp()) == pytest.approx(
        float(expected.detach()), rel=1e-4
    )


def test_loss_is_the_mean_over_real_words() -> None:
    model = toy_model(copy=True).eval()
    log_probs = model.log_probs(SOURCE, TARGET)
    expected = -(log_probs[0].sum() + log_probs[1, :2].sum()) / 6
    assert float(model.loss(SOURCE, TARGET).detach()) == pytest.approx(float(expected.detach()), rel=1e-6)


@pytest.mark.parametrize("copy", [False, True])
def test_gradients_agree_with_finite_differences(copy: bool) -> None:
    model = toy_model(copy).double()
    # The encoder's output has its gradient scaled down on purpose, so look at the decoder's own parameters.
    parameters = [model.decoder.leave.v, model.decoder.enter.gain, model.bias]
    if model.gate is not None:
        parameters.append(model.gate.v)
    model.loss(SOURCE, TARGET).backward()  # type: ignore[no-untyped-call]
    for parameter in parameters:
        flat, gradient = parameter.detach().view(-1), parameter.grad
        assert gradient is not None
        for place in (0, len(flat) - 1):
            kept, losses = float(flat[place]), []
            for shift in (1e-6, -1e-6):
                flat[place] = kept + shift
                losses.append(float(model.loss(SOURCE, TARGET).detach()))
            flat[place] = kept
            assert float(gradient.view(-1)[place]) == pytest.approx((losses[0] - losses[1]) / 2e-6, rel=1e-3, abs=1e-8)


def test_encoder_gradient_is_scaled_by_the_number_of_attentions() -> None:
    model = toy_model(copy=False).double()
    encoded = model.encode(SOURCE)
    encoded.keys.sum().backward()  # type: ignore[no-untyped-call]
    scaled = model.encoder.leave.bias.grad
    assert scaled is not None
    # Without scaling each bias gets one for every real word: 8; two attention blocks divide it by four.
    assert scaled.tolist() == pytest.approx([2.0] * len(scaled))


def test_ids_past_the_lexicon_are_unknown() -> None:
    assert local(torch.tensor([0, 1, 2, 7]), torch.tensor([3, 99])).tolist() == [7, 2]
