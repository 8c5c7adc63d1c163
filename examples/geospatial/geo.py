#!/usr/bin/env python3
"""The functions of water.yaml: a worker that is asked one call after the other, one line of JSON each. Standard Python only.

Grids are files, since they are large; tasks hand each other their names. A file is written under another name first, so that a task that
is tried again, or killed, leaves no half of one.
"""
import json
import math
import os
import pathlib
import sys

CELL_METRES = 100
LATITUDE = math.radians(41)
LAPSE_DEGREES_PER_METRE = 0.0065
SOLAR_CONSTANT = 0.0820  # MJ a minute and square metre
SHARE_THROUGH_AIR = 0.75
HEAT_OF_EVAPORATION = 2.45  # MJ a kilogram

FUNCTIONS = {}


def function(work):
    """Makes it a function that tasks can call by its name."""
    FUNCTIONS[work.__name__] = work
    return work


def save(path, grid):
    partial = pathlib.Path(f"{path}.{os.getpid()}")
    partial.write_text(json.dumps(grid))
    partial.rename(path)
    return str(path)


def load(path):
    return json.loads(pathlib.Path(path).read_text())


def height(row, column):
    """Metres above the sea: a landscape of our own, two ridges and a valley."""
    return (900 + 500 * math.sin(row / 17) * math.cos(column / 23) + 180 * math.sin((row + 2 * column) / 11)
            + 40 * math.cos(row * column / 700))


@function
def partition(given):
    """Tiles of the elevation model, each with one cell more on every side, which slopes need."""
    folder, cells, size = pathlib.Path(given["folder"]), given["cells"], given["tile"]
    folder.mkdir(parents=True, exist_ok=True)
    tiles = []
    for top in range(0, cells, size):
        for left in range(0, cells, size):
            rows, columns = min(size, cells - top), min(size, cells - left)
            heights = [[height(row, column) for column in range(left - 1, left + columns + 1)] for row in range(top - 1, top + rows + 1)]
            name = save(folder / f"height-{top}-{left}-{size}.json", heights)
            tiles.append({"file": name, "top": top, "left": left, "rows": rows, "columns": columns})
    return tiles


@function
def stations(given):
    """What the weather stations measured that day: degrees where they stand."""
    places = [(0.1, 0.2), (0.3, 0.8), (0.55, 0.45), (0.8, 0.15), (0.9, 0.9)]
    summer = math.cos(2 * math.pi * (given["day"] - 200) / 365)
    found = []
    for number, (down, right) in enumerate(places):
        row, column = round(down * given["cells"]), round(right * given["cells"])
        degrees = 16 + 9 * summer + number % 3 - LAPSE_DEGREES_PER_METRE * height(row, column)
        found.append({"row": row, "column": column, "degrees": degrees})
    return found


def cells_of(tile):
    return ((row, column) for row in range(tile["rows"]) for column in range(tile["columns"]))


def grid_of(tile, value):
    grid = [[0.0] * tile["columns"] for _ in range(tile["rows"])]
    for row, column in cells_of(tile):
        grid[row][column] = value(row, column)
    return grid


def beside(tile, kind):
    return tile["file"].replace("height-", f"{kind}-")


@function
def sunlight(given):
    """What the sun sends to each cell that day, by its slope and where that faces, in MJ a square metre."""
    tile, day = given["tile"], given["day"]
    heights = load(tile["file"])
    declination = 0.409 * math.sin(2 * math.pi * day / 365 - 1.39)
    sunset = math.acos(-math.tan(LATITUDE) * math.tan(declination))
    distance = 1 + 0.033 * math.cos(2 * math.pi * day / 365)
    above = 24 * 60 / math.pi * SOLAR_CONSTANT * distance * (
        sunset * math.sin(LATITUDE) * math.sin(declination) + math.cos(LATITUDE) * math.cos(declination) * math.sin(sunset))
    zenith = LATITUDE - declination  # At noon.

    def on_cell(row, column):
        around = [line[column:column + 3] for line in heights[row:row + 3]]
        east = (around[0][2] + 2 * around[1][2] + around[2][2] - around[0][0] - 2 * around[1][0] - around[2][0]) / (8 * CELL_METRES)
        south = (sum(around[2]) + around[2][1] - sum(around[0]) - around[0][1]) / (8 * CELL_METRES)
        slope = math.atan(math.hypot(east, south))
        to_south = -south / (math.hypot(east, south) or 1)  # How far it faces the noon sun.
        light = math.cos(slope) * math.cos(zenith) + math.sin(slope) * math.sin(zenith) * to_south
        return SHARE_THROUGH_AIR * above * max(light, 0) / math.cos(zenith)

    return save(beside(tile, "sunlight"), grid_of(tile, on_cell))


@function
def weather(given):
    """Degrees in each cell: those of the stations, the nearer the more they count, brought to its height."""
    tile, measured = given["tile"], given["stations"]
    heights = load(tile["file"])
    at_sea = [(one["row"], one["column"], one["degrees"] + LAPSE_DEGREES_PER_METRE * height(one["row"], one["column"])) for one in measured]

    def in_cell(row, column):
        total = weights = 0.0
        for its_row, its_column, degrees in at_sea:
            weight = 1 / (1 + (tile["top"] + row - its_row) ** 2 + (tile["left"] + column - its_column) ** 2)
            total, weights = total + weight * degrees, weights + weight
        return total / weights - LAPSE_DEGREES_PER_METRE * heights[row + 1][column + 1]

    return save(beside(tile, "weather"), grid_of(tile, in_cell))


@function
def water(given):
    """Millimetres that evaporate, after Hargreaves: by warmth and sunlight."""
    tile, light, degrees = given["tile"], load(given["sunlight"]), load(given["weather"])

    def from_cell(row, column):
        return max(0.0135 * (degrees[row][column] + 17.8) * light[row][column] / HEAT_OF_EVAPORATION, 0)

    return {**tile, "file": save(beside(tile, "water"), grid_of(tile, from_cell))}


@function
def mosaic(given):
    """All tiles as one grid of the form that geographic programs read, and what is in it."""
    tiles = given["tiles"]
    rows = max(tile["top"] + tile["rows"] for tile in tiles)
    columns = max(tile["left"] + tile["columns"] for tile in tiles)
    whole = [[0.0] * columns for _ in range(rows)]
    for tile in tiles:
        for row, line in enumerate(load(tile["file"])):
            whole[tile["top"] + row][tile["left"]:tile["left"] + tile["columns"]] = line
    path = pathlib.Path(given["folder"]) / "water.asc"
    lines = [f"ncols {columns}", f"nrows {rows}", "xllcorner 0", "yllcorner 0", f"cellsize {CELL_METRES}"]
    path.write_text("\n".join(lines + [" ".join(f"{value:.3f}" for value in line) for line in whole]) + "\n")
    values = [value for line in whole for value in line]
    return {"file": str(path), "cells": len(values), "least": round(min(values), 3), "most": round(max(values), 3),
            "mean": round(sum(values) / len(values), 3)}


def main():
    for line in sys.stdin:
        call = json.loads(line)
        try:
            answer = {"result": FUNCTIONS[call["function"]](call["input"])}
        except (OSError, KeyError, TypeError, ValueError, ArithmeticError) as error:
            answer = {"error": {"kind": type(error).__name__, "message": str(error)}}
        print(json.dumps({"id": call["id"], **answer}), flush=True)


if __name__ == "__main__":
    main()
