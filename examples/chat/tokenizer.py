"""Byte-pair pieces of text: found in a text, written as the file that
tokenizer.c describes, and used as it uses them."""

import re
import struct
from collections import Counter, defaultdict

START, END, FIRST_BYTE = 1, 2, 3
SPECIALS = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]


def split(text):
    """Words with the space before them, and what is between words: no piece is
    longer than one of these."""
    return re.findall(r" ?[A-Za-z]+| ?[^A-Za-z ]+| ", text)


def replace_pair(parts, pair):
    merged, i = [], 0
    while i < len(parts):
        if tuple(parts[i:i + 2]) == pair:
            merged.append(parts[i] + parts[i + 1])
            i += 2
        else:
            merged.append(parts[i])
            i += 1
    return merged


def find_pieces(lines, count):
    """count pieces: specials, bytes, characters, and then again and again the pair
    that is most frequent in the words of the lines, made of the pieces so far."""
    words = Counter(word for line in lines for word in split(" " + line))
    pieces = SPECIALS + sorted(set("".join(words)))
    parts = {word: list(word) for word in words}
    pairs = Counter()
    places = defaultdict(set)  # the words that have a pair

    def count_pairs(word, sign):
        for pair in zip(parts[word], parts[word][1:]):
            pairs[pair] += sign * words[word]
            places[pair].add(word)

    for word in words:
        count_pairs(word, 1)
    while len(pieces) < count:
        # The first in the order of the alphabet, if several are as frequent.
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        pieces.append("".join(best))
        for word in places.pop(best):
            count_pairs(word, -1)
            parts[word] = replace_pair(parts[word], best)
            count_pairs(word, 1)
    return pieces


def write(path, pieces):
    """Pairs that were found first have the best scores."""
    texts = [piece.encode() for piece in pieces]
    with open(path, "wb") as file:
        file.write(struct.pack("<i", max(map(len, texts))))
        for i, text in enumerate(texts):
            score = max(i - len(SPECIALS), 0)
            file.write(struct.pack("<fi", -score, len(text)) + text)


class Tokenizer:
    def __init__(self, pieces):
        self.ids = {piece: i for i, piece in enumerate(pieces)}
        self.words = {}

    def encode_word(self, word):
        parts = []
        for c in word:
            parts += [c] if c in self.ids else [f"<0x{b:02X}>" for b in c.encode()]
        while len(parts) > 1:
            merged = [self.ids.get(a + b) for a, b in zip(parts, parts[1:])]
            if not any(merged):
                break
            # Pieces that were found first have the least ids.
            best = merged.index(min(i for i in merged if i is not None))
            parts[best:best + 2] = [parts[best] + parts[best + 1]]
        return [self.ids[part] for part in parts]

    def encode(self, text):
        """Ids of a line, which begins as a word after a space does."""
        ids = []
        for word in split(" " + text):
            if word not in self.words:
                self.words[word] = self.encode_word(word)
            ids += self.words[word]
        return ids


def read(path):
    """The pieces of a file."""
    with open(path, "rb") as file:
        data = file.read()
    pieces, at = [], 4
    while at < len(data):
        _, length = struct.unpack_from("<fi", data, at)
        at += 8 + length
        pieces.append(data[at - length:at].decode())
    return pieces
