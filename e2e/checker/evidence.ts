import type { Frame, RequestFrame } from '../../protocol/frames.ts';
import type { StreamEvent, TransientEvent } from '../../protocol/stream-events.ts';
import type { Message } from '../../src/agent/message.ts';
import type { JournalEntry } from '../../src/agent/run/journal.ts';
import type { ApprovalTable, RunTable } from '../../src/gateway/store/schema/schema.ts';

/**
 * All that is known of some time with a daemon: what every client saw and did, over any number of restarts, what is on
 * disk, and what the tools left behind. Plain data; the rules decide from it alone.
 */
export interface Evidence {
  disk: Disk;
  /** The same disk at an earlier time. */
  earlier?: Disk;
  /** In the order they were opened. */
  streams: StreamHistory[];
  sockets: SocketHistory[];
  calls: CallHistory[];
  effects: Effect[];
  boots: Boot[];
  memory: { budgetBytes: number; samples: MemorySample[] };
  /** Values that nobody but their owner may see. */
  secrets: { name: string; value: string }[];
  /** Texts that must hold no secret: output of the daemon, files it wrote. */
  artefacts: { name: string; text: string }[];
  /** It has come to rest: every run is over, and who is still connected has read to the end. */
  settled: boolean;
}

export interface Disk {
  epoch: string;
  workstreams: WorkstreamOnDisk[];
}

export interface WorkstreamOnDisk {
  wsId: string;
  /** What its row counts. */
  messageCount: number;
  /** Who may write: runs of an older epoch were taken over. */
  runEpoch: number;
  events: Logged[];
  messages: StoredMessage[];
  /** In the order they were accepted. */
  runs: RunOnDisk[];
  approvals: ApprovalTable[];
}

export interface Logged {
  offset: number;
  event: StreamEvent;
}

export interface StoredMessage {
  seq: number;
  /** The run that said it; null: copied from another conversation. */
  runId: string | null;
  message: Message;
}

export interface RunOnDisk {
  run: RunTable;
  journal: (JournalEntry & { atMs: number })[];
}

/** One event stream, from its first frame to its last whole one. */
export interface StreamHistory {
  /** Who read it; one reader opens one stream after the other. */
  reader: string;
  wsId: string;
  /** The `Last-Event-ID` it was to be continued from. */
  lastEventId?: string;
  frames: StreamFrame[];
  /** Its reader broke it off after this many bytes of the answer. */
  cutAfterBytes?: number;
  isOpen: boolean;
}

export interface StreamFrame {
  id?: string;
  data: StreamEvent | TransientEvent;
}

/** One WebSocket, every whole frame both ways. */
export interface SocketHistory {
  reader: string;
  frames: SocketFrame[];
  cutAfterBytes?: number;
  isOpen: boolean;
}

export type SocketFrame = { way: 'out'; frame: RequestFrame } | { way: 'in'; frame: Frame };

/** One attempt of a call that changes something, over HTTP or a WebSocket, in the gateway's words. */
export interface CallHistory {
  method: string;
  params: CallParams;
  sentMs: number;
  /** None when the connection was lost before; `agent` answers twice. */
  answers: Answer[];
}

export interface CallParams {
  wsId: string;
  message?: string;
  idempotencyKey?: string;
  approvalId?: string;
  approved?: boolean;
  feedback?: string;
}

export interface Answer {
  atMs: number;
  ok: boolean;
  /** Of a success, and of an `agent` run that failed. */
  payload?: unknown;
  /** Of a refusal. */
  code?: string;
}

/** A line that a tool call appended to a file while it ran: proof that it did. */
export interface Effect {
  /** Stands in the arguments of exactly one tool call. */
  tag: string;
  /** Names one start of the call. */
  start: string;
  phase: 'begin' | 'end';
  atMs: number;
}

/** One process of the daemon. */
export interface Boot {
  spawnedMs: number;
  /** When it said that it serves; missing when it was killed before. */
  readyMs?: number;
  diedMs?: number;
}

export interface MemorySample {
  atMs: number;
  bytes: number;
}

/** A broken promise. */
export interface Violation {
  rule: string;
  what: string;
  where: string;
}

/** What a rule reports; its name is added by the table of rules. */
export type Finding = Omit<Violation, 'rule'>;
/** Decides from the evidence alone, and never throws on evidence that is wrong: that is what it is there to report. */
export type Rule = (evidence: Evidence) => Iterable<Finding>;
