/// The tables, as numbered migrations. A released migration is never edited: a change is the next
/// number.
enum Schema {
  static let migrations: [String] = [v1, ClusterSchema.v1, v3, ClusterSchema.v2, v5, v6, v7, v8, v9]

  /// Only one process migrates at a time. The number is arbitrary, and fixed.
  static let migrationLock: Int64 = 0x5468_7267

  /// The order of bytes: no operator's setting changes the order of pages.
  private static let text = "text COLLATE \"C\""

  // - Columns are those of SQLite's tables; PostgreSQL writes their names in lower case.
  // - `throng_fence`: the first statement of each commit (Cluster.md, "Fencing"). `batch` tells what
  //   became of a COMMIT whose answer was lost; a row outlives its node for that.
  // - `application.number` is a number of its own, because a repeated application gets a new one.
  // - `notification.addressee`: a user, "@managers:" or "@members:" and a group's number.
  // - `readReceipt.seqs`: a bit for each message of a block, so that a confirmation is one statement.
  // - `webhook.seq`: the place of the message of which an entry without `data` tells.
  // - `memberInserted` ends the departures of new members. The store does that itself now, before the
  //   row of the member, so it finds nothing; a later migration drops it.
  private static let v1 = """
    CREATE TABLE node (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name \(text) NOT NULL,
      heartbeat timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    CREATE TABLE writer (
      node bigint PRIMARY KEY,
      batch bigint NOT NULL,
      isGone boolean NOT NULL
    ) WITH (fillfactor = 20);
    CREATE FUNCTION throng_fence(node bigint, batch bigint) RETURNS void LANGUAGE plpgsql AS $body$
    BEGIN
      UPDATE writer SET batch = $2 WHERE writer.node = $1 AND NOT writer.isGone;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'node % was removed', $1 USING ERRCODE = 'TH001';
      END IF;
    END $body$;

    CREATE TABLE groupRecord (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      groupID \(text) NOT NULL UNIQUE,
      type \(text) NOT NULL,
      epoch \(text) NOT NULL,
      createTime bigint NOT NULL,
      owner \(text) NOT NULL,
      name \(text) NOT NULL,
      maxMemberNum bigint NOT NULL,
      joinMode \(text) NOT NULL,
      inviteMode \(text) NOT NULL,
      beInviteMode \(text) NOT NULL,
      updateInfoMode \(text) NOT NULL,
      updateCustomMode \(text) NOT NULL,
      ownerQuitMode \(text) NOT NULL,
      memberChangeNotification boolean NOT NULL,
      isSearchable boolean NOT NULL,
      isMemberVisible boolean NOT NULL,
      muteMode \(text) NOT NULL,
      muteRoles \(text),
      muteUntil bigint,
      lastInfoTime bigint NOT NULL,
      changeTime bigint NOT NULL,
      importedThroughSeq bigint NOT NULL,
      nextOrdinal bigint NOT NULL,
      mutedAt bigint NOT NULL,
      changeSeq bigint NOT NULL,
      firstSeq bigint NOT NULL DEFAULT 1,
      firstTime bigint,
      removedTime bigint NOT NULL DEFAULT 0,
      introduction \(text) NOT NULL,
      notification \(text) NOT NULL,
      faceURL \(text) NOT NULL,
      customInfo \(text),
      serverCustomInfo \(text) NOT NULL
    );
    CREATE INDEX groupRecordByType ON groupRecord (type, number);
    CREATE INDEX groupRecordByOwner ON groupRecord (owner, type);
    CREATE INDEX groupRecordByFirstTime ON groupRecord (type, firstTime) WHERE firstTime IS NOT NULL;

    CREATE TABLE groupAttributes (number bigint PRIMARY KEY, entries \(text) NOT NULL);

    CREATE TABLE groupCounter (
      number bigint NOT NULL,
      key \(text) NOT NULL,
      value bigint NOT NULL,
      PRIMARY KEY (number, key)
    );

    CREATE TABLE member (
      number bigint NOT NULL,
      userID \(text) NOT NULL,
      role \(text) NOT NULL,
      joinTime bigint NOT NULL,
      ordinal bigint NOT NULL,
      muteUntil bigint NOT NULL,
      receiveOption \(text) NOT NULL,
      readSeq bigint NOT NULL,
      unreadBase bigint NOT NULL,
      unreadSinceSeq bigint,
      firstVisibleSeq bigint NOT NULL,
      inviter \(text),
      changeTime bigint NOT NULL,
      mutedAt bigint NOT NULL,
      earlierStays \(text),
      nameCard \(text) NOT NULL,
      customInfo \(text),
      PRIMARY KEY (number, userID)
    );
    CREATE INDEX memberByUser ON member (userID, number);
    CREATE INDEX managerByUser ON member (userID) WHERE role IN ('Owner', 'Admin');
    CREATE INDEX managerOfGroup ON member (number) WHERE role IN ('Owner', 'Admin');

    CREATE TABLE formerMember (
      number bigint NOT NULL,
      userID \(text) NOT NULL,
      muteUntil bigint NOT NULL,
      bannedUntil bigint NOT NULL,
      leftTime bigint NOT NULL,
      memorableUntil bigint NOT NULL,
      mutedAt bigint NOT NULL,
      restrictedUntil bigint NOT NULL GENERATED ALWAYS AS (greatest(muteUntil, bannedUntil)) STORED,
      stays \(text),
      banReason \(text) NOT NULL,
      PRIMARY KEY (number, userID)
    );
    CREATE INDEX formerMemberRestricted ON formerMember (number, restrictedUntil, userID) WHERE restrictedUntil > 0;
    CREATE INDEX formerMemberOfGroup ON formerMember (number, memorableUntil, userID);
    CREATE INDEX formerMemberByEnd ON formerMember (memorableUntil);

    CREATE TABLE message (
      number bigint NOT NULL,
      seq bigint NOT NULL,
      timestamp bigint NOT NULL,
      sender \(text) NOT NULL,
      kind \(text) NOT NULL,
      isRevoked boolean NOT NULL,
      isFromManager boolean NOT NULL,
      needReadReceipt boolean NOT NULL,
      priority \(text) NOT NULL,
      platform \(text) NOT NULL,
      msgID \(text) NOT NULL,
      clientMsgID \(text),
      nameCard \(text) NOT NULL,
      atUserIDList \(text),
      content \(text) NOT NULL,
      PRIMARY KEY (number, seq)
    );

    CREATE TABLE messageChange (
      number bigint NOT NULL,
      seq bigint NOT NULL,
      changeSeq bigint NOT NULL,
      editTime bigint NOT NULL,
      pinned bigint NOT NULL,
      PRIMARY KEY (number, seq)
    );
    CREATE UNIQUE INDEX messageByChange ON messageChange (number, changeSeq);
    CREATE INDEX pinnedMessage ON messageChange (number, pinned) WHERE pinned > 0;

    CREATE TABLE reaction (
      number bigint NOT NULL,
      seq bigint NOT NULL,
      kind bigint NOT NULL,
      count bigint NOT NULL,
      reaction \(text) NOT NULL,
      PRIMARY KEY (number, seq, kind)
    );
    CREATE TABLE reactionUser (
      number bigint NOT NULL,
      kind bigint NOT NULL,
      userID \(text) NOT NULL,
      time bigint NOT NULL,
      PRIMARY KEY (number, kind, userID)
    );
    CREATE INDEX reactionUserByTime ON reactionUser (number, kind, time);
    CREATE TABLE goneReaction (number bigint NOT NULL, kind bigint NOT NULL, PRIMARY KEY (number, kind));

    CREATE TABLE receiptMembers (
      number bigint NOT NULL,
      seq bigint NOT NULL,
      userIDs \(text) NOT NULL,
      PRIMARY KEY (number, seq)
    );
    CREATE TABLE readReceipt (
      number bigint NOT NULL,
      block bigint NOT NULL,
      userID \(text) NOT NULL,
      seqs bit(1024) NOT NULL,
      PRIMARY KEY (number, block, userID)
    );

    CREATE TABLE departure (
      userID \(text) NOT NULL,
      groupID \(text) NOT NULL,
      type \(text) NOT NULL,
      time bigint NOT NULL,
      groupNumber bigint NOT NULL,
      PRIMARY KEY (userID, groupID)
    );
    CREATE INDEX departureByNumber ON departure (userID, groupNumber);
    CREATE INDEX departureByTime ON departure (time);

    CREATE TABLE dismissedGroup (
      number bigint PRIMARY KEY,
      groupID \(text) NOT NULL,
      type \(text) NOT NULL,
      time bigint NOT NULL
    );
    CREATE INDEX dismissedGroupByID ON dismissedGroup (groupID);

    CREATE SEQUENCE applicationNumber;
    CREATE TABLE application (
      number bigint PRIMARY KEY DEFAULT nextval('applicationNumber'),
      id \(text) NOT NULL UNIQUE,
      groupNumber bigint NOT NULL,
      groupID \(text) NOT NULL,
      epoch \(text) NOT NULL,
      kind \(text) NOT NULL,
      fromUser \(text) NOT NULL,
      toUser \(text),
      addTime bigint NOT NULL,
      handledTime bigint,
      isAgreed boolean,
      handledBy \(text),
      endTime bigint,
      isGroupGone boolean NOT NULL DEFAULT false,
      requestMsg \(text) NOT NULL,
      attach \(text),
      handledMsg \(text)
    );
    CREATE INDEX applicationByGroup ON application (groupNumber, kind, addTime);
    CREATE INDEX applicationOpen ON application (groupNumber, number) WHERE endTime IS NULL;
    CREATE INDEX applicationByEnd ON application (endTime) WHERE endTime IS NOT NULL;
    CREATE INDEX applicationOfInvited ON application (toUser, number) WHERE toUser IS NOT NULL AND NOT isGroupGone;
    CREATE INDEX applicationOfInvitedByTime ON application (toUser, addTime) WHERE toUser IS NOT NULL AND NOT isGroupGone;
    CREATE INDEX applicationOfGroup ON application (groupNumber, kind, number) WHERE NOT isGroupGone;
    CREATE INDEX applicationOfKind ON application (kind, number) WHERE NOT isGroupGone;
    CREATE INDEX applicationOfSender ON application (fromUser, number) WHERE NOT isGroupGone;

    CREATE SEQUENCE notificationNumber;
    CREATE TABLE notification (
      addressee \(text) NOT NULL,
      number bigint NOT NULL,
      timestamp bigint NOT NULL,
      kind \(text) NOT NULL,
      groupID \(text) NOT NULL,
      opUser \(text) NOT NULL,
      applicationID \(text),
      reason \(text),
      data \(text),
      groupName \(text),
      platform \(text),
      opNickName \(text),
      opFaceURL \(text),
      PRIMARY KEY (addressee, number)
    );
    CREATE INDEX notificationByTime ON notification (timestamp);

    CREATE TABLE readMark (
      userID \(text) PRIMARY KEY,
      applications bigint NOT NULL DEFAULT 0,
      notifications bigint NOT NULL DEFAULT 0
    );

    CREATE TABLE knownUser (userID \(text) PRIMARY KEY, offlineSince bigint);
    CREATE INDEX knownUserPresent ON knownUser (offlineSince) WHERE offlineSince = 0;

    CREATE TABLE userInfo (
      userID \(text) PRIMARY KEY,
      nickName \(text) NOT NULL,
      faceURL \(text) NOT NULL,
      customInfo \(text)
    );

    CREATE SEQUENCE webhookNumber;
    CREATE TABLE webhook (
      number bigint PRIMARY KEY,
      lane \(text) NOT NULL,
      groupNumber bigint,
      seq bigint,
      id \(text),
      type \(text),
      timestamp bigint,
      since bigint,
      data bytea,
      CHECK ((data IS NULL) = (groupNumber IS NOT NULL))
    );
    CREATE INDEX webhookByLane ON webhook (lane, number);
    CREATE INDEX webhookOfMessage ON webhook (groupNumber, seq) WHERE groupNumber IS NOT NULL;
    CREATE TABLE webhookFailure (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      id \(text) NOT NULL,
      lane \(text) NOT NULL,
      type \(text) NOT NULL,
      timestamp bigint NOT NULL,
      attempts bigint NOT NULL,
      lastError \(text) NOT NULL,
      data bytea NOT NULL
    );

    CREATE TABLE probe (id bigint PRIMARY KEY, time timestamptz NOT NULL);

    CREATE FUNCTION memberInserted() RETURNS trigger LANGUAGE plpgsql AS $body$
    DECLARE
      joined \(text);
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
    END $body$;
    CREATE TRIGGER memberInserted AFTER INSERT ON member FOR EACH ROW EXECUTE FUNCTION memberInserted();
    """

