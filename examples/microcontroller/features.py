"""What the network sees of a recording: the logarithms of the energies in mel bands."""

import numpy as np

RATE = 16000
FRAME, HOP, TRANSFORM = 640, 320, 1024  # 40 and 20 ms
FRAMES, BANDS = 49, 20
LOWEST, HIGHEST = 60.0, 7600.0
# The largest magnitude of a feature.
RANGE = 4.0


def mel_filters():
    """Triangles [BANDS, frequencies] that are equally wide in mel."""
    mel = np.linspace(2595 * np.log10(1 + LOWEST / 700),
                      2595 * np.log10(1 + HIGHEST / 700), BANDS + 2)
    corners = 700 * (10 ** (mel / 2595) - 1)
    frequencies = np.fft.rfftfreq(TRANSFORM, 1 / RATE)
    rising = ((frequencies - corners[:-2, None]) /
              (corners[1:-1] - corners[:-2])[:, None])
    falling = ((corners[2:, None] - frequencies) /
               (corners[2:] - corners[1:-1])[:, None])
    return np.maximum(0, np.minimum(rising, falling))


FILTERS = mel_filters()


def compute(recording):
    """[FRAMES, BANDS] floats within RANGE of a second of samples between -1 and 1."""
    places = np.arange(FRAMES)[:, None] * HOP + np.arange(FRAME)
    frames = recording[places] * np.hanning(FRAME + 1)[:-1]
    power = np.abs(np.fft.rfft(frames, TRANSFORM)) ** 2
    energies = np.log(power @ FILTERS.T + 1e-4)
    return np.clip(energies / 2 + 0.2, -RANGE, RANGE).astype(np.float32)


def to_integers(values):
    """What the quantized network takes: RANGE is 127."""
    return np.rint(values * (127 / RANGE)).astype(np.int8)
