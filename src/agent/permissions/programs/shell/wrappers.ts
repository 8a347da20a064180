import { noteVariable } from '../../reading/assignments.ts';
import { isObeyed } from '../../reading/environment-names.ts';
import type { Scope } from '../../reading/scope.ts';
import { type ShellWord, UNKNOWN_WORDS } from '../../reading/shell-word.ts';
import { type SortedArguments, sortArguments, toOptions } from '../options.ts';
import { addEffect, addUnknown, addUse, type ProgramCall, type ProgramRule } from '../program.ts';
import { toRules } from '../rows.ts';
import { resolvePath } from '../targets.ts';

interface Wrapper {
  options: string;
  /** How many operands precede the command, such as the duration of `timeout`. */
  skip?: number;
  privilege?: boolean;
  /** Further effects; returns the words of the command if they differ. */
  also?(call: ProgramCall, args: SortedArguments): void;
}

/** A program that runs the command behind its options. */
function toWrapper({ options, skip = 0, privilege = false, also }: Wrapper): ProgramRule {
  const table = toOptions(options);
  return (call) => {
    const args = sortArguments(call.args, table, { stopsAtOperand: true });
    if (privilege) addEffect(call, 'privilege', call.name);
    for (const { use, word } of args.values) addUse(call, use, word);
    for (const word of args.strange) addUnknown(call, word);
    // One that becomes several words has the place of the command, too.
    for (const word of args.operands.slice(0, skip)) if (word.splits) addUnknown(call, word);
    also?.(call, args);
    const scope = call.scope.fork(); // a program does not change the shell's folder
    call.reader.words(args.operands.slice(skip), { scope, stdin: call.stdin, startedBy: call.name });
  };
}

const ENV_OPTIONS = toOptions(`
  -i -0 -v --ignore-environment --null --debug -u,--unset:value -C,--chdir:value -S,--split-string:value
`);

function env(call: ProgramCall): void {
  const { operands, values, given, strange } = sortArguments(call.args, ENV_OPTIONS, { stopsAtOperand: true });
  for (const word of strange) addUnknown(call, word);
  const scope = call.scope.fork();
  // Without the variables that keep programs from harm, such as those of git.
  if (given.has('-i') || given.has('--ignore-environment')) call.findings.addGap('changed_environment', 'env -i');
  for (const { name, word } of values) useEnvOption(name, word, { call, scope });
  const from = operands.findIndex((word) => !isAssignment(word));
  const assigned = from < 0 ? operands : operands.slice(0, from);
  for (const word of assigned) if (word.isFree) addUnknown(call, word); // it may bring the command
  for (const { start, written } of assigned)
    noteVariable(start.split('=', 1)[0] ?? '', { isExported: true, at: written }, { findings: call.findings, scope });
  if (from >= 0) call.reader.words(operands.slice(from), { scope, stdin: call.stdin, startedBy: 'env' });
}

const isAssignment = ({ start }: ShellWord): boolean => /^[^=]+=/.test(start);

function useEnvOption(name: string, word: ShellWord, { call, scope }: { call: ProgramCall; scope: Scope }): void {
  const isUnset = name === '-u' || name === '--unset';
  if (isUnset && (word.value === undefined || isObeyed(word.value)))
    call.findings.addGap('changed_environment', word.written);
  if (name === '-C' || name === '--chdir') {
    scope.folder = word.value === undefined ? undefined : resolvePath(word.value, scope);
    scope.isRealFolder = false;
  }
  if (name !== '-S' && name !== '--split-string') return;
  // Its quoting differs from that of a shell, and further arguments follow it.
  addUnknown(call, word);
  if (word.value !== undefined) call.reader.script(word.value, scope);
}

/** Joins its arguments to shell code. */
function watch(call: ProgramCall): void {
  const table = toOptions(
    '-n,--interval:value -d -t -e -g -c -b -x --differences --no-title --errexit --chgexit --color --exec',
  );
  const { operands, given, strange } = sortArguments(call.args, table, { stopsAtOperand: true });
  for (const word of strange) addUnknown(call, word);
  if (given.has('-x') || given.has('--exec')) {
    call.reader.words(operands, { ...call, startedBy: 'watch' });
    return;
  }
  runCode(call, operands);
}

function runCode(call: ProgramCall, words: readonly ShellWord[]): void {
  if (words.some(({ value }) => value === undefined)) {
    call.findings.addGap('unknown_code', call.name);
    addUnknown(call);
  } else call.reader.script(words.map(({ value }) => value).join(' '), call.scope.fork());
}