  // - `formerMember.quitTime`: when the user has quit; 0 = somebody else has ended the membership.
  // - `member.unheard`: ranges of messages that came under NotReceive.
  private static let v3 = """
    ALTER TABLE formerMember ADD COLUMN quitTime bigint NOT NULL DEFAULT 0;
    ALTER TABLE member ADD COLUMN unheard \(text);
    """

  // - `throng_fence`: a batch that the server reads late, from a connection that was given up, is
  //   refused: a later one was written, or it was told that this one is not durable.
  private static let v5 = """
    CREATE OR REPLACE FUNCTION throng_fence(node bigint, batch bigint) RETURNS void LANGUAGE plpgsql AS $body$
    BEGIN
      UPDATE writer SET batch = $2 WHERE writer.node = $1 AND NOT writer.isGone AND writer.batch < $2;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'node % was removed, or batch % comes late', $1, $2 USING ERRCODE = 'TH001';
      END IF;
    END $body$;
    """

  // - `groupRecord.historyVisibility`: NULL = the type's. `messageFeatures`: the bits of
  //   `MessageFeatures`. `lastShownSeq`: the newest message that may be the last message, where newer
  //   ones may not. `departuresSince`: NULL = not known.
  // - `member.infoTime`: NULL = `changeTime`. `marks`: a JSON list.
  // - `formerMember.isListed`: lists name the departure. `role`: of an absent member of a live room.
  // - `messageExtras`: a row where a message has any of it. `isUncounted` (it does not count as unread)
  //   follows from the others, for an index; `toUserIDs` is written as `receiptMembers.userIDs`.
  //   `sender` is the message's. `countedReplyTo`: `replyTo`, NULL where the message is recalled.
  //   `messageReply` answers who may see a reply without a look at any row, and recalled replies are
  //   not in it: a page of 100 messages counts up to 100,000 replies.
  // Every column may be left out: nodes of the release before go on writing beside this one.
  private static let v6 = """
    ALTER TABLE groupRecord
      ADD COLUMN historyVisibility \(text),
      ADD COLUMN messageFeatures bigint NOT NULL DEFAULT 0,
      ADD COLUMN lastShownSeq bigint NOT NULL DEFAULT 0,
      ADD COLUMN lastShownTime bigint NOT NULL DEFAULT 0,
      ADD COLUMN departuresSince bigint;

    ALTER TABLE member
      ADD COLUMN infoTime bigint,
      ADD COLUMN clearedSeq bigint NOT NULL DEFAULT 0,
      ADD COLUMN isPinned boolean NOT NULL DEFAULT false,
      ADD COLUMN isHidden boolean NOT NULL DEFAULT false,
      ADD COLUMN isMarkedUnread boolean NOT NULL DEFAULT false,
      ADD COLUMN marks \(text);

    ALTER TABLE formerMember
      ADD COLUMN isListed boolean NOT NULL DEFAULT false,
      ADD COLUMN role \(text),
      ADD COLUMN clearedSeq bigint NOT NULL DEFAULT 0;

    CREATE TABLE messageExtras (
      number bigint NOT NULL,
      seq bigint NOT NULL,
      sender \(text) NOT NULL,
      countedReplyTo bigint,
      replyTo bigint,
      replyToSender \(text),
      isExcludedFromUnreadCount boolean NOT NULL,
      isExcludedFromLastMessage boolean NOT NULL,
      isUncounted boolean NOT NULL,
      toUserIDs \(text),
      extension \(text),
      PRIMARY KEY (number, seq)
    );
    CREATE INDEX messageReply ON messageExtras (number, countedReplyTo, seq) INCLUDE (sender, toUserIDs)
      WHERE countedReplyTo IS NOT NULL;
    CREATE INDEX messageUncounted ON messageExtras (number, seq) WHERE isUncounted;
    CREATE INDEX messageTargeted ON messageExtras (number, seq) WHERE toUserIDs IS NOT NULL;
    """

