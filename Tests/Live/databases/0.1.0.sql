


SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;


CREATE FUNCTION public.memberinserted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    DECLARE
      joined text COLLATE "C";
    BEGIN
      SELECT g.groupID INTO joined FROM groupRecord AS g WHERE g.number = NEW.number;
      DELETE FROM departure AS d WHERE d.userID = NEW.userID AND d.groupID = joined;
      IF EXISTS (SELECT 1 FROM dismissedGroup AS d WHERE d.groupID = joined) THEN
        INSERT INTO notification
        SELECT m.userID, n.number, n.timestamp, n.kind, n.groupID, n.opUser, n.applicationID, n.reason, n.data, n.groupName,
          n.platform, n.opNickName, n.opFaceURL
        FROM dismissedGroup AS d JOIN member AS m ON m.number = d.number AND m.userID = NEW.userID
        JOIN notification AS n ON n.addressee = '@members:' || d.number WHERE d.groupID = joined
        ON CONFLICT DO NOTHING;
        DELETE FROM member AS m USING dismissedGroup AS d
        WHERE m.number = d.number AND d.groupID = joined AND m.userID = NEW.userID;
      END IF;
      RETURN NULL;
    END $$;



CREATE FUNCTION public.throng_bus(noting bigint, isconnected boolean) RETURNS void
    LANGUAGE plpgsql
    AS $_$
    BEGIN
      PERFORM throng_change();
      UPDATE node SET isOnBus = $2 WHERE number = $1;
    END $_$;



CREATE FUNCTION public.throng_change() RETURNS void
    LANGUAGE plpgsql
    AS $$
    BEGIN
      UPDATE clusterState SET version = version + 1;
      PERFORM pg_notify('throng_cluster', '');
    END $$;



CREATE FUNCTION public.throng_claim(claiming bigint, wanted bigint[]) RETURNS TABLE(claimed bigint, claimedepoch bigint)
    LANGUAGE plpgsql
    AS $_$
    BEGIN
      PERFORM throng_change();
      RETURN QUERY UPDATE shard AS s SET owner = $1, epoch = s.epoch + 1
      WHERE s.number = ANY($2) AND EXISTS (SELECT 1 FROM node AS n WHERE n.number = $1)
        AND NOT EXISTS (SELECT 1 FROM node AS n WHERE n.number = s.owner)
      RETURNING s.number, s.epoch;
    END $_$;



CREATE FUNCTION public.throng_drain(draining bigint) RETURNS bigint
    LANGUAGE plpgsql
    AS $_$
    DECLARE
      found bigint;
    BEGIN
      PERFORM throng_change();
      UPDATE node SET isDraining = true WHERE number = $1;
      GET DIAGNOSTICS found = ROW_COUNT;
      RETURN found;
    END $_$;



CREATE FUNCTION public.throng_expire(lease bigint) RETURNS SETOF bigint
    LANGUAGE plpgsql
    AS $_$
    DECLARE
      gone bigint[];
    BEGIN
      PERFORM throng_change();
      SELECT coalesce(array_agg(old.number), '{}') INTO gone FROM (
        SELECT n.number FROM node AS n JOIN writer AS w ON w.node = n.number
        WHERE n.heartbeat < clock_timestamp() - $1 * interval '1 millisecond' FOR UPDATE SKIP LOCKED
      ) AS old;
      DELETE FROM node WHERE number = ANY(gone);
      UPDATE writer SET isGone = true WHERE node = ANY(gone);
      RETURN QUERY SELECT unnest(gone);
    END $_$;



CREATE FUNCTION public.throng_fence(node bigint, batch bigint) RETURNS void
    LANGUAGE plpgsql
    AS $_$
    BEGIN
      UPDATE writer SET batch = $2 WHERE writer.node = $1 AND NOT writer.isGone;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'node % was removed', $1 USING ERRCODE = 'TH001';
      END IF;
    END $_$;



CREATE FUNCTION public.throng_join(name text, address text, release text, busversion bigint) RETURNS bigint
    LANGUAGE plpgsql
    AS $_$
    DECLARE
      joined bigint;
    BEGIN
      PERFORM throng_change();
      INSERT INTO node (name, address, release, busVersion, isAlone) VALUES ($1, $2, $3, $4, false)
      RETURNING number INTO joined;
      INSERT INTO writer VALUES (joined, 0, false);
      DELETE FROM writer WHERE isGone AND node < joined - 1000;
      RETURN joined;
    END $_$;



CREATE FUNCTION public.throng_leave(leaving bigint) RETURNS void
    LANGUAGE plpgsql
    AS $_$
    BEGIN
      PERFORM throng_change();
      DELETE FROM node WHERE number = $1;
      UPDATE writer SET isGone = true WHERE node = $1;
    END $_$;



