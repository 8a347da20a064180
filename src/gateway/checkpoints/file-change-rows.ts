import { isRecord } from '../../../protocol/is-record.ts';
import type { FileChange } from '../../agent/checkpoints/plan-files.ts';
import type { FolderIdentity } from '../../agent/tools/files/held-folder.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';
import { storedReader } from '../store/stored-value.ts';
import { inHosted } from '../workers/elsewhere.ts';

/** A change of files that is decided. It is stored before the first file changes, so that a restart can go on with it. */
export interface StoredChange {
  changeId: string;
  roots: readonly FolderIdentity[];
  changes: readonly FileChange[];
  /** What people are told once it is made; absent in rows from before, which were announced at once. */
  note?: string;
}

const isBody = (value: unknown): value is Omit<StoredChange, 'changeId'> =>
  isRecord(value) &&
  Array.isArray(value.roots) &&
  Array.isArray(value.changes) &&
  (value.note === undefined || typeof value.note === 'string');

/** Refused if another change of the workstream is not complete yet. */
export const insertChange = (wsId: string, { changeId, ...body }: StoredChange): Statement =>
  statementOf(
    build.insertInto('file_changes').values({ ws_id: wsId, change_id: changeId, body_json: JSON.stringify(body) }),
    1,
  );

export const deleteChange = (wsId: string): Statement =>
  statementOf(build.deleteFrom('file_changes').where('ws_id', '=', wsId));

/** Undefined if there is none, or it cannot be read. */
export async function findChange(
  store: Pick<Store, 'db' | 'reportDamage'>,
  wsId: string,
): Promise<StoredChange | undefined> {
  const row = await store.db.selectFrom('file_changes').selectAll().where('ws_id', '=', wsId).executeTakeFirst();
  const body = row && storedReader(store)(row.body_json, `the change of files in ${wsId}`, isBody);
  return row && body && { ...body, changeId: row.change_id };
}

/** The workstreams with a change that is not complete. */
export const readChanging = async (store: Pick<Store, 'db' | 'machine'>): Promise<string[]> =>
  (await store.db.selectFrom('file_changes').select('ws_id').where(inHosted(store)).execute()).map(
    ({ ws_id }) => ws_id,
  );
