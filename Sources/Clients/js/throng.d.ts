// SPDX-License-Identifier: Apache-2.0
//
// The types of throng.js.

export interface ClientOptions {
  /** The address of the WebSocket, such as wss://chat.example/ws; https:// and http:// stand for wss:// and ws://. */
  url: string | URL;
  /** A token, or a function that gives a new one: it is asked before the first sign-in and whenever a token ends. */
  token: string | (() => string | Promise<string>);
  platform?: "iOS" | "Android" | "Windows" | "Mac" | "Web" | "Unknown";
  /** A session of the same device is replaced. */
  deviceID?: string;
  /** How long the token function may take, in milliseconds; absent = 30,000. Then it has failed with TokenTimeout. */
  tokenTimeoutMs?: number;
  /**
   * Where conversations, messages and the outbox are stored, of throng-storage.js; absent = nothing is. A storage belongs to
   * one client.
   */
  storage?: Storage;
  /** Whose they are: needed with a storage that outlives the process. A token of another user closes the client. */
  userID?: string;
  /** The bounds of the store; absent = 200 messages a group, 1,000 groups, 64 MiB (in memory 16 MiB). */
  storageLimits?: StorageLimits;
  /**
   * auto: an event stream where two WebSockets have failed in a row, and a WebSocket again when one opens. The others: that
   * alone. Absent = auto.
   */
  transport?: "auto" | Transport;
  /** The `positions()` of an earlier client: the first sign-in resumes there, unless the storage knows better. */
  positions?: Position[];
  /** The most messages, and the most calls, that wait for a connection; absent = 1000. */
  queueLimit?: number;
  /** The class of WebSockets where there is no global one, such as that of the package `ws`. */
  WebSocket?: new (url: string | URL, protocols?: string[]) => WebSocketLike;
  /**
   * Gets a line where there is no connection (where, why, when the next is tried), where there is one again, and where
   * the server ends it for good; absent = console.warn, null = nobody. No line holds a token or the query of `url`.
   */
  log?: ((line: string) => void) | null;
  /** Gets what a handler has thrown, and at which event; absent = reportError in browsers, console.error elsewhere. */
  onHandlerError?: (error: unknown, event: string) => void;
  /** Takes the place of Math.random, which spreads the delays. */
  random?: () => number;
}

export type Transport = "websocket" | "stream";

/** The bounds of a store, of which the oldest and the least used go first. Messages that wait to be sent never do. */
export interface StorageLimits {
  /** The newest messages of a group; absent = 200. */
  messagesPerGroup?: number;
  /** Conversations; those that ended go first, and a group of the user's is never forgotten. Absent = 1,000. */
  groups?: number;
  /** The UTF-8 of everything; absent = 67,108,864, in memory 16,777,216. */
  bytes?: number;
}

/**
 * Where a client stores: an ordered map of texts. An application's own extends the class `Storage` of throng-storage.js.
 * Its failures are StorageErrors, which never reach a call of the application.
 */
export interface Storage {
  /** Whether what is stored outlives the process. */
  readonly isDurable: boolean;
  /** For ThrongClient. */
  makeStore(name: string, limits: StorageLimits | undefined, client: object): object;
  /** Opens the store of this name, and makes it where there is none; twice is once. */
  open(name: string): Promise<void>;
  get(key: string): Promise<string | undefined>;
  /** The rows with `from` <= key < `to`, in the order of their bytes. */
  scan(range: StorageRange): Promise<[key: string, value: string][]>;
  /** Reads the keys, calls `decide` once, and makes its changes: all of them or none, and nobody's in between. */
  update(keys: string[], decide: (values: Map<string, string>) => StorageChange[]): Promise<void>;
  close(): Promise<void>;
  /** Removes the store, and closes it. */
  destroy(): Promise<void>;
}

export interface StorageRange {
  from: string;
  to: string;
  limit?: number;
  isDescending?: boolean;
}

export type StorageChange = { put: string; value: string } | { delete: string } | { deleteFrom: string; to: string };

/**
 * Full: there is no room; Refused: the system lets the client store nothing; Corrupt: what is stored cannot be read; InUse:
 * another process has it; TooNew: a later version has written it; Failed: anything else.
 */
export type StorageFailure = "Full" | "Refused" | "Corrupt" | "InUse" | "TooNew" | "Failed";

/** The part of a WebSocket that the client needs. */
export interface WebSocketLike {
  readonly readyState: number;
  send(text: string): void;
  close(code?: number): void;
}

/** Up to where the application was told of a group. */
export interface Position {
  groupID: string;
  epoch: string;
  seq: number;
  changeSeq: number;
}

/**
 * Without an answer of the server: NotConnected, it was not sent; ConnectionLost, whether it was carried out is not
 * known; OutcomeUnknown, a message of which that is so, and the server cannot tell either; QueueFull, too much waits
 * already; TooLarge, the server takes no such frame; BadAnswer, the server has answered what no server of this protocol
 * does; Closed, the client has come to its end; ConversationEnded, the user is in the group no more; Expired, a message
 * for a live room, or for those online alone, has waited for more than two minutes, or for another process; TokenTimeout,
 * the token function has not answered.
 */
export type ClientErrorReason =
  | "NotConnected" | "ConnectionLost" | "OutcomeUnknown" | "QueueFull" | "TooLarge" | "BadAnswer" | "Closed"
  | "ConversationEnded" | "Expired" | "TokenTimeout";

export declare class ClientError extends Error {
  constructor(reason: ClientErrorReason, detail?: string);
  readonly reason: ClientErrorReason;
}

/** An error that the server answered; `message` is such as "joinGroup: No such group (10010)". */
export declare class ThrongError extends Error {
  constructor(method: string, error: { code: number; message: string; data?: object });
  readonly method: string;
  /** The words of the server, which are for developers. */
  readonly serverMessage: string;
  /** One of ErrorCode, or of a later server. */
  readonly code: number;
  /** Whether the same request may succeed later. */
  readonly temporary: boolean;
  /** The parameter that is wrong. */
  readonly field?: string;
  /** When to try again; 0 = not told. */
  readonly retryAfterMs: number;
}

/**
 * sending: as long as it takes to get an answer, across connections; queued: it waits at the server for its place in
 * a live room; stored: the group keeps it; delivered: it was handed to the members; dropped: the room was too busy;
 * failed: refused, or given up, see `error`.
 */
export type MessageState = "sending" | "queued" | "stored" | "delivered" | "dropped" | "failed";

export type SendOptions = Omit<Methods["sendGroupTextMessage"]["params"], "groupID" | "text" | "firstSentAt">;

/** An own message: it changes as its state does, and the event `message` tells of it. */
export interface LocalMessage extends SendOptions {
  clientMsgID: string;
  groupID: string;
  text?: string;
  data?: string;
  state: MessageState;
  /** When it was written, by this machine's clock. */
  createdAt: number;
  msgID?: string;
  /** In groups that keep messages, and in live rooms that remember the last ones. */
  seq?: number;
  /** When the server took it. */
  timestamp?: number;
  error?: ThrongError | ClientError;
  /**
   * Resolves to the message when it is stored, delivered, dropped or failed; and, where it waits in a storage for the next
   * client, when this one is closed.
   */
  readonly done: Promise<LocalMessage>;
}

export interface ConnectionState {
  /** closed: for good, after close(), logout(), or what no new connection could mend. */
  state: "connecting" | "online" | "waiting" | "closed";
  /** The way of the connection; absent where the client is closed. */
  transport?: Transport;
  /** The close code; 1006 where the connection ended without one, 0 where there was none. */
  code?: number;
  reason?: string;
  error?: Error;
  /** Whether the WebSocket, or the stream, had opened: if not, an HTTP request to the same address may be told why. */
  isOpen?: boolean;
  /** When the next connection is tried. */
  retryInMs?: number;
}

/**
 * One group after a new connection, or one page of it (`more`: another one follows). Recovered: what came, and what
 * has changed, since the last event; the group's other events follow. Not recovered: the application forgets what it
 * has of the group and reads its history. Live rooms are recovered where they remember their last messages. A room
 * whose memory is lost while the connection lives is told as not recovered at that time.
 */
export interface GroupSync {
  groupID: string;
  recovered: boolean;
  /** New messages, tips included, but no messages of this client. */
  messageList: Message[];
  /** Messages from before, as they are now. */
  changeList: Message[];
  more: boolean;
  /** The group as it is now, if it has changed. */
  info?: GroupInfo;
}

/** The session is in step with its groups, after each sign-in. */
export interface Ready {
  isFirst: boolean;
  source: "server";
  /**
   * The groups of the user at the first sign-in; afterwards, and where the storage had the others, those that have changed.
   * Without live rooms. Changes that onConversationChanged has told meanwhile are in them.
   */
  groups: GroupInfo[];
  /** groupIDs: new ones, those left, those that are recovered and those that are not. */
  joined: string[];
  left: string[];
  recovered: string[];
  notRecovered: string[];
}

