"""The floating-point operations of the convolutional model's matrix products: for estimates and for the benchmark.

Everything else is left out: softmax, weight norm, dropout, Adam, and the one-column gate of models that copy.
"""

from __future__ import annotations

from nutgraf.recipe import Recipe

# Operations a second that one thread of a common CPU reaches with these models: measured.
TRAINING_FLOPS = 35e9
GENERATION_FLOPS = 30e9


def forward(recipe: Recipe, source: float, target: float, shortlist: int = 0) -> float:
    """Return the floating-point operations of one forward pass of one pair."""
    model, embedding = recipe.seq2seq, recipe.embeddings.width
    block = 2 * model.kernel * model.width * 2 * model.width
    attention = 2 * 2 * model.width * embedding + 4 * source * embedding
    ends = 2 * 2 * model.width * embedding
    columns = shortlist + 500 if shortlist else recipe.text.joint_vocabulary
    encoder = source * (model.encoder_layers * block + ends)
    decoder = target * (model.decoder_layers * (block + attention) + ends + 2 * embedding * columns)
    return encoder + decoder
