import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Values that differ between machines and runs, by placeholder: `{{ROOT}}` is the folder that contains the home. */
export type Placeholders = Readonly<Record<string, string>>;

export const DATABASE = 'home/headgate.db';

/** Returns the database as SQL text, with rows in the order of their keys. */
export function dumpDatabase(file: string): string {
  using database = new DatabaseSync(file, { readOnly: true });
  const schema = database.prepare(
    "select type, name, sql from sqlite_schema where sql is not null and name not like 'sqlite_%'",
  );
  const parts = schema.all();
  const of = (type: string) => parts.filter((part) => part.type === type);
  // A search index creates the tables in which it keeps its rows, and is joined by its row ids.
  const kinds = new Map(
    database
      .prepare('select name, type from pragma_table_list')
      .all()
      .map(({ name, type }) => [name, type]),
  );
  const tables = of('table').filter(({ name }) => kinds.get(name) !== 'shadow');
  const rows = tables.flatMap(({ name }) =>
    kinds.get(name) === 'virtual' ? indexedRowsOf(database, String(name)) : rowsOf(database, String(name)),
  );
  return [...tables.map(({ sql }) => sql), ...rows, ...of('index').map(({ sql }) => sql)]
    .map((statement) => `${statement};\n`)
    .join('');
}

function rowsOf(database: DatabaseSync, table: string): string[] {
  const columns = database.prepare(`pragma table_info(${table})`).all();
  const names = columns.map(({ name }) => `"${name}"`);
  const keys = columns.filter(({ pk }) => Number(pk) > 0).sort((a, b) => Number(a.pk) - Number(b.pk));
  const order = keys.length > 0 ? ` order by ${keys.map(({ name }) => `"${name}"`).join(', ')}` : '';
  const values = names.map((name) => `quote(${name})`).join(` || ', ' || `);
  const rows = database.prepare(`select ${values} as row from ${table}${order}`).all();
  return rows.length === 0 ? [] : [`insert into ${table} values\n${rows.map(({ row }) => `(${row})`).join(',\n')}`];
}

function indexedRowsOf(database: DatabaseSync, table: string): string[] {
  const columns = [
    'rowid',
    ...database
      .prepare(`pragma table_info(${table})`)
      .all()
      .map(({ name }) => `"${name}"`),
  ];
  const values = columns.map((name) => `quote(${name})`).join(` || ', ' || `);
  const rows = database.prepare(`select ${values} as row from ${table} order by rowid`).all();
  return rows.map(({ row }) => `insert into ${table} (${columns.join(', ')}) values (${row})`);
}

/** Returns the relative paths of all files below `folder` that `isKept` accepts. */
export async function listFiles(folder: string, isKept: (file: string) => boolean = () => true): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
  return files.filter(isKept).sort();
}

/** Returns the inodes of a fixture's folders, in the form that columns and JSON use. */
export async function inodesOf(root: string): Promise<Placeholders> {
  const folders = { WORKSPACE: 'home/workspace', PROJECT: 'project', LENT: 'lent' };
  const entries = Object.entries(folders).map(async ([name, folder]) => {
    const { ino } = await stat(path.join(root, folder));
    return [
      [`INODE_OF_${name}`, `'${ino}'`],
      [`JSON_INODE_OF_${name}`, `"ino":"${ino}"`],
    ];
  });
  return Object.fromEntries((await Promise.all(entries)).flat());
}

/** Replaces values with placeholders, the longest first, because one value can contain another. */
export function hide(text: string, placeholders: Placeholders): string {
  const longestFirst = Object.entries(placeholders).sort(([, a], [, b]) => b.length - a.length);
  return longestFirst.reduce((hidden, [name, value]) => hidden.replaceAll(value, `{{${name}}}`), text);
}

/** Replaces placeholders with values. Unknown placeholders stay. */
export const show = (text: string, placeholders: Placeholders): string =>
  text.replaceAll(/\{\{([A-Z_]+)\}\}/g, (whole, name) => placeholders[name] ?? whole);

/** Copies files and applies `change` to those that are text. */
export async function copyFiles(
  { from, to, files }: { from: string; to: string; files: readonly string[] },
  change: (text: string) => string,
): Promise<void> {
  for (const file of files) {
    const [source, target] = [path.join(from, file), path.join(to, file)];
    const bytes = await readFile(source);
    await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
    const isText = !bytes.includes(0);
    await writeFile(target, isText ? change(bytes.toString()) : bytes, { mode: 0o600 });
    const { mtime } = await stat(source);
    await utimes(target, mtime, mtime);
  }
}