/** A group as the client has stored it, also when the user is in it no more. */
export interface Conversation {
  groupID: string;
  /** As it was last; `selfInfo` is there while the user is a member. */
  info: GroupInfo;
  /** member; left: the user has quit, or was found to be out; removed: by somebody else; dismissed: the group is no more. */
  status: "member" | "left" | "removed" | "dismissed";
  /** Whether a message can be sent there. */
  canSend: boolean;
  /** When the membership ended, by the server's clock. */
  endedAt?: number;
  /** server: the present session has confirmed it. */
  source: "stored" | "server";
}

/** What an application shows before there is a connection. */
export interface Stored {
  conversations: Conversation[];
  outbox: LocalMessage[];
  source: "stored";
}

/** A conversation that is another one now. */
export interface ConversationNews {
  conversation: Conversation;
  source: "server";
}

/** A storage that the client goes on without, or that begins anew. */
export interface StorageLoss {
  reason: StorageFailure;
  message: string;
  /** Whether messages that waited to be sent may be lost. */
  lostOutbox: boolean;
}

/** Messages of a conversation, ascending. */
export interface StoredMessages {
  messageList: Message[];
  source: "stored" | "server" | "both";
  /** Whether nothing is older; false also where that is not known. */
  isFinished: boolean;
  /** Why what is older could not be read from the server. */
  error?: ThrongError | ClientError;
}

/** Names of a user, as they were seen last. */
export interface StoredProfile {
  userID: string;
  nickName: string;
  faceURL: string;
  /** By the server's clock. */
  seenAt: number;
}

/** News of users who are watched. */
export interface StatusNews {
  /** The rows as they are now. */
  userList: UserStatusInfo[];
  /** Users who were asked about and have no row: nobody knows them, or nobody does any more. They stay watched. */
  unknownUserIDList: string[];
}

/** Users who are not watched, because the server refused it. */
export interface WatchFailure {
  userIDList: string[];
  error: ThrongError | ClientError;
}

export interface ClientEvents extends ServerEvents {
  state: ConnectionState;
  message: LocalMessage;
  sync: GroupSync;
  ready: Ready;
  /** Before the first connection, where the storage outlives the process. */
  stored: Stored;
  /** A conversation was stored that is another one now. */
  conversation: ConversationNews;
  storageFailed: StorageLoss;
  renewed: Methods["login"]["result"];
  /** The token function failed, or gave a token that was refused; it is asked again. */
  renewalFailed: Error;
  /** The groups could not be read: the application reads them anew. */
  resumeFailed: ThrongError;
  /** Rows of users who are watched, from answers and events alike. */
  status: StatusNews;
  watchFailed: WatchFailure;
}

type Arguments<Params> = {} extends Params ? [params?: Params, options?: CallOptions] : [params: Params, options?: CallOptions];

export interface CallOptions {
  /** false: without a connection the call fails instead of waiting for one. */
  queue?: boolean;
}

/** A session that outlives its connections. */
export declare class ThrongClient {
  constructor(options: ClientOptions);
  readonly state: "idle" | ConnectionState["state"];
  readonly session: (Methods["login"]["result"]) | null;
  readonly userID: string;

  /** Calls a handler at each event of that name; the answer ends that. Throws a TypeError where there is no such event. */
  on<Name extends keyof ClientEvents>(name: Name, handler: (params: ClientEvents[Name]) => void): () => void;
  /** Each event of the server, those of a later one included. */
  on(name: "event", handler: <Name extends keyof ServerEvents>(name: Name, params: ServerEvents[Name]) => void): () => void;
  /** Each frame, tokens included. */
  on(name: "frame", handler: (direction: "in" | "out", frame: object) => void): () => void;

  /** Connects and stays connected. Resolves at the first sign-in, rejects where none can come. */
  connect(): Promise<Methods["login"]["result"]>;
  /** Tries now where the client waits to, or where the token function does not answer. */
  reconnectNow(): void;
  /** Ends the connection for good; messages under way fail, or wait in the storage for the next client. */
  close(): void;
  /**
   * Signs out, and closes the client. With `forget`, all that is stored of the user is destroyed, also where the server could
   * not be told; then it rejects all the same, with NotConnected. With a StorageError where it cannot be destroyed.
   */
  logout(options?: { forget?: boolean }): Promise<void>;

  /** The result of a method; without a connection it waits for one. Rejects with a ThrongError or a ClientError. */
  call<Name extends keyof Methods>(method: Name, ...rest: Arguments<Methods[Name]["params"]>): Promise<Methods[Name]["result"]>;

  /** Sends a text, as often as it takes and never twice; the message says at any time what became of it. */
  sendText(groupID: string, text: string, options?: SendOptions): LocalMessage;
  /** Sends data of the application. */
  sendCustom(groupID: string, data: string, options?: SendOptions): LocalMessage;
  /** Sends a message again that failed or was dropped, with changes where they are given. */
  resend(message: LocalMessage, changes?: Partial<SendOptions>): LocalMessage;

  // What is stored: without the option `storage` these reject with a TypeError.

  /** The conversations as a list shows them: pinned first, then those with the last message; hidden ones where asked for. */
  conversations(options?: { hidden?: boolean }): Promise<Conversation[]>;
  /** One of them; undefined where the client has never known it. */
  conversation(groupID: string): Promise<Conversation | undefined>;
  /**
   * Messages of a conversation, ascending: the newest, or those before a `seq`; absent count = 50. What is older than the
   * stored ones is read from the server, where there is a connection and the user is a member.
   */
  messages(groupID: string, options?: { before?: number; count?: number }): Promise<StoredMessages>;
  /** The members of a group that were seen, as they were last. Whether they are online is not stored. */
  storedMembers(groupID: string): Promise<MemberInfo[]>;
  storedMember(groupID: string, userID: string): Promise<MemberInfo | undefined>;
  storedProfile(userID: string): Promise<StoredProfile | undefined>;
  /** Resolves when all that was told is stored. */
  flush(): Promise<void>;

  /** Own messages that are not at their end, and the last 100 that failed or were dropped, in their order. */
  outbox(): LocalMessage[];
  /** Takes one that failed, or was dropped, out of it. */
  discard(message: LocalMessage): void;

  /**
   * Watches users' statuses until unwatchUsers, across connections. The rows come as the event `status`. Throws a
   * ClientError, QueueFull, beyond 10,000 users; what the server refuses, such as more than it allows, is `watchFailed`.
   */
  watchUsers(userIDList: string[]): void;
  /** Watches these users no longer; without a list, nobody. */
  unwatchUsers(userIDList?: string[]): void;
  /** The last row of a user who is watched. Without a connection it may be out of date. */
  statusOf(userID: string): UserStatusInfo | undefined;

  /** Tells the members who are online something of the moment, once: it is not repeated, and waits for no connection. */
  sendSignal(groupID: string, name: string, data?: string): Promise<Methods["sendGroupSignal"]["result"]>;
  /** Sends the signal "typing", every three seconds at most: call it at each key. */
  sendTyping(groupID: string): void;
  /** When the group takes the user's next message, by Date.now(), as the last 10023 said; 0 = not known to wait. */
  mayWriteAt(groupID: string): number;

  /** Up to where the application was told of each group: kept, and given to the next client, it resumes there. */
  positions(): Position[];
}

// Generated from the server's declarations: Scripts/generate rewrites it.

/** A group. Non-members get what is always there, and joinMode; a BChatRoom has no policy fields. */
export interface GroupInfo {
  groupID: string;
  groupType: "Work" | "Public" | "Meeting" | "AVChatRoom" | "BChatRoom";
  groupName: string;
  introduction: string;
  notification?: string;
  faceURL: string;
  owner: string;
  createTime: number;
  lastInfoTime?: number;
  lastMessageTime?: number;
  lastSeq?: number;
  firstSeq?: number;
  changeSeq?: number;
  epoch?: string;
  memberCount: number;
  onlineCount: number;
  maxMemberNum: number;
  allMuted?: boolean;
  mute?: GroupMute;
  customInfo: Record<string, string>;
  serverCustomInfo?: string;
  joinMode?: "Any" | "Auth" | "Forbid";
  inviteMode?: "Any" | "Admin" | "Nobody";
  beInviteMode?: "None" | "Auth";
  updateInfoMode?: "Any" | "Admin" | "Owner";
  updateCustomMode?: "Any" | "Admin" | "Owner";
  ownerQuitMode?: "Transfer" | "Forbid";
  memberChangeNotification?: boolean;
  isSearchable?: boolean;
  isMemberVisible?: boolean;
  historyVisibility?: "Joined" | "All";
  slowMode?: number;
  attributeMode?: "Any" | "Holder";
  lastMessage?: Message;
  selfInfo?: SelfInfo;
}

