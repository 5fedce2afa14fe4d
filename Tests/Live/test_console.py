"""The console in a browser (Protocol.md, "Pages"): credentials, what is found, groups, users, messages and webhooks."""
import asyncio
import json
from urllib.parse import quote

from harness.backend import done
from harness.browser import TURNED
from harness.receiver import Answer, Receiver
from harness.tokens import make_token
from harness.world import eventually

KEY = "an-api-key-of-the-live-tests-0123456789"


class Console:
    """A group with what an administrator looks after, and the console that shows it."""

    def __init__(self, own, group):
        self.own, self.group = own, group

    @classmethod
    def make(cls, make_server, groupType="Public", settings=None, frozen=False):
        own = make_server({"admin.apiKey": KEY, **(settings or {})}, frozen=frozen)
        made = own.rpc("createGroup", groupType=groupType, groupName="Tea table", ownerUserID="olga")
        return cls(own, made["result"]["groupID"])

    def do(self, method, **params):
        answer = self.own.rpc(method, groupID=self.group, **params)
        assert "error" not in answer, answer
        return answer["result"]

    def join(self, *users):
        self.do("setGroupInfo", joinMode="Any")
        for user in users:
            self.do("joinGroup", asUser=user)

    async def open(self, browser):
        page = await sign_in(browser, self.own, f"group/{quote(self.group, safe='')}")
        await page.sees("Tea table", "#group-title")
        return page


async def sign_in(browser, own, view, credential=KEY):
    page = await browser.open(f"http://{own.internal_address}/console#{view}")
    await page.write("#credential", credential)
    await page.click("#sign-in-form button")
    await page.until("!document.querySelector('#console').hidden")
    return page


async def find(page, field, words):
    """Writes the words into a search field when it is there to be seen, and begins the search with the keyboard."""
    await page.until(f"document.querySelector('{field}').offsetParent !== null")
    await page.write(field, words)
    await page.press("Enter", 13)


def links(place):
    """An expression: where the links of a place lead to, in their order."""
    return f"[...document.querySelectorAll('{place} a')].map((one) => one.hash)"


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


async def test_a_live_room_has_moderators_and_messages_that_are_recalled(make_server, browser):
    console = Console.make(make_server, "AVChatRoom", {"avChatRoom.moderation": "true", "avChatRoom.recentMessages": 20})
    console.do("joinGroup", asUser="trudy")
    console.do("sendGroupTextMessage", asUser="trudy", text="buy cheap watches")
    page = await console.open(browser)
    await page.sees("buy cheap watches", "#messages tr:first-child")
    assert "Pin" not in await page.text("#messages")
    await press(page, "#messages tr:first-child", "Recall")
    await page.sees("recalled", "#messages tr:first-child")
    # A moderator who is not there yet.
    await page.click("#group-acts button", "Moderators")
    await page.write("dialog [name=userID]", "mia")
    await page.click("dialog .primary")
    await page.until("!document.querySelector('dialog')")
    console.do("joinGroup", asUser="mia")
    assert console.do("getGroupMemberRoles", userIDList=["mia"])["roleList"][0]["role"] == "Admin"
    console.do("kickGroupMember", asUser="mia", userIDList=["trudy"], banTime=600)
    page = await console.open(browser)
    await page.sees("trudy", "#bans")


async def test_a_refused_credential_says_why(make_server, browser):
    own = make_server({"admin.apiKey": KEY})
    page = await browser.open(f"http://{own.internal_address}/console")
    for credential, words in ((make_token("alice"), "throng token NAME --admin"), ("nonsense", "the API key"),
                              (make_token("backend", ttl=-3600, adm=True), "the token has expired")):
        await page.write("#credential", credential)
        await page.click("#sign-in-form button")
        await page.sees(words, "#sign-in-fault")
        assert "The credential was not accepted: " in await page.text("#sign-in-fault")


async def test_a_token_that_expires_meanwhile_signs_out_and_says_so(make_server, browser):
    console = Console.make(make_server, frozen=True)
    page = await sign_in(browser, console.own, "groups", make_token("backend", ttl=600, now=console.own.now, adm=True))
    await page.sees("Tea table", "#groups-table")
    await console.own.advance(seconds=700)
    await page.run("location.hash = '#webhooks'")
    await page.sees("the token has expired", "#sign-in-fault")
    assert await page.run("document.querySelector('#console').hidden")
    assert "Tea table" not in await page.run("document.querySelector('#console').textContent")


