"""What stands around pipelines: descriptions of them, hooks, lines by number, boxes drawn, callbacks that wait."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.data_settings import settings_of_pipelines  # noqa: F401
from weft import data as ds
from weft.data import debug, text, transforms, utils
from weft.train.waited import WaitedDSCallback


def rows(data: Any) -> list[Any]:
    return [[x.tolist() for x in row] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


@pytest.fixture
def lines(tmp_path: Path) -> str:
    path = tmp_path / "l.txt"
    path.write_text("one\n\n three \r\nfour")
    return str(path)


def pipelines(lines: str) -> dict[str, Any]:
    def numbers(**options: Any) -> Any:
        return ds.NumpySlicesDataset({"a": np.arange(6)}, **options)

    sampled = numbers(shuffle=False)
    sampled.use_sampler(ds.SubsetSampler([3, 1, 5]))
    chained = numbers(sampler=ds.SequentialSampler(1))
    chained.add_sampler(ds.SubsetSampler([3, 1, 5]))
    return {
        "lines": ds.TextFileDataset(lines, shuffle=False).map([transforms.Fill("x")], ["text"]).batch(2, True),
        "whole": ds.TextFileDataset(lines, shuffle=False).batch(2, True),
        "sampled": sampled,
        "chained": chained,
        "several": ds.zip((numbers(shuffle=False), numbers(num_shards=2, shard_id=1, shuffle=False).rename("a", "b")))
        + ds.zip((numbers(shuffle=False).take(2), numbers(shuffle=False).skip(1).rename("a", "b"))),
        "numbers": numbers(shuffle=False).map([transforms.TypeCast(np.float32), transforms.Fill(2)], ["a"]).repeat(2),
    }


def test_descriptions_are_made_into_pipelines(lines: str, tmp_path: Path) -> None:
    made, again = pipelines(lines), pipelines(lines)
    for name, data in made.items():
        said = ds.serialize(data, str(tmp_path / "said.json"))
        assert json.loads((tmp_path / "said.json").read_text()) == json.loads(json.dumps(said))
        for other in (ds.deserialize(said), ds.deserialize(json_filepath=str(tmp_path / "said.json"))):
            assert rows(other) == rows(data), name
            assert other.get_col_names() == data.get_col_names()
            assert ds.compare(data, other)
        assert [key for key, value in again.items() if ds.compare(data, value)] == [name]
        ds.show(data)
    assert ds.deserialize() is None


def test_descriptions_of_what_a_program_made(lines: str, tmp_path: Path) -> None:
    data = ds.TextFileDataset(lines).map(lambda x: x, ["text"])
    with pytest.warns(UserWarning, match="cannot be made anew"):
        said = ds.serialize(data)
    with pytest.raises(RuntimeError, match="function is of a program"):
        ds.deserialize(said)
    with pytest.raises(TypeError, match="expected a dataset"):
        ds.serialize(1)
    with pytest.raises(OSError, match="none"):
        ds.deserialize(json_filepath=str(tmp_path / "none"))
    for wrong in ({"made": "os:system", "arguments": {}}, {"made": "weft.data.vision:read_file", "arguments": {}}):
        evil = {"op_type": "TextFileDataset", "arguments": {"dataset_files": wrong}, "reads": {}, "children": []}
        with pytest.raises(RuntimeError, match="deserialize"):
            ds.deserialize(evil)
    with pytest.raises(RuntimeError, match="there is no operation Popen"):
        ds.deserialize({"op_type": "Popen", "arguments": {}, "reads": {}, "children": []})


class Seen(debug.DebugHook):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Any] = []

    def compute(self, *args: Any) -> Any:
        self.found.append((self.prev_op_name, self.is_first_op, [x.tolist() for x in args[0]]))


def test_hooks_see_what_operations_get_and_give(capsys: pytest.CaptureFixture[str]) -> None:
    between, around = Seen(), Seen()

    def data(*steps: Any) -> Any:
        return ds.NumpySlicesDataset(np.array([[1, 2]], np.int32), ["a"], shuffle=False).map(list(steps), ["a"])

    fill, cast = transforms.Fill(3), transforms.TypeCast(np.float32)
    assert rows(data(fill, between, cast)) == [[[3.0, 3.0]]]
    assert between.found == [(None, False, [[3, 3]])]
    ds.config.set_debug_mode(True, debug_hook_list=[around, debug.PrintDataHook(), debug.PrintMetaDataHook()])
    try:
        assert rows(data(fill, cast)) == [[[3.0, 3.0]]]
    finally:
        ds.config.set_debug_mode(False)
    assert around.found == [("Fill", True, [[1, 2]]), ("Fill", False, [[3, 3]]), ("TypeCast", False, [[3.0, 3.0]])]
    printed = capsys.readouterr().out.splitlines()
    assert printed[:4] == [
        "[Dataset debugger] Print the [INPUT] of the operation [Fill].",
        "Column 0. The data is [[1 2]].",
        "[Dataset debugger] Print the [INPUT] of the operation [Fill].",
        "Column 0. The dtype is [int32]. The shape is [(2,)].",
    ]
    assert printed[-1] == "Column 0. The dtype is [float32]. The shape is [(2,)]."
    assert rows(data(fill)) == [[[3, 3]]]
    assert len(around.found) == 3
    with pytest.raises(TypeError, match="abstract class DebugHook"):
        debug.DebugHook()
    with pytest.raises(TypeError, match="not a list"):
        ds.config.set_debug_mode(True, debug_hook_list=1)
    with pytest.raises(TypeError, match="must be of type DebugHook"):
        ds.config.set_debug_mode(True, debug_hook_list=[1])
    assert not ds.config.get_debug_mode()


def test_lines_by_number(lines: str, tmp_path: Path) -> None:
    with utils.LineReader(lines) as reader:
        assert reader.len() == len(reader) == 4
        assert [reader.readline(number) for number in (4, 1, 2, 3)] == ["four", "one", "", " three "]
        reader.close()
        assert reader.readline(1) == "one"
        for wrong in (0, 5):
            with pytest.raises(ValueError, match=r"within the required interval of \[1, 4\]"):
                reader.readline(wrong)
        with pytest.raises(TypeError, match="Argument line"):
            reader.readline("1")
    with pytest.raises(TypeError, match="is not string"):
        utils.LineReader(1)
    with pytest.raises(RuntimeError, match="does not exist"):
        utils.LineReader(str(tmp_path / "none"))
    with pytest.raises(RuntimeError, match="not a regular file"):
        utils.LineReader(str(tmp_path))
    (tmp_path / "empty").write_text("")
    assert utils.LineReader(str(tmp_path / "empty")).len() == 0


def test_boxes_are_drawn(tmp_path: Path) -> None:
    cv2 = pytest.importorskip("cv2")
    image = np.zeros((40, 30, 3), np.uint8)
    image[..., 0] = 200
    boxes, labels = np.array([[5, 6, 10, 12, 0.9], [1, 1, 3, 3, 0.1]]), np.array([[1], [0]])
    path = str(tmp_path / "a.png")
    masks = np.zeros((1, 40, 30))
    masks[0, 30:] = 1
    options: dict[str, Any] = {"show": False, "font_size": 0.1, "thickness": 1}
    drawn = utils.imshow_det_bbox(image, boxes, labels, masks, ["a", "b"], 0.5, out_file=path, **options)
    assert drawn[6, 5].tolist() == drawn[18, 15].tolist() == [0, 255, 0]
    assert drawn[1, 1].tolist() == [0, 0, 200]
    assert drawn[35, 5].tolist() == [64, 0, 164]
    assert np.array_equal(cv2.imread(path), drawn)
    first = image.transpose(2, 0, 1)
    assert np.array_equal(utils.imshow_det_bbox(first, boxes, labels, masks, ["a", "b"], 0.5, **options), drawn)
    for arguments in ((image[0], boxes, labels), (image, boxes[0], labels), (image, boxes, labels[0])):
        with pytest.raises(AssertionError, match="should"):
            utils.imshow_det_bbox(*arguments, show=False)


class Together(WaitedDSCallback):
    def __init__(self, events: list[str], step_size: int) -> None:
        super().__init__(step_size)
        self.events = events

    def sync_epoch_begin(self, train_run_context: Any, ds_run_context: Any) -> None:
        self.events.append(f"pipeline epoch {ds_run_context.cur_epoch_num} after {train_run_context.cur_epoch_num}")

    def sync_step_begin(self, train_run_context: Any, ds_run_context: Any) -> None:
        self.events.append(f"pipeline step {ds_run_context.cur_step_num} after {train_run_context.cur_step_num}")


def test_a_pipeline_waits_for_the_training() -> None:
    from weft import nn
    from weft.train import Model
    from weft.train.callback import Callback

    events: list[str] = []

    class Training(Callback):
        def step_end(self, run_context: Any) -> None:
            events.append(f"training step {run_context.original_args().cur_step_num}")

    together = Together(events, 1)
    data = ds.NumpySlicesDataset((np.ones((4, 2), np.float32), np.ones((4, 1), np.float32)), ["x", "y"], shuffle=False)
    data = data.map(lambda x: x, ["x"], callbacks=together).batch(1)
    net = nn.Dense(2, 1)
    model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    model.train(2, data, callbacks=[Training(), together], dataset_sink_mode=False)
    assert [event for event in events if event.startswith("training")] == [f"training step {n}" for n in range(1, 9)]
    assert [event for event in events if event.startswith("pipeline step")] == [
        f"pipeline step {number} after {number - 1}" for number in range(2, 9)
    ]
    assert [event[:16] for event in events if event.startswith("pipeline epoch")] == ["pipeline epoch 2"]
    assert events.index("training step 4") < events.index("pipeline step 5 after 4")


def test_a_pipeline_that_nobody_trains_with_does_not_wait_for_ever() -> None:
    data = ds.NumpySlicesDataset([1, 2], ["x"], shuffle=False).map(lambda x: x, ["x"], callbacks=Together([], 1))
    before = ds.config.get_callback_timeout()
    ds.config.set_callback_timeout(1)
    try:
        with pytest.raises(RuntimeError, match="did not finish its step within 1 seconds"):
            rows(data)
    finally:
        ds.config.set_callback_timeout(before)


def test_parts_of_words(tmp_path: Path) -> None:
    pytest.importorskip("sentencepiece")
    words = ["hello", "world", "the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog", "today", "is", "tuesday"]
    draw = np.random.RandomState(0)
    path = tmp_path / "sp.txt"
    path.write_text("\n".join(" ".join(draw.choice(words, 8)) for _ in range(200)))
    kind, out = text.SentencePieceModel.UNIGRAM, text.SPieceTokenizerOutType
    vocab = text.SentencePieceVocab.from_file([str(path)], 40, 0.9995, kind, {})
    parts = text.SentencePieceTokenizer(vocab, out.STRING)("hello world")
    assert "".join(parts.tolist()).replace("\u2581", " ") == " hello world"
    numbers = text.SentencePieceTokenizer(vocab, out.INT)(np.array(["hello", "world"]))
    assert numbers.dtype == np.int32
    text.SentencePieceVocab.save_model(vocab, str(tmp_path), "m.model")
    again = text.SentencePieceTokenizer(str(tmp_path / "m.model"), out.STRING)("hello world")
    assert again.tolist() == parts.tolist()
    data = ds.TextFileDataset(str(path), shuffle=False)
    learned = text.SentencePieceVocab.from_dataset(data, ["text"], 40, 0.9995, kind, {})
    assert text.SentencePieceTokenizer(learned, out.STRING)("hello world").tolist() == parts.tolist()
    with pytest.raises(RuntimeError, match="the model cannot be read"):
        text.SentencePieceTokenizer(str(tmp_path / "none"), out.INT)("a")
    with pytest.raises(RuntimeError, match="does not exist"):
        text.SentencePieceVocab.from_file(["none"], 40, 0.9995, kind, {})


def test_chinese_words(tmp_path: Path) -> None:
    pytest.importorskip("jieba")
    (tmp_path / "dict").write_text("床 10 n\n前 10 n\n明月 20 n\n光 5 n\n明月光 30 n\n", encoding="utf-8")
    (tmp_path / "hmm").write_text("")
    given = (str(tmp_path / "hmm"), str(tmp_path / "dict"))
    made = text.JiebaTokenizer(*given, mode=text.JiebaMode.MP, with_offsets=True)
    words, begins, ends = made("床前明月光")
    assert words.tolist() == ["床", "前", "明月光"]
    assert (begins.tolist(), ends.tolist()) == ([0, 3, 6], [3, 6, 15])
    made.add_word("床前", 1000)
    assert made("床前明月光")[0].tolist() == ["床前", "明月光"]
    made.add_dict({"光床": 100000})
    assert made("明月光床")[0].tolist() == ["明月", "光床"]


def test_wrong_arguments_of_tokenizers(tmp_path: Path) -> None:
    out = text.SPieceTokenizerOutType.INT
    for call, error in (
        (lambda: text.JiebaTokenizer(1, "a"), TypeError),
        (lambda: text.JiebaTokenizer(str(tmp_path / "a"), "b"), ValueError),
        (lambda: text.SentencePieceTokenizer(1, out), TypeError),
        (lambda: text.SentencePieceTokenizer("a", 1), TypeError),
        (lambda: text.SentencePieceVocab.from_file("a", 1, 0.9, text.SentencePieceModel.BPE, {}), TypeError),
    ):
        with pytest.raises(error):
            call()


@pytest.mark.parametrize("name", ["jieba", "sentencepiece"])
def test_libraries_that_are_missing_are_named(name: str, tmp_path: Path) -> None:
    calls = {
        "jieba": f"text.JiebaTokenizer({str(tmp_path)!r}, {str(tmp_path)!r})('a')",
        "sentencepiece": f"text.SentencePieceTokenizer({str(tmp_path / 'm')!r}, text.SPieceTokenizerOutType.INT)('a')",
    }
    program = (
        f"import sys; sys.modules[{name!r}] = None\nfrom weft.data import text\n"
        f"try: {calls[name]}\nexcept ImportError as error: print(error)\n"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert f"pip install {name}" in found.stdout
