"""Many measurements: points of a load curve, and the search for saturation."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from math import ceil, inf, isinf

from hdnhw.machine.machine import Machine, make_machine
from hdnhw.measurement.lanes import LANES, LEAST_LOADS, MOST_NODES, in_reach
from hdnhw.measurement.load import LoadSpec
from hdnhw.measurement.measure import Measurement, measure, zero_load_latency
from hdnhw.measurement.results import MEASURED, ResultsFile, Row, wrong_column
from hdnhw.measurement.seeds import check_seeds, loads_of, measure_loads, measure_seeds, seeds_row
from hdnhw.measurement.statistics import rounded, summarize
from hdnhw.model.fabric import FabricModel, model_of
from hdnhw.rules.plan import VALIANT
from hdnhw.rules.statistics import routing_statistics
from hdnhw.spec import FabricSpec
from hdnhw.support.errors import SpecError
from hdnhw.support.processes import Ended
from hdnhw.support.progress import Progress
from hdnhw.topology.faults import Faults
from hdnhw.traffic.injection import peak_rate

REVISION = 6
"""Of what a row means: rows of another one are measured anew."""

LIMIT = 3
"""Times the latency at zero load: what a network is asked to stay below."""

FIGURES = {
    f"rate_at_{LIMIT}x_latency": f"rate_at_{LIMIT}x_confidence_95",
    "saturation_throughput": "saturation_confidence_95",
    "overload_throughput": "overload_confidence_95",
}
"""Of a curve -> half the width of its interval."""

STEPS = 1024
"""Rates between 0 and the most that is offered, among which the one with the latency of the limit is searched."""

CLOSE = 32
"""Rates nearer to each other than this part of one are not told apart: the search ends there."""

OVERLOAD = 1.5
"""Times the rate that was found: a load, or the most that can be, that is measured in any case."""

SHARES = (0.1, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Of the rate that was found, or of the saturation throughput: the loads of a curve whose rates are not given."""

ATTEMPTS = 3
"""How often a pool of workers is started anew when one has died."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """A machine and a load on it, measured with one seed or with several from the load's own on."""

    fabric: FabricSpec
    load: LoadSpec
    seeds: int = 1

    @property
    def key(self) -> str:
        """All that the result depends on, as 32 hexadecimal digits."""
        return hashlib.sha256(repr((REVISION, self.fabric.timed, self.load, self.seeds)).encode()).hexdigest()[:32]

    @property
    def loads(self) -> list[LoadSpec]:
        """The load with each seed."""
        return loads_of(self.load, self.seeds)


def machine_row(machine: Machine) -> Row:
    """Return the columns of a result that say which machine it is of, all that cycles depend on."""
    network = machine.network
    return {"spec": str(network.spec), "nodes": network.num_nodes, **machine.options(timed=True)}


def measure_point(point: Point) -> Row:
    """Measure a point; return its :func:`measurement_row`, and `zero_load_latency`, the mean one of lone messages."""
    model = model_of(point.fabric)
    row = runs_row(model, point.load, measure_runs(model, point.load, point.seeds))
    return row | {"zero_load_latency": zero_load_latency(model, point.load)}


def measure_points(points: Sequence[Point]) -> list[Row]:
    """Measure points of one curve, as :func:`measure_point` does, but several at once."""
    if len(points) == 1:
        return [measure_point(points[0])]
    first, loads = points[0], [load for point in points for load in point.loads]
    model = model_of(first.fabric)
    runs, zero = measure_loads(model, loads, common=first.seeds > 1), zero_load_latency(model, first.load)
    each = [runs[begin : begin + first.seeds] for begin in range(0, len(runs), first.seeds)]
    return [
        runs_row(model, point.load, own) | {"zero_load_latency": zero} for point, own in zip(points, each, strict=True)
    ]


def measure_runs(
    model: FabricModel, load: LoadSpec, seeds: int, progress: Progress = lambda *_: None, *, threads: int = 1
) -> list[Measurement]:
    """Measure a load with one seed, or with several on common random numbers."""
    if seeds == 1:
        return [measure(model, load, threads=threads, progress=progress)]
    return measure_seeds(model, load, seeds, threads=threads, progress=progress)


