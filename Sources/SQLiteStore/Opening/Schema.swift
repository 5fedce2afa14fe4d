import GRDB
import GroupModel

/// The tables of `throng.db`, as numbered migrations. A released migration is never edited: a
/// change is the next number.
enum Schema {
  /// Marks Throng's databases: "Thrg" at byte 68 of the file.
  static let applicationID: Int32 = 0x5468_7267

  static let migrator: DatabaseMigrator = {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("v1") { try $0.execute(sql: v1) }
    migrator.registerMigration("v2") { try $0.execute(sql: v2) }
    migrator.registerMigration("v3") { try $0.execute(sql: v3) }
    migrator.registerMigration("v4") { try $0.execute(sql: v4) }
    migrator.registerMigration("v5") { try $0.execute(sql: v5) }
    migrator.registerMigration("v6") { try $0.execute(sql: v6) }
    migrator.registerMigration("v7") { try $0.execute(sql: v7) }
    migrator.registerMigration("v8") { try $0.execute(sql: v8) }
    migrator.registerMigration("v9") { try $0.execute(sql: v9) }
    migrator.registerMigration("v10") { try $0.execute(sql: v10) }
    migrator.registerMigration("v11") { try $0.execute(sql: v11) }
    migrator.registerMigration("v12") { try $0.execute(sql: v12) }
    migrator.registerMigration("v13") { try $0.execute(sql: v13) }
    migrator.registerMigration("v14") { try $0.execute(sql: v14) }
    migrator.registerMigration("v15") { try $0.execute(sql: v15) }
    return migrator
  }()

