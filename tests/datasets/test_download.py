"""Downloads, against a server on this machine that misbehaves on request."""

import gzip
import hashlib
import logging
import random
import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from colabel.datasets import _download, _http, _registry, fetch, find
from colabel.datasets._registry import DataFile, DatasetInfo
from colabel.exceptions import DataFormatError, DatasetNotFoundError, MissingExtraError

pytest.importorskip("pooch")

CONTENT = {
    "toy.arff": random.Random(0).randbytes(256_014),
    "toy.xml": b"<labels/>\n",
}


class Server(ThreadingHTTPServer):
    """Serves ``files`` by path; ``requests`` lists (path, Range header) in order."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = {}
        self.requests = []
        self.ranges = True
        self.cuts = 0  # how many answers still to cut in the middle
        self.cut_at = 98_304
        self.lock = threading.Lock()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def paths(self):
        return [path for path, _ in self.requests]


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_GET(self):
        server, wanted = self.server, self.headers.get("Range")
        with server.lock:
            server.requests.append((self.path, wanted))
        body = server.files.get(self.path)
        if body == "redirect":
            self.send_response(302)
            self.send_header("Location", self.path)
            self.end_headers()
            return
        if body is None:
            self.send_error(404)
            return
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and server.ranges else 0
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        with server.lock:
            cut, server.cuts = server.cuts > 0, max(0, server.cuts - 1)
        self.wfile.write(body[start : start + server.cut_at] if cut else body[start:])


@pytest.fixture
def server():
    with Server() as running:
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        yield running
        running.shutdown()


@pytest.fixture
def other(server):
    with Server() as running:
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        yield running
        running.shutdown()


def data_file(name, urls=()):
    content = CONTENT[name]
    return DataFile(name, len(content), hashlib.sha256(content).hexdigest(), None, tuple(urls))


def toy(**urls):
    files = tuple(data_file(name, urls.get(name.replace(".", "_"), ())) for name in CONTENT)
    return DatasetInfo(
        name="toy",
        domain="test",
        n_samples=1,
        n_features=1,
        n_labels=1,
        cardinality=1.0,
        n_labelsets=1,
        files=files,
        all=("toy.arff",),
        train=(),
        test=(),
        rows={},
        n_train=None,
        n_test=None,
        citation_key="toy",
        citation="Toy.",
        folder="Toy-folder",
        labels=None,
        xml="toy.xml",
        shipped=False,
        partial=False,
        notes="",
    )


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Register ``toy`` and keep downloads in a folder of the test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("COLABEL_CACHE", str(folder))
    monkeypatch.delenv("COLABEL_DATA", raising=False)
    monkeypatch.delenv("COLABEL_MIRRORS", raising=False)
    for proxy in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
    register(monkeypatch, toy())
    return folder


def register(monkeypatch, info):
    monkeypatch.setattr(_registry, "_table", lambda: {info.name: info})


def serve(server, folder="toy", pack=False, files=CONTENT):
    for name, content in files.items():
        path = f"/{folder}/{name}" + (".gz" if pack else "")
        server.files[path] = gzip.compress(content) if pack else content


def files_in(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("pack", [False, True])
@pytest.mark.parametrize("folder", ["toy", "Toy-folder"])
def test_files_are_fetched_plain_or_packed_and_then_found(server, cache, pack, folder):
    serve(server, folder, pack)
    assert find("toy") is None
    paths = fetch("toy", mirrors=[server.url + "/"])
    assert {name: path.read_bytes() for name, path in paths.items()} == CONTENT
    assert find("toy") == paths
    assert files_in(cache) == ["toy.arff", "toy.xml"]
    asked = len(server.requests)
    assert fetch("toy", mirrors=[server.url]) == paths
    assert len(server.requests) == asked


def test_registered_addresses_and_those_of_the_environment_are_used(server, cache, monkeypatch):
    serve(server, "elsewhere")
    urls = {
        name.replace(".", "_"): ("http://127.0.0.1:9/gone", f"{server.url}/elsewhere/{name}")
        for name in CONTENT
    }
    register(monkeypatch, toy(**urls))
    fetch("toy")
    assert server.paths() == ["/elsewhere/toy.arff", "/elsewhere/toy.xml"]
    register(monkeypatch, toy())
    for path in cache.rglob("toy.*"):
        path.unlink()
    serve(server)
    monkeypatch.setenv("COLABEL_MIRRORS", f"http://127.0.0.1:9 {server.url}")
    assert find("toy") is None
    fetch("toy")
    assert server.paths()[2:] == ["/toy/toy.arff", "/toy/toy.xml"]


WRONG = {"other": b"another file", "empty": b"", "packed": gzip.compress(b"x" * 10)}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_wrong_content_on_the_first_mirror_leads_to_the_next(server, other, cache, wrong):
    serve(server, files=dict.fromkeys(CONTENT, wrong))
    serve(other)
    paths = fetch("toy", mirrors=[server.url, other.url])
    assert {name: path.read_bytes() for name, path in paths.items()} == CONTENT
    assert "/toy/toy.arff" in server.paths()
    assert other.paths() == ["/toy/toy.arff", "/toy/toy.xml"]


def test_wrong_content_everywhere_is_an_error_and_leaves_no_file(server, other, cache):
    for mirror in (server, other):
        serve(mirror, files=dict.fromkeys(CONTENT, b"wrong"))
    with pytest.raises(DatasetNotFoundError, match="wrong SHA-256") as caught:
        fetch("toy", mirrors=[server.url, other.url])
    assert server.url in str(caught.value)
    assert other.url in str(caught.value)
    assert "\n" not in str(caught.value)
    assert files_in(cache) == []
    assert find("toy") is None


def test_cut_connection_is_resumed_from_where_it_stopped(server, cache):
    serve(server)
    server.cuts = 2
    paths = fetch("toy", mirrors=[server.url])
    assert paths["toy.arff"].read_bytes() == CONTENT["toy.arff"]
    assert server.requests[:3] == [
        ("/toy/toy.arff", None),
        ("/toy/toy.arff", "bytes=98304-"),
        ("/toy/toy.arff", "bytes=196608-"),
    ]


def test_cut_packed_download_is_resumed_too(server, cache):
    serve(server, pack=True)
    server.cuts = 1
    paths = fetch("toy", mirrors=[server.url])
    assert paths["toy.arff"].read_bytes() == CONTENT["toy.arff"]
    assert ("/toy/toy.arff.gz", "bytes=98304-") in server.requests


def test_server_without_ranges_is_asked_from_the_start_again(server, cache):
    serve(server)
    server.ranges = False
    server.cuts = 1
    paths = fetch("toy", mirrors=[server.url])
    assert paths["toy.arff"].read_bytes() == CONTENT["toy.arff"]
    assert server.requests[1] == ("/toy/toy.arff", "bytes=98304-")


def test_connection_cut_before_anything_came_is_tried_again(server, cache):
    serve(server)
    server.cuts, server.cut_at = 1, 10
    assert fetch("toy", mirrors=[server.url])["toy.arff"].read_bytes() == CONTENT["toy.arff"]
    assert server.requests[:2] == [("/toy/toy.arff", None)] * 2


def test_connection_cut_again_and_again_is_given_up(server, other, cache):
    serve(server)
    serve(other)
    server.ranges = False
    server.cuts = 10**6
    paths = fetch("toy", mirrors=[server.url, other.url])
    assert paths["toy.arff"].read_bytes() == CONTENT["toy.arff"]
    assert server.paths().count("/toy/toy.arff") == _http.ATTEMPTS
    for path in cache.rglob("toy.*"):
        path.unlink()
    with pytest.raises(DatasetNotFoundError, match="the connection was cut 5 times"):
        fetch("toy", mirrors=[server.url])
    assert files_in(cache) == []


def test_endless_and_bursting_answers_are_stopped(server, cache):
    server.files["/toy/toy.arff"] = bytes(10 * len(CONTENT["toy.arff"]))
    server.files["/toy/toy.arff.gz"] = gzip.compress(bytes(100 * len(CONTENT["toy.arff"])))
    with pytest.raises(DatasetNotFoundError, match="more bytes than the file has") as caught:
        fetch("toy", mirrors=[server.url])
    assert "wrong SHA-256" in str(caught.value)
    assert files_in(cache) == []


def test_damaged_archive_leads_to_the_next_mirror(server, other, cache):
    serve(server, pack=True)
    server.files = {path: body[:-4] for path, body in server.files.items()}
    serve(other, pack=True)
    paths = fetch("toy", mirrors=[server.url, other.url])
    assert paths["toy.arff"].read_bytes() == CONTENT["toy.arff"]
    with pytest.raises(_http.TransferError, match="the gzip archive is damaged"):
        _http.transfer(
            f"{server.url}/toy/toy.xml.gz", cache / "x", len(CONTENT["toy.xml"]), lambda *_: None
        )
    assert files_in(cache) == ["toy.arff", "toy.xml", "x"]


def test_offline_is_one_sentence_with_the_remedy(cache):
    with socket.socket() as unused:  # bound and not listening: connections are refused
        unused.bind(("127.0.0.1", 0))
        mirror = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(DatasetNotFoundError) as caught:
            fetch("toy", mirrors=[mirror])
    sentence = str(caught.value)
    assert "could not be downloaded" in sentence
    assert "(no connection)" in sentence
    assert "COLABEL_DATA" in sentence
    assert "\n" not in sentence
    assert files_in(cache) == []


def test_silent_server_is_given_up_in_time(cache, monkeypatch):
    monkeypatch.setattr(_http, "TIMEOUT", 0.1)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        mirror = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(DatasetNotFoundError, match="no answer in time"):
            fetch("toy", mirrors=[mirror])


def test_address_that_makes_no_sense_and_no_address_at_all(cache):
    with pytest.raises(DatasetNotFoundError, match="not an address"):
        fetch("toy", mirrors=["nonsense"])
    with pytest.raises(DatasetNotFoundError, match=r"no address is known for toy\.arff of toy"):
        fetch("toy")


def test_endless_redirects_are_a_failed_request(server, cache):
    server.files["/toy/toy.arff"] = "redirect"
    with pytest.raises(DatasetNotFoundError, match="the request failed: Exceeded 30 redirects"):
        fetch("toy", mirrors=[server.url])


def test_missing_file_on_the_server_is_named_with_its_answer(server, cache):
    with pytest.raises(DatasetNotFoundError, match="the server answered 404 Not Found"):
        fetch("toy", mirrors=[server.url])


def test_bad_file_in_the_cache_is_replaced_but_one_of_the_users_is_not(
    server, cache, tmp_path, monkeypatch
):
    serve(server)
    (cache / "toy").mkdir(parents=True)
    (cache / "toy" / "toy.arff").write_bytes(b"half a file")
    paths = fetch("toy", mirrors=[server.url])
    assert paths["toy.arff"].read_bytes() == CONTENT["toy.arff"]
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "toy.arff").write_bytes(b"my own")
    monkeypatch.setenv("COLABEL_DATA", str(mine))
    with pytest.raises(DataFormatError, match=r"this is not the registered toy\.arff"):
        fetch("toy", mirrors=[server.url])
    assert (mine / "toy.arff").read_bytes() == b"my own"


def test_threads_that_fetch_the_same_dataset_ask_for_each_file_once(server, cache):
    serve(server)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: fetch("toy", mirrors=[server.url]), range(8)))
    assert all(result == results[0] for result in results)
    assert sorted(server.paths()) == ["/toy/toy.arff", "/toy/toy.xml"]


def test_processes_that_fetch_at_the_same_time_leave_one_whole_file(server, cache, monkeypatch):
    monkeypatch.setattr(_download, "_one_at_a_time", nullcontext())  # as between processes
    monkeypatch.setattr(_download, "_quiet", nullcontext)
    serve(server)
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(lambda _: fetch("toy", mirrors=[server.url]), range(6)))
    assert all(path.read_bytes() == CONTENT[name] for r in results for name, path in r.items())
    assert files_in(cache) == ["toy.arff", "toy.xml"]


def test_cache_that_cannot_be_made_is_named(server, cache, monkeypatch):
    serve(server)
    cache.write_text("a file where the folder should be")
    with pytest.raises(DatasetNotFoundError, match="cannot write to the cache folder"):
        fetch("toy", mirrors=[server.url])


def test_without_pooch_the_extra_is_named(cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingExtraError, match=r'pip install "colabel\[data\]"'):
        fetch("toy")


def test_progress_goes_to_stderr_and_pooch_says_nothing(server, cache, capsys):
    import pooch

    serve(server)
    level = pooch.get_logger().level
    fetch("toy", mirrors=[server.url], progress=True)
    printed = capsys.readouterr()
    assert "toy.arff" in printed.err
    assert "Downloading" not in printed.err
    assert printed.out == ""
    assert pooch.get_logger().level == level != logging.WARNING


def test_shipped_data_need_no_download():
    assert fetch("yeast")["yeast.npz"].is_file()


def test_unknown_name_is_refused():
    with pytest.raises(DatasetNotFoundError, match="did you mean enron"):
        fetch("enrom")
