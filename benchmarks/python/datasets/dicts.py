"""Samples that are dicts of lists, as data sets of text give them, to one batch of padded tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...harness import Case, row

NAMES = ("input_ids", "token_type_ids", "attention_mask")


@row("collate.lists", "64 dicts of three lists of 512 ints to padded tensors")
def _(case: Case) -> None:
    rng = np.random.default_rng(0)
    shape = case.size(64, 3), case.size(512, 5)
    case.reference = {name: rng.integers(1, 30_000, shape) for name in NAMES}
    samples = [{name: case.reference[name][i].tolist() for name in NAMES} for i in range(shape[0])]
    columns = [[sample[name] for sample in samples] for name in NAMES]
    alone = "varlen, lists to padded"
    case.goal(
        f"<= 1.2 of {alone}", 1.2, lambda times: times.ratio("varlen", alone), f"x {alone.split(', ')[1]}"
    )

    def arrays(batch: Any) -> dict[str, Any]:
        return {name: np.asarray(batch[name]) for name in NAMES}

    @case.contender("varlen", needs="torch", show=arrays)
    def _() -> Any:
        import varlen

        return varlen.data.Collate(framework="torch", masks=False), samples

    @case.contender(alone, show=lambda found: dict(zip(NAMES, found, strict=True)))
    def _() -> Any:
        import varlen

        return lambda: [varlen.Ragged.from_list(column).to_dense() for column in columns]

    @case.contender("default_data_collator", needs=("torch", "transformers"), show=arrays)
    def _() -> Any:
        import torch
        from transformers import default_data_collator

        torch.set_num_threads(1)
        return default_data_collator, samples

    @case.contender("DataCollatorWithPadding", needs=("torch", "transformers"), show=arrays)
    def _() -> Any:
        import torch
        from tokenizers import Tokenizer, models
        from transformers import DataCollatorWithPadding, PreTrainedTokenizerFast

        torch.set_num_threads(1)
        tokenizer = Tokenizer(models.WordLevel({"[PAD]": 0}, unk_token="[PAD]"))
        return DataCollatorWithPadding(
            PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]")
        ), samples
