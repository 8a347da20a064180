import type { CoordinatorTask, TASK_STATES } from '../../../protocol/methods/conversation/coordinator.ts';
import type { WorkstreamKind } from '../../../protocol/methods/conversation/kinds.ts';
import type { WorkstreamState } from '../../../protocol/stream-events.ts';
import type { ToolMessage } from '../message.ts';
import type { WaitEnd } from './wait-end.ts';

/** So many children of one coordinator are open at most. */
export const MAX_OPEN_CHILDREN = 128;
/** How many coordinators may stand above a workstream. */
export const MAX_ABOVE = 4;
/** So many workstreams are stopped, closed or started at once. */
export const AT_ONCE = 16;
/** The most workstreams that one call makes. */
export const MAX_BATCH = 10;
/** The most workstreams that one call waits for. */
export const MAX_WAITED = 32;
/** The most entries of the list of tasks. */
export const MAX_TASKS = 200;

/** A workstream that a coordinator wants made. */
export interface NewChild {
  name: string | undefined;
  /** Its first message. */
  message: string;
  kind: WorkstreamKind;
  model: string | undefined;
  /** The name of a template. */
  skill: string | undefined;
  workdir: string | undefined;
  /** Narrows what it may do: `read_only`, or what it may without being asked. */
  isReadOnly: boolean;
}

/** What became of the wish for a child. */
export type Spawned = { wsId: string; name: string; isNew: boolean } | { problem: string };

/** A workstream as a coordinator sees it. */
export interface SeenWorkstream {
  wsId: string;
  name: string;
  state: WorkstreamState;
  isOpen: boolean;
  kind: WorkstreamKind;
  /** The coordinator that it works for; undefined: none. */
  parentWsId: string | undefined;
  updatedMs: number;
}

/** One text of a conversation. */
export interface SeenMessage {
  role: 'user' | 'assistant' | 'tool';
  text: string;
}

/** A look into the conversation of a workstream. */
export interface SeenConversation {
  workstream: SeenWorkstream;
  messages: readonly SeenMessage[];
  /** The calls, or the other question, for whose answer it waits. */
  waitsFor: readonly string[];
  /** What of it nobody trusts. */
  taint: ToolMessage['taint'];
}

/** The workstream that a call names. */
export interface Target {
  wsId: string;
  name: string;
  /** It works for this coordinator, at any depth. */
  isBelow: boolean;
  /** A person lets messages to those below go without asking. */
  isTrusted: boolean;
}

/** The end of a wait. */
export interface Waited {
  end: WaitEnd;
  seen: readonly SeenConversation[];
}

/** What became of workstreams, by their ids. */
export interface Outcomes {
  done: readonly string[];
  failed: readonly string[];
  /** There was nothing to do. */
  skipped: readonly string[];
}

/** A change of the list of tasks. */
export type TaskChange =
  | { action: 'add'; title: string; note: string; childWsId: string; status: TaskState }
  | { action: 'update'; id: string; title?: string; note?: string; childWsId?: string; status?: TaskState }
  | { action: 'remove'; id: string };
type TaskState = (typeof TASK_STATES)[number];

/** The machine that serves workstreams. */
export interface SeenNode {
  nodeId: string;
  workstreams: number;
  running: number;
  maxWorkstreams: number;
}

/**
 * What a run of a coordinator may do with other workstreams, with the rights of its caller. Everything rejects with a
 * GatewayError whose message the model can read.
 */
export interface Coordination {
  /**
   * Makes workstreams and sends their first messages. Repeating a call finds what it had made. `isBatch`: people are told
   * of its beginning and its end.
   */
  spawn(callId: string, children: readonly NewChild[], as: { isBatch: boolean }): Promise<Spawned[]>;
  /** All below, parents first. */
  below(): Promise<SeenWorkstream[]>;
  /** A workstream that the caller perceives. */
  find(wsId: string): Promise<Target>;
  /** Sends a message, or queues it. Repeating a call finds its message. */
  send(callId: string, target: Target, message: string): Promise<{ isQueued: boolean }>;
  /** Only of those below. */
  look(wsId: string, limit: number): Promise<SeenConversation>;
  wait(
    callId: string,
    wsIds: readonly string[],
    until: { all: boolean; timeoutMs: number; signal: AbortSignal },
  ): Promise<Waited>;
  /** Only those below. `skipped`: nothing ran. */
  cancel(wsIds: readonly string[]): Promise<Outcomes>;
  close(wsIds: readonly string[]): Promise<Outcomes>;
  /** Closes the own children. */
  closeAll(callId: string): Promise<Outcomes>;
  /** Deletes one below with its conversation. */
  remove(wsId: string): Promise<void>;
  nodes(): SeenNode[];
  tasks(): Promise<readonly CoordinatorTask[]>;
  /** Repeating a call adds its task once. */
  changeTasks(callId: string, change: TaskChange): Promise<readonly CoordinatorTask[]>;
}
