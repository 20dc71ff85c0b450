"""Sources of recorded sound: CMUArctic, GTZAN, LJSpeech, LibriTTS, SpeechCommands, Tedlium, YesNo."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from weft.data.declared import NEEDED, PARTS_OF_FOUR, Choice, Given, Sound, Sounds, number

_VOICES: Final = "aew ahw aup awb axb bdl clb eey fem gka jmk ksp ljm lnh rms rxr slp slt"


class CMUArcticDataset(Sounds):
    """CMU Arctic: sentences read by one voice, columns waveform, sample_rate, transcript and utterance_id."""

    own = {"name": Choice(tuple(_VOICES.split()), None, "aew")}
    names = ("waveform", "sample_rate", "transcript", "utterance_id")
    name: str

    def entries(self) -> list[tuple[Any, ...]]:
        folder, found = f"cmu_us_{self.name}_arctic", []
        for line in self.lines(folder, "etc", "txt.done.data"):
            said = re.match(r'\(\s*(\S+)\s+"([^"]*)"', line)
            if said is None:
                raise self.failed(f"txt.done.data has a line that cannot be read: {line}")
            sound = Sound(self.path(folder, "wav", f"{said[1]}.wav"), np.uint32, 16000)
            found.append((sound, said[2], said[1].rpartition("_")[2]))
        return found


#: which tracks of a genre belong to which part
_TRACKS: Final = {
    "train": {
        "blues": "29-49 73-97", "classical": "30-33 43-48 50-67 80-99", "country": "19-26 28-29 65-99",
        "disco": "5 15-20 22-37 39-45 47 49 53-54 56-57 59 61 70 73-74 89",
        "hiphop": "2-25 28-29 31-38 41-42 55-61 77-80",
        "jazz": "0-1 11-24 41 47-72", "metal": "2-3 5 21 24 35 46-57 59-66 69 71-72 79-80 84 86 89-99",
        "pop": "2-9 11-12 16-20 23-29 31-36 38-42 44 46 49-50 80 97-99",
        "reggae": "0-2 4 6 9 11-12 14-32 42-45 49-51 54-60 63 69", "rock": "0-9 16-26 57-70 91-99",
    },
    "valid": {
        "blues": "0-11 50-60", "classical": "0-10 68-76", "country": "0-7 9-18 27 41-42 45 49",
        "disco": "0 2-4 6-14 46 48 52 67-68 72 75 90 95", "hiphop": "81-98", "jazz": "2-10 25-32",
        "metal": "0-1 6-11 16-20 36-37 68 76-77 81-82", "pop": "10 53 55 58-62 81 83-86",
        "reggae": "61-62 70 72 74 76-78 85 92-99", "rock": "38 49-56 71-85",
    },
    "test": {
        "blues": "12-28 61-72 98-99", "classical": "11-29 34-41 49 77-79", "country": "30-40 43-44 46-48 50-51 53-64",
        "disco": "1 21 58 62-66 69 76-88 91-94 96-97 99", "hiphop": "0 26-27 30 40 43-45 51-54 62-75 99",
        "jazz": "73-99", "metal": "12-15 22-23 25-33 38-39 67 70 73-75 78 83 85 87-88",
        "pop": "0-1 13-14 43 63-66 69-79 82 88-96", "reggae": "34-40 46-48 52-53 64-68 71 79 82-84 87-90",
        "rock": "10-15 27-37 39-48 86-90",
    },
}  # fmt: skip
#: the genres, in alphabetical order
_GENRES: Final = tuple(_TRACKS["train"])


class GTZANDataset(Sounds):
    """GTZAN: tracks of music, columns waveform, sample_rate and label (the genre)."""

    own = {"usage": PARTS_OF_FOUR}
    names = ("waveform", "sample_rate", "label")
    usage: str

    def entries(self) -> list[tuple[Any, ...]]:
        chosen = {
            f"{genre}.{track:05}.wav"
            for genre, listed in _TRACKS.get(self.usage, {}).items()
            for first, _, last in (each.partition("-") for each in listed.split())
            for track in range(int(first), int(last or first) + 1)
        }
        found: list[tuple[Any, ...]] = []
        for genre in _GENRES:
            if os.path.isdir(self.path(genre)):
                files = self.listed(genre, ending=".wav")
                wanted = [name for name in files if self.usage == "all" or name in chosen]
                found += [(Sound(self.path(genre, name), np.uint32, 22050), genre) for name in wanted]
        return found


class LJSpeechDataset(Sounds):
    """LJ Speech: passages read by one voice, columns waveform, sample_rate, transcription, normalized_transcription."""

    names = ("waveform", "sample_rate", "transcription", "normalized_transcription")

    def entries(self) -> list[tuple[Any, ...]]:
        rows = [line.split("|") for line in self.lines("metadata.csv")]
        if any(len(row) != 3 for row in rows):
            raise self.failed("metadata.csv has a line without three values")
        return [(Sound(self.path("wavs", f"{name}.wav")), text, plain) for name, text, plain in rows]


_LIBRI: Final = (
    *("dev-clean", "dev-other", "test-clean", "test-other"),
    *("train-clean-100", "train-clean-360", "train-other-500"),
)


class LibriTTSDataset(Sounds):
    """LibriTTS: sentences read by many voices, with texts, and numbers of speaker, chapter and utterance."""

    own = {"usage": Choice((*_LIBRI, "all"), None, "all")}
    names = (
        *("waveform", "sample_rate", "original_text", "normalized_text"),
        *("speaker_id", "chapter_id", "utterance_id"),
    )
    usage: str

    def entries(self) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = []
        for part in _LIBRI:
            if self.usage not in (part, "all") or not os.path.isdir(self.path(part)):
                continue
            for speaker in self.listed(part, folders=True):
                for chapter in self.listed(part, speaker, folders=True):
                    folder = (part, speaker, chapter)
                    for line in self.lines(*folder, f"{speaker}_{chapter}.trans.tsv"):
                        fields = line.split("\t")
                        if len(fields) != 3:
                            raise self.failed(f"the list of {os.path.join(*folder)} has a line without three values")
                        name, text, plain = fields
                        sound = Sound(self.path(*folder, f"{name}.wav"), np.uint32, 24000)
                        found.append((sound, text, plain, number(int(speaker)), number(int(chapter)), name))
        return found


class SpeechCommandsDataset(Sounds):
    """Speech Commands: single words, columns waveform, sample_rate, label, speaker_id and utterance_number."""

    own = {"usage": PARTS_OF_FOUR}
    names = ("waveform", "sample_rate", "label", "speaker_id", "utterance_number")
    usage: str

    def entries(self) -> list[tuple[Any, ...]]:
        lists = {"valid": "validation_list.txt", "test": "testing_list.txt"}
        if self.usage in lists:
            chosen = self.lines(lists[self.usage])
        else:
            words = [name for name in self.listed(folders=True) if not name.startswith("_")]
            chosen = [f"{word}/{name}" for word in words for name in self.listed(word, ending=".wav")]
            if self.usage == "train":
                others = {name for listed in lists.values() for name in self.lines(listed)}
                chosen = [name for name in chosen if name not in others]
        found = []
        for name in chosen:
            said = re.fullmatch(r"([^/]+)/(.+)_nohash_(\d+)\.wav", name)
            if said is None:
                raise self.failed(f"{name} is no name of a recording")
            found.append((Sound(self.path(name)), said[1], said[2], number(int(said[3]), np.int32)))
        return found


class YesNoDataset(Sounds):
    """YesNo: eight words of yes and no, columns waveform, sample_rate and label (8 numbers, 1 for yes)."""

    names = ("waveform", "sample_rate", "label")

    def entries(self) -> list[tuple[Any, ...]]:
        found = []
        for name in self.listed(ending=".wav"):
            words = name.removesuffix(".wav").split("_")
            if not all(word.isdigit() for word in words):
                raise self.failed(f"{name} is no name of a recording")
            found.append((Sound(self.path(name)), number([int(word) for word in words], np.int32)))
        return found


@dataclass(frozen=True, slots=True)
class Extract:
    """A part of a row that is a part of the sound in an SPH file: two columns, the samples and their rate.

    Args:
        path: its path.
        begin: where it begins, in seconds.
        end: where it ends.
    """

    path: str
    begin: float
    end: float

    def read(self, decode: bool) -> tuple[np.ndarray[Any, Any], ...]:
        """The samples from -1 to 1, and the rate."""
        with open(self.path, "rb") as stream:
            content = stream.read()
        head = content[:1024].decode("ascii", "replace")
        said = {field[0]: field[2] for field in map(str.split, head.splitlines()) if len(field) >= 3}
        try:
            start, rate = int(head.splitlines()[1]), int(said["sample_rate"])
            kind = {"01": "<i2", "10": ">i2"}[said.get("sample_byte_format", "01")]
        except (ValueError, KeyError, IndexError) as error:
            raise RuntimeError(f"{self.path} is no SPH file of 16 bits, or is damaged: {error}") from error
        body = content[start : len(content) - (len(content) - start) % 2]
        samples = np.frombuffer(body, kind)[int(self.begin * rate) : int(self.end * rate)]
        return (samples.astype(np.float32) / 32767)[None], np.asarray(rate, np.int32)


class TedliumDataset(Sounds):
    """TED-LIUM: parts of talks, with transcript, talk_id, speaker_id and identifier."""

    own = {
        "release": Choice(("release1", "release2", "release3"), NEEDED),
        "usage": Given("``'train'``, ``'test'``, ``'dev'`` or ``'all'``; only the last of release 3.", None),
        "extensions": Given("ending of the files, ``'.sph'``.", None),
    }
    names = ("waveform", "sample_rate", "transcript", "talk_id", "speaker_id", "identifier")
    release: str
    usage: Any
    extensions: Any

    def checked(self) -> None:
        allowed = ("all",) if self.release == "release3" else ("train", "test", "dev", "all")
        if self.usage is not None and self.usage not in allowed:
            raise ValueError(f"usage should be one of {allowed} for {self.release}, but got {self.usage!r}.")
        if self.extensions not in (None, ".sph"):
            raise RuntimeError(f"TedliumDataset: extension {self.extensions} is not supported.")

    def entries(self) -> list[tuple[Any, ...]]:
        parts = ("data",) if self.release == "release3" else ("train", "test", "dev")
        found: list[tuple[Any, ...]] = []
        for part in parts:
            if self.usage not in (None, "all", part):
                continue
            for name in self.listed(part, "stm", ending=".stm"):
                for line in self.lines(part, "stm", name):
                    fields = line.split(" ", 6)
                    if len(fields) != 7:
                        raise self.failed(f"{name} has a line without seven values")
                    talk, _, speaker, begin, end, identifier, text = fields
                    sound = Extract(self.path(part, "sph", f"{talk}.sph"), float(begin), float(end))
                    found.append((sound, text, talk, speaker, identifier))
        return found