CREATE FUNCTION public.throng_release(releasing bigint, given bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $_$
    BEGIN
      PERFORM throng_change();
      UPDATE shard SET owner = NULL WHERE number = ANY($2) AND owner = $1;
    END $_$;



CREATE SEQUENCE public.applicationnumber
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


SET default_tablespace = '';

SET default_table_access_method = heap;


CREATE TABLE public.application (
    number bigint DEFAULT nextval('public.applicationnumber'::regclass) NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    groupnumber bigint NOT NULL,
    groupid text NOT NULL COLLATE pg_catalog."C",
    epoch text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    fromuser text NOT NULL COLLATE pg_catalog."C",
    touser text COLLATE pg_catalog."C",
    addtime bigint NOT NULL,
    handledtime bigint,
    isagreed boolean,
    handledby text COLLATE pg_catalog."C",
    endtime bigint,
    isgroupgone boolean DEFAULT false NOT NULL,
    requestmsg text NOT NULL COLLATE pg_catalog."C",
    attach text COLLATE pg_catalog."C",
    handledmsg text COLLATE pg_catalog."C"
);



CREATE UNLOGGED TABLE public.busmessage (
    publisher bigint NOT NULL,
    number bigint NOT NULL,
    data bytea NOT NULL,
    "time" timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);



CREATE TABLE public.clusterstate (
    version bigint NOT NULL
);



CREATE TABLE public.departure (
    userid text NOT NULL COLLATE pg_catalog."C",
    groupid text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    "time" bigint NOT NULL,
    groupnumber bigint NOT NULL
);



CREATE TABLE public.dismissedgroup (
    number bigint NOT NULL,
    groupid text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    "time" bigint NOT NULL
);



CREATE TABLE public.formermember (
    number bigint NOT NULL,
    userid text NOT NULL COLLATE pg_catalog."C",
    muteuntil bigint NOT NULL,
    banneduntil bigint NOT NULL,
    lefttime bigint NOT NULL,
    memorableuntil bigint NOT NULL,
    mutedat bigint NOT NULL,
    restricteduntil bigint GENERATED ALWAYS AS (GREATEST(muteuntil, banneduntil)) STORED NOT NULL,
    stays text COLLATE pg_catalog."C",
    banreason text NOT NULL COLLATE pg_catalog."C"
);



CREATE TABLE public.gonereaction (
    number bigint NOT NULL,
    kind bigint NOT NULL
);



CREATE TABLE public.groupattributes (
    number bigint NOT NULL,
    entries text NOT NULL COLLATE pg_catalog."C"
);



CREATE TABLE public.groupcounter (
    number bigint NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    value bigint NOT NULL
);



CREATE TABLE public.grouprecord (
    number bigint NOT NULL,
    groupid text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    epoch text NOT NULL COLLATE pg_catalog."C",
    createtime bigint NOT NULL,
    owner text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    maxmembernum bigint NOT NULL,
    joinmode text NOT NULL COLLATE pg_catalog."C",
    invitemode text NOT NULL COLLATE pg_catalog."C",
    beinvitemode text NOT NULL COLLATE pg_catalog."C",
    updateinfomode text NOT NULL COLLATE pg_catalog."C",
    updatecustommode text NOT NULL COLLATE pg_catalog."C",
    ownerquitmode text NOT NULL COLLATE pg_catalog."C",
    memberchangenotification boolean NOT NULL,
    issearchable boolean NOT NULL,
    ismembervisible boolean NOT NULL,
    mutemode text NOT NULL COLLATE pg_catalog."C",
    muteroles text COLLATE pg_catalog."C",
    muteuntil bigint,
    lastinfotime bigint NOT NULL,
    changetime bigint NOT NULL,
    importedthroughseq bigint NOT NULL,
    nextordinal bigint NOT NULL,
    mutedat bigint NOT NULL,
    changeseq bigint NOT NULL,
    firstseq bigint DEFAULT 1 NOT NULL,
    firsttime bigint,
    removedtime bigint DEFAULT 0 NOT NULL,
    introduction text NOT NULL COLLATE pg_catalog."C",
    notification text NOT NULL COLLATE pg_catalog."C",
    faceurl text NOT NULL COLLATE pg_catalog."C",
    custominfo text COLLATE pg_catalog."C",
    servercustominfo text NOT NULL COLLATE pg_catalog."C"
);



ALTER TABLE public.grouprecord ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.grouprecord_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);



CREATE TABLE public.knownuser (
    userid text NOT NULL COLLATE pg_catalog."C",
    offlinesince bigint
);



CREATE TABLE public.member (
    number bigint NOT NULL,
    userid text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL COLLATE pg_catalog."C",
    jointime bigint NOT NULL,
    ordinal bigint NOT NULL,
    muteuntil bigint NOT NULL,
    receiveoption text NOT NULL COLLATE pg_catalog."C",
    readseq bigint NOT NULL,
    unreadbase bigint NOT NULL,
    unreadsinceseq bigint,
    firstvisibleseq bigint NOT NULL,
    inviter text COLLATE pg_catalog."C",
    changetime bigint NOT NULL,
    mutedat bigint NOT NULL,
    earlierstays text COLLATE pg_catalog."C",
    namecard text NOT NULL COLLATE pg_catalog."C",
    custominfo text COLLATE pg_catalog."C"
);



CREATE TABLE public.message (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    "timestamp" bigint NOT NULL,
    sender text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    isrevoked boolean NOT NULL,
    isfrommanager boolean NOT NULL,
    needreadreceipt boolean NOT NULL,
    priority text NOT NULL COLLATE pg_catalog."C",
    platform text NOT NULL COLLATE pg_catalog."C",
    msgid text NOT NULL COLLATE pg_catalog."C",
    clientmsgid text COLLATE pg_catalog."C",
    namecard text NOT NULL COLLATE pg_catalog."C",
    atuseridlist text COLLATE pg_catalog."C",
    content text NOT NULL COLLATE pg_catalog."C"
);



CREATE TABLE public.messagechange (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    changeseq bigint NOT NULL,
    edittime bigint NOT NULL,
    pinned bigint NOT NULL
);



CREATE TABLE public.node (
    number bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    heartbeat timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    address text DEFAULT ''::text NOT NULL,
    release text DEFAULT ''::text NOT NULL,
    busversion bigint DEFAULT 0 NOT NULL,
    isdraining boolean DEFAULT false NOT NULL,
    isonbus boolean DEFAULT true NOT NULL,
    isalone boolean DEFAULT true NOT NULL
);



ALTER TABLE public.node ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.node_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);



CREATE TABLE public.notification (
    addressee text NOT NULL COLLATE pg_catalog."C",
    number bigint NOT NULL,
    "timestamp" bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    groupid text NOT NULL COLLATE pg_catalog."C",
    opuser text NOT NULL COLLATE pg_catalog."C",
    applicationid text COLLATE pg_catalog."C",
    reason text COLLATE pg_catalog."C",
    data text COLLATE pg_catalog."C",
    groupname text COLLATE pg_catalog."C",
    platform text COLLATE pg_catalog."C",
    opnickname text COLLATE pg_catalog."C",
    opfaceurl text COLLATE pg_catalog."C"
);



CREATE SEQUENCE public.notificationnumber
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;



CREATE TABLE public.probe (
    id bigint NOT NULL,
    "time" timestamp with time zone NOT NULL
);



CREATE TABLE public.reaction (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    kind bigint NOT NULL,
    count bigint NOT NULL,
    reaction text NOT NULL COLLATE pg_catalog."C"
);



CREATE TABLE public.reactionuser (
    number bigint NOT NULL,
    kind bigint NOT NULL,
    userid text NOT NULL COLLATE pg_catalog."C",
    "time" bigint NOT NULL
);