  // - `number` is never reused (AUTOINCREMENT): a new group of an old groupID shares no rows with
  //   it.
  // - ANY columns hold texts of users: TEXT, or BLOB where the text has a NUL (RowReader.swift).
  // - Long columns come last: counting must not read overflow pages.
  // - `message` has no second index: a message costs one row in one table.
  // - `application.endTime`: when it was handled or its group was disbanded; NULL = open.
  // - `knownUser.offlineSince`: NULL = never online, 0 = online, else the end of the last session.
  private static let v1 = """
    CREATE TABLE groupRecord (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      groupID TEXT NOT NULL UNIQUE,
      type TEXT NOT NULL,
      epoch TEXT NOT NULL,
      createTime INTEGER NOT NULL,
      owner TEXT NOT NULL,
      name ANY NOT NULL,
      maxMemberNum INTEGER NOT NULL,
      joinMode TEXT NOT NULL,
      inviteMode TEXT NOT NULL,
      beInviteMode TEXT NOT NULL,
      updateInfoMode TEXT NOT NULL,
      updateCustomMode TEXT NOT NULL,
      ownerQuitMode TEXT NOT NULL,
      memberChangeNotification INTEGER NOT NULL,
      isSearchable INTEGER NOT NULL,
      isMemberVisible INTEGER NOT NULL,
      muteMode TEXT NOT NULL,
      muteRoles TEXT,
      muteUntil INTEGER,
      lastInfoTime INTEGER NOT NULL,
      changeTime INTEGER NOT NULL,
      importedThroughSeq INTEGER NOT NULL,
      nextOrdinal INTEGER NOT NULL,
      introduction ANY NOT NULL,
      notification ANY NOT NULL,
      faceURL ANY NOT NULL,
      customInfo TEXT
    ) STRICT;
    CREATE INDEX groupRecordByType ON groupRecord (type);

    CREATE TABLE groupAttributes (number INTEGER PRIMARY KEY, entries TEXT NOT NULL) STRICT;

    CREATE TABLE member (
      number INTEGER NOT NULL,
      userID TEXT NOT NULL,
      role TEXT NOT NULL,
      joinTime INTEGER NOT NULL,
      ordinal INTEGER NOT NULL,
      muteUntil INTEGER NOT NULL,
      receiveOption TEXT NOT NULL,
      readSeq INTEGER NOT NULL,
      unreadBase INTEGER NOT NULL,
      unreadSinceSeq INTEGER,
      firstVisibleSeq INTEGER NOT NULL,
      inviter TEXT,
      changeTime INTEGER NOT NULL,
      earlierStays TEXT,
      nameCard ANY NOT NULL,
      customInfo TEXT,
      PRIMARY KEY (number, userID)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX memberByUser ON member (userID);

    CREATE TABLE formerMember (
      number INTEGER NOT NULL,
      userID TEXT NOT NULL,
      muteUntil INTEGER NOT NULL,
      bannedUntil INTEGER NOT NULL,
      stays TEXT,
      PRIMARY KEY (number, userID)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE message (
      number INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      timestamp INTEGER NOT NULL,
      sender TEXT NOT NULL,
      kind TEXT NOT NULL,
      isRevoked INTEGER NOT NULL,
      isFromManager INTEGER NOT NULL,
      priority TEXT NOT NULL,
      platform TEXT NOT NULL,
      msgID TEXT NOT NULL,
      clientMsgID ANY,
      nameCard ANY NOT NULL,
      atUserIDList TEXT,
      content ANY NOT NULL,
      PRIMARY KEY (number, seq)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE departure (
      userID TEXT NOT NULL,
      groupID TEXT NOT NULL,
      type TEXT NOT NULL,
      time INTEGER NOT NULL,
      PRIMARY KEY (userID, groupID)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE dismissedGroup (
      number INTEGER PRIMARY KEY,
      groupID TEXT NOT NULL,
      type TEXT NOT NULL,
      time INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX dismissedGroupByID ON dismissedGroup (groupID);

    CREATE TABLE application (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      id ANY NOT NULL UNIQUE,
      groupNumber INTEGER NOT NULL,
      groupID TEXT NOT NULL,
      epoch TEXT NOT NULL,
      kind TEXT NOT NULL,
      fromUser TEXT NOT NULL,
      toUser TEXT,
      addTime INTEGER NOT NULL,
      handledTime INTEGER,
      isAgreed INTEGER,
      handledBy TEXT,
      endTime INTEGER,
      requestMsg ANY NOT NULL,
      attach ANY,
      handledMsg ANY
    ) STRICT;
    CREATE INDEX applicationByGroup ON application (groupNumber, kind, addTime);
    CREATE INDEX applicationByInvited ON application (toUser) WHERE toUser IS NOT NULL;
    CREATE INDEX applicationByKind ON application (kind);
    CREATE INDEX applicationOpen ON application (groupNumber) WHERE endTime IS NULL;
    CREATE INDEX applicationByEnd ON application (endTime) WHERE endTime IS NOT NULL;

    CREATE TABLE notification (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      userID TEXT NOT NULL,
      timestamp INTEGER NOT NULL,
      kind TEXT NOT NULL,
      groupID TEXT NOT NULL,
      opUser ANY NOT NULL,
      reason ANY,
      data ANY
    ) STRICT;
    CREATE INDEX notificationByUser ON notification (userID);
    CREATE INDEX notificationByTime ON notification (timestamp);

    CREATE TABLE readMark (
      userID TEXT PRIMARY KEY,
      applications INTEGER NOT NULL DEFAULT 0,
      notifications INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE knownUser (userID TEXT PRIMARY KEY, offlineSince INTEGER) STRICT, WITHOUT ROWID;

    CREATE TABLE probe (id INTEGER PRIMARY KEY CHECK (id = 1), room BLOB NOT NULL) STRICT;
    INSERT INTO probe VALUES (1, x'');
    """

