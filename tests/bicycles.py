"""Second-hand bicycles, invented: codes, prices, yes and no, lists, and how several people might write."""

from __future__ import annotations

import csv
import random
from pathlib import Path

MAKERS = ("Aldane", "Brookvale", "Corvid", "Drumlin", "Esker", "Fallow", "Gannet", "Hartwell")
MODELS = ("Rover", "Swift", "Meadow", "Courier", "Ridge", "Ferry", "Tern", "Alder", "Pilot", "Wren")
KINDS = ("city bike", "mountain bike", "road bike", "folding bike", "touring bike")
COLOURS = ("dark green", "matt black", "cherry red", "pale blue", "silver", "cream")
EXTRAS = ("a bell", "mudguards", "a luggage rack", "a child seat", "dynamo lights", "a sturdy lock")


def rows(count: int, seed: int = 1) -> list[dict[str, str]]:
    """So many offers, each with its description."""
    draw = random.Random(seed)
    return [_offer(draw, number) for number in range(count)]


def write_csv(path: Path, count: int, *, text_column: str = "description", seed: int = 1) -> Path:
    """A file of offers as a shop would export it."""
    offers = rows(count, seed)
    names = [name for name in offers[0] if name != "description"]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*names, text_column])
        writer.writerows([*(offer[name] for name in names), offer["description"]] for offer in offers)
    return path


def _offer(draw: random.Random, number: int) -> dict[str, str]:
    offer = {
        "code": f"BX-{7000 + 13 * number}",
        "maker": draw.choice(MAKERS),
        "model": draw.choice(MODELS),
        "kind": draw.choice(KINDS),
        "colour": draw.choice(COLOURS) if draw.random() < 0.7 else "",
        "gears": str(draw.choice((1, 3, 7, 8, 18, 21, 24))) if draw.random() < 0.7 else "",
        "price": f"{draw.randrange(60, 900, 10)} euros",
        "electric": draw.choice(("yes", "no")) if draw.random() < 0.6 else "",
        "extras": "; ".join(draw.sample(EXTRAS, draw.randint(1, 3))) if draw.random() < 0.6 else "",
    }
    offer["description"] = _text(draw, offer)
    return offer


def _text(draw: random.Random, offer: dict[str, str]) -> str:
    name = f"{offer['maker']} {offer['model']}"
    colour = f"{offer['colour']} " if offer["colour"] else ""
    sentences = [
        draw.choice(
            (
                f"The {name} is a {colour}{offer['kind']} for {offer['price']}.",
                f"This {colour}{offer['kind']}, a {name}, costs {offer['price']}.",
                f"For {offer['price']} you get a {name}, a {colour}{offer['kind']}.",
            )
        )
    ]
    if offer["gears"]:
        gears = (
            "a single gear" if offer["gears"] == "1" and draw.random() < 0.3 else f"{offer['gears']} gears"
        )
        gears = gears.replace("1 gears", "1 gear") if offer["gears"] == "1" else gears
        sentences.append(
            draw.choice(
                (f"It has {gears}.", f"There are {gears} to choose from.", f"You ride it with {gears}.")
            )
        )
    if offer["electric"] == "yes":
        sentences.append(
            draw.choice(("An electric motor helps you uphill.", "It comes with an electric motor."))
        )
    if offer["electric"] == "no":
        sentences.append(draw.choice(("It has no motor.", "There is no electric motor: you pedal yourself.")))
    if offer["extras"]:
        *first, last = offer["extras"].split("; ")
        listed = f"{', '.join(first)} and {last}" if first else last
        sentences.append(
            draw.choice((f"Included: {listed}.", f"You also get {listed}.", f"It comes with {listed}."))
        )
    return " ".join(sentences)