CREATE TABLE public.readmark (
    userid text NOT NULL COLLATE pg_catalog."C",
    applications bigint DEFAULT 0 NOT NULL,
    notifications bigint DEFAULT 0 NOT NULL
);



CREATE TABLE public.readreceipt (
    number bigint NOT NULL,
    block bigint NOT NULL,
    userid text NOT NULL COLLATE pg_catalog."C",
    seqs bit(1024) NOT NULL
);



CREATE TABLE public.receiptmembers (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    userids text NOT NULL COLLATE pg_catalog."C"
);



CREATE TABLE public.schemaversion (
    version bigint NOT NULL
);



CREATE TABLE public.shard (
    number bigint NOT NULL,
    owner bigint,
    epoch bigint NOT NULL
);



CREATE TABLE public.userinfo (
    userid text NOT NULL COLLATE pg_catalog."C",
    nickname text NOT NULL COLLATE pg_catalog."C",
    faceurl text NOT NULL COLLATE pg_catalog."C",
    custominfo text COLLATE pg_catalog."C"
);



CREATE TABLE public.webhook (
    number bigint NOT NULL,
    lane text NOT NULL COLLATE pg_catalog."C",
    groupnumber bigint,
    seq bigint,
    id text COLLATE pg_catalog."C",
    type text COLLATE pg_catalog."C",
    "timestamp" bigint,
    since bigint,
    data bytea,
    CONSTRAINT webhook_check CHECK (((data IS NULL) = (groupnumber IS NOT NULL)))
);



CREATE TABLE public.webhookfailure (
    number bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    lane text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    "timestamp" bigint NOT NULL,
    attempts bigint NOT NULL,
    lasterror text NOT NULL COLLATE pg_catalog."C",
    data bytea NOT NULL
);



ALTER TABLE public.webhookfailure ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.webhookfailure_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);



CREATE SEQUENCE public.webhooknumber
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;



CREATE TABLE public.writer (
    node bigint NOT NULL,
    batch bigint NOT NULL,
    isgone boolean NOT NULL
)
WITH (fillfactor='20');



COPY public.application (number, id, groupnumber, groupid, epoch, kind, fromuser, touser, addtime, handledtime, isagreed, handledby, endtime, isgroupgone, requestmsg, attach, handledmsg) FROM stdin;
1	1tybtan5609cr3g8x1uxit221d	2	club	q81lf5mr6wrt	Join	dave	\N	1795766131089	\N	\N	\N	\N	f	please	\N	\N
\.



COPY public.busmessage (publisher, number, data, "time") FROM stdin;
\.



COPY public.clusterstate (version) FROM stdin;
1
\.



COPY public.departure (userid, groupid, type, "time", groupnumber) FROM stdin;
bob	meeting	Meeting	1795766131098	3
carol	meeting	Meeting	1795766131100	3
\.



COPY public.dismissedgroup (number, groupid, type, "time") FROM stdin;
6	gone	Public	1795766131106
\.



COPY public.formermember (number, userid, muteuntil, banneduntil, lefttime, memorableuntil, mutedat, stays, banreason) FROM stdin;
3	bob	0	6090733426098	1795766131098	6090733426098	0	\N	late
3	carol	0	0	1795766131100	1798358131100	0	\N	
\.



COPY public.gonereaction (number, kind) FROM stdin;
\.



COPY public.groupattributes (number, entries) FROM stdin;
3	[["place", "Ulm"], ["topic", "tea"]]
\.



COPY public.groupcounter (number, key, value) FROM stdin;
3	visits	12
\.



COPY public.grouprecord (number, groupid, type, epoch, createtime, owner, name, maxmembernum, joinmode, invitemode, beinvitemode, updateinfomode, updatecustommode, ownerquitmode, memberchangenotification, issearchable, ismembervisible, mutemode, muteroles, muteuntil, lastinfotime, changetime, importedthroughseq, nextordinal, mutedat, changeseq, firstseq, firsttime, removedtime, introduction, notification, faceurl, custominfo, servercustominfo) FROM stdin;
1	work	Work	1bw4jesttxeyw	1795766131028	alice	Plans	6000	Forbid	Any	None	Any	Any	Transfer	t	f	t	None	\N	\N	1795766131028	1795766131046	0	4	0	5	1	\N	0	What we do			{"k":"v"}	
2	club	Public	q81lf5mr6wrt	1795766131087	alice	Club	6000	Auth	Nobody	None	Admin	Admin	Forbid	t	t	t	None	\N	\N	1795766131087	0	0	4	0	0	1	\N	0				\N	
3	meeting	Meeting	19jzypn5r3iny	1795766131094	alice	Meeting	6000	Any	Nobody	None	Admin	Admin	Forbid	f	t	t	None	\N	\N	1795766131094	0	0	4	0	0	1	\N	0				\N	
4	room	AVChatRoom	37pswng1qvor7	1795766131102	alice	Room	0	Any	Nobody	None	Owner	Owner	Forbid	t	f	t	None	\N	\N	1795766131102	0	0	2	0	0	1	\N	0				\N	
5	all	BChatRoom	108728ght85w4	1795766131103	alice	All	0	Forbid	Nobody	None	Owner	Owner	Forbid	t	f	t	None	\N	\N	1795766131103	0	0	2	0	0	1	\N	0				\N	
\.



COPY public.knownuser (userid, offlinesince) FROM stdin;
alice	1795766131108
bob	1795766131108
carol	1795766131108
dave	1795766131108
\.



COPY public.member (number, userid, role, jointime, ordinal, muteuntil, receiveoption, readseq, unreadbase, unreadsinceseq, firstvisibleseq, inviter, changetime, mutedat, earlierstays, namecard, custominfo) FROM stdin;
1	alice	Owner	1795766131028	1	0	Receive	0	0	0	1	\N	1795766131028	0	\N		\N
1	bob	Member	1795766131028	2	0	Receive	2	0	0	1	alice	1795766131049	0	\N		\N
1	carol	Member	1795766131028	3	0	ReceiveNotNotify	0	0	0	1	alice	1795766131049	0	\N		\N
2	alice	Owner	1795766131087	1	0	Receive	0	0	0	1	\N	1795766131087	0	\N		\N
2	bob	Admin	1795766131087	2	0	Receive	0	0	0	1	alice	1795766131087	0	\N		\N
2	carol	Member	1795766131087	3	6090733426092	Receive	0	0	0	1	alice	1795766131093	1795766131092	\N	Caro	{"team":"red"}
3	alice	Owner	1795766131094	1	0	ReceiveNotNotify	0	0	0	1	\N	1795766131094	0	\N		\N
4	alice	Owner	1795766131102	1	0	ReceiveNotNotify	0	0	0	1	\N	1795766131102	0	\N		\N
5	alice	Owner	1795766131103	1	0	ReceiveNotNotify	0	0	0	1	\N	1795766131103	0	\N		\N
6	dave	Owner	1795766131105	1	0	Receive	0	0	0	1	\N	1795766131105	0	\N		\N
\.