/** The reader's own membership. */
export interface SelfInfo {
  role: string;
  joinTime: number;
  nameCard: string;
  muteUntil: number;
  receiveMessageOpt: "Receive" | "NotReceive" | "ReceiveNotNotify" | "ReceiveFromManagers" | "NotifyFromManagers";
  readSeq: number;
  unreadCount: number;
  customInfo: Record<string, string>;
  isPinned?: boolean;
  isHidden?: boolean;
  isMarkedUnread?: boolean;
  marks?: string[];
}

/** The mute of a group; without muteUntil there is no end. */
export interface GroupMute {
  mode: "None" | "Ordinary" | "All" | "Custom";
  roles?: string[];
  muteUntil?: number;
}

/** A member. Events have the members up to role (an application administrator only userID), lists all; nickName and faceURL are left out where they are empty; inviter is for oneself. The role is NotMember for somebody who is no member, or no longer. */
export interface MemberInfo {
  userID: string;
  nickName?: string;
  faceURL?: string;
  nameCard?: string;
  role?: string | "NotMember";
  joinTime?: number;
  muteUntil?: number;
  customInfo?: Record<string, string>;
  isOnline?: boolean;
  inviter?: string;
}

/** A change to a member: muteTime in seconds (0 = may speak again), customInfo whole. */
export interface MemberChange {
  userID: string;
  muteTime?: number;
  nameCard?: string;
  customInfo?: Record<string, string>;
  role?: string;
}

/** The texts of a user. */
export interface UserInfo {
  userID: string;
  nickName: string;
  faceURL: string;
  customInfo: Record<string, string>;
}

/** Whether a user is online. platformList names each platform with a session once; lastOnlineTime is 0 for who is online or never was. */
export interface UserStatusInfo {
  userID: string;
  isOnline: boolean;
  platformList: string[];
  customStatus: string;
  lastOnlineTime: number;
}

/** A request to join that managers decide, or an invitation that the invited decides; toUser is empty for Join. */
export interface Application {
  applicationID: string;
  groupID: string;
  type: "Join" | "Invite";
  fromUser: string;
  toUser: string;
  addTime: number;
  requestMsg: string;
  attach?: string;
  handleStatus: "Unhandled" | "HandledByOther" | "HandledBySelf";
  handleResult?: "Agree" | "Refuse";
  handledMsg?: string;
  handledBy?: string;
  handledTime?: number;
  isRead: boolean;
}

/** A message: text, data or tips by its type, and extension; none of them when it is recalled. */
export interface Message {
  msgID: string;
  groupID: string;
  seq?: number;
  sender: string;
  nickName?: string;
  faceURL?: string;
  nameCard?: string;
  timestamp: number;
  type: "Text" | "Custom" | "GroupTips";
  text?: string;
  data?: string;
  tips?: Tips;
  extension?: string;
  priority: "High" | "Normal" | "Low" | "Lowest";
  clientMsgID?: string;
  atUserIDList?: string[];
  replyTo?: { seq: number; sender: string };
  toUserIDList?: string[];
  isExcludedFromUnreadCount?: boolean;
  isExcludedFromLastMessage?: boolean;
  isRevoked?: boolean;
  needReadReceipt?: boolean;
  changeSeq?: number;
  editTime?: number;
  isPinned?: boolean;
  reactions?: { reaction: string; count: number; byMe: boolean }[];
  replyCount?: number;
  platform: string;
}

/** A change in the group, as its history keeps it. */
export interface Tips {
  type: "Join" | "Invite" | "Quit" | "Kicked" | "SetAdmin" | "CancelAdmin" | "GroupInfoChange" | "MemberInfoChange" | "Create";
  opUser: MemberInfo;
  memberList?: MemberInfo[];
  changeInfoList?: { type: string; key?: string; value: unknown }[] | MemberChange[];
  memberCount: number;
  isAccepted?: boolean;
}

/** An event in a group that concerned the user, kept for later. */
export interface SystemNotification {
  notificationID: string;
  type: "AddGroupRequest" | "AddGroupAccept" | "AddGroupRefuse" | "KickedOff" | "GroupDismissed" | "GroupCreated" | "InvitedToGroup" | "QuitGroup" | "GrantAdmin" | "CancelAdmin" | "GroupRecycled" | "InviteRequest" | "InviteAccept" | "InviteRefuse" | "Custom";
  groupID: string;
  groupName?: string;
  opUser: MemberInfo;
  platform?: string;
  applicationID?: string;
  reason?: string;
  data?: string;
  timestamp: number;
  isRead: boolean;
}

/** A signed-in connection of a user. */
export interface Session {
  sessionID: string;
  platform: "iOS" | "Android" | "Windows" | "Mac" | "Web" | "Unknown";
  deviceID?: string;
  address: string;
  loginTime: number;
}

/** A request that was answered, an event that was sent, a sign-in, or the end of a connection. The name is the method's, the event's, or at a sign-in the platform's; unknownParameters are those of a request that its method does not have. */
export interface TraceEntry {
  time: number;
  kind: "request" | "event" | "signIn" | "close";
  name: string;
  userID?: string;
  groupID?: string;
  sessionID?: string;
  code?: number;
  bytes?: number;
  microseconds?: number;
  unknownParameters?: string;
}

/** A group's events in the last second; deliveries are events times connections. */
export interface ActiveGroup {
  groupID: string;
  events: number;
  deliveries: number;
  bytes: number;
  connections: number;
}

/** A call of an administrator that could change something; code 0 = done. */
export interface AdministratorAction {
  time: number;
  method: string;
  by: string;
  code: number;
  groupID?: string;
  userID?: string;
  applicationID?: string;
  asUser?: string;
  userIDList?: string[];
  userCount?: number;
  reason?: string;
}

/** A message that a member has reported, as the reporter saw it then. */
export interface Report {
  reportID: string;
  groupID: string;
  reporter: string;
  message: Message;
  category: string;
  text: string;
  time: number;
  state: "Open" | "Closed";
  note?: string;
}

