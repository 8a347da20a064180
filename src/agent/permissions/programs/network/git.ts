import type { Scope } from '../../reading/scope.ts';
import { type ShellWord, toKnownWord } from '../../reading/shell-word.ts';
import { sortArguments, toOptions } from '../options.ts';
import { addUnknown, addUse, type ProgramCall, type ProgramRule } from '../program.ts';
import { toRules } from '../rows.ts';
import { addFolder, addManualCache, addNetwork, resolvePath } from '../targets.ts';

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

const EXTERNAL =
  /^(--ext-diff|--textconv|-O|--open-files-in-pager|--exec|--upload-pack|-u|--receive-pack|--show-signature|--paginate|--filters)/;

/** --output of diffs, and options that start programs. */
function addSpecialOptions(call: ProgramCall): void {
  const end = call.args.findIndex(({ value }) => value === '--');
  for (const word of call.args.slice(0, end < 0 ? undefined : end)) {
    if (word.isFree || EXTERNAL.test(word.start)) addUnknown(call, word);
    if (/^--ou/.test(word.start)) addOutput(call, word); // long options may be shortened
  }
  addOutside(call);
}

/** `HEAD:file`; it may be a secret that is recorded. */
const FILE_OF_REVISION = /^[\w@{}^~./-]*:(?!\/\/)[\w./-]+$/;

/** Outside a repository, `diff` and `grep` read any files; `blame` reads some instead of the file itself. */
function addOutside(call: ProgramCall): void {
  const isOutside = call.args.some(({ start }) => start.startsWith('--no-i'));
  for (const word of call.args) {
    if (/^(\/|~|\.\.(\/|$))/.test(word.start) || (isOutside && !word.start.startsWith('-'))) addUse(call, 'read', word);
    else if (FILE_OF_REVISION.test(word.start))
      addUse(call, 'read', word.value === undefined ? word : toKnownWord(word.value.replace(/^[^:]*:/, '')));
    else if (/^--(contents|ignore-revs-file)/.test(word.start)) addUnknown(call, word);
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
  for (const word of call.args) if (COMMIT_FILES.test(word.start)) addUnknown(call, word);
};

/** Files that are read into the message, and lists of files. */
const COMMIT_FILES =
  /^(-F|--file|-t|--template|--pathspec-from-file|-S|--gpg-sign|-i|--interactive|-e|--edit|-p|--patch)/;

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

/** Without a new name, or with an option that lists, it only prints. */
const listsOrRecords: ProgramRule = (call) => {
  const lists =
    /^(-a|-r|-v|-vv|-l|-n\d*|--list|--all|--remotes|--show-current|--contains|--merged|--no-merged|--sort|--format|-h|list|show|get-url|-q)($|=)/;
  const isListing = call.args.every(({ value, start }) =>
    value !== undefined ? lists.test(value) : lists.test(start),
  );
  if (isListing || (call.args[0] !== undefined && lists.test(call.args[0].start) && call.name !== 'git remote'))
    reads(call);
  else records(call);
  if (
    call.name === 'git remote' &&
    call.args.some(({ value }) => /^(show|update|prune|add|set-head)$/.test(value ?? ''))
  )
    addNetwork(call);
};

/** What the commands of a command only show. */
const SHOWN: Record<string, RegExp> = {
  'git reflog': /^(show|exists)?$/,
  'git symbolic-ref': /^(--short|HEAD)$/,
  'git stash': /^(list|show)$/,
  'git worktree': /^list$/,
  'git submodule': /^(status|summary)?$/,
  'git bisect': /^(log|view|visualize)$/,
  'git notes': /^(list|show)?$/,
  'git bundle': /^(verify|list-heads)$/,
};

function isShown({ name, args }: ProgramCall): boolean {
  const plain = args.filter(({ start }) => !start.startsWith('-'));
  if (name === 'git symbolic-ref' && (plain.length !== 1 || args.some(({ start }) => /^-(d|m|-delete)/.test(start))))
    return false;
  const first = name === 'git symbolic-ref' ? args[0] : plain[0];
  return first?.splits !== true && (SHOWN[name]?.test(first === undefined ? '' : (first.value ?? '?')) ?? false);
}

/** Settings may name programs that run later. */
function config(call: ProgramCall): void {
  const file = call.args.find(({ start }) => /^(-f|--f|--blob)/.test(start));
  if (file) addUnknown(call, file);
  const isReading = call.args.some(({ value }) =>
    /^(--get|--get-all|--get-regexp|--list|-l|get|list)$/.test(value ?? ''),
  );
  const names = call.args.filter(({ start }) => !start.startsWith('-'));
  if (
    isReading ||
    (names.length === 1 && !call.args.some(({ start }) => /^--(unset|remove|rename|edit|add)|^-e/.test(start)))
  ) {
    addRepository(call, 'read');
    return;
  }
  const isGlobal = call.args.some(({ value }) => value === '--global' || value === '--system');
  call.findings.addEffect({ kind: 'write', target: isGlobal ? '~/.gitconfig' : '.git/config', certain: false });
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
  'branch tag remote': listsOrRecords,
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
    for (const word of call.args) if (/^(-o|--output|--remote|--exec)/.test(word.start)) addUnknown(call, word);
  },
  'format-patch': (call) => {
    reads(call);
    addFolder(call, 'write');
    addUnknown(call);
  },
});

/** The rule of git. */
export const GIT = toRules({ git });
