"""Pairs → weights: in-batch contrastive training of the piece table, then four bits a number. torch only here.

python train.py --work DIR --out FILE [--epochs 3] …   every field of Settings is an option
"""

from __future__ import annotations

import argparse
import pickle
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from pairs import STYLES, Flat, Pairs, build, vocabulary
from start import start_vectors
from torch import nn
from torch.nn import functional

from codekb.encoders import weights
from codekb.encoders.pieces import Vocabulary

FIELD_START = (1.5, 0.5, 0.6, 0.7, 0.6, 0.5)
"""What the weights of name, place, documentation, signature, comments and body start with, times the idf."""
CLIPS = (1.0, 0.9, 0.8, 0.7, 0.6)
"""Shares of a row's largest number that its scale is tried with."""


@dataclass(slots=True)
class Settings:
    """Everything that a run depends on; written into the weight file."""

    known: int = 42_000
    buckets: int = 4_096
    known_pairs: int = 16_000
    dimension: int = 576
    batch: int = 768
    epochs: float = 3.0
    rate: float = 0.004
    weight_rate: float = 0.01
    query_dropout: float = 0.2
    document_dropout: float = 0.3
    name_dropout: float = 0.1
    same_package: float = 0.7
    styles: str = ",".join(STYLES)
    style_share: float = 0.35
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Ragged:
    """Rows of `items` items, in item and field order, each with its value, field and item."""

    items: int
    rows: torch.Tensor
    values: torch.Tensor
    field: torch.Tensor
    owner: torch.Tensor


