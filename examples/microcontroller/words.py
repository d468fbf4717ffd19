"""Synthetic words: a source, pulses or noise, through the resonances of a vocal tract.

A word is a list of sounds, and a sound how strong its voice and its noise are and where
their formants lie. Speakers differ in the length of the vocal tract, pitch, speed and how
exactly they articulate; recordings in loudness, background noise and where the word lies.
That is far simpler than speech. Everything is drawn from the generator that the caller
passes.
"""

import numpy as np

RATE = 16000
LENGTH = RATE  # samples of a recording: a second
STEP = 160  # samples between two states of the vocal tract
STEPS = LENGTH // STEP
WINDOW, TRANSFORM = 320, 512
FREQUENCIES = np.fft.rfftfreq(TRANSFORM, 1 / RATE)

# Voiced sounds: three formants (Hz) and how strong they are.
VOICED = {
    "iy": (280, 2250, 2900, 1.0), "ih": (400, 1950, 2550, 1.0),
    "eh": (550, 1800, 2500, 1.0), "ae": (680, 1700, 2450, 1.0),
    "aa": (720, 1100, 2450, 1.0), "ao": (570, 850, 2400, 1.0),
    "uh": (450, 1030, 2350, 1.0), "uw": (310, 880, 2250, 1.0),
    "ah": (640, 1200, 2400, 1.0), "er": (490, 1350, 1690, 1.0),
    "y": (270, 2250, 3000, 0.7), "w": (300, 650, 2200, 0.6),
    "l": (350, 1050, 2850, 0.6), "r": (330, 1100, 1500, 0.6),
    "n": (250, 1450, 2400, 0.3), "m": (250, 1000, 2200, 0.3),
}
# Noise: its centre and width (Hz), and how strong it is.
NOISE = {"s": (6000, 1300, 0.5), "sh": (3000, 900, 0.6), "f": (4500, 3500, 0.15),
         "h": (1500, 1200, 0.2)}
# Stops: silence, and then a burst of noise.
STOPS = {"t": (4500, 1500, 0.6), "d": (4000, 1500, 0.35), "k": (2000, 700, 0.6),
         "g": (1900, 700, 0.35), "p": (900, 700, 0.5), "b": (700, 500, 0.3)}

# The sounds of a word with their milliseconds.
WORDS = {
    "yes": [("y", 70), ("eh", 150), ("s", 170)],
    "no": [("n", 90), ("ao", 130), ("uw", 110)],
    "up": [("ah", 140), ("p", 110)],
    "down": [("d", 60), ("aa", 130), ("uh", 80), ("n", 110)],
    "left": [("l", 80), ("eh", 130), ("f", 100), ("t", 90)],
    "right": [("r", 80), ("aa", 120), ("ih", 80), ("t", 100)],
    "on": [("aa", 180), ("n", 140)],
    "off": [("ao", 180), ("f", 170)],
    "stop": [("s", 130), ("t", 70), ("aa", 140), ("p", 100)],
    "go": [("g", 60), ("ao", 140), ("uw", 120)],
}
OTHER = "other"
LABELS = list(WORDS) + [OTHER]


def invent_word(random):
    """Sounds that are no word of the list, or none at all."""
    sounds = list(VOICED) + list(NOISE) + list(STOPS)
    while True:
        count = int(random.integers(0, 6))
        word = [(sounds[random.integers(len(sounds))],
                 float(random.uniform(60, 170))) for _ in range(count)]
        names = [name for name, _ in word]
        if all(names != [name for name, _ in known] for known in WORDS.values()):
            return word


class Tracks:
    """The states of the vocal tract, one each STEP samples."""

    def __init__(self):
        self.formants = np.tile([500.0, 1500.0, 2500.0], (STEPS, 1))
        self.voice = np.zeros(STEPS)
        self.noise = np.zeros(STEPS)
        self.centre = np.full(STEPS, 3000.0)
        self.width = np.full(STEPS, 1000.0)

    def add(self, name, begin, end, jitter):
        """A sound in the steps from begin to end."""
        if name in VOICED:
            self.formants[begin:] = np.array(VOICED[name][:3]) * jitter
            self.voice[begin:end] = VOICED[name][3]
            return
        centre, width, strength = NOISE.get(name) or STOPS[name]
        self.centre[begin:], self.width[begin:] = centre * jitter[1], width
        burst = end - 2 if name in STOPS else begin
        self.noise[max(begin, burst):end] = strength

    def smooth(self):
        """The tract moves slowly, its excitation quickly."""
        for track in (*self.formants.T, self.centre, self.width):
            track[:] = smoothed(track, 5)
        for track in (self.voice, self.noise):
            track[:] = smoothed(track, 3)


