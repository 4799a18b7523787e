"""A wire to a server that can be cut: connections end, or nothing passes and nobody is told."""

import socket
import threading
from contextlib import suppress
from typing import Self


class CutWire:
    """Listens on 127.0.0.1 at `port`, and passes on what comes to a server's port and back."""

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._passing = threading.Event()
        self._passing.set()
        self._is_cut = False
        self._last_words: tuple[bytes, ...] = ()
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()
        self._passing.set()
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def cut(self) -> None:
        """Both ends see every connection end, and new ones end at once."""
        self._is_cut = True
        self._end()

    def stall(self) -> None:
        """Nothing passes, and neither end is told; new connections get no answer."""
        self._passing.clear()

    def stall_after(self, *words: str) -> None:
        """Stalls as soon as the client has said one of these."""
        self._last_words = tuple(word.encode() for word in words)

    @property
    def is_stalled(self) -> bool:
        return not self._passing.is_set()

    def restore(self) -> None:
        """All passes again, what was held up too."""
        self._last_words = ()
        self._is_cut = False
        self._passing.set()

    def _end(self) -> None:
        while self._open:
            end = self._open.pop()
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                self._open.append(client)
                if self._is_cut:
                    self._end()
                else:
                    threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        self._passing.wait()
        try:
            server = socket.create_connection(("127.0.0.1", self._server_port))
        except OSError:
            client.close()
            return
        self._open.append(server)
        for source, sink in ((client, server), (server, client)):
            threading.Thread(target=self._pass, args=(source, sink), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self._passing.wait()
                sink.sendall(data)
                if any(word in data for word in self._last_words):
                    self.stall()
        self._passing.wait()
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
