import type { z } from 'zod';
import type { CallOutcome } from '../../../protocol/stream-events.ts';
import type { KeptOutput, Message } from '../message.ts';
import type { Workdir } from './workdir.ts';

/**
 * One tool, in one file. A call goes prepare → (policy, approval) → execute; a refusal is a value, not an exception.
 * `prepare` has no side effects and may be run again after a restart: for the same arguments, files and history it
 * gives the same `bindTo`, or the approval is void.
 */
export interface Tool<A = unknown> {
  name: string;
  /** For the model: what it does, when to use it, its limits. */
  description: string;
  parameters: z.ZodType<A>;
  /** It changes nothing outside the conversation. */
  readOnly: boolean;
  /** Running it a second time after a crash does no harm, so it needs no person. */
  safeToRepeat: boolean;
  prepare(args: A, context: ToolContext): Promise<Prepared>;
}

/** What a tool may know of the conversation it is called in. */
export interface ToolContext {
  wsId: string;
  callId: string;
  workdir: Workdir;
  history: readonly Message[];
  signal: AbortSignal;
}

export type Prepared =
  | {
      kind: 'ready';
      /** One line for people: `bash: npm test`. Plain text. */
      header: string;
      /** Diff or arguments in full, plain text (no colour codes); may be empty. */
      preview: string;
      /** What an approval prompt calls it: usually the tool's name; `overwrite_file` for an unread existing file. */
      approvalLabel: string;
      needsApproval: boolean;
      /** What besides tool, arguments and working directory an approval is bound to (for edits the file's hash). */
      bindTo?: string;
      execute(run: ToolRun): Promise<ToolOutcome>;
    }
  | { kind: 'refused'; header: string; reason: string };

/** A child process as it is remembered, so that a leftover can be found and killed after a crash. */
export interface ProcessIdentity {
  pid: number;
  /** Start time in clock ticks since boot (/proc/<pid>/stat field 22), or 0 where unknown: a reused pid differs. */
  startTicks: number;
  /** The value of the variable that all its descendants inherit. */
  mark?: string;
}

export interface ToolRun {
  /** Aborts on cancel (reason `StopReason`), shutdown and the tool's own timeout. */
  signal: AbortSignal;
  /** Live output, line by line. */
  onOutput(chunk: string): void;
  /** A process group was started; resolves when that is on disk. */
  onProcess(process: ProcessIdentity): Promise<void>;
}

export interface ToolOutcome {
  /** What the model reads. Already limited (head and tail, by bytes and lines). */
  output: string;
  outcome: CallOutcome;
  /** Of a command that ended by itself. */
  exitCode?: number;
  /** See ToolMessage.files. */
  files?: Record<string, string>;
  /** See ToolMessage.kept. */
  kept?: KeptOutput;
}