COPY public.message (number, seq, "timestamp", sender, kind, isrevoked, isfrommanager, needreadreceipt, priority, platform, msgid, clientmsgid, namecard, atuseridlist, content) FROM stdin;
1	1	1795766131032	alice	Text	f	t	f	Normal	Unknown	1bw4jesttxeyw-1	\N		\N	one
1	2	1795766131033	alice	Text	f	t	f	Normal	Unknown	1bw4jesttxeyw-2	\N		\N	Naïve 😀 中文  end
1	5	1795766131036	bob	Custom	f	f	f	Normal	Unknown	1bw4jesttxeyw-5	\N		\N	{"kind":"poll"}
1	6	1795766131037	alice	Text	f	t	t	Normal	Unknown	1bw4jesttxeyw-6	\N		["bob"]	read this
1	3	1795766131034	alice	Text	t	t	f	Normal	Unknown	1bw4jesttxeyw-3	\N		\N	
1	4	1795766131034	alice	Text	f	t	f	Normal	Unknown	1bw4jesttxeyw-4	\N		\N	four, better
2	1	1795766131092	alice	GroupTips	f	f	f	Normal	Unknown	q81lf5mr6wrt-1	\N		\N	{"type":"MemberInfoChange","opUser":{"userID":"alice","nameCard":"","role":"Owner"},"changeInfoList":[{"userID":"carol","muteTime":4294967295}],"memberCount":3}
2	2	1795766131093	carol	GroupTips	f	f	f	Normal	Unknown	q81lf5mr6wrt-2	\N	Caro	\N	{"type":"MemberInfoChange","opUser":{"userID":"carol","nameCard":"Caro","role":"Member"},"changeInfoList":[{"userID":"carol","nameCard":"Caro","customInfo":{"team":"red"}}],"memberCount":3}
2	3	1795766131093	alice	Text	f	t	f	Normal	Unknown	q81lf5mr6wrt-3	\N		\N	welcome
\.



COPY public.messagechange (number, seq, changeseq, edittime, pinned) FROM stdin;
1	3	1	0	0
1	4	2	1795766131041	0
1	1	4	0	0
1	2	5	0	5
\.



COPY public.node (number, name, heartbeat, address, release, busversion, isdraining, isonbus, isalone) FROM stdin;
\.



COPY public.notification (addressee, number, "timestamp", kind, groupid, opuser, applicationid, reason, data, groupname, platform, opnickname, opfaceurl) FROM stdin;
alice	1	1795766131028	GroupCreated	work	{"userID":"alice","nameCard":"","role":"Owner"}	\N	\N	\N	Plans	Unknown	Alice	https://example.com/a.png
alice	2	1795766131087	GroupCreated	club	{"userID":"alice","nameCard":"","role":"Owner"}	\N	\N	\N	Club	Unknown	Alice	https://example.com/a.png
@managers:2	3	1795766131089	AddGroupRequest	club	{"userID":"dave","nameCard":"","role":"NotMember"}	1tybtan5609cr3g8x1uxit221d	please	\N	Club	Unknown	\N	\N
alice	4	1795766131094	GroupCreated	meeting	{"userID":"alice","nameCard":"","role":"Owner"}	\N	\N	\N	Meeting	Unknown	Alice	https://example.com/a.png
bob	5	1795766131098	KickedOff	meeting	{"userID":"alice","nameCard":"","role":"Owner"}	\N	late	\N	Meeting	Unknown	Alice	https://example.com/a.png
carol	6	1795766131100	QuitGroup	meeting	{"userID":"carol","nameCard":"","role":"Member"}	\N	\N	\N	Meeting	Unknown	\N	\N
dave	7	1795766131105	GroupCreated	gone	{"userID":"dave","nameCard":"","role":"Owner"}	\N	\N	\N	Gone	Unknown	\N	\N
@members:6	8	1795766131106	GroupDismissed	gone	{"userID":"dave","nameCard":"","role":"Owner"}	\N	\N	\N	Gone	Unknown	\N	\N
\.



COPY public.probe (id, "time") FROM stdin;
\.



COPY public.reaction (number, seq, kind, count, reaction) FROM stdin;
1	1	3	2	👍
\.



COPY public.reactionuser (number, kind, userid, "time") FROM stdin;
1	3	bob	3
1	3	carol	4
\.



COPY public.readmark (userid, applications, notifications) FROM stdin;
\.



COPY public.readreceipt (number, block, userid, seqs) FROM stdin;
1	0	bob	0000001000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
\.



COPY public.receiptmembers (number, seq, userids) FROM stdin;
1	6	alice bob carol
\.



COPY public.schemaversion (version) FROM stdin;
1
2
\.



