"""Small files in the layouts of public datasets; run with MindSpore's interpreter, this file records what it reads.

``python tests/data/sample_corpora.py`` with MindSpore, NumPy, Pillow and SciPy writes ``corpora_answers.json`` anew for
the calls in ``corpora_calls.txt``.
"""

from __future__ import annotations

import io
import json
import tempfile
import wave
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
CALLS = [line for line in (HERE / "corpora_calls.txt").read_text(encoding="utf-8").splitlines() if line.strip()]

GENRES = ("blues", "classical", "country", "disco", "hiphop", "jazz", "metal", "pop", "reggae", "rock")


class Files:
    """Writes files under a folder.

    Args:
        root: the folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def at(self, name: str) -> Path:
        """The path of a file, whose folder is made."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def text(self, name: str, content: str) -> None:
        """A file of text."""
        self.at(name).write_text(content, encoding="utf-8")

    def image(self, name: str, value: int, height: int = 2, width: int = 3) -> None:
        """An image of one colour, with one point in another, without losses whatever its name says."""
        from PIL import Image

        array = np.full((height, width, 3), value, np.uint8)
        array[0, 0] = (1, 2, 3)
        content = io.BytesIO()
        Image.fromarray(array).save(content, "BMP")
        self.at(name).write_bytes(content.getvalue())

    def sound(self, name: str, seed: int, channels: int = 1, rate: int = 8000) -> None:
        """A file of WAV."""
        samples = np.random.RandomState(seed).randint(-32768, 32768, 4 * channels).astype("<i2")
        with wave.open(str(self.at(name)), "wb") as stream:
            stream.setparams((channels, 2, rate, 4, "NONE", ""))
            stream.writeframes(samples.tobytes())

    def idx(self, name: str, array: Any, code: int = 8) -> None:
        """A file of the format IDX."""
        header = bytes([0, 0, code, array.ndim]) + np.asarray(array.shape, ">u4").tobytes()
        self.at(name).write_bytes(header + array.astype(">i4" if code == 12 else "u1").tobytes())

    def mat(self, name: str, **content: Any) -> None:
        """A file of MATLAB."""
        from scipy.io import savemat

        savemat(str(self.at(name)), content)


def write(root: Path) -> None:
    """Write all of them.

    Args:
        root: the folder.
    """
    files = Files(root)
    _texts(files)
    _translations(files)
    _sounds(files)
    _images(files)
    _lists(files)
    _arrays(files)


def _lines(*rows: Any) -> str:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n"


