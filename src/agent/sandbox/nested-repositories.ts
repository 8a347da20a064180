import { lstat, readdir } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import type { HeldFolder } from '../tools/files/held-folder.ts';
import { openBelow } from '../tools/files/walk.ts';
import { SAFE_READ } from './held-paths.ts';

/** A search of every folder would delay each command. */
const MOST_LEVELS = 3;
const MOST_FOLDERS = 200;
const MOST_REPOSITORIES = 30;
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', '.git']);

/** What git obeys of a repository inside a root. */
export interface NestedRepository {
  /** The folder with its settings, or a file that names another one. Relative to the root; empty: the root is the folder. */
  place: string;
  kind: 'folder' | 'file' | 'working tree';
}

/** The repositories inside a root, except for its own; as many as a bounded search finds. */
export async function findNested(way: string): Promise<NestedRepository[]> {
  const found: NestedRepository[] = [];
  let left = MOST_FOLDERS;
  let level = [''];
  for (let depth = 0; depth <= MOST_LEVELS && level.length > 0; depth += 1) {
    const folders = level.slice(0, left);
    left -= folders.length;
    const looks = await Promise.all(folders.map((folder) => look(way, folder)));
    found.push(...looks.flatMap(({ repositories }) => repositories));
    level = looks.flatMap((each) => each.folders);
  }
  return [...(await findInside(way)), ...found].slice(0, MOST_REPOSITORIES);
}

interface Look {
  folders: string[];
  repositories: NestedRepository[];
}

async function look(way: string, folder: string): Promise<Look> {
  const entries = await entriesOf(join(way, folder));
  const folders = entries
    .filter((entry) => entry.isDirectory() && !SKIPPED.has(entry.name))
    .map(({ name }) => within(folder, name));
  const names = new Set(entries.map(({ name }) => name));
  // Without the name `.git`, too: it is one for whoever works in it.
  const isBare = ['HEAD', 'config', 'objects', 'refs'].every((name) => names.has(name));
  if (isBare) return { folders: [], repositories: [{ place: folder, kind: 'folder' }] };
  if (folder === '') return { folders, repositories: [] };
  const place = within(folder, '.git');
  const git = entries.find(({ name }) => name === '.git');
  if (git?.isFile()) return { folders, repositories: [{ place, kind: 'file' }] };
  const isWhole = git?.isDirectory() && (await isThere(join(way, place, 'HEAD')));
  return { folders, repositories: isWhole ? [{ place, kind: 'folder' }] : [] };
}

