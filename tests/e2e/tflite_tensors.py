"""Inputs and outputs of TensorFlow Lite models, as their files state them."""

import struct

# The kinds of elements by their numbers.
KINDS = {0: "float", 2: "int32", 3: "uint8", 4: "int64", 6: "bool",
         7: "int16", 9: "int8", 12: "uint64", 15: "uint32"}


class Table:
    """A table of a FlatBuffers file."""

    def __init__(self, data, place):
        self.data, self.place = data, place
        self.fields = place - self.unpack("i", place)

    def unpack(self, kind, place):
        return struct.unpack_from("<" + kind, self.data, place)[0]

    def find(self, number):
        """Where a field is; 0 if it is not stored."""
        place = 4 + 2 * number
        is_there = place < self.unpack("H", self.fields)
        offset = is_there and self.unpack("H", self.fields + place)
        return offset and self.place + offset

    def get_places(self, number):
        """Of the elements of a vector, which have four bytes each."""
        place = self.find(number)
        place += place and self.unpack("I", place)
        count = place and self.unpack("I", place)
        return range(place + 4, place + 4 + 4 * count, 4)

    def get_numbers(self, number):
        return [self.unpack("i", place) for place in self.get_places(number)]

    def get_tables(self, number):
        return [Table(self.data, place + self.unpack("I", place))
                for place in self.get_places(number)]


def read_tensors(path):
    """Name, kind of the elements, shape, and whether it is an input, of each
    input and output; states are not among them. Fields are numbered as in
    lib/Importer/TFLite/tflite.fbs."""
    with open(path, "rb") as file:
        data = file.read()
    graph = Table(data, struct.unpack_from("<I", data)[0]).get_tables(2)[0]
    tensors = graph.get_tables(0)
    for field, is_input in (1, True), (2, False):
        for number in graph.get_numbers(field):
            kind = tensors[number].find(1)
            yield (f"tensor{number}", KINDS[data[kind] if kind else 0],
                   tuple(tensors[number].get_numbers(0)), is_input)
