"""A shard's child whose layers do nothing: what comes in goes out, by the real pipes, tensors and threads."""

from __future__ import annotations

from meshdesk.shard import worker


def main() -> None:
    real = worker.Worker._load

    def load(self: worker.Worker, *arguments: object) -> object:
        from meshdesk.shard.engine import ShardEngine

        engine = real(self, *arguments)  # type: ignore[arg-type]
        ShardEngine._compute = lambda self, work, tokens, cache: self._inputs(work)  # type: ignore[method-assign]
        return engine

    worker.Worker._load = load  # type: ignore[method-assign, assignment]
    worker.main()


if __name__ == "__main__":
    main()