async def test_the_sign_in_page_says_how_to_get_a_credential(make_server, browser):
    page = await browser.open(f"http://{make_server().internal_address}/console")
    for words in ("throng token NAME --admin --ttl 12h", "admin.apiKey", '"adm":true'):
        await page.sees(words, "#sign-in")
    assert await page.run("document.querySelector('#' + document.querySelector('#credential')"
                          ".getAttribute('aria-describedby')).innerText.includes('throng token')")
    await page.demand_usable()


# What is found


async def test_groups_are_found_by_name_and_id_and_their_beginnings(make_server, browser):
    own = make_server({"admin.apiKey": KEY})
    made = (("kettle", "Iced TEA", "Public"), ("tea-table", "Green leaves", "Public"), ("chess", "Chess", "Work"))
    for group, name, kind in made:
        done(own, "createGroup", groupType=kind, groupID=group, groupName=name, ownerUserID="olga")
    done(own, "setUserInfo", userID="olga", nickName="Olga the Brewer")
    page = await sign_in(browser, own, "groups")
    shown = "[...document.querySelectorAll('#groups-table [data-group]')].map((row) => row.dataset.group).join()"
    await page.sees("Chess", "#groups-table")
    await page.sees("Olga the Brewer", "#groups-table")
    # The one that begins with it comes before the older one that holds it.
    await find(page, "#group-words", "tea")
    await page.until(f"{shown} === 'tea-table,kettle'")
    await page.sees("2 found", "#groups-state")
    await page.run("(() => { const one = document.querySelector('#type-filter'); one.value = 'Work';"
                   " one.dispatchEvent(new Event('change')); })()")
    await page.sees("No groups", "#groups-table")
    await find(page, "#group-words", "che")
    await page.until(f"{shown} === 'chess'")
    await page.run("(() => { const one = document.querySelector('#type-filter'); one.value = '';"
                   " one.dispatchEvent(new Event('change')); })()")
    # An empty field brings all of them back.
    await page.run("(() => { const one = document.querySelector('#group-words'); one.value = '';"
                   " one.dispatchEvent(new Event('input')); })()")
    await page.until(f"{shown}.split(',').length === 3")
    await page.sees("3", "#groups-total")


async def test_users_are_found_by_id_nickname_and_name_card(make_server, browser):
    console = Console.make(make_server)
    console.join("trudy", "mallory", "bob", "ivan")
    console.do("setGroupMemberInfo", userID="trudy", nameCard="Aunt Mallow")
    done(console.own, "setUserInfo", userID="ivan", nickName="Malleus")
    done(console.own, "importUsers", userIDList=["lonely"])
    page = await sign_in(browser, console.own, "users")
    await find(page, "#user-words", "mall")
    people = links("#users-found td:first-child")
    await page.until(f"{people}.length === 3")
    await page.sees("3 found", "#users-state")
    # The two that begin with it come first.
    assert (await page.run(people))[2] == "#users/trudy"
    assert set(await page.run(people)) == {"#users/mallory", "#users/ivan", "#users/trudy"}
    assert "Aunt Mallow" in await page.text("#users-found") and "Malleus" in await page.text("#users-found")
    # In no group: by the whole ID alone.
    await find(page, "#user-words", "lone")
    await page.sees("Nobody is found", "#users-found")
    await find(page, "#user-words", "lonely")
    await page.until(f"{people}.join() === '#users/lonely'")


async def test_a_user_has_profile_groups_and_sessions(make_server, make_world, browser):
    console = Console.make(make_server)
    console.join("mallory")
    console.do("setGroupMemberRole", userID="mallory", role="Admin")
    done(console.own, "setUserInfo", userID="mallory", nickName="Malle", customInfo={"plan": "gold"})
    await make_world(console.own).session("mallory", platform="iOS")
    page = await sign_in(browser, console.own, "users")
    await find(page, "#user-words", "mallory")
    await page.click('#users-found a[href="#users/mallory"]')
    await page.sees("Malle", "#user-title")
    await page.sees("plan: gold", "#profile")
    await page.sees("Tea table", "#user-groups")
    await page.sees("Admin", "#user-groups")
    await page.sees("iOS", "#sessions")
    assert await page.run(links("#user-groups")) == [f"#group/{quote(console.group, safe='')}"]
    await page.click("#user-acts button", "End all sessions")
    await page.click("dialog .primary")
    await page.sees("Not signed in", "#sessions")


