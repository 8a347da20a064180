import { setImmediate as nextTurn } from 'node:timers/promises';
import { type SelectQueryBuilder, sql } from 'kysely';
import type { z } from 'zod';
import { kindOf } from '../../../protocol/methods/conversation/kinds.ts';
import type { SavedWorkstream } from '../../../protocol/methods/conversation/listing.ts';
import type { Models } from '../../agent/providers/model.ts';
import { perceivedBy, type Viewer } from '../sharing/perception.ts';
import { DELETED } from '../store/deletion.ts';
import type { Database, WorkstreamTable } from '../store/schema/schema.ts';
import type { Store } from '../store/store.ts';
import { readUsage, shareOf } from '../usage/last-usage.ts';
import { stateAfter } from '../workstreams/workstream-data.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { givenName } from './given-name.ts';
import { type Narrowing, narrowedTo } from './narrowing.ts';

interface SavedPage extends Narrowing {
  limit?: number | undefined;
  /** Where the previous page ended: its last `updatedMs`, and for equal times its last `wsId`. */
  before?: number | undefined;
  beforeWsId?: string | undefined;
  /** Words that must all occur in the name or the title. */
  search?: string | undefined;
}

export interface SavedWorkstreams {
  /** Most recently updated first; for equal times, by id. */
  list(page: SavedPage, viewer: Viewer): Promise<z.infer<typeof SavedWorkstream>[]>;
}

const LIMIT = 50;

interface SavedDeps {
  store: Store;
  models: Pick<Models, 'current'>;
  /** The loaded ones, which know their present state. */
  workstreams: Pick<Workstreams, 'find'>;
  searchedAtOnce?: number;
}

/** Rows that a search looks at in one turn of the event loop; a few milliseconds. */
const SEARCHED_AT_ONCE = 1_000;

/** Stored conversations that have messages that count, after the last /clear or /new. */
export const createSavedWorkstreams = (deps: SavedDeps): SavedWorkstreams => ({
  async list({ limit = LIMIT, before, beforeWsId = '', search = '', ...narrowing }, viewer) {
    const words = [...new Set(search.split(/\s+/))].filter((part) => part !== '');
    const start = before === undefined ? undefined : { updated_ms: before, ws_id: beforeWsId };
    const shown = deps.store.db
      .selectFrom('workstreams')
      .selectAll()
      .where(sql<boolean>`message_count - cut_count > context_after_seq`)
      .where('loaded', '!=', DELETED)
      .where(perceivedBy(viewer))
      .where(narrowedTo(narrowing, deps.models.current()));
    const rows =
      words.length === 0
        ? await newest(shown.where(olderThan(start)), limit)
        : await findMentions(shown, { words, start, limit }, deps);
    const children = await countChildren(rows, viewer, deps);
    return rows.map((row) => ({ ...toSaved(row, viewer, deps), ...childrenOf(row, children) }));
  },
});

type Shown = SelectQueryBuilder<Database, 'workstreams', WorkstreamTable>;
/** A place in the order of the list. */
type Place = Pick<WorkstreamTable, 'updated_ms' | 'ws_id'>;

const newest = (rows: Shown, limit: number): Promise<WorkstreamTable[]> =>
  rows.orderBy('updated_ms', 'desc').orderBy('ws_id', 'desc').limit(limit).execute();

/** The rows behind a place; all of them without one. The first part is what the index covers. */
const olderThan = (place: Place | undefined) =>
  place
    ? sql<boolean>`updated_ms <= ${place.updated_ms} and (updated_ms < ${place.updated_ms} or ws_id < ${place.ws_id})`
    : sql<boolean>`true`;

/** No index finds parts of names, so all rows are looked at, some at a time. */
async function findMentions(
  shown: Shown,
  { words, start, limit }: { words: readonly string[]; start: Place | undefined; limit: number },
  { store, searchedAtOnce = SEARCHED_AT_ONCE }: SavedDeps,
): Promise<WorkstreamTable[]> {
  const found: WorkstreamTable[] = [];
  let from = start;
  for (;;) {
    const last: Place | undefined = await store.db
      .selectFrom('workstreams')
      .select(['updated_ms', 'ws_id'])
      .where(olderThan(from))
      .orderBy('updated_ms', 'desc')
      .orderBy('ws_id', 'desc')
      .offset(searchedAtOnce - 1)
      .limit(1)
      .executeTakeFirst();
    let some = shown.where(olderThan(from));
    if (last !== undefined)
      some = some.where(
        sql<boolean>`updated_ms >= ${last.updated_ms} and (updated_ms > ${last.updated_ms} or ws_id >= ${last.ws_id})`,
      );
    for (const word of words) some = some.where(mentions(word));
    found.push(...(await newest(some, limit - found.length)));
    if (last === undefined || found.length >= limit) return found;
    from = last;
    await nextTurn();
  }
}

/** How many open children of these coordinators the viewer perceives. */
async function countChildren(
  rows: readonly WorkstreamTable[],
  viewer: Viewer,
  { store }: Pick<SavedDeps, 'store'>,
): Promise<Map<string | null, number>> {
  const coordinators = rows.filter(({ kind }) => kind === 'coordinator').map(({ ws_id }) => ws_id);
  if (coordinators.length === 0) return new Map();
  const counted = await store.db
    .selectFrom('workstreams')
    .select((select) => ['parent_ws_id', select.fn.countAll<number>().as('n')])
    .where('parent_ws_id', 'in', coordinators)
    .where('loaded', 'in', [1, 2])
    .where(perceivedBy(viewer))
    .groupBy('parent_ws_id')
    .execute();
  return new Map(counted.map(({ parent_ws_id, n }) => [parent_ws_id, Number(n)]));
}

function childrenOf({ ws_id }: WorkstreamTable, counted: ReadonlyMap<string | null, number>): { childCount?: number } {
  const childCount = counted.get(ws_id);
  return childCount === undefined ? {} : { childCount };
}

const toSaved = (
  row: WorkstreamTable,
  viewer: Viewer,
  { store, models, workstreams }: SavedDeps,
): z.infer<typeof SavedWorkstream> => ({
  wsId: row.ws_id,
  alias: row.alias ?? givenName(row),
  name: row.alias ?? row.generated_name,
  title: row.title,
  workdir: row.workdir,
  createdMs: row.created_ms,
  updatedMs: row.updated_ms,
  messageCount: row.message_count - row.context_after_seq - row.cut_count,
  loaded: row.loaded === 1,
  state: workstreams.find(row.ws_id, viewer)?.data.state ?? stateAfter(row.last_run_status),
  modelAlias: row.model_alias ?? models.current().alias,
  ...shareOf(readUsage(row, store)),
  userId: row.owner_id,
  visibility: row.visibility,
  ...kindOf({ kind: row.kind, parentWsId: row.parent_ws_id }),
});

/** Whether the name or title contains the word, ignoring case. */
function mentions(word: string) {
  const pattern = `%${word.replace(/[\\%_]/g, '\\$&')}%`;
  return sql<boolean>`lower(coalesce(alias, generated_name) || ' ' || coalesce(title, '')) like lower(${pattern}) escape '\\'`;
}