  // - `groupRecord.attributeMode`: NULL = Any. `listsUsers`: `groupOfUser` names everybody who was ever
  //   in the group; false in those from before, of which it names who is remembered now.
  // - `groupOfUser`: of groups of stored types, so that the deletion of a user finds all rows.
  // - `userAccess.number`: the place of a list that ends with the user, never used again.
  //   `blockedUntil`: 0 = no end. `tokensBefore`: 0 = none are revoked. `freeTime`: from when on nothing
  //   of the row is in force; NULL = something is without end.
  // - `userDeletion.place`, `placeSeq`: how far its step is.
  // - `report.number`: a report that is made again gets a new one. `message`: JSON.
  private static let v7 = """
    ALTER TABLE groupRecord
      ADD COLUMN slowMode bigint NOT NULL DEFAULT 0,
      ADD COLUMN attributeMode \(text),
      ADD COLUMN listsUsers boolean NOT NULL DEFAULT false;
    CREATE INDEX groupRecordUnlisted ON groupRecord (number) WHERE NOT listsUsers;

    ALTER TABLE userInfo ADD COLUMN customStatus \(text) NOT NULL DEFAULT '';

    CREATE TABLE groupOfUser (
      number bigint NOT NULL,
      userID \(text) NOT NULL,
      PRIMARY KEY (number, userID)
    );
    INSERT INTO groupOfUser
      SELECT m.number, m.userID FROM member AS m JOIN groupRecord AS g ON g.number = m.number
      WHERE g.type IN ('Work', 'Public', 'Meeting')
      UNION SELECT f.number, f.userID FROM formerMember AS f JOIN groupRecord AS g ON g.number = f.number
      WHERE g.type IN ('Work', 'Public', 'Meeting')
      UNION SELECT g.number, d.userID FROM departure AS d JOIN groupRecord AS g ON g.number = d.groupNumber
      WHERE g.type IN ('Work', 'Public', 'Meeting');
    CREATE INDEX groupOfUserByUser ON groupOfUser (userID, number);

    CREATE SEQUENCE userAccessNumber;
    CREATE TABLE userAccess (
      userID \(text) PRIMARY KEY,
      number bigint NOT NULL UNIQUE DEFAULT nextval('userAccessNumber'),
      isBlocked boolean NOT NULL,
      blockedUntil bigint NOT NULL,
      tokensBefore bigint NOT NULL,
      freeTime bigint,
      blockReason \(text) NOT NULL
    );
    CREATE INDEX userAccessBlocked ON userAccess (userID) WHERE isBlocked;
    CREATE INDEX userAccessFree ON userAccess (freeTime) WHERE freeTime IS NOT NULL;

    CREATE TABLE userDeletion (
      userID \(text) PRIMARY KEY,
      messages \(text) NOT NULL,
      step \(text) NOT NULL,
      place bigint NOT NULL,
      placeSeq bigint NOT NULL,
      requestTime bigint NOT NULL,
      endTime bigint,
      pass bigint NOT NULL
    );
    CREATE INDEX userDeletionRunning ON userDeletion (userID) WHERE endTime IS NULL;
    CREATE INDEX userDeletionDone ON userDeletion (endTime) WHERE endTime IS NOT NULL;

    CREATE SEQUENCE reportNumber;
    CREATE TABLE report (
      number bigint PRIMARY KEY DEFAULT nextval('reportNumber'),
      id \(text) NOT NULL UNIQUE,
      groupID \(text) NOT NULL,
      epoch \(text) NOT NULL,
      seq bigint,
      msgID \(text) NOT NULL,
      reporter \(text) NOT NULL,
      category \(text),
      text \(text),
      time bigint NOT NULL,
      state \(text) NOT NULL,
      note \(text),
      message bytea NOT NULL
    );
    CREATE INDEX reportByState ON report (state, number);
    CREATE INDEX reportByGroup ON report (groupID, state, number);
    CREATE INDEX reportByTime ON report (time);
    CREATE INDEX reportByReporter ON report (reporter);
    """

