import type { ReadCommand } from '../../command-reading.ts';
import { toKnownWord } from '../../reading/shell-word.ts';
import { type SortedArguments, sortArguments, toOptions } from '../options.ts';
import { addUnknown, addUse, type ProgramCall, type ProgramRule } from '../program.ts';
import { toRules } from '../rows.ts';

const SHELL_OPTIONS = toOptions(
  '-c -e -u -x -v -f -n -s -i -l -p -a -h -o:value -O:value --login --norc --noprofile --posix --version --help',
);

/** A shell: the code behind -c and of its input is read like the command itself. */
function shell(call: ProgramCall): void {
  const args = sortArguments(call.args, SHELL_OPTIONS, { stopsAtOperand: true });
  const { given, strange, operands, values } = args;
  if (given.has('--version') || given.has('--help')) return;
  for (const word of strange) addUnknown(call, word);
  // Files of the user are read first, options change the language, and variables are exported.
  const isUnusual = ['-i', '-l', '--login', '-O', '-a'].some((name) => given.has(name)) || values.length > 0;
  if (isUnusual) call.findings.addGap('unknown_code', call.name);
  const [first] = operands;
  if (given.has('-c')) runText(call, first?.value);
  else if (first !== undefined && !given.has('-s')) runFile(call, args);
  else runInput(call, call.stdin.kind === 'text' ? call.stdin.text : undefined);
}

/** They never read their input. */
const WITHOUT_INPUT = /^(:|\[|cd|echo|exit|export|false|ls|mkdir|printf|pwd|set|test|touch|true)$/;

/** The code is read line by line, and its commands share the input: one may take a part of the lines behind it. */
function runInput(call: ProgramCall, text: string | undefined): void {
  const before = call.findings.commands.length;
  runText(call, text);
  const isRead = ({ words: [program] }: ReadCommand) =>
    program !== undefined && !WITHOUT_INPUT.test(program.value ?? '');
  if (text?.trim().includes('\n') && call.findings.commands.slice(before).some(isRead)) addUnknown(call);
}

function runText(call: ProgramCall, text: string | undefined): void {
  if (text === undefined) {
    call.findings.addGap('unknown_code', [call.name, ...call.args.map(({ written }) => written)].join(' '));
    addUnknown(call);
  } else call.reader.script(text, call.scope.fork());
}

function runFile(call: ProgramCall, { operands: [file] }: SortedArguments): void {
  if (file === undefined) return;
  addUse(call, 'read', file);
  addUnknown(call, file);
}

/** Code of other languages is not read. A file of it is named. */
const interpreter: ProgramRule = (call) => {
  const [first] = call.args;
  const version = /^(node|perl|ruby|php|lua)/.test(call.name)
    ? /^(--version|-v|--help|-h)$/
    : /^(--version|-V|--help|-h)$/;
  if (call.args.length === 1 && version.test(first?.value ?? '')) return;
  // Options differ, and may have values; the first operand is usually the program.
  const file = call.args.find(({ start }) => !start.startsWith('-'));
  const isCode = call.args.some(({ start }) => /^-(c|e|m|p|r|-eval|-print)/.test(start));
  if (file && !isCode) addUse(call, 'read', file);
  addUnknown(call, first ?? toKnownWord('-'));
};

/** The languages are close to that of bash, not the same. */
const otherShell: ProgramRule = (call) => {
  shell(call);
  addUnknown(call);
};

/** Rules of shells and other interpreters. */
export const INTERPRETERS = toRules({
  'sh bash dash ash rbash': shell,
  'zsh ksh mksh fish csh tcsh': otherShell,
  'python python3 node nodejs deno bun perl ruby php lua tclsh Rscript java osascript pwsh expect gdb ed ex vi vim nvim emacs':
    interpreter,
});
