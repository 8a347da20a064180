import { createHash } from 'node:crypto';
import type { CopiedTable } from './copied-tables.ts';
import { type Cells, type CopyOptions, type CopySide, keyOf } from './copy-side.ts';

/** What a table holds, equal in both databases. */
export interface TableDigest {
  name: string;
  rows: number;
  /** SHA-256 of all rows in the order of the key. */
  sha256: string;
}

interface Comparison {
  digests: TableDigest[];
  /** Names of tables that are not equal. */
  different: string[];
  damaged: number;
}

/** Reads all tables of both databases. */
export async function compareTables(options: CopyOptions, tables: readonly CopiedTable[]): Promise<Comparison> {
  const { source, target, signal, onProgress } = options;
  const result: Comparison = { digests: [], different: [], damaged: 0 };
  let total = 0;
  for (const table of tables) total += await source.count(table);
  let rows = 0;
  for (const table of tables) {
    const onRows = (more: number) => {
      rows += more;
      onProgress({ phase: 'verifying', table: table.name, rows, total });
    };
    const [expected, found] = await Promise.all([
      digestOf(source, table, { signal, onRows }),
      digestOf(target, table, { signal, onRows: () => undefined }),
    ]);
    result.digests.push({ name: table.name, rows: expected.rows, sha256: expected.sha256 });
    result.damaged += expected.damaged;
    if (expected.sha256 !== found.sha256) result.different.push(table.name);
  }
  return result;
}

interface DigestOptions extends Pick<CopyOptions, 'signal'> {
  onRows(count: number): void;
}

async function digestOf(side: CopySide, table: CopiedTable, { signal, onRows }: DigestOptions) {
  const hash = createHash('sha256');
  let [rows, damaged] = [0, 0];
  let after: Cells | undefined;
  for (;;) {
    signal.throwIfAborted();
    const batch = await side.read(table, after);
    const last = batch.rows.at(-1);
    if (last === undefined) return { rows, damaged, sha256: hash.digest('hex') };
    for (const row of batch.rows) hash.update(`${JSON.stringify(row)}\n`);
    after = keyOf(table, last);
    rows += batch.rows.length;
    damaged += batch.damaged;
    onRows(batch.rows.length);
  }
}
