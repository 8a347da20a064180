import type { Log } from '../../../log.ts';
import { MIGRATIONS, migrate } from '../schema/migrations.ts';
import { openConnection } from '../sqlite/sqlite-connection.ts';

type ColumnKind = 'text' | 'integer' | 'real';

export interface CopiedColumn {
  name: string;
  kind: ColumnKind;
}

/** A table of every store, whichever database it is in. */
export interface CopiedTable {
  name: string;
  /** The columns of the primary key come first, in the order of the key. */
  columns: readonly CopiedColumn[];
  keyLength: number;
}

/** The schema that stores must have to be copied. */
export const newestVersion = (): number => MIGRATIONS.at(-1)?.version ?? 0;

/** All tables of the newest schema but `meta`, from an empty database, so that a new table is never forgotten. */
export function listCopiedTables(): CopiedTable[] {
  const connection = openConnection(':memory:');
  try {
    migrate(connection, { path: ':memory:', log: silent });
    return connection.all(LIST_TABLES).map(({ name, type }) => {
      const columns = connection.all('select name, type, pk from pragma_table_info(?)', [name]);
      const byNumber = type === 'virtual' || IN_ORDER.has(String(name));
      return byNumber ? numberedTable(String(name), columns) : plainTable(String(name), columns);
    });
  } finally {
    connection.close();
  }
}

/** `shadow` tables belong to the indexes of words. */
const LIST_TABLES = `select name, type from pragma_table_list
  where schema = 'main' and type in ('table', 'virtual') and name not like 'sqlite\\_%' escape '\\' and name <> 'meta'
  order by name`;

type Row = Record<string, unknown>;

function plainTable(name: string, columns: readonly Row[]): CopiedTable {
  const key = columns.filter(({ pk }) => Number(pk) > 0).sort((a, b) => Number(a.pk) - Number(b.pk));
  if (key.length === 0) throw new Error(`the table ${name} has no primary key`);
  const others = columns.filter(({ pk }) => Number(pk) === 0);
  return { name, columns: [...key, ...others].map(toColumn), keyLength: key.length };
}

/** Tables whose rows are read in the order of their insertion, which the key does not tell. */
const IN_ORDER = new Set(['sub_agents']);

/** A table whose rows have numbers. Of an index of words, the rows are copied, and the other database finds the words in them. */
const numberedTable = (name: string, columns: readonly Row[]): CopiedTable => ({
  name,
  columns: [{ name: 'rowid', kind: 'integer' }, ...columns.map(toColumn)],
  keyLength: 1,
});

function toColumn({ name, type }: Row): CopiedColumn {
  const kind = KINDS.get(String(type).toLowerCase());
  if (kind === undefined) throw new Error(`the column ${String(name)} has the unknown type ${String(type)}`);
  return { name: String(name), kind };
}

const KINDS = new Map<string, ColumnKind>([
  ['text', 'text'],
  ['', 'text'], // in indexes of words
  ['integer', 'integer'],
  ['bigint', 'integer'],
  ['real', 'real'],
]);

const nothing = () => undefined;
const silent: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