def _texts(files: Files) -> None:
    pair = {"sentence1": "a b", "sentence2": "c 中"}
    for task in ("afqmc", "cmnli"):
        files.text(f"clue/{task}.json", _lines({**pair, "label": "0"}, {**pair, "label": "1", "id": 4}))
        files.text(f"clue/{task}_test.json", _lines({"id": 3, **pair}, {"id": 4, **pair}))
    news = {"label": "102", "label_desc": "news", "sentence": "s", "keywords": "k,l"}
    files.text("clue/tnews.json", _lines(news, {**news, "keywords": ""}))
    files.text("clue/tnews_test.json", _lines({"id": 7, "sentence": "s", "keywords": "k"}))
    files.text("clue/iflytek.json", _lines({"label": "11", "label_des": "app", "sentence": "s"}))
    files.text("clue/iflytek_test.json", _lines({"id": 2, "sentence": "s"}))
    target = {"span1_index": 1, "span2_index": 2, "span1_text": "x", "span2_text": "y"}
    files.text("clue/wsc.json", _lines({"target": target, "idx": 5, "label": "true", "text": "t"}))
    files.text("clue/wsc_test.json", _lines({"target": target, "idx": 5, "text": "t"}))
    files.text("clue/csl.json", _lines({"id": 1, "abst": "a", "keyword": ["k", "l"], "label": "1"}))
    files.text("clue/csl_test.json", _lines({"id": 1, "abst": "a", "keyword": ["k", "l"]}))
    files.text("clue/broken.json", '{"sentence1": \n')
    files.text("clue/short.json", _lines({"sentence1": "a"}))
    for part in ("train", "test"):
        files.text(f"conll/{part}.txt", f"A{part} DT B-NP\nb NN I-NP\n\nc VB O\n. . O\n\n")
        files.text(f"ud/en-ud-tag.v2.{part}.txt", f"A{part}\tDET\tDT\nb\tNOUN\tNN\n\nc\tVERB\tVB\n\n")
    files.text("ud/en-ud-tag.v2.dev.txt", "dev\tNOUN\tNN\n\n")
    files.text("wik/enwik9", "<a>\n\n  <b>x</b>  \nlast")
    files.text("sst/train.tsv", "sentence\tlabel\nhide new \t0\nthat's far too\t1\n")
    files.text("sst/dev.tsv", "sentence\tlabel\nit 's a \t1\n")
    files.text("sst/test.tsv", "index\tsentence\n0\tuneasy mishmash\n1\tthe film\n")

    def article(answers: Any) -> Any:
        asked = {"question": "who?", "id": "7", "answers": answers}
        return {"title": "t", "paragraphs": [{"context": "some text", "qas": [asked, {**asked, "question": "2"}]}]}

    answer = [{"text": "text", "answer_start": 5}, {"text": "some", "answer_start": 0}]
    for part in ("train", "dev"):
        files.text(f"squad1/{part}-v1.1.json", json.dumps({"data": [article(answer)] * 2, "version": "1.1"}))
        files.text(f"squad2/{part}-v2.0.json", json.dumps({"data": [article([])], "version": "v2.0"}))
    files.text("squad_bad/train-v1.1.json", "{")
    values = " ".join(f"{place}:{(place % 9) / 4 - 1:.4f}" for place in range(1, 257))
    files.text("usps/usps", f"7 {values} \n10 {values} \n")
    files.text("usps/usps.t", f"1 {values} \n")
    pixels = " ".join(str(place % 2) + ".0000" for place in range(256))
    files.text("semeion/semeion.data", f"{pixels} 0 0 1 0 0 0 0 0 0 0 \n{pixels} 1 0 0 0 0 0 0 0 0 0 \n")


def _translations(files: Files) -> None:
    for language in ("en", "de"):
        files.text(f"multi30k/training/train.{language}", f"{language} 1\n{language} 2\n")
        files.text(f"multi30k/validation/val.{language}", f"val {language}\n")
        files.text(f"multi30k/mmt16_task1_test/test.{language}", f"test {language}\n")
        files.text(f"multi30k/mmt16_task1_test/val.{language}", f"mmt {language}\n")
    talk = "<url>http://x</url>\n<title>T</title>\n {0} one \n{0} two\n<keywords>k</keywords>\n"
    document = '<?xml version="1.0"?>\n<mteval>\n<srcset><doc docid="1">\n<title>T</title>\n'
    document += '<seg id="1"> {0} {1} a </seg>\n<seg id="2">{0} {1} b &amp; c</seg>\n</doc></srcset></mteval>\n'
    older, newer = "iwslt2016/texts/de/en/de-en", "iwslt2017/texts/DeEnItNlRo/DeEnItNlRo/DeEnItNlRo-DeEnItNlRo"
    for language in ("en", "de"):
        for folder in (older, newer):
            files.text(f"{folder}/train.tags.de-en.{language}", talk.format(language))
        for year in ("tst2013", "tst2014", "dev2010"):
            files.text(f"{older}/IWSLT16.TED.{year}.de-en.{language}.xml", document.format(year, language))
        for year in ("dev2010", "tst2010"):
            files.text(f"{newer}/IWSLT17.TED.{year}.de-en.{language}.xml", document.format(year, language))


