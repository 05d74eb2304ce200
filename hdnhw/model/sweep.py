"""Many measurements: points of a load curve, and the search for saturation."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from math import isinf

from hdnhw.machine import Machine
from hdnhw.model.fabric import FabricModel, model_of
from hdnhw.model.measure import LoadSpec, Measurement, Progress, measure, summarise
from hdnhw.model.results import ResultsFile, Row
from hdnhw.processes import Ended
from hdnhw.routing.statistics import routing_statistics
from hdnhw.spec import FabricSpec
from hdnhw.topology.faults import Faults
from hdnhw.topology.network import build
from hdnhw.traffic.patterns import parse_pattern

__all__ = ["Point", "Row", "Sweep", "load_row", "machine_row", "measure_point", "measurement_row"]

REVISION = 3
"""Of what a row means: rows of another one are measured anew."""

STEPS = 64
"""Rates between 0 and the bound among which saturation is searched."""

SHARES = (0.1, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Of the saturation rate: the loads of a curve whose rates are not given."""

ATTEMPTS = 3
"""How often a pool of workers is started anew when one has died."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """A machine and a load on it."""

    fabric: FabricSpec
    load: LoadSpec

    @property
    def key(self) -> str:
        """All that the result depends on, as 32 hexadecimal digits."""
        return hashlib.sha256(repr((REVISION, self.fabric.timed, self.load)).encode()).hexdigest()[:32]


def machine_row(machine: Machine) -> Row:
    """Return the columns of a result that say which machine it is of, all that cycles depend on."""
    network = machine.network
    return {"spec": str(network.spec), "nodes": network.num_nodes, **machine.options(timed=True)}


def measure_point(point: Point, progress: Progress = lambda *_: None) -> Row:
    """Measure a point and return its :func:`measurement_row`; `progress` is that of the measurement."""
    model = model_of(point.fabric)
    return measurement_row(model, point.load, measure(model, point.load, progress=progress))


def measurement_row(model: FabricModel, load: LoadSpec, measured: Measurement) -> Row:
    """Return what the command ``simulate`` prints."""
    faults = {} if model.faults is None else _faults_row(model.faults, measured)
    return {
        **machine_row(model.machine),
        **load_row(load),
        **faults,
        "warmup": measured.warmup,
        "steady": measured.steady,
        "offered_rate": round(measured.offered_rate, 6),
        "accepted_rate": round(measured.accepted_rate, 6),
        "saturated": measured.saturated,
        "created": measured.created,
        "packets": measured.packets,
        "payload_share": round(measured.payload_share, 6) if measured.packets else None,
        "delivered": measured.delivered,
        "packet_latency": summarise(measured.packet_latency),
        "network_latency": summarise(measured.network_latency),
        "confidence_95": None if isinf(measured.half_width) else round(measured.half_width, 3),
        "mean_hops": round(measured.mean_hops, 4) if measured.delivered else None,
        "fairness": round(measured.fairness, 4) if measured.accepted_rate else None,
        "cycles": measured.cycles,
        "seconds": round(measured.seconds, 3),
        "router_cycles_per_second": round(model.plan.network.num_nodes * measured.cycles / measured.seconds),
    }


def load_row(load: LoadSpec) -> Row:
    """Return a load as results name it: its cycles are an interval, those of a run are more."""
    row = asdict(load)
    return {"interval" if name == "cycles" else name: row[name] for name in row}


def _faults_row(faults: Faults, measured: Measurement) -> Row:
    return {
        **faults.counts,
        "stranded": measured.stranded,
        "stranded_rate": round(measured.stranded_rate, 6),
    }


class _Curve:
    """One machine: which rates to measure next, given what is known."""

    def __init__(self, fabric: FabricSpec, load: LoadSpec, rates: Sequence[float] | None) -> None:
        self.fabric, self._load, self._rates = fabric, load, rates
        self.rows: dict[float, Row] = {}
        self._asked: set[float] = set()
        bound = None
        parse_pattern(load.pattern, build(fabric.network))  # what cannot be is refused before workers start
        if rates is None and load.pattern == "uniform":  # the load of the channels is known for that alone
            bound = routing_statistics(model_of(fabric).plan).saturation_bound
        self._step, self._low, self._high = min(1.0, bound or 1.0) / STEPS, 0, STEPS + 1

    def points(self) -> list[Point]:
        """Return the points that can be measured now and have not been asked for."""
        rates = self._rates if self._rates is not None else self._next_rates()
        new = [rate for rate in rates if rate not in self._asked]
        self._asked.update(new)
        return [Point(fabric=self.fabric, load=replace(self._load, rate=rate)) for rate in new]

    @property
    def expected(self) -> int:
        """How many points there will be, as far as is known."""
        left = self._high - self._low
        if self._rates is not None or left <= 1:
            return len(self._asked)
        return len(self.rows) + (left - 1).bit_length() + len(SHARES)

    def forget(self) -> None:
        """Let what has been asked for but not come be asked for again."""
        self._asked = set(self.rows)

    def _next_rates(self) -> list[float]:
        if self._high - self._low > 1:
            return [self._rate((self._low + self._high) // 2)]
        return [round(share * self._rate(self._low), 6) for share in SHARES] if self._low else []

    def _rate(self, step: int) -> float:
        return round(step * self._step, 6)

    def add(self, rate: float, row: Row) -> None:
        """Take a result."""
        self.rows[rate] = row
        while self._rates is None and self._high - self._low > 1:
            middle = (self._low + self._high) // 2
            if self._rate(middle) not in self.rows:
                break
            if self.rows[self._rate(middle)]["saturated"]:
                self._high = middle
            else:
                self._low = middle

    @property
    def saturation_rate(self) -> float | None:
        """The highest rate below the lowest saturated one at which the load was accepted; None if none was."""
        saturated = [rate for rate, row in self.rows.items() if row["saturated"]]
        accepted = [rate for rate in self.rows if not saturated or rate < min(saturated)]
        return max(accepted, default=None)


def _has_failed(future: Future[Row]) -> bool:
    return future.cancelled() or future.exception() is not None


class Sweep:
    """Load curves of several machines, measured by workers.

    Parameters
    ----------
    fabrics : sequence of FabricSpec
    load : LoadSpec
        Its rate is not used.
    rates : sequence of float or None
        Rates of the curves, flits a node and cycle. If None, saturation is searched by bisection among 64 rates up to
        1, or of uniform traffic up to the bound that the channels set to it, and the curve has shares of it.
    results : ResultsFile
    say : callable
        Is told what goes on.
    progress : callable
        Is told what is being measured and the share of all points that is done.

    Raises
    ------
    SpecError
        If a machine cannot have the load's pattern.
    """

    def __init__(
        self,
        fabrics: Sequence[FabricSpec],
        load: LoadSpec,
        *,
        rates: Sequence[float] | None,
        results: ResultsFile,
        say: Callable[[str], None] = lambda _: None,
        progress: Progress = lambda *_: None,
    ) -> None:
        self._curves = [_Curve(fabric, load, rates) for fabric in fabrics]
        self._results, self._say, self._progress, self._measured = results, say, progress, 0

    def run(self, start: Callable[[], AbstractContextManager[Executor]]) -> list[Row]:
        """Measure all curves with the workers that `start` starts.

        Returns
        -------
        list of dict
            A curve each: ``spec``, ``nodes``, ``saturation_rate`` and ``points``, rows of :func:`measure_point` in the
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
        return [self._result(curve) for curve in self._curves]

    def _run(self, executor: Executor) -> None:
        running: dict[Future[Row], tuple[_Curve, Point]] = {}
        ended: Ended[Row] = Ended()
        waiting = [(curve, point) for curve in self._curves for point in curve.points()]
        while waiting or running:
            while waiting:
                curve, point = waiting.pop(0)
                row = self._results.get(point.key)
                if row is None:
                    future = executor.submit(measure_point, point)
                    running[future] = curve, point
                    ended.add(future)
                    continue
                curve.add(point.load.rate, row)
                waiting += [(curve, new) for new in curve.points()]
            if not running:
                continue
            self._tell({str(curve.fabric.network): None for curve, _ in running.values()})
            for future in sorted(ended.wait(), key=_has_failed):  # keep what there is
                curve, point = running.pop(future)
                self._take(curve, point, future.result())
                waiting += [(curve, new) for new in curve.points()]

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
        shown = "saturated" if row["saturated"] else shown
        rates = f"offered {row['offered_rate']:.4f}, accepted {row['accepted_rate']:.4f}"
        self._say(f"{self._measured}: {row['spec']}, {rates}, {shown}")

    def _result(self, curve: _Curve) -> Row:
        rows = [row for _, row in sorted(curve.rows.items())]
        return {
            "spec": rows[0]["spec"],
            "nodes": rows[0]["nodes"],
            "saturation_rate": curve.saturation_rate,
            "points": rows,
        }
