import { GatewayError } from '../../../protocol/errors.ts';
import { wrongField } from '../../../protocol/parse.ts';
import type { Effort } from '../../../protocol/stream-events.ts';
import { generatedName, toIdPrefix } from '../../../protocol/text/generated-name.ts';
import type { FolderIdentity } from '../../agent/tools/files/held-folder.ts';
import type { RunCoordinators } from '../coordinators/coordinator-run.ts';
import { DAEMON, type Owned, perceivedBy, type Viewer } from '../sharing/perception.ts';
import { DELETED } from '../store/deletion.ts';
import type { TreeColumns } from '../store/schema/coordinators/coordinator-schema.ts';
import type { WorkstreamTable } from '../store/schema/schema.ts';
import { build, statementOf } from '../store/statements.ts';
import { type Statement, type Store, tookEffect, UnitRefused } from '../store/store.ts';
import { toLabelColumn } from '../workers/can-own.ts';
import { hostedBy, requireHere } from '../workers/elsewhere.ts';
import { type Always, toAlwaysColumns } from './always.ts';
import { ambiguousName, kindOfKey, nameTaken } from './session-keys.ts';

export interface NewWorkstream {
  wsId: string;
  owned: Owned;
  sessionKey?: string | undefined;
  /** The name given by a person; not unique. */
  name?: string | undefined;
  /** The name until a person gives one; default: derived from the ws_id. */
  generatedName?: string | undefined;
  alias?: string;
  model?: string;
  always?: Always | undefined;
  isReadOnly?: boolean;
  effort?: Effort | undefined;
  workdir: string;
  workdirIno?: string | null;
  readable?: readonly FolderIdentity[];
  judgeModel?: string | undefined;
  /** Default: any machine can have it. */
  machineLabels?: readonly string[] | undefined;
  /** Default: an ordinary workstream that works for nobody. */
  tree?: TreeColumns;
  /** 0: stored without being loaded (a saved copy). */
  loaded?: 0 | 1;
  nowMs: number;
}

export const toWorkstreamRow = (made: NewWorkstream): WorkstreamTable => ({
  ws_id: made.wsId,
  machine: null,
  machine_labels: toLabelColumn(made.machineLabels),
  session_key: made.sessionKey ?? null,
  alias: made.alias ?? null,
  generated_name: made.name ?? made.generatedName ?? generatedName(made.wsId),
  title: made.generatedName ?? null,
  model_alias: made.model ?? null,
  ...toAlwaysColumns(made.always),
  read_only: made.isReadOnly ? 1 : 0,
  thinking_level: made.effort ?? null,
  verbose_level: null,
  workdir: made.workdir,
  workdir_ino: made.workdirIno ?? null,
  readable_json: JSON.stringify(made.readable ?? []),
  loaded: made.loaded ?? 1,
  context_after_seq: 0,
  message_count: 0,
  cut_count: 0,
  usage_json: null,
  run_epoch: 1,
  last_run_status: null,
  tool_calls: 0,
  judge_model: made.judgeModel ?? null,
  created_ms: made.nowMs,
  updated_ms: made.nowMs,
  owner_id: made.owned.ownerId,
  visibility: made.owned.visibility,
  ...(made.tree ?? ALONE),
});

const ALONE: TreeColumns = { kind: 'interactive', parent_ws_id: null, spawn_key: null };

/** Tagged if the row has an alias, which is unique among those of its owner that are as visible. */
export function insertWorkstream(row: WorkstreamTable): Statement {
  const insert = statementOf(build.insertInto('workstreams').values(row), 1);
  return row.alias === null ? insert : writesAlias(insert);
}

const ALIAS = 'alias';

/** Tags a statement that writes an alias, for `isNameTaken`. */
export const writesAlias = (statement: Statement): Statement => ({ ...statement, tag: ALIAS });

/** Whether a unit was refused because its alias is in use. */
export const isNameTaken = (error: unknown): error is UnitRefused =>
  error instanceof UnitRefused && error.tag === ALIAS && error.why === 'key';

/** An alias in use, in words. */
const toNameError = (error: unknown): unknown => (isNameTaken(error) ? nameTaken(error) : error);

/** Why a new workstream was refused. `wsId`: the id that the caller chose. */
export const toCreateError = (error: unknown, { wsId }: { wsId?: string | undefined }): unknown =>
  wsId !== undefined && isKeyTaken(error) ? idTaken(error) : toNameError(error);

/** Whether a unit was refused because a row with its key exists. */
const isKeyTaken = (error: unknown): boolean =>
  error instanceof UnitRefused && error.why === 'key' && error.tag === undefined;

const idTaken = (cause?: unknown): GatewayError => new GatewayError('CONFLICT', 'Workstream already exists', { cause });

/**
 * Refuses an id that a workstream has or had: what a deleted one has spent, and its budget, stay stored under its id.
 */
export async function requireUnusedId(wsId: string, { db }: Pick<Store, 'db'>): Promise<void> {
  if (kindOfKey(wsId) !== 'wsId') throw wrongField('wsId', 'must have 32 digits from 0-9 and a-f');
  for (const table of ['workstreams', 'usage', 'workstream_budgets'] as const) {
    const row = await db.selectFrom(table).select('ws_id').where('ws_id', '=', wsId).limit(1).executeTakeFirst();
    if (row) throw idTaken();
  }
}

/** Marks a stored workstream as open; refused when it does not exist or is being deleted. */
const openRow = (wsId: string): Statement =>
  statementOf(
    build.updateTable('workstreams').set({ loaded: 1 }).where('ws_id', '=', wsId).where('loaded', '!=', DELETED),
    1,
  );