/** Runs a login shell, or the code behind -c. */
function su(call: ProgramCall): void {
  addEffect(call, 'privilege', call.name);
  const table = toOptions('- -l --login -m -p -P -f -c,--command:value -s,--shell:value -g,--group:value -G:value');
  const { values, strange } = sortArguments(call.args, table);
  for (const word of strange) addUnknown(call, word);
  const code = values.filter(({ name }) => name === '-c' || name === '--command').map(({ word }) => word);
  if (code.length > 0) runCode(call, code);
  else addUnknown(call);
}

function flock(call: ProgramCall): void {
  const table = toOptions(
    '-s -x -e -u -n -o -F -w,--timeout:value -E:value --shared --exclusive --nonblock --wait:value --verbose',
  );
  const { operands, strange } = sortArguments(call.args, table, { stopsAtOperand: true });
  for (const word of strange) addUnknown(call, word);
  const [file, first, ...rest] = operands;
  if (file?.splits) addUnknown(call, file); // as above
  if (file && !/^\d+$/.test(file.value ?? '')) addUse(call, 'write', file);
  if (first?.value === '-c' || first?.value === '--command') runCode(call, rest.slice(0, 1));
  else if (first) call.reader.words([first, ...rest], { ...call, startedBy: 'flock' });
}

/** Without a command, it only prints a priority. */
function nice(call: ProgramCall): void {
  const [first, ...rest] = call.args;
  const isPriority = first?.value !== undefined && /^-\d+$/.test(first.value);
  NICE({ ...call, args: isPriority ? rest : call.args });
}

const NICE = toWrapper({ options: '-n,--adjustment:value' });

const SUDO = `
  -A -b -E -e -H -i -K -k -l -n -P -S -s -v -B -N --askpass --background --preserve-env --edit --set-home --login --non-interactive --stdin --shell
  -u,-g,-p,-C,-T,-h,-R,-D,-r,-t,-U,--user,--group,--prompt,--host,--chdir,--chroot,--close-from:value
`;

/** A login shell, an editor or another folder instead of a plain command. */
const SUDO_OTHERWISE = ['-i', '-e', '-s', '-R', '-D', '--login', '--edit', '--shell', '--chdir', '--chroot'];

/** strace pipes its output to a command, or changes what system calls do. */
function isTampering(name: string, word: ShellWord): boolean {
  if (name === '-o') return /^[|!]/.test(word.start) || (word.value === undefined && word.start === '');
  return name === '-e' && (word.value === undefined || /inject|fault/.test(word.value));
}

/** Rules of programs that run the command in their arguments. */
export const WRAPPERS = toRules({
  env,
  nice,
  watch,
  su,
  runuser: su,
  flock,
  'nohup setsid': toWrapper({ options: '-c -f -w --ctty --fork --wait' }),
  ionice: toWrapper({ options: '-c,-n,--class,--classdata:value -t --ignore' }),
  timeout: toWrapper({
    options: '-s,-k,--signal,--kill-after:value --preserve-status --foreground -v --verbose -p -f',
    skip: 1,
  }),
  stdbuf: toWrapper({ options: '-i,-o,-e,--input,--output,--error:value' }),
  time: toWrapper({
    options: '-p -v -a -q --append --verbose --portability --quiet -f,--format:value -o,--output:write',
  }),
  taskset: toWrapper({ options: '-a -c --all-tasks --cpu-list', skip: 1 }),
  chrt: toWrapper({ options: '-a -b -f -i -o -r -d -v --batch --fifo --idle --other --rr', skip: 1 }),
  strace: toWrapper({
    options:
      '-f -ff -F -c -C -q -qq -v -y -yy -Y -t -tt -ttt -T -r -e,-s,-a,-P,-S,-O,-b,-I,-X:value -u,-E:unknown -o:write',
    also: (call, { values }) => {
      for (const { name, word } of values) if (isTampering(name, word)) addUnknown(call, word);
    },
  }),
  'busybox toybox': toWrapper({ options: '--list --help' }),
  'sudo doas': toWrapper({
    options: SUDO,
    privilege: true,
    also: (call, { given, operands }) => {
      if (SUDO_OTHERWISE.some((option) => given.has(option))) addUnknown(call);
      for (const each of operands.filter(isAssignment).slice(0, 1)) addUnknown(call, each);
    },
  }),
  'chroot unshare nsenter pkexec': (call) => {
    addEffect(call, 'privilege', call.name);
    addUnknown(call);
  },
  'parallel systemd-run script fakeroot': (call) => {
    addUnknown(call);
    call.reader.words([...call.args.filter(({ start }) => !start.startsWith('-')), UNKNOWN_WORDS], {
      ...call,
      startedBy: call.name,
    });
  },
});
