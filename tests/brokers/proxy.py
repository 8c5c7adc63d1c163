"""The network between a client and a server, to be cut, stalled and healed."""
import asyncio
import socket
import struct
import threading

from broker import claim_port

RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Proxy:
    """Passes TCP connections on to `target`, which may be set later: Kafka has to know the proxy's address first."""

    def __init__(self, target=None):
        self.target = target
        self.port, self.claim = claim_port("127.0.0.1")
        self.address = "127.0.0.1", self.port
        self.passed_bytes = 0
        self.writers = set()
        self.listener = None
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.flowing = asyncio.Event()
        self.heal()

    def heal(self):
        """Bytes flow again, those that were held back first; after a cut, connections are taken again."""
        self.call(self.open())

    def stall(self):
        """Connections stay, new ones are taken, and no byte comes through: a network that loses all packets."""
        self.call(self.hold())

    def cut(self):
        """Connections are reset and new ones refused."""
        self.call(self.shut())

    def close(self):
        self.cut()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()
        self.claim.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def call(self, coroutine):
        asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    async def open(self):
        self.flowing.set()
        if not self.listener:
            self.listener = await asyncio.start_server(self.join, *self.address)

    async def hold(self):
        self.flowing.clear()

    async def shut(self):
        if self.listener:
            self.listener.close()
            self.listener = None
        for writer in list(self.writers):
            reset(writer)
        # What was held back belongs to connections that are gone.
        self.flowing.set()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*tasks, return_exceptions=True)

    async def join(self, client_reader, client):
        self.writers.add(client)
        try:
            await self.flowing.wait()
            server_reader, server = await asyncio.open_connection(*self.target)
        except OSError:
            reset(client)
            self.writers.discard(client)
            return
        self.writers.add(server)
        await asyncio.gather(self.pump(client_reader, server), self.pump(server_reader, client))
        for writer in (client, server):
            self.writers.discard(writer)
            writer.close()

    async def pump(self, reader, writer):
        try:
            while data := await reader.read(65536):
                await self.flowing.wait()
                self.passed_bytes += len(data)
                writer.write(data)
                await writer.drain()
            if not writer.is_closing():
                writer.write_eof()
        except OSError:
            reset(writer)


def reset(writer):
    """An RST rather than a FIN."""
    held = writer.get_extra_info("socket")
    if held and held.fileno() >= 0:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
    writer.transport.abort()
