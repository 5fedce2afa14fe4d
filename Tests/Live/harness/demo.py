"""The demo page as the tests use it: guests, groups and messages (Protocol.md, "Pages")."""
from urllib.parse import unquote


async def guest(browser, url, frozen=False):
    page = await browser.open(url, frozen=frozen)
    await page.sees("Connected", "#state")
    # The user's name follows, with the groups.
    await page.until("document.querySelector('#user').textContent.startsWith('guest-')")
    return page


async def new_group(page, kind="Meeting"):
    """Makes a group with the page's form; gives its link."""
    before = await page.run("location.href")
    await page.click(f"label:has([value={kind}])")
    await page.click("#create-form button")
    # The subtitle may still be that of a group that the page has shown before.
    await page.until(f"location.href !== {before!r}")
    await page.sees(kind, "#subtitle")
    return await page.run("location.href")


async def group_of(page):
    """The ID of the group that the page shows."""
    return unquote((await page.run("location.hash"))[1:])


async def save_name(page, name):
    await page.write("#name", name)
    await page.click("#name-form button")
    await page.sees("Saved", "#name-state")


async def say(page, text):
    await page.write("#text", text)
    await page.click("#composer button")


async def hears(page, text):
    await page.sees(text, "#timeline")


# What has the focus, for those who hear it.
FOCUS = "(document.activeElement.ariaLabel ?? document.activeElement.innerText)"
# Tips stand between the messages.
NEWEST = "#timeline li:nth-last-child(1 of :has(.message))"


async def choose(page, words, message=NEWEST):
    """Opens the menu of a message and chooses there."""
    if await page.run(f"!document.querySelector('{message} .menu')"):
        await page.click(f"{message} .menu-button")
    await page.click(f"{message} .menu [data-key='{words}']")


async def in_menu(page, message=NEWEST):
    """The words of a message's menu; it is closed again."""
    await page.click(f"{message} .menu-button")
    words = await page.text(f"{message} .choices")
    await page.click(f"{message} .menu-button")
    return words.split()


async def edit(page, text):
    await choose(page, "Edit")
    await page.write("dialog textarea", text)
    await page.click("dialog .primary")


CHIPS = "[...document.querySelectorAll('.chip')].map((one) => one.innerText.replace(/\\s+/g, ' ') + ' ' + one.ariaPressed).join()"


async def chips(page, text):
    """Waits for these reactions: each with its count, and whether it is the page's own, too."""
    await page.until(f"{CHIPS} === '{text}'")


async def pair(own, browser, kind="Meeting", address=None, frozen=False):
    """Two guests in a group that anybody joins; the first owns it, the second may come by another address."""
    alice = await guest(browser, f"http://{own.address}/", frozen)
    link = await new_group(alice, kind)
    assert "error" not in own.rpc("setGroupInfo", groupID=await group_of(alice), joinMode="Any")
    bob = await guest(browser, link.replace(own.address, address or own.address, 1), frozen)
    await bob.sees(kind, "#subtitle")
    await alice.sees("2", "#to-members")
    return alice, bob


async def room(own, browser, address=None, frozen=False):
    """An AVChatRoom with its owner and one more guest, who comes by another address where one is given."""
    alice = await guest(browser, f"http://{own.address}/")
    link = await new_group(alice, "AVChatRoom")
    bob = await guest(browser, link.replace(own.address, address or own.address, 1), frozen)
    await bob.sees("AVChatRoom", "#subtitle")
    return alice, bob


def seat(number):
    return f"[data-seat=seat{number}]"
