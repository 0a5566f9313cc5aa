"""What is known about packages outside the corpus: interfaces, a few constructors, who calls or returns its argument.

Written in Go, since the parser is there: the interfaces that other people's types most often satisfy, and types whose
methods take functions. Not a copy of the standard library: an unlisted name is external, with its dotted name.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from codekb.parsing.go import parse

SOURCES: dict[str, str] = {
    "bytes": """
type Buffer struct{}
func (b *Buffer) Bytes() []byte
func (b *Buffer) Len() int
func (b *Buffer) Read(p []byte) (int, error)
func (b *Buffer) Reset()
func (b *Buffer) String() string
func (b *Buffer) Write(p []byte) (int, error)
func (b *Buffer) WriteByte(c byte) error
func (b *Buffer) WriteString(s string) (int, error)
func NewBuffer(b []byte) *Buffer
func NewBufferString(s string) *Buffer
""",
    "context": """
import "time"
type Context interface {
	Deadline() (time.Time, bool)
	Done() <-chan struct{}
	Err() error
	Value(key any) any
}
type CancelFunc func()
func Background() Context
func TODO() Context
func WithValue(parent Context, key, value any) Context
""",
    "container/heap": """
import "sort"
type Interface interface {
	sort.Interface
	Push(x any)
	Pop() any
}
""",
    "database/sql": """
type Scanner interface { Scan(src any) error }
type Result interface { LastInsertId() (int64, error); RowsAffected() (int64, error) }
""",
    "database/sql/driver": """
type Valuer interface { Value() (Value, error) }
type Driver interface { Open(name string) (Conn, error) }
""",
    "encoding": """
type BinaryMarshaler interface { MarshalBinary() ([]byte, error) }
type BinaryUnmarshaler interface { UnmarshalBinary(data []byte) error }
type TextMarshaler interface { MarshalText() ([]byte, error) }
type TextUnmarshaler interface { UnmarshalText(text []byte) error }
""",
    "encoding/json": """
type Marshaler interface { MarshalJSON() ([]byte, error) }
type Unmarshaler interface { UnmarshalJSON(data []byte) error }
""",
    "flag": """
type Value interface { String() string; Set(value string) error }
type Getter interface { Value; Get() any }
type FlagSet struct{}
func NewFlagSet(name string, handling ErrorHandling) *FlagSet
""",
    "fmt": """
type Stringer interface { String() string }
type GoStringer interface { GoString() string }
type State interface { Write(b []byte) (int, error); Width() (int, bool); Precision() (int, bool); Flag(c int) bool }
type Formatter interface { Format(f State, verb rune) }
type Scanner interface { Scan(state ScanState, verb rune) error }
""",
    "hash": """
import "io"
type Hash interface {
	io.Writer
	Sum(b []byte) []byte
	Reset()
	Size() int
	BlockSize() int
}
type Hash32 interface { Hash; Sum32() uint32 }
type Hash64 interface { Hash; Sum64() uint64 }
""",
    "io": """
type Reader interface { Read(p []byte) (int, error) }
type Writer interface { Write(p []byte) (int, error) }
type Closer interface { Close() error }
type Seeker interface { Seek(offset int64, whence int) (int64, error) }
type ReadWriter interface { Reader; Writer }
type ReadCloser interface { Reader; Closer }
type WriteCloser interface { Writer; Closer }
type ReadWriteCloser interface { Reader; Writer; Closer }
type ReadSeeker interface { Reader; Seeker }
type ReadSeekCloser interface { Reader; Seeker; Closer }
type WriteSeeker interface { Writer; Seeker }
type ReaderAt interface { ReadAt(p []byte, off int64) (int, error) }
type WriterAt interface { WriteAt(p []byte, off int64) (int, error) }
type ReaderFrom interface { ReadFrom(r Reader) (int64, error) }
type WriterTo interface { WriteTo(w Writer) (int64, error) }
type ByteReader interface { ReadByte() (byte, error) }
type ByteWriter interface { WriteByte(c byte) error }
type ByteScanner interface { ByteReader; UnreadByte() error }
type RuneReader interface { ReadRune() (rune, int, error) }
type RuneScanner interface { RuneReader; UnreadRune() error }
type StringWriter interface { WriteString(s string) (int, error) }
""",
    "io/fs": """
import "time"
type FS interface { Open(name string) (File, error) }
type File interface { Stat() (FileInfo, error); Read(p []byte) (int, error); Close() error }
type FileInfo interface {
	Name() string
	Size() int64
	Mode() FileMode
	ModTime() time.Time
	IsDir() bool
	Sys() any
}
type DirEntry interface { Name() string; IsDir() bool; Type() FileMode; Info() (FileInfo, error) }
""",
    "log/slog": """
