import type { Mode } from '../../../protocol/events/modes.ts';
import type { SubAgentOutcome } from '../../../protocol/events/sub-agent.ts';
import type { ToolMessage } from '../message.ts';

/** The tool that starts sub-agents. */
export const TASK = 'task';
/** How deep sub-agents may start further ones. */
export const MAX_DEPTH = 4;
/** So many sub-agents of one run at most, at all depths. */
export const MAX_PER_RUN = 100;

/** What a sub-agent is to do, and how much it may. */
export interface SubAgentTask {
  title: string;
  prompt: string;
  /** The only tools that it has; absent: all that sub-agents may have. */
  tools?: readonly string[] | undefined;
  /** Narrows the mode of the workstream. */
  mode?: Exclude<Mode, 'full'> | undefined;
  maxTurns: number;
  /** The alias of its model; absent: that of its parent. */
  model?: string | undefined;
  /** How long it may work; absent: as long as its parent. */
  timeoutMs?: number | undefined;
  /** Input and output of all its requests; absent: only the budgets hold. */
  maxTokens?: number | undefined;
}

/** The end of a sub-agent. */
export interface SubAgentEnd {
  agentId: string;
  outcome: SubAgentOutcome;
  /** A person cancelled it, and not the run. */
  isByPerson?: true;
  /** Its last answer, or why there is none. */
  text: string;
  turns: number;
  toolCalls: number;
  tokens: number;
  /** What it has read that nobody trusts. */
  taint?: ToolMessage['taint'];
}

/** Starts the sub-agents of one agent. */
export interface SubAgents {
  /** Whether the call has started one before a restart. */
  hasStarted(callId: string): boolean;
  /** Why it starts none, in words for the model; undefined: it does. */
  whyNot(): string | undefined;
  /** Why one cannot have this model, in words for the model that asks; undefined: it can. */
  whyNotModel(alias: string): Promise<string | undefined>;
  /** The longest time limit that one can have. */
  readonly maxTimeoutMs: number;
  /** Whether they can have a tool, which may be one that models find only by a search. */
  canHave(tool: string): boolean;
  /** The names of the tools that they can have. */
  readonly tools: readonly string[];
  /**
   * Runs one to its end. For a call that was interrupted, it continues the sub-agent that the call had started. Rejects with
   * CallInterrupted when the daemon stops, or the run was taken away. Refuses, in words for the model, if other calls have
   * started too many since `whyNot` was asked.
   */
  run(callId: string, task: SubAgentTask): Promise<SubAgentEnd | { refused: string }>;
}