/** Those of this machine that are open, and those of these ids. */
export async function readOpen(store: Store, ids: Iterable<string>): Promise<WorkstreamTable[]> {
  const rows = await store.db
    .selectFrom('workstreams')
    .selectAll()
    .where('loaded', '=', 1)
    .where(hostedBy(store))
    .orderBy('created_ms')
    .execute();
  for (const wsId of ids) {
    const row = rows.some(({ ws_id }) => ws_id === wsId) ? undefined : await readById(store, wsId, DAEMON);
    if (row) rows.push(row);
  }
  return rows;
}

/** Throws Elsewhere for one that another machine has, as the other look-ups do. */
export const readById = async (store: Store, wsId: string, viewer: Viewer): Promise<WorkstreamTable | undefined> =>
  requireHere(await readAnywhere(store, wsId, viewer), store);

/** Also one that another machine has, for what the database alone answers. */
export const readAnywhere = (
  { db }: Pick<Store, 'db'>,
  wsId: string,
  viewer: Viewer,
): Promise<WorkstreamTable | undefined> =>
  db
    .selectFrom('workstreams')
    .selectAll()
    .where('ws_id', '=', wsId)
    .where('loaded', '!=', DELETED)
    .where(perceivedBy(viewer))
    .executeTakeFirst();

/** By session key, alias or id. Throws CONFLICT when several that the viewer perceives have the key. */
export const readByKey = async (store: Store, key: string, viewer: Viewer): Promise<WorkstreamTable | undefined> =>
  requireHere(await readByKeyAnywhere(store, key, viewer), store);

/** Also one that another machine has. */
export async function readByKeyAnywhere(
  store: Store,
  key: string,
  viewer: Viewer,
): Promise<WorkstreamTable | undefined> {
  if (kindOfKey(key) === 'wsId') return readAnywhere(store, key, viewer);
  return onlyOne(key, await readNamed(store, key, viewer));
}

/** Those with this session key or alias, including those that are being deleted, whose keys are not free yet. */
export const readNamed = (store: Store, key: string, viewer: Viewer): Promise<WorkstreamTable[]> =>
  store.db
    .selectFrom('workstreams')
    .selectAll()
    .where((where) => where.or([where('session_key', '=', key), where('alias', '=', key)]))
    .where(perceivedBy(viewer))
    .limit(MAX_MEANT)
    .execute();

/**
 * Finds a workstream by exact alias, session key or id, then by the name it was created with or the beginning of its
 * id, of which it needs three characters. Throws CONFLICT with the ids when several that the viewer perceives match.
 */
export async function readByName(store: Store, name: string, viewer: Viewer): Promise<WorkstreamTable | undefined> {
  const perceived = store.db
    .selectFrom('workstreams')
    .selectAll()
    .where('loaded', '!=', DELETED)
    .where(perceivedBy(viewer))
    .limit(MAX_MEANT);
  const exact = await perceived
    .where((where) => where.or([where('alias', '=', name), where('session_key', '=', name), where('ws_id', '=', name)]))
    .execute();
  if (exact.length > 0) return requireHere(onlyOne(name, exact), store);
  const prefix = toIdPrefix(name);
  const isPrefix = /^[0-9a-f]{3,32}$/.test(prefix);
  const meant = await perceived
    .where((where) =>
      where.or([where('generated_name', '=', name), ...(isPrefix ? [where('ws_id', 'like', `${prefix}%`)] : [])]),
    )
    .orderBy('updated_ms', 'desc')
    .execute();
  return requireHere(onlyOne(name, meant), store);
}

/** Whether `readByName` does not look for ids that begin with it. */
export const isShortPrefix = (name: string): boolean => /^[0-9a-f]{1,2}$/.test(toIdPrefix(name));

function onlyOne(name: string, found: readonly WorkstreamTable[]): WorkstreamTable | undefined {
  const [first, ...others] = found.length > 1 ? found.filter(({ loaded }) => loaded !== DELETED) : found;
  if (first === undefined || others.length === 0) return first;
  throw ambiguousName(
    name,
    [first, ...others].map(({ ws_id }) => ws_id),
  );
}

/** The maximum number of matches to list. */
const MAX_MEANT = 20;

/** A stored workstream, as its coordinator is told of it. */
export const toTold = ({ ws_id, alias, generated_name, parent_ws_id, owner_id, visibility }: WorkstreamTable) => ({
  wsId: ws_id,
  name: alias ?? generated_name,
  parentWsId: parent_ws_id,
  ownerId: owner_id,
  visibility,
});

interface Telling {
  store: Store;
  coordinators: Pick<RunCoordinators, 'news'>;
}

/** Marks a workstream that is not loaded as deleted. False when it does not exist. */
export async function markGone(
  wsId: string,
  marks: readonly Statement[],
  { store, coordinators: { news } }: Telling,
): Promise<boolean> {
  const row = await readById(store, wsId, DAEMON);
  // Of a closed one, its coordinator has heard.
  const elsewhere = row?.loaded === 2 ? news.ofClosed(toTold(row)) : [];
  const isGone = await tookEffect(store.commit({ statements: marks, elsewhere }));
  if (isGone) news.forget(wsId);
  return isGone;
}

/** Marks a workstream as loaded. Undefined when it does not exist. */
export async function openStored(
  wsId: string,
  { store, coordinators: { news } }: Telling,
): Promise<WorkstreamTable | undefined> {
  const before = await readById(store, wsId, DAEMON);
  const elsewhere = before?.loaded === 0 ? news.ofCreated(toTold(before)) : [];
  const isThere = await tookEffect(store.commit({ statements: [openRow(wsId)], elsewhere }));
  return isThere ? readById(store, wsId, DAEMON) : undefined;
}
