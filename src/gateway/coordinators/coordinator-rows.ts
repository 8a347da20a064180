import { sql } from 'kysely';
import { CoordinatorTask } from '../../../protocol/methods/conversation/coordinator.ts';
import { MAX_ABOVE, MAX_OPEN_CHILDREN } from '../../agent/coordinator/coordination.ts';
import { type Owned, perceivedBy, type Viewer } from '../sharing/perception.ts';
import { DELETED } from '../store/deletion.ts';
import type { CoordinatorTable } from '../store/schema/coordinators/coordinator-schema.ts';
import type { WorkstreamTable } from '../store/schema/schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';
import { isListOf, isText, storedReader } from '../store/stored-value.ts';
import type { Always } from '../workstreams/always.ts';

type Readable = Pick<Store, 'db' | 'reportDamage'>;

/** A task as it is stored. `callId`: the call that added it, so that repeating the call adds it once. */
export type StoredTask = CoordinatorTask & { callId?: string | undefined };

/** What is stored of a coordinator besides its row. */
export interface StoredCoordinator {
  /** As granted; it may have ended by now. */
  trust: Always | undefined;
  revoked: readonly string[];
  tasks: readonly StoredTask[];
}

const NOTHING: StoredCoordinator = { trust: undefined, revoked: [], tasks: [] };

/** Damage never gives rights. */
export async function readCoordinator(store: Readable, wsId: string): Promise<StoredCoordinator> {
  const row = await store.db.selectFrom('coordinators').selectAll().where('ws_id', '=', wsId).executeTakeFirst();
  if (!row) return NOTHING;
  const read = storedReader(store);
  const revoked = read(row.revoked_json, `the revoked tools of coordinator ${wsId}`, isListOf(isText));
  const isWhole = revoked !== undefined && row.trust_by !== null;
  return {
    trust: isWhole ? { by: row.trust_by ?? '', untilMs: row.trust_until_ms } : undefined,
    revoked: revoked ?? [],
    tasks: read(row.tasks_json, `the tasks of coordinator ${wsId}`, isListOf(isTask)) ?? [],
  };
}

const isTask = (value: unknown): value is StoredTask => CoordinatorTask.loose().safeParse(value).success;

type Change = Partial<Omit<CoordinatorTable, 'ws_id' | 'updated_ms'>>;

const EMPTY = { trust_by: null, trust_until_ms: null, revoked_json: '[]', tasks_json: '[]' };

const change = (wsId: string, columns: Change, nowMs: number): Statement => {
  const changed = { ...columns, updated_ms: nowMs };
  const insert = build.insertInto('coordinators').values({ ...EMPTY, ...changed, ws_id: wsId });
  return statementOf(insert.onConflict((on) => on.column('ws_id').doUpdateSet(changed)));
};

export const storeTrust = (wsId: string, trust: Always | undefined, nowMs: number): Statement =>
  change(wsId, { trust_by: trust?.by ?? null, trust_until_ms: trust?.untilMs ?? null }, nowMs);

export const storeRevoked = (wsId: string, tools: readonly string[], nowMs: number): Statement =>
  change(wsId, { revoked_json: JSON.stringify(tools) }, nowMs);

export const storeTasks = (wsId: string, tasks: readonly StoredTask[], nowMs: number): Statement =>
  change(wsId, { tasks_json: JSON.stringify(tasks) }, nowMs);

/** As much of a workstream as coordinators need. */
export type TreeRow = Pick<
  WorkstreamTable,
  | 'ws_id'
  | 'alias'
  | 'generated_name'
  | 'loaded'
  | 'last_run_status'
  | 'kind'
  | 'parent_ws_id'
  | 'owner_id'
  | 'visibility'
  | 'message_count'
  | 'context_after_seq'
  | 'created_ms'
  | 'updated_ms'
>;

const COLUMNS = [
  ...(['ws_id', 'alias', 'generated_name', 'loaded', 'last_run_status', 'kind', 'parent_ws_id', 'owner_id'] as const),
  ...(['visibility', 'message_count', 'context_after_seq', 'created_ms', 'updated_ms'] as const),
] as const;

/** Who owns and sees it. */
export const ownedOf = (row: Pick<TreeRow, 'owner_id' | 'visibility'>): Owned => ({
  ownerId: row.owner_id,
  visibility: row.visibility,
});

const rows = ({ db }: Pick<Store, 'db'>) => db.selectFrom('workstreams').select(COLUMNS).where('loaded', '!=', DELETED);

export const readTreeRow = (store: Pick<Store, 'db'>, wsId: string): Promise<TreeRow | undefined> =>
  rows(store).where('ws_id', '=', wsId).executeTakeFirst();

