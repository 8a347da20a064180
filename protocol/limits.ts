const MAX_PAYLOAD_BYTES = 1024 * 1024;
/** The part of a frame that is not attachment content: the envelope, the message, names. */
const FRAME_REST_BYTES = 64 * 1024;
/** Base64 turns three bytes into four characters. Without a call, so that bundlers leave limits out that nobody uses. */
const inlineAttachmentBytes = ((MAX_PAYLOAD_BYTES - FRAME_REST_BYTES) / 4) * 3;

/** The limits of the protocol. For settings that an operator may change, these are the defaults. */
export const LIMITS = {
  protocolVersion: 2,
  maxPayloadBeforeConnectBytes: 64 * 1024,
  maxPayloadBytes: MAX_PAYLOAD_BYTES,
  /** All inline attachments of one `chat.send`; larger ones have to be uploaded. */
  inlineAttachmentBytes,
  attachmentBytes: 20 * 1024 * 1024,
  imageBytes: 6 * 1024 * 1024,
  /** Timeout for an HTTP request line and headers; checked every 5 s. */
  headMs: 15_000,
  /** How long a connection without a request stays open: longer than proxies keep theirs, which is often a minute. */
  keepAliveMs: 65_000,
  requestHeaders: 100,
  /** The request line and all headers; Node refuses more. */
  requestHeadBytes: 16 * 1024,
  /** Timeout for the body of a request; for an upload, it restarts after every `uploadProgressBytes`. */
  bodyMs: 60_000,
  uploadProgressBytes: 256 * 1024,
  /** Concurrent uploads of one principal; each may take an hour, and disk space. */
  uploadsAtOnce: 20,
  attachmentsPerMessage: 10,
  /** Of an answer to a question of the agent. */
  answerChars: 32 * 1024,
  /** Of the answer of a sub-agent that its parent reads. */
  subAgentResultChars: 16_000,
  /** Of the output of a command in the background, so much is stored. */
  backgroundOutputBytes: 64 * 1024 * 1024,
  /** An exported conversation, with the bytes of its files. */
  conversationFileBytes: 64 * 1024 * 1024,
  conversationFileMessages: 20_000,
  conversationFileNotes: 10_000,
  conversationFileAgents: 1_000,
  /** Conversations of this size that are imported at the same time. */
  importsAtOnce: 2,
  /** Calls of chat services whose body is larger than a frame, or of unknown size. */
  hookBodiesAtOnce: 8,
  /** Open event streams of one principal: each may hold a history that its client does not read. */
  streamsPerPrincipal: 1_000,
  pendingAttachments: 10,
  maxBufferedBytes: 1_572_864,
  tickIntervalMs: 30_000,
  handshakeMs: 10_000,
  unauthenticatedSocketsPerAddress: 32,
  unauthenticatedSockets: 256,
  inboundBurst: 300,
  inboundPerSecond: 50,
  /** After so many refusals in a row, nothing is read until the budget is full again, or for `floodRestMs`. */
  floodRefusals: 100,
  floodRestMs: 10_000,
  inFlightPerConnection: 256,
  sseKeepaliveMs: 5_000,
  /** What clients of an event stream are told to wait before they connect again. */
  sseRetryMs: 1_000,
  idempotencyMs: 24 * 60 * 60 * 1000,
  loginCodeMs: 10 * 60 * 1000,
  apiTokens: 1_000,
  serviceTokenMs: 60 * 60 * 1000,
  cookieMs: 24 * 60 * 60 * 1000,
  queuedRunsPerWorkstream: 10,
  pairingMs: 5 * 60 * 1000,
  pairingRequests: 32,
  unpairedNodesPerAddress: 4,
  unpairedNodes: 16,
  requestsPerUnpairedNode: 32,
  nodeInvokeMs: 30_000,
  nodeLossMs: 10_000,
  /** Characters of a text for the main session: `wake`, `system-event`, and the `systemEvent` of a job. */
  systemEventChars: 64 * 1024,
  /** Bytes of the messages of one `chat.history`, as JSON; the newest message is always included. */
  chatHistoryBytes: 6 * 1024 * 1024,
  /** Unread answers of one client; beyond that, a call with a large answer (`largeAnswerBytes`) is answered BUSY. */
  unreadAnswerBytes: 24 * 1024 * 1024,
  largeAnswerBytes: 256 * 1024,
  presenceEntries: 200,
  presenceTtlMs: 5 * 60 * 1000,
  agentSampleMs: 150,
  defaultPort: 7717,
} as const;
