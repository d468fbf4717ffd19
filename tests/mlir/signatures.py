"""Types of a written module's @main."""

import re


def read_signature(line):
    """The types of @main's arguments and results."""
    arguments, results = line.split(") -> (")
    return [re.findall(r"(tensor<[^>]*>) \{", part)
            for part in (arguments, results)]


def get_element(tensor):
    """The type of the elements of "tensor<2x3xf32>"."""
    return re.fullmatch(r"tensor<(?:\d+x)*(\w+)>", tensor).group(1)


def count_elements(tensor):
    count = 1
    for extent in re.findall(r"(\d+)x", tensor):
        count *= int(extent)
    return count
