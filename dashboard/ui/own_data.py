"""A visitor's own file: kept in the session, in memory, and gone with it."""

from collections import deque
from dataclasses import dataclass, field, replace
from threading import Lock
from weakref import WeakSet

from dashboard.compute.counting import Curve
from dashboard.compute.fits import FileRead, Fitted, ReadRequest
from dashboard.compute.jobs import Job
from dashboard.model.analysis import HeldFile, HeldRecording, ReadOptions
from dashboard.server.uploads import Grant
from rhmm.reading import Report, WrongFileError
from rhmm.reading.spaces import SIGNAL

MOST_MEGABYTES = 52
"""Of a file. A browser counts 10⁶ bytes in each, and 2²⁰ on Windows; the engine reads 50 · 2²⁰
bytes, which is 52.4 MB: 100,000 matrices of 8 × 8 in doubles are 51.2 MB."""
_AROUND_A_FILE = 10_000
"""Bytes that a request has besides the file in it."""
MOST_BYTES = MOST_MEGABYTES * 2**20 + _AROUND_A_FILE
MOST_OF_ALL = 1_000_000_000
"""Bytes of all visitors' files and what was read from them: the memory of the server is shared."""
_FULL = "the server holds as many files as it can: try again in a few minutes"
_RECENT = 6
"""Results that a visitor can come back to without waiting."""


_everyone: WeakSet["OwnData"] = WeakSet()
_counting = Lock()
"""A set cannot be gone over while another visitor comes in."""


@dataclass(eq=False)
class OwnData:
    """The file that was given last, and the last one that could be read.

    Both differ while something is wrong with the new file: the page then shows the old one.
    """

    file: HeldFile | None = None
    options: ReadOptions = field(default_factory=ReadOptions)
    names: tuple[str, ...] = ()
    """Columns or arrays of the file."""
    report: Report | None = None
    """What was detected in the file when it could last be read."""
    problem: WrongFileError | None = None
    """What is wrong with the file under these options."""
    held: HeldRecording | None = None
    """The recording that is shown."""
    online: HeldRecording | None = None
    """As much of it as other pages learn online; None if it is too short."""
    read: ReadRequest | None = None
    """What was read last, well or not."""
    curve: tuple[tuple, Curve] | None = None
    """What was said of the numbers of states, and of what (`FitRequest.data`)."""
    uploads: int = 0
    """Files that were taken: each leaves an empty uploader behind."""
    grant: Grant | None = None
    """Lets this visitor send files, while the page with the uploader is open."""
    recent: deque[Job] = field(default_factory=lambda: deque(maxlen=_RECENT))
    """The latest jobs that no queue keeps, so that the visitor can come back to their results."""
    timeline: tuple[int, int] = (1, 300)

    def __post_init__(self) -> None:
        with _counting:
            _everyone.add(self)

    @property
    def nbytes(self) -> int:
        """Of the file and the recording."""
        file = 0 if self.file is None else len(self.file.content)
        return file + (0 if self.held is None else self.held.recording.points.nbytes)

    def take(self, name: str, content: bytes) -> None:
        """Another file, of which nothing is known yet; an empty one if the server is full."""
        with _counting:
            held = sum(data.nbytes for data in _everyone)
        is_full = held + len(content) > MOST_OF_ALL
        self.file, self.options = HeldFile.of(name, b"" if is_full else content), ReadOptions()
        self.names, self.report, self.problem, self.read = (), None, None, None
        self.uploads += 1
        if is_full:
            self.problem, self.read = WrongFileError(_FULL), ReadRequest(self.file, self.options)

    def remove(self) -> None:
        """Forget the file and all that was made of it."""
        fresh = OwnData(uploads=self.uploads + 1, grant=self.grant)
        self.__dict__.update(fresh.__dict__)

    def say(self, **options) -> None:
        """Another way to read the file."""
        self.options = self.options._replace(**options)

    @property
    def to_read(self) -> ReadRequest | None:
        """The file, if it has not been read in this way."""
        if self.file is None:
            return None
        wanted = ReadRequest(self.file, self.options)
        return None if wanted == self.read else wanted

    def accept(self, request: ReadRequest, found: FileRead) -> None:
        """Keep what came of a file. What was shown stays if the file cannot be read."""
        self.read, self.problem = request, found.problem
        self.names = found.names or self.names
        if found.reading is not None:
            recording, self.report = found.reading
            self.recent.clear()  # they hold what was read before
            channels = self.report.columns if self.report.layout == SIGNAL else ()
            # the file itself need not travel with the observations
            key = (replace(request.file, content=b""), request.options)
            self.held = HeldRecording(key, recording, channels)
            self.online = self.held.learned_online()

    def keep(self, job: Job) -> None:
        """Keep a finished job, unless it holds a whole file."""
        if job not in self.recent and not isinstance(job.request, ReadRequest):
            self.recent.append(job)

    def compare_counts(self, fitted: Fitted) -> None:
        """Keep what was said of the numbers of states."""
        if fitted.curve is not None:
            of, known = fitted.request.data, self.curve
            knows_more = (
                known and known[0] == of and known[1].values.keys() > fitted.curve.values.keys()
            )
            if not knows_more:
                self.curve = (of, fitted.curve)
