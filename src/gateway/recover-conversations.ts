import { toLabels } from '../../protocol/cluster/machine-labels.ts';
import { isUnavailable } from '../is-unavailable.ts';
import { recoverBackground } from './background/recover-background.ts';
import type { Coordinators } from './coordinators/coordinators.ts';
import type { EventLog } from './events/event-log.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { recoverRuns, restoreState } from './runs/recovery.ts';
import type { AdoptedRun } from './runs/run-record.ts';
import type { Runs } from './runs/runs.ts';
import { DAEMON, OF_EVERYONE } from './sharing/perception.ts';
import { restoreUnseen } from './streams/restore-unseen.ts';
import type { UnseenRuns } from './streams/unseen-runs.ts';
import type { Budgets } from './usage/budgets.ts';
import { recoverWatches } from './watches/watch-noun.ts';
import { missingLabels } from './workers/can-own.ts';
import { resyncLogs } from './workers/resync-logs.ts';
import type { Moved } from './workers/take-over.ts';
import { MAIN } from './workstreams/session-keys.ts';
import type { RestoreRun } from './workstreams/workstream-deps.ts';
import type { Workstreams } from './workstreams/workstreams.ts';

export type RecoveryDeps = Pick<GatewayDeps, 'store' | 'server' | 'lastAliveMs' | 'killLeftover' | 'clock' | 'log'>;

/** No other machine can have any. */
const TAKE_ALL = ['workstreams', 'cron_jobs', 'cron_occurrences'].map((table) => ({
  sql: `update ${table} set machine = null where machine is not null`,
  parameters: [],
}));

interface ToRecover {
  events: EventLog;
  budgets: Budgets;
  coordinators: Pick<Coordinators, 'recover'>;
  workstreams: Workstreams;
  unseenRuns: UnseenRuns;
  runs: Runs;
}

type AdoptionDeps = Pick<GatewayDeps, 'store' | 'server' | 'background' | 'readOutput' | 'clock' | 'log'>;

/**
 * Continues the runs of another machine, whose rows `from` reads. `takeRows` makes them this daemon's. Its processes are not on
 * this machine.
 */
export async function adoptConversations(
  { from, wsIds, takeRows }: Moved,
  { store, server, background, readOutput, clock, log }: AdoptionDeps,
  { events, budgets, workstreams, runs }: Pick<ToRecover, 'events' | 'budgets' | 'workstreams' | 'runs'>,
): Promise<void> {
  const killLeftover = async () => undefined;
  await store.takeLogs?.(wsIds); // this daemon may have had them before
  await budgets.recover(from);
  const recovered = await recoverRuns({ store: from, lastAliveMs: undefined, killLeftover, nowMs: clock.now(), log });
  restoreQuestions(recovered, budgets);
  await resyncLogs(wsIds, { events, store: from });
  await recoverWatches({ store: from, killLeftover, server, log });
  const { records } = background;
  await recoverBackground({ store: from, records, killLeftover, readOutput, lastAliveMs: undefined, clock, log });
  const handles = await workstreams.whileArriving(wsIds, async () => {
    const open = await workstreams.load(recovered, restoring({ store, log }), from);
    await takeRows();
    open();
    return workstreams.adopt(recovered); // in the same turn
  });
  for (const handle of handles) runs.track(handle);
}

/** A log that is damaged keeps no run from going on. */
const restoring =
  ({ store, log }: Pick<RecoveryDeps, 'store' | 'log'>): RestoreRun =>
  async (data, adopted) => {
    try {
      await restoreState(data, adopted, store);
    } catch (err) {
      if (isUnavailable(err)) throw err;
      log.error({ err, runId: adopted.run.runId }, 'the position of a run could not be restored from its log');
    }
  };

function restoreQuestions(recovered: ReadonlyMap<string, readonly AdoptedRun[]>, budgets: Budgets): void {
  for (const { run, question, agents = [] } of [...recovered.values()].flat()) {
    if (question) budgets.restore(question, run);
    for (const { stored, question: asked } of agents)
      if (asked) budgets.restore(asked, { runId: stored.state.agent_id, wsId: run.wsId });
  }
}

/** A machine keeps the workstreams that it has, also if it has lost labels that they need (decision 194). */
function warnOfLabels(
  workstreams: Pick<Workstreams, 'list'>,
  { server, log }: Pick<GatewayDeps, 'log'> & { server: Pick<GatewayDeps['server'], 'labels'> },
): void {
  const lacking = workstreams
    .list(DAEMON)
    .map(({ data }) => missingLabels(data.machineLabels, server.labels))
    .filter((missing) => missing.length > 0);
  if (lacking.length === 0) return;
  const about = { workstreams: lacking.length, labels: toLabels(lacking.flat()) };
  log.warn(about, 'open workstreams of this machine need labels that it does not have; they go on here');
}

/** Creates the main session if it is missing, and opens it if nothing else is open. */
async function requireMain(workstreams: Workstreams): Promise<void> {
  const main = await workstreams.lookUp(MAIN, DAEMON);
  if (!main) await workstreams.create({ sessionKey: MAIN, owned: OF_EVERYONE });
  else if (workstreams.list(DAEMON).length === 0) await workstreams.findByKey(MAIN, DAEMON);
}

/** Loads open workstreams and continues the runs of the previous process. */
export async function recoverConversations(
  { store, server, lastAliveMs, killLeftover, clock, log }: RecoveryDeps,
  { events, budgets, coordinators, workstreams, unseenRuns, runs }: ToRecover,
): Promise<void> {
  if (!store.noteGrowth) await store.commit({ statements: TAKE_ALL }); // copied from a database with workers
  await budgets.recover();
  const recovered = await recoverRuns({ store, lastAliveMs, killLeftover, nowMs: clock.now(), log });
  restoreQuestions(recovered, budgets);
  await coordinators.recover();
  const open = await workstreams.load(recovered, restoring({ store, log }));
  open();
  if (store.machine === null) await requireMain(workstreams); // the active daemon has it
  for (const handle of await workstreams.adopt(recovered)) runs.track(handle);
  warnOfLabels(workstreams, { server, log });
  await workstreams.trim(); // the limit may be lower than at the last start
  await restoreUnseen(workstreams, { unseenRuns, events, store, clock, log });
}
