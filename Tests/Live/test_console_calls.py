"""The console in a browser: what operators of other servers have in theirs. Any method by hand, requests to join,
blocked users, profiles, members, notifications, and what the server is set to."""
import json
import os
from pathlib import Path

from harness.backend import done
from test_console import KEY, Console, press, sign_in

SHOTS = Path(os.environ.get("THRONG_SCREENSHOTS") or os.devnull)


async def look(page, name):
    """It is usable at any width, in the dark too, and leaves pictures for a person."""
    await page.demand_usable()
    if not os.environ.get("THRONG_SCREENSHOTS"):
        return
    SHOTS.mkdir(parents=True, exist_ok=True)
    for scheme in ("light", "dark"):
        await page.show_as(scheme=scheme)
        await page.screenshot(SHOTS / f"console-{name}-{scheme}.png")
    await page.show_as()


async def choose(page, method):
    await page.until("document.querySelectorAll('#call-method option').length > 50")
    await page.run(f"(() => {{ const box = document.querySelector('#call-method'); box.value = '{method}';"
                   " box.dispatchEvent(new Event('change')); })()")


async def test_a_method_is_called_with_what_the_server_says_of_it(make_server, browser):
    console = Console.make(make_server)
    page = await sign_in(browser, console.own, "call/getGroupsInfo")
    await page.sees("groupIDList", "#call-about")
    await page.sees("required", "#call-about tr:first-child")
    assert json.loads(await page.run("document.querySelector('#call-params').value")) == {"groupIDList": []}
    await page.write("#call-params", json.dumps({"groupIDList": [console.group]}))
    # What only looks is called at once.
    await page.click("#call-form button")
    await page.sees('"groupName": "Tea table"', "#call-result")
    assert not await page.run("!!document.querySelector('dialog')")
    await look(page, "call")
    # Those of a connection are not offered.
    names = await page.run("[...document.querySelectorAll('#call-method option')].map((one) => one.value)")
    assert "blockUser" in names and "login" not in names and names == sorted(names)


async def test_a_call_that_changes_something_asks_first_and_names_its_fault(make_server, browser):
    console = Console.make(make_server)
    page = await sign_in(browser, console.own, "call")
    await choose(page, "setGroupInfo")
    await page.write("#call-as", "olga")
    await page.write("#call-params", json.dumps({"groupID": console.group, "groupName": "Coffee table"}))
    await page.click("#call-form button")
    await page.until("!!document.querySelector('dialog')")
    # Nothing has happened before the answer, nor behind a No.
    await page.click("dialog footer button:not(.primary)")
    await page.until("!document.querySelector('dialog')")
    assert done(console.own, "getGroupsInfo", groupIDList=[console.group])["resultList"][0]["info"]["groupName"] == "Tea table"
    await page.click("#call-form button")
    await page.click("dialog .primary")
    await page.until("!document.querySelector('dialog')")
    await page.sees("{}", "#call-result")
    info = done(console.own, "getGroupsInfo", groupIDList=[console.group])["resultList"][0]["info"]
    assert info["groupName"] == "Coffee table"
    # The server's refusal stands in the dialog, and a text that is no object below the field.
    await page.write("#call-as", "nobody")
    await page.click("#call-form button")
    await page.click("dialog .primary")
    await page.sees("10007", "dialog .fault")
    await page.click("dialog footer button:not(.primary)")
    for text, words in (("[1]", "The parameters are an object"), ("{", "The parameters are no JSON")):
        await page.write("#call-params", text)
        await page.click("#call-form button")
        await page.sees(words, "#call-fault")
    # The audit log has what was done, under the caller's name.
    (action,) = [row for row in done(console.own, "listAdministratorActions")["actionList"] if row.get("asUser") == "olga" and row["code"] == 0]
    assert action["method"] == "setGroupInfo"


