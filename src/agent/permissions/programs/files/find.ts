import { findsNoLinks } from '../../reading/found-paths.ts';
import { type ShellWord, toKnownWord, UNKNOWN_WORDS } from '../../reading/shell-word.ts';
import { mayBe } from '../options.ts';
import { addUnknown, addUse, type ProgramCall } from '../program.ts';
import { toRules } from '../rows.ts';
import { replaceIn } from '../shell/xargs.ts';

const WITH_VALUE =
  /^-(name|iname|path|ipath|wholename|iwholename|regex|iregex|type|xtype|size|mtime|atime|ctime|mmin|amin|cmin|maxdepth|mindepth|perm|user|group|uid|gid|newer\w*|anewer|cnewer|samefile|inum|links|lname|ilname|printf|regextype|used|fstype|context)$/;
const WITHOUT_VALUE =
  /^-(print|print0|ls|prune|quit|empty|readable|writable|executable|nouser|nogroup|depth|d|mount|xdev|follow|daystart|noleaf|true|false|o|or|a|and|not|ignore_readdir_race|noignore_readdir_race|warn|nowarn|help|version|[HLP]|O\d|-version|-help)$/;

/** find: its expression may delete, write and run commands for everything below its paths. */
function find(call: ProgramCall): void {
  const args = call.args.filter(({ value }) => !/^(-[HLP]|-O\d)$/.test(value ?? ''));
  const from = args.findIndex(({ value }) => value !== undefined && /^[-(!),]/.test(value));
  const paths = args.slice(0, from < 0 ? undefined : from);
  const left = from < 0 ? [] : args.slice(from);
  const roots = paths.length > 0 ? paths : [toKnownWord('.')];
  for (const word of roots) {
    if (word.isFree || word.start.startsWith('-')) addUnknown(call, word);
    addUse(call, 'list', word);
  }
  while (left.length > 0) readTest(left, { call, roots });
}

function readTest(left: ShellWord[], place: { call: ProgramCall; roots: readonly ShellWord[] }): void {
  const { call, roots } = place;
  const word = left.shift();
  const name = word?.value;
  if (word === undefined || name === undefined) addUnknown(call, word);
  else if (/^-(exec|ok)(dir)?$/.test(name)) runCommand(left, { ...place, isInFolder: name.endsWith('dir') });
  else if (name === '-delete') for (const root of roots) addUse(call, 'delete', root);
  else if (/^-(fprint0?|fls|fprintf)$/.test(name)) addOutput(left, name, call);
  else if (name === '-files0-from') addFile(left.shift(), call);
  else if (WITH_VALUE.test(name)) addValue(left.shift(), call);
  else if (!WITHOUT_VALUE.test(name) && !/^[(),!]$/.test(name)) addUnknown(call, word);
}

/** A value that may become several words brings further tests, such as `-delete`; the names of files like `*.c` cannot. */
function addValue(word: ShellWord | undefined, call: ProgramCall): void {
  if (word?.splits && !word.globs?.every((glob) => /\.\w+$/.test(glob))) addUnknown(call, word);
}

function addOutput(left: ShellWord[], name: string, call: ProgramCall): void {
  const file = left.shift();
  if (file) addUse(call, 'write', file);
  if (name === '-fprintf') left.shift();
}

function addFile(file: ShellWord | undefined, call: ProgramCall): void {
  if (file) addUse(call, 'read', file);
  addUnknown(call); // it names the paths
}

interface Started {
  call: ProgramCall;
  roots: readonly ShellWord[];
  isInFolder: boolean;
}

function runCommand(left: ShellWord[], { call, roots, isInFolder }: Started): void {
  const end = left.findIndex(({ value }, index) => value === ';' || (value === '+' && left[index - 1]?.value === '{}'));
  const words = left.splice(0, end < 0 ? left.length : end + 1);
  if (end >= 0) words.pop();
  for (const word of words) if (word.splits) addUnknown(call, word); // it may end the command, and bring tests
  const scope = call.scope.fork();
  if (isInFolder) scope.folder = undefined;
  // Found paths begin as the path they were found in, so that they are no options unless it is one.
  const followsLinks = call.args.some(({ value }) => value === '-L' || value === '-follow');
  const start = isInFolder ? './' : roots.length === 1 ? (roots[0]?.value ?? '') : '';
  const replaced = words.map((word) => {
    const other = replaceIn(word, '{}');
    if (word.value !== '{}') return other;
    // Whatever is found lies below the paths, where it is certain which folder that is.
    const within = isInFolder || followsLinks ? undefined : roots.map(({ value }) => value);
    return {
      ...other,
      start,
      isFree: start === '',
      within: within?.every((each) => each !== undefined) ? within : undefined,
      mayBeLink: !findsNoLinks(call.args.map(({ value }) => value)),
    };
  });
  call.reader.words(replaced, { scope, stdin: { kind: 'unknown' }, startedBy: 'find' });
}

/** The same for fd: commands follow its option. */
function fd(call: ProgramCall): void {
  const at = call.args.findIndex(({ start }) => /^-[a-zA-Z]*[xX]|^--exec/.test(start));
  for (const word of call.args) if (mayBe(word, ['--search-path', '--base-directory'])) addUnknown(call, word);
  const [pattern, ...paths] = call.args.slice(0, at < 0 ? undefined : at).filter(({ start }) => !start.startsWith('-'));
  for (const word of paths.length > 0 ? paths : [toKnownWord('.')]) addUse(call, 'list', word);
  if (pattern?.splits) addUnknown(call, pattern);
  if (at < 0) return;
  const words = call.args.slice(at + 1).map((word) => replaceIn(word, '{'));
  const unknown: ShellWord = { ...UNKNOWN_WORDS, written: '{}' };
  call.reader.words([...words, unknown], { scope: call.scope.fork(), stdin: { kind: 'unknown' }, startedBy: 'fd' });
}

/** Rules of programs that find files. */
export const FIND = toRules({ find, 'fd fdfind': fd });
