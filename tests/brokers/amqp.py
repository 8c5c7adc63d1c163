"""As much of AMQP 0-9-1 as it takes to put a message into a queue of RabbitMQ and get it back."""
import struct


class NotYet(ConnectionError):
    """The queue is there and its leader is not: for a moment after a start, streams and quorum queues are refused."""


class Channel:
    """One connection with one channel, confirms on. Methods are named as (class, method)."""

    def __init__(self, broker):
        self.socket = broker.connect(timeout=20)
        self.socket.sendall(b"AMQP\0\0\x09\x01")
        self.expect((10, 10))
        login = f"\0{broker.user_name}\0{broker.password}".encode()
        self.send(0, (10, 11), table({}) + short("PLAIN") + long(login) + short("en_US"))
        tune = self.expect((10, 30))
        self.send(0, (10, 31), tune[:6] + b"\0\0")
        self.send(0, (10, 40), short("/") + b"\0\0")
        self.expect((10, 41))
        self.call((20, 10), b"\0", (20, 11))
        self.call((85, 10), b"\0", (85, 11))

    def close(self):
        self.socket.close()

    def declare(self, queue, kind):
        """kind: classic, quorum or stream."""
        durable = b"\x02"
        self.call((50, 10), b"\0\0" + short(queue) + durable + table({"x-queue-type": kind}), (50, 11))

    def publish(self, queue, body):
        """Returns when the server has confirmed it."""
        self.send(1, (60, 40), b"\0\0" + short("") + short(queue) + b"\0")
        persistent = struct.pack("!HB", 0x1000, 2)
        self.frame(2, 1, struct.pack("!HHQ", 60, 0, len(body)) + persistent)
        self.frame(3, 1, body)
        self.expect((60, 80))

    def consume(self, queue, kind, count):
        """The first messages; of a stream from its beginning. Acknowledged, so gone unless it is a stream."""
        self.call((60, 10), struct.pack("!IHB", 0, count, 0), (60, 11))
        where = {"x-stream-offset": "first"} if kind == "stream" else {}
        self.send(1, (60, 20), b"\0\0" + short(queue) + short("") + b"\0" + table(where))
        self.expect((60, 21))
        return [self.receive() for _ in range(count)]

    def receive(self):
        delivery = self.expect((60, 60))
        tag = delivery[1 + delivery[0]:][:8]
        size = struct.unpack("!Q", self.read_frame()[1][4:12])[0]
        body = b""
        while len(body) < size:
            body += self.read_frame()[1]
        self.send(1, (60, 80), tag + b"\0")
        return body

    def call(self, method, arguments, answer):
        self.send(1, method, arguments)
        return self.expect(answer)

    def send(self, channel, method, arguments):
        self.frame(1, channel, struct.pack("!HH", *method) + arguments)

    def frame(self, kind, channel, payload):
        self.socket.sendall(struct.pack("!BHI", kind, channel, len(payload)) + payload + b"\xce")

    def expect(self, method):
        kind, payload = self.read_frame()
        while kind == 8:
            kind, payload = self.read_frame()
        found = struct.unpack("!HH", payload[:4])
        if b"is down or inaccessible" in payload:
            raise NotYet(payload[4:200])
        if kind != 1 or found != method:
            raise ConnectionError(f"expected method {method}, got {found}: {payload[4:200]!r}")
        return payload[4:]

    def read_frame(self):
        kind, _, size = struct.unpack("!BHI", self.read(7))
        return kind, self.read(size + 1)[:-1]

    def read(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise ConnectionError("closed")
            data += part
        return data


def short(text):
    return struct.pack("!B", len(text)) + text.encode()


def long(data):
    return struct.pack("!I", len(data)) + data


def table(fields):
    return long(b"".join(short(name) + b"S" + long(value.encode()) for name, value in fields.items()))
