import type { Scope } from '../../reading/scope.ts';
import { type ShellWord, toKnownWord } from '../../reading/shell-word.ts';
import { mayBe, sortArguments, toOptions } from '../options.ts';
import { addUnknown, addUse, type ProgramCall, type ProgramRule } from '../program.ts';
import { toRules } from '../rows.ts';
import { addFolder, addManualCache, addNetwork, resolvePath } from '../targets.ts';
import { addRecorded } from './git-recorded.ts';

const OPTIONS = toOptions(`
  -v -h -p -P --version --help --paginate --no-pager --bare --no-replace-objects --literal-pathspecs --no-optional-locks --html-path --man-path --info-path
  -C,--git-dir,--work-tree,--namespace:value -c,--exec-path,--config-env,--attr-source:unknown
`);

/** Settings that name no program, file or address. */
const HARMLESS_SETTING =
  /^(user\.(name|email)|color\.\w+|core\.(quotepath|autocrlf|eol|filemode|ignorecase|precomposeunicode)|advice\.\w+|init\.defaultbranch|pull\.(rebase|ff)|merge\.conflictstyle|diff\.(renames|algorithm|context)|log\.\w+|commit\.verbose|push\.default|http\.(postbuffer|lowspeedlimit|lowspeedtime|version))=/i;

function git(call: ProgramCall): void {
  const { operands, values, given, strange } = sortArguments(call.args, OPTIONS, { stopsAtOperand: true });
  for (const word of strange) addUnknown(call, word);
  if (given.has('--version')) return;
  if (given.has('--bare')) addUnknown(call); // any folder may be the repository, whose settings name programs
  const scope = toScope(call.scope, values);
  for (const { name, use, word } of values)
    if (!(name === '-c' && HARMLESS_SETTING.test(word.value ?? ''))) addUse(call, use, word);
  const [command, ...args] = operands;
  if (command === undefined) return;
  const rule = command.value === undefined ? undefined : COMMANDS.get(command.value);
  if (rule === undefined)
    addUnknown(call, command); // an alias or another program
  else rule({ ...call, scope, name: `git ${command.value}`, args });
}

function toScope(scope: Scope, values: readonly { name: string; word: ShellWord }[]): Scope {
  const moved = values.filter(({ name }) => name !== '-c');
  if (moved.length === 0) return scope;
  const fork = scope.fork();
  const [only, ...more] = moved;
  const isPlain = only?.name === '-C' && more.length === 0 && only.word.value !== undefined;
  fork.folder = isPlain && only?.word.value !== undefined ? resolvePath(only.word.value, scope) : undefined;
  fork.isRealFolder = false;
  return fork;
}

/** The repository is the folder or one above it, so its path is not certain. */
const addRepository = (
  { findings, scope }: ProgramCall,
  kind: 'read' | 'write',
  more: { isIncidental?: true } = {},
): void =>
  findings.addEffect({
    kind,
    target: '.git',
    certain: false,
    ...(scope.folder !== undefined && { repositoryOf: scope.folder }),
    ...more,
  });

const EXTERNAL = /^(-O|-u)/;
/** The same behind other letters; others have a value. */
const PAGER_OF_GREP = /^-[^-efmABC]*O/;
const EXTERNAL_LONG = [
  ...['--ext-diff', '--textconv', '--open-files-in-pager', '--exec', '--upload-pack', '--receive-pack', '--remote'],
  ...['--show-signature', '--paginate', '--filters', '--batch-command'],
];

/** --output of diffs, and options that start programs. */
function addSpecialOptions(call: ProgramCall): void {
  const end = call.args.findIndex(({ value }) => value === '--');
  for (const word of call.args.slice(0, end < 0 ? undefined : end)) {
    if (word.isFree || EXTERNAL.test(word.start) || mayBe(word, EXTERNAL_LONG)) addUnknown(call, word);
    else if (call.name === 'git grep' && PAGER_OF_GREP.test(word.start)) addUnknown(call, word);
    if (/^--ou/.test(word.start)) addOutput(call, word); // long options may be shortened
  }
  addOutside(call);
}

/** Outside a repository, `diff` and `grep` read any files; `blame` reads some instead of the file itself. */
function addOutside(call: ProgramCall): void {
  const isOutside = call.args.some(({ start }) => start.startsWith('--no-i'));
  const end = call.args.findIndex(({ value }) => value === '--');
  for (const [index, word] of call.args.entries()) {
    const { start } = word;
    if (/^(\/|~|\.\.(\/|$))/.test(start) || (isOutside && !start.startsWith('-'))) addUse(call, 'read', word);
    else if (mayBe(word, ['--contents', '--ignore-revs-file', '--add-file'])) addUnknown(call, word);
    else addRecorded(call, word, end >= 0 && index > end);
  }
}