def smoothed(track, width):
    padded = np.pad(track, width // 2, mode="edge")
    return np.convolve(padded, np.full(width, 1 / width), "valid")


def draw_tracks(word, random):
    tracks = Tracks()
    speed = random.uniform(0.75, 1.35)
    steps = [max(2, round(duration * speed * random.uniform(0.8, 1.25) * RATE /
                          1000 / STEP)) for _, duration in word]
    at = int(random.integers(3, max(4, STEPS - 3 - sum(steps))))
    for (name, _), count in zip(word, steps):
        tracks.add(name, at, min(STEPS, at + count), random.normal(1, 0.05, 3))
        at += count
    tracks.smooth()
    return tracks


def envelopes(tracks, tract):
    """Magnitudes [STEPS, frequencies] of what the voice and the noise go through."""
    voice = np.ones((STEPS, len(FREQUENCIES)))
    for formant, width in zip(tracks.formants.T, (80, 110, 160)):
        centre = (formant * tract)[:, None]
        voice *= centre ** 2 / np.hypot(centre ** 2 - FREQUENCIES ** 2,
                                        FREQUENCIES * width)
    voice *= tracks.voice[:, None] / (1 + (FREQUENCIES / 600) ** 1.5)
    distance = (FREQUENCIES - tracks.centre[:, None] * tract)
    noise = np.exp(-0.5 * (distance / tracks.width[:, None]) ** 2)
    return voice, noise * tracks.noise[:, None]


def draw_pulses(random):
    """One at each beginning of a period; the pitch falls and trembles."""
    pitch = np.exp(random.uniform(np.log(85), np.log(270)))
    fall = np.linspace(1, random.uniform(0.75, 1.1), LENGTH)
    tremble = 1 + 0.02 * np.sin(np.arange(LENGTH) / RATE *
                                random.uniform(20, 45) + random.uniform(0, 6))
    phase = np.cumsum(pitch * fall * tremble / RATE)
    return np.diff(np.floor(phase), prepend=0) * np.sqrt(RATE / pitch)


def filtered(source, envelope):
    """The source through a filter that changes from step to step."""
    window = np.hanning(WINDOW + 1)[:-1]
    padded = np.pad(source, (WINDOW // 2, WINDOW))
    places = np.arange(STEPS)[:, None] * STEP + np.arange(WINDOW)
    spectrum = np.fft.rfft(padded[places] * window, TRANSFORM) * envelope
    pieces = np.fft.irfft(spectrum, TRANSFORM)
    result = np.zeros(LENGTH + TRANSFORM)
    for step, piece in enumerate(pieces):
        result[step * STEP:step * STEP + TRANSFORM] += piece
    return result[WINDOW // 2:WINDOW // 2 + LENGTH] * (2 * STEP / WINDOW)


def draw_background(random):
    """Noise between white and brown, of power 1."""
    spectrum = np.fft.rfft(random.standard_normal(LENGTH))
    spectrum /= np.maximum(1, np.arange(len(spectrum)) / 50) ** random.uniform(0, 1)
    noise = np.fft.irfft(spectrum, LENGTH)
    return noise / np.sqrt(np.mean(noise ** 2))


def draw_recording(label, random):
    """A second of the word LABELS[label], samples between -1 and 1."""
    name = LABELS[label]
    word = WORDS[name] if name in WORDS else invent_word(random)
    voice, noise = envelopes(draw_tracks(word, random), random.uniform(0.85, 1.2))
    sound = filtered(draw_pulses(random), voice)
    sound += filtered(random.standard_normal(LENGTH), noise)
    power = np.sqrt(np.mean(sound ** 2)) if word else 1
    loudness = 10 ** random.uniform(-2, -0.7)
    ratio = 10 ** (-random.uniform(5, 30) / 20)
    sound = loudness * (sound / power + ratio * draw_background(random))
    return np.clip(sound, -1, 1)
