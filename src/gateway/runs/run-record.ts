import type { Attachment, RunOutcome, RunSource } from '../../../protocol/stream-events.ts';
import type { Effort } from '../../agent/providers/model.ts';
import type { ApprovalPolicy } from '../../agent/run/approval-policy.ts';
import type { Progress } from '../../agent/run/journal.ts';
import type { NewApproval } from '../../agent/run/recorder.ts';
import type { Rights } from '../rights.ts';
import type { Statement } from '../store/store.ts';

/** What a run was accepted with. */
export interface RunRequest {
  message: string;
  /** The least rights among those who wrote the message; absent in runs that an earlier version accepted. */
  rights?: Rights;
  /** The daemon started it by itself. */
  unattended?: true;
  /** Reserved for this run until its message is in the conversation; absent when there are none. */
  attachments?: Attachment[];
  /** Overrides the workstream's effort for this run. */
  effort?: Effort;
  /** Waking time it may take; time a person takes to decide does not count. */
  timeoutMs?: number;
  /** Where the answer is sent besides. */
  deliver?: { provider: string; to: string } | undefined;
  /** Why it is sent nowhere though it should be. */
  undeliverable?: string | undefined;
  /** What becomes of calls that need approval while nobody is there; left out: they wait for a person. */
  approval?: ApprovalPolicy | undefined;
}

/** One accepted message, from acceptance to its terminal record. */
export interface RunRecord {
  runId: string;
  wsId: string;
  /** Whoever asked, and the key they may ask again by. */
  principal: string;
  runKey?: string;
  source: RunSource;
  request: RunRequest;
  epoch: number;
  acceptedMs: number;
  startedMs?: number;
}

/** How a run ended, as waiters are told. */
export interface RunResult extends RunOutcome {
  summary: string;
  startedMs?: number;
  endedMs: number;
}

/** A run as whoever asked for it holds it. */
export interface RunHandle {
  run: RunRecord;
  /** Resolves with the terminal record; never rejects. */
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
}

/** A run that the last process left unfinished. */
export interface AdoptedRun {
  run: RunRecord;
  progress: Progress;
  /** What it has done cannot be read any more: all it can do is end. */
  isUnreadable?: boolean;
  pending?: NewApproval;
}
