import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** Of tables that are stored by key, and in order. */
const LEAVES: ReadonlySet<number | undefined> = new Set([10, 13]);

/** The numbers, from 1, of the leaf pages of these tables in a SQLite file. */
export function findLeafPages(file: string, tables: readonly string[]): number[] {
  const bytes = readFileSync(file);
  const pageBytes = bytes.readUInt16BE(16);
  return rootsOf(file, tables).flatMap((root) => [...leavesBelow(root, { bytes, pageBytes })]);
}

function rootsOf(file: string, tables: readonly string[]): number[] {
  using database = new DatabaseSync(file, { readOnly: true });
  const find = database.prepare("select rootpage from sqlite_schema where type = 'table' and name = ?");
  return tables.map((table) => Number(find.get(table)?.rootpage));
}

/** https://www.sqlite.org/fileformat2.html#b_tree_pages; page 1, whose header starts later, is the root of the schema. */
function* leavesBelow(page: number, file: { bytes: Buffer; pageBytes: number }): Iterable<number> {
  const { bytes, pageBytes } = file;
  const start = (page - 1) * pageBytes;
  if (LEAVES.has(bytes[start])) return yield page;
  for (let cell = 0; cell < bytes.readUInt16BE(start + 3); cell += 1) {
    const at = bytes.readUInt16BE(start + 12 + 2 * cell);
    yield* leavesBelow(bytes.readUInt32BE(start + at), file);
  }
  yield* leavesBelow(bytes.readUInt32BE(start + 8), file);
}
