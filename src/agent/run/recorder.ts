import type { ApprovalItem, AutoApproveReason } from '../../../protocol/events/approval-item.ts';
import type { Verdict } from '../../../protocol/events/verdict.ts';
import type { BudgetQuestion, RunOutcome } from '../../../protocol/run-outcome.ts';
import type {
  Attachment,
  DecidedBy,
  QuestionKind,
  RunSource,
  StreamEvent,
  StreamEventOf,
} from '../../../protocol/stream-events.ts';
import type { Message, UserMessage } from '../message.ts';
import type { NewPrefix } from '../prefix/prefix.ts';
import type { Usage } from '../providers/model.ts';
import type { JournalEntry } from './journal.ts';
import type { Spending } from './spending.ts';
import type { ContextCut } from './window/run-window.ts';

/** What is stored with an approval. */
export interface NewApproval {
  approvalId: string;
  kind: QuestionKind;
  items: ApprovalItem[];
  /** If the kind is `budget`. */
  budget?: BudgetQuestion | undefined;
  digests: Record<string, string>;
  expiresAtMs: number;
  /** Another run has stored it; this one waits for it, too. */
  isJoined?: true;
}

/** What the guard reports about an output, as it is stored. */
export interface NewAssessment {
  assessmentId: string;
  warning: StreamEventOf<'output_warning'>;
}

/** A verdict as it is stored. */
export interface NewVerdict {
  verdict: Verdict;
  /** The question about the call; undefined if nobody is asked. */
  approvalId?: string;
  /** Why nobody is asked about this call; undefined: a person decides. */
  auto?: AutoApproveReason;
}

/** A message that waited, and is given to the run in progress. */
export interface SteeredMessage {
  /** The run that it would have had. */
  runId: string;
  source: RunSource;
  /** Who sent it, and under which key. */
  from: Pick<StreamEventOf<'user_turn'>, 'sender' | 'client_send_ids'>;
  message: UserMessage;
}

/** Changes that become true together: all of them are stored, or none. */
export interface Step {
  events?: StreamEvent[];
  journal?: JournalEntry[];
  messages?: Message[];
  /** The files of tool results among `messages`, stored by `RunContext.keepImages`. */
  attachments?: readonly Attachment[];
  approval?: NewApproval;
  /** Of the results among `messages`. */
  assessments?: readonly NewAssessment[];
  /** Verdicts about calls that need approval. */
  verdicts?: readonly NewVerdict[];
  /** This step settles a pending approval. */
  settled?: {
    approvalId: string;
    status: 'approved' | 'denied' | 'expired' | 'cancelled';
    /** Calls that were denied although the others were approved. */
    deniedCallIds?: readonly string[];
    by: DecidedBy;
    feedback: string;
    always: boolean;
    /** Other runs share the question: one of them stored the decision, or still waits for it. */
    isElsewhere?: true;
  };
  /** What a person decided about the instruction files of these folders, for this conversation. */
  trust?: { folders: string[]; isTrusted: boolean };
  /** The new beginning of the conversation's requests. */
  prefix?: NewPrefix;
  /**
   * Of the latest request. `afterSeq`: the number of messages stored with the answer; absent in data of earlier
   * versions. `spent`: of all requests of the turn, if there was another.
   */
  usage?: Spending & {
    contextWindow: number;
    afterSeq?: number;
    spent?: Usage;
    /** The server reports no usage, so `spent` is an estimate. */
    isEstimated?: true;
    /** How many thoughts of the conversation the server left out, because they did not fit its beginning. */
    droppedThoughts?: number;
  };
  /** The model reads less from now on. `RunContext.messages` has changed when the step is recorded. */
  cut?: ContextCut;
  /** What a request for a summary took. */
  summarized?: Spending;
  /** The waiting messages among `messages`: their own runs end with this step. */
  steered?: readonly SteeredMessage[];
  /** A model is called next. Until its usage is recorded, the call counts as much as is expected of it. */
  reserved?: { expected: Usage; model: Spending['model'] };
  /** Background commands of whose end the messages tell. */
  told?: readonly string[];
  /** The run ends with this step. `said`: the last text of a run that did not end well; absent: it wrote none. */
  ended?: RunOutcome & { summary: string; said?: string };
  /** An external effect follows (a tool starts), so the step must survive a power loss. */
  durable?: boolean;
}

/** How many tool calls begin with a step. */
export const countStarted = ({ journal = [] }: Step): number =>
  journal.filter(({ kind }) => kind === 'tool_started').length;

/** The run was superseded (force cancel, or another owner), so its writes are refused. */
export class RunSuperseded extends Error {
  override readonly name = 'RunSuperseded';
}

/** Something that the step settles was settled just before, such as an approval by a cancel. Check again. */
export class StepOutdated extends Error {
  override readonly name = 'StepOutdated';
}

/** Where a run writes its steps. Once superseded, every `record` rejects with RunSuperseded and `emit` does nothing. */
export interface Recorder {
  /** Resolves when the step is committed; readers have been notified by then. */
  record(step: Step): Promise<void>;
  /**
   * Appends a delta without waiting. The log never has a gap: if a delta of an answer could not be stored, the next
   * call throws the reason; if a chunk of a tool's output could not be stored, the rest of that output is dropped.
   */
  emit(event: StreamEvent): void;
}