def _sounds(files: Files) -> None:
    for number, name in enumerate(("aew", "bdl")):
        for each in (1, 2):
            files.sound(f"arctic/cmu_us_{name}_arctic/wav/arctic_a000{each}.wav", each + number, rate=16000)
        said = '( arctic_a0001 "Author of the trail." )\n( arctic_a0002 "Not \\"at\\" this." )\n'
        files.text(f"arctic/cmu_us_{name}_arctic/etc/txt.done.data", said)
    for number, name in enumerate(GENRES):
        files.sound(f"gtzan/{name}/{name}.00000.wav", number, rate=22050)
        files.sound(f"gtzan/{name}/{name}.00029.wav", number, rate=22050)
        files.sound(f"gtzan/{name}/{name}.00099.wav", number, 2, rate=22050)
    files.text("lj/metadata.csv", "LJ1|In 1, it|In one, it\nLJ2|being|being\n")
    for name in ("LJ1", "LJ2"):
        files.sound(f"lj/wavs/{name}.wav", len(name))
    for number, part in enumerate(("dev-clean", "train-clean-100")):
        folder = f"libri/{part}/{11 + number}/28"
        texts = "".join(f"{11 + number}_28_000003_00000{each}\tHe, 1{each}\tHe, one\n" for each in (0, 1))
        files.text(f"{folder}/{11 + number}_28.trans.tsv", texts)
        for each in (0, 1):
            files.sound(f"{folder}/{11 + number}_28_000003_00000{each}.wav", each, rate=24000)
    for number, name in enumerate(("cat/aa_nohash_0", "cat/ab_nohash_1", "dog/aa_nohash_0", "dog/ac_nohash_2")):
        files.sound(f"speech/{name}.wav", number)
    files.sound("speech/_background_noise_/noise.wav", 1)
    files.text("speech/testing_list.txt", "cat/ab_nohash_1.wav\n")
    files.text("speech/validation_list.txt", "dog/aa_nohash_0.wav\n")
    for number, name in enumerate(("1_0_1_0_0_0_1_1", "0_0_1_1_0_1_1_1")):
        files.sound(f"yesno/{name}.wav", number)
    for part in ("tedlium1/dev", "tedlium1/train", "tedlium1/test", "tedlium3/data"):
        header = "NIST_1A\n   1024\nsample_count -i 8\nsample_n_bytes -i 2\nchannel_count -i 1\nsample_rate -i 4\n"
        header += "sample_byte_format -s2 01\nsample_coding -s3 pcm\nend_head\n"
        samples = np.arange(-32768, 32767, 8000).astype("<i2").tobytes()
        files.at(f"{part}/sph/Al_2009.sph").write_bytes(header.encode().ljust(1024, b"\0") + samples)
        files.text(
            f"{part}/stm/Al_2009.stm",
            "Al_2009 1 Al 0.25 1.00 <o,f0,male> hello {SMACK} there\nAl_2009 1 Al 1.00 2.00 <o,f0,male> more\n",
        )