function addOutput(call: ProgramCall, word: ShellWord): void {
  const at = word.value?.indexOf('=') ?? -1;
  if (word.value === undefined || at < 0) addUnknown(call, word);
  else addUse(call, 'write', toKnownWord(word.value.slice(at + 1)));
}

/** Reads the repository; the index may be refreshed. */
const reads: ProgramRule = (call) => {
  addRepository(call, 'read');
  addRepository(call, 'write', call.scope.folder === undefined ? {} : { isIncidental: true });
  addSpecialOptions(call);
};

/** Changes the repository, perhaps with its hooks. */
const records: ProgramRule = (call) => {
  addRepository(call, 'write');
  addUnknown(call); // hooks, filters, signing and editors
};

/** Records what the folder holds. Hooks and filters are settings of the repository, which edits may not change. */
const commits: ProgramRule = (call) => {
  addRepository(call, 'write');
  call.findings.addEffect({ kind: 'unknown', target: call.name, certain: false, isProject: true });
  addSpecialOptions(call);
  for (const word of call.args)
    if (COMMIT_FILES.test(word.start) || mayBe(word, COMMIT_FILES_LONG)) addUnknown(call, word);
};

/** Files that are read into the message, lists of files, and programs of others. Of `-m`, the text follows. */
const COMMIT_FILES = /^-[^-mcCu]*[FtSiep]/;
const COMMIT_FILES_LONG = [
  ...['--file', '--template', '--pathspec-from-file', '--gpg-sign', '--interactive', '--edit', '--patch'],
];

/** Changes the repository and the files of the working tree. */
const checksOut: ProgramRule = (call) => {
  records(call);
  addFolder(call, 'write');
  addFolder(call, 'delete');
};

/** Connects to a remote, whose address is an argument or in the settings. */
const connects: ProgramRule = (call) => {
  const addresses = call.args.filter(({ start }) => /^[a-z+]+:\/\/|^[^/-][^/]*:/.test(start));
  for (const word of addresses) addUse(call, 'host', word);
  if (addresses.length === 0) addNetwork(call);
};

const transfers: ProgramRule = (call) => {
  connects(call);
  records(call);
};

function clone(call: ProgramCall): void {
  connects(call);
  addUnknown(call); // submodules, filters and templates
  const plain = call.args.filter(({ start }) => !start.startsWith('-'));
  for (const word of plain) if (!/:\/\/|^[^/]*:/.test(word.start)) addUse(call, 'write', word);
  addFolder(call, 'write');
}

const pulls: ProgramRule = (call) => {
  connects(call);
  checksOut(call);
};

const LISTING = {
  'git branch':
    /^(-[arvlqi]+|--(list|all|remotes|verbose|show-current|(no-)?contains|(no-)?merged|points-at|sort|format|(no-)?column|(no-)?color|ignore-case|(no-)?abbrev)(=.*)?)$/s,
  'git tag':
    /^(-[li]|-n\d*|--(list|(no-)?contains|(no-)?merged|points-at|sort|format|(no-)?column|(no-)?color|ignore-case)(=.*)?)$/s,
} as const;
/** Options with which names are patterns or commits, and nothing is created. */
const LISTS_NAMES = /^(-l|-n\d*|--(list|(no-)?contains|(no-)?merged|points-at)(=.*)?)$/s;

/** Without a new name, or with an option that lists, it only prints. */
const listsOrRecords: ProgramRule = (call) => {
  const options = call.name === 'git tag' ? LISTING['git tag'] : LISTING['git branch'];
  const values = call.args.map(({ value }) => value ?? '--unknown');
  const isListing = values.every((value) => !value.startsWith('-') || options.test(value));
  const hasNames = values.some((value) => !value.startsWith('-'));
  if (isListing && (!hasNames || values.some((value) => LISTS_NAMES.test(value)))) reads(call);
  else records(call);
};

/** Addresses are in the settings; what is known of a remote is asked of it. */
const remote: ProgramRule = (call) => {
  if (call.args.every(({ value }) => /^(-v|--verbose|show|get-url)$/.test(value ?? ''))) reads(call);
  else records(call);
  if (call.args.some(({ value }) => /^(show|update|prune|add|set-head)$/.test(value ?? ''))) addNetwork(call);
};

