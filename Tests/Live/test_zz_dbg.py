import asyncio, time
from harness.proxy import Person, Talk, start
import pytest
@pytest.mark.parametrize("n", range(60))
async def test_x(start, n):
    own, proxy = start("nginx")
    t=time.monotonic()
    people=[await Person.sign_in(proxy, f"user-{number}") for number in range(20)]
    print("signed in", time.monotonic()-t)
    async with Talk(people):
        for number in range(3):
            t=time.monotonic(); c=time.process_time()
            await asyncio.to_thread(proxy.reload)
            print("reload", time.monotonic()-t, time.process_time()-c); t=time.monotonic()
            late = await Person.sign_in(proxy, f"late-{number}")
            print("signin", time.monotonic()-t); t=time.monotonic()
            await late.call("ping")
            print("ping", time.monotonic()-t)
        t=time.monotonic()
    print("out", time.monotonic()-t); t=time.monotonic()
    own.metric_becomes("throng_sessions", 23)
    print("metric", time.monotonic()-t)
