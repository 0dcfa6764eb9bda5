"""One of the processes that `launch` starts."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from textsplice.config import config_from_dict
from textsplice.errors import TextspliceError
from textsplice.training.launch import LOST
from textsplice.training.start import train


def work() -> int:
    """A worker: reads its order from standard input, answers with one line on standard output."""
    order = json.loads(sys.stdin.read())
    config = config_from_dict(order.pop("config"), "launcher")
    try:
        result = train(config, **order)
    except TextspliceError as error:
        fields = {"what": error.what, "where": error.where, "remedy": error.remedy}
        # Flushed, because the launcher ends the workers as soon as one has failed.
        print(json.dumps({"error": {"class": type(error).__name__, **fields}}), flush=True)
        return 2
    except RuntimeError as error:
        if LOST not in str(error):
            raise
        return 3  # another worker has failed, and reports why
    print(json.dumps({"result": asdict(result)}))
    return 0
