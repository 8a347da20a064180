import { type ShellWord, toKnownWord } from '../../reading/shell-word.ts';
import { type SortedArguments, sortArguments, toOptions } from '../options.ts';
import { addUnknown, addUse, type ProgramCall, type ProgramRule } from '../program.ts';
import { toRule, toRules } from '../rows.ts';
import { addFolder, addLinks } from '../targets.ts';

const TAR_OPTIONS = toOptions(`
  -c -x -t -r -u -d -A -z -j -J -Z -a -v -p -P -k -m -O -h -w -W -U -l -S -G -n -s -i -B -R -o
  --create --extract --get --list --append --update --diff --compare --delete --catenate --gzip --bzip2 --xz --zstd --lzma --auto-compress --verbose --preserve-permissions
  --same-permissions --absolute-names --keep-old-files --keep-newer-files --touch --to-stdout --dereference --no-recursion --overwrite --no-same-owner --same-owner
  --no-same-permissions --numeric-owner --sparse --totals --wildcards --no-wildcards --anchored --ignore-failed-read --one-file-system --unlink-first --remove-files
  --strip-components,--exclude,--owner,--group,--mode,--mtime,--format,--transform,--xform,--newer,--level,--sort,--warning,--strip,--blocking-factor,-b,-N,-L:value
  --exclude-vcs --exclude-backups --one-top-level --no-xattrs --xattrs --acls --selinux --null --verbatim-files-from
  -X,--exclude-from:read -C,--directory,-f,--file,-g,--listed-incremental:value
  -T,--files-from,-I,-F,--use-compress-program,--to-command,--checkpoint-action,--info-script,--new-volume-script,--rsh-command,--rmt-command:unknown --checkpoint
`);

/** `tar xzf a.tgz` has options without a dash first. */
function tar(call: ProgramCall): void {
  const [first, ...rest] = call.args;
  const isOld = first?.value !== undefined && /^[a-zA-Z]+$/.test(first.value);
  const args = sortArguments(isOld ? [...toDashed(first, rest)] : call.args, TAR_OPTIONS);
  for (const word of args.strange) addUnknown(call, word);
  for (const { use, word } of args.values) addUse(call, use, word);
  const isWritten = hasOption(
    args,
    '-c',
    '-r',
    '-u',
    '-A',
    '--create',
    '--append',
    '--update',
    '--delete',
    '--catenate',
  );
  const archive = findValue(args, '-f', '--file');
  if (archive) addArchive(call, archive, isWritten);
  if (hasOption(args, '-g', '--listed-incremental')) addUnknown(call);
  addMembers(call, args, isWritten);
}

/** The files that go into an archive or come out of it. */
function addMembers(call: ProgramCall, args: SortedArguments, isWritten: boolean): void {
  const folders = args.values.filter(({ name }) => name === '-C' || name === '--directory').map(({ word }) => word);
  const there = toFolder(call, folders);
  const use = hasOption(args, '--remove-files') ? 'delete' : 'read';
  if (isWritten) for (const word of args.operands) addUse(there, use, word);
  if (isWritten && hasOption(args, '-h', '--dereference')) addLinks(there);
  const isExtracted = hasOption(args, '-x', '--extract', '--get') && !hasOption(args, '-O', '--to-stdout');
  if (isExtracted) addExtracted(there, args, folders);
}

const hasOption = ({ given }: SortedArguments, ...names: string[]): boolean => names.some((name) => given.has(name));

/** In the old style, values follow in the order of their letters. */
function* toDashed(first: ShellWord, rest: readonly ShellWord[]): Generator<ShellWord> {
  const left = [...rest];
  for (const letter of first.start) {
    yield toKnownWord(`-${letter}`);
    if (!/[fbCTXgNLIFK]/.test(letter)) continue;
    const value = left.shift();
    if (value) yield value;
  }
  yield* left;
}

const findValue = ({ values }: SortedArguments, ...names: string[]): ShellWord | undefined =>
  values.find(({ name }) => names.includes(name))?.word;

/** `host:file` is on another machine. */
function addArchive(call: ProgramCall, archive: ShellWord, isWritten: boolean): void {
  if (/^[^/]*:/.test(archive.start)) {
    addUse(call, 'host', archive);
    addUnknown(call, archive);
  }
  addUse(call, isWritten ? 'write' : 'read', archive);
}