def _images(files: Files) -> None:
    for number, name in enumerate(("001.ak47/001_0001", "001.ak47/001_0002", "003.backpack/003_0001")):
        files.image(f"caltech256/{name}.jpg", 10 * number)
    for number, name in enumerate(
        ("Faces/image_0001", "Faces_easy/image_0001", "airplanes/image_0001", "ant/image_0001")
    ):
        files.image(f"caltech101/101_ObjectCategories/{name}.jpg", 10 * number)
    for number, name in enumerate(("Faces_2", "Faces_3", "Airplanes_Side_2", "ant")):
        contour = np.array([[1.0, 2.5], [3.0, number]])
        files.mat(f"caltech101/Annotations/{name}/annotation_0001.mat", obj_contour=contour, box_coord=[[1, 2, 3, 4]])
    for part in ("train", "val", "test"):
        for city in ("aachen", "bochum"):
            files.image(f"cityscapes/leftImg8bit/{part}/{city}/{city}_000000_000019_leftImg8bit.png", len(part))
            for number, task in enumerate(("color", "instanceIds", "labelIds")):
                files.image(f"cityscapes/gtFine/{part}/{city}/{city}_000000_000019_gtFine_{task}.png", 20 + number)
            files.text(f"cityscapes/gtFine/{part}/{city}/{city}_000000_000019_gtFine_polygons.json", '{"a":  [1]}')
    for part in ("train", "valid"):
        for number in (1, 2):
            files.image(f"div2k/DIV2K_{part}_HR/000{number}.png", number)
            files.image(f"div2k/DIV2K_{part}_LR_bicubic/X2/000{number}x2.png", 10 + number)
            files.image(f"div2k/DIV2K_{part}_LR_unknown/X3/000{number}x3.png", 20 + number)
            files.image(f"div2k/DIV2K_{part}_LR_mild/000{number}x4m.png", 30 + number)
            files.image(f"div2k/DIV2K_{part}_LR_x8/000{number}x8.png", 40 + number)
            files.image(f"div2k/DIV2K_{part}_LR_wild/000{number}x4w{number}.png", 50 + number)
            files.image(f"div2k/DIV2K_{part}_LR_difficult/000{number}x4d.png", 60 + number)
    for number, name in enumerate(("bedroom_train/1_1", "bedroom_val/1_1", "classroom_train/1_1", "classroom_val/2_1")):
        files.image(f"lsun/{name}.jpg", 10 * number)
    files.image("lsun/test/1_1.jpg", 77)
    for part in ("background", "evaluation"):
        for number, name in enumerate(("Greek/character01/01", "Greek/character02/01", "Latin/character01/02")):
            files.image(f"omniglot/images_{part}/{name}.png", number + len(part))
            files.image(f"omniglot_flat/images_{part}/{name.replace('/character', '_')}.png", number + len(part))
    for part in ("train", "valid", "test"):
        for kind in ("negative", "positive"):
            files.image(f"rendered/{part}/{kind}/0001.jpg", len(part) + len(kind))
            files.image(f"rendered/{part}/{kind}/0002.png", 2 * len(part))