COPY public.shard (number, owner, epoch) FROM stdin;
0	\N	0
1	\N	0
2	\N	0
3	\N	0
4	\N	0
5	\N	0
6	\N	0
7	\N	0
8	\N	0
9	\N	0
10	\N	0
11	\N	0
12	\N	0
13	\N	0
14	\N	0
15	\N	0
16	\N	0
17	\N	0
18	\N	0
19	\N	0
20	\N	0
21	\N	0
22	\N	0
23	\N	0
24	\N	0
25	\N	0
26	\N	0
27	\N	0
28	\N	0
29	\N	0
30	\N	0
31	\N	0
32	\N	0
33	\N	0
34	\N	0
35	\N	0
36	\N	0
37	\N	0
38	\N	0
39	\N	0
40	\N	0
41	\N	0
42	\N	0
43	\N	0
44	\N	0
45	\N	0
46	\N	0
47	\N	0
48	\N	0
49	\N	0
50	\N	0
51	\N	0
52	\N	0
53	\N	0
54	\N	0
55	\N	0
56	\N	0
57	\N	0
58	\N	0
59	\N	0
60	\N	0
61	\N	0
62	\N	0
63	\N	0
64	\N	0
65	\N	0
66	\N	0
67	\N	0
68	\N	0
69	\N	0
70	\N	0
71	\N	0
72	\N	0
73	\N	0
74	\N	0
75	\N	0
76	\N	0
77	\N	0
78	\N	0
79	\N	0
80	\N	0
81	\N	0
82	\N	0
83	\N	0
84	\N	0
85	\N	0
86	\N	0
87	\N	0
88	\N	0
89	\N	0
90	\N	0
91	\N	0
92	\N	0
93	\N	0
94	\N	0
95	\N	0
96	\N	0
97	\N	0
98	\N	0
99	\N	0
100	\N	0
101	\N	0
102	\N	0
103	\N	0
104	\N	0
105	\N	0
106	\N	0
107	\N	0
108	\N	0
109	\N	0
110	\N	0
111	\N	0
112	\N	0
113	\N	0
114	\N	0
115	\N	0
116	\N	0
117	\N	0
118	\N	0
119	\N	0
120	\N	0
121	\N	0
122	\N	0
123	\N	0
124	\N	0
125	\N	0
126	\N	0
127	\N	0
128	\N	0
129	\N	0
130	\N	0
131	\N	0
132	\N	0
133	\N	0
134	\N	0
135	\N	0
136	\N	0
137	\N	0
138	\N	0
139	\N	0
140	\N	0
141	\N	0
142	\N	0
143	\N	0
144	\N	0
145	\N	0
146	\N	0
147	\N	0
148	\N	0
149	\N	0
150	\N	0
151	\N	0
152	\N	0
153	\N	0
154	\N	0
155	\N	0
156	\N	0
157	\N	0
158	\N	0
159	\N	0
160	\N	0
161	\N	0
162	\N	0
163	\N	0
164	\N	0
165	\N	0
166	\N	0
167	\N	0
168	\N	0
169	\N	0
170	\N	0
171	\N	0
172	\N	0
173	\N	0
174	\N	0
175	\N	0
176	\N	0
177	\N	0
178	\N	0
179	\N	0
180	\N	0
181	\N	0
182	\N	0
183	\N	0
184	\N	0
185	\N	0
186	\N	0
187	\N	0
188	\N	0
189	\N	0
190	\N	0
191	\N	0
192	\N	0
193	\N	0
194	\N	0
195	\N	0
196	\N	0
197	\N	0
198	\N	0
199	\N	0
200	\N	0
201	\N	0
202	\N	0
203	\N	0
204	\N	0
205	\N	0
206	\N	0
207	\N	0
208	\N	0
209	\N	0
210	\N	0
211	\N	0
212	\N	0
213	\N	0
214	\N	0
215	\N	0
216	\N	0
217	\N	0
218	\N	0
219	\N	0
220	\N	0
221	\N	0
222	\N	0
223	\N	0
224	\N	0
225	\N	0
226	\N	0
227	\N	0
228	\N	0
229	\N	0
230	\N	0
231	\N	0
232	\N	0
233	\N	0
234	\N	0
235	\N	0
236	\N	0
237	\N	0
238	\N	0
239	\N	0
240	\N	0
241	\N	0
242	\N	0
243	\N	0
244	\N	0
245	\N	0
246	\N	0
247	\N	0
248	\N	0
249	\N	0
250	\N	0
251	\N	0
252	\N	0
253	\N	0
254	\N	0
255	\N	0
256	\N	0
257	\N	0
258	\N	0
259	\N	0
260	\N	0
261	\N	0
262	\N	0
263	\N	0
264	\N	0
265	\N	0
266	\N	0
267	\N	0
268	\N	0
269	\N	0
270	\N	0
271	\N	0
272	\N	0
273	\N	0
274	\N	0
275	\N	0
276	\N	0
277	\N	0
278	\N	0
279	\N	0
280	\N	0
281	\N	0
282	\N	0
283	\N	0
284	\N	0
285	\N	0
286	\N	0
287	\N	0
288	\N	0
289	\N	0
290	\N	0
291	\N	0
292	\N	0
293	\N	0
294	\N	0
295	\N	0
296	\N	0
297	\N	0
298	\N	0
299	\N	0
300	\N	0
301	\N	0
302	\N	0
303	\N	0
304	\N	0
305	\N	0
306	\N	0
307	\N	0
308	\N	0
309	\N	0
310	\N	0
311	\N	0
312	\N	0
313	\N	0
314	\N	0
315	\N	0
316	\N	0
317	\N	0
318	\N	0
319	\N	0
320	\N	0
321	\N	0
322	\N	0
323	\N	0
324	\N	0
325	\N	0
326	\N	0
327	\N	0
328	\N	0
329	\N	0
330	\N	0
331	\N	0
332	\N	0
333	\N	0
334	\N	0
335	\N	0
336	\N	0
337	\N	0
338	\N	0
339	\N	0
340	\N	0
341	\N	0
342	\N	0
343	\N	0
344	\N	0
345	\N	0
346	\N	0
347	\N	0
348	\N	0
349	\N	0
350	\N	0
351	\N	0
352	\N	0
353	\N	0
354	\N	0
355	\N	0
356	\N	0
357	\N	0
358	\N	0
359	\N	0
360	\N	0
361	\N	0
362	\N	0
363	\N	0
364	\N	0
365	\N	0
366	\N	0
367	\N	0
368	\N	0
369	\N	0
370	\N	0
371	\N	0
372	\N	0
373	\N	0
374	\N	0
375	\N	0
376	\N	0
377	\N	0
378	\N	0
379	\N	0
380	\N	0
381	\N	0
382	\N	0
383	\N	0
384	\N	0
385	\N	0
386	\N	0
387	\N	0
388	\N	0
389	\N	0
390	\N	0
391	\N	0
392	\N	0
393	\N	0
394	\N	0
395	\N	0
396	\N	0
397	\N	0
398	\N	0
399	\N	0
400	\N	0
401	\N	0
402	\N	0
403	\N	0
404	\N	0
405	\N	0
406	\N	0
407	\N	0
408	\N	0
409	\N	0
410	\N	0
411	\N	0
412	\N	0
413	\N	0
414	\N	0
415	\N	0
416	\N	0
417	\N	0
418	\N	0
419	\N	0
420	\N	0
421	\N	0
422	\N	0
423	\N	0
424	\N	0
425	\N	0
426	\N	0
427	\N	0
428	\N	0
429	\N	0
430	\N	0
431	\N	0
432	\N	0
433	\N	0
434	\N	0
435	\N	0
436	\N	0
437	\N	0
438	\N	0
439	\N	0
440	\N	0
441	\N	0
442	\N	0
443	\N	0
444	\N	0
445	\N	0
446	\N	0
447	\N	0
448	\N	0
449	\N	0
450	\N	0
451	\N	0
452	\N	0
453	\N	0
454	\N	0
455	\N	0
456	\N	0
457	\N	0
458	\N	0
459	\N	0
460	\N	0
461	\N	0
462	\N	0
463	\N	0
464	\N	0
465	\N	0
466	\N	0
467	\N	0
468	\N	0
469	\N	0
470	\N	0
471	\N	0
472	\N	0
473	\N	0
474	\N	0
475	\N	0
476	\N	0
477	\N	0
478	\N	0
479	\N	0
480	\N	0
481	\N	0
482	\N	0
483	\N	0
484	\N	0
485	\N	0
486	\N	0
487	\N	0
488	\N	0
489	\N	0
490	\N	0
491	\N	0
492	\N	0
493	\N	0
494	\N	0
495	\N	0
496	\N	0
497	\N	0
498	\N	0
499	\N	0
500	\N	0
501	\N	0
502	\N	0
503	\N	0
504	\N	0
505	\N	0
506	\N	0
507	\N	0
508	\N	0
509	\N	0
510	\N	0
511	\N	0
512	\N	0
513	\N	0
514	\N	0
515	\N	0
516	\N	0
517	\N	0
518	\N	0
519	\N	0
520	\N	0
521	\N	0
522	\N	0
523	\N	0
524	\N	0
525	\N	0
526	\N	0
527	\N	0
528	\N	0
529	\N	0
530	\N	0
531	\N	0
532	\N	0
533	\N	0
534	\N	0
535	\N	0
536	\N	0
537	\N	0
538	\N	0
539	\N	0
540	\N	0
541	\N	0
542	\N	0
543	\N	0
544	\N	0
545	\N	0
546	\N	0
547	\N	0
548	\N	0
549	\N	0
550	\N	0
551	\N	0
552	\N	0
553	\N	0
554	\N	0
555	\N	0
556	\N	0
557	\N	0
558	\N	0
559	\N	0
560	\N	0
561	\N	0
562	\N	0
563	\N	0
564	\N	0
565	\N	0
566	\N	0
567	\N	0
568	\N	0
569	\N	0
570	\N	0
571	\N	0
572	\N	0
573	\N	0
574	\N	0
575	\N	0
576	\N	0
577	\N	0
578	\N	0
579	\N	0
580	\N	0
581	\N	0
582	\N	0
583	\N	0
584	\N	0
585	\N	0
586	\N	0
587	\N	0
588	\N	0
589	\N	0
590	\N	0
591	\N	0
592	\N	0
593	\N	0
594	\N	0
595	\N	0
596	\N	0
597	\N	0
598	\N	0
599	\N	0
600	\N	0
601	\N	0
602	\N	0
603	\N	0
604	\N	0
605	\N	0
606	\N	0
607	\N	0
608	\N	0
609	\N	0
610	\N	0
611	\N	0
612	\N	0
613	\N	0
614	\N	0
615	\N	0
616	\N	0
617	\N	0
618	\N	0
619	\N	0
620	\N	0
621	\N	0
622	\N	0
623	\N	0
624	\N	0
625	\N	0
626	\N	0
627	\N	0
628	\N	0
629	\N	0
630	\N	0
631	\N	0
632	\N	0
633	\N	0
634	\N	0
635	\N	0
636	\N	0
637	\N	0
638	\N	0
639	\N	0
640	\N	0
641	\N	0
642	\N	0
643	\N	0
644	\N	0
645	\N	0
646	\N	0
647	\N	0
648	\N	0
649	\N	0
650	\N	0
651	\N	0
652	\N	0
653	\N	0
654	\N	0
655	\N	0
656	\N	0
657	\N	0
658	\N	0
659	\N	0
660	\N	0
661	\N	0
662	\N	0
663	\N	0
664	\N	0
665	\N	0
666	\N	0
667	\N	0
668	\N	0
669	\N	0
670	\N	0
671	\N	0
672	\N	0
673	\N	0
674	\N	0
675	\N	0
676	\N	0
677	\N	0
678	\N	0
679	\N	0
680	\N	0
681	\N	0
682	\N	0
683	\N	0
684	\N	0
685	\N	0
686	\N	0
687	\N	0
688	\N	0
689	\N	0
690	\N	0
691	\N	0
692	\N	0
693	\N	0
694	\N	0
695	\N	0
696	\N	0
697	\N	0
698	\N	0
699	\N	0
700	\N	0
701	\N	0
702	\N	0
703	\N	0
704	\N	0
705	\N	0
706	\N	0
707	\N	0
708	\N	0
709	\N	0
710	\N	0
711	\N	0
712	\N	0
713	\N	0
714	\N	0
715	\N	0
716	\N	0
717	\N	0
718	\N	0
719	\N	0
720	\N	0
721	\N	0
722	\N	0
723	\N	0
724	\N	0
725	\N	0
726	\N	0
727	\N	0
728	\N	0
729	\N	0
730	\N	0
731	\N	0
732	\N	0
733	\N	0
734	\N	0
735	\N	0
736	\N	0
737	\N	0
738	\N	0
739	\N	0
740	\N	0
741	\N	0
742	\N	0
743	\N	0
744	\N	0
745	\N	0
746	\N	0
747	\N	0
748	\N	0
749	\N	0
750	\N	0
751	\N	0
752	\N	0
753	\N	0
754	\N	0
755	\N	0
756	\N	0
757	\N	0
758	\N	0
759	\N	0
760	\N	0
761	\N	0
762	\N	0
763	\N	0
764	\N	0
765	\N	0
766	\N	0
767	\N	0
768	\N	0
769	\N	0
770	\N	0
771	\N	0
772	\N	0
773	\N	0
774	\N	0
775	\N	0
776	\N	0
777	\N	0
778	\N	0
779	\N	0
780	\N	0
781	\N	0
782	\N	0
783	\N	0
784	\N	0
785	\N	0
786	\N	0
787	\N	0
788	\N	0
789	\N	0
790	\N	0
791	\N	0
792	\N	0
793	\N	0
794	\N	0
795	\N	0
796	\N	0
797	\N	0
798	\N	0
799	\N	0
800	\N	0
801	\N	0
802	\N	0
803	\N	0
804	\N	0
805	\N	0
806	\N	0
807	\N	0
808	\N	0
809	\N	0
810	\N	0
811	\N	0
812	\N	0
813	\N	0
814	\N	0
815	\N	0
816	\N	0
817	\N	0
818	\N	0
819	\N	0
820	\N	0
821	\N	0
822	\N	0
823	\N	0
824	\N	0
825	\N	0
826	\N	0
827	\N	0
828	\N	0
829	\N	0
830	\N	0
831	\N	0
832	\N	0
833	\N	0
834	\N	0
835	\N	0
836	\N	0
837	\N	0
838	\N	0
839	\N	0
840	\N	0
841	\N	0
842	\N	0
843	\N	0
844	\N	0
845	\N	0
846	\N	0
847	\N	0
848	\N	0
849	\N	0
850	\N	0
851	\N	0
852	\N	0
853	\N	0
854	\N	0
855	\N	0
856	\N	0
857	\N	0
858	\N	0
859	\N	0
860	\N	0
861	\N	0
862	\N	0
863	\N	0
864	\N	0
865	\N	0
866	\N	0
867	\N	0
868	\N	0
869	\N	0
870	\N	0
871	\N	0
872	\N	0
873	\N	0
874	\N	0
875	\N	0
876	\N	0
877	\N	0
878	\N	0
879	\N	0
880	\N	0
881	\N	0
882	\N	0
883	\N	0
884	\N	0
885	\N	0
886	\N	0
887	\N	0
888	\N	0
889	\N	0
890	\N	0
891	\N	0
892	\N	0
893	\N	0
894	\N	0
895	\N	0
896	\N	0
897	\N	0
898	\N	0
899	\N	0
900	\N	0
901	\N	0
902	\N	0
903	\N	0
904	\N	0
905	\N	0
906	\N	0
907	\N	0
908	\N	0
909	\N	0
910	\N	0
911	\N	0
912	\N	0
913	\N	0
914	\N	0
915	\N	0
916	\N	0
917	\N	0
918	\N	0
919	\N	0
920	\N	0
921	\N	0
922	\N	0
923	\N	0
924	\N	0
925	\N	0
926	\N	0
927	\N	0
928	\N	0
929	\N	0
930	\N	0
931	\N	0
932	\N	0
933	\N	0
934	\N	0
935	\N	0
936	\N	0
937	\N	0
938	\N	0
939	\N	0
940	\N	0
941	\N	0
942	\N	0
943	\N	0
944	\N	0
945	\N	0
946	\N	0
947	\N	0
948	\N	0
949	\N	0
950	\N	0
951	\N	0
952	\N	0
953	\N	0
954	\N	0
955	\N	0
956	\N	0
957	\N	0
958	\N	0
959	\N	0
960	\N	0
961	\N	0
962	\N	0
963	\N	0
964	\N	0
965	\N	0
966	\N	0
967	\N	0
968	\N	0
969	\N	0
970	\N	0
971	\N	0
972	\N	0
973	\N	0
974	\N	0
975	\N	0
976	\N	0
977	\N	0
978	\N	0
979	\N	0
980	\N	0
981	\N	0
982	\N	0
983	\N	0
984	\N	0
985	\N	0
986	\N	0
987	\N	0
988	\N	0
989	\N	0
990	\N	0
991	\N	0
992	\N	0
993	\N	0
994	\N	0
995	\N	0
996	\N	0
997	\N	0
998	\N	0
999	\N	0
1000	\N	0
1001	\N	0
1002	\N	0
1003	\N	0
1004	\N	0
1005	\N	0
1006	\N	0
1007	\N	0
1008	\N	0
1009	\N	0
1010	\N	0
1011	\N	0
1012	\N	0
1013	\N	0
1014	\N	0
1015	\N	0
1016	\N	0
1017	\N	0
1018	\N	0
1019	\N	0
1020	\N	0
1021	\N	0
1022	\N	0
1023	\N	0
\.