class Table(nn.Module):
    """Piece vectors, a question weight per piece, a document weight per piece and field."""

    def __init__(self, settings: Settings, frequency: np.ndarray, start: np.ndarray) -> None:
        super().__init__()
        size = len(frequency) + settings.buckets
        idf = np.full(size, 8.0)
        idf[: len(frequency)] = np.log(1 / np.maximum(frequency, 1e-5))
        idf = torch.tensor(idf / 8.0, dtype=torch.float32).clamp(0.02, 1.0)
        vectors = torch.randn(size, settings.dimension) / settings.dimension**0.5
        vectors[: len(start), : start.shape[1]] = torch.from_numpy(start)
        self.vectors = nn.Parameter(vectors)
        self.query_weight = nn.Parameter(idf.clone())
        fields = torch.tensor(FIELD_START)[:, None]
        self.field_weight = nn.Parameter(fields * idf)
        self.scale = nn.Parameter(torch.tensor(20.0).log())

    def bag(self, rows: torch.Tensor, offsets: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        return functional.embedding_bag(rows, self.vectors, offsets, mode="sum", per_sample_weights=values, sparse=True)

    def queries(self, batch: Ragged) -> torch.Tensor:
        """Unit vectors of questions."""
        values = batch.values * self.query_weight[batch.rows]
        summed = self.bag(batch.rows, torch.searchsorted(batch.owner, torch.arange(batch.items)), values)
        return functional.normalize(summed, dim=1)

    def documents(self, batch: Ragged) -> torch.Tensor:
        """Unit vectors of documents."""
        values = batch.values * self.field_weight[batch.field, batch.rows]
        summed = self.bag(batch.rows, torch.searchsorted(batch.owner, torch.arange(batch.items)), values)
        return functional.normalize(summed, dim=1)


def gather(flat: Flat, index: np.ndarray, keep: np.ndarray | None) -> Ragged:
    """The rows of some items, a share of them dropped at random: `keep` is the share that stays, by field."""
    starts, lengths = flat.start[index], flat.start[index + 1] - flat.start[index]
    before = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    position = np.repeat(starts - before, lengths) + np.arange(lengths.sum())
    rows, values, field = flat.rows[position], flat.values[position], flat.field[position]
    owner = np.repeat(np.arange(len(index)), lengths)
    if keep is not None:
        kept = np.random.random(len(rows)) < keep[field]
        rows, values, field, owner = rows[kept], values[kept], field[kept], owner[kept]
    whole = [torch.from_numpy(a.astype(np.int64)) for a in (rows, field, owner)]
    return Ragged(len(index), whole[0], torch.from_numpy(values), whole[1], whole[2])


def batches(pairs: Pairs, chosen: np.ndarray, settings: Settings, rng: np.random.Generator) -> list[np.ndarray]:
    """One epoch: most batches fill with runs of single packages, the rest is mixed."""
    order = rng.permutation(chosen)
    inside = rng.random(len(order)) < settings.same_package
    mixed = order[~inside]
    single = order[inside]
    run = rng.random(int(pairs.group.max()) + 1)
    single = single[np.argsort(run[pairs.group[single]], kind="stable")]
    size = settings.batch
    found = [part[i : i + size] for part in (single, mixed) for i in range(0, len(part) - size // 2, size)]
    return [found[i] for i in rng.permutation(len(found))]


def train(pairs: Pairs, frequency: np.ndarray, start: np.ndarray, settings: Settings) -> Table:
    """Trains the table from the vectors that its known pieces start with."""
    torch.manual_seed(settings.seed)
    np.random.seed(settings.seed)
    rng = np.random.default_rng(settings.seed)
    table = Table(settings, frequency, start)
    sparse = torch.optim.SparseAdam([table.vectors], lr=settings.rate)
    dense = torch.optim.Adam([table.query_weight, table.field_weight, table.scale], lr=settings.weight_rate)
    wanted = np.isin(pairs.style, [STYLES.index(s) for s in settings.styles.split(",")])
    keep_query = np.array([1 - settings.query_dropout])
    drop = settings.document_dropout
    keep = np.array([1 - settings.name_dropout, *[1 - drop] * (len(FIELD_START) - 1)])
    extra = (pairs.style[wanted] > 0).mean()
    total = int(settings.epochs * wanted.sum() * (1 - extra * (1 - settings.style_share)) / settings.batch)
    step, started = 0, time.time()
    for epoch in range(int(np.ceil(settings.epochs))):
        chosen = np.flatnonzero(wanted)
        if settings.style_share < 1:
            chosen = chosen[(pairs.style[chosen] == 0) | (rng.random(len(chosen)) < settings.style_share)]
        losses = []
        for index in batches(pairs, chosen, settings, rng):
            if step >= total:
                break
            rate = max(0.05, 1 - step / max(1, total))
            for optimiser, start in ((sparse, settings.rate), (dense, settings.weight_rate)):
                optimiser.param_groups[0]["lr"] = start * rate
                optimiser.zero_grad()
            queries = table.queries(gather(pairs.query, index, keep_query))
            documents = table.documents(gather(pairs.document, index, keep))
            scores = queries @ documents.T * table.scale.exp().clamp(max=60)
            key = torch.from_numpy(pairs.key[index])
            same = (key[:, None] == key[None, :]) & ~torch.eye(len(index), dtype=torch.bool)
            scores = scores.masked_fill(same, -1e4)
            target = torch.arange(len(index))
            loss = functional.cross_entropy(scores, target) + 0.3 * functional.cross_entropy(scores.T, target)
            loss.backward()
            for optimiser in (sparse, dense):
                optimiser.step()
            losses.append(loss.item())
            step += 1
            if step % 50 == 0:
                print(
                    f"  step {step}/{total} loss {np.mean(losses[-50:]):.3f} {time.time() - started:.0f} s", flush=True
                )
        print(
            f"epoch {epoch + 1} loss {np.mean(losses):.3f} scale {table.scale.exp():.1f} {time.time() - started:.0f} s",
            flush=True,
        )
    return table


def save(table: Table, vocabulary: list[str], settings: Settings, path: Path) -> str:
    """Quantises to four bits with a scale per row and writes the weight file; returns its hash."""
    levels, scale = quantised(table.vectors.detach().numpy())
    arrays = {
        "vocabulary": np.frombuffer("\n".join(vocabulary).encode(), dtype=np.uint8),
        "table": weights.packed(levels),
        "scale": scale,
        "query_weight": table.query_weight.detach().numpy().astype(np.float16),
        "field_weight": table.field_weight.detach().numpy().astype(np.float16),
    }
    facts = {name: getattr(settings, name) for name in Settings.__slots__}
    return weights.write(path, arrays, facts)


def quantised(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers from -7 to 7 and a float32 scale per row; of the CLIPS the one with the least squared error."""
    largest = np.maximum(np.abs(vectors).max(axis=1), 1e-12)
    levels = np.zeros(vectors.shape, dtype=np.int8)
    scale, error = np.zeros(len(vectors), dtype=np.float32), np.full(len(vectors), np.inf)
    for clip in CLIPS:
        tried = (clip * largest / weights.LEVELS).astype(np.float32)
        rounded = np.clip(np.rint(vectors / tried[:, None]), -weights.LEVELS, weights.LEVELS)
        squared = ((rounded * tried[:, None] - vectors) ** 2).sum(axis=1)
        better = squared < error
        levels[better], scale[better], error[better] = rounded[better], tried[better], squared[better]
    return levels, scale


def prepared(work: Path, settings: Settings) -> tuple[Pairs, list[str], np.ndarray, np.ndarray]:
    """Pairs, known pieces, their frequencies and the vectors they start with, kept in the work folder."""
    path = work / f"pairs-{settings.known}-{settings.known_pairs}-{settings.buckets}-{settings.dimension}.pkl"
    if path.exists():
        return pickle.loads(path.read_bytes())  # type: ignore[no-any-return]
    known, frequency, spellings = vocabulary(work, known=settings.known, known_pairs=settings.known_pairs)
    with ProcessPoolExecutor(1) as beside:
        start = beside.submit(start_vectors, spellings, settings.dimension)
        result = build(work, Vocabulary(known, buckets=settings.buckets), settings.seed)
        whole = result, known, frequency, start.result()
    part = path.with_suffix(".part")
    part.write_bytes(pickle.dumps(whole, protocol=4))
    part.rename(path)
    return whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    defaults = Settings()
    for name in Settings.__slots__:
        default = getattr(defaults, name)
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    options = parser.parse_args()
    torch.set_num_threads(1)  # two change the order of sums
    settings = Settings(**{name: getattr(options, name) for name in Settings.__slots__})
    started = time.monotonic()
    data, known, frequency, start = prepared(options.work, settings)
    print(f"pairs: {time.monotonic() - started:.0f} s", flush=True)
    print({s: int((data.style == i).sum()) for i, s in enumerate(STYLES)}, flush=True)
    table = train(data, frequency, start, settings)
    print(save(table, known, settings, options.out))


if __name__ == "__main__":
    main()