/** Where -C leads; several of them follow each other. */
function toFolder(call: ProgramCall, folders: readonly ShellWord[]): ProgramCall {
  if (folders.length === 0) return call;
  const scope = call.scope.fork();
  const [only, ...more] = folders;
  const isPlain = more.length === 0 && only?.value !== undefined && !only.value.includes('..');
  scope.folder = isPlain && only?.value !== undefined ? joinFolder(scope.folder, only.value) : undefined;
  scope.isRealFolder = false;
  return { ...call, scope };
}

const joinFolder = (folder: string | undefined, value: string): string | undefined =>
  value.startsWith('/') ? value : folder === undefined ? undefined : `${folder}/${value}`;

/** With -P, members may have any path. */
function addExtracted(call: ProgramCall, { given }: SortedArguments, folders: readonly ShellWord[]): void {
  if (call.scope.folder === undefined && folders.length > 0) for (const word of folders) addUse(call, 'write', word);
  else addFolder(call, 'write');
  if (given.has('-P') || given.has('--absolute-names')) addUnknown(call, toKnownWord('-P'));
}

const PACK_OPTIONS = toOptions(`
  -c -d -f -k -l -L -n -N -q -r -t -v -z -1 -2 -3 -4 -5 -6 -7 -8 -9 -e --stdout --to-stdout --decompress --uncompress --force --keep --list --quiet --recursive --test --verbose
  --best --fast --extreme --rm -S,--suffix,-T,--threads:value -o,--output:write
`);

/** Replaces files by others next to them, unless the result is printed. */
function pack(call: ProgramCall): void {
  const { operands, given, values, strange } = sortArguments(call.args, PACK_OPTIONS);
  for (const word of strange) addUnknown(call, word);
  for (const { use, word } of values) addUse(call, use, word);
  const isPrinted = ['-c', '-t', '-l', '--stdout', '--to-stdout', '--test', '--list'].some((name) => given.has(name));
  const isKept = given.has('-k') || given.has('--keep');
  for (const word of operands) {
    addUse(call, isPrinted || isKept ? 'read' : 'delete', word);
    if (!isPrinted) addNeighbour(call, word, given.has('-r') || given.has('--recursive'));
  }
}

function addNeighbour(call: ProgramCall, word: ShellWord, isFolder: boolean): void {
  if (isFolder || word.value === undefined) addUse(call, 'write', word);
  if (word.value !== undefined) addFolder(call, 'write', word.value.slice(0, word.value.lastIndexOf('/') + 1) || '.');
}

const UNZIP = toRule({
  options: '-l -v -p -c -t -z -f -u -n -o -j -q -qq -a -aa -L -C -U -X -B -d,-P,-x:value',
  operands: ['read', 'value'],
  also: (call, args) => {
    if (['-l', '-v', '-p', '-c', '-t', '-z'].some((name) => args.given.has(name))) return;
    const folder = findValue(args, '-d');
    if (folder) addUse(call, 'write', folder);
    else addFolder(call, 'write');
  },
});

/** zip writes the archive next to a temporary file in the same folder. */
const ZIP = toRule({
  options: '-r -q -j -9 -0 -1 -y -u -f -d -m -g -v -e -o -X -l -D -R -x,-i,-P,-s,-n:value -@ -b:write',
  operands: ['write', 'read'],
  also: (call, { operands, given }) => {
    const [archive, ...members] = operands;
    if (archive) addNeighbour(call, archive, false);
    if (given.has('-r') && !given.has('-y')) addLinks(call);
    if (given.has('-m')) for (const word of archive?.splits ? operands : members) addUse(call, 'delete', word);
  },
});

const other: ProgramRule = (call) => {
  addUnknown(call);
  addFolder(call, 'write');
};

/** Rules of programs that pack and unpack files. */
export const ARCHIVES = toRules({
  'tar bsdtar gtar': tar,
  'gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 compress uncompress': pack,
  unzip: UNZIP,
  zip: ZIP,
  'cpio ar 7z 7za 7zr unrar pax': other,
});
