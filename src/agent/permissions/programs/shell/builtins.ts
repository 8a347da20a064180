import { useArithmetic } from '../../reading/arithmetic.ts';
import { checkQuotedCode, noteSet, noteSetByName } from '../../reading/assignments.ts';
import { type ShellWord, toKnownWord } from '../../reading/shell-word.ts';
import { sortArguments, toOptions } from '../options.ts';
import type { ProgramCall, ProgramRule } from '../program.ts';
import { toRules } from '../rows.ts';
import { resolvePath } from '../targets.ts';
import { CODE_BUILTINS } from './code-builtins.ts';
import { declare } from './declarations.ts';

const nothing: ProgramRule = () => undefined;

const CD_OPTIONS = toOptions('-L -P -e -@');

function cd(call: ProgramCall): void {
  const { scope, findings, args } = call;
  findings.changesFolder = true;
  const { operands, strange } = sortArguments(args, CD_OPTIONS);
  const [target, ...more] = operands;
  const wanted = target === undefined ? scope.home : target.value;
  const isCertain =
    strange.length === 0 && more.length === 0 && wanted !== '-' && wanted !== '' && !findings.functions.has('cd');
  scope.folder = isCertain && wanted !== undefined ? resolvePath(wanted, scope) : undefined;
  scope.isRealFolder = false;
}

function moveAround({ scope, findings }: ProgramCall): void {
  findings.changesFolder = true;
  scope.folder = undefined;
}

/** Builtins that set variables by name; a subscript in such a name is evaluated. */
function setVariables(call: ProgramCall): void {
  for (const word of call.args) {
    checkQuotedCode(word, call.findings);
    if (word.value === undefined) call.findings.addGap('arithmetic', word.written);
    else noteSetByName(word.value, call);
  }
}

/** Puts a name that is attached to its option, as in `-aPATH`, in place of the word. */
const withAttachedName = (args: readonly ShellWord[], option: RegExp): ShellWord[] =>
  args.map((word) => {
    const attached = (word.value ?? '').replace(option, '');
    return option.test(word.value ?? '') && attached !== '' ? toKnownWord(attached) : word;
  });

function unset(call: ProgramCall): void {
  setVariables(call);
  if (!call.args.some(({ value }) => value === '-v')) call.scope.functions.clear();
}

function printf(call: ProgramCall): void {
  const [first, second] = call.args;
  // A format that is unknown may be -v, which evaluates the subscript of its name.
  if (first?.value === undefined) {
    if (first?.isFree || first?.start.startsWith('-')) call.findings.addGap('arithmetic', first.written);
    return;
  }
  if (first.value === '-v') setVariables({ ...call, args: second === undefined ? [] : [second] });
  else if (first.value.startsWith('-v')) setVariables({ ...call, args: [toKnownWord(first.value.slice(2))] });
}

/** `-v` evaluates subscripts of the name that it tests. */
function testFile(call: ProgramCall): void {
  for (const [index, word] of call.args.entries()) {
    if (word.splits && word.isFree) call.findings.addGap('arithmetic', word.written);
    const name = call.args[index + 1];
    const mayBeV = word.value === undefined ? '-v'.startsWith(word.start) : word.value === '-v';
    if (mayBeV && name !== undefined && name.value !== ']') testName(name, word.value === '-v', call);
  }
}

function testName(name: ShellWord, isCertain: boolean, call: ProgramCall): void {
  if (isCertain) setVariables({ ...call, args: [name] });
  else if (name.value === undefined || name.value.includes('[')) call.findings.addGap('arithmetic', name.written);
}

function evaluate(call: ProgramCall): void {
  for (const word of call.args) {
    const [, variable, expression = word.value] = /^([A-Za-z_]\w*)[-+*/%]?=(.*)$/s.exec(word.value ?? '') ?? [];
    if (expression === undefined) call.findings.addGap('arithmetic', word.written);
    else useArithmetic(call, expression);
    if (variable !== undefined) noteSet(variable, true, call);
  }
}

/** `-p` names a variable. An argument that is not a number may be `-p`. */
function wait(call: ProgramCall): void {
  if (call.args.some(({ start }) => /^-\w*p/.test(start)))
    setVariables({ ...call, args: withAttachedName(call.args, /^-\w*?p/) });
  for (const word of call.args) if (word.isFree) useArithmetic(call, word.written.replace(/^"(.*)"$/s, '$1'));
}

/** -x starts a command. */
function jobs(call: ProgramCall): void {
  for (const word of call.args)
    if (word.isFree || /^-\w*x/.test(word.start)) call.findings.addGap('unknown_code', word.written);
}

const HARMLESS_SET =
  /^(--|-|[-+][euxfvhnCE]+|[-+][euxfvhnCE]*o|pipefail|errexit|nounset|xtrace|noglob|noclobber|verbose|errtrace)$/;
/** Not nullglob, with which words vanish that an option takes, nor failglob, which skips the rest of a line. */
const HARMLESS_SHOPT = /^(-[suqp]+|extglob|nocasematch|inherit_errexit)$/;

function setOptions(call: ProgramCall, harmless: RegExp): void {
  for (const word of call.args) {
    if (word.value === '--') return;
    if (word.value === undefined || !harmless.test(word.value))
      call.findings.addGap('changed_environment', word.written);
  }
}

/** Without arguments they only print. */
function changesLookups(call: ProgramCall): void {
  if (call.args.length > 0) call.findings.addGap('changed_environment', call.name);
}

/** Rules of the builtins of bash. */
export const BUILTINS = new Map([
  ...toRules({
    cd,
    'pushd popd': moveAround,
    'export declare typeset local readonly': declare,
    'read mapfile readarray getopts': (call) => {
      const runsCode = /^(mapfile|readarray)$/.test(call.name);
      for (const { start, value, written } of call.args)
        if (start.startsWith('-') && (value === undefined || (runsCode && /^-\w*C/.test(start))))
          call.findings.addGap('unknown_code', written); // cut off, it may become any options and names
      const names = withAttachedName(call.args, /^-\w*?a/).filter(
        ({ start }) => start === '' || /^[A-Za-z_$]/.test(start),
      );
      setVariables({ ...call, args: names });
      if (runsCode || call.args.some(({ start }) => /^-\w*a/.test(start)))
        for (const { start } of names) call.arithmetic.makeArray(start);
    },
    unset,
    wait,
    jobs,
    printf,
    'test [': testFile,
    let: evaluate,
    set: (call) => setOptions(call, HARMLESS_SET),
    shopt: (call) => setOptions(call, HARMLESS_SHOPT),
    'enable hash bind complete compopt compgen fc history': changesLookups,
    ': true false echo pwd exit return break continue shift bg fg disown dirs type times umask ulimit caller suspend logout':
      nothing,
  }),
  ...CODE_BUILTINS,
]);
