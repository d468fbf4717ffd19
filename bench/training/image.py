"""Draws losses of training side by side as an SVG image."""

WIDTH, HEIGHT, LEFT, TOP, GAP_X, GAP_Y = 250, 150, 50, 60, 60, 60
COLORS = {"torch": "#868e96", "glowish": "#d9480f"}
LABELS = {"torch": "PyTorch", "glowish": "glowish"}


def text(x, y, content, attributes=""):
    return '<text x="%.1f" y="%.1f" %s>%s</text>' % (x, y, attributes, content)


def line(points, color, width, dash=""):
    path = " ".join("%.1f,%.1f" % point for point in points)
    return ('<polyline points="%s" fill="none" stroke="%s" stroke-width="%s" '
            '%s/>' % (path, color, width, dash))


def draw_panel(row, x, y):
    losses = row["torch"]["losses"] + row["glowish"]["losses"]
    low, high = min(losses), max(losses)
    span = high - low or 1
    count = len(row["torch"]["losses"])

    def place(index, loss):
        return (x + WIDTH * index / max(count - 1, 1),
                y + HEIGHT * (1 - (loss - low) / span))

    parts = [text(x, y - 10, "%s, %s" % (row["name"], row["solver"]),
                  'font-weight="bold"'),
             line([(x, y), (x, y + HEIGHT), (x + WIDTH, y + HEIGHT)], "#212529",
                  1)]
    for loss in (low, high):
        parts.append(text(x - 6, place(0, loss)[1] + 4, "%.3g" % loss,
                          'text-anchor="end"'))
    for index in (0, count - 1):
        parts.append(text(place(index, 0)[0], y + HEIGHT + 16, index + 1,
                          'text-anchor="middle"'))
    # One over the other: wide grey below, narrow and dashed above.
    for engine, width, dash in (("torch", 5, ""),
                                ("glowish", 1.5, 'stroke-dasharray="6 3"')):
        points = [place(i, loss)
                  for i, loss in enumerate(row[engine]["losses"])]
        parts.append(line(points, COLORS[engine], width, dash))
    return parts


def draw(rows):
    columns = 2
    lines = (len(rows) + columns - 1) // columns
    width = LEFT + columns * (WIDTH + GAP_X)
    height = TOP + lines * (HEIGHT + GAP_Y)
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
             'font-family="sans-serif" font-size="11" fill="#212529">'
             % (width, height),
             '<rect width="100%" height="100%" fill="white"/>',
             text(LEFT, 20, "Loss of each step: the same weights and batches",
                  'font-size="14"')]
    for i, engine in enumerate(("torch", "glowish")):
        x = LEFT + 330 + 100 * i
        parts.append(line([(x, 16), (x + 25, 16)], COLORS[engine],
                          5 if engine == "torch" else 1.5))
        parts.append(text(x + 30, 20, LABELS[engine]))
    for i, row in enumerate(rows):
        parts += draw_panel(row, LEFT + i % columns * (WIDTH + GAP_X),
                            TOP + i // columns * (HEIGHT + GAP_Y))
    return "\n".join(parts + ["</svg>"]) + "\n"
