"""Configuration files."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from textsplice.config import Config, config_from_dict, load_config, to_toml
from textsplice.errors import ConfigError


def read(tmp_path: Path, text: str) -> Config:
    path = tmp_path / "c.toml"
    path.write_text(text)
    return load_config(path)


def test_every_setting_survives_a_round_trip_through_toml(tmp_path: Path) -> None:
    config = Config().with_values(
        ['corpus.source=a "quoted" \\ path', "neighbors.fold=[\"a\", 'b']", "training.clip=1"]
    )
    assert read(tmp_path, to_toml(config)) == config
    assert config_from_dict(config.to_dict(), "here") == config


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[neighbors]\nkk = 5", "there is no setting 'neighbors.kk'. Did you mean 'neighbors.k'?"),
        ("[neighbours]\nk = 5", "there is no setting 'neighbours'. Did you mean 'neighbors'?"),
        ("[neighbors]\nk = -1", "neighbors.k = -1 must be a whole number from 1 to 65,536."),
        ("[neighbors]\nk = true", "neighbors.k = True must be a whole number from 1 to 65,536."),
        (
            '[neighbors]\nexclude = "me"',
            "neighbors.exclude = 'me' is not one of 'same-table', 'self', 'none'.",
        ),
        ("[text]\nmask = 1", "text.mask = 1 must be true or false."),
        ("neighbors = 3", "[neighbors] must be a section, not 3."),
        ("[neighbors\nk=1", "not a TOML file"),
    ],
)
def test_a_wrong_setting_is_a_sentence_with_the_file(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    assert message in str(caught.value)
    assert str(tmp_path / "c.toml") in str(caught.value)


def test_a_missing_file_points_to_the_master_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no such file\. Name a TOML file; `configs/` holds"):
        load_config(tmp_path / "none.toml")


def test_an_assignment_without_a_section_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"'k=5' is not of the form section.key=value"):
        Config().with_values(["k=5"])


def test_the_master_configuration_names_every_setting_with_its_default() -> None:
    path = Path(__file__).parent.parent / "configs" / "master.toml"
    written = tomllib.loads(path.read_text(encoding="utf-8"))
    assert {name: set(section) for name, section in written.items()} == {
        name: set(section) for name, section in Config().to_dict().items()
    }
    assert load_config(path) == Config()


def test_a_later_setting_is_written_only_if_it_is_used(tmp_path: Path) -> None:
    assert "score" not in to_toml(Config())
    other = Config().with_values(["neighbors.score=mine"])
    assert 'score = "mine"' in to_toml(other)
    assert read(tmp_path, to_toml(other)) == other