COPY public.userinfo (userid, nickname, faceurl, custominfo) FROM stdin;
alice	Alice	https://example.com/a.png	{"city":"Ulm"}
\.



COPY public.webhook (number, lane, groupnumber, seq, id, type, "timestamp", since, data) FROM stdin;
\.



COPY public.webhookfailure (number, id, lane, type, "timestamp", attempts, lasterror, data) FROM stdin;
\.



COPY public.writer (node, batch, isgone) FROM stdin;
\.



SELECT pg_catalog.setval('public.applicationnumber', 1, false);



SELECT pg_catalog.setval('public.grouprecord_number_seq', 6, true);



SELECT pg_catalog.setval('public.node_number_seq', 1, true);



SELECT pg_catalog.setval('public.notificationnumber', 1, false);



SELECT pg_catalog.setval('public.webhookfailure_number_seq', 1, true);



SELECT pg_catalog.setval('public.webhooknumber', 1, false);



ALTER TABLE ONLY public.application
    ADD CONSTRAINT application_id_key UNIQUE (id);



ALTER TABLE ONLY public.application
    ADD CONSTRAINT application_pkey PRIMARY KEY (number);



ALTER TABLE ONLY public.busmessage
    ADD CONSTRAINT busmessage_pkey PRIMARY KEY (publisher, number);



