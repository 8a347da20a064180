import type { Scope } from '../../reading/scope.ts';
import { type ShellWord, toKnownWord } from '../../reading/shell-word.ts';
import { sortArguments, toOptions } from '../options.ts';
import { addUnknown, addUse, type ProgramCall, type ProgramRule } from '../program.ts';
import { toRules } from '../rows.ts';
import { addFolder, addNetwork, resolvePath } from '../targets.ts';

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
const addRepository = ({ findings }: ProgramCall, kind: 'read' | 'write'): void =>
  findings.addEffect({ kind, target: '.git', certain: false });

const EXTERNAL =
  /^(--ext-diff|--textconv|-O|--open-files-in-pager|--exec|--upload-pack|-u|--receive-pack|--show-signature|--paginate)/;

/** --output of diffs, and options that start programs. */
function addSpecialOptions(call: ProgramCall): void {
  const end = call.args.findIndex(({ value }) => value === '--');
  for (const word of call.args.slice(0, end < 0 ? undefined : end)) {
    if (word.isFree || EXTERNAL.test(word.start)) addUnknown(call, word);
    if (/^--ou/.test(word.start)) addOutput(call, word); // long options may be shortened
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
  addRepository(call, 'write');
  addSpecialOptions(call);
};

/** Changes the repository, perhaps with its hooks. */
const records: ProgramRule = (call) => {
  addRepository(call, 'write');
  addUnknown(call); // hooks, filters, signing and editors
};

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

/** Settings may name programs that run later. */
function config(call: ProgramCall): void {
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
  const file = call.args.find(({ start }) => /^(-f|--file)/.test(start));
  if (file) addUnknown(call, file);
  call.findings.addEffect({ kind: 'write', target: isGlobal ? '~/.gitconfig' : '.git/config', certain: false });
}

const COMMANDS = toRules({
  'status log show diff shortlog blame annotate describe rev-parse rev-list ls-files ls-tree cat-file name-rev for-each-ref show-ref merge-base cherry whatchanged count-objects check-ignore check-attr diff-tree diff-index diff-files symbolic-ref var grep version help verify-commit range-diff reflog':
    reads,
  'branch tag remote stash notes worktree submodule bisect': (call) => {
    listsOrRecords(call);
    if (/ (stash|worktree|submodule|bisect)$/.test(call.name)) addFolder(call, 'write');
    if (/ (stash|worktree|submodule|bisect)$/.test(call.name)) addUnknown(call);
    if (call.name === 'git submodule') addNetwork(call);
  },
  'add commit gc prune repack pack-refs update-index update-ref write-tree hash-object fsck': records,
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
  'format-patch bundle': (call) => {
    reads(call);
    addFolder(call, 'write');
    addUnknown(call);
  },
});

/** The rule of git. */
export const GIT = toRules({ git });