def runs_row(model: FabricModel, load: LoadSpec, runs: Sequence[Measurement]) -> Row:
    """Return the :func:`measurement_row` of one run, or what several of other seeds say together."""
    row = measurement_row(model, load, runs[0])
    if len(runs) == 1:
        return row
    row |= seeds_row(runs)
    if model.faults is not None:
        row |= {"stranded": sum(run.stranded for run in runs)}
        row |= {"stranded_rate": round(sum(run.stranded_rate for run in runs) / len(runs), 6)}
    speed = model.plan.network.num_nodes * row["cycles"] / sum(run.seconds for run in runs)
    return row | {"router_cycles_per_second": round(speed)}


def measurement_row(model: FabricModel, load: LoadSpec, measured: Measurement) -> Row:
    """Return what the command ``simulate`` prints."""
    faults = {} if model.faults is None else _faults_row(model.faults, measured)
    return {
        **machine_row(model.machine),
        **load_row(replace(load, cycles=measured.interval)),
        **faults,
        "warmup": measured.warmup,
        "steady": measured.steady,
        "note": measured.note,
        "offered_rate": round(measured.offered_rate, 6),
        "accepted_rate": round(measured.accepted_rate, 6),
        "created": measured.created,
        "packets": measured.packets,
        "payload_share": round(measured.payload_share, 6) if measured.packets else None,
        "delivered": measured.delivered,
        "packet_latency": summarize(measured.packet_latency),
        "network_latency": summarize(measured.network_latency),
        "confidence_95": _width(measured.half_width, 3),
        "accepted_confidence_95": _width(measured.accepted_half_width, 6),
        "mean_hops": round(measured.mean_hops, 4) if measured.delivered else None,
        "fairness": round(measured.fairness, 4) if measured.accepted_rate else None,
        "cycles": measured.cycles,
        "seconds": round(measured.seconds, 3),
        "router_cycles_per_second": round(model.plan.network.num_nodes * measured.cycles / measured.seconds),
    }


def _width(half_width: float, decimals: int) -> float | None:
    return None if isinf(half_width) else round(half_width, decimals)


def load_row(load: LoadSpec) -> Row:
    """Return a load as results name it: its cycles are an interval, those of a run are more."""
    row = asdict(load) | {"pattern": str(load.pattern)}  # of data, what names them
    return {"interval" if name == "cycles" else name: row[name] for name in row}


def _faults_row(faults: Faults, measured: Measurement) -> Row:
    return {
        **faults.counts,
        "stranded": measured.stranded,
        "stranded_rate": round(measured.stranded_rate, 6),
    }


def _slowness(row: Row) -> float:
    """Return the mean latency of a point over that at zero load, infinite where it is not steady."""
    if row["steady"] is False:
        return inf
    known = row["packet_latency"] and row["zero_load_latency"]
    return float(row["packet_latency"]["mean"] / row["zero_load_latency"]) if known else 1.0


def _relative_error(row: Row) -> float | None:
    """Return half the width of the interval of a point's mean latency, as a share of it; None if there is none."""
    width = row["confidence_95"]
    return None if width is None else float(width / row["packet_latency"]["mean"])


def saturation_bound_of(machine: Machine) -> float | None:
    """Return the saturation bound under uniform traffic; None if there is none, or it is not known.

    With Valiant's routing either leg is uniform traffic in which nodes send to themselves too. With switches no more is
    known, nor where packets choose.
    """
    found = routing_statistics(machine.plan, intervals=machine.channels.intervals)
    network, bound = machine.network, found.saturation_bound
    if not machine.plan.scheme:
        return bound
    if bound is None or machine.plan.scheme != VALIANT or network.num_terminals < network.num_nodes:
        return None
    return bound / 2 * network.num_nodes / (network.num_nodes - 1)


