import { type ShellWord, toKnownWord } from '../../reading/shell-word.ts';
import { mayBe } from '../options.ts';
import { addUnknown, addUse, type ProgramCall, type ProgramRule } from '../program.ts';
import { type Row, toRule, toRules } from '../rows.ts';
import { addLinks, addManualCache, addNameLookup } from '../targets.ts';

/** Options never do more than read, and operands are files. */
const files = (options: string): Row => ({ options, lenient: true, operands: ['read'] });
/** Only names, sizes and dates of the operands are read. */
const lists = (options: string): Row => ({ options, lenient: true, operands: ['list'] });
const nothing: Row = { lenient: true };
/** Programs for object files load plugins, and take further arguments from a file: `@file`. */
const objects = (options: string): Row => ({
  ...files(`${options} --plugin:unknown`),
  also: (call) => {
    for (const word of call.args)
      if ([word.start, ...(word.globs ?? [])].some((each) => each.startsWith('@'))) addUnknown(call, word);
  },
});

const HERE = toKnownWord('.');

interface GrepRules {
  /** The first operand is a pattern. */
  withPattern: ProgramRule;
  /** An option has the pattern. */
  files: ProgramRule;
}

const toGrep = (options: string): GrepRules => ({
  withPattern: toRule({ options, lenient: true, operands: ['value', 'read'] }),
  files: toRule({ options, lenient: true, operands: ['read'] }),
});

const GREP = toGrep(`
  -e,-m,-A,-B,-C,-d,-D,--regexp,--max-count,--after-context,--before-context,--context,--include,--exclude,--exclude-dir,--label:value
  -f,--file,--exclude-from:read
`);
const RIPGREP = toGrep(`
  -e,-m,-A,-B,-C,-d,-g,-t,-T,-j,-M,-E,-r,--regexp,--max-count,--after-context,--before-context,--context,--glob,--iglob,--type,--type-not,--threads,--max-depth:value
  --replace,--sort,--sortr,--encoding,--max-columns,--max-filesize,--colors,--color,--engine,--type-add,--path-separator,--context-separator,--field-match-separator:value
  -f,--file,--ignore-file:read --pre,--hostname-bin:unknown
`);

const RECURSIVE = ['--recursive', '--dereference-recursive'];

/** Searches below the working directory unless paths are given. */
function grep(call: ProgramCall): void {
  const isRipgrep = call.name === 'rg';
  const { withPattern, files: onlyFiles } = isRipgrep ? RIPGREP : GREP;
  const hasPattern = call.args.some(
    (word) => /^-[^-]*[ef]/.test(word.start) || mayBe(word, ['--regexp', '--file', '--files', '--type-list']),
  );
  (hasPattern ? onlyFiles : withPattern)(call);
  const followed = call.args.find(({ start }) => (isRipgrep ? /^-[^-]*L|^--follow/ : /^-[^-]*R|^--deref/).test(start));
  if (followed) addLinks(call, followed.written);
  const isRecursive = isRipgrep || call.args.some((word) => /^-[^-]*[rR]/.test(word.start) || mayBe(word, RECURSIVE));
  if (!isRecursive) return;
  const plain = call.args.filter(({ start }) => !start.startsWith('-')).length;
  // The value of a long option may look like a path.
  const values = isRipgrep ? call.args.filter(({ start }) => start.startsWith('--') && !start.includes('=')).length : 0;
  if (plain <= (hasPattern ? 0 : 1) + values) addUse(call, 'read', HERE);
}

/** A comparison of folders follows the links in them. */
function addFollowed(call: ProgramCall): void {
  const recursive = call.args.find((word) => /^-[^-]*r/.test(word.start) || mayBe(word, ['--recursive']));
  if (recursive && !call.args.some((word) => mayBe(word, ['--no-dereference']))) addLinks(call, recursive.written);
}

/** Lists the working directory unless paths are given. */
const listsHere = (options: string): ProgramRule => {
  const rule = toRule(lists(options));
  return (call) => {
    rule(call);
    if (call.args.every(({ start }) => start.startsWith('-'))) addUse(call, 'list', HERE);
  };
};