def _lists(files: Files) -> None:
    for name in ("a1.jpg", "b2.jpg"):
        files.image(f"flickr/images/{name}", len(name))
    files.text(
        "flickr/token.txt", "".join(f"{name}#{n}\tA {name} {n} .\n" for name in ("a1.jpg", "b2.jpg") for n in range(5))
    )
    for number, name in enumerate(("pie/1", "pie/2", "ribs/3")):
        files.image(f"food/images/{name}.jpg", 10 * number)
    files.text("food/meta/train.txt", "pie/1\nribs/3\n")
    files.text("food/meta/test.txt", "pie/2\n")
    files.text("food/meta/classes.txt", "pie\nribs\n")
    for number in (0, 1):
        files.image(f"kitti/data_object_image_2/training/image_2/00000{number}.png", number)
        files.image(f"kitti/data_object_image_2/testing/image_2/00000{number}.png", 5 + number)
        objects = "Car 0.10 1 -1.5 10 20 30.5 40 1.5 1.6 3.7 1 2 3 -1.2\n"
        objects += "Van 0.00 0 0.5 1 2 3 4 5 6 7 8 9 10 11\nDontCare -1 -1 -10 1 2 3 4 -1 -1 -1 -1000 -1000 -1000 -10\n"
        files.text(f"kitti/data_object_label_2/training/label_2/00000{number}.txt", objects if number else objects[:53])
    people = {"Al_B": 2, "Cy_D": 1, "Ed_F": 2}
    for number, (name, count) in enumerate(people.items()):
        for each in range(1, count + 1):
            for folder in ("lfw", "lfw_funneled", "lfw-deepfunneled"):
                files.image(f"lfw/{folder}/{name}/{name}_000{each}.jpg", 10 * number + each)
    files.text("lfw/lfw-names.txt", "".join(f"{name}\t{count}\n" for name, count in people.items()))
    files.text("lfw/people.txt", "2\n1\nAl_B\t2\n2\nCy_D\t1\nEd_F\t2\n")
    files.text("lfw/peopleDevTrain.txt", "2\nAl_B\t2\nCy_D\t1\n")
    files.text("lfw/peopleDevTest.txt", "1\nEd_F\t2\n")
    files.text("lfw/pairs.txt", "1\t1\nAl_B\t1\t2\nAl_B\t1\tCy_D\t1\n")
    files.text("lfw/pairsDevTrain.txt", "1\nAl_B\t1\t2\nAl_B\t2\tCy_D\t1\n")
    files.text("lfw/pairsDevTest.txt", "1\nEd_F\t1\t2\nEd_F\t2\tCy_D\t1\n")
    files.text("places/categories_places365.txt", "/a/airfield 0\n/b/bar 1\n")
    for kind in ("standard", "challenge"):
        files.text(f"places/places365_train_{kind}.txt", "/a/airfield/1.jpg 0\n/b/bar/2.jpg 1\n")
        for size in ("256", "large"):
            files.image(f"places/data_{size}_{kind}/a/airfield/1.jpg", 1)
            files.image(f"places/data_{size}_{kind}/b/bar/2.jpg", 2)
    files.text("places/places365_val.txt", "V1.jpg 1\nV2.jpg 0\n")
    for size in ("256", "large"):
        files.image(f"places/val_{size}/V1.jpg", 3)
        files.image(f"places/val_{size}/V2.jpg", 4)
    files.text("sbu/SBU_captioned_photo_dataset_captions.txt", "one\ntwo \nthree\n")
    urls = "".join(f"http://static.flickr.com/{name}\n" for name in ("33/1_a.jpg", "34/2_b.jpg", "35/3_c.jpg"))
    files.text("sbu/SBU_captioned_photo_dataset_urls.txt", urls)
    files.image("sbu/sbu_images/m_33_1_a.jpg", 1)
    files.image("sbu/sbu_images/m_35_3_c.jpg", 3)
    files.text("sun/ClassName.txt", "/a/abbey\n/a/apartment/outdoor\n/b/bay\n")
    for number, name in enumerate(("a/abbey/sun_b", "a/abbey/sun_a", "a/apartment/outdoor/sun_c", "b/bay/sun_d")):
        files.image(f"sun/{name}.jpg", number)
    for part in ("train", "val"):
        for number in (0, 1):
            files.image(f"wider/WIDER_{part}/images/0--Parade/{part}_{number}.jpg", number + len(part))
    lines = "0--Parade/{0}_0.jpg\n1\n4 1 2 3 0 0 1 0 2 1 \n"
    lines += "0--Parade/{0}_1.jpg\n2\n1 2 3 4 2 1 0 1 0 0 \n5 6 7 8 0 0 0 0 0 0 \n"
    for part in ("train", "val"):
        files.text(f"wider/wider_face_split/wider_face_{part}_bbx_gt.txt", lines.format(part))
    files.image("wider/WIDER_test/images/0--Parade/t.jpg", 9)
    files.text("wider/wider_face_split/wider_face_test_filelist.txt", "0--Parade/t.jpg\n")