async def test_looking_at_a_user_makes_nobody_known(make_server, browser):
    console = Console.make(make_server)
    known = done(console.own, "getStats")["users"]
    page = await sign_in(browser, console.own, "users/nobody-knows-me")
    await page.sees("does not know this user", "#profile")
    await page.sees("None", "#user-groups")
    assert done(console.own, "getStats")["users"] == known
    assert done(console.own, "getUsersInfo", userIDList=["nobody-knows-me"])["userList"] == []
    await page.run("location.hash = '#users/' + encodeURIComponent('a b')")
    await page.sees("10004", "#user-fault")


async def test_messages_are_searched_where_the_server_does(make_server, browser):
    console = Console.make(make_server, settings={"search.messages": "true"})
    console.join("mallory")
    for user, text in (("olga", "the kettle boils"), ("mallory", "buy a KETTLE from me"), ("mallory", "hello")):
        console.do("sendGroupTextMessage", asUser=user, text=text)
    page = await console.open(browser)
    await page.click("#group-search-link")
    await page.until("!document.querySelector('#search').hidden")
    assert await page.run("document.querySelector('#search-group').value") == console.group
    await find(page, "#search-words", "kettle")
    await page.until("document.querySelectorAll('#messages-found tr').length === 2")
    await find(page, "#search-sender", "mallory")
    await page.until("document.querySelectorAll('#messages-found tr').length === 1")
    await page.sees("buy a KETTLE from me", "#messages-found")
    await page.demand_usable()
    await press(page, "#messages-found", "Recall")
    await page.sees("No message is found.", "#messages-found")


async def test_without_an_index_the_search_of_messages_is_not_offered(make_server, browser):
    console = Console.make(make_server)
    page = await console.open(browser)
    await page.sees("None", "#pins")
    assert await page.run("['#search-link', '#group-search-link'].every((one) => document.querySelector(one).hidden)")
    await page.run("location.hash = '#search'")
    await page.sees("search.messages", "#search-off")
    assert await page.run("document.querySelector('#search-form').hidden")


# A group


async def test_messages_stand_before_members(make_server, browser):
    console = Console.make(make_server)
    console.do("sendGroupTextMessage", asUser="olga", text="welcome")
    page = await console.open(browser)
    await page.sees("welcome", "#messages")
    await page.sees("olga", "#members")
    top = "document.querySelector('{}').getBoundingClientRect().top"
    for width in (1280, 390):
        await page.show_as(width)
        assert await page.run(f"{top.format('#messages')} < {top.format('#members')}")


async def test_nicknames_are_shown_and_turn_nothing_around(make_server, browser):
    console = Console.make(make_server)
    console.join("mallory", "trudy")
    turning = "Malle\u202eyrollaM"
    done(console.own, "setUserInfo", userID="mallory", nickName=turning)
    done(console.own, "setUserInfo", userID="trudy", nickName="Tru")
    console.do("setGroupMemberInfo", userID="trudy", nameCard="Aunt Trudy")
    console.do("sendGroupTextMessage", asUser="mallory", text="tea?")
    console.do("joinGroup", asUser="ivan")
    done(console.own, "setUserInfo", userID="ivan", nickName="Ivan the Banned")
    console.do("kickGroupMember", userIDList=["ivan"], banTime=3600)
    page = await console.open(browser)
    await page.sees("tea?", "#messages")
    for place in ("#messages", "#members"):
        await page.until(f"[...document.querySelectorAll('{place} bdi')].some((one) => one.textContent === {turning!r})")
        assert "mallory" in await page.text(place)
    for words in ("Aunt Trudy", "Tru · trudy"):
        await page.sees(words, "#members")
    await page.sees("Ivan the Banned", "#bans")
    assert await page.run("document.querySelector('#group-title bdi').textContent") == "Tea table"


