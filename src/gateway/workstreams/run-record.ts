import type { RunOutcome, RunSource } from '../../../protocol/stream-events.ts';
import type { Effort } from '../../agent/providers/model.ts';

/** What a run was accepted with. */
export interface RunRequest {
  message: string;
  /** Overrides the workstream's effort for this run. */
  effort?: Effort;
  /** Waking time it may take; time a person takes to decide does not count. */
  timeoutMs?: number;
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
