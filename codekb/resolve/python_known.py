"""Tables: which builtins and library functions call their arguments, give them back or collect them. Data only."""

from __future__ import annotations

CALLED_WITH_REST = {
    "asyncio.to_thread": 0, "atexit.register": 0, "threading.Timer": 1, "weakref.finalize": 1, "submit": 0,
    "run_in_executor": 1, "call_soon": 0, "call_soon_threadsafe": 0, "call_later": 1, "call_at": 1, "callback": 0,
    "apply": 0, "apply_async": 0, "run_sync": 0, "start_soon": 0, "contextvars.Context.run": 0, "call_in_thread": 0,
}  # fmt: skip
"""Library functions that call the argument at this position with the arguments after it. Bare names are methods."""
CALLED_ALONE = {
    "signal.signal": 1, "weakref.ref": 1, "weakref.WeakMethod": 1, "add_done_callback": 0, "sys.settrace": 0,
    "sys.setprofile": 0, "timeit.timeit": 0, "timeit.repeat": 0, "re.sub": 1, "re.subn": 1, "add_signal_handler": 1,
    "re.Pattern.sub": 0, "re.Pattern.subn": 0,
    "functools.cmp_to_key": 0, "threading.settrace": 0,
}  # fmt: skip
PARAMETER = {"re.sub": "repl", "re.subn": "repl", "re.Pattern.sub": "repl", "re.Pattern.subn": "repl"}
"""The name of that parameter, where it is often given by name."""
CALLED_ON_ELEMENTS = {
    "builtins.filter": (0, 1), "itertools.takewhile": (0, 1), "itertools.dropwhile": (0, 1),
    "itertools.filterfalse": (0, 1), "itertools.groupby": (1, 0), "itertools.accumulate": (1, 0),
}  # fmt: skip
"""(position of the function, position of the iterable); the result holds the elements."""
MAPPED = frozenset({"builtins.map", "itertools.starmap", "map", "imap", "imap_unordered", "starmap", "map_async"})
KEYED = frozenset(
    {"builtins.sorted", "builtins.min", "builtins.max", "heapq.nlargest", "heapq.nsmallest", "heapq.merge",
     "bisect.insort",
     "bisect.bisect", "bisect.bisect_left", "bisect.bisect_right", "builtins.list.sort"}
)  # fmt: skip
SAME = frozenset(
    {"copy.copy", "copy.deepcopy", "dataclasses.replace", "asyncio.create_task", "asyncio.ensure_future", "asyncio.run",
     "asyncio.wait_for", "asyncio.shield", "asyncio.run_coroutine_threadsafe", "contextlib.closing",
     "contextlib.aclosing",
     "functools.lru_cache", "functools.cache", "functools.singledispatch", "functools.update_wrapper",
     "builtins.reversed",
     "functools.total_ordering", "types.coroutine", "abc.abstractmethod", "typing.final", "typing.no_type_check",
     "itertools.islice", "itertools.cycle", "enter_context", "enter_async_context", "weakref.proxy",
     "contextlib.contextmanager", "contextlib.asynccontextmanager", "atexit.register", "typing.runtime_checkable",
     "warnings.deprecated", "unittest.skip", "dataclasses.dataclass"}
)  # fmt: skip
"""Library functions that give back their first argument, or what behaves like it."""
COLLECTING = frozenset(
    {"builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset", "collections.deque", "builtins.iter",
     "builtins.aiter", "builtins.sum", "builtins.any", "builtins.all", "collections.UserList", "queue.Queue",
     "builtins.enumerate", "builtins.zip"}
)  # fmt: skip
RETURNED = {
    "asyncio.get_running_loop": "asyncio.AbstractEventLoop", "asyncio.get_event_loop": "asyncio.AbstractEventLoop",
    "asyncio.new_event_loop": "asyncio.AbstractEventLoop", "logging.getLogger": "logging.Logger",
    "re.compile": "re.Pattern", "multiprocessing.get_context": "multiprocessing.context.BaseContext",
    "subprocess.run": "subprocess.CompletedProcess", "argparse.ArgumentParser.parse_args": "argparse.Namespace",
}  # fmt: skip
"""Library functions that make an object of a class that is worth knowing."""
DICTS = frozenset({"builtins.dict", "collections.OrderedDict", "types.MappingProxyType", "collections.ChainMap"})
THREADS = frozenset({"threading.Thread", "multiprocessing.Process", "multiprocessing.context.Process"})