const JQ = toRule({
  options: '-f,--from-file:read --indent:value -L:read',
  lenient: true,
  operands: ['value', 'read'],
});
const JQ_FILES = toRule({ options: '-f,--from-file:read --indent:value -L:read', lenient: true, operands: ['read'] });

/** Options such as `--arg name value` have two values. */
const jq: ProgramRule = (call) => {
  const args = withoutJqValues(call);
  addJqModules(call, args);
  const hasFilterFile = args.some(({ start }) => /^(-[a-zA-Z]*f|--from-file)/.test(start));
  const rule = hasFilterFile ? JQ_FILES : JQ;
  rule({ ...call, args });
};

/** Behind `--args`, operands are values, and options are still options. */
function withoutJqValues(call: ProgramCall): ShellWord[] {
  const args: ShellWord[] = [];
  const left = [...call.args];
  let hasValues = false;
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const { value = '' } = word;
    if (value === '--') return [...args, word, ...left];
    if (/^--(json)?args$/.test(value)) hasValues = true;
    else if (/^--(arg|argjson|argfile|slurpfile|rawfile)$/.test(value)) addJqValues(call, word, left.splice(0, 2));
    else if (!hasValues || !isOperand(word) || !args.some(isOperand)) args.push(word);
    else if (word.isFree) addUnknown(call, word);
  }
  return args;
}

const isOperand = ({ start }: ShellWord): boolean => !start.startsWith('-');

/** Modules are files, too, and the program in a file may name some, or one that is not known from its beginning. */
function addJqModules(call: ProgramCall, args: readonly ShellWord[]): void {
  const program = args.find(isOperand);
  if (program?.value === undefined && program?.start === '') addUnknown(call, program);
  for (const word of args)
    if (/\b(import|include)\b|^(-[a-zA-Z]*[fL]|--from|--lib)/.test(word.start)) addUnknown(call, word);
}

function addJqValues(call: ProgramCall, option: ShellWord, values: readonly ShellWord[]): void {
  for (const word of values) if (word.splits) addUnknown(call, word); // it may become several words
  const [, value] = values;
  if (value && option.start.endsWith('file')) addUse(call, 'read', value);
}

/** An operand that is no format sets the clock. */
const date: ProgramRule = toRule({
  options:
    '-d,--date:value -r,--reference,-f,--file:read -s,--set:system -u -R -I -n -j --utc --universal --rfc-email --iso-8601 --rfc-3339:value --debug',
  also: (call, { operands }) => {
    for (const word of operands) if (!word.start.startsWith('+')) addUse(call, 'system', word);
  },
});

const sortRow: Row = {
  options: `
    -b -d -f -g -i -M -h -n -R -r -V -c -C -m -s -u -z --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --human-numeric-sort
    --numeric-sort --random-sort --reverse --version-sort --check --merge --stable --unique --zero-terminated --debug --parallel,--batch-size,--sort:value
    -k,-t,-S,--key,--field-separator,--buffer-size:value -T,--temporary-directory:write -o,--output:write
    --random-source:read --files0-from,--compress-program:unknown
  `,
  operands: ['read'],
};

