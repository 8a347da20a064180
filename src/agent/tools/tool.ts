import type { z } from 'zod';
import type { CommandLimit, RefusedHost } from '../../../protocol/events/command-result.ts';
import type { AskedQuestion } from '../../../protocol/events/questions/asked-question.ts';
import type { Ruling } from '../../../protocol/events/rules.ts';
import type { TodoItem } from '../../../protocol/events/todo.ts';
import type { CallOutcome } from '../../../protocol/stream-events.ts';
import type { Coordination } from '../coordinator/coordination.ts';
import type { WaitEnd } from '../coordinator/wait-end.ts';
import type { Assessment } from '../guard/output-assessment.ts';
import type { GuardedText } from '../guard/output-guard.ts';
import type { KeptOutput, Message, ToolMessage } from '../message.ts';
import type { CommandReading } from '../permissions/command-reading.ts';
import type { HostRule } from '../permissions/rules/host-rule.ts';
import type { RuledCall } from '../permissions/rules/matching.ts';
import type { SubAgents } from '../subagents/sub-agents.ts';
import type { InputDesk } from './person/asked-input.ts';
import type { Workdir } from './workdir.ts';

/**
 * One tool per file. A call goes prepare → (policy, approval) → execute; a refusal is a value, not an exception.
 * `prepare` has no side effects and may run again after a restart. For the same arguments, files and history it must
 * return the same `bindTo`, otherwise the approval is void.
 */
export interface Tool<A = unknown> {
  name: string;
  /** For the model: what the tool does, when to use it, its limits. */
  description: string;
  parameters: z.ZodType<A>;
  /** The JSON Schema of its arguments for models, where `parameters` knows less than others say. */
  schema?: Record<string, unknown>;
  /** Whether it changes nothing outside the conversation. */
  readOnly: boolean;
  /** Whether running it again after a crash does no harm, so that no person must decide. */
  safeToRepeat: boolean;
  /** Whether models are not told of it. A call gets the reason nevertheless, because a conversation may know it from earlier. */
  isHidden?: boolean;
  /** Only workstreams of this kind have it; absent: all. */
  kind?: 'coordinator';
  /** The new text that a call writes; absent: all its arguments. A redaction tag in it is refused. */
  newText?(args: A): string;
  prepare(args: A, context: ToolContext): Promise<Prepared>;
}

/** What a tool knows about the conversation it is called in. */
export interface ToolContext {
  wsId: string;
  callId: string;
  workdir: Workdir;
  history: readonly Message[];
  /** The call was running when the daemon died, and may have done a part of its work. */
  wasInterrupted?: boolean;
  /** The rules about hosts; absent where no command can run. */
  hosts?: HostRules;
  /** What may start sub-agents; absent where none can run. */
  subAgents?: SubAgents | undefined;
  /** Reaches other workstreams; absent where that is not possible. */
  coordination?: Coordination | undefined;
  signal: AbortSignal;
}

/** What a command may know of the permission rules. */
export interface HostRules {
  /** Somebody can be asked about hosts that the command does not name. */
  canAsk: boolean;
  /** The rule that decides about a connection of the command, at this moment. */
  ruleOn(call: Pick<RuledCall, 'command' | 'reading'>, host: string): HostRule | undefined;
}

/** What an allowed call may do that other calls may not. */
export interface CallGrants {
  /** Protected paths that it may write. */
  protectedPaths: readonly string[];
  /** Hosts that it may reach although its text does not name them. */
  hosts: readonly string[];
  /** Somebody allowed this call, and not only all calls of its kind by the mode: it may write the folders that were added. */
  writesAdded?: boolean;
  /** Who answered a question about this call, and why it was asked; absent: nobody was asked. */
  allowed?: { by: 'person' | 'judge'; reason: Ruling['reason'] };
}

