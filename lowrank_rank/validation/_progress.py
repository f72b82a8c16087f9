"""Lines of progress of long loops, at most one a second, with the time left."""

from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter

#: Receives the fraction of a fit inside another one that is done; None outside.
_outer: ContextVar = ContextVar("outer", default=None)
#: The `Progress` of several fits; None outside.
_whole: ContextVar = ContextVar("whole", default=None)


class Progress:
    """Work in steps of several kinds; prints lines of progress.

    The steps of a kind take time in proportion to their size. There is no time left
    until each kind has begun.

    Parameters
    ----------
    name : str or None
        Begins each line; None prints nothing.
    sizes : dict of str to float
        Size of all steps of each kind. One kind is counted: ``{"rounds": 300}``.
    clock : callable, default=time.perf_counter
        Returns seconds.
    file : file or None, default=None
        None is standard output.
    """

    def __init__(self, name, sizes, clock=perf_counter, file=None):
        self.name = name
        self.sizes = dict(sizes)
        self.clock = clock
        self.file = file
        self.report = _outer.get()
        self.done = dict.fromkeys(sizes, 0.0)
        self.seconds = dict.fromkeys(sizes, 0.0)
        self.last_time = clock()
        self.last_line = self.last_time
        self.has_told = False

    def skip_time(self):
        """Leave the time until now out of all kinds."""
        self.last_time = self.clock()

    def advance(self, kind, size=1.0, doing=""):
        """Say that a step, or a part of it, is done."""
        now = self.clock()
        self.done[kind] += size
        self.seconds[kind] += now - self.last_time
        self.last_time = now
        if self.report is not None:
            self.report(self.fraction())
        if self.name is not None and now - self.last_line >= 1.0:
            self.tell(f"[{self.name}] {self.line(doing)}")

    def tell(self, line):
        """Print a line, unless the last one is less than a second old."""
        now = self.clock()
        if not self.has_told or now - self.last_line >= 1.0:
            self.has_told = True
            self.last_line = now
            print(line, flush=True, file=self.file)

    def fraction(self):
        """Return the fraction of all steps that is done, by size."""
        return min(1.0, sum(self.done.values()) / sum(self.sizes.values()))

    def seconds_left(self):
        """Estimate the seconds of the other steps; None if a kind has not begun."""
        left = 0.0
        for kind, size in self.sizes.items():
            if self.done[kind] >= size:
                continue
            if self.done[kind] < 1:
                return None
            # seconds so far / size so far * size left
            rate = self.seconds[kind] / self.done[kind]
            left += rate * (size - self.done[kind])
        return left

    def line(self, doing=""):
        """Return the text of a line."""
        left = self.seconds_left()
        time_left = "" if left is None else f", {duration(left)} left"
        if len(self.sizes) == 1:
            ((kind, size),) = self.sizes.items()
            return f"{doing}{self.done[kind]:.0f} of {size:.0f} {kind}{time_left}"
        if left is None:
            return f"{doing}{duration(sum(self.seconds.values()))} so far"
        spent = sum(self.seconds.values())
        return f"{doing}{100 * spent / (spent + left):.0f} % done{time_left}"


def duration(seconds):
    """Return a number of seconds as text."""
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


@contextmanager
def following(progress):
    """Make a `Progress`, or None, that fits inside report to, in this process."""
    token = _whole.set(progress)
    try:
        yield
    finally:
        _whole.reset(token)


@contextmanager
def following_fit(kind, size, line=None):
    """Count a fit inside for the `Progress` that `following` set, if any.

    A `Progress` of the fit itself counts parts of it. `line` says which fit begins; in
    another process it is printed as it is.
    """
    whole = _whole.get()
    if whole is None:
        if line:
            print(line, flush=True)
        yield
        return
    whole.skip_time()
    if line:
        whole.tell(line)
    doing = f"{line.partition('] ')[2] if line else kind}: "
    counted_so_far = 0.0

    def report(fraction):
        nonlocal counted_so_far
        if fraction > counted_so_far:
            step = (fraction - counted_so_far) * size
            counted_so_far = fraction
            whole.advance(kind, step, doing)

    # Fits inside this one report to it, and not to the whole.
    whole_token = _whole.set(None)
    outer_token = _outer.set(report)
    try:
        yield
    finally:
        _outer.reset(outer_token)
        _whole.reset(whole_token)
    report(1.0)


def counted(steps, name, kind, file=None):
    """Yield the steps of a loop, with lines of progress.

    Parameters
    ----------
    steps : sequence
    name : str or None
        As in `Progress`.
    kind : str
        What the steps are, in the plural.
    file : file or None, default=None
        As in `Progress`.
    """
    progress = Progress(name, {kind: len(steps)}, file=file)
    for step in steps:
        yield step
        progress.advance(kind)
