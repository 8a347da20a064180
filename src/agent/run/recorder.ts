import type { ApprovalItem, DecidedBy, RunOutcome, StreamEvent } from '../../../protocol/stream-events.ts';
import type { Message } from '../message.ts';
import type { Usage } from '../providers/model.ts';
import type { JournalEntry } from './journal.ts';

/** What a question to a person is stored with. */
export interface NewApproval {
  approvalId: string;
  kind: 'tools' | 'outcome';
  items: ApprovalItem[];
  digests: Record<string, string>;
  expiresAtMs: number;
}

/** Everything that becomes true at once: all of it is on disk, or none. */
export interface Step {
  events?: StreamEvent[];
  journal?: JournalEntry[];
  messages?: Message[];
  approval?: NewApproval;
  /** A pending approval is settled with this step. */
  settled?: {
    approvalId: string;
    status: 'approved' | 'denied' | 'expired' | 'cancelled';
    by: DecidedBy;
    feedback: string;
    always: boolean;
  };
  usage?: { usage: Usage; contextWindow: number };
  /** The run ends with this step. */
  ended?: RunOutcome & { summary: string };
  /** Something outside follows (a tool starts): the step must survive a power loss. */
  durable?: boolean;
}

/** The run was taken away (force cancel, another owner): nothing it says counts any more. */
export class RunSuperseded extends Error {
  override readonly name = 'RunSuperseded';
}

/** Something that the step settles was settled a moment ago (a decision met a cancel): look again. */
export class StepOutdated extends Error {
  override readonly name = 'StepOutdated';
}

/** Where a run writes what it does. After being superseded every `record` rejects with RunSuperseded and `emit` does nothing. */
export interface Recorder {
  /** Resolves when the step is committed; readers have been told by then. */
  record(step: Step): Promise<void>;
  /**
   * Appends one delta without waiting, so that a log never has a hole: after a delta of an answer that could not be
   * stored the next call throws why; after such a chunk of a tool's output the rest of that output is left out.
   */
  emit(event: StreamEvent): void;
}