ALTER TABLE ONLY public.departure
    ADD CONSTRAINT departure_pkey PRIMARY KEY (userid, groupid);



ALTER TABLE ONLY public.dismissedgroup
    ADD CONSTRAINT dismissedgroup_pkey PRIMARY KEY (number);



ALTER TABLE ONLY public.formermember
    ADD CONSTRAINT formermember_pkey PRIMARY KEY (number, userid);



ALTER TABLE ONLY public.gonereaction
    ADD CONSTRAINT gonereaction_pkey PRIMARY KEY (number, kind);



ALTER TABLE ONLY public.groupattributes
    ADD CONSTRAINT groupattributes_pkey PRIMARY KEY (number);



ALTER TABLE ONLY public.groupcounter
    ADD CONSTRAINT groupcounter_pkey PRIMARY KEY (number, key);



ALTER TABLE ONLY public.grouprecord
    ADD CONSTRAINT grouprecord_groupid_key UNIQUE (groupid);



ALTER TABLE ONLY public.grouprecord
    ADD CONSTRAINT grouprecord_pkey PRIMARY KEY (number);



ALTER TABLE ONLY public.knownuser
    ADD CONSTRAINT knownuser_pkey PRIMARY KEY (userid);



ALTER TABLE ONLY public.member
    ADD CONSTRAINT member_pkey PRIMARY KEY (number, userid);