class _Curve:
    """One machine: which rates to measure next, given what is known.

    Rates that are searched are whole steps, so that none is measured twice.
    """

    def __init__(self, fabric: FabricSpec, load: LoadSpec, rates: Sequence[float] | None, seeds: int) -> None:
        self.fabric, self._load, self._rates, self._seeds = fabric, load, rates, seeds
        self.rows: dict[float, Row] = {}
        self.guessed: dict[float, Row] = {}  # measured, but not asked for so far
        self._asked: set[float] = set()
        machine, self._bound = make_machine(fabric), None
        self.machine = machine_row(machine)
        if load.pattern == "uniform":  # the load of the channels is known for that alone
            self._bound = saturation_bound_of(machine)
        self._note, self._most = machine.buffer_note, min(1.0, self._bound or 1.0, peak_rate(load.injection))
        self._low, self._high = 0, STEPS + 1
        most = replace(load, rate=self._most if rates is None else max(rates))
        most.on(machine.network, fabric.packet_length)  # what cannot be is refused before workers start

    def points(self) -> list[Point]:
        """Return the points that can be measured now and have not been asked for."""
        rates = self._rates if self._rates is not None else self._next_rates()
        new = [rate for rate in dict.fromkeys(rates) if rate not in self._asked]
        self._asked.update(new)
        return [self._point(rate) for rate in new]

    def _point(self, rate: float) -> Point:
        return Point(fabric=self.fabric, load=replace(self._load, rate=rate), seeds=self._seeds)

    def groups(self, points: Sequence[Point], workers: int, *, crowded: bool) -> list[list[Point]]:
        """Return points that can be measured now in groups of those that a worker measures at once.

        The last of a group may be guesses of what a search asks for next, if lanes would be empty without. Rates that
        are given stand alone unless it is `crowded`: then all workers have enough loads for lanes.
        """
        most = max(1, LANES // self._seeds)
        if self._rates is None and len(points) < most:
            steps = (most + 1).bit_length() - 1
            guessed = [self._point(rate) for rate in self._guesses(most - len(points))]
            if guessed and steps * self._seeds >= LEAST_LOADS and self._in_reach([*points, *guessed]):
                return [[*points, *guessed]]
        if not crowded or not self._in_reach(points):
            return [[point] for point in points]
        count = max(-(-len(points) // most), min(workers, len(points) * self._seeds // LEAST_LOADS))
        ends = [len(points) * number // count for number in range(count + 1)]
        return [list(points[begin:end]) for begin, end in pairwise(ends)]

    def _in_reach(self, points: Sequence[Point]) -> bool:
        is_small = self.machine["nodes"] <= MOST_NODES  # else a model is not worth its time
        return is_small and in_reach(model_of(self.fabric), [load for point in points for load in point.loads])

    def _guesses(self, count: int) -> list[float]:
        """Return so many rates, at most, that the search may ask for behind the next one."""
        ends, steps = [(self._low, self._high)], list[int]()
        for low, high in ends:
            middle = (low + high) // 2
            if len(steps) > count or high - low <= max(1, low // CLOSE):
                continue
            steps.append(middle)
            ends += [(low, middle), (middle, high)]
        rates = [self._rate(step) for step in steps[1 : count + 1]]
        return [rate for rate in rates if rate not in self._asked and rate not in self.guessed]

    @property
    def expected(self) -> int:
        """How many points there will be, as far as is known."""
        if self._rates is not None:
            return len(self._rates)
        left = (self._high - self._low) // self._close
        return max(len(self._asked), len(self.rows) + left.bit_length() + len(SHARES) * self._searching)

    def forget(self) -> None:
        """Let what has been asked for but not come be asked for again."""
        self._asked = set(self.rows)

    @property
    def _close(self) -> int:
        """Steps between the ends of the search at which it ends."""
        return max(1, self._low // CLOSE)

    @property
    def _searching(self) -> bool:
        return self._high - self._low > self._close

    @property
    def _middle(self) -> int:
        return (self._low + self._high) // 2

    def _next_rates(self) -> list[float]:
        if self._searching:
            return [self._rate(self._middle)]
        top = self._low or int(STEPS * (self.saturation_throughput[0] or 0) / self._most)
        steps = [step for step in (round(share * top) for share in SHARES) if step]
        rates, near = [self._rate(step) for step in steps], self._rate(top) / CLOSE
        over = self._rate(min(STEPS, ceil(OVERLOAD * top)))
        new = [rate for rate in rates if all(abs(rate - known) >= near for known in self._asked)]
        return new if any(rate >= over for rate in self._asked) else [*new, over]

    def _rate(self, step: int) -> float:
        return float(f"{step * self._most / STEPS:.6g}")

    def add(self, rate: float, row: Row) -> None:
        """Take a result."""
        self.rows[rate] = row
        while self._rates is None and self._searching and self._rate(self._middle) in self.rows:
            if _slowness(self.rows[self._rate(self._middle)]) <= LIMIT:
                self._low = self._middle
            else:
                self._high = self._middle

    @property
    def rate_at_limit(self) -> tuple[float | None, float | None]:
        """The rate at which latency is :data:`LIMIT` times that at zero load, and half the width of its interval.

        There is no rate if it is not between rates measured, and no interval if the mean below it has none. Latency
        grows about as 1 / (c - rate): between two rates, its reciprocal is taken as a line, 0 where latency has no end.
        It is no more than the saturation throughput. The ends of its interval are those at which both means are as far
        off as their intervals allow: one without an interval can be without end, or no more than the limit.
        """
        rates = sorted(self.rows)
        below = [place for place, rate in enumerate(rates) if _slowness(self.rows[rate]) <= LIMIT]
        if not below or below[-1] == len(rates) - 1:
            return None, None
        ends = rates[below[-1] : below[-1] + 2]
        rows = [self.rows[rate] for rate in ends]
        one, other = (1 / _slowness(row) for row in rows)

        def crossing(one: float, other: float) -> float:
            return ends[0] + (ends[1] - ends[0]) * (one - 1 / LIMIT) / (one - other)

        saturation, _ = self.saturation_throughput
        found = crossing(one, other)
        below_error, error = (_relative_error(row) for row in rows)
        if below_error is None:
            return min(found, saturation or found), None
        least = crossing(one * (1 - below_error), 0 if error is None else other * (1 - error))
        most = ends[1] if error is None else crossing(one * (1 + below_error), other * (1 + error))
        return min(found, saturation or found), max(found - least, most - found)

    @property
    def saturation_throughput(self) -> tuple[float | None, float | None]:
        """The most that was accepted at any rate, and half its interval; None if more could be offered and accepted."""
        if all(rate < self._rate(STEPS) and row["steady"] is not False for rate, row in self.rows.items()):
            return None, None
        row = max(self.rows.values(), key=lambda row: row["accepted_rate"])
        return row["accepted_rate"], row["accepted_confidence_95"]

    @property
    def overload_throughput(self) -> tuple[float | None, float | None]:
        """What was accepted at the highest rate that was measured, and half its interval; None if that is steady."""
        row = self.rows[max(self.rows)]
        return (row["accepted_rate"], row["accepted_confidence_95"]) if row["steady"] is False else (None, None)

    @property
    def result(self) -> Row:
        """What :meth:`Sweep.run` returns."""
        rows = [row for _, row in sorted(self.rows.items())]
        found = (self.rate_at_limit, self.saturation_throughput, self.overload_throughput)
        figures = [*zip(FIGURES.items(), found, strict=True)]
        return {
            **{name: rows[0][name] for name in ("spec", "nodes")},
            "pattern": self._load.pattern,
            "zero_load_latency": rows[0]["zero_load_latency"],
            **{name: None if value is None else rounded(value, half) for (name, _), (value, half) in figures},
            **{name: None if half is None else rounded(half, half) for (_, name), (_, half) in figures},
            "saturation_bound": self._bound,
            "note": self._note,
            "points": rows,
        }


def _has_failed(future: Future[list[Row]]) -> bool:
    return future.cancelled() or future.exception() is not None


class Sweep:
    """Load curves of several machines, measured by workers.

    Parameters
    ----------
    fabrics : sequence of FabricSpec
    load : LoadSpec
        Its rate is not used.
    patterns : sequence of str, optional
        In place of that of the load: a curve of each machine for each of them.
    rates : sequence of float or None
        Rates of the curves, flits per node per cycle. If None, they go up to 1, to what the injection process can
        create, or to the bound that the channels set to uniform traffic: those of a bisection for the one at which
        latency is 3 times that at zero load, shares of what was found, and one beyond it.
    own_rates : sequence of sequence of float, optional
        Rates of each machine, in place of rates of all.
    seeds : int
        With how many seeds each point is measured, from the load's own on.
    results : ResultsFile
    say : callable
        Is told what goes on.
    progress : callable
        Is told what is being measured and the share of all points that is done.

    Raises
    ------
    SpecError
        If a machine cannot have a pattern.
    """

    def __init__(
        self,
        fabrics: Sequence[FabricSpec],
        load: LoadSpec,
        *,
        patterns: Sequence[str] = (),
        rates: Sequence[float] | None,
        own_rates: Sequence[Sequence[float]] | None = None,
        seeds: int = 1,
        results: ResultsFile,
        say: Callable[[str], None] = lambda _: None,
        progress: Progress = lambda *_: None,
    ) -> None:
        check_seeds(seeds, load)
        each = [rates] * len(fabrics) if own_rates is None else own_rates
        loads = [replace(load, pattern=pattern) for pattern in patterns or (load.pattern,)]
        pairs = [(one, *pair) for one in loads for pair in zip(fabrics, each, strict=True)]
        self._curves = [_Curve(fabric, one, own, seeds) for one, fabric, own in pairs]
        self._machines = {curve.fabric: curve.machine for curve in self._curves}
        self._several = len(loads) > 1
        self._results, self._say, self._progress, self._measured = results, say, progress, 0

    def run(self, start: Callable[[], AbstractContextManager[Executor]]) -> list[Row]:
        """Measure all curves with the workers that `start` starts.

        Returns
        -------
        list of dict
            A curve each, those of all machines for the first pattern, then those for the next: ``spec``, ``nodes``,
            ``pattern``, ``zero_load_latency``, ``rate_at_3x_latency``,
            ``saturation_throughput`` and ``overload_throughput``, as docs/method.md defines them, each with half
            the width of its interval, ``rate_at_3x_confidence_95`` and so on,
            ``saturation_bound`` of uniform traffic, None of other, ``note``, which is
            :attr:`hdnhw.machine.machine.Machine.buffer_note`, and ``points``, rows of :func:`measure_point` in the
            order of rates.
        """
        for attempt in range(ATTEMPTS):
            try:
                with start() as executor:
                    self._run(executor)
                break
            except BrokenExecutor:
                if attempt == ATTEMPTS - 1:
                    raise
                self._say("a worker has died; its measurements are begun anew")
                for curve in self._curves:
                    curve.forget()
        return [curve.result for curve in self._curves]

    def _run(self, executor: Executor) -> None:
        workers = getattr(executor, "workers", 1)
        running: dict[Future[list[Row]], tuple[_Curve, list[Point], int]] = {}
        ended: Ended[list[Row]] = Ended()
        waiting = list(self._curves)
        while waiting or running:
            unknown = [(curve, points) for curve in waiting if (points := self._unknown(curve))]
            loads = sum(len(point.loads) for _, points in unknown for point in points)
            for curve, asked in unknown:
                for group in curve.groups(asked, workers, crowded=loads >= LEAST_LOADS * workers):
                    future = executor.submit(measure_points, group)
                    running[future] = curve, group, sum(point in asked for point in group)
                    ended.add(future)
            waiting = []
            if not running:
                continue
            self._tell({str(curve.fabric.network): None for curve, *_ in running.values()})
            for future in sorted(ended.wait(), key=_has_failed):  # keep what there is
                curve, group, asked_for = running.pop(future)
                rows = future.result()
                for point, row in zip(group[:asked_for], rows[:asked_for], strict=True):
                    self._take(curve, point, row)
                curve.guessed |= {
                    point.load.rate: row for point, row in zip(group[asked_for:], rows[asked_for:], strict=True)
                }
                waiting.append(curve)

    def _unknown(self, curve: _Curve) -> list[Point]:
        """Return the points that a curve asks for now and nobody has measured; take all others."""
        unknown = list[Point]()
        while points := curve.points():
            for point in points:
                rate = point.load.rate
                row = self._kept(point)
                if row is not None:
                    curve.add(rate, row)
                elif rate in curve.guessed:
                    self._take(curve, point, curve.guessed.pop(rate))
                else:
                    unknown.append(point)
        return unknown

    def _kept(self, point: Point) -> Row | None:
        """Return the row of a point that results have: what is not measured is that of the point, whatever they say."""
        row = self._results.get(point.key)
        if row is None:
            return None
        own = {**self._machines[point.fabric], **load_row(point.load)}
        del own["interval"], own["warmup"]  # which may be found out, and longer for the sake of precision
        wrong = wrong_column(row, point.seeds)
        if wrong is not None:
            raise SpecError(
                f"results must be those of a sweep: {wrong} of {own['spec']} at rate {own['rate']:g} cannot be"
            )
        return {**{name: row[name] for name in row if name in own or name in MEASURED}, **own}

    def _tell(self, specs: Iterable[str]) -> None:
        done = sum(len(curve.rows) for curve in self._curves)
        expected = sum(curve.expected for curve in self._curves)
        self._progress(f"{done} of {expected} points: {', '.join(specs)}", done / expected)

    def _take(self, curve: _Curve, point: Point, row: Row) -> None:
        self._results.add(point.key, row)
        curve.add(point.load.rate, row)
        self._measured += 1
        latency = row["packet_latency"]
        shown = f"latency {latency['mean']:.1f}" if latency else "nothing delivered"
        shown += {True: "", False: ", not steady", None: ", too few cycles to tell"}[row["steady"]]
        rates = f"offered {row['offered_rate']:.4f}, accepted {row['accepted_rate']:.4f}"
        what = f"{row['spec']}, {row['pattern']}" if self._several else row["spec"]
        self._say(f"{self._measured}: {what}, {rates}, {shown}")
