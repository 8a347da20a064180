import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import type { ReadAttachment } from '../attached-content.ts';
import type { Message } from '../message.ts';
import type { Effort, Model } from '../providers/model.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import type { WorkdirSource } from '../tools/workdir.ts';
import type { ApprovalExpiry } from './approval-expiry.ts';
import type { ApprovalPolicy } from './approval-policy.ts';
import type { Decision, Progress } from './journal.ts';
import type { Recorder } from './recorder.ts';

/** What a run may ask of the workstream it belongs to; read anew each time, because clients change it in mid-run. */
export interface RunSettings {
  workdir: WorkdirSource;
  autoApprove: boolean;
  effort: Effort;
  /** Throws GatewayError or ProviderError when the workstream's model cannot be had. */
  model(): Promise<Model>;
}

/** Everything one run works with. */
export interface RunContext {
  wsId: string;
  runId: string;
  source: 'person' | 'agent' | 'cron';
  /** The conversation the model reads; the run appends what it records. */
  messages: Message[];
  readAttachment: ReadAttachment;
  /** Messages stored in the workstream, also those that the context leaves out. */
  messageCount: number;
  progress: Progress;
  recorder: Recorder;
  settings: RunSettings;
  toolbox: Toolbox;
  /** Why commands run without a sandbox; undefined when they run in one. */
  notSandboxed: string | undefined;
  /** Aborts with a StopReason. */
  signal: AbortSignal;
  /** Aborts when the daemon stops, also after `signal` has. */
  stopping: AbortSignal;
  /**
   * Waits for the decision of a stored approval. The one who decides (a client, the deadline) records it before this
   * resolves. Rejects with the signal's reason.
   */
  decision(approvalId: string): Promise<Decision>;
  /** When its questions end. */
  expiry: Pick<ApprovalExpiry, 'stamp'>;
  /** What becomes of calls that need approval while nobody is there; undefined: they wait for a person. */
  policy: ApprovalPolicy | undefined;
  /** Somebody who may decide looks on. */
  isWatched(): boolean;
  clock: Clock;
  ids: Ids;
  log: Log;
}
