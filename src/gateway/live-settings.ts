import type { CronSwitch } from '../../protocol/cron.ts';
import type { Visibility } from '../../protocol/methods/conversation/sharing.ts';
import type { ModelConfig } from '../agent/providers/models-config.ts';
import type { MemorySettings } from './memories/agent-memories.ts';
import type { BudgetSettings } from './usage/budget-key.ts';

/**
 * Settings that an operator may change while the daemon runs. Read them at each use, and pass on the object, not its
 * values.
 */
export interface LiveSettings {
  /** How long an approval waits for its decision. */
  readonly approvalMs: number;
  /** How long auto-approve lasts; 0: without end. */
  readonly alwaysMs: number;
  readonly subAgents: SubAgentSettings;
  /** The maximum number of loaded workstreams. */
  readonly maxWorkstreams: number;
  /** Who sees the workstreams that users create without saying it. */
  readonly visibility: Visibility;
  /** The interval of heartbeat turns in the main session; 0: none. */
  readonly heartbeatMs: number;
  readonly cron: CronSettings;
  readonly budgets: BudgetSettings;
  readonly session: SessionSettings;
  readonly judge: JudgeSettings;
  readonly checkpoints: CheckpointSettings;
  readonly memory: MemorySettings;
  /** The request limit of each connection. */
  readonly inbound: InboundLimit;
}

/** The limits of sub-agents. */
interface SubAgentSettings {
  /** How many of a run work at once. */
  readonly parallel: number;
  /** The longest time limit that one can be given. */
  readonly maxTimeoutMs: number;
}

/** How conversations are kept and named. */
export interface SessionSettings {
  /** How long a closed conversation without a name is kept; 0: without end. */
  readonly retentionDays: number;
  /** `model`: the model writes titles after the first answer; `message`: they are the first message. */
  readonly titles: 'model' | 'message';
}

/** Snapshots of the folders of workstreams. */
export interface CheckpointSettings {
  readonly enabled: boolean;
  /** The largest file that a snapshot holds. */
  readonly maxFileMb: number;
  /** How much the snapshots of one workstream may take on disk. */
  readonly maxTotalMb: number;
  /** How many runs of a workstream can be taken back. */
  readonly keep: number;
  /** How long they can be. */
  readonly keepDays: number;
}

/** How calls that need approval are rated. */
export interface JudgeSettings {
  readonly enabled: boolean;
  /** Whether a model judges, too. */
  readonly usesModel: boolean;
  /** The alias of the model; empty: that of the workstream. */
  readonly model: string;
  /** The model instead, if it has no alias. */
  readonly own?: ModelConfig | undefined;
  readonly timeoutMs: number;
  /** How sure a verdict has to be that lets a call run in the mode `auto`, up to 1. */
  readonly confidenceThreshold: number;
  /** How many tokens the judge may use for the calls of one question; 0: as many as budgets allow. */
  readonly tokensPerQuestion: number;
  /** How much of the model's context window the conversation may take, up to 1. */
  readonly maxContextRatio: number;
  readonly readOnlyTools: boolean;
  /** Whether a decision ends the judging. */
  readonly cancelOnApproval: boolean;
  /** How many days verdicts, and findings in outputs, are stored; 0: as long as their conversation. */
  readonly retentionDays: number;
  /** Whether outputs of tools are assessed. */
  readonly outputGuard: boolean;
  /** Whether what looks like a secret in them is replaced. */
  readonly redactSecrets: boolean;
}

/** How scheduled jobs run. */
export interface CronSettings {
  /** False: jobs do not run automatically. */
  readonly enabled: boolean;
  /** The reasons; empty when enabled. */
  readonly switchedOffBy: readonly CronSwitch[];
  readonly maxConcurrentRuns: number;
  /** How long the outcomes of occurrences are stored. */
  readonly retentionDays: number;
}

/** A burst of requests, and the sustained rate. */
export interface InboundLimit {
  burst: number;
  perSecond: number;
}
