"""A socket around the handler."""

import asyncio

from handler import handle_request
from settings import load_settings


async def talk(reader, writer):
    """One connection: answer line after line until the client hangs up."""
    while line := await reader.readline():
        writer.write(handle_request(line))
        await writer.drain()
    writer.close()


async def serve():
    """Listen until interrupted."""
    settings = load_settings()
    server = await asyncio.start_server(talk, settings["host"], settings["port"])
    async with server:
        await server.serve_forever()