/** Rules of programs that only read, but for a few of their options. */
export const READERS = toRules({
  'cat tac tsort rev comm md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum zcat bzcat zgrep':
    files(''),
  wc: files('--files0-from:unknown'),
  xzcat: {
    ...files('--files,--files0:unknown'),
    also: (call, { given }) => {
      if (given.has('--files') || given.has('--files0')) addUnknown(call); // the input names the files
    },
  },
  nl: files('-b,-d,-f,-h,-i,-l,-n,-s,-v,-w:value'),
  'fold expand unexpand': files('-w,-t,--width,--tabs:value'),
  fmt: files('-w,-g,-p,--width,--goal,--prefix:value'),
  paste: files('-d,--delimiters:value'),
  cmp: files('-n,-i,--bytes,--ignore-initial:value'),
  'od hexdump hd': files('-A,-j,-N,-t,-n,-e,--address-radix,--format,--read-bytes,--skip-bytes:value -f:read'),
  strings: objects('-n,-t,-e,-s,-T,--bytes,--radix,--encoding:value'),
  'base64 base32': files('-w,--wrap:value'),
  column: files('-s,-c,-o,-N,-R,-H,-O,-W,-E,--separator,--output-separator,--table-columns,--output-width:value'),
  'head tail': files('-n,-c,--lines,--bytes,--pid,--sleep-interval:value'),
  cut: files('-d,-f,-b,-c,--fields,--characters,--bytes,--delimiter,--output-delimiter:value'),
  'nm size': objects(''),
  'users who last': files(''),
  getent: (call) => {
    if (call.args.some(({ value }) => value === undefined || /host/.test(value))) addNameLookup(call);
    if (!call.args.every(({ value }) => value !== undefined && !/shadow/.test(value)))
      addUse(call, 'read', toKnownWord('/etc/shadow'));
  },
  'readlink realpath': lists(''),
  'ls dir vdir': listsHere('-I,-w,-T,--ignore,--hide,--width,--tabsize:value'),
  du: listsHere(
    '-d,-B,-t,--max-depth,--block-size,--threshold,--exclude:value -X,--exclude-from:read --files0-from:unknown',
  ),
  df: lists('-B,-t,-x,--block-size,--type,--exclude-type:value'),
  stat: lists('-c,--format,--printf:value'),
  join: files('-1,-2,-t,-a,-v,-o,-e,-j:value'),
  'diff diff3': {
    ...files(
      '-U,-C,-x,-I,-L,-W,-F,--label,--exclude,--ignore-matching-lines,--width:value -X,--exclude-from:read --diff-program:unknown',
    ),
    also: addFollowed,
  },
  'basename dirname seq sleep yes nproc uname whoami id groups arch tty w uptime free ps pgrep pidof printenv locale getconf cal factor expr numfmt tr which whereis lscpu lsblk lsusb lspci lsmod vmstat iostat mpstat tput clear hostid logname':
    nothing,
  grep,
  'egrep fgrep rg': grep,
  jq,
  date,
  sort: sortRow,
  tree: {
    options:
      '-a -d -f -i -l -p -s -h -u -g -D -F -q -N -Q -r -t -c -U -n -C -A -S -J -X -x --du --si --prune --dirsfirst --noreport --gitignore -L,-P,-I,--charset,--filelimit:value -o:write',
    operands: ['list'],
    also: (call, { operands }) => {
      if (operands.length === 0) addUse(call, 'list', HERE);
    },
  },
  file: {
    options: '-b -i -k -L -h -z -s -N -n -r -0 --brief --mime --mime-type --mime-encoding -F:value -m:read -f:unknown',
    operands: ['read'],
  },
  // A pager or a browser may be given, and the file of a page.
  'man apropos whatis': {
    options:
      '-k -f -a -w -W -K -i -I --apropos --whatis --all --path --where --where-cat --no-subpages --regex --wildcard --names-only -r -d -s,-S,-e,--sections,--extension:value -l:read',
    also: (call, { operands }) => {
      for (const word of operands) if (word.value?.includes('/') !== false) addUse(call, 'read', word);
      addManualCache(call);
    },
  },
  'less more': {
    options: '-R -S -N -F -X -E -i -r -e -f -n -s',
    operands: ['read'],
    also: (call, { operands }) => {
      for (const word of operands) if (word.start.startsWith('+')) addUnknown(call, word); // its own commands
    },
  },
  hostname: {
    options: '-a -A -d -f -i -I -s -y --all-fqdns --fqdn --ip-address --short',
    also: (call, { operands, given }) => {
      if (given.size > 0) addNameLookup(call);
      for (const word of operands) addUse(call, 'system', word);
    },
  },
  dmesg: { options: '-H -T -t -k -u -x -e -L -l,-f,-s:value --human --ctime --level,--facility,--since,--until:value' },
  journalctl: {
    options:
      '-a -b -e -f -k -m -o,-n,-p,-u,-t,-S,-U,--unit,--since,--until,--lines,--output,--priority,--grep,-g:value -q -r -x --no-pager --user --system --list-boots --disk-usage --reverse',
  },
  printf: (call) => void call, // the program; the builtin has its own rule
  test: (call) => void call,
  '[ echo true false pwd': (call) => void call,
  shuf: {
    options: '-e -z -r --echo --repeat -n,-i,--head-count,--input-range:value -o,--output:write --random-source:read',
    operands: ['read'],
  },
});
