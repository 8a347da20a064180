import type { CopiedTable } from './copied-tables.ts';
import type { FilesOfSide } from './files-of-side.ts';

/** A stored value in the form in which both databases are compared: numbers as decimal text. */
export type Cell = string | null;

/** The values of a row in the order of the table's columns. */
export type Cells = readonly Cell[];

export interface CopiedRows {
  rows: Cells[];
  /** How many of them were damaged where they were read. They are copied so that the copy reports the same damage. */
  damaged: number;
}

/** One of the two databases of a copy. */
export interface CopySide {
  /** For people: the path of a file, or the address of a database without a user and password. */
  readonly place: string;
  /** Changes with each daemon that writes to the store. */
  readonly state: string;
  readonly files: FilesOfSide;
  meta(): Promise<Map<string, string>>;
  /** Sets values of `meta` and removes others (`undefined`), in one transaction that is on disk when this resolves. */
  changeMeta(values: ReadonlyMap<string, string | undefined>): Promise<void>;
  count(table: CopiedTable): Promise<number>;
  /** The next rows in the order of the key: up to `MAX_ROWS`, and not many more bytes than `MAX_BYTES`. None: the end. */
  read(table: CopiedTable, after: Cells | undefined): Promise<CopiedRows>;
  /** The key of the last row, to continue after it. */
  lastKey(table: CopiedTable): Promise<Cells | undefined>;
  /** All of the rows or none. */
  insert(table: CopiedTable, rows: readonly Cells[]): Promise<void>;
  /** Removes all rows, and the files in the database. */
  clear(tables: readonly CopiedTable[]): Promise<void>;
  /** All rows are there: the numbers that the database itself gives continue after them. */
  finish(tables: readonly CopiedTable[]): Promise<void>;
  close(): Promise<void>;
}

/** Where a copy is, for people. */
export interface CopyProgress {
  phase: 'copying' | 'verifying' | 'files';
  /** The table, or the kind of the files. */
  table: string;
  /** Of all tables, with the rows of earlier attempts; or files. */
  rows: number;
  total: number;
}

export interface CopyOptions {
  source: CopySide;
  target: CopySide;
  /** Stops between two batches. */
  signal: AbortSignal;
  onProgress(progress: CopyProgress): void;
}

/** A copy cannot begin or continue. The message says why, and nothing was changed. */
export class CopyRefused extends Error {
  override readonly name = 'CopyRefused';
}

/** Limits of what is in memory at once. */
export const MAX_ROWS = 2_000;
export const MAX_BYTES = 4 * 1_048_576;

export const keyOf = (table: CopiedTable, row: Cells): Cells => row.slice(0, table.keyLength);

export const quoted = (name: string): string => `"${name}"`;

/** The columns of the table, or of its key, for SQL. */
export const columnList = ({ columns }: Pick<CopiedTable, 'columns'>): string =>
  columns.map(({ name }) => quoted(name)).join(', ');

export const keyList = ({ columns, keyLength }: CopiedTable): string =>
  columnList({ columns: columns.slice(0, keyLength) });
