"""The end of a server with the sessions that are open, and its next start."""
import asyncio


async def restart(world, how):
    """Ends the server of a world, and starts it again."""
    await end(world, how)
    world.server.start()


async def end(world, how):
    """Ends the server of a world, in order ("stop") or by `kill -9` ("kill"), and the connections. `drain.duration` should
    be 0; where the server's time stands still, it passes for the drain alone."""
    server = world.server
    if how == "kill":
        server.kill()
    else:
        server.terminate()
        if server.clock and server.clock.frozen is not None:
            for client in world.clients:
                if client.socket.close_code is None:
                    await client.expect("onServerDraining")
            await server.advance(seconds=0.2)
        # Meanwhile the clients answer the closes.
        assert await asyncio.to_thread(server.wait) == 0
    await world.close()
    world.clients.clear()
