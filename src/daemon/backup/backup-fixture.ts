import { mkdir, mkdtempDisposable, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MIGRATIONS } from '../../gateway/store/schema/migrations.ts';
import { makeBackup } from './make-backup.ts';

export const NOW_MS = Date.UTC(2026, 10, 27, 23, 45);
/** Nothing ends it. */
export const GOING_ON = new AbortController().signal;
export const NEWEST = MIGRATIONS.at(-1)?.version ?? 0;
export const LONG = `skills/${'deep/'.repeat(30)}größe.md`;

export interface Stage extends AsyncDisposable {
  folder: string;
  home: string;
  archive: string;
}

/** A home with one file of every kind. */
export async function openStage({
  folder: given,
  schema = NEWEST,
}: {
  folder?: string;
  schema?: number;
} = {}): Promise<Stage> {
  const temporary = await mkdtempDisposable(path.join(tmpdir(), 'headgate-backup-'));
  const folder = given ?? temporary.path;
  const home = path.join(folder, 'home');
  await mkdir(home, { mode: 0o700 });
  fillDatabase(path.join(home, 'headgate.db'), schema);
  const files = {
    token: 'svc_1',
    'config.json': '{}',
    'headgate-key': `hgk_${'0a'.repeat(32)}\n`,
    'attachments/att_1': 'bytes of a file',
    'attachments/att_2.part': 'unfinished',
    [LONG]: 'a skill',
    'skills/page.html.part': 'a template',
    'git/x': 'temporary',
    'headgate-backup-20261126-234500.tar.gz': 'in the wrong place',
    'workspace/mine.txt': 'my own',
    'compiled/x': 'cache',
    'headgate.db.bak-v3': 'older',
    'something-new.json': 'of a later version',
  };
  for (const [name, text] of Object.entries(files)) await write(path.join(home, name), text);
  return { folder, home, archive: path.join(folder, 'a.tar.gz'), [Symbol.asyncDispose]: () => temporary.remove() };
}

export async function write(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text, { mode: 0o600 });
}

function fillDatabase(file: string, schema: number): void {
  using database = new DatabaseSync(file);
  database.exec(`pragma journal_mode = wal; create table meta (key text primary key, value text) strict;
    insert into meta values ('epoch', 'former'), ('schema_version', '${schema}');
    create table store_keys (machine_id text); create table facts (n integer)`);
}

export const options = ({ home, archive }: Stage) => ({
  home,
  environment: {},
  target: archive,
  version: '9.9.9',
  nowMs: NOW_MS,
  signal: GOING_ON,
});
export const backUp = (stage: Stage) => makeBackup(options(stage));

export const epochIn = (home: string): unknown => {
  using database = new DatabaseSync(path.join(home, 'headgate.db'), { readOnly: true });
  return database.prepare("select value from meta where key = 'epoch'").get()?.value;
};

/** Every file below a folder with its text; of databases only the name. */
export async function contentOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const texts = files
    .sort()
    .map(async (file) => [
      path.relative(folder, file),
      file.includes('headgate.db') ? '' : await readFile(file, 'utf8'),
    ]);
  return Object.fromEntries(await Promise.all(texts));
}