/** The parameters and the result of each method. */
export interface Methods {
  /** Signs in on this connection, or renews the session with a new token. */
  login: {
    params: {
      /** A JWT that names the user in sub and its own end in exp. */
      token: string;
      /** The client's platform: iOS, Android, Windows, Mac, Web or Unknown; absent = Unknown. Renewals ignore it. */
      platform?: string;
      /** The device, at most 512 bytes of UTF-8: a new session ends the one on the same device. Renewals ignore it. */
      deviceID?: string;
    };
    result: {
      userID: string;
      sessionID: string;
      serverTime: number;
      tokenExpiresAt: number;
      heartbeat: number;
    };
  };
  /** Ends the session; the server then closes with 1000. */
  logout: {
    params: {};
    result: {};
  };
  /** Answers with the server's clock. */
  ping: {
    params: {};
    result: {
      serverTime: number;
    };
  };
  /** Tells the server's name, version, limits, and what each group type allows. */
  getServerInfo: {
    params: {};
    result: {
      name: string;
      version: string;
      protocol: string;
      limits: Record<string, unknown>;
      groupTypes: Record<string, unknown>[];
    };
  };
  /** Answers the OpenRPC document of this server. */
  "rpc.discover": {
    params: {};
    result: {
      openrpc: string;
      info: Record<string, unknown>;
      methods: Record<string, unknown>[];
      components: Record<string, unknown>;
    };
  };
  /** Makes a group that the caller owns, or the user whom the application names as ownerUserID. */
  createGroup: {
    params: {
      /** The group's type; the old names are taken too. One of Work, Public, Meeting, AVChatRoom, BChatRoom. */
      groupType: "Work" | "Public" | "Meeting" | "AVChatRoom" | "BChatRoom";
      /** The group's name, for people. 1 to 30 bytes of UTF-8, no control characters. */
      groupName: string;
      /** The new group's ID, not beginning with @TGS#; absent or empty = the server chooses one. At most 48 bytes of UTF-8. */
      groupID?: string;
      /** The group's subject, for people. At most 240 bytes of UTF-8. */
      introduction?: string;
      /** An announcement to the members. At most 300 bytes of UTF-8. */
      notification?: string;
      /** The address of the group's picture. At most 100 bytes of UTF-8. */
      faceURL?: string;
      /** The most members that the group may have; 0, or absent for a new group = as many as its type may. 0 or more. */
      maxMemberNum?: number;
      /** The application's own texts about the group, by key; an empty text removes its key. At most 10 members, keys [A-Za-z0-9_]{1,16}, values at most 512 bytes of UTF-8; null removes a key. */
      customInfo?: Record<string, string | null>;
      /** The backend's own data: application administrators write it, members read it; empty = nothing. At most 4096 bytes of UTF-8. */
      serverCustomInfo?: string;
      /** Whether joinGroup joins at once, asks the managers, or is refused. One of Any, Auth, Forbid. */
      joinMode?: "Any" | "Auth" | "Forbid";
      /** The least role that may invite; Any = every member. One of Any, Admin, Nobody. */
      inviteMode?: "Any" | "Admin" | "Nobody";
      /** Whether an invited user is asked first (Auth). One of None, Auth. */
      beInviteMode?: "None" | "Auth";
      /** The least role that may edit name, introduction, notification and faceURL. One of Any, Admin, Owner. */
      updateInfoMode?: "Any" | "Admin" | "Owner";
      /** The least role that may edit customInfo. One of Any, Admin, Owner. */
      updateCustomMode?: "Any" | "Admin" | "Owner";
      /** Whether the owner may quit, and the group passes on (Transfer). One of Transfer, Forbid. */
      ownerQuitMode?: "Transfer" | "Forbid";
      /** Whether all members hear of changes among them. */
      memberChangeNotification?: boolean;
      /** Whether others find the group by searchGroups. */
      isSearchable?: boolean;
      /** Whether ordinary members may list and read the members. */
      isMemberVisible?: boolean;
      /** The messages that members may read: those since joining, or all. One of Joined, All. */
      historyVisibility?: "Joined" | "All";
      /** How many seconds an ordinary member's messages are apart at least; 0 = as the member likes. 0 to 86400. */
      slowMode?: number;
      /** Whether an attribute that somebody holds may be changed by all (Any), or by its holder. One of Any, Holder. */
      attributeMode?: "Any" | "Holder";
      /** The first members, besides the owner. At most 100 elements. */
      memberList?: { userID: string; role?: string }[];
      /** A remark that those read who are asked whether they want to be members. At most 512 characters. */
      inviteMessage?: string;
      /** The owner of the group; an application administrator without asUser must give it. 1 to 32 bytes of UTF-8. */
      ownerUserID?: string;
    };
    result: {
      groupID: string;
      groupType: "Work" | "Public" | "Meeting" | "AVChatRoom" | "BChatRoom";
      memberList: { userID: string; result: "Fail" | "Success" | "Invalid" | "Pending" | "OverLimit" }[];
    };
  };
  /** Joins a group, or asks its managers to be let in where joinMode is Auth. */
  joinGroup: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** A word to those who decide, where joinMode is Auth. At most 512 characters. */
      message?: string;
    };
    result: {
      status: "Joined" | "Pending";
      lastSeq?: number;
      epoch?: string;
    };
  };
  /** Leaves a group. */
  quitGroup: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
    };
    result: {};
  };
  /** Disbands a group. */
  dismissGroup: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
    };
    result: {};
  };
  /** Lists the groups that the caller is a member of. */
  getJoinedGroupList: {
    params: {
      /** Lists groups of this type only; absent = of every type that is listed. One of Work, Public, Meeting, AVChatRoom, BChatRoom. */
      groupType?: "Work" | "Public" | "Meeting" | "AVChatRoom" | "BChatRoom";
      /** Lists what has changed or was left since then, in milliseconds since 1970; absent = all. 0 or more. */
      updatedSince?: number;
      /** The most groups of the page, and the most that it names as left; absent = 50. 1 to 200. */
      count?: number;
      /** Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or more. */
      nextSeq?: number;
    };
    result: {
      groupList: GroupInfo[];
      leftGroupIDList: string[];
      nextSeq: number;
    };
  };
  /** Tells what the caller may know of up to 50 groups. */
  getGroupsInfo: {
    params: {
      /** The groups; each has a row in the answer. 1 to 50 elements. */
      groupIDList: string[];
    };
    result: {
      resultList: { groupID: string; code: number; message?: string; info?: GroupInfo }[];
    };
  };
  /** Changes a group's info, all of what is given or nothing. */
  setGroupInfo: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The group's new name. 1 to 30 bytes of UTF-8, no control characters. */
      groupName?: string;
      /** The group's subject, for people. At most 240 bytes of UTF-8. */
      introduction?: string;
      /** An announcement to the members. At most 300 bytes of UTF-8. */
      notification?: string;
      /** The address of the group's picture. At most 100 bytes of UTF-8. */
      faceURL?: string;
      /** The most members that the group may have; 0, or absent for a new group = as many as its type may. 0 or more. */
      maxMemberNum?: number;
      /** The application's own texts about the group, by key; an empty text removes its key. At most 10 members, keys [A-Za-z0-9_]{1,16}, values at most 512 bytes of UTF-8; null removes a key. */
      customInfo?: Record<string, string | null>;
      /** The backend's own data: application administrators write it, members read it; empty = nothing. At most 4096 bytes of UTF-8. */
      serverCustomInfo?: string;
      /** Whether joinGroup joins at once, asks the managers, or is refused. One of Any, Auth, Forbid. */
      joinMode?: "Any" | "Auth" | "Forbid";
      /** The least role that may invite; Any = every member. One of Any, Admin, Nobody. */
      inviteMode?: "Any" | "Admin" | "Nobody";
      /** Whether an invited user is asked first (Auth). One of None, Auth. */
      beInviteMode?: "None" | "Auth";
      /** The least role that may edit name, introduction, notification and faceURL. One of Any, Admin, Owner. */
      updateInfoMode?: "Any" | "Admin" | "Owner";
      /** The least role that may edit customInfo. One of Any, Admin, Owner. */
      updateCustomMode?: "Any" | "Admin" | "Owner";
      /** Whether the owner may quit, and the group passes on (Transfer). One of Transfer, Forbid. */
      ownerQuitMode?: "Transfer" | "Forbid";
      /** Whether all members hear of changes among them. */
      memberChangeNotification?: boolean;
      /** Whether others find the group by searchGroups. */
      isSearchable?: boolean;
      /** Whether ordinary members may list and read the members. */
      isMemberVisible?: boolean;
      /** The messages that members may read: those since joining, or all. One of Joined, All. */
      historyVisibility?: "Joined" | "All";
      /** How many seconds an ordinary member's messages are apart at least; 0 = as the member likes. 0 to 86400. */
      slowMode?: number;
      /** Whether an attribute that somebody holds may be changed by all (Any), or by its holder. One of Any, Holder. */
      attributeMode?: "Any" | "Holder";
      /** true silences ordinary members without end, as muteGroup does; false lets all speak. */
      allMuted?: boolean;
    };
    result: {};
  };
  /** Finds groups whose texts hold any of up to 5 keywords: joined ones, and others that are searchable. */
  searchGroups: {
    params: {
      /** The texts to look for; a group is found by any of them. 1 to 5 elements, each 1 to 512 bytes of UTF-8. */
      keywordList: string[];
      /** Where to look; absent = groupID and groupName. At most 5 elements, each one of groupID, groupName, memberUserID, memberNameCard, memberNickName. */
      matchFields?: ("groupID" | "groupName" | "memberUserID" | "memberNameCard" | "memberNickName")[];
      /** Whether upper and lower case are the same; absent = true. */
      ignoreCase?: boolean;
      /** true finds only groups of which the caller is a member. */
      joinedOnly?: boolean;
      /** The most groups of the page; absent = 20. 1 to 50. */
      count?: number;
      /** Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or more. */
      nextSeq?: number;
    };
    result: {
      groupList: GroupInfo[];
      nextSeq: number;
    };
  };
  /** Makes another member the owner; the old one becomes Member, or leaves. */
  transferGroupOwner: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The member who becomes the owner. 1 to 32 bytes of UTF-8. */
      userID: string;
      /** true = the old owner leaves the group; absent = false. */
      quit?: boolean;
    };
    result: {};
  };
  /** Silences a group or some of its roles, for a time or without end; mode None lets all speak. */
  muteGroup: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The silenced: nobody, ordinary members, everybody, or the roles that are named. One of None, Ordinary, All, Custom. */
      mode: "None" | "Ordinary" | "All" | "Custom";
      /** The roles that are silenced, for mode Custom only. At most 50 elements, each one of Admin, Member, or 100 to 2147483647. */
      roles?: string[];
      /** How long, in seconds; 0 or absent = without end. 0 to 4294967295. */
      duration?: number;
    };
    result: {
      muteUntil?: number;
    };
  };
  /** Chooses which messages of a group the caller receives. */
  setGroupReceiveMessageOpt: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The messages that the caller receives from now on. One of Receive, NotReceive, ReceiveNotNotify, ReceiveFromManagers, NotifyFromManagers. */
      opt: "Receive" | "NotReceive" | "ReceiveNotNotify" | "ReceiveFromManagers" | "NotifyFromManagers";
    };
    result: {};
  };
  /** Replaces all attributes of a group. */
  initGroupAttributes: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The attributes that take the place of all there are. At most 16 members, keys 1 to 32 bytes, values at most 4096 bytes of UTF-8. */
      attributes: Record<string, string>;
    };
    result: {};
  };
  /** Sets some attributes of a group and leaves the others. */
  setGroupAttributes: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The attributes that are set; the others stay as they are. At most 16 members, keys 1 to 32 bytes, values at most 4096 bytes of UTF-8. */
      attributes: Record<string, string>;
      /** The values that these keys have to have, null = the key is not there: else 10058, and nothing is set. At most 16 members, keys 1 to 32 bytes, values at most 4096 bytes of UTF-8, or null. */
      expect?: Record<string, string | null>;
      /** true = the keys of this call that the caller holds go when the caller leaves the group; absent = false. */
      isDeleteAfterHolderLeft?: boolean;
      /** true = the caller becomes the holder of the keys of this call; absent = false. */
      isTakeOver?: boolean;
    };
    result: {};
  };
  /** Removes attributes of a group; one unknown key, and none is removed. */
  deleteGroupAttributes: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The keys that are removed; absent = all. At most 100 elements, each 1 to 32 bytes of UTF-8. */
      keys?: string[];
    };
    result: {};
  };
  /** Reads attributes of a group; keys that are not there are left out. */
  getGroupAttributes: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The keys that are read; absent = all. At most 100 elements, each 1 to 32 bytes of UTF-8. */
      keys?: string[];
      /** true = holders names the holder of each key that has one; absent = false. */
      withHolders?: boolean;
    };
    result: {
      attributes: Record<string, string>;
      holders?: Record<string, string>;
    };
  };
  /** Sets counters of a group, and removes those whose value is null; the others stay. */
  setGroupCounters: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The counters and their new values; null removes a counter. 1 to 20 members, keys [A-Za-z0-9_]{1,32}, values integers within ±2⁵³; null removes a key. */
      counters: Record<string, number | null>;
    };
    result: {};
  };
  /** Raises a counter of a group, which starts at 0 where it is not there. */
  increaseGroupCounter: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The counter that is raised. 1 to 32 bytes of UTF-8, letters, digits and _ alone. */
      key: string;
      /** How many are added. 1 to 2147483647. */
      value: number;
    };
    result: {
      value: number;
    };
  };
  /** Lowers a counter of a group, which starts at 0 where it is not there. */
  decreaseGroupCounter: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The counter that is lowered. 1 to 32 bytes of UTF-8, letters, digits and _ alone. */
      key: string;
      /** How many are taken away. 1 to 2147483647. */
      value: number;
    };
    result: {
      value: number;
    };
  };
  /** Reads counters of a group; keys that are not there are left out. */
  getGroupCounters: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The counters that are read; absent = all. At most 100 elements, each 1 to 32 bytes of UTF-8, letters, digits and _ alone. */
      keys?: string[];
    };
    result: {
      counters: Record<string, unknown>;
    };
  };
  /** Lists the members of a group: owner, admins, others. */
  getGroupMemberList: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** Lists these members only; Common = neither owner nor admin. Absent = All. One of All, Owner, Admin, Common. */
      filter?: "All" | "Owner" | "Admin" | "Common";
      /** Lists who joined, or changed in role, nameCard, customInfo or mute, since then, in milliseconds since 1970; absent = all. 0 or more. */
      updatedSince?: number;
      /** Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or more. */
      nextSeq?: number;
      /** The most members of the page; absent = 50. 1 to 200. */
      count?: number;
    };
    result: {
      memberList: MemberInfo[];
      nextSeq: number;
      leftUserIDList?: string[];
      isComplete?: boolean;
    };
  };
  /** Tells of up to 50 users what they are in a group; those who are no members are left out. */
  getGroupMembersInfo: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The users; those who are no members are left out of the answer. 1 to 50 elements, each 1 to 32 bytes of UTF-8. */
      userIDList: string[];
    };
    result: {
      memberList: MemberInfo[];
    };
  };
  /** Counts the members with at least one signed-in session. */
  getGroupOnlineMemberCount: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
    };
    result: {
      count: number;
    };
  };
  /** Changes name card, customInfo, role or mute of a member, all of what is given or nothing. */
  setGroupMemberInfo: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The member whose info changes, or the caller. 1 to 32 bytes of UTF-8. */
      userID: string;
      /** The member's name in this group; empty = none. At most 50 bytes of UTF-8, no control characters. */
      nameCard?: string;
      /** The application's own texts about the member, by key; an empty text removes its key. At most 5 members, keys [A-Za-z0-9_]{1,16}, values at most 64 bytes of UTF-8; null removes a key. */
      customInfo?: Record<string, string | null>;
      /** The member's new role. One of Admin, Member, or 100 to 2147483647. */
      role?: string;
      /** When the member may speak again, in milliseconds since 1970; 0 = at once. 0 or more. */
      muteUntil?: number;
    };
    result: {};
  };
  /** Silences members, one or up to 50 by list, for a time; it survives leaving and coming back. */
  muteGroupMember: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The member who is silenced. 1 to 32 bytes of UTF-8. */
      userID?: string;
      /** The members who are silenced: this or userID. 1 to 50 elements, each 1 to 32 bytes of UTF-8. */
      userIDList?: string[];
      /** How long, in seconds; 0 = no longer. A mute of the group holds besides. 0 to 4294967295. */
      muteTime: number;
    };
    result: {
      memberList?: { userID: string; result: "Fail" | "Success" | "Invalid" | "Pending" | "OverLimit" }[];
      muteUntil: number;
    };
  };
  /** Lists the members that are silenced individually. */
  getGroupMutedMembers: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or more. */
      nextSeq?: number;
      /** The most members of the page; absent = 50. 1 to 50. */
      count?: number;
    };
    result: {
      memberList: MemberInfo[];
      nextSeq: number;
    };
  };
  /** Lists the removed users whose ban has not ended, the soonest end first. */
  getGroupBannedMembers: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or more. */
      nextSeq?: number;
      /** The most bans of the page; absent = 50. 1 to 50. */
      count?: number;
    };
    result: {
      memberList: { userID: string; bannedUntil: number; reason: string }[];
      nextSeq: number;
    };
  };
  /** Makes users members, or asks them first where beInviteMode is Auth. */
  inviteUserToGroup: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The invited users. 1 to 100 elements, each 1 to 32 bytes of UTF-8. */
      userIDList: string[];
      /** A word to those who are asked. At most 512 characters. */
      message?: string;
      /** The application's own data beside the invitation. At most 512 characters. */
      attach?: string;
    };
    result: {
      memberList: { userID: string; result: "Fail" | "Success" | "Invalid" | "Pending" | "OverLimit" }[];
    };
  };
  /** Removes members from a group, and keeps them out for a time where banTime says so. */
  kickGroupMember: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The members who are removed. 1 to 50 elements, each 1 to 32 bytes of UTF-8. */
      userIDList: string[];
      /** The reason, which all members are told. At most 512 characters. */
      reason?: string;
      /** How long they are kept out, in seconds; 0 or absent = not at all. 0 to 4294967295. */
      banTime?: number;
    };
    result: {
      memberList: { userID: string; result: "Fail" | "Success" | "Invalid" | "Pending" | "OverLimit" }[];
    };
  };
  /** Ends the bans of users; no event tells of it. */
  unbanGroupMember: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The users whose bans end. 1 to 50 elements, each 1 to 32 bytes of UTF-8. */
      userIDList: string[];
    };
    result: {
      memberList: { userID: string; result: "Fail" | "Success" | "Invalid" | "Pending" | "OverLimit" }[];
    };
  };
  /** Makes members admins, ordinary members, or gives a custom role: one, or up to 50 by list. */
  setGroupMemberRole: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The member whose role changes. 1 to 32 bytes of UTF-8. */
      userID?: string;
      /** The members whose roles change: this or userID. 1 to 50 elements, each 1 to 32 bytes of UTF-8. */
      userIDList?: string[];
      /** The new role. One of Admin, Member, or 100 to 2147483647. */
      role: string;
    };
    result: {
      memberList?: { userID: string; result: "Fail" | "Success" | "Invalid" | "Pending" | "OverLimit" }[];
    };
  };
  /** Tells of up to 200 users who brought them into a group. */
  getGroupMemberInviters: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The users; each has a row in the answer. 1 to 200 elements, each 1 to 32 bytes of UTF-8. */
      userIDList: string[];
    };
    result: {
      inviterList: { userID: string; inviter?: string }[];
    };
  };
  /** Tells of up to 100 users which role they have in a group, or NotMember. */
  getGroupMemberRoles: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The users; each has a row in the answer. 1 to 100 elements, each 1 to 32 bytes of UTF-8. */
      userIDList: string[];
    };
    result: {
      roleList: { userID: string; role: string | "NotMember" }[];
    };
  };
  /** Changes the caller's own nickName, faceURL and customInfo. */
  setSelfInfo: {
    params: {
      /** The user's name, for people. At most 100 bytes of UTF-8, no control characters. */
      nickName?: string;
      /** The address of the user's picture. At most 500 bytes of UTF-8. */
      faceURL?: string;
      /** The application's own texts about the user, by key; an empty text removes its key. At most 10 members, keys [A-Za-z0-9_]{1,16}, values at most 512 bytes of UTF-8; null removes a key. */
      customInfo?: Record<string, string | null>;
    };
    result: {};
  };
  /** Tells the texts of up to 100 users; those whom nobody knows are left out. */
  getUsersInfo: {
    params: {
      /** The users whose texts are asked for. 1 to 100 elements, each 1 to 32 bytes of UTF-8. */
      userIDList: string[];
    };
    result: {
      userList: UserInfo[];
    };
  };
  /** Says something about the caller's presence; an empty text takes it back. */
  setSelfStatus: {
    params: {
      /** The user's own words about being there; empty = none. At most 100 bytes of UTF-8, no control characters. */
      customStatus: string;
    };
    result: {};
  };
  /** Tells which of up to 100 users are online; those whom nobody knows are left out. */
  getUsersStatus: {
    params: {
      /** The users whose status is asked for. 1 to 100 elements, each 1 to 32 bytes of UTF-8. */
      userIDList: string[];
    };
    result: {
      userList: UserStatusInfo[];
    };
  };
  /** Tells the status of up to 100 users, and from now on of its changes by onUsersStatusChanged; unknown users may be watched, too. */
  subscribeUsersStatus: {
    params: {
      /** The users whose status is watched from now on. 1 to 100 elements, each 1 to 32 bytes of UTF-8. */
      userIDList: string[];
    };
    result: {
      userList: UserStatusInfo[];
    };
  };
  /** Tells of changes of these users' statuses no longer. */
  unsubscribeUsersStatus: {
    params: {
      /** The users who are watched no longer; absent or empty = all. At most 100 elements, each 1 to 32 bytes of UTF-8. */
      userIDList?: string[];
    };
    result: {};
  };
  /** Lists the applications that the caller may decide, or has sent, handled ones included, newest first. */
  getGroupApplicationList: {
    params: {
      /** Received: those that the caller may decide; Sent: those that the caller made. Absent = Received. One of Received, Sent. */
      box?: "Received" | "Sent";
      /** Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or more. */
      nextSeq?: number;
      /** The most applications of the page; absent = 50. 1 to 50. */
      count?: number;
    };
    result: {
      applicationList: Application[];
      unreadCount: number;
      nextSeq: number;
    };
  };
  /** Lets an applicant in, or follows an invitation. */
  acceptGroupApplication: {
    params: {
      /** The application or invitation that is decided. */
      applicationID: string;
      /** A word to whoever asked. At most 512 characters. */
      reason?: string;
    };
    result: {};
  };
  /** Turns an applicant away, or an invitation down. */
  refuseGroupApplication: {
    params: {
      /** The application or invitation that is decided. */
      applicationID: string;
      /** A word to whoever asked. At most 512 characters. */
      reason?: string;
    };
    result: {};
  };
  /** Marks the applications up to an instant as read by the caller. */
  setGroupApplicationRead: {
    params: {
      /** The instant up to which applications are read, in milliseconds since 1970; absent = now. 0 or more. */
      timestamp?: number;
    };
    result: {};
  };
  /** Sends a text to a group. */
  sendGroupTextMessage: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The text that is sent. 1 to 12288 bytes of UTF-8. */
      text: string;
      /** Which messages a group over its rate keeps and sends first; absent = Normal. One of High, Normal, Low, Lowest. */
      priority?: "High" | "Normal" | "Low" | "Lowest";
      /** The sender's own ID: repeated within 5 minutes, the message is not delivered again. 1 to 64 bytes of UTF-8. */
      clientMsgID?: string;
      /** The userIDs that the message mentions, or @all, which only managers may use. At most 30 elements. */
      atUserIDList?: string[];
      /** true = only members who are online get it, and it is not stored; absent = false. */
      onlineUserOnly?: boolean;
      /** true = the sender learns who has read it, in a Work or Public group; absent = false. */
      needReadReceipt?: boolean;
      /** Data of the application's own beside the content; absent or empty = none. At most 4096 bytes of UTF-8. */
      extension?: string;
      /** The seq of the message that this one answers; absent = it is no reply. 1 or more. */
      replyTo?: number;
      /** true = it does not count as unread, where messages are stored; absent = false. */
      isExcludedFromUnreadCount?: boolean;
      /** true = it does not become the group's lastMessage, where messages are stored; absent = false. */
      isExcludedFromLastMessage?: boolean;
      /** The only members who see the message, besides the sender, in a Work, Public or Meeting group; absent = all. 1 to 50 elements, each 1 to 32 bytes of UTF-8. */
      toUserIDList?: string[];
      /** When it was sent first, by the server's clock, in milliseconds since 1970: it is looked for; absent = it was not. 0 or more. */
      firstSentAt?: number;
    };
    result: {
      msgID: string;
      seq?: number;
      timestamp: number;
      status: "Stored" | "Delivered" | "Queued" | "Dropped";
    };
  };
  /** Sends data of the application's own to a group. */
  sendGroupCustomMessage: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The data that is sent, in any form of the application's. 1 to 12288 bytes of UTF-8. */
      data: string;
      /** Which messages a group over its rate keeps and sends first; absent = Normal. One of High, Normal, Low, Lowest. */
      priority?: "High" | "Normal" | "Low" | "Lowest";
      /** The sender's own ID: repeated within 5 minutes, the message is not delivered again. 1 to 64 bytes of UTF-8. */
      clientMsgID?: string;
      /** The userIDs that the message mentions, or @all, which only managers may use. At most 30 elements. */
      atUserIDList?: string[];
      /** true = only members who are online get it, and it is not stored; absent = false. */
      onlineUserOnly?: boolean;
      /** true = the sender learns who has read it, in a Work or Public group; absent = false. */
      needReadReceipt?: boolean;
      /** Data of the application's own beside the content; absent or empty = none. At most 4096 bytes of UTF-8. */
      extension?: string;
      /** The seq of the message that this one answers; absent = it is no reply. 1 or more. */
      replyTo?: number;
      /** true = it does not count as unread, where messages are stored; absent = false. */
      isExcludedFromUnreadCount?: boolean;
      /** true = it does not become the group's lastMessage, where messages are stored; absent = false. */
      isExcludedFromLastMessage?: boolean;
      /** The only members who see the message, besides the sender, in a Work, Public or Meeting group; absent = all. 1 to 50 elements, each 1 to 32 bytes of UTF-8. */
      toUserIDList?: string[];
      /** When it was sent first, by the server's clock, in milliseconds since 1970: it is looked for; absent = it was not. 0 or more. */
      firstSentAt?: number;
    };
    result: {
      msgID: string;
      seq?: number;
      timestamp: number;
      status: "Stored" | "Delivered" | "Queued" | "Dropped";
    };
  };
  /** Tells the members who are online something of the moment, which is kept nowhere. */
  sendGroupSignal: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** What it means, in the application's own word. 1 to 32 bytes of UTF-8, letters, digits, _, . and - alone. */
      name: string;
      /** Data of the application's own; absent = none. At most 512 bytes of UTF-8. */
      data?: string;
    };
    result: {};
  };
  /** Reads the messages that a group keeps, newest or oldest first. */
  getGroupHistoryMessageList: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The most messages of the page; absent = 20. 1 to 100. */
      count?: number;
      /** The page begins next to this seq; 0 or absent = at the newest message for Older, at the oldest for Newer. 0 or more. */
      fromSeq?: number;
      /** Whether the page goes back in time or forward; absent = Older. One of Older, Newer. */
      direction?: "Older" | "Newer";
    };
    result: {
      messageList: Message[];
      isFinished: boolean;
    };
  };
  /** Reads messages as they are now, in the order of seqList; those that the caller may not see are left out. */
  getGroupMessages: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The seqs of the messages. 1 to 20 elements, each 1 or more. */
      seqList: number[];
    };
    result: {
      messageList: Message[];
    };
  };
  /** Reads the messages that answer a message and that the caller may see, oldest first; recalled ones are left out. */
  getGroupMessageReplies: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The seq of the message that they answer. 1 or more. */
      seq: number;
      /** Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or more. */
      nextSeq?: number;
      /** The most replies of the page; absent = 50. 1 to 50. */
      count?: number;
    };
    result: {
      messageList: Message[];
      totalCount: number;
      nextSeq: number;
    };
  };
  /** Answers the messages of up to 50 groups that came, and those that changed, after a position, none missing, or says that this is not possible. */
  syncGroups: {
    params: {
      /** The position in each group from which to go on. 1 to 50 elements. */
      groups: { groupID: string; epoch: string; seq: number; changeSeq?: number }[];
    };
    result: {
      groups: { groupID: string; code: number; message?: string; epoch?: string; lastSeq?: number; recovered?: boolean; changeList?: Message[]; changeSeq?: number; messageList?: Message[]; more?: boolean }[];
    };
  };
  /** Finds Text messages with any of up to 5 keywords that the caller may see, if `search.messages` is on. */
  searchGroupMessages: {
    params: {
      /** The texts to look for, in upper or lower case; a message is found by any of them. 1 to 5 elements, each 1 to 512 bytes of UTF-8. */
      keywordList: string[];
      /** Where to look; absent or empty = in all groups that the caller has joined. At most 50 elements, each 1 to 48 bytes of UTF-8. */
      groupIDList?: string[];
      /** Whose messages are found; absent or empty = everybody's. At most 50 elements, each 1 to 32 bytes of UTF-8. */
      senderUserIDList?: string[];
      /** When they were sent at the earliest, in milliseconds since 1970; absent = any time. 0 or more. */
      from?: number;
      /** When they were sent at the latest, in milliseconds since 1970; absent = any time. 0 or more. */
      to?: number;
      /** The most messages of the page; absent = 20. 1 to 50. */
      count?: number;
      /** Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or more. */
      nextSeq?: number;
    };
    result: {
      messageList: Message[];
      nextSeq: number;
    };
  };
  /** Takes a message back: it keeps its place and loses its content. */
  revokeGroupMessage: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The seq of the message that is taken back, in place of msgID. 1 or more. */
      seq?: number;
      /** The msgID of the message, in place of seq; in live rooms that remember messages. 1 to 128 bytes of UTF-8. */
      msgID?: string;
    };
    result: {};
  };
  /** Replaces the text or data of a message, its extension, or both; the same ones change nothing. */
  modifyGroupMessage: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The seq of the message. 1 or more. */
      seq: number;
      /** The content that takes the place of what the message has, of its own kind. Not together with data. 1 to 12288 bytes of UTF-8. */
      text?: string;
      /** The content that takes the place of what the message has, of its own kind. Not together with text. 1 to 12288 bytes of UTF-8. */
      data?: string;
      /** The data beside the content; empty = it is removed, absent = it stays. At most 4096 bytes of UTF-8. */
      extension?: string;
    };
    result: {
      editTime?: number;
    };
  };
  /** Adds a reaction of the caller's to a message; twice is once. */
  addMessageReaction: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The seq of the message. 1 or more. */
      seq: number;
      /** The reaction, as a rule an emoji; compared byte for byte. 1 to 32 bytes of UTF-8, no control characters. */
      reaction: string;
    };
    result: {};
  };
  /** Removes a reaction of the caller's from a message; one that is not there changes nothing. */
  removeMessageReaction: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The seq of the message. 1 or more. */
      seq: number;
      /** The reaction that is removed. 1 to 32 bytes of UTF-8, no control characters. */
      reaction: string;
    };
    result: {};
  };
  /** Reads the reactions to messages, the first reaction first; unknown messages are left out. */
  getMessageReactions: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The seqs of the messages. 1 to 20 elements, each 1 or more. */
      seqList: number[];
      /** How many users of each reaction are named; absent = 0. 0 to 10. */
      userCount?: number;
    };
    result: {
      resultList: { seq: number; reactions: { reaction: string; count: number; byMe: boolean; userIDList: string[] }[] }[];
    };
  };
  /** Pins a message for all who may see it, or unpins it. */
  pinGroupMessage: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The seq of the message. 1 or more. */
      seq: number;
      /** true = it is pinned, false = it is not any more. */
      isPinned: boolean;
    };
    result: {};
  };
  /** Reads the pinned messages that the caller may see, the last pinned first. */
  getPinnedGroupMessageList: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
    };
    result: {
      messageList: Message[];
    };
  };
  /** Reports a message that the caller may see to the application; once more renews the report. */
  reportMessage: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The seq of the message that is reported, in place of msgID. 1 or more. */
      seq?: number;
      /** The msgID of the message, in place of seq; in live rooms that remember messages. 1 to 128 bytes of UTF-8. */
      msgID?: string;
      /** A word of the application's own for what is wrong; absent or empty = none. At most 32 bytes of UTF-8. */
      category?: string;
      /** The reporter's own words; absent or empty = none. At most 512 characters. */
      text?: string;
    };
    result: {
      reportID: string;
    };
  };
  /** Notes up to which message the caller has read a group; never goes back. */
  markGroupMessageAsRead: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The seq up to which the caller has read; absent = all there is. 1 or more. */
      seq?: number;
    };
    result: {};
  };
  /** Counts the messages of groups that the caller has not read. */
  getGroupUnreadCount: {
    params: {
      /** The groups; absent or empty = all that getJoinedGroupList lists. At most 200 elements, each 1 to 48 bytes of UTF-8. */
      groupIDList?: string[];
    };
    result: {
      totalCount: number;
      groups: { groupID: string; unreadCount: number }[];
    };
  };
  /** Tells the senders of messages that the caller has read them. */
  sendMessageReadReceipts: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The messages that the caller has read; own ones and those without receipts are ignored. 1 to 50 elements, each 1 or more. */
      seqList: number[];
    };
    result: {};
  };
  /** Tells how many members have read messages of the caller's own. */
  getMessageReadReceipts: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The messages; others than own ones with receipts are left out of the answer. 1 to 50 elements, each 1 or more. */
      seqList: number[];
    };
    result: {
      receiptList: { seq: number; readCount: number; unreadCount: number }[];
    };
  };
  /** Lists who has read a message of the caller's own, or who has not. */
  getGroupMessageReadMemberList: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** The seq of an own message that was sent with needReadReceipt. 1 or more. */
      seq: number;
      /** Whether those are listed who have read it, or those who have not; absent = Read. One of Read, Unread. */
      filter?: "Read" | "Unread";
      /** Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or more. */
      nextSeq?: number;
      /** The most members of the page; absent = 50. 1 to 100. */
      count?: number;
    };
    result: {
      memberList: MemberInfo[];
      nextSeq: number;
    };
  };
  /** Pins, hides or marks a group in the caller's own list of conversations. */
  setConversation: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
      /** Whether the group stands above others in the list. */
      isPinned?: boolean;
      /** Whether the group is left out of the list, until a message counts as unread or mentions the caller. */
      isHidden?: boolean;
      /** Whether the group looks unread, until markGroupMessageAsRead. */
      isMarkedUnread?: boolean;
      /** The application's own words for the group, in the place of all earlier ones; an empty list removes them. At most 8 elements, each 1 to 32 bytes of UTF-8. */
      marks?: string[];
    };
    result: {};
  };
  /** Makes all messages that a group has by now invisible to the caller, for good; nobody else notices. */
  clearGroupHistory: {
    params: {
      /** The group that the request is about. 1 to 48 bytes of UTF-8. */
      groupID: string;
    };
    result: {
      clearedSeq: number;
    };
  };
  /** Lists what has happened to the caller in groups, newest first. */
  getSystemNotificationList: {
    params: {
      /** Where the page begins: 0 or absent = the first page, else as the last answer said. 0 or more. */
      nextSeq?: number;
      /** The most notifications of the page; absent = 50. 1 to 100. */
      count?: number;
    };
    result: {
      notificationList: SystemNotification[];
      unreadCount: number;
      nextSeq: number;
    };
  };
  /** Marks a notification and older ones as read by the caller. */
  setSystemNotificationRead: {
    params: {
      /** The newest notification that the caller has read; absent = all there are. */
      notificationID?: string;
    };
    result: {};
  };
}

