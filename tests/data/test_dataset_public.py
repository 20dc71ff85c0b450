"""Public datasets: the rows are those that MindSpore 2.10 reads in the same files, and so are the classes of errors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sample_corpora import CALLS, HERE, answer, write

from weft import data as ds

pytest.importorskip("cv2")
pytest.importorskip("PIL")
ANSWERS = json.loads((HERE / "corpora_answers.json").read_text(encoding="utf-8"))
#: where MindSpore reads files in the order in which the disk lists them
UNORDERED = ("GTZAN", "WIDERFace", "IWSLT", "Tedlium", "YesNo", "PKSampler")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpora")
    write(folder)
    return folder


def test_all_calls_are_recorded() -> None:
    assert set(CALLS) == set(ANSWERS)


@pytest.mark.parametrize("call", CALLS)
def test_rows_are_those_of_mindspore(call: str, root: Path) -> None:
    expected, found = ANSWERS[call], json.loads(json.dumps(answer(call, ds, root)))
    if call.startswith("ds.FakeImage") and not isinstance(expected, str):
        # the random numbers are others
        assert [found[0], found[1]] == [expected[0], expected[1]]
        return
    if "Tedlium" in call and not isinstance(expected, str):
        # MindSpore reads silence
        for row in [*found[2], *expected[2]]:
            row["waveform"] = row["waveform"][1]
    if any(name in call for name in UNORDERED) and not isinstance(expected, str):
        assert not isinstance(found, str), found
        found[2], expected[2] = sorted(found[2], key=json.dumps), sorted(expected[2], key=json.dumps)
    assert found == expected


def test_what_mindspore_reads_otherwise(root: Path) -> None:
    talk = next(ds.TedliumDataset(f"{root}/tedlium3", "release3").create_dict_iterator(output_numpy=True))
    assert talk["waveform"].shape in ((1, 3), (1, 4))
    first = ds.TedliumDataset(f"{root}/tedlium3", "release3", shuffle=False).create_dict_iterator(output_numpy=True)
    np.testing.assert_allclose(next(first)["waveform"] * 32767, [[-24768, -16768, -8768]])
    late = ds.QMnistDataset(f"{root}/qmnist", "test50k", shuffle=False)
    assert [int(row["label"]) for row in late.create_dict_iterator(num_epochs=1, output_numpy=True)] == [128, 136, 144]
    with pytest.raises(ValueError, match="doesn't support PKSampler"):
        next(iter(ds.SemeionDataset(f"{root}/semeion", sampler=ds.PKSampler(1))))


def test_made_images_and_rows() -> None:
    def rows(**options: int) -> list[tuple[list[int], int]]:
        data = ds.FakeImageDataset(3, (2, 2, 3), 4, shuffle=False, **options)
        return [(x.ravel().tolist(), int(y)) for x, y in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]

    assert rows() == rows()
    # the seed is that of the first image
    assert rows(base_seed=1)[:2] == rows()[1:]
    schema = ds.Schema()
    schema.add_column("image", "uint8", [2])
    schema.add_column("score", "float32", [3, 1])
    data = ds.RandomDataset(5, schema)
    assert data.get_dataset_size() == 5
    assert data.get_col_names() == ["image", "score"]
    for row in data.create_dict_iterator(num_epochs=1, output_numpy=True):
        assert [(x.dtype, x.shape) for x in row.values()] == [(np.uint8, (2,)), (np.float32, (3, 1))]
    assert ds.RandomDataset(2, schema, ["score"]).get_col_names() == ["score"]
    assert ds.RandomDataset(num_samples=2, columns_list=["a"]).get_col_names() == ["a"]


def test_signatures_are_those_of_mindspore() -> None:
    import inspect

    said = json.loads((HERE / "corpora_signatures.json").read_text(encoding="utf-8"))
    for name, parameters in said.items():
        found = {each.name: repr(each.default) for each in inspect.signature(getattr(ds, name)).parameters.values()}
        assert list(found) == list(parameters), name
        assert found == parameters, name


@pytest.mark.parametrize("name", ["CLUEDataset", "YesNoDataset"])
def test_arguments_that_are_wrong(name: str, root: Path) -> None:
    make = getattr(ds, name)
    with pytest.raises(TypeError, match=f"{name}: missing a required argument"):
        make()
    with pytest.raises(TypeError, match=f"{name}: got an unexpected keyword argument 'shufle'"):
        make(str(root), shufle=True)
