import type { Taint } from '../../../protocol/events/rules.ts';
import type { RunOutcome } from '../../../protocol/run-outcome.ts';
import type { Attachment, Effort, RunSource } from '../../../protocol/stream-events.ts';
import type { OutputSchema } from '../../agent/output/answer-checks.ts';
import type { UnattendedPolicy } from '../../agent/run/approval/unattended-policy.ts';
import type { Progress } from '../../agent/run/journal.ts';
import type { NewApproval } from '../../agent/run/recorder.ts';
import type { AdoptedAgent } from '../agents/adopted-agent.ts';
import type { NewCut } from '../cuts/new-cut.ts';
import type { Rights } from '../rights.ts';
import type { Statement } from '../store/store.ts';
import type { FoundQuestion } from '../usage/budget-questions.ts';

/** The request that a run was accepted with. */
export interface RunRequest {
  message: string;
  /** The lowest rights among the authors of the message; absent in runs accepted by an earlier version. */
  rights?: Rights;
  /** The user who sent it; absent for the operator, and for the daemon itself. */
  sender?: string;
  /** The callers who edited it while it waited, the latest last; absent: only its sender wrote it. */
  editedBy?: string[];
  /** Started by the daemon itself. */
  unattended?: true;
  /** What the lines for the main session that came with it were made from that nobody trusts. */
  taint?: Pick<Taint, 'kind' | 'target'>;
  /** The message is what a watch printed. */
  watch?: { id: string; taint?: Pick<Taint, 'kind' | 'target'> };
  /** The agent of this coordinator wrote the message. */
  sentBy?: { wsId: string; taint?: Pick<Taint, 'kind' | 'target'> };
  /**
   * The user whose accounts it may use, empty for the operator: whoever the run of the coordinator acted for. Absent there:
   * nobody's.
   */
  actsFor?: string;
  /** Reserved for this run until its message is in the conversation; absent when there are none. */
  attachments?: Attachment[];
  /** Overrides the workstream's effort for this run. */
  effort?: Effort;
  /** The timeout in waking time, without the time spent waiting for a person. */
  timeoutMs?: number;
  /** While it waits: it is given to the run in progress at that run's next turn. */
  steer?: true;
  /** The run that it was given to. */
  steeredInto?: string;
  /** An additional destination for the answer. */
  deliver?: { provider: string; to: string } | undefined;
  /** The message came from the chat that the answer goes to: questions and failures go there, too. */
  fromChat?: true;
  /** Why the answer cannot be delivered although it should be. */
  undeliverable?: string | undefined;
  /** The call that asked for the run, for its spans; absent without tracing. */
  traceparent?: string;
  /** What happens to calls that need approval while no approver is subscribed; absent: they wait for a person. */
  approval?: UnattendedPolicy | undefined;
  /** The answer has to fit it. */
  outputSchema?: OutputSchema | undefined;
  /** After the end of a run with a schema: the data, or what did not fit. */
  answered?: Pick<RunOutcome, 'output' | 'output_errors'>;
}

/** One accepted message, from acceptance to its final record. */
export interface RunRecord {
  runId: string;
  wsId: string;
  /** The caller, and its idempotency key. */
  principal: string;
  runKey?: string;
  source: RunSource;
  request: RunRequest;
  epoch: number;
  acceptedMs: number;
  startedMs?: number;
}

/** How a run ended, for its waiters. */
export interface RunResult extends RunOutcome {
  summary: string;
  startedMs?: number;
  endedMs: number;
}

/** A run, for the caller that requested it. */
export interface RunHandle {
  run: RunRecord;
  /** Resolves with the final record; never rejects. */
  ended: Promise<RunResult>;
}

/** Whether it has ended by now. */
export const isOver = ({ ended }: RunHandle): Promise<boolean> =>
  Promise.race([ended.then(() => true), Promise.resolve().then(() => false)]);

export interface NewRun {
  runId: string;
  principal: string;
  runKey?: string;
  source: RunRecord['source'];
  request: RunRequest;
  /** Committed together with the acceptance. */
  also: Statement[];
  /** Takes effect with the acceptance: the run reads the context after it. Only if nothing runs. */
  cut?: NewCut | undefined;
}

/** A run that the previous process left unfinished. */
export interface AdoptedRun {
  run: RunRecord;
  progress: Progress;
  /** Its journal or its request cannot be read, so it can only end. */
  isUnreadable?: boolean;
  /** An approval that was pending when the daemon stopped. */
  pending?: NewApproval;
  /** Its sub-agents, also those that have ended. */
  agents?: AdoptedAgent[];
  /** A question about a budget that it waits for, perhaps with others, or its answer. */
  question?: FoundQuestion;
}
