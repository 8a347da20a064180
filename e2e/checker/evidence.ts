import type { SubAgent } from '../../protocol/events/sub-agent.ts';
import type { TransientEvent } from '../../protocol/events/transient.ts';
import type { Frame, RequestFrame } from '../../protocol/frames.ts';
import type { StreamEvent } from '../../protocol/stream-events.ts';
import type { Message } from '../../src/agent/message.ts';
import type { JournalEntry } from '../../src/agent/run/journal.ts';
import type { SubAgentEnd } from '../../src/agent/subagents/sub-agents.ts';
import type { SubAgentTable } from '../../src/gateway/store/schema/agents/sub-agent-schema.ts';
import type { ApprovalTable, CutTable, RunTable } from '../../src/gateway/store/schema/schema.ts';
import type { BudgetGrantTable, UsageTable } from '../../src/gateway/store/schema/usage-schema.ts';
import type { WatchTable } from '../../src/gateway/store/schema/watches/watch-schema.ts';

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
  /** The messages of each request to the model; missing if they were not kept. */
  requests?: SentMessage[][] | undefined;
  effects: Effect[];
  /** The names of the files that patches made; missing if nobody looked. */
  patched?: string[];
  boots: Boot[];
  /** When nothing could be stored; missing if nobody prevented it. */
  outages?: readonly Outage[];
  /** When machines could not reach each other, or one took over from another; missing if there is one machine. */
  breaks?: readonly Outage[];
  /** The daemons disagree about the time, so what one stored or told is not earlier because its time is. */
  areClocksWrong?: boolean;
  memory: { budgetBytes: number; samples: MemorySample[] };
  /** Values that only their owner may see. */
  secrets: { name: string; value: string }[];
  /** Texts that must not contain a secret: output of the daemon and files it wrote. */
  artefacts: { name: string; text: string }[];
  /** Whether the daemon was at rest: every run had ended, and every connected client had read to the end. */
  settled: boolean;
}

export interface Disk {
  epoch: string;
  workstreams: WorkstreamOnDisk[];
  /** Of all workstreams, and of deleted ones. */
  usage: UsageTable[];
  grants: BudgetGrantTable[];
  memories: MemoryOnDisk[];
}

/** Something that an agent keeps. */
export interface MemoryOnDisk {
  name: string;
  content: string;
  /** It waits for a person. */
  waits: boolean;
}

export interface WorkstreamOnDisk {
  wsId: string;
  name: string;
  /** The coordinator that had it made; missing if a person made it. */
  madeBy?: string;
  /** The count in its row. */
  messageCount: number;
  /** The epoch that may write; runs of an older epoch were superseded. */
  runEpoch: number;
  events: Logged[];
  /** The rows that hold the events; a packed one holds several. */
  eventRows: number;
  messages: StoredMessage[];
  /** In the order of acceptance. */
  runs: RunOnDisk[];
  approvals: ApprovalTable[];
  /** In the order of their numbers. */
  cuts: CutTable[];
  /** In the order in which they were started. */
  agents: AgentOnDisk[];
  watches: WatchTable[];
}

/** A sub-agent of a run. */
export interface AgentOnDisk {
  row: Pick<SubAgentTable, 'agent_id' | 'run_id' | 'parent_id' | 'call_id' | 'is_running'>;
  state: SubAgent;
  /** What the call that started it got; missing until its end, and after a forced cancel. */
  end?: SubAgentEnd;
  /** Its messages that were summarized: how often. */
  summaries: number;
  journal: RunOnDisk['journal'];
  messages: Pick<StoredMessage, 'seq' | 'message'>[];
}

export interface Logged {
  offset: number;
  event: StreamEvent;
}

export interface StoredMessage {
  seq: number;
  /** The run that wrote it; null if it was copied from another conversation. */
  runId: string | null;
  message: Message;
}

export interface RunOnDisk {
  run: RunTable;
  journal: (JournalEntry & { atMs: number })[];
}

/** One event stream, from its first frame to its last complete one. */
export interface StreamHistory {
  /** Its reader, who opens one stream after the other. */
  reader: string;
  wsId: string;
  /** The `Last-Event-ID` to resume from. */
  lastEventId?: string;
  frames: StreamFrame[];
  /** The reader disconnected after this many bytes of the answer. */
  cutAfterBytes?: number;
  isOpen: boolean;
}

export interface StreamFrame {
  id?: string;
  data: StreamEvent | TransientEvent;
}

/** One WebSocket: every complete frame in both directions. */
export interface SocketHistory {
  reader: string;
  frames: SocketFrame[];
  cutAfterBytes?: number;
  isOpen: boolean;
}

export type SocketFrame = { way: 'out'; frame: RequestFrame } | { way: 'in'; frame: Frame };

/** One attempt of a call that changes something, over HTTP or a WebSocket, with the gateway's names. */
export interface CallHistory {
  method: string;
  params: CallParams;
  sentMs: number;
  /** Empty if the connection was lost before; `agent` answers twice. */
  answers: Answer[];
}

/** A message as the model's server received it. */
export interface SentMessage {
  role: string;
  content: unknown;
  tool_call_id?: string;
  tool_calls?: { id: string }[];
}

export interface CallParams {
  wsId: string;
  message?: string;
  idempotencyKey?: string;
  approvalId?: string;
  approved?: boolean;
  feedback?: string;
  /** About single calls, by their ids. */
  decisions?: Record<string, { approved: boolean; feedback?: string; answer?: string }>;
  runId?: string;
  /** It waits, and is read by the run in progress. */
  steer?: boolean;
  /** A budget; without it, the budget is removed. */
  tokens?: number;
}

export interface Answer {
  atMs: number;
  ok: boolean;
  /** Present for a success, and for a failed run of `agent`. */
  payload?: unknown;
  /** Present for a refusal. */
  code?: string;
}

/** A line that a tool call appended to a file, which proves that it ran. */
export interface Effect {
  /** Occurs in the arguments of exactly one tool call. */
  tag: string;
  /** Identifies one start of the call. */
  start: string;
  phase: 'begin' | 'end';
  atMs: number;
}

/** One process of the daemon. */
export interface Boot {
  spawnedMs: number;
  /** When it reported that it accepts requests; missing if it was killed before. */
  readyMs?: number;
  diedMs?: number;
}

/** A time in which something was away, such as the database. */
export interface Outage {
  fromMs: number;
  toMs: number;
}

export interface MemorySample {
  atMs: number;
  bytes: number;
}

/** A violation of a rule. */
export interface Violation {
  rule: string;
  what: string;
  where: string;
}

/** A finding of a rule; the table of rules adds its name. */
export type Finding = Omit<Violation, 'rule'>;
/** Uses only the evidence, and reports wrong evidence instead of throwing. */
export type Rule = (evidence: Evidence) => Iterable<Finding>;
