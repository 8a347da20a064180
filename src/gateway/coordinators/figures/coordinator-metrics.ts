import type { Result } from '../../../../protocol/index.ts';
import { isRecord } from '../../../../protocol/is-record.ts';
import type { ChildState } from '../../../../protocol/methods/conversation/coordinator.ts';
import type { WaitEnd } from '../../../agent/coordinator/wait-end.ts';
import type { Viewer } from '../../sharing/perception.ts';
import type { Store } from '../../store/store.ts';
import { isText, storedReader } from '../../store/stored-value.ts';
import type { Coordinators } from '../coordinators.ts';
import { toSeen } from '../look-into.ts';

const HOUR_MS = 3_600_000;
/** How many verdicts are looked at, the latest ones. */
const MOST_VERDICTS = 500;
/** Of how many waits the times are averaged, the latest ones. */
const MOST_WAITS = 500;

/**
 * Figures of a coordinator, all from what is stored anyway: its children as far as the viewer perceives them, its verdicts,
 * and its journals. A wait counts with the result of its call, so a kill neither loses nor doubles it.
 */
export async function coordinatorMetrics(
  wsId: string,
  viewer: Viewer,
  coordinators: Coordinators,
): Promise<Result<'coordinator.metrics'>> {
  const { store, clock } = coordinators.deps;
  const [children, waits, verdicts] = await Promise.all([
    coordinators.childrenOf(wsId, viewer),
    readWaits(store, wsId),
    readVerdicts(store, wsId),
  ]);
  const hourAgoMs = clock.now() - HOUR_MS;
  const states = children.map((row) => stateOf(toSeen(row, coordinators)));
  return {
    wsId,
    spawnsTotal: children.length,
    spawnsLastHour: children.filter((row) => row.created_ms > hourAgoMs).length,
    childStates: countEach(states),
    judgeFallbackRate: verdicts.sample === 0 ? 0 : verdicts.missing / verdicts.sample,
    verdictSample: verdicts.sample,
    ...waits,
  };
}

const stateOf = ({ isOpen, state }: { isOpen: boolean; state: Exclude<ChildState, 'closed'> }): ChildState =>
  isOpen ? state : 'closed';

function countEach(states: readonly ChildState[]): Partial<Record<ChildState, number>> {
  const counts: Partial<Record<ChildState, number>> = {};
  for (const state of states) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

type Readable = Pick<Store, 'db' | 'reportDamage'>;

type Waits = Pick<Result<'coordinator.metrics'>, 'waitCompletions' | 'waitTimeouts' | 'waitAvgElapsedMs'>;

/** The waits that ended. All of them are counted where they are stored: a coordinator may have made any number. */
async function readWaits(store: Readable, wsId: string): Promise<Waits> {
  const waits = store.db
    .selectFrom('journal')
    .innerJoin('runs', 'runs.run_id', 'journal.run_id')
    .where('runs.ws_id', '=', wsId)
    .where('journal.kind', '=', 'tool_finished')
    .where('journal.body_json', 'like', '%"waited"%');
  // In a text, the quotes would be escaped.
  const countOf = async (isMet: boolean) => {
    const some = waits.where('journal.body_json', 'like', `%"isMet":${isMet}%`);
    const found = await some.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirst();
    return Number(found?.count ?? 0);
  };
  const latest = waits.select('journal.body_json').orderBy('journal.at_ms', 'desc').limit(MOST_WAITS);
  const [waitCompletions, waitTimeouts, rows] = await Promise.all([countOf(true), countOf(false), latest.execute()]);
  const read = storedReader(store);
  const times = rows.flatMap(({ body_json }) => read(body_json, `a wait of coordinator ${wsId}`, isWait) ?? []);
  const elapsedMs = times.reduce((sum, { waited }) => sum + waited.elapsedMs, 0);
  return {
    waitCompletions,
    waitTimeouts,
    waitAvgElapsedMs: times.length === 0 ? 0 : Math.round(elapsedMs / times.length),
  };
}

const isWait = (value: unknown): value is { waited: WaitEnd } =>
  isRecord(value) &&
  isRecord(value.waited) &&
  typeof value.waited.isMet === 'boolean' &&
  typeof value.waited.elapsedMs === 'number';

/** How many verdicts about its calls there are, and how many of them stand alone although a model was asked. */
async function readVerdicts(store: Readable, wsId: string): Promise<{ sample: number; missing: number }> {
  const rows = await store.db
    .selectFrom('verdicts')
    .select(['approval_id', 'call_id', 'tier', 'created_ms'])
    .where('ws_id', '=', wsId)
    .orderBy('created_ms', 'desc')
    .orderBy('verdict_id', 'desc')
    .limit(MOST_VERDICTS)
    .execute();
  const oldest = rows.at(-1);
  if (!oldest) return { sample: 0, missing: 0 };
  const judged = new Set(rows.flatMap((row) => (row.tier === 'llm' ? [keyOf(row.approval_id, row.call_id)] : [])));
  const notJudged = await readNotJudged(store, { wsId, sinceMs: oldest.created_ms });
  const alone = rows.filter(({ approval_id, call_id }) => {
    const key = keyOf(approval_id, call_id);
    return notJudged.has(key) && !judged.has(key); // it may have been judged after a restart
  });
  return { sample: rows.length, missing: alone.length };
}

/** The calls for which a model gave no verdict, of the workstream and its sub-agents. */
async function readNotJudged(
  store: Readable,
  { wsId, sinceMs }: { wsId: string; sinceMs: number },
): Promise<ReadonlySet<string>> {
  const runs = store.db.selectFrom('runs').select('run_id').where('ws_id', '=', wsId);
  const agents = store.db.selectFrom('sub_agents').select('agent_id as run_id').where('ws_id', '=', wsId);
  const rows = await store.db
    .selectFrom('journal')
    .select('body_json')
    .where('run_id', 'in', runs.unionAll(agents))
    .where('kind', '=', 'not_judged')
    .where('at_ms', '>=', sinceMs)
    .execute();
  const read = storedReader(store);
  const found = rows.flatMap(({ body_json }) => read(body_json, `a call in ${wsId}`, isNotJudged) ?? []);
  return new Set(found.map(({ approvalId, callId }) => keyOf(approvalId, callId)));
}

const isNotJudged = (value: unknown): value is { approvalId: string; callId: string } =>
  isRecord(value) && isText(value.approvalId) && isText(value.callId);

const keyOf = (approvalId: string | null, callId: string): string => JSON.stringify([approvalId, callId]);
