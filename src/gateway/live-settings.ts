import type { CronSwitch } from '../../protocol/cron.ts';

/** What an operator may change while the daemon runs. Read it when it is used, and pass the object on, not its values. */
export interface LiveSettings {
  /** How long a question waits for its answer. */
  readonly approvalMs: number;
  /** How long auto-approve lasts; 0: it has no end. */
  readonly alwaysMs: number;
  /** Workstreams loaded at once. */
  readonly maxWorkstreams: number;
  /** How often the main session has a turn of its own; 0: never. */
  readonly heartbeatMs: number;
  readonly cron: CronSettings;
  /** What each connection may ask. */
  readonly inbound: InboundLimit;
}

/** How scheduled jobs run. */
export interface CronSettings {
  /** False: no job runs by itself. */
  readonly enabled: boolean;
  /** Why not; empty where they do. */
  readonly switchedOffBy: readonly CronSwitch[];
  readonly maxConcurrentRuns: number;
  /** How long it is known what became of an occurrence. */
  readonly retentionDays: number;
}

/** So many requests at once, and so many a second from then on. */
export interface InboundLimit {
  burst: number;
  perSecond: number;
}
