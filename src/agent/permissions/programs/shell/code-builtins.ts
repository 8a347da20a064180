import type { ShellWord } from '../../reading/shell-word.ts';
import { sortArguments, toOptions } from '../options.ts';
import { addUnknown, addUse, type ProgramCall } from '../program.ts';
import { toRules } from '../rows.ts';

/** The words as one text, if all are known. */
const joinWords = (words: readonly ShellWord[]): string | undefined =>
  words.every(({ value }) => value !== undefined) ? words.map(({ value }) => value).join(' ') : undefined;

function addUnknownCode(call: ProgramCall): void {
  call.findings.addGap('unknown_code', [call.name, ...call.args.map(({ written }) => written)].join(' '));
  addUnknown(call);
}

function evaluate(call: ProgramCall): void {
  const text = joinWords(call.args);
  if (text === undefined) {
    call.scope.folder = undefined;
    addUnknownCode(call);
  } else call.reader.script(text.replace(/^-- /, ''), call.scope);
}

function source(call: ProgramCall): void {
  const [file] = call.args;
  if (file) addUse(call, 'read', file);
  call.scope.folder = undefined;
  call.scope.functions.clear();
  addUnknownCode(call);
}

function trap(call: ProgramCall): void {
  const [code, ...signals] = call.args.filter(({ value }) => value !== '--');
  if (code?.value === undefined) {
    code === undefined ? undefined : addUnknownCode(call);
    return;
  }
  if (/^(-[lp]*|\d*)$/.test(code.value) || signals.length === 0) return;
  const later = call.scope.fork();
  later.folder = undefined; // it runs wherever the command is by then
  call.reader.script(code.value, later);
}

const EXEC_OPTIONS = toOptions('-c -l -a:value');

function execute(call: ProgramCall): void {
  const { operands, given, strange } = sortArguments(call.args, EXEC_OPTIONS, { stopsAtOperand: true });
  for (const word of strange) addUnknown(call, word);
  if (given.has('-c')) call.findings.addGap('changed_environment', 'exec -c');
  call.reader.words(operands, { ...call, startedBy: call.name });
}

const COMMAND_OPTIONS = toOptions('-p -v -V');

function runCommand(call: ProgramCall): void {
  const { operands, given, strange } = sortArguments(call.args, COMMAND_OPTIONS, { stopsAtOperand: true });
  for (const word of strange) addUnknown(call, word);
  if (given.has('-v') || given.has('-V')) return;
  call.reader.words(operands, { ...call, startedBy: call.name });
}

/** Shells expand aliases only in some modes, so their commands may run. */
function alias(call: ProgramCall): void {
  for (const { written, value } of call.args) {
    if (value !== undefined && !value.includes('=')) continue;
    call.findings.addGap('alias', written);
    if (value === undefined) addUnknown(call);
    else call.reader.script(value.slice(value.indexOf('=') + 1), call.scope.fork());
  }
}

/** Builtins of bash that run code or other commands. */
export const CODE_BUILTINS = toRules({
  eval: evaluate,
  'source .': source,
  trap,
  exec: execute,
  'command builtin': runCommand,
  alias,
  unalias: () => undefined,
});
