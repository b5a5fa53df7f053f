"""A shard's child that is left with little memory just before it reads its weights."""

from __future__ import annotations

import resource
from unittest.mock import patch

from meshdesk.shard import worker

SPARE_BYTES = 40 << 20


def main() -> None:
    real = worker.Worker._load

    def load(self: worker.Worker, *arguments: object) -> object:
        from meshdesk.shard import engine, partial_model

        read = partial_model.load_partial_model

        def read_poorly(*arguments: object) -> object:
            import psutil

            mapped = psutil.Process().memory_info().vms
            resource.setrlimit(resource.RLIMIT_AS, (mapped + SPARE_BYTES, resource.RLIM_INFINITY))
            return read(*arguments)  # type: ignore[arg-type]

        with patch.object(engine, "load_partial_model", read_poorly):
            return real(self, *arguments)  # type: ignore[arg-type]

    worker.Worker._load = load  # type: ignore[method-assign, assignment]
    worker.main()


if __name__ == "__main__":
    main()