  // Bounds tables that grew without limit, and rows that were read or written for each member:
  // - `notification.addressee`: a user, or "@managers:" and a group's number: one row for all
  //   managers.
  // - `application.isGroupGone` and partial indexes: a list reads only the rows that it shows.
  // - `departure.groupNumber`: the order of getJoinedGroupList, so that one cursor pages both
  //   lists.
  // - `formerMember.memorableUntil` and indexes by time: expired rows are found and deleted.
  // - `mutedAt`: tells whether a mute was decided while the clock was ahead.
  // - `groupRecordByOwner` and `knownUserPresent`: the groups of an owner, and the users online at
  //   a crash, are found without a scan.
  private static let v2 = """
    CREATE TABLE notificationNumber (id INTEGER PRIMARY KEY CHECK (id = 1), last INTEGER NOT NULL) STRICT;
    INSERT INTO notificationNumber VALUES (1, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'notification'), 0));
    ALTER TABLE notification RENAME TO notificationV1;
    CREATE TABLE notification (
      addressee TEXT NOT NULL,
      number INTEGER NOT NULL,
      timestamp INTEGER NOT NULL,
      kind TEXT NOT NULL,
      groupID TEXT NOT NULL,
      opUser ANY NOT NULL,
      applicationID ANY,
      reason ANY,
      data ANY,
      PRIMARY KEY (addressee, number)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO notification SELECT userID, number, timestamp, kind, groupID, opUser, NULL, reason, data FROM notificationV1;
    DROP TABLE notificationV1;
    CREATE INDEX notificationByTime ON notification (timestamp);

    DROP INDEX applicationByInvited;
    DROP INDEX applicationByKind;
    ALTER TABLE application ADD COLUMN isGroupGone INTEGER NOT NULL DEFAULT 0;
    UPDATE application SET isGroupGone = 1 
      WHERE groupNumber NOT IN (SELECT number FROM groupRecord UNION ALL SELECT number FROM dismissedGroup);
    CREATE INDEX applicationOfInvited ON application (toUser) WHERE toUser IS NOT NULL AND isGroupGone = 0;
    CREATE INDEX applicationOfInvitedByTime ON application (toUser, addTime) WHERE toUser IS NOT NULL AND isGroupGone = 0;
    CREATE INDEX applicationOfGroup ON application (groupNumber, kind) WHERE isGroupGone = 0;
    CREATE INDEX applicationOfKind ON application (kind) WHERE isGroupGone = 0;

    CREATE INDEX groupRecordByOwner ON groupRecord (owner, type);
    CREATE INDEX managerByUser ON member (userID) WHERE role IN ('Owner', 'Admin');

    ALTER TABLE departure ADD COLUMN groupNumber INTEGER NOT NULL DEFAULT 0;
    UPDATE departure SET groupNumber = coalesce(
      (SELECT number FROM groupRecord WHERE groupRecord.groupID = departure.groupID),
      (SELECT max(number) FROM dismissedGroup WHERE dismissedGroup.groupID = departure.groupID), 0);
    CREATE TABLE orderedDeparture AS
      SELECT userID, groupID, row_number() OVER (ORDER BY time, groupID) AS place FROM departure WHERE groupNumber = 0;
    CREATE INDEX orderedDepartureKey ON orderedDeparture (userID, groupID);
    UPDATE departure SET groupNumber = (1 << 40) + (SELECT place FROM orderedDeparture AS o
      WHERE o.userID = departure.userID AND o.groupID = departure.groupID) WHERE groupNumber = 0;
    DROP TABLE orderedDeparture;
    CREATE INDEX departureByNumber ON departure (userID, groupNumber);
    CREATE INDEX departureByTime ON departure (time);

    ALTER TABLE formerMember ADD COLUMN leftTime INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE formerMember ADD COLUMN memorableUntil INTEGER NOT NULL DEFAULT 0;
    UPDATE formerMember SET leftTime = unixepoch() * 1000;
    UPDATE formerMember SET memorableUntil =
      max(muteUntil, bannedUntil, CASE WHEN stays IS NULL THEN 0 ELSE leftTime + \(FormerMember.lifetime.wholeMilliseconds) END);
    CREATE INDEX formerMemberByEnd ON formerMember (memorableUntil);

    ALTER TABLE groupRecord ADD COLUMN mutedAt INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE member ADD COLUMN mutedAt INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE formerMember ADD COLUMN mutedAt INTEGER NOT NULL DEFAULT 0;

    CREATE INDEX knownUserPresent ON knownUser (offlineSince) WHERE offlineSince = 0;
    """

  // A group loads a bounded number of former members by these indexes (FormerMemberRows). The bound
  // is a column, because SQLite cannot seek to (expression, userID) in an index.
  private static let v3 = """
    ALTER TABLE formerMember ADD COLUMN restrictedUntil INTEGER NOT NULL AS (max(muteUntil, bannedUntil)) VIRTUAL;
    CREATE INDEX formerMemberRestricted ON formerMember (number, restrictedUntil) WHERE restrictedUntil > 0;
    CREATE INDEX formerMemberOfGroup ON formerMember (number, memorableUntil);
    """

  // - `formerMember.banReason`: the reason of the removal that began the ban.
  // - `notification.groupName`: NULL in those from before it was kept.
  // - `applicationOfSender`: a list reads only the rows that it shows.
  // - `managerOfGroup`: the managers of a group are found without reading its members.
  private static let v4 = """
    ALTER TABLE groupRecord ADD COLUMN serverCustomInfo ANY NOT NULL DEFAULT '';
    ALTER TABLE formerMember ADD COLUMN banReason ANY NOT NULL DEFAULT '';
    ALTER TABLE notification ADD COLUMN groupName ANY;
    CREATE INDEX applicationOfSender ON application (fromUser) WHERE isGroupGone = 0;
    CREATE INDEX managerOfGroup ON member (number) WHERE role IN ('Owner', 'Admin');
    """