  // - `trace`: a traceparent, of the request that has caused the event; NULL = none is known.
  // Every column may be left out: nodes of the release before go on writing beside this one.
  private static let v8 = """
    ALTER TABLE webhook ADD COLUMN trace \(text);
    ALTER TABLE webhookFailure ADD COLUMN trace \(text);
    """

  // - `groupRecord.revision` and `board`: see `GroupStamp`.
  // - `messageChange.originSeq`: the change that the columns behind it are of; the last one may be later.
  //   `otherSeq`: the last change of another kind before it, 0 = none.
  // - `memberByJoinTime`: members join in the order of time, so a few blocks are read.
  // Every column may be left out: nodes of the release before go on writing beside this one.
  private static let v9 = """
    ALTER TABLE groupRecord
      ADD COLUMN revision bigint NOT NULL DEFAULT 0,
      ADD COLUMN board bigint NOT NULL DEFAULT 0;
    ALTER TABLE messageChange
      ADD COLUMN originSeq bigint,
      ADD COLUMN otherSeq bigint,
      ADD COLUMN originKind \(text),
      ADD COLUMN originUser \(text),
      ADD COLUMN originPlatform \(text),
      ADD COLUMN originReaction \(text),
      ADD COLUMN originIsAdded boolean;
    CREATE INDEX memberByJoinTime ON member USING brin (joinTime);
    """
}
