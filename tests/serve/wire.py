"""A RESP reader that keeps the types that client libraries hide."""


def encoded(words):
    """The bytes of a command."""
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        data = word if isinstance(word, bytes) else str(word).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
    return b"".join(parts)


class Wire:
    """One connection. A value is a pair: RESP's type byte and the text or the nested values.

    The type of a null string is "$-1", that of a null array "*-1"."""

    def __init__(self, connection):
        self.socket = connection
        self.file = connection.makefile("rb")

    def close(self):
        self.file.close()
        self.socket.close()

    def send(self, *words):
        self.socket.sendall(encoded(words))

    def ask(self, *words):
        """Sends a command and returns the next value."""
        self.send(*words)
        return self.read()

    def plain(self, *words):
        """The reply to a command without the types."""
        return plain(self.ask(*words))

    def read(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("closed by the server")
        kind, text = chr(line[0]), line[1:-2].decode("latin-1")
        if kind in "$=":
            if text == "-1":
                return kind + "-1", None
            return kind, self.file.read(int(text) + 2)[:-2].decode("utf-8", "surrogateescape")
        if kind in "*~>%":
            if text == "-1":
                return kind + "-1", None
            return kind, [self.read() for _ in range(int(text) * (2 if kind == "%" else 1))]
        return kind, int(text) if kind == ":" else text


def plain(value):
    kind, content = value
    if kind == "=":
        return content[len("txt:"):]
    if kind not in "*~>%":
        return content
    elements = [plain(element) for element in content]
    return dict(zip(elements[::2], elements[1::2])) if kind == "%" else elements


def shape(value):
    """The types of a value, without its contents."""
    kind, content = value
    if kind in "*~>%":
        return kind, [shape(element) for element in content]
    return kind