/** The parameters of each event of the server. */
export interface ServerEvents {
  /** To all members, the new one included; notification off: the new member. */
  onMemberEnter: {
    groupID: string;
    opTime: number;
    platform?: string;
    memberList: MemberInfo[];
    memberCount: number;
    seq?: number;
    msgID?: string;
  };
  /** To the other members; notification off: nobody. */
  onMemberLeave: {
    groupID: string;
    opTime: number;
    platform?: string;
    memberList: MemberInfo[];
    memberCount: number;
    seq?: number;
    msgID?: string;
  };
  /** To all members, inviter and invited included; notification off: inviter and invited. */
  onMemberInvited: {
    groupID: string;
    opTime: number;
    opUser: MemberInfo;
    platform: string;
    memberList: MemberInfo[];
    memberCount: number;
    seq?: number;
    msgID?: string;
    isAccepted?: boolean;
  };
  /** To all members and the removed; notification off: the removed and the operator. */
  onMemberKicked: {
    groupID: string;
    opTime: number;
    opUser: MemberInfo;
    platform: string;
    memberList: MemberInfo[];
    reason: string;
    memberCount: number;
    seq?: number;
    msgID?: string;
  };
  /** To all members, the one concerned included; notification off, and for nameCard and customInfo in an AVChatRoom: the one concerned and the operator. */
  onGroupMemberInfoChanged: {
    groupID: string;
    opTime: number;
    opUser: MemberInfo;
    platform: string;
    changeInfoList: MemberChange[];
    seq?: number;
    msgID?: string;
  };
  /** To all sessions of the creator, and the initial members. */
  onGroupCreated: {
    groupID: string;
    opTime: number;
    platform: string;
    seq?: number;
    msgID?: string;
  };
  /** To all members, the operator included. */
  onGroupDismissed: {
    groupID: string;
    opTime: number;
    opUser: MemberInfo;
    platform: string;
  };
  /** To all members, the operator included. */
  onGroupRecycled: {
    groupID: string;
    opTime: number;
    opUser: MemberInfo;
    platform: string;
  };
  /** To all members. */
  onGroupInfoChanged: {
    groupID: string;
    opTime: number;
    opUser: MemberInfo;
    platform: string;
    changeInfoList: { type: string; key?: string; value: unknown }[];
    seq?: number;
    msgID?: string;
  };
  /** To managers. */
  onReceiveJoinApplication: {
    groupID: string;
    opTime: number;
    applicationID: string;
    member: MemberInfo;
    platform: string;
    opReason: string;
  };
  /** To the invited user. */
  onReceiveGroupInvitation: {
    groupID: string;
    opTime: number;
    opUser: MemberInfo;
    platform: string;
    applicationID: string;
    opReason: string;
    attach: string;
    groupName: string;
    groupType: "Work" | "Public" | "Meeting" | "AVChatRoom" | "BChatRoom";
    faceURL: string;
    memberCount: number;
  };
  /** To the applicant; for an invitation, the inviter. */
  onApplicationProcessed: {
    groupID: string;
    opTime: number;
    opUser: MemberInfo;
    platform: string;
    applicationID: string;
    isAgreeJoin: boolean;
    opReason: string;
  };
  /** To everybody in whose list of received or sent applications it stands: the managers and the applicant, or the invited user and the inviter. */
  onGroupApplicationListChanged: {
    groupID: string;
    opTime: number;
    application: Application;
  };
  /** To all members; notification off: the operator and the one concerned. */
  onGrantAdministrator: {
    groupID: string;
    opTime: number;
    opUser: MemberInfo;
    platform: string;
    memberList: MemberInfo[];
    seq?: number;
    msgID?: string;
  };
  /** To all members; notification off: the operator and the one concerned. */
  onRevokeAdministrator: {
    groupID: string;
    opTime: number;
    opUser: MemberInfo;
    platform: string;
    memberList: MemberInfo[];
    seq?: number;
    msgID?: string;
  };
  /** To all sessions of the user who quit. */
  onQuitFromGroup: {
    groupID: string;
    opTime: number;
    platform: string;
  };
  /** To the user's other sessions. */
  onReceiveMessageOptChanged: {
    groupID: string;
    opTime: number;
    opt: string;
  };
  /** To all members. */
  onGroupAttributeChanged: {
    groupID: string;
    opTime: number;
    groupAttributeMap: Record<string, string>;
    holders?: Record<string, string>;
  };
  /** To all members. */
  onGroupCounterChanged: {
    groupID: string;
    opTime: number;
    counters: Record<string, unknown>;
  };
  /** To all members who may see the message but the sending session, as their receive option says. */
  onRecvNewMessage: {
    groupID: string;
    opTime: number;
    message: Message;
  };
  /** To all members who may see the message. */
  onRecvMessageRevoked: {
    groupID: string;
    opTime: number;
    opUser: MemberInfo;
    platform: string;
    msgID: string;
    seq: number;
    changeSeq: number;
  };
  /** To all members who may see the message. */
  onRecvMessageModified: {
    groupID: string;
    opTime: number;
    changeSeq: number;
    message: Message;
  };
  /** To all members who may see the message. */
  onRecvMessageReactionsChanged: {
    groupID: string;
    opTime: number;
    opUser: MemberInfo;
    platform: string;
    seq: number;
    changeSeq: number;
    reactions: { reaction: string; count: number }[];
    reaction: string;
    isAdded: boolean;
  };
  /** To all members who may see the message. */
  onGroupMessagePinned: {
    groupID: string;
    opTime: number;
    opUser: MemberInfo;
    platform: string;
    seq: number;
    isPinned: boolean;
    changeSeq: number;
    message?: Message;
  };
  /** To the sending session. */
  onMessageDropped: {
    groupID: string;
    opTime: number;
    msgID: string;
    clientMsgID?: string;
    priority: string;
    reason: string;
  };
  /** To the user's other sessions, when it moved. */
  onConversationRead: {
    groupID: string;
    opTime: number;
    readSeq: number;
  };
  /** To the user's other sessions; all of them where a message ended isHidden. */
  onConversationChanged: {
    groupID: string;
    opTime: number;
    isPinned?: boolean;
    isHidden?: boolean;
    isMarkedUnread?: boolean;
    marks?: string[];
    clearedSeq?: number;
  };
  /** To the sessions of the messages' sender, at most 5 in any second. */
  onRecvMessageReadReceipts: {
    groupID: string;
    opTime: number;
    receiptList: { seq: number; readCount: number; unreadCount: number }[];
  };
  /** To all members but the sending session and those who receive no messages. */
  onGroupSignal: {
    groupID: string;
    opTime: number;
    name: string;
    data?: string;
    sender: string;
    nameCard?: string;
    nickName?: string;
  };
  /** To the members named by the administrator, or all. */
  onReceiveRESTCustomData: {
    groupID: string;
    opTime: number;
    customData: string;
    platform: string;
  };
  /** To the user's other sessions; after setUserInfo all. */
  onSelfInfoUpdated: {
    opTime: number;
    nickName?: string;
    faceURL?: string;
    customInfo?: Record<string, string>;
  };
  /** To the sessions that watch the users, each at most once a second. */
  onUsersStatusChanged: {
    opTime: number;
    userList: UserStatusInfo[];
  };
  /** To the session. */
  onConnectSuccess: {
    userID: string;
    sessionID: string;
    serverTime: number;
    tokenExpiresAt: number;
    heartbeat: number;
    streamKey?: string;
  };
  /** To the session. */
  onKickedOffline: {
    reason: string;
    message?: string;
  };
  /** To the session. */
  onUserSigExpired: {
    expiresAt: number;
  };
  /** To the session. */
  onServerDraining: {
    retryAfterMs: number;
  };
}