async def test_no_text_of_others_turns_the_console_around(make_server, browser):
    """U+202E turns around what follows; U+2069 would end the isolate in which a text stands."""
    console = Console.make(make_server, settings={"search.messages": "true"})
    evil = "tea\u2069\u202eevil"
    console.join("mallory", "trudy")
    for user in ("mallory", "olga"):
        done(console.own, "setUserInfo", userID=user, nickName=evil, faceURL=evil, customInfo={"note": evil})
    console.do("setGroupInfo", groupName=evil, introduction=evil, notification=evil, customInfo={"note": evil})
    console.do("setGroupMemberInfo", userID="mallory", nameCard=f"card {evil}", customInfo={"note": evil})
    seq = console.do("sendGroupTextMessage", asUser="mallory", text=evil)["seq"]
    console.do("pinGroupMessage", seq=seq, isPinned=True)
    console.do("muteGroupMember", userID="mallory", muteTime=600)
    console.do("kickGroupMember", userIDList=["trudy"], banTime=3600, reason=evil)
    page = await sign_in(browser, console.own, f"group/{quote(console.group, safe='')}")
    for place in ("#group-title", "#messages", "#pins", "#members", "#muted", "#bans", "#info"):
        await page.sees("tea", place)
    assert await page.run(TURNED) == []
    await page.click("#members button", "Mute")
    await page.sees("Mute mallory", "dialog")
    assert await page.run(TURNED) == []
    await page.press("Escape", 27)
    await page.click("#group-acts button", "Disband")
    await page.sees("Disband tea", "dialog")
    assert await page.run(TURNED) == []
    await page.press("Escape", 27)
    for view, place in (("groups", "#groups-table"), ("users/mallory", "#profile"), ("users/mallory", "#user-groups")):
        await page.run(f"location.hash = '#{view}'")
        await page.sees("tea", place)
        assert await page.run(TURNED) == []
    await page.run("location.hash = '#search'")
    await find(page, "#search-words", "tea")
    await page.sees("mallory", "#messages-found")
    assert await page.run(TURNED) == []


async def test_disbanding_and_recycling_say_what_they_do(make_server, browser):
    console = Console.make(make_server)
    page = await console.open(browser)
    said = {}
    for action, event in (("Disband", "onGroupDismissed"), ("Recycle", "onGroupRecycled")):
        await page.click("#group-acts button", action)
        await page.sees(event, "dialog")
        said[action] = (await page.text("dialog p")).replace(event, "")
        await page.click("dialog footer button", "Cancel")
        await page.until("!document.querySelector('dialog')")
    assert said["Disband"] != said["Recycle"]
    await page.click("#group-acts button", "Recycle")
    await page.click("dialog .primary")
    await page.sees("No groups", "#groups-table")


# Reports, blocks, deletions


async def test_reports_are_listed_with_the_message_as_it_was(make_server, browser):
    """The message is taken away, the report closed with a note, and found among the closed ones."""
    console = Console.make(make_server)
    console.join("mallory", "trudy")
    seq = console.do("sendGroupTextMessage", asUser="mallory", text="buy cheap watches")["seq"]
    console.do("reportMessage", asUser="trudy", seq=seq, category="spam", text="again and again")
    page = await sign_in(browser, console.own, "reports")
    for words in ("buy cheap watches", "mallory", "trudy", "spam", "again and again", console.group):
        await page.sees(words, "#reports-list")
    await page.demand_usable()
    await press(page, "#reports-list", "Take away")
    await page.sees("buy cheap watches", "#reports-list")
    assert console.do("getGroupHistoryMessageList")["messageList"][0].get("isRevoked") is True
    await page.click("#reports-list button", "Close")
    await page.write("dialog input", "a warning was given")
    await page.click("dialog .primary")
    await page.sees("None is open.", "#reports-list")
    await page.run("document.querySelector('#reports-state-filter').value = 'Closed'; "
                   "document.querySelector('#reports-state-filter').dispatchEvent(new Event('change'))")
    await page.sees("a warning was given", "#reports-list")


async def test_a_reported_user_is_muted_removed_and_blocked(make_server, browser):
    console = Console.make(make_server)
    console.join("mallory", "trudy")
    seq = console.do("sendGroupTextMessage", asUser="mallory", text="buy cheap watches")["seq"]
    console.do("reportMessage", asUser="trudy", seq=seq)
    page = await sign_in(browser, console.own, "reports")
    await page.sees("buy cheap watches", "#reports-list")
    await press(page, "#reports-list", "Mute")
    assert [row["userID"] for row in console.do("getGroupMutedMembers")["memberList"]] == ["mallory"]
    await press(page, "#reports-list", "Remove or ban")
    assert "mallory" not in [row["userID"] for row in console.do("getGroupMemberList")["memberList"]]
    await press(page, "#reports-list", "Block")
    assert [row["userID"] for row in done(console.own, "getBlockedUsers")["userList"]] == ["mallory"]


