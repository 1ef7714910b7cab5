"""One corpus at one latency: servers, proxy and tools with nothing of an earlier trial."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from corpus import Corpus
from day import Day
from measuring import Failure, Measurement, Meter, Proxy
from result import Result
from scenarios import Action, Begin, Scenario
from servers import Server, serve_rsync, serve_s3, serve_webdav
from tidemark import Tidemark
from tool import Place, Tool, digest, remote_files, restored_files


def tell(text: str) -> None:
    """Says on standard error how far it is."""
    print(text, file=sys.stderr, flush=True)


class Trial:
    """Runs scenarios on a corpus, one tool after the other."""

    def __init__(
        self,
        folder: Path,
        corpus: Corpus,
        latency: int,
        tools: list[Tool],
        meter: Meter,
        failures: list[str],
    ) -> None:
        self._folder = folder
        self._corpus = corpus
        self._latency = latency
        self._tools = list(tools)
        self._meter = meter
        self._failures = failures
        self._sent: set[str] = set()
        self._places: dict[str, Place] = {}
        self._stack = ExitStack()
        self._proxy: Proxy

    def __enter__(self) -> Trial:
        """Makes the folders; servers come with the first scenario."""
        self._folder.mkdir(parents=True)
        self._stack.callback(shutil.rmtree, self._folder, ignore_errors=True)
        return self

    def __exit__(self, *_: object) -> None:
        """Ends everything."""
        self._stack.close()

    def start(self, find: Callable[[str], str | None], is_placed: bool) -> None:
        """Starts the servers, and makes every tool ready."""
        roots = {name: self._folder / name for name in ("s3", "webdav", "rsync")}
        for tool in self._tools:
            place = Place(
                folder=self._folder / f"tool-{tool.key}",
                remote=roots[tool.server] / tool.key,
                corpus=self._corpus,
                url="",
            )
            place.folder.mkdir()
            place.remote.mkdir(parents=True)
            self._places[tool.key] = place
            if is_placed and tool.place_remote(place):
                self._sent.add(tool.key)
        self._serve(find, roots)
        self._each(lambda tool, place: self._prepare(tool, place, is_placed))

    def _serve(self, find: Callable[[str], str | None], roots: dict[str, Path]) -> None:
        starters = {
            "s3": (serve_s3, "rclone", "http"),
            "webdav": (serve_webdav, "lighttpd", "http"),
            "rsync": (serve_rsync, "rsync", "tcp"),
        }
        routes: list[str] = []
        for name in sorted({tool.server for tool in self._tools}):
            start, program, kind = starters[name]
            path = find(program)
            if not path:
                raise Failure(f"{program} is missing; Scripts/bench --yes installs it")
            server: Server = start(path, self._folder, roots[name])
            self._stack.callback(server.close)
            routes.append(f"{name}={kind}:{server.port}")
        self._proxy = Proxy(self._folder.with_suffix(".access.log"), routes)
        self._stack.callback(self._proxy.close)
        for tool in self._tools:
            self._stack.callback(tool.close)
            scheme = "rsync" if tool.server == "rsync" else "http"
            url = f"{scheme}://127.0.0.1:{self._proxy.ports[tool.server]}"
            place = self._places[tool.key]
            self._places[tool.key] = Place(place.folder, place.remote, place.corpus, url)

    def _prepare(self, tool: Tool, place: Place, is_placed: bool) -> None:
        tool.prepare(place, self._meter.run, is_placed)

    def _each(self, work: Callable[[Tool, Place], None]) -> None:
        """Does something with each tool; one that fails takes no further part."""
        for tool in list(self._tools):
            try:
                work(tool, self._places[tool.key])
            except Failure as failure:
                text = f"{tool.label}, {self._latency} ms: {failure}"
                tell(f"  {text}")
                self._failures.append(text)
                self._tools.remove(tool)

    def run(self, scenario: Scenario) -> list[Result]:
        """Measures a scenario with every tool."""
        tell(f"{scenario.key}  {scenario.title}, {self._latency} ms")
        if scenario.begin is not Begin.EMPTY:
            self._each(self._send_unmeasured)
        results = self._day(scenario) if scenario.action is Action.DAY else self._rounds(scenario)
        if scenario.action is not Action.RESTORE and scenario.begin is not Begin.PLACED:
            self._each(lambda tool, place: tool.check(place))
        return [result for result in results if result.tool in self._tools]

    def _rounds(self, scenario: Scenario) -> list[Result]:
        runs: dict[str, list[Measurement]] = {tool.key: [] for tool in self._tools}
        startups: dict[str, list[Measurement]] = {tool.key: [] for tool in self._tools}

        def measure(tool: Tool, place: Place) -> None:
            # What an earlier tool wrote must not be this one's burden.
            os.sync()
            if scenario.begin is Begin.EMPTY or scenario.action is Action.RESTORE:
                self._warm_up()
            startups[tool.key] += self._startup(tool, place)
            measured = self._measure(scenario, tool, place)
            runs[tool.key].append(measured)
            tell(f"  {tool.label:<16} {measured.wall:9.3f} s {measured.requests:7d} requests")

        for _ in range(scenario.rounds):
            if scenario.change:
                scenario.change(self._corpus)
            self._each(measure)
        return [
            Result(
                scenario,
                self._latency,
                tool,
                tuple(runs[tool.key]),
                tuple(startups[tool.key]),
                len(remote_files(self._places[tool.key])),
            )
            for tool in self._tools
        ]

    def _warm_up(self) -> None:
        """Has the machine use as much memory as the logs take, and give it back.

        A virtual machine gets memory that it never used from its host, slowly; that must not be the
        burden of the tool that comes first.
        """
        path = self._folder / "warm-up"
        with path.open("wb") as file:
            for _ in range(self._corpus.size >> 20):
                file.write(bytes(1 << 20))
        path.unlink()

    def _startup(self, tool: Tool, place: Place) -> list[Measurement]:
        return [self._meter.run(tool.version(place))] if isinstance(tool, Tidemark) else []

    def _day(self, scenario: Scenario) -> list[Result]:
        """The rounds are the ticks of the corpus' one session; then it ends."""
        days = {tool.key: Day() for tool in self._tools}
        (session,) = self._corpus.sessions

        def tick(tool: Tool, place: Place) -> None:
            day = days[tool.key]
            passes = day.ticks if session.plan.is_active else day.last
            passes.append(self._measure(scenario, tool, place))
            day.look(session, place)

        for _ in range(scenario.rounds):
            if scenario.change:
                scenario.change(self._corpus)
            self._each(tick)
        self._corpus.end()
        self._each(lambda tool, place: tool.end(place))
        for _ in ("seal", "tidy up"):
            self._each(tick)
        return [
            Result(
                scenario,
                self._latency,
                tool,
                (days[tool.key].total,),
                tuple(self._startup(tool, self._places[tool.key])),
                day=days[tool.key],
            )
            for tool in self._tools
        ]

    def _send_unmeasured(self, tool: Tool, place: Place) -> None:
        if tool.key not in self._sent:
            self._meter.run(tool.upload(place))
            self._sent.add(tool.key)

    def _measure(self, scenario: Scenario, tool: Tool, place: Place) -> Measurement:
        target = self._folder / "restored"
        if scenario.action is Action.RESTORE:
            target.mkdir()
            command = tool.restore(place, target)
        else:
            command = tool.upload(place)
        self._proxy.delay(self._latency / 1000)
        try:
            measured = self._meter.run(command, self._proxy)
        finally:
            self._proxy.delay(0)
        self._sent.add(tool.key)
        if scenario.action is Action.RESTORE:
            _compare(tool, self._corpus, target)
            shutil.rmtree(target)
        return measured


def _compare(tool: Tool, corpus: Corpus, target: Path) -> None:
    """Raises `Failure` when what came back is not what is here."""
    found = restored_files(target)
    for session in corpus.sessions:
        path = found.get(session.plan.session)
        if not path or digest(path) != digest(session.path):
            raise Failure(f"{tool.label} brought another {session.plan.session} back")