import "context"
type Handler interface {
	Enabled(ctx context.Context, level Level) bool
	Handle(ctx context.Context, r Record) error
	WithAttrs(attrs []Attr) Handler
	WithGroup(name string) Handler
}
""",
    "math/rand": """
type Source interface { Int63() int64; Seed(seed int64) }
""",
    "net": """
import "time"
type Addr interface { Network() string; String() string }
type Conn interface {
	Read(b []byte) (int, error)
	Write(b []byte) (int, error)
	Close() error
	LocalAddr() Addr
	RemoteAddr() Addr
	SetDeadline(t time.Time) error
	SetReadDeadline(t time.Time) error
	SetWriteDeadline(t time.Time) error
}
type Listener interface { Accept() (Conn, error); Close() error; Addr() Addr }
type Error interface { error; Timeout() bool; Temporary() bool }
func Listen(network, address string) (Listener, error)
func Dial(network, address string) (Conn, error)
""",
    "net/http": """
import (
	"bufio"
	"net"
	"net/url"
)
type Handler interface { ServeHTTP(w ResponseWriter, r *Request) }
type HandlerFunc func(w ResponseWriter, r *Request)
func (f HandlerFunc) ServeHTTP(w ResponseWriter, r *Request)
type ResponseWriter interface { Header() Header; Write(b []byte) (int, error); WriteHeader(status int) }
type RoundTripper interface { RoundTrip(r *Request) (*Response, error) }
type Flusher interface { Flush() }
type CloseNotifier interface { CloseNotify() <-chan bool }
type Hijacker interface { Hijack() (net.Conn, *bufio.ReadWriter, error) }
type Pusher interface { Push(target string, opts *PushOptions) error }
type FileSystem interface { Open(name string) (File, error) }
type CookieJar interface { SetCookies(u *url.URL, cookies []*Cookie); Cookies(u *url.URL) []*Cookie }
type ServeMux struct{}
func NewServeMux() *ServeMux
""",
    "os": """
import "io/fs"
type FileInfo = fs.FileInfo
type DirEntry = fs.DirEntry
type Signal interface { String() string; Signal() }
""",
    "sort": """
type Interface interface { Len() int; Less(i, j int) bool; Swap(i, j int) }
""",
    "strings": """
type Builder struct{}
func (b *Builder) Len() int
func (b *Builder) Reset()
func (b *Builder) String() string
func (b *Builder) Write(p []byte) (int, error)
func (b *Builder) WriteByte(c byte) error
func (b *Builder) WriteRune(r rune) (int, error)
func (b *Builder) WriteString(s string) (int, error)
""",
    "sync": """
type Locker interface { Lock(); Unlock() }
type Mutex struct{}
func (m *Mutex) Lock()
func (m *Mutex) TryLock() bool
func (m *Mutex) Unlock()
type RWMutex struct{}
func (m *RWMutex) Lock()
func (m *RWMutex) Unlock()
func (m *RWMutex) RLock()
func (m *RWMutex) RUnlock()
type Once struct{}
func (o *Once) Do(f func())
type WaitGroup struct{}
func (w *WaitGroup) Add(delta int)
func (w *WaitGroup) Done()
func (w *WaitGroup) Wait()
func (w *WaitGroup) Go(f func())
func OnceFunc(f func()) func()
func OnceValue[T any](f func() T) func() T
""",
    "sync/atomic": """
type Pointer[T any] struct{}
func (p *Pointer[T]) Load() *T
func (p *Pointer[T]) Store(value *T)
func (p *Pointer[T]) Swap(value *T) *T
""",
    "time": """
type Duration int64
""",
}  # fmt: skip
"""Import path → Go declarations, without the package clause."""


def library_facts(imported: Iterable[str]) -> list[tuple[str, Any]]:
    """(path, facts) of the known packages among the imports and of those they import, by path."""
    wanted, stack = set(), sorted(set(imported) & SOURCES.keys())
    while stack:
        path = stack.pop()
        if path in SOURCES and path not in wanted:
            wanted.add(path)
            stack += [target for _, target, _ in _facts(path)["imports"]]
    return [(f"{path}/library.go", _facts(path)) for path in sorted(wanted)]


@lru_cache(maxsize=len(SOURCES))
def _facts(path: str) -> Any:
    name = path.rpartition("/")[2]
    return parse(f"{path}/library.go", f"package {name}\n{SOURCES[path]}").facts
