"""A corpus of video games, made up: fields of all kinds, some of which go together only by accident."""

from __future__ import annotations

from random import Random

from textsplice.corpus.table import Example, Table

NAMES = (
    "Night",
    "Stone",
    "River",
    "Crown",
    "Glass",
    "Ember",
    "Frost",
    "Hollow",
    "Iron",
    "Velvet",
    "Wild",
    "Amber",
)
MORE_NAMES = (
    "Drift",
    "Legend",
    "Reach",
    "Quest",
    "Circuit",
    "Garden",
    "Signal",
    "Harbor",
    "Engine",
    "Parade",
)
ACTS = ("give_opinion", "inform", "recommend", "verify_attribute")
GENRES = ("driving/racing", "puzzle", "role-playing", "shooter")
GENRE_WORDS = {
    "driving/racing": ("racing game", "driving game"),
    "puzzle": ("puzzle game", "game of puzzles"),
    "role-playing": ("role-playing game", "game where you play a role"),
    "shooter": ("shooter", "game of guns"),
}
OPENINGS = {
    "give_opinion": ("In my opinion, {} is fine.", "I quite liked {}.", "I would say that {} was worth it."),
    "inform": ("{} came out not long ago.", "There is a game called {}.", "{} is a game to know."),
    "recommend": ("Have you tried {}?", "You might enjoy {}.", "Give {} a go."),
    "verify_attribute": (
        "You said you knew {}, right?",
        "You told me about {}, correct?",
        "Was it {} you liked?",
    ),
}
STEAM = {
    "yes": ("It is available on Steam.", "You can get it on Steam.", "Steam has it."),
    "no": ("It is not available on Steam.", "It isn't on Steam.", "You can't get it on Steam."),
}
LINUX = {
    "yes": ("It runs on Linux.", "There is a Linux release.", "Linux or not, it runs on both."),
    "no": ("It does not run on Linux.", "It has no Linux release.", "Linux is not supported."),
}
CROWD = {
    "yes": ("Friends can join in.", "Play it with others."),
    "no": ("You play it alone.", "It is for one player."),
}


def games(count: int, seed: int = 1) -> list[Example]:
    """Racing games are mostly not on Steam, and games on Steam mostly run on Linux."""
    random = Random(seed)
    examples: list[Example] = []
    for number in range(count):
        name = f"{random.choice(NAMES)} {random.choice(MORE_NAMES)}"
        act, genre = random.choice(ACTS), random.choice(GENRES)
        steam = "no" if random.random() < (0.95 if genre == "driving/racing" else 0.3) else "yes"
        linux = steam if random.random() < 0.85 else ("yes" if steam == "no" else "no")
        crowd, price = random.choice(("yes", "no")), random.choice((1000, 1500, 20, 35, 60))
        record = {
            "id": f"g{number:05}",
            "act": act,
            "name": name,
            "genre": genre,
            "available_on_steam": steam,
            "has_linux_release": linux,
            "multiplayer": crowd,
            "price": f"${price}",
        }
        cost = random.choice((f"It costs ${price:,}.", f"It costs {price} dollars."))
        said = [
            f"It is a {random.choice(GENRE_WORDS[genre])}.",
            random.choice(STEAM[steam]),
            random.choice(LINUX[linux]),
            random.choice(CROWD[crowd]),
            cost,
        ]
        random.shuffle(said)
        text = " ".join((random.choice(OPENINGS[act]).format(name), *said))
        examples.append(Example(f"g{number:05}", Table.of(record), text))
    return examples
