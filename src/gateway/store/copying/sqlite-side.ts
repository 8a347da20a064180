import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { wordsOf } from '../../../../protocol/words-of.ts';
import type { Log } from '../../../log.ts';
import { iterateEvents } from '../compaction/stored-events.ts';
import { migrate, schemaOf } from '../schema/migrations.ts';
import { openPrepared } from '../sqlite/damage.ts';
import { type Connection, openConnection, openReadingConnection } from '../sqlite/sqlite-connection.ts';
import { faultOf } from '../sqlite/sqlite-errors.ts';
import { UPSERT_META } from '../store-identity.ts';
import { type CopiedColumn, type CopiedTable, newestVersion } from './copied-tables.ts';
import {
  type Cell,
  type Cells,
  type CopiedRows,
  CopyRefused,
  type CopySide,
  columnList,
  keyList,
  MAX_BYTES,
  MAX_ROWS,
  quoted,
} from './copy-side.ts';
import { filesOfHome } from './home-files.ts';

/** The file of a home from which a store is copied. Reading does not change it. */
export function openSqliteSource(path: string): CopySide {
  if (!existsSync(path)) throw new CopyRefused(`There is no store at ${path}.`);
  requireVersion(path, versionIn(path));
  const connection = openReadingConnection(path);
  try {
    const left = connection.all("select value from meta where key = 'clean_stop'");
    if (left[0]?.value === '0')
      throw new CopyRefused(
        `The daemon of ${path} did not stop in an orderly way. Start it again, so that it checks its store, and stop it.`,
      );
    const { size, mtimeMs } = statSync(path);
    return sideOver(connection, { path, state: `${size} ${mtimeMs}` });
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** The file of a home that becomes the copy; it is created if there is none. */
export function openSqliteTarget(path: string, log: Log): CopySide {
  const found = existsSync(path) && statSync(path).size > 0 ? versionIn(path) : 0;
  if (found > 0) requireVersion(path, found);
  const { connection } = openPrepared(path, (opened) => migrate(opened, { path, log }));
  return sideOver(connection, { path, state: '' });
}

function versionIn(path: string): number {
  let connection: Connection | undefined;
  try {
    connection = openReadingConnection(path);
    return schemaOf(connection.all).version;
  } catch (error) {
    if (faultOf(error) !== 'damaged') throw error;
    throw new CopyRefused(`${path} is damaged: ${wordsOf(error)}. Restore a backup of it.`, { cause: error });
  } finally {
    connection?.close();
  }
}

/** Both databases must have the same tables. */
export function requireVersion(place: string, found: number): void {
  const newest = newestVersion();
  if (found === newest) return;
  if (Number.isNaN(found)) throw new CopyRefused(`${place} is damaged: it does not say which schema version it has.`);
  throw new CopyRefused(
    found > newest
      ? `${place} has schema version ${found}, but this Headgate knows versions up to ${newest}. Use the newer Headgate that wrote it.`
      : `${place} has schema version ${found}, but this Headgate copies version ${newest}. Start the daemon there once, so that it migrates the store, and stop it.`,
  );
}

function sideOver(connection: Connection, { path, state }: { path: string; state: string }): CopySide {
  return {
    place: path,
    state,
    files: filesOfHome(dirname(path)),
    meta: async () =>
      new Map(connection.all('select key, value from meta').map((row) => [String(row.key), String(row.value)])),
    changeMeta: async (values) => changeMeta(path, values),
    count: async ({ name }) => Number(connection.all(`select count(*) as n from ${quoted(name)}`)[0]?.n),
    read: async (table, after) => readRows(connection, table, after),
    async lastKey(table) {
      const key = keyList(table);
      const sql = `select ${key} from ${quoted(table.name)} order by ${descending(table)} limit 1`;
      const [row] = [...connection.iterateStored(sql)];
      return (
        row && table.columns.slice(0, table.keyLength).map((column) => toCell(row[column.name], column, table.name))
      );
    },
    insert: async (table, rows) => insertRows(connection, table, rows),
    async clear(tables) {
      connection.run('begin immediate');
      for (const { name } of tables) connection.run(`delete from ${quoted(name)}`);
      connection.run('commit');
    },
    finish: async () => undefined, // it numbers rows by the largest number there is
    close: async () => connection.close(),
  };
}

function readRows(connection: Connection, table: CopiedTable, after: Cells | undefined): CopiedRows {
  const found: CopiedRows = { rows: [], damaged: 0 };
  let bytes = 0;
  for (const row of rowsAfter(connection, table, after)) {
    if (isLostBlock(table, row)) {
      row.body_json = ''; // no checksum fits an empty body, so that the copy is as damaged
      found.damaged += 1;
    }
    const cells = table.columns.map((column) => toCell(row[column.name], column, table.name));
    found.rows.push(cells);
    bytes += cells.reduce((sum, cell) => sum + (cell?.length ?? 0), 0);
    if (bytes >= MAX_BYTES) break;
  }
  return found;
}

type Row = Record<string, unknown>;

/** Events with the bodies of their blocks, whose compression only SQLite's store knows. */
function rowsAfter(connection: Connection, table: CopiedTable, after: Cells = []): Iterable<Row> {
  const key = keyList(table);
  const where = after.length === 0 ? '' : `where (${key}) > (${after.map(() => '?').join(', ')})`;
  const sql = `select ${columnList(table)} from ${quoted(table.name)} ${where} order by ${key} limit ${MAX_ROWS}`;
  const parameters = after.map((cell, at) => toValue(cell, table.columns[at]));
  return table.name === EVENTS ? iterateEvents(connection, sql, parameters) : connection.iterateStored(sql, parameters);
}

const EVENTS = 'events';
const isLostBlock = ({ name }: CopiedTable, row: Row): boolean =>
  name === EVENTS && row.body_json instanceof Uint8Array;

const descending = ({ columns, keyLength }: CopiedTable): string =>
  columns
    .slice(0, keyLength)
    .map(({ name }) => `${quoted(name)} desc`)
    .join(', ');

/** In a connection of its own, because the one that reads a source cannot write. */
function changeMeta(path: string, values: ReadonlyMap<string, string | undefined>): void {
  const connection = openConnection(path);
  try {
    connection.run('begin immediate');
    for (const [key, value] of values) {
      if (value === undefined) connection.run('delete from meta where key = ?', [key]);
      else connection.run(UPSERT_META, [key, value]);
    }
    connection.run('commit');
  } finally {
    connection.close();
  }
}

function insertRows(connection: Connection, table: CopiedTable, rows: readonly Cells[]): void {
  const sql = `insert into ${quoted(table.name)} (${columnList(table)}) values (${table.columns.map(() => '?').join(', ')})`;
  connection.run('begin immediate');
  try {
    for (const row of rows)
      connection.run(
        sql,
        row.map((cell, at) => toValue(cell, table.columns[at])),
      );
    connection.run('commit');
  } catch (error) {
    if (connection.database.isTransaction) connection.run('rollback');
    throw error;
  }
}

/** PostgreSQL has no NUL characters in texts, and no fractions in columns of integers (decision 172). */
function toCell(value: unknown, { name, kind }: CopiedColumn, table: string): Cell {
  if (value === null) return null;
  if (kind === 'text' && typeof value === 'string') return value.replaceAll('\0', '\uFFFD');
  if (kind === 'integer' && typeof value === 'bigint') return value.toString();
  if (kind === 'integer' && typeof value === 'number') return String(Math.round(value));
  if (kind === 'real' && (typeof value === 'number' || typeof value === 'bigint')) return String(Number(value));
  throw new Error(`a value in the column ${name} of ${table} is damaged`);
}

function toValue(cell: Cell, column: CopiedColumn | undefined): Cell | bigint | number {
  if (cell === null || column?.kind === 'text') return cell;
  return column?.kind === 'integer' ? BigInt(cell) : Number(cell);
}
