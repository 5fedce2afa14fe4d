"""The console in a browser (Protocol.md, "Pages"): a group's bans, counters and pinned messages."""
from urllib.parse import quote

import pytest

from harness.tokens import make_token

KEY = "an-api-key-of-the-live-tests-0123456789"


class Console:
    """A group with what an administrator looks after, and the console that shows it."""

    def __init__(self, own, group):
        self.own, self.group = own, group

    @classmethod
    def make(cls, make_server, groupType="Public"):
        own = make_server({"admin.apiKey": KEY})
        made = own.rpc("createGroup", groupType=groupType, groupName="Tea table", ownerUserID="olga")
        return cls(own, made["result"]["groupID"])

    def do(self, method, **params):
        answer = self.own.rpc(method, groupID=self.group, **params)
        assert "error" not in answer, answer
        return answer["result"]

    async def open(self, browser):
        page = await browser.open(f"http://{self.own.internal_address}/console#group/{quote(self.group, safe='')}")
        await page.write("#credential", KEY)
        await page.click("#sign-in-form button")
        await page.sees("Tea table", "#group-title")
        return page


async def press(page, place, words, confirm=True):
    """Presses a button of a row by its words, and confirms the dialog that asks."""
    await page.click(f"{place} button", words)
    if confirm:
        await page.click("dialog .primary")
        await page.until("!document.querySelector('dialog')")


async def test_bans_are_listed_and_lifted(make_server, browser):
    console = Console.make(make_server)
    console.do("setGroupInfo", joinMode="Any")
    for user, reason in (("mallory", {"reason": "advertising"}), ("trudy", {})):
        console.do("joinGroup", asUser=user)
        console.do("kickGroupMember", userIDList=[user], banTime=3600, **reason)
    page = await console.open(browser)
    await page.sees("advertising", "#bans")
    assert "mallory" in await page.text("#bans tr:first-child") and "until" in await page.text("#bans tr:first-child")
    assert "trudy" in await page.text("#bans tr:last-child")
    await press(page, "#bans tr:first-child", "Unban")
    await page.until("!document.querySelector('#bans').innerText.includes('mallory')")
    assert [row["userID"] for row in console.do("getGroupBannedMembers")["memberList"]] == ["trudy"]
    # Somebody else was faster: the dialog says so and stays.
    console.do("unbanGroupMember", userIDList=["trudy"])
    await page.click("#bans button")
    await page.click("dialog .primary")
    await page.sees("trudy: Invalid", "dialog .fault")


async def test_messages_are_pinned_and_unpinned(make_server, browser):
    console = Console.make(make_server)
    first, second = [console.do("sendGroupTextMessage", asUser="olga", text=text)["seq"] for text in ("house rules", "opening hours")]
    console.do("pinGroupMessage", seq=first, isPinned=True)
    console.do("modifyGroupMessage", asUser="olga", seq=second, text="open from nine")
    page = await console.open(browser)
    await page.sees("house rules", "#pins")
    await page.sees("edited", "#messages tr:first-child")
    await press(page, "#messages tr:first-child", "Pin", confirm=False)
    await page.sees("open from nine", "#pins tr:first-child")
    await page.sees("pinned", "#messages tr:first-child")
    await press(page, "#pins tr:last-child", "Unpin", confirm=False)
    await page.until("!document.querySelector('#pins').innerText.includes('house rules')")
    assert [message["seq"] for message in console.do("getPinnedGroupMessageList")["messageList"]] == [second]
    # A recall takes the message out of both lists.
    await press(page, "#messages tr:first-child", "Recall")
    await page.sees("None", "#pins")
    await page.sees("recalled", "#messages tr:first-child")


async def test_counters_are_set_and_removed(make_server, browser):
    console = Console.make(make_server, "AVChatRoom")
    console.do("setGroupCounters", counters={"likes": 1234567})
    page = await console.open(browser)
    await page.sees("1,234,567", "#counters")
    await page.click("#counters button", "Set")
    await page.write("dialog [name=value]", "8")
    await page.click("dialog .primary")
    await page.until("document.querySelector('#counters .numeric').innerText === '8'")
    assert console.do("getGroupCounters")["counters"] == {"likes": 8}
    await press(page, "#counters", "Remove")
    await page.sees("None", "#counters")
    for place in ("#bans", "#pins", "#messages"):
        assert "AVChatRoom" in await page.text(place), "a live room has none"


async def test_a_users_token_is_refused_with_the_reason(make_server, browser):
    own = make_server({"admin.apiKey": KEY})
    page = await browser.open(f"http://{own.internal_address}/console")
    for credential, words in ((make_token("alice"), "--admin makes one"), ("nonsense", "was not accepted")):
        await page.write("#credential", credential)
        await page.click("#sign-in-form button")
        await page.sees(words, "#sign-in-fault")


async def test_nothing_of_a_group_stays_behind_a_sign_out(make_server, browser):
    console = Console.make(make_server)
    console.do("setGroupCounters", counters={"secret_votes": 3})
    seq = console.do("sendGroupTextMessage", asUser="olga", text="secret rules")["seq"]
    console.do("pinGroupMessage", seq=seq, isPinned=True)
    page = await console.open(browser)
    await page.sees("secret rules", "#pins")
    await page.sees("secret_votes", "#counters")
    await page.click("#sign-out")
    assert "secret" not in await page.run("document.querySelector('#console').textContent")


async def test_the_console_is_usable_at_any_width_and_in_the_dark(make_server, browser):
    console = Console.make(make_server)
    console.do("setGroupInfo", joinMode="Any")
    console.do("joinGroup", asUser="mallory")
    console.do("kickGroupMember", userIDList=["mallory"], banTime=3600, reason="advertising" * 40)
    console.do("setGroupCounters", counters={"k" * 32: 2**53 - 1})
    seq = console.do("sendGroupTextMessage", asUser="olga", text="a word that does not end" + "!" * 200)["seq"]
    console.do("modifyGroupMessage", asUser="olga", seq=seq, text="another word that does not end" + "!" * 200)
    console.do("pinGroupMessage", seq=seq, isPinned=True)
    page = await console.open(browser)
    await page.run("addEventListener('securitypolicyviolation', (event) => (window.violation = event.violatedDirective))")
    await page.sees("another", "#pins")
    await page.sees("advertising", "#bans")
    await page.demand_usable()
    assert await page.run("window.violation") is None
