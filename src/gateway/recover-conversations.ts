import type { Coordinators } from './coordinators/coordinators.ts';
import type { EventLog } from './events/event-log.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { recoverRuns, restoreState } from './runs/recovery.ts';
import type { Runs } from './runs/runs.ts';
import { restoreUnseen } from './streams/restore-unseen.ts';
import type { UnseenRuns } from './streams/unseen-runs.ts';
import type { Budgets } from './usage/budgets.ts';
import type { Workstreams } from './workstreams/workstreams.ts';

export type RecoveryDeps = Pick<GatewayDeps, 'store' | 'lastAliveMs' | 'killLeftover' | 'clock' | 'log'>;

interface ToRecover {
  events: EventLog;
  budgets: Budgets;
  coordinators: Pick<Coordinators, 'recover'>;
  workstreams: Workstreams;
  unseenRuns: UnseenRuns;
  runs: Runs;
}

/** Loads open workstreams and continues the runs of the previous process. */
export async function recoverConversations(
  { store, lastAliveMs, killLeftover, clock, log }: RecoveryDeps,
  { events, budgets, coordinators, workstreams, unseenRuns, runs }: ToRecover,
): Promise<void> {
  await budgets.recover();
  const recovered = await recoverRuns({ store, lastAliveMs, killLeftover, nowMs: clock.now(), log });
  for (const { run, question, agents = [] } of [...recovered.values()].flat()) {
    if (question) budgets.restore(question, run);
    for (const { stored, question: asked } of agents)
      if (asked) budgets.restore(asked, { runId: stored.state.agent_id, wsId: run.wsId });
  }
  await coordinators.recover();
  await workstreams.load(recovered, (data, run) => restoreState(data, run, store));
  for (const handle of await workstreams.adopt(recovered)) runs.track(handle);
  await workstreams.trim(); // the limit may be lower than at the last start
  await restoreUnseen(workstreams, { unseenRuns, events, store, clock, log });
}