const within = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`);

/** The settings of submodules and of further working trees lie in the repository of the root. */
async function findInside(way: string): Promise<NestedRepository[]> {
  const trees = (await entriesOf(join(way, '.git/worktrees'))).filter((entry) => entry.isDirectory());
  const modules = await findModules(way, '.git/modules', MOST_LEVELS);
  return [
    ...modules.map((place) => ({ place, kind: 'folder' }) as const),
    ...trees.map(({ name }) => ({ place: `.git/worktrees/${name}`, kind: 'working tree' }) as const),
  ];
}

/** The name of a submodule may contain slashes, and a submodule may have its own. */
async function findModules(way: string, folder: string, levels: number): Promise<string[]> {
  if (levels === 0) return [];
  const folders = (await entriesOf(join(way, folder)))
    .filter((entry) => entry.isDirectory())
    .slice(0, MOST_REPOSITORIES);
  const found = folders.map(async ({ name }) => {
    const place = `${folder}/${name}`;
    if (!(await isThere(join(way, place, 'HEAD')))) return findModules(way, place, levels - 1);
    return [place, ...(await findModules(way, `${place}/modules`, levels - 1))];
  });
  return (await Promise.all(found)).flat();
}

const entriesOf = (folder: string) => readdir(folder, { withFileTypes: true }).catch(() => []); // not there, or unreadable

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false, // not there
  );

/** What of a repository names programs. */
const OBEYED = {
  folder: ['config', 'hooks', 'commondir', 'config.worktree'],
  'working tree': ['commondir', 'config.worktree'],
} as const;

/** Its paths that a command must not change. */
export const protectedOf = ({ place, kind }: NestedRepository): string[] =>
  kind === 'file' ? [place] : OBEYED[kind].map((name) => within(place, name));

const MOST_BYTES = 64 * 1_024;

/** Why a git outside may run what the repository names; undefined if it names nothing. */
export async function findPrograms(root: HeldFolder, { place, kind }: NestedRepository): Promise<string | undefined> {
  const folder = kind === 'file' ? await followFile(root, place) : place;
  if (folder === undefined) return undefined;
  const settings = await Promise.all(['config', 'config.worktree'].map((name) => readHead(root, join(folder, name))));
  const named = settings.flatMap(programsIn);
  if (named.length > 0) return [...new Set(named)].slice(0, 3).join(', ');
  const isTree = folder.startsWith('.git/worktrees/');
  const other = (await readHead(root, join(folder, 'commondir'))).trim();
  if (other !== '' && other !== '.' && !(isTree && other === '../..')) return 'commondir';
  const hooks = await entriesOf(join(root.way, folder, 'hooks'));
  return hooks.some(({ name }) => !name.endsWith('.sample')) ? 'hooks' : undefined;
}

/** The folder that a file `.git` names, if it lies in the root. */
async function followFile(root: HeldFolder, place: string): Promise<string | undefined> {
  const [, named = ''] = /^gitdir: (.*)/.exec(await readHead(root, place)) ?? [];
  if (isAbsolute(named)) return undefined;
  const folder = join(dirname(place), named);
  return folder.startsWith('..') ? undefined : folder;
}

async function readHead(root: HeldFolder, place: string): Promise<string> {
  try {
    await using file = await openBelow({ base: root, path: join(root.path, place) }, SAFE_READ);
    if (!(await file?.stat())?.isFile() || !file) return '';
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } catch {
    return ''; // not there, or unreadable
  }
}

const PROGRAM_KEYS =
  /^(core\.(fsmonitor|hookspath|sshcommand|pager|editor|askpass|gitproxy)|sequence\.editor|pager\.\w+|(filter|merge)\..*(clean|smudge|process|driver)|diff\..*(command|textconv|external)|diff\.external|include(if)?\..*path|credential\..*helper|gpg\..*program|remote\..*(uploadpack|receivepack|vcs)|protocol\..*allow|(diff|merge)tool\..*(cmd|path)|trailer\..*(cmd|command)|alias\..+|uploadpack\..+hook|submodule\..*update)$/;

/** The settings in a text that name programs, other settings, or another working tree. */
function programsIn(text: string): string[] {
  let section = '';
  const found: string[] = [];
  for (const line of text.replaceAll('\\\n', '').split('\n')) {
    const header = readHeader(line.trim());
    if (header !== undefined) section = header.section;
    const [key, value] = cutAt(header?.rest ?? line, '=');
    const name = `${section}.${key}`.toLowerCase();
    if (PROGRAM_KEYS.test(name) && !isPlain(name, value)) found.push(`${section}.${key}`);
  }
  return found;
}

/** `[section "name"]`, and what is behind it in the line. */
function readHeader(line: string): { section: string; rest: string } | undefined {
  if (!line.startsWith('[')) return undefined;
  const quote = line.indexOf('"');
  const isNamed = quote >= 0 && quote < line.indexOf(']');
  const [section, behind] = isNamed ? [line.slice(1, quote).trim(), line.slice(quote + 1)] : cutAt(line.slice(1), ']');
  if (!isNamed) return { section, rest: behind };
  const end = behind.search(/(?<!\\)"/); // a name with a quote in it is not told apart from others
  const [, rest] = cutAt(behind.slice(end + 1), ']');
  return { section: `${section}.${behind.slice(0, Math.max(0, end))}`, rest };
}

/** The text before and behind a separator, without spaces around them. */
function cutAt(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text.trim(), ''] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

/** Values that name no program: a switch, an alias of git's own commands, and how a submodule is updated. */
const isPlain = (name: string, value: string): boolean =>
  /^"?(true|false|yes|no|on|off|1|0)?"?$/i.test(value) ||
  (name.startsWith('alias.') && !/^"?!/.test(value)) ||
  (name.startsWith('submodule.') && !value.includes('!'));