ALTER TABLE ONLY public.message
    ADD CONSTRAINT message_pkey PRIMARY KEY (number, seq);



ALTER TABLE ONLY public.messagechange
    ADD CONSTRAINT messagechange_pkey PRIMARY KEY (number, seq);



ALTER TABLE ONLY public.node
    ADD CONSTRAINT node_pkey PRIMARY KEY (number);



ALTER TABLE ONLY public.notification
    ADD CONSTRAINT notification_pkey PRIMARY KEY (addressee, number);



ALTER TABLE ONLY public.probe
    ADD CONSTRAINT probe_pkey PRIMARY KEY (id);



ALTER TABLE ONLY public.reaction
    ADD CONSTRAINT reaction_pkey PRIMARY KEY (number, seq, kind);



ALTER TABLE ONLY public.reactionuser
    ADD CONSTRAINT reactionuser_pkey PRIMARY KEY (number, kind, userid);



ALTER TABLE ONLY public.readmark
    ADD CONSTRAINT readmark_pkey PRIMARY KEY (userid);



ALTER TABLE ONLY public.readreceipt
    ADD CONSTRAINT readreceipt_pkey PRIMARY KEY (number, block, userid);



ALTER TABLE ONLY public.receiptmembers
    ADD CONSTRAINT receiptmembers_pkey PRIMARY KEY (number, seq);



ALTER TABLE ONLY public.shard
    ADD CONSTRAINT shard_pkey PRIMARY KEY (number);



ALTER TABLE ONLY public.userinfo
    ADD CONSTRAINT userinfo_pkey PRIMARY KEY (userid);



ALTER TABLE ONLY public.webhook
    ADD CONSTRAINT webhook_pkey PRIMARY KEY (number);



ALTER TABLE ONLY public.webhookfailure
    ADD CONSTRAINT webhookfailure_pkey PRIMARY KEY (number);



ALTER TABLE ONLY public.writer
    ADD CONSTRAINT writer_pkey PRIMARY KEY (node);



CREATE INDEX applicationbyend ON public.application USING btree (endtime) WHERE (endtime IS NOT NULL);



CREATE INDEX applicationbygroup ON public.application USING btree (groupnumber, kind, addtime);



CREATE INDEX applicationofgroup ON public.application USING btree (groupnumber, kind, number) WHERE (NOT isgroupgone);



CREATE INDEX applicationofinvited ON public.application USING btree (touser, number) WHERE ((touser IS NOT NULL) AND (NOT isgroupgone));



CREATE INDEX applicationofinvitedbytime ON public.application USING btree (touser, addtime) WHERE ((touser IS NOT NULL) AND (NOT isgroupgone));



CREATE INDEX applicationofkind ON public.application USING btree (kind, number) WHERE (NOT isgroupgone);



CREATE INDEX applicationofsender ON public.application USING btree (fromuser, number) WHERE (NOT isgroupgone);



CREATE INDEX applicationopen ON public.application USING btree (groupnumber, number) WHERE (endtime IS NULL);



CREATE INDEX departurebynumber ON public.departure USING btree (userid, groupnumber);



CREATE INDEX departurebytime ON public.departure USING btree ("time");



CREATE INDEX dismissedgroupbyid ON public.dismissedgroup USING btree (groupid);



CREATE INDEX formermemberbyend ON public.formermember USING btree (memorableuntil);



CREATE INDEX formermemberofgroup ON public.formermember USING btree (number, memorableuntil, userid);



CREATE INDEX formermemberrestricted ON public.formermember USING btree (number, restricteduntil, userid) WHERE (restricteduntil > 0);



CREATE INDEX grouprecordbyfirsttime ON public.grouprecord USING btree (type, firsttime) WHERE (firsttime IS NOT NULL);



CREATE INDEX grouprecordbyowner ON public.grouprecord USING btree (owner, type);



CREATE INDEX grouprecordbytype ON public.grouprecord USING btree (type, number);



CREATE INDEX knownuserpresent ON public.knownuser USING btree (offlinesince) WHERE (offlinesince = 0);



CREATE INDEX managerbyuser ON public.member USING btree (userid) WHERE (role = ANY (ARRAY['Owner'::text, 'Admin'::text]));



CREATE INDEX managerofgroup ON public.member USING btree (number) WHERE (role = ANY (ARRAY['Owner'::text, 'Admin'::text]));



CREATE INDEX memberbyuser ON public.member USING btree (userid, number);



CREATE UNIQUE INDEX messagebychange ON public.messagechange USING btree (number, changeseq);



CREATE INDEX notificationbytime ON public.notification USING btree ("timestamp");



CREATE INDEX pinnedmessage ON public.messagechange USING btree (number, pinned) WHERE (pinned > 0);



CREATE INDEX reactionuserbytime ON public.reactionuser USING btree (number, kind, "time");



CREATE INDEX webhookbylane ON public.webhook USING btree (lane, number);



CREATE INDEX webhookofmessage ON public.webhook USING btree (groupnumber, seq) WHERE (groupnumber IS NOT NULL);



CREATE TRIGGER memberinserted AFTER INSERT ON public.member FOR EACH ROW EXECUTE FUNCTION public.memberinserted();




