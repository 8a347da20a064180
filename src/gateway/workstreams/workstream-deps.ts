import type { Approval } from '../../../protocol/methods/approval.ts';
import type { ReadAttachment } from '../../agent/attached-content.ts';
import type { BackgroundCommands } from '../../agent/background/background-commands.ts';
import type { Hooks } from '../../agent/hooks/hooks.ts';
import type { MemorySource } from '../../agent/memory/memory-source.ts';
import type { Message, NudgeKind } from '../../agent/message.ts';
import type { OutputChecks } from '../../agent/output/answer-checks.ts';
import type { Surroundings } from '../../agent/prefix/surroundings.ts';
import type { Models, Usage } from '../../agent/providers/model.ts';
import type { Step } from '../../agent/run/recorder.ts';
import type { KeptImages } from '../../agent/run/run-context.ts';
import type { Spending } from '../../agent/run/spending.ts';
import type { ModelWindows } from '../../agent/run/window/model-windows.ts';
import type { NumberedMessage } from '../../agent/run/window/run-window.ts';
import type { SummaryPhase } from '../../agent/run/window/summary-report.ts';
import type { SkillSource } from '../../agent/skills/skill-source.ts';
import type { ReadImage } from '../../agent/tools/tool.ts';
import type { Toolbox } from '../../agent/tools/toolbox.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import type { Tracing } from '../../tracing.ts';
import type { StoredBackground } from '../background/background-records.ts';
import type { RunCheckpoints } from '../checkpoints/run-checkpoints.ts';
import type { RunCoordinators } from '../coordinators/coordinator-run.ts';
import type { Cut } from '../cuts/cut.ts';
import type { EventLog } from '../events/event-log.ts';
import type { Judge } from '../judge/judge.ts';
import type { LiveSettings } from '../live-settings.ts';
import type { Rules } from '../rules/rules.ts';
import type { RunQueue } from '../runs/run-queue.ts';
import type { AdoptedRun, RunRecord, RunResult } from '../runs/run-record.ts';
import type { Store } from '../store/store.ts';
import type { Templates } from '../templates/templates.ts';
import type { Budgets } from '../usage/budgets.ts';
import type { WatchRecords } from '../watches/watch-records.ts';
import type { AlwaysRules } from './always.ts';
import type { Unloading } from './closing.ts';
import type { HiddenWorkstreams } from './hidden-workstreams.ts';
import type { Workdirs } from './workdirs.ts';
import type { WorkstreamData } from './workstream-data.ts';

/** Receives events of workstreams after their commit. Must not throw. */
export interface WorkstreamObserver {
  onRunning(data: WorkstreamData, run: RunRecord): void;
  onEnded(data: WorkstreamData, run: RunRecord, result: RunResult): void;
  /** A queued run was cancelled before it began. */
  onDropped(data: WorkstreamData, run: RunRecord): void;
  /** A queued run's message was given to the run in progress, `into`; `ended` resolves with that run. */
  onSteered(data: WorkstreamData, run: RunRecord, by: { into: string; ended: Promise<RunResult> }): void;
  /** A run was accepted and waits. */
  onQueued(data: WorkstreamData, run: RunRecord): void;
  /** A run that waited has begun. */
  onDispatched(data: WorkstreamData, run: RunRecord): void;
  /** A summary of the conversation begins, proceeds, or failed. */
  onSummary(data: WorkstreamData, phase: SummaryPhase): void;
  /** The runs that wait have changed. */
  onQueue(data: WorkstreamData, queue: RunQueue): void;
  onApprovalRequested(data: WorkstreamData, approval: Approval): void;
  onApprovalResolved(
    data: WorkstreamData,
    resolved: { approvalId: string; wsId: string; sessionKey: string; approved: boolean },
  ): void;
  onUsage(usage: Spending & { spent?: Usage; droppedThoughts?: number }): void;
  onToolStarted(tool: string): void;
  /** The model was reminded of its memory. */
  onNudged(kind: NudgeKind): void;
  onVerdicts(verdicts: Step['verdicts']): void;
  /** A run, or a change of the context, has ended, or messages no longer wait: it may be idle now. */
  onFree(): void;
  /** A user message was accepted and its run began. */
  onMessage(): void;
}

/** What every workstream works with. */
export interface WorkstreamDeps {
  store: Store;
  models: Models;
  toolbox: Toolbox;
  workdirs: Workdirs;
  /** Why commands run without a sandbox; undefined when they run in one. */
  notSandboxed: string | undefined;
  outputChecks: Pick<OutputChecks, 'check'>;
  live: Pick<LiveSettings, 'approvalMs' | 'maxWorkstreams' | 'subAgents' | 'visibility'>;
  always: AlwaysRules;
  budgets: Pick<Budgets, 'forRun' | 'questions' | 'apply'>;
  observer: WorkstreamObserver;
  events: Pick<EventLog, 'isWatched'>;
  /**
   * The stored context of a workstream: its messages that count now, or will after the pending cut. Also reads its prefix
   * into `data`.
   */
  loadContext(data: WorkstreamData, pending?: Cut): Promise<Message[]>;
  /** The same, with the numbers of the messages. */
  readNumbered(data: WorkstreamData): Promise<NumberedMessage[]>;
  windows: ModelWindows;
  /** The files of messages, and images that tools have read. */
  attachments: {
    readForModel: ReadAttachment;
    hold(owner: { wsId: string; principal: string }, images: readonly ReadImage[]): Promise<KeptImages>;
  };
  surroundings: Surroundings;
  /** What conversations begin with. */
  templates: Pick<Templates, 'textFor'>;
  rules: Pick<Rules, 'of' | 'endIn'>;
  judge: Pick<Judge, 'forRun'>;
  hooks: Pick<Hooks, 'ofRun'>;
  background: {
    commands: Pick<BackgroundCommands, 'endIn' | 'runningIn' | 'forget'>;
    records: Pick<StoredBackground, 'untold' | 'lookAgain'>;
    watches: { records: Pick<WatchRecords, 'endIn'> };
  };
  /** What the agents of workstreams know of memories. */
  memories: { agents: Pick<MemorySource, 'forRuns'> };
  /** The skills that agents may use. */
  skills: Pick<SkillSource, 'now'>;
  checkpoints: Pick<RunCheckpoints, 'of'>;
  coordinators: RunCoordinators;
  /** This daemon's id, which templates may name. */
  nodeId: string;
  /** Without it, no spans are reported. */
  tracing?: Tracing | undefined;
  /** Aborts when the daemon stops. */
  stopping: AbortSignal;
  clock: Clock;
  ids: Ids;
  log: Log;
}

/** Gives a run of an earlier process its place in the log. */
export type RestoreRun = (data: WorkstreamData, run: AdoptedRun) => Promise<void>;

/** What all workstreams together need. */
export interface RegistryDeps extends WorkstreamDeps {
  events: EventLog;
  onLoaded(data: WorkstreamData): void;
  onUnloaded(data: WorkstreamData, reason: Unloading): void;
  onRemoved(): Promise<void>;
  hidden: HiddenWorkstreams;
}