  // - `userInfo`: the texts of users who have any; they are in `knownUser`, too, which stays small.
  // - `notification.opNickName`, `opFaceURL`: the operator's when the notification was made.
  private static let v5 = """
    CREATE TABLE userInfo (
      userID TEXT PRIMARY KEY,
      nickName ANY NOT NULL,
      faceURL ANY NOT NULL,
      customInfo TEXT
    ) STRICT, WITHOUT ROWID;

    ALTER TABLE notification ADD COLUMN platform TEXT;
    ALTER TABLE notification ADD COLUMN opNickName ANY;
    ALTER TABLE notification ADD COLUMN opFaceURL ANY;
    """

  // After-events that wait, in the order of their commits, and those that were given up.
  // - A row is one event with its `data`; or `count` events of messages that follow each other in
  //   group `groupNumber` from `firstSeq`, numbered from `number`: `message` has everything else.
  // - `lane`: "g" and a groupID, or "u" and a userID.
  // - `isIndexed`: 0 in rows behind `webhookIndexing.through` only (WebhookIndexing.swift).
  // - `since`: when `webhook.retention` begins, later than `timestamp` where it was tried again.
  private static let v6 = """
    CREATE TABLE webhook (
      number INTEGER PRIMARY KEY,
      lane TEXT NOT NULL,
      count INTEGER NOT NULL,
      isIndexed INTEGER NOT NULL,
      groupNumber INTEGER,
      firstSeq INTEGER,
      id TEXT,
      type TEXT,
      timestamp INTEGER,
      since INTEGER,
      data BLOB,
      CHECK ((data IS NULL) = (groupNumber IS NOT NULL))
    ) STRICT;
    CREATE INDEX webhookByLane ON webhook (lane) WHERE isIndexed = 1;
    CREATE TABLE webhookIndexing (id INTEGER PRIMARY KEY CHECK (id = 1), through INTEGER NOT NULL) STRICT;
    INSERT INTO webhookIndexing VALUES (1, 0);

    CREATE TABLE webhookFailure (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      id TEXT NOT NULL,
      lane TEXT NOT NULL,
      type TEXT NOT NULL,
      timestamp INTEGER NOT NULL,
      attempts INTEGER NOT NULL,
      lastError ANY NOT NULL,
      data BLOB NOT NULL
    ) STRICT;
    """

  // A write replaces the rows of the counters that have changed: their number bounds its size.
  private static let v7 = """
    CREATE TABLE groupCounter (
      number INTEGER NOT NULL,
      key TEXT NOT NULL,
      value INTEGER NOT NULL,
      PRIMARY KEY (number, key)
    ) STRICT, WITHOUT ROWID;
    """

  // Only retention writes these columns.
  // - `firstSeq`: the oldest message that is kept; the next message's where there is none.
  // - `firstTime`: its timestamp; NULL = there is none, or retention has not looked yet.
  // - `removedTime`: the timestamp of the newest message that was removed.
  private static let v8 = """
    ALTER TABLE groupRecord ADD COLUMN firstSeq INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE groupRecord ADD COLUMN firstTime INTEGER;
    ALTER TABLE groupRecord ADD COLUMN removedTime INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX groupRecordByFirstTime ON groupRecord (type, firstTime) WHERE firstTime IS NOT NULL;
    """

  // - `message.needReadReceipt`: 0 and 1 take no byte of a row, so counting reads no overflow page.
  // - `receiptMembers`: the members at message `seq` and later ones, up to the next row; userIDs,
  //   which have no spaces, with a space between two.
  // - `readReceipt`: the messages of a block that a user has confirmed (`SeqBlock`). A reader's
  //   confirmations of 1,024 messages share a row.
  private static let v9 = """
    ALTER TABLE message ADD COLUMN needReadReceipt INTEGER NOT NULL DEFAULT 0;

    CREATE TABLE receiptMembers (
      number INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      userIDs TEXT NOT NULL,
      PRIMARY KEY (number, seq)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE readReceipt (
      number INTEGER NOT NULL,
      block INTEGER NOT NULL,
      userID TEXT NOT NULL,
      seqs BLOB NOT NULL,
      PRIMARY KEY (number, block, userID)
    ) STRICT, WITHOUT ROWID;
    """