/** What the commands of a command only show. */
const SHOWN: Record<string, RegExp> = {
  'git reflog': /^(show|exists)?$/,
  'git symbolic-ref': /^(--short|HEAD)$/,
  'git stash': /^(list|show)$/,
  'git worktree': /^list$/,
  'git submodule': /^(status|summary)?$/,
  'git bisect': /^log$/, // the others start what their arguments say
  'git notes': /^(list|show)?$/,
  'git bundle': /^(verify|list-heads)$/,
};

function isShown({ name, args }: ProgramCall): boolean {
  const plain = args.filter(({ start }) => !start.startsWith('-'));
  if (name === 'git symbolic-ref' && (plain.length !== 1 || args.some(({ start }) => /^-(d|m|-delete)/.test(start))))
    return false;
  // The word behind an option may be its value.
  if (name !== 'git symbolic-ref' && plain[0] !== undefined && plain[0] !== args[0]) return false;
  const first = name === 'git symbolic-ref' ? args[0] : plain[0];
  return first?.splits !== true && (SHOWN[name]?.test(first === undefined ? '' : (first.value ?? '?')) ?? false);
}

const GETS = /^(--get(-all|-regexp|-urlmatch|-color|-colorbool)?|--list|-l)$/;
const GETS_SO =
  /^(--(global|system|local|worktree|show-origin|show-scope|name-only|null|bool|int|bool-or-int|path|expiry-date|(no-)?includes|all|regexp|fixed-value|show-names)|-z|--(type|default|value|url)=.*)$/s;

/** Settings may name programs that run later. */
function config(call: ProgramCall): void {
  const file = call.args.find(({ start }) => /^(-f|--f|--blob)/.test(start));
  if (file) addUnknown(call, file);
  if (isGetting(call.args.filter((word) => word !== file))) {
    addRepository(call, 'read');
    return;
  }
  const isGlobal = call.args.some((word) => mayBe(word, ['--global', '--system']));
  call.findings.addEffect({ kind: 'write', target: isGlobal ? '~/.gitconfig' : '.git/config', certain: false });
}

/** Whether it only prints settings: one of them, or with an option or a first word that says so. */
function isGetting(args: readonly ShellWord[]): boolean {
  const values = args.map(({ value }) => value ?? '--unknown');
  const options = values.filter((value) => value.startsWith('-'));
  if (!options.every((value) => GETS.test(value) || GETS_SO.test(value))) return false;
  const [name, ...more] = values.filter((value) => !value.startsWith('-'));
  if (options.some((value) => GETS.test(value)) || values[0] === 'get' || values[0] === 'list') return true;
  return name !== undefined && name !== 'edit' && more.length === 0;
}

const COMMANDS = toRules({
  'status log show diff shortlog blame annotate describe rev-parse rev-list ls-files ls-tree cat-file name-rev for-each-ref show-ref merge-base cherry whatchanged count-objects check-ignore check-attr diff-tree diff-index diff-files var grep version range-diff show-branch patch-id':
    reads,
  'reflog symbolic-ref stash worktree submodule bisect notes bundle': (call) => {
    if (isShown(call)) reads(call);
    else records(call);
    if (!isShown(call)) addFolder(call, 'write');
    if (!isShown(call) && call.name === 'git submodule') addNetwork(call);
  },
  // The manual may be shown by a browser.
  help: (call) => {
    addManualCache(call);
    for (const word of call.args) if (word.value === undefined || word.value.startsWith('-')) addUnknown(call, word);
  },
  'branch tag': listsOrRecords,
  remote,
  'add commit': commits,
  'gc prune repack pack-refs update-index update-ref write-tree hash-object fsck': records,
  'checkout switch restore reset merge rebase cherry-pick revert am apply rm mv clean read-tree checkout-index':
    checksOut,
  'push fetch ls-remote': transfers,
  pull: pulls,
  clone,
  config,
  init: (call) => {
    const folder = call.args.find(({ start }) => !start.startsWith('-'));
    if (folder) addUse(call, 'write', folder);
    else addFolder(call, 'write');
    addSpecialOptions(call);
    if (call.args.some(({ start }) => start.startsWith('--'))) addUnknown(call);
  },
  archive: (call) => {
    reads(call);
    for (const word of call.args) if (/^-o/.test(word.start) || mayBe(word, ['--output'])) addUnknown(call, word);
  },
  'format-patch': (call) => {
    reads(call);
    addFolder(call, 'write');
    addUnknown(call);
  },
});

/** The rule of git. */
export const GIT = toRules({ git });
