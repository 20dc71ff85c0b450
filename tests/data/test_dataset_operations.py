"""Operations give what MindSpore 2.10 gives for the same programs; the numbers are its answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from tests.helpers.data_settings import settings_of_pipelines  # noqa: F401
from weft import data as ds


def numbers(count: int = 6) -> Any:
    return ds.NumpySlicesDataset(np.arange(count), ["x"], shuffle=False)


def pairs() -> Any:
    return ds.GeneratorDataset([(1, 2), (3, 4)], ["p", "q"], shuffle=False)


def ragged(count: int = 10) -> Any:
    return ds.GeneratorDataset([(np.array([i] * (i % 4 + 1)),) for i in range(count)], ["a"], shuffle=False)


def rows(dataset: Any) -> list[Any]:
    """The rows: the value itself where there is one column."""
    found = [[x.tolist() for x in row] for row in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    return [row[0] if len(row) == 1 else row for row in found]


class TestBatch:
    def test_sizes(self) -> None:
        assert rows(numbers(5).batch(2)) == [[0, 1], [2, 3], [4]]
        assert rows(numbers(5).batch(2, drop_remainder=True)) == [[0, 1], [2, 3]]
        assert rows(numbers(3).batch(10)) == [[0, 1, 2]]
        assert rows(numbers(8).batch(lambda info: info.get_batch_num() + 1)) == [[0], [1, 2], [3, 4, 5], [6, 7]]
        assert rows(ds.NumpySlicesDataset({"a": ["x", "yyy"]}, shuffle=False).batch(2)) == [["x", "yyy"]]

    def test_function_of_a_batch(self) -> None:
        seen = []

        def shift(x: list[Any], info: Any) -> Any:
            seen.append((type(x), info.get_batch_num(), info.get_epoch_num()))
            return ([each + 1 for each in x],)

        assert rows(numbers(5).batch(2, per_batch_map=shift, input_columns=["x"])) == [[1, 2], [3, 4], [5]]
        assert seen == [(list, 0, 0), (list, 1, 0), (list, 2, 0)]
        doubled = numbers(5).batch(2, per_batch_map=lambda x, info: (np.stack(x) * 2,))
        assert rows(doubled) == [[0, 2], [4, 6], [8]]
        two = numbers(4).batch(
            2,
            per_batch_map=lambda x, info: (x, [each * 10 for each in x]),
            input_columns=["x"],
            output_columns=["a", "b"],
        )
        assert two.get_col_names() == ["a", "b"]
        assert rows(two) == [[[0, 1], [0, 10]], [[2, 3], [20, 30]]]
        three = pairs().batch(
            2, per_batch_map=lambda q, info: (q, [v * 10 for v in q]), input_columns=["q"], output_columns=["a", "b"]
        )
        assert three.get_col_names() == ["a", "b", "p"]
        assert rows(three) == [[[2, 4], [20, 40], [1, 3]]]

    def test_epochs_of_a_function(self) -> None:
        epochs = []
        data = numbers(2).batch(2, per_batch_map=lambda x, info: epochs.append(info.get_epoch_num()) or (x,))
        iterator = data.create_tuple_iterator(num_epochs=2)
        for _ in range(2):
            list(iterator)
        assert epochs == [0, 1]

    def test_refused(self) -> None:
        with pytest.raises(ValueError, match="batch_size with value 0 is not within"):
            numbers().batch(0)
        with pytest.raises(RuntimeError, match="different shapes in column 'a'"):
            rows(ragged().batch(2))
        with pytest.raises(RuntimeError, match="different types in column 'a'"):
            rows(ds.GeneratorDataset([(1.0,), (1,)], ["a"], shuffle=False).batch(2))

    def test_padded(self) -> None:
        data = ds.GeneratorDataset([(np.array([1, 2]),), (np.array([3]),)], ["a"], shuffle=False)
        assert rows(data.padded_batch(2, pad_info={"a": ([3], -1)})) == [[[1, 2, -1], [3, -1, -1]]]
        assert rows(data.padded_batch(2, pad_info={"a": ([None], 9)})) == [[[1, 2], [3, 9]]]
        assert rows(data.padded_batch(2, pad_info={"a": ([1], 9)})) == [[[1], [3]]]
        texts = ds.GeneratorDataset([(np.array(["a", "b"]),), (np.array(["c"]),)], ["a"], shuffle=False)
        assert rows(texts.padded_batch(2, pad_info={"a": ([2], "zz")})) == [[["a", "b"], ["c", "zz"]]]

    def test_buckets(self) -> None:
        groups = [
            [[1, 1, 0], [2, 2, 2]],
            [[0], [4]],
            [[5, 5, 0], [6, 6, 6]],
            [[3, 3, 3, 3], [7, 7, 7, 7]],
            [[8]],
            [[9, 9]],
        ]
        pads = {"a": ([None], 0)}
        assert rows(ragged().bucket_batch_by_length(["a"], [2, 4], [2, 2, 2], len, pad_info=pads)) == groups
        assert rows(ragged().bucket_batch_by_length(["a"], [2, 4], [2, 2, 2], pad_info=pads)) == groups
        full = ragged().bucket_batch_by_length(["a"], [2, 4], [2, 2, 2], pad_info=pads, drop_remainder=True)
        assert rows(full) == groups[:4]
        wide = ragged().bucket_batch_by_length(["a"], [3, 5], [2, 2, 2], pad_info=pads, pad_to_bucket_boundary=True)
        assert rows(wide)[:2] == [[[0, 0], [1, 1]], [[2, 2, 2, 0], [3, 3, 3, 3]]]


class TestMap:
    def test_columns(self) -> None:
        assert rows(numbers(3).map(lambda x: x * 2, "x")) == [0, 2, 4]
        assert rows(numbers(3).map([lambda x: x * 2, lambda x: x + 1], ["x"])) == [1, 3, 5]
        assert rows(pairs().map(lambda p: p * 10)) == [[10, 2], [30, 4]]
        assert rows(pairs().map(lambda p, q: (p + q, p - q), ["p", "q"])) == [[3, -1], [7, -1]]
        assert rows(pairs().map(lambda p, q: p + q, ["p", "q"], ["s"])) == [3, 7]
        assert rows(pairs().map(lambda q: q, ["p"], ["q"])) == [1, 3]
        assert rows(pairs().map(lambda q, p: (q, p), ["q", "p"])) == [[1, 2], [3, 4]]
        assert pairs().map(lambda q: (q, q), ["q"], ["a", "b"]).get_col_names() == ["a", "b", "p"]
        assert pairs().map(lambda q: q, ["q"], ["z"]).get_col_names() == ["p", "z"]

    @pytest.mark.parametrize(
        ("value", "dtype", "shown"),
        [
            (5, "int64", 5),
            (5.5, "float64", 5.5),
            ([1, 2], "int64", [1, 2]),
            (np.float32(1), "float32", 1.0),
            (weft.Tensor([1.0]), "float32", [1.0]),
            ("abc", "<U3", "abc"),
        ],
    )
    def test_what_functions_return(self, value: Any, dtype: str, shown: Any) -> None:
        data = numbers(1).map(lambda x: value, ["x"])
        (row,) = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
        assert (str(row[0].dtype), row[0].tolist()) == (dtype, shown)

    def test_refused(self) -> None:
        with pytest.raises(RuntimeError, match="2 columns were returned"):
            rows(numbers().map(lambda x: (x, x), ["x"]))
        with pytest.raises(RuntimeError, match="returned None"):
            rows(numbers().map(lambda x: None, ["x"]))
        with pytest.raises(RuntimeError, match="column 'y' doesn't exist"):
            rows(numbers().map(lambda x: x, ["y"]))
        with pytest.raises(TypeError, match="must be callable"):
            numbers().map(3, ["x"])
        with pytest.raises(ValueError, match="project"):
            numbers().map(lambda x: x, ["x"], column_order=["x"])

    def test_callbacks(self) -> None:
        told: list[Any] = []

        class Telling(ds.DSCallback):
            def ds_begin(self, ds_run_context: Any) -> None:
                told.append("begin")

            def ds_epoch_begin(self, ds_run_context: Any) -> None:
                told.append(ds_run_context.cur_epoch_num)

            def ds_step_begin(self, ds_run_context: Any) -> None:
                told.append("before")

            def ds_step_end(self, ds_run_context: Any) -> None:
                told.append("after")

            def ds_epoch_end(self, ds_run_context: Any) -> None:
                told.append("end")

        assert rows(numbers(2).map(lambda x: told.append(int(x)) or x, ["x"], callbacks=[Telling()]).repeat(2)) == [
            0,
            1,
            0,
            1,
        ]
        epoch = ["before", 0, "after", "before", 1, "after", "end"]
        assert told == ["begin", 1, *epoch, 2, *epoch]


class TestRows:
    def test_repeat_take_skip(self) -> None:
        assert rows(numbers(3).repeat(2).batch(2)) == [[0, 1], [2, 0], [1, 2]]
        assert rows(numbers(3).batch(2).repeat(2)) == [[0, 1], [2], [0, 1], [2]]
        assert rows(numbers(5).take(2)) == [0, 1]
        assert rows(numbers(5).skip(2)) == [2, 3, 4]
        assert rows(numbers(2).repeat().take(5)) == [0, 1, 0, 1, 0]
        assert [len(numbers(5).take(n)) for n in (20, -1)] == [5, 5]
        assert [len(numbers(5).skip(n)) for n in (20, 0)] == [0, 5]
        with pytest.raises(ValueError, match="count"):
            numbers().take(0)
        with pytest.raises(ValueError, match="count"):
            numbers().repeat(0)

    def test_sizes(self) -> None:
        assert numbers(3).repeat().get_dataset_size() == 3
        assert numbers(7).batch(3).repeat(2).get_dataset_size() == 6
        assert numbers(7).repeat(2).batch(3).get_dataset_size() == 5
        assert numbers(7).repeat(2).batch(3).get_repeat_count() == 2
        assert numbers(7).shuffle(2).batch(3).map(lambda x: x, ["x"]).get_batch_size() == 3
        assert pairs().batch(2).output_shapes() == [[2], [2]]
        assert pairs().batch(2).output_types() == [np.dtype("int64")] * 2
        assert ragged().output_shapes() == [[1]]
        assert ragged().output_shapes(estimate=True) == [[None]]

    def test_zip_and_concat(self) -> None:
        other = ds.NumpySlicesDataset([7, 8], ["y"], shuffle=False)
        assert rows(numbers(3).zip(other)) == [[0, 7], [1, 8]]
        assert rows(ds.zip((numbers(3), other))) == [[0, 7], [1, 8]]
        assert ds.zip((numbers(3), other)).get_dataset_size() == 2
        assert rows(numbers(2) + numbers(3)) == [0, 1, 0, 1, 2]
        assert rows(numbers(2).concat([numbers(3), numbers(1)])) == [0, 1, 0, 1, 2, 0]
        with pytest.raises(RuntimeError, match="duplicate column"):
            rows(numbers(3).zip(numbers(2)))
        with pytest.raises(RuntimeError, match="different columns"):
            rows(numbers() + other)
        with pytest.raises(RuntimeError, match="data types"):
            rows(numbers(2) + ds.NumpySlicesDataset([7.0, 8.0], ["x"], shuffle=False))

    def test_appended_rows_of_a_part(self) -> None:
        data = numbers(3) + ds.PaddedDataset([{"x": np.array(7)}, {"x": np.array(8)}])
        data.use_sampler(ds.DistributedSampler(2, 1, shuffle=False, num_samples=None, offset=0))
        assert rows(data) == [1, 7]

    def test_filter_project_rename(self) -> None:
        assert rows(numbers(5).filter(lambda x: x % 2 == 0)) == [0, 2, 4]
        assert rows(pairs().filter(lambda q: q > 2, ["q"])) == [[3, 4]]
        assert numbers(5).filter(lambda x: x % 2 == 0).get_dataset_size() == 3
        assert rows(pairs().project(["q", "p"])) == [[2, 1], [4, 3]]
        assert rows(pairs().project("q")) == [2, 4]
        assert pairs().rename(["p"], ["z"]).get_col_names() == ["z", "q"]
        with pytest.raises(RuntimeError, match="another column"):
            pairs().rename(["p"], ["q"]).get_col_names()

    def test_flat_map_and_apply(self) -> None:
        data = numbers(3).flat_map(lambda x: ds.NumpySlicesDataset([int(x), -int(x)], ["y"], shuffle=False))
        assert rows(data) == [0, 0, 1, -1, 2, -2]
        assert rows(numbers(3).apply(lambda data: data.batch(2))) == [[0, 1], [2]]
        with pytest.raises(TypeError, match="must return a dataset"):
            numbers().apply(lambda data: 3)

    def test_split(self) -> None:
        assert [rows(part) for part in numbers(6).split([4, 2], randomize=False)] == [[0, 1, 2, 3], [4, 5]]
        assert [len(part) for part in numbers(7).split([0.5, 0.25, 0.25])] == [3, 2, 2]
        assert [len(part) for part in numbers(11).split([0.3, 0.3, 0.4])] == [4, 3, 4]
        for data in (numbers(6), numbers(6).batch(1), numbers(6).map(lambda x: x, ["x"])):
            first, second = (np.ravel(rows(part.repeat(2))).tolist() for part in data.split([4, 2]))
            assert first[:4] == first[4:]
            assert sorted(first[:4] + second[:2]) == list(range(6))
        with pytest.raises(RuntimeError, match="not equal to dataset size"):
            numbers(6).split([4, 3])
        with pytest.raises(ValueError, match="do not sum up to 1"):
            numbers(6).split([0.4, 0.3])

    def test_sync(self) -> None:
        seen = []
        data = numbers(4).sync_wait("go", num_batch=2, callback=seen.append)
        iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
        first = [int(next(iterator)[0]) for _ in range(2)]
        data.sync_update("go", data="two more")
        assert first + [int(row[0]) for row in iterator] == [0, 1, 2, 3]
        assert seen == ["two more"]
        assert data.is_sync()


class TestSamplers:
    @pytest.mark.parametrize(
        ("sampler", "chosen"),
        [
            (ds.SequentialSampler(), list(range(10))),
            (ds.SequentialSampler(2, 3), [2, 3, 4]),
            (ds.SequentialSampler(8, 5), [8, 9]),
            (ds.DistributedSampler(3, 1, shuffle=False), [1, 4, 7, 0]),
            (ds.DistributedSampler(3, 2, shuffle=False), [2, 5, 8, 1]),
            (ds.DistributedSampler(3, 2, shuffle=False, num_samples=2), [2, 5]),
            (ds.DistributedSampler(3, 1, shuffle=False, offset=2), [2, 5, 8]),
            (ds.DistributedSampler(20, 15, shuffle=False), [5]),
            (ds.SubsetSampler([3, 1, 1]), [3, 1, 1]),
            (ds.SubsetSampler([3, 1, 1], 2), [3, 1]),
            ([4, 2], [4, 2]),
        ],
    )
    def test_chosen(self, sampler: Any, chosen: list[int]) -> None:
        data = ds.NumpySlicesDataset(np.arange(10), ["x"], sampler=sampler)
        assert rows(data) == chosen
        assert len(data) == len(chosen)

    def test_random(self) -> None:
        def read(sampler: Any) -> list[int]:
            return rows(ds.NumpySlicesDataset(np.arange(10), ["x"], sampler=sampler))

        assert sorted(read(ds.RandomSampler())) == list(range(10))
        assert len(set(read(ds.RandomSampler(num_samples=3)))) == 3
        assert len(read(ds.RandomSampler(True, 15))) == 15
        assert sorted(read(ds.SubsetRandomSampler([3, 1, 5]))) == [1, 3, 5]
        assert set(read(ds.WeightedRandomSampler([0, 0, 1, 1], 20))) == {2, 3}
        assert set(read(ds.WeightedRandomSampler([0, 0, 1, 1, 0, 1], 3, False))) == {2, 3, 5}
        parts = [read(ds.DistributedSampler(2, part)) for part in (0, 1)]
        assert [len(part) for part in parts] == [5, 5]

    def test_parts_with_one_seed_have_no_row_in_common(self) -> None:
        ds.config.set_seed(4)
        parts = [rows(ds.NumpySlicesDataset(np.arange(10), num_shards=2, shard_id=part)) for part in (0, 1)]
        assert sorted(parts[0] + parts[1]) == list(range(10))
        assert parts[0] + parts[1] != list(range(10))

    def test_one_among_the_rows_of_another(self) -> None:
        outer = ds.SubsetSampler([1, 2, 3, 4, 5])
        outer.add_child(ds.SequentialSampler(2))
        assert rows(ds.NumpySlicesDataset(np.arange(10), sampler=outer)) == [3, 4, 5, 6, 7]
        part = ds.DistributedSampler(2, 1, shuffle=False)
        part.add_child(ds.SubsetSampler([9, 8, 7, 6, 5]))
        assert rows(ds.NumpySlicesDataset(np.arange(10), sampler=part)) == [8, 6, 9]

    def test_of_the_program(self) -> None:
        class Thirds(ds.Sampler):
            def __iter__(self) -> Any:
                yield from range(0, self.dataset_size, 3)

        assert rows(ds.NumpySlicesDataset(np.arange(10), sampler=Thirds())) == [0, 3, 6, 9]
        assert rows(ds.NumpySlicesDataset(np.arange(10), sampler=Thirds(2))) == [0, 3]

    @pytest.mark.parametrize(
        ("more", "kind"),
        [
            ({"sampler": 3}, TypeError),
            ({"sampler": ds.SequentialSampler(), "num_samples": 3}, ValueError),
            ({"sampler": ds.SequentialSampler(), "shuffle": True}, ValueError),
            ({"num_shards": 2}, ValueError),
        ],
    )
    def test_refused(self, more: dict[str, Any], kind: type[Exception]) -> None:
        with pytest.raises(kind):
            ds.NumpySlicesDataset(np.arange(10), **more)

    @pytest.mark.parametrize("place", [30, -1])
    def test_out_of_bounds(self, place: int) -> None:
        with pytest.raises(RuntimeError, match="out of bound"):
            rows(ds.NumpySlicesDataset(np.arange(10), sampler=[place]))