  // - `messageChange`: what messages have since they were changed. It is a table of its own, because
  //   SQLite reads all of a STRICT table to add a column, and a message stays one row in one table.
  // - `pinned`: the change that pinned the message, 0 = it is not pinned.
  // - `reaction.kind`: the change that began the reaction: unique in its group, never used again.
  // - `reactionUser.time`: the change by which the user gave it.
  // - `goneReaction`: kinds whose users are still to be deleted, because they may be many.
  private static let v10 = """
    ALTER TABLE groupRecord ADD COLUMN changeSeq INTEGER NOT NULL DEFAULT 0;

    CREATE TABLE messageChange (
      number INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      changeSeq INTEGER NOT NULL,
      editTime INTEGER NOT NULL,
      pinned INTEGER NOT NULL,
      PRIMARY KEY (number, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX messageByChange ON messageChange (number, changeSeq);
    CREATE INDEX pinnedMessage ON messageChange (number, pinned) WHERE pinned > 0;

    CREATE TABLE reaction (
      number INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      kind INTEGER NOT NULL,
      count INTEGER NOT NULL,
      reaction TEXT NOT NULL,
      PRIMARY KEY (number, seq, kind)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE reactionUser (
      number INTEGER NOT NULL,
      kind INTEGER NOT NULL,
      userID TEXT NOT NULL,
      time INTEGER NOT NULL,
      PRIMARY KEY (number, kind, userID)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX reactionUserByTime ON reactionUser (number, kind, time);

    CREATE TABLE goneReaction (
      number INTEGER NOT NULL,
      kind INTEGER NOT NULL,
      PRIMARY KEY (number, kind)
    ) STRICT, WITHOUT ROWID;
    """

  // - `formerMember.quitTime`: when the user has quit; 0 = somebody else has ended the membership.
  // - `member.unheard`: ranges of messages that came under NotReceive.
  private static let v11 = """
    ALTER TABLE formerMember ADD COLUMN quitTime INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE member ADD COLUMN unheard TEXT;
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
  private static let v12 = """
    ALTER TABLE groupRecord ADD COLUMN historyVisibility TEXT;
    ALTER TABLE groupRecord ADD COLUMN messageFeatures INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE groupRecord ADD COLUMN lastShownSeq INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE groupRecord ADD COLUMN lastShownTime INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE groupRecord ADD COLUMN departuresSince INTEGER;

    ALTER TABLE member ADD COLUMN infoTime INTEGER;
    ALTER TABLE member ADD COLUMN clearedSeq INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE member ADD COLUMN isPinned INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE member ADD COLUMN isHidden INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE member ADD COLUMN isMarkedUnread INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE member ADD COLUMN marks TEXT;

    ALTER TABLE formerMember ADD COLUMN isListed INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE formerMember ADD COLUMN role TEXT;
    ALTER TABLE formerMember ADD COLUMN clearedSeq INTEGER NOT NULL DEFAULT 0;

