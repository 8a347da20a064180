import { type CopiedTable, listCopiedTables } from './copied-tables.ts';
import { copyFiles, type FileCounts } from './copy-files.ts';
import { COPY_KEY, type CopyMark, parseMark } from './copy-mark.ts';
import { type Cells, type CopyOptions, CopyRefused, type CopySide, keyOf } from './copy-side.ts';
import { compareTables, type TableDigest } from './table-digests.ts';

export interface Copied {
  /** An earlier attempt had begun it. */
  isContinued: boolean;
  /** An earlier attempt had completed it, and only the source had not been told. */
  wasComplete: boolean;
  tables: TableDigest[];
  /** Rows that were damaged in the source. */
  damaged: number;
  files: FileCounts;
}

/**
 * Copies a store that no daemon uses into an empty database and compares both. A killed copy is continued by the next call.
 * The copy takes over the epoch, so that clients continue with their cursors; the source loses it, so that clients of a daemon
 * that is started there again reload instead of mixing up two histories.
 */
export async function copyStore(options: CopyOptions): Promise<Copied> {
  const { source, target } = options;
  const tables = listCopiedTables();
  const meta = await source.meta();
  if (parseMark(meta.get(COPY_KEY))?.isComplete === false)
    throw new CopyRefused(`${source.place} is itself an unfinished copy. Finish it first.`);
  const mark = { from: source.place, epoch: meta.get('epoch') ?? null, state: source.state };
  const found = await findBeginning(options, { tables, mark });
  if (found === 'complete') {
    await source.changeMeta(new Map([['epoch', undefined]]));
    return { isContinued: true, wasComplete: true, tables: [], damaged: 0, files: { files: 0, bytes: 0, missing: 0 } };
  }
  if (found === 'outdated') await target.clear(tables);
  await setMark(target, { ...mark, isComplete: false });
  await copyTables(options, tables);
  const { digests, different, damaged } = await compareTables(options, tables);
  if (different.length > 0) {
    await setMark(target, { ...mark, state: '', isComplete: false });
    throw new Error(
      `${target.place} differs from ${source.place} in ${different.join(', ')}. The next run copies everything again`,
    );
  }
  const files = await copyFiles(options, findTable(tables, 'attachments'));
  await target.finish(tables);
  await target.changeMeta(completeMeta(meta, { ...mark, isComplete: true }));
  await source.changeMeta(new Map([['epoch', undefined]]));
  return { isContinued: found === 'begun', wasComplete: false, tables: digests, damaged, files };
}

function findTable(tables: readonly CopiedTable[], name: string): CopiedTable {
  const found = tables.find((table) => table.name === name);
  if (found === undefined) throw new Error(`there is no table ${name}`);
  return found;
}

type Beginning = 'empty' | 'begun' | 'outdated' | 'complete';

interface Known {
  tables: readonly CopiedTable[];
  mark: Omit<CopyMark, 'isComplete'>;
}

async function findBeginning({ target }: CopyOptions, { tables, mark }: Known): Promise<Beginning> {
  const before = parseMark((await target.meta()).get(COPY_KEY));
  if (before?.isComplete === false) {
    if (before.epoch === mark.epoch) return before.state === mark.state ? 'begun' : 'outdated';
    throw new CopyRefused(
      `${target.place} holds an unfinished copy of another store, ${before.from}. Use an empty database instead of it.`,
    );
  }
  if (before && mark.epoch !== null && before.epoch === mark.epoch) {
    if (before.state === mark.state) return 'complete';
    throw new CopyRefused(
      `${target.place} holds a complete copy of ${before.from}, which was used since. Use an empty database instead of it, or go on with the copy.`,
    );
  }
  await requireEmpty(target, tables);
  return 'empty';
}

async function requireEmpty(target: CopySide, tables: readonly CopiedTable[]): Promise<void> {
  for (const table of tables)
    if ((await target.count(table)) > 0)
      throw new CopyRefused(
        `${target.place} is not empty: it has rows in ${table.name}. A store can be copied only into an empty database.`,
      );
}

const setMark = (target: CopySide, mark: CopyMark): Promise<void> =>
  target.changeMeta(new Map([[COPY_KEY, JSON.stringify(mark)]]));

/** Of one database alone: its schema, how it was left, and who uses it. */
const NOT_COPIED = new Set([
  COPY_KEY,
  'schema_version',
  'schema_usable_from',
  'boot_id',
  'clean_stop',
  'durability',
  'probe',
  'last_group',
  'owner',
  'postgres_functions',
]);

const completeMeta = (meta: ReadonlyMap<string, string>, mark: CopyMark): Map<string, string> =>
  new Map([...[...meta].filter(([key]) => !NOT_COPIED.has(key)), [COPY_KEY, JSON.stringify(mark)]]);

async function copyTables(options: CopyOptions, tables: readonly CopiedTable[]): Promise<void> {
  const { source, target, signal, onProgress } = options;
  const total = await countAll(source, tables);
  let rows = await countAll(target, tables);
  for (const table of tables) {
    let after: Cells | undefined = await target.lastKey(table);
    for (;;) {
      signal.throwIfAborted();
      onProgress({ phase: 'copying', table: table.name, rows, total });
      const batch = await source.read(table, after);
      const last = batch.rows.at(-1);
      if (last === undefined) break;
      await target.insert(table, batch.rows);
      after = keyOf(table, last);
      rows += batch.rows.length;
    }
  }
}

async function countAll(side: CopySide, tables: readonly CopiedTable[]): Promise<number> {
  let sum = 0;
  for (const table of tables) sum += await side.count(table);
  return sum;
}