/** The codes of errors. */
export declare const ErrorCode: {
  readonly parseError: -32700;
  readonly invalidRequest: -32600;
  readonly methodNotFound: -32601;
  readonly invalidParams: -32602;
  readonly internalError: -32603;
  readonly notSignedIn: 6014;
  readonly otherUserSignedIn: 6015;
  readonly requestRate: 7008;
  readonly tokenExpired: 70001;
  readonly tokenMalformed: 70003;
  readonly tokenWrongSignature: 70009;
  readonly userBlocked: 70020;
  readonly tokenRevoked: 70021;
  readonly badNewGroupID: 8501;
  readonly badGroupName: 8502;
  readonly introductionTooLong: 8503;
  readonly notificationTooLong: 8504;
  readonly faceURLTooLong: 8505;
  readonly nameCardTooLong: 8506;
  readonly tooManyMembers: 8507;
  readonly workNotJoinable: 8508;
  readonly ownerInMemberList: 8509;
  readonly emptyUserList: 8510;
  readonly attributeCallsTooOften: 8511;
  readonly temporary: 10002;
  readonly badValue: 10004;
  readonly noRight: 10007;
  readonly ownerMayNotQuit: 10009;
  readonly noSuchGroup: 10010;
  readonly alreadyMember: 10013;
  readonly groupFull: 10014;
  readonly badGroupID: 10015;
  readonly refusedByApplication: 10016;
  readonly muted: 10017;
  readonly userUnknown: 10019;
  readonly groupIDTaken: 10021;
  readonly groupMessageRate: 10023;
  readonly applicationHandled: 10024;
  readonly groupIDTakenByYourself: 10025;
  readonly messageUnknown: 10030;
  readonly recallTooLate: 10031;
  readonly recallNotYours: 10032;
  readonly recallUnsupported: 10033;
  readonly tooManyAVChatRooms: 10036;
  readonly tooManyGroups: 10037;
  readonly maxMemberNumBelowCount: 10038;
  readonly attributeKeyTooLong: 10045;
  readonly attributeValueTooLong: 10046;
  readonly tooManyAttributes: 10047;
  readonly attributesTooLarge: 10048;
  readonly attributeWritesTooOften: 10049;
  readonly attributeUnknown: 10050;
  readonly tooManyMentions: 10053;
  readonly tooManyForReceipts: 10054;
  readonly tooManyReactions: 10055;
  readonly tooManyPinned: 10056;
  readonly tooManyCounters: 10057;
  readonly expectationFailed: 10058;
  readonly attributeHeld: 10059;
  readonly tooManyWatched: 10060;
  readonly groupTooLargeForSignals: 10061;
  readonly application10120: 10120;
  readonly application10121: 10121;
  readonly application10122: 10122;
  readonly application10123: 10123;
  readonly application10124: 10124;
  readonly application10125: 10125;
  readonly application10126: 10126;
  readonly application10127: 10127;
  readonly application10128: 10128;
  readonly application10129: 10129;
  readonly application10130: 10130;
  readonly messageTooLong: 80002;
}

/** The codes with which the server closes a connection. */
export declare const CloseCode: {
  readonly normal: 1000;
  readonly tryAgainLater: 1013;
  readonly draining: 4001;
  readonly slowConsumer: 4002;
  readonly noSignOfLife: 4003;
  readonly requestFlood: 4004;
  readonly connectionLimit: 4005;
  readonly tokenExpired: 4006;
  readonly notSignedIn: 4007;
  readonly lostTouch: 4008;
  readonly authenticationFailed: 4500;
  readonly badProtocol: 4501;
  readonly replaced: 4502;
  readonly removed: 4503;
}
