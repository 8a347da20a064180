import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import type { Mode } from '../../../protocol/events/modes.ts';
import type { Attachment, Effort } from '../../../protocol/stream-events.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import type { ReadAttachment } from '../attached-content.ts';
import type { StoredCommand } from '../background/background-store.ts';
import type { Coordination } from '../coordinator/coordination.ts';
import type { RunHooks } from '../hooks/hooked-run.ts';
import type { Advice } from '../judge/assessment.ts';
import type { RunMemories } from '../memory/memory-source.ts';
import type { Message } from '../message.ts';
import type { RunOutput } from '../output/asked-output.ts';
import type { CallRules } from '../permissions/rules/call-rules.ts';
import type { Prefix } from '../prefix/prefix.ts';
import type { InstructionTrust, Surroundings } from '../prefix/surroundings.ts';
import type { Model } from '../providers/model.ts';
import type { SkillsNow } from '../skills/skill-source.ts';
import type { SubAgents } from '../subagents/sub-agents.ts';
import type { ReadImage } from '../tools/tool.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import type { WorkdirSource } from '../tools/workdir.ts';
import type { ApprovalExpiry } from './approval/approval-expiry.ts';
import type { UnattendedPolicy } from './approval/unattended-policy.ts';
import type { Decision, Progress } from './journal.ts';
import type { RunBudget } from './limits/run-budget.ts';
import type { Recorder, Step } from './recorder.ts';
import type { Steering } from './steering.ts';
import type { RunWindow } from './window/run-window.ts';

/** Called before another model answers instead; what it returns is recorded in the same step. */
export type TakesOver = (next: Model) => Promise<Pick<Step, 'reserved'>>;

/** What a run needs to rate its calls. */
export interface RunJudge {
  /** The home of the user that commands run as; undefined if it is unknown. */
  home: string | undefined;
  /** Whether a model may judge, too. */
  usesModel: boolean;
  /** How sure a verdict has to be that lets a call run, up to 1. */
  threshold: number;
  /** Has a model judge the calls of a stored question; nothing waits for it. */
  begin(question: JudgedQuestion): Judgement;
}

/** A stored question about calls. */
export interface JudgedQuestion {
  approvalId: string;
  items: readonly ApprovalItem[];
  /**
   * The decision that the verdicts so far give, by the ids of the calls; undefined: none. The judge records it, unless the
   * question was decided first.
   */
  byJudge: ((verdicts: ReadonlyMap<string, Advice>) => Decision | undefined) | undefined;
}

/** The judgement of a question by a model. */
interface Judgement {
  /** The question is decided. A verdict may still follow. */
  decided(): void;
}

/** The settings of the workstream. Read again at each use, because clients may change them during a run. */
export interface RunSettings {
  workdir: WorkdirSource;
  autoApprove: boolean;
  /** What runs unasked besides; absent: what is harmless. */
  mode?: Exclude<Mode, 'full'>;
  /** Tools whose calls need no approval, without auto-approve. */
  approvedTools?: readonly string[];
  effort: Effort;
  /** What requests of the workstream ask for instead of the model's usual settings. */
  sampling: { readonly temperature?: number; readonly maxOutputTokens?: number };
  /** Throws GatewayError or ProviderError when the workstream's model is not available. */
  model(takesOver: TakesOver): Promise<Model>;
}

/** Stored images without rows. */
export interface KeptImages {
  attachments: Attachment[];
  /** Call this if their step was not recorded. */
  abandon(): Promise<void>;
  /** Call this once it was. */
  settle(): void;
}

/** The snapshots around a run, from which its changes of files can be taken back. */
export interface RunCheckpoint {
  /** Call it before a call that may change files; the first time, it takes a snapshot. A failure is told, and not thrown. */
  before(): Promise<void>;
  /** Call it when no call runs any more, before the end is recorded. Never rejects. */
  ended(): Promise<void>;
}