    CREATE TABLE messageExtras (
      number INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      sender TEXT NOT NULL,
      countedReplyTo INTEGER,
      replyTo INTEGER,
      replyToSender TEXT,
      isExcludedFromUnreadCount INTEGER NOT NULL,
      isExcludedFromLastMessage INTEGER NOT NULL,
      isUncounted INTEGER NOT NULL,
      toUserIDs TEXT,
      extension ANY,
      PRIMARY KEY (number, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX messageReply ON messageExtras (number, countedReplyTo, seq, sender, toUserIDs) WHERE countedReplyTo IS NOT NULL;
    CREATE INDEX messageUncounted ON messageExtras (number, seq) WHERE isUncounted = 1;
    CREATE INDEX messageTargeted ON messageExtras (number, seq) WHERE toUserIDs IS NOT NULL;
    """

  // - `groupRecord.attributeMode`: NULL = Any. `listsUsers`: `groupOfUser` names everybody who was ever
  //   in the group; 0 in those from before, of which it names who is remembered now.
  // - `groupOfUser`: of groups of stored types, so that the deletion of a user finds all rows.
  // - `userAccess.number`: the place of a list that ends with the user, never used again.
  //   `blockedUntil`: 0 = no end. `tokensBefore`: 0 = none are revoked. `freeTime`: from when on nothing
  //   of the row is in force; NULL = something is without end.
  // - `userDeletion.place`, `placeSeq`: how far its step is.
  // - `report.number`: a report that is made again gets a new one. `message`: JSON.
  private static let v13 = """
    ALTER TABLE groupRecord ADD COLUMN slowMode INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE groupRecord ADD COLUMN attributeMode TEXT;
    ALTER TABLE groupRecord ADD COLUMN listsUsers INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX groupRecordUnlisted ON groupRecord (number) WHERE NOT listsUsers;

    ALTER TABLE userInfo ADD COLUMN customStatus ANY NOT NULL DEFAULT '';

    CREATE TABLE groupOfUser (
      number INTEGER NOT NULL,
      userID TEXT NOT NULL,
      PRIMARY KEY (number, userID)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO groupOfUser SELECT m.number, m.userID FROM member AS m JOIN groupRecord AS g ON g.number = m.number
      WHERE g.type IN ('Work', 'Public', 'Meeting');
    INSERT OR IGNORE INTO groupOfUser SELECT f.number, f.userID FROM formerMember AS f JOIN groupRecord AS g
      ON g.number = f.number WHERE g.type IN ('Work', 'Public', 'Meeting');
    INSERT OR IGNORE INTO groupOfUser SELECT g.number, d.userID FROM departure AS d JOIN groupRecord AS g
      ON g.number = d.groupNumber WHERE g.type IN ('Work', 'Public', 'Meeting');
    CREATE INDEX groupOfUserByUser ON groupOfUser (userID);

    CREATE TABLE userAccess (
      userID TEXT PRIMARY KEY,
      number INTEGER NOT NULL UNIQUE,
      isBlocked INTEGER NOT NULL,
      blockedUntil INTEGER NOT NULL,
      tokensBefore INTEGER NOT NULL,
      freeTime INTEGER,
      blockReason ANY NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX userAccessBlocked ON userAccess (userID) WHERE isBlocked = 1;
    CREATE INDEX userAccessFree ON userAccess (freeTime) WHERE freeTime IS NOT NULL;
    CREATE TABLE userAccessNumber (id INTEGER PRIMARY KEY CHECK (id = 1), last INTEGER NOT NULL) STRICT;
    INSERT INTO userAccessNumber VALUES (1, 0);

    CREATE TABLE userDeletion (
      userID TEXT PRIMARY KEY,
      messages TEXT NOT NULL,
      step TEXT NOT NULL,
      place INTEGER NOT NULL,
      placeSeq INTEGER NOT NULL,
      requestTime INTEGER NOT NULL,
      endTime INTEGER,
      pass INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX userDeletionRunning ON userDeletion (userID) WHERE endTime IS NULL;
    CREATE INDEX userDeletionDone ON userDeletion (endTime) WHERE endTime IS NOT NULL;

    CREATE TABLE report (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      id TEXT NOT NULL UNIQUE,
      groupID TEXT NOT NULL,
      epoch TEXT NOT NULL,
      seq INTEGER,
      msgID TEXT NOT NULL,
      reporter TEXT NOT NULL,
      category ANY,
      text ANY,
      time INTEGER NOT NULL,
      state TEXT NOT NULL,
      note ANY,
      message BLOB NOT NULL
    ) STRICT;
    CREATE INDEX reportByState ON report (state);
    CREATE INDEX reportByGroup ON report (groupID, state);
    CREATE INDEX reportByTime ON report (time);
    CREATE INDEX reportByReporter ON report (reporter);
    """

  // - `trace`: a traceparent, of the request that has caused the event; NULL = none is known. Messages
  //   that share a row share it, too.
  private static let v14 = """
    ALTER TABLE webhook ADD COLUMN trace TEXT;
    ALTER TABLE webhookFailure ADD COLUMN trace TEXT;
    """

  // - `groupRecord.revision` and `board`: see `GroupStamp`. Only nodes of a cluster raise them.
  // - `messageChange.originSeq`: the change that the columns behind it are of; the last one may be later.
  //   `otherSeq`: the last change of another kind before it, 0 = none. Only nodes of a cluster write them.
  private static let v15 = """
    ALTER TABLE groupRecord ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE groupRecord ADD COLUMN board INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE messageChange ADD COLUMN originSeq INTEGER;
    ALTER TABLE messageChange ADD COLUMN otherSeq INTEGER;
    ALTER TABLE messageChange ADD COLUMN originKind TEXT;
    ALTER TABLE messageChange ADD COLUMN originUser TEXT;
    ALTER TABLE messageChange ADD COLUMN originPlatform TEXT;
    ALTER TABLE messageChange ADD COLUMN originReaction ANY;
    ALTER TABLE messageChange ADD COLUMN originIsAdded INTEGER;
    """
}