/** The own children of a coordinator, oldest first. */
export const readChildren = (store: Pick<Store, 'db'>, wsId: string): Promise<TreeRow[]> =>
  rows(store).where('parent_ws_id', '=', wsId).orderBy('created_ms').orderBy('ws_id').execute();

/** The coordinators that are not closed, as far as the viewer perceives them: all, or one. */
export async function readOpenCoordinators(
  store: Pick<Store, 'db'>,
  viewer: Viewer,
  wsId: string | undefined,
): Promise<TreeRow[]> {
  const open = rows(store).where('kind', '=', 'coordinator').where('loaded', 'in', [1, 2]).where(perceivedBy(viewer));
  const found = wsId === undefined ? open : open.where('ws_id', '=', wsId);
  return found.orderBy('created_ms').orderBy('ws_id').execute();
}

/**
 * The skills of workstreams, or the templates that they were created with: ids of stored skills, otherwise names, and the
 * versions of those that have some.
 */
export async function readSkills(
  { db }: Pick<Store, 'db'>,
  wsIds: readonly string[],
): Promise<Map<string, { name: string; version: string }>> {
  const applied = await db
    .selectFrom('applied_templates')
    .select(['ws_id', 'ws_template_name', 'ws_template_version', 'prompt_name'])
    .where('ws_id', 'in', wsIds)
    .execute();
  const chosen = await db
    .selectFrom('chosen_skills')
    .select(['ws_id', 'name', 'skill_id', 'revision'])
    .where('ws_id', 'in', wsIds)
    .execute();
  const of = (name: string | null, version: number | null) => ({ name: name ?? '', version: String(version ?? '') });
  return new Map([
    ...applied.map((row) => [row.ws_id, of(row.ws_template_name ?? row.prompt_name, row.ws_template_version)] as const),
    ...chosen.map((row) => [row.ws_id, of(row.skill_id ?? row.name, row.revision)] as const),
  ]);
}

/** The child that a call has made, also one that was deleted since and whose rows are being removed. */
export const readSpawned = ({ db }: Pick<Store, 'db'>, parentWsId: string, key: string): Promise<TreeRow | undefined> =>
  db
    .selectFrom('workstreams')
    .select(COLUMNS)
    .where('parent_ws_id', '=', parentWsId)
    .where('spawn_key', '=', key)
    .executeTakeFirst();

/** How many of its own children are not closed. */
export async function countOpen({ db }: Pick<Store, 'db'>, wsId: string): Promise<number> {
  const row = await db
    .selectFrom('workstreams')
    .select((select) => select.fn.countAll<number>().as('n'))
    .where('parent_ws_id', '=', wsId)
    .where('loaded', 'in', [1, 2])
    .executeTakeFirst();
  return Number(row?.n ?? 0);
}

/** All below a coordinator, those above first. */
export async function readBelow({ db }: Pick<Store, 'db'>, wsId: string): Promise<TreeRow[]> {
  const found = await sql<TreeRow & { depth: number }>`
    with recursive below (ws_id, depth) as (
      select ws_id, 1 from workstreams where parent_ws_id = ${wsId}
      union
      select w.ws_id, below.depth + 1 from workstreams as w join below on w.parent_ws_id = below.ws_id
        where below.depth <= ${MAX_ABOVE}
    )
    select ${sql.join(COLUMNS.map((column) => sql.ref(`workstreams.${column}`)))}, min(below.depth) as depth
    from below join workstreams on workstreams.ws_id = below.ws_id
    where workstreams.loaded <> ${DELETED} and workstreams.ws_id <> ${wsId}
    group by workstreams.ws_id
    order by depth, workstreams.created_ms, workstreams.ws_id
    limit ${MOST_BELOW}`.execute(db);
  return found.rows.map(({ depth: _, ...row }) => row);
}

const MOST_BELOW = MAX_OPEN_CHILDREN * 16;

/** The coordinators above a workstream, the nearest first. Ends where one was deleted. */
export async function readAbove({ db }: Pick<Store, 'db'>, wsId: string): Promise<string[]> {
  const path: string[] = [];
  for (let next: string | null = wsId; next !== null && !path.includes(next) && path.length <= MAX_ABOVE + 1; ) {
    const row: Pick<WorkstreamTable, 'parent_ws_id'> | undefined = await db
      .selectFrom('workstreams')
      .select('parent_ws_id')
      .where('ws_id', '=', next)
      .where('loaded', '!=', DELETED)
      .executeTakeFirst();
    if (!row) break;
    path.push(next);
    next = row.parent_ws_id;
  }
  return path.slice(1);
}