/** As much of a run as decides whether a call runs, asks, or is blocked. */
export interface RuledRun
  extends Pick<
    RunContext,
    'wsId' | 'messages' | 'toolbox' | 'notSandboxed' | 'policy' | 'rules' | 'isWatched' | 'signal'
  > {
  settings: Pick<RunSettings, 'workdir' | 'autoApprove' | 'mode' | 'approvedTools'>;
  judge: Pick<RunJudge, 'home' | 'usesModel' | 'threshold'> | undefined;
}

/** How much a run may do, besides its budgets. */
export interface RunLimits {
  /** Model turns. */
  turns: number;
  /** Whether a limit of tokens is reached, which only sub-agents have. */
  isOutOfTokens(): boolean;
}

/** Everything that one run, or one sub-agent, works with. */
export interface RunContext {
  wsId: string;
  runId: string;
  source: 'person' | 'agent' | 'cron';
  /** The conversation for the model; the run appends what it records. */
  messages: Message[];
  /** The stored beginning of the conversation's requests; undefined before the first. */
  prefix(): Prefix | undefined;
  surroundings: Surroundings;
  /** The templates that the conversation begins with, or began with, before their variables are filled in. */
  templates: { nodeId: string; read(): Promise<string> };
  /** Decisions of people about instruction files, in this conversation. */
  trust: { read(): Promise<InstructionTrust> };
  readAttachment: ReadAttachment;
  /** Stores images that a tool has read, before the step that names them. Rejects if the disk refuses. */
  keepImages(images: readonly ReadImage[]): Promise<KeptImages>;
  /** Messages stored in the workstream, including those left out of the context. */
  messageCount: number;
  /** The ids of calls that may be missing in `messages`; undefined when none is. */
  earlierCalls(): Promise<ReadonlySet<string> | undefined>;
  /** Of a sub-agent: what the ids of its calls end with. */
  callIdSuffix: string | undefined;
  window: RunWindow;
  progress: Progress;
  recorder: Recorder;
  steering: Steering;
  settings: RunSettings;
  toolbox: Toolbox;
  /** Why commands run without a sandbox; undefined when they run in one. */
  notSandboxed: string | undefined;
  /** Aborts with a StopReason. */
  signal: AbortSignal;
  /** Aborts when the daemon stops, even after `signal` has aborted. */
  stopping: AbortSignal;
  /**
   * Waits for the decision on a stored approval. The decision is recorded before this resolves. Rejects with the
   * signal's reason.
   */
  decision(approvalId: string): Promise<Decision>;
  /** Withdraws a stored question that waits: it counts as denied. Throws CONFLICT when it is decided. */
  withdraw(approvalId: string): Promise<void>;
  /** When its approvals expire. */
  expiry: Pick<ApprovalExpiry, 'stamp'>;
  /** What happens to calls that need approval while no approver is subscribed; undefined: they wait for a person. */
  policy: UnattendedPolicy | undefined;
  /** The permission rules and tool policies, as they are now. */
  rules: CallRules;
  checkpoint: RunCheckpoint;
  hooks: Pick<RunHooks, 'beforeTool' | 'hasAfterTool' | 'afterTool'>;
  /** Rates calls that need approval; undefined while the judge is off. */
  judge: RunJudge | undefined;
  /** Whether the run has only enough time left for one more answer. */
  isTimeShort(): boolean;
  budget: RunBudget;
  limits: RunLimits;
  /** Starts sub-agents of this one. */
  subAgents: SubAgents | undefined;
  /** Reaches other workstreams: only in runs of coordinators. */
  coordination: Coordination | undefined;
  /** The answer has to fit a schema. */
  output: RunOutput | undefined;
  /** The background commands that have ended and of whose end the model has not heard, oldest first. */
  endedCommands(): Promise<readonly StoredCommand[]>;
  memories: RunMemories;
  /** The skills that hold, and those that can be loaded, as they were when the run first asked; undefined: none is told of. */
  skills(): Promise<SkillsNow | undefined>;
  /** Whether an approver is subscribed. */
  isWatched(): boolean;
  clock: Clock;
  ids: Ids;
  log: Log;
}