export type Prepared =
  | {
      kind: 'ready';
      /** What the call works on, in one line of plain text for people: `npm test`. Empty if there is nothing to name. */
      subject: string;
      /** The diff or all arguments, in plain text (no colour codes); may be empty. */
      preview: string;
      /** Absent: plain text. */
      previewType?: 'diff';
      /** The name in an approval prompt: usually the tool's name; `overwrite_file` for an unread existing file. */
      approvalLabel: string;
      needsApproval: boolean;
      /** Whatever allows such calls does not count for this one: what it would run has changed since. */
      asksAnyhow?: true;
      /** Set if the call is a question: only a person lets it run, by the answer. */
      question?: AskedQuestion;
      /** Set if it touches no files: it reads or changes only what the daemon stores beyond the conversation. */
      stored?: 'read' | 'changed';
      /** What the call does, as far as its arguments tell; absent if that is not known for this tool. */
      reading?: CommandReading;
      /** What rules match besides the names and the reading: the exact command, or the node and its command. */
      matched?: Pick<RuledCall, 'command' | 'node' | 'nodeCommand'>;
      /** The tool that is really called, if this one only passes calls on. */
      calls?: string;
      /** The call of another tool that is made later because of this one: what forbids it forbids this call, too. */
      runsLater?: { tool: string; command: string };
      /** Set to run it outside the sandbox: the model's reason. */
      sandboxOff?: string;
      /** Set if it starts a command in the background: how many seconds it may run. */
      backgroundSecs?: number;
      /** What an approval is bound to besides tool, arguments and working directory (for edits, the file's hash). */
      bindTo?: string;
      execute(run: ToolRun): Promise<ToolOutcome>;
    }
  | { kind: 'refused'; subject: string; reason: string };

/** Identifies a child process, so that a leftover can be found and killed after a crash. */
export interface ProcessIdentity {
  pid: number;
  /**
   * Start time in clock ticks since boot (/proc/<pid>/stat field 22), or 0 where unknown. Distinguishes a reused pid.
   */
  startTicks: number;
  /** The value of the variable that all its descendants inherit. */
  mark?: string;
}

export interface ToolRun {
  /** Aborts on cancel (reason `StopReason`), on shutdown and on the tool's own timeout. */
  signal: AbortSignal;
  /** The limit for what the model reads: a share of its context window. */
  maxOutputBytes: number;
  /** What a person answered, if the call is a question; absent: it was approved without an answer. */
  answer?: { text?: string; choice?: string } | undefined;
  /** Has a plan for the goal made and reviewed; absent outside conversations. Rejects when the daemon stops. */
  reviewPlan?(goal: string): Promise<ToolOutcome>;
  /** Asks the person something that comes up while the call runs; absent outside conversations. */
  inputs?: InputDesk;
  /** What this call may do; absent: nothing in particular. */
  grants?: CallGrants;
  /** What the result brings into the conversation that nobody trusts. */
  taint?: ToolMessage['taint'];
  /** Live output, line by line; it has passed the guard. */
  onOutput(chunk: string): void;
  /** Reports a started process group; resolves when that is stored. */
  onProcess(process: ProcessIdentity): Promise<void>;
}

/** An image that a tool has read. */
export interface ReadImage {
  fileName: string;
  mimeType: string;
  kind: 'image';
  bytes: Buffer;
}

export interface ToolOutcome {
  /** What the model reads, already within the limits. */
  output: string;
  outcome: CallOutcome;
  /** Only for commands that exited on their own. */
  exitCode?: number;
  /** Only for commands: the limit that ended them, or processes of them. */
  limit?: CommandLimit;
  /** Only for commands: the hosts that they did not reach because that is not allowed. */
  refusedHosts?: readonly RefusedHost[];
  /** Images for the model. */
  images?: readonly ReadImage[];
  /** The agent's checklist after this call. */
  todo?: readonly TodoItem[];
  /** Only for calls that waited for workstreams and were not cancelled. */
  waited?: WaitEnd;
  /** See ToolMessage.files. */
  files?: Record<string, string>;
  /** See ToolMessage.kept. */
  kept?: KeptOutput;
  /** What it brings into the conversation that nobody trusts, if the call itself does not tell: it shows the output of another. */
  taint?: ToolMessage['taint'];
  /** What the guard found in all of an output of which `output` is a part. */
  guarded?: Pick<GuardedText, 'found' | 'isRedacted'>;
  /** What the guard reports about it. */
  assessment?: Assessment;
}
