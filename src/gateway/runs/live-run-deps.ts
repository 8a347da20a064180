import type { Approval } from '../../../protocol/methods/approval.ts';
import type { Message, NudgeKind } from '../../agent/message.ts';
import type { Usage } from '../../agent/providers/model.ts';
import type { Step } from '../../agent/run/recorder.ts';
import type { Spending } from '../../agent/run/spending.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Cut } from '../cuts/cut.ts';
import type { LiveSettings } from '../live-settings.ts';
import type { Store } from '../store/store.ts';
import type { BudgetQuestions } from '../usage/budget-questions.ts';
import type { AlwaysRules } from '../workstreams/always.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import type { RunResult } from './run-record.ts';

/** Receives what a run does. Called after the commit; must not throw. */
interface RunObserver {
  onApprovalRequested(data: WorkstreamData, approval: Approval): void;
  onApprovalResolved(
    data: WorkstreamData,
    resolved: { approvalId: string; wsId: string; sessionKey: string; approved: boolean },
  ): void;
  onUsage(usage: Spending & { spent?: Usage; droppedThoughts?: number }): void;
  onToolStarted(tool: string): void;
  onNudged(kind: NudgeKind): void;
  onVerdicts(verdicts: Step['verdicts']): void;
}

/** What a run in memory works with. */
export interface LiveRunDeps {
  data: WorkstreamData;
  /** The context for the model; everything that the run records is appended. */
  messages: Message[];
  loadContext(data: WorkstreamData, pending: Cut): Promise<Message[]>;
  store: Store;
  /** Questions that it may share with other runs. */
  questions: Pick<BudgetQuestions, 'leave' | 'settle' | 'postpone'>;
  always: Pick<AlwaysRules, 'grant' | 'noteChange'>;
  /** How many sub-agents work at once. */
  live: Pick<LiveSettings, 'subAgents'>;
  ids: Pick<Ids, 'id'>;
  clock: Clock;
  observer: RunObserver;
  /** Called after the commit of its end; must not throw. */
  onEnded(result: RunResult): void;
}