async def test_requests_to_join_are_decided(make_server, browser):
    console = Console.make(make_server)
    console.do("setGroupInfo", joinMode="Auth")
    for user in ("ann", "ben"):
        console.do("joinGroup", asUser=user, message=f"{user} would like to")
    page = await sign_in(browser, console.own, "applications")
    await page.sees("ben would like to", "#applications-list tr:first-child")
    await page.sees("ann would like to", "#applications-list tr:last-child")
    await look(page, "applications")
    await press(page, "#applications-list tr:last-child", "Accept")
    await page.sees("accepted", "#applications-list tr:last-child")
    await page.click("#applications-list tr:first-child button", "Refuse")
    await page.write("dialog [name=reason]", "we are full")
    await page.click("dialog .primary")
    await page.sees("we are full", "#applications-list tr:first-child")
    assert [row["userID"] for row in console.do("getGroupMemberList")["memberList"]] == ["olga", "ann"]
    # Somebody else was faster.
    console.do("joinGroup", asUser="eve", message="me too")
    await page.run("location.hash = '#overview'")
    await page.run("location.hash = '#applications'")
    await page.sees("me too", "#applications-list tr:first-child")
    (waiting,) = [row for row in done(console.own, "getGroupApplicationList")["applicationList"] if row["handleStatus"] == "Unhandled"]
    done(console.own, "refuseGroupApplication", applicationID=waiting["applicationID"])
    await page.click("#applications-list tr:first-child button", "Accept")
    await page.click("dialog .primary")
    await page.until("document.querySelector('dialog .fault')?.innerText.match(/^[0-9]+ · /) !== null")
    assert "eve" not in {row["userID"] for row in console.do("getGroupMemberList")["memberList"]}


async def test_blocked_users_are_listed_and_unblocked(make_server, browser):
    own = make_server({"admin.apiKey": KEY})
    done(own, "blockUser", userID="mallory", blockTime=3600, reason="advertising")
    done(own, "blockUser", userID="trudy")
    page = await sign_in(browser, own, "users")
    await page.sees("advertising", "#blocked tr:first-child")
    await page.sees("without end", "#blocked tr:last-child")
    await look(page, "blocked")
    await press(page, "#blocked tr:first-child", "Unblock")
    await page.until("!document.querySelector('#blocked').innerText.includes('mallory')")
    assert [row["userID"] for row in done(own, "getBlockedUsers")["userList"]] == ["trudy"]
    # Of one user the list is out of the way.
    await page.click("#blocked a", "trudy")
    await page.sees("trudy", "#user-title")
    assert await page.run("document.querySelector('#blocked-card').hidden")


async def test_a_profile_is_edited(make_server, browser):
    own = make_server({"admin.apiKey": KEY})
    done(own, "setUserInfo", userID="trudy", nickName="Rude name", customInfo={"city": "Ulm"})
    page = await sign_in(browser, own, "users/trudy")
    await page.sees("Rude name", "#user-title")
    await page.click("#user-acts button", "Edit")
    await page.write("dialog [name=nickName]", "Trudy")
    await page.click("dialog .primary")
    await page.sees("Trudy", "#user-title")
    (user,) = done(own, "getUsersInfo", userIDList=["trudy"])["userList"]
    assert (user["nickName"], user["customInfo"]) == ("Trudy", {"city": "Ulm"}), "the rest stays"


async def test_members_are_added_and_a_group_is_notified(make_server, make_world, browser):
    console = Console.make(make_server)
    olga = await make_world(console.own).session("olga")
    page = await console.open(browser)
    await page.click("#group-acts button", "Add members")
    await page.write("dialog [name=users]", "ann, ben\nolga")
    await page.click("dialog .primary")
    # Who is a member is no fault of the others.
    await page.sees("olga: ", "dialog .fault")
    await page.click("dialog footer button:not(.primary)")
    assert [row["userID"] for row in console.do("getGroupMemberList")["memberList"]] == ["olga", "ann", "ben"]
    await page.click("#group-acts button", "Notify")
    await page.write("dialog [name=content]", '{"maintenance": "at nine"}')
    await page.click("dialog .primary")
    told = await olga.expect("onReceiveRESTCustomData")
    assert told["customData"] == '{"maintenance": "at nine"}'


async def test_the_server_shows_what_it_is_set_to(make_server, browser):
    own = make_server({"admin.apiKey": KEY, "limits.groupsPerUser": 777})
    page = await sign_in(browser, own, "server")
    await page.sees("Throng ", "#server-version")
    await page.until("document.querySelector('#limits').innerText.replace(/\\s+/g, ' ').includes('limits.groupsPerUser 777')")
    await page.sees("BChatRoom", "#types")
    await page.sees("a group may change it", "#types")
    await look(page, "server")
    # Behind a sign-out nothing of it is left.
    await page.click("#sign-out")
    text = await page.run("document.querySelector('#console').textContent")
    assert "777" not in text and "BChatRoom may" not in text