def _arrays(files: Files) -> None:
    draw = np.random.RandomState(0)
    for name in ("mnist", "letters"):
        for number, part in enumerate(("train", "test")):
            files.idx(f"emnist/emnist-{name}-{part}-images-idx3-ubyte", draw.randint(0, 256, (2, 28, 28)))
            files.idx(f"emnist/emnist-{name}-{part}-labels-idx1-ubyte", np.array([3, number + 1]))
    for name, count in (("qmnist-train", 2), ("qmnist-test", 10003), ("xnist", 2)):
        files.idx(f"qmnist/{name}-images-idx3-ubyte", np.full((count, 28, 28), len(name)))
        files.idx(f"qmnist/{name}-labels-idx2-int", np.arange(count * 8).reshape(count, 8) % 256, 12)
    for part in ("train", "test", "unlabeled"):
        files.at(f"stl10/{part}_X.bin").write_bytes(draw.randint(0, 256, (2, 3, 96, 96)).astype("u1").tobytes())
        if part != "unlabeled":
            files.at(f"stl10/{part}_y.bin").write_bytes(bytes([1, 10]))
    for part in ("train", "test", "extra"):
        files.mat(f"svhn/{part}_32x32.mat", X=draw.randint(0, 256, (32, 32, 3, 2)).astype(np.uint8), y=[[1], [10]])
    files.mat("flowers/imagelabels.mat", labels=[[5, 6, 7, 8]])
    files.mat("flowers/setid.mat", trnid=[[2, 1]], valid=[[3]], tstid=[[4]])
    for number in range(1, 5):
        files.image(f"flowers/jpg/image_0000{number}.jpg", number)
        files.image(f"flowers/segmim/segmim_0000{number}.jpg", 10 + number)
    from scipy.sparse import csc_matrix

    boundaries = np.empty((20, 1), object)
    for number in range(20):
        boundaries[number, 0] = csc_matrix(np.eye(2, 3) * (number % 2))
    for number, name in enumerate(("2008_2", "2008_3", "2008_4")):
        files.image(f"sbd/img/{name}.jpg", number)
        truth = {"Segmentation": np.full((2, 3), number, np.uint8), "Boundaries": boundaries}
        files.mat(f"sbd/cls/{name}.mat", GTcls=truth)
    files.text("sbd/train.txt", "2008_2\n2008_3\n")
    files.text("sbd/val.txt", "2008_4\n")
    files.text("sbd/train_noval.txt", "2008_3\n")
    from PIL import Image

    patches = (np.add.outer(np.arange(1024) // 64, np.arange(1024) // 64 * 2) % 256).astype(np.uint8)
    path = files.at("tour/liberty/patches0000.bmp")
    Image.fromarray(patches).save(str(path), "BMP")
    for number in range(1, 2):
        files.at(f"tour/liberty/patches{number:04}.bmp").write_bytes(path.read_bytes())
    files.text("tour/liberty/info.txt", "".join(f"{number // 2} 0\n" for number in range(300)))
    files.text("tour/liberty/m50_100000_100000_0.txt", "0 0 0 1 0 0 0\n1 0 0 258 129 0 0\n")


def answer(call: str, ds: Any, root: Path) -> Any:
    """What the rows of a dataset are, or the name of the class of the error that a call raises."""
    try:
        data = eval(call, {"ds": ds, "R": str(root), "F": False})
        rows = [
            {name: _flat(value) for name, value in row.items()}
            for row in data.create_dict_iterator(num_epochs=1, output_numpy=True)
        ]
        return [data.get_col_names(), data.get_dataset_size(), rows]
    except Exception as error:
        return type(error).__name__


def _flat(value: Any) -> Any:
    kind = "str" if value.dtype.kind == "U" else value.dtype.name
    if value.size <= 30:
        return [kind, list(value.shape), np.round(value, 6).tolist() if value.dtype.kind == "f" else value.tolist()]
    weights = np.arange(1, value.size + 1)
    return [kind, list(value.shape), int((value.astype(np.int64).ravel() * weights).sum())]


def record() -> None:
    """Write what the MindSpore that is installed reads."""
    import mindspore.dataset as ds

    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        answers = {call: answer(call, ds, Path(folder)) for call in CALLS}
    lines = [f"{json.dumps(call)}: {json.dumps(found, ensure_ascii=False)}" for call, found in answers.items()]
    (HERE / "corpora_answers.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    record()