async def test_a_user_is_blocked_unblocked_and_deleted(make_server, browser):
    console = Console.make(make_server)
    console.join("mallory")
    page = await sign_in(browser, console.own, "users/mallory")
    await page.sees("Tea table", "#user-groups")
    await press(page, "#user-acts", "Block")
    assert [row["userID"] for row in done(console.own, "getBlockedUsers")["userList"]] == ["mallory"]
    await press(page, "#user-acts", "Unblock")
    assert done(console.own, "getBlockedUsers")["userList"] == []
    await press(page, "#user-acts", "Revoke tokens")
    await page.click("#user-acts button", "Delete")
    await page.run("document.querySelector('dialog select').value = 'Revoke'")
    await page.click("dialog .primary")
    await page.sees("This user was deleted.", "#user-state")
    assert done(console.own, "getUserDeletion", userID="mallory")["state"] == "Done"


async def test_everything_of_a_user_is_saved_as_a_file(make_server, browser):
    console = Console.make(make_server)
    console.join("mallory")
    done(console.own, "setUserInfo", userID="mallory", nickName="Mallory")
    console.do("sendGroupTextMessage", asUser="mallory", text="mine")
    page = await sign_in(browser, console.own, "users/mallory")
    await page.sees("Tea table", "#user-groups")
    # The file goes to the disk of the browser: what is in it is told in its place.
    await page.run("""{
        const create = URL.createObjectURL;
        URL.createObjectURL = (blob) => (blob.text().then((text) => (window.saved = text)), create(blob));
    }""")
    await page.click("#user-acts button", "Export")
    await page.until("window.saved !== undefined")
    saved = json.loads(await page.run("window.saved"))
    assert saved["userID"] == "mallory"
    kinds = [row["kind"] for row in saved["rows"]]
    assert {"profile", "membership", "message"} <= set(kinds)
    assert [row["text"] for row in saved["rows"] if row["kind"] == "message"] == ["mine"]
    await page.sees(f"{len(kinds)} rows.", "#user-state")


# Webhooks


async def test_webhooks_that_failed_are_listed_and_posted_again(make_server, browser):
    with Receiver() as receiver:
        receiver.answer = lambda request: Answer(status=503)
        console = Console.make(make_server, settings=receiver.settings("messageSent", retention="2s"), frozen=True)
        own = console.own
        page = await sign_in(browser, own, "webhooks")
        await page.sees("None was given up.", "#failures")
        assert await page.run("document.querySelector('#retry').disabled")
        console.do("sendGroupTextMessage", asUser="olga", text="told to nobody")
        for count in (1, 2):
            await asyncio.to_thread(own.metric_becomes, "throng_webhooks_total", count, result="failed")
            await own.advance(1.1)

        async def failures():
            return len(done(own, "listWebhookFailures")["failureList"])
        await eventually(failures, 1)
        await page.run("location.hash = '#groups'")
        await page.run("location.hash = '#webhooks'")
        for words in ("messageSent", "the status is 503", "3 attempts", console.group):
            await page.sees(words, "#failures")
        await page.click("#failures summary")
        await page.sees("told to nobody", "#failures pre")
        await page.demand_usable()
        receiver.answer = lambda request: None
        await page.click("#retry")
        await page.sees("1 is posted again.", "#webhooks-state")
        await page.sees("None was given up.", "#failures")
        await receiver.expect("messageSent")
        assert await page.run("document.querySelector('#retry').disabled")


# All of it


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
    console.join("mallory", "trudy")
    done(console.own, "setUserInfo", userID="trudy", nickName="n" * 100, customInfo={"k" * 16: "v" * 512})
    console.do("setGroupMemberInfo", userID="trudy", nameCard="c" * 50)
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
    searches = (("groups", "#group-words", "tea", "#groups-state"), ("users", "#user-words", "nn", "#users-found"))
    for view, field, words, place in searches:
        await page.run(f"location.hash = '#{view}'")
        await find(page, field, words)
        await page.until(f"!document.querySelector('{place}').hidden && document.querySelector('{place}').innerText")
        await page.demand_usable()
    await page.run("location.hash = '#users/trudy'")
    await page.sees("vvv", "#profile")
    await page.sees("Tea table", "#user-groups")
    await page.demand_usable()
    assert await page.run("window.violation") is None
