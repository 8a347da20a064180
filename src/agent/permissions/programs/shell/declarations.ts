import { isNumberText } from '../../reading/arithmetic.ts';
import { checkQuotedCode, noteVariable, useSubscript } from '../../reading/assignments.ts';
import type { ShellWord } from '../../reading/shell-word.ts';
import type { ProgramCall } from '../program.ts';

/** export, declare and their like: which variables get which value, and whether programs receive them. */
export function declare(call: ProgramCall): void {
  const { name, args, findings } = call;
  const options = args.filter(({ start }) => /^[-+]/.test(start));
  const has = (letter: string) => options.some(({ start }) => start.startsWith('-') && start.includes(letter));
  // Values are evaluated, or name another variable. An option that is cut off may be any.
  if (has('i') || has('n') || options.some(({ value }) => value === undefined)) findings.addGap('arithmetic', name);
  if (name === 'readonly' || has('r')) findings.mayEndLine = true; // setting it again is an error
  const isExported = name === 'export' ? !has('n') : has('x');
  const isArray = has('a') || has('A');
  for (const word of args) if (!/^[-+]/.test(word.start)) declareOne(word, { isExported, isArray }, call);
}

interface Declared {
  isExported: boolean;
  isArray: boolean;
}

function declareOne(word: ShellWord, { isExported, isArray }: Declared, call: ProgramCall): void {
  const { value, start, written, splits } = word;
  const [name] = /^[A-Za-z_]\w*/.exec(start) ?? [];
  if (name === undefined || (value === undefined && splits)) {
    call.findings.addGap('changed_environment', written);
    return;
  }
  checkQuotedCode(word, call.findings);
  if (isArray || isList(written)) call.arithmetic.makeArray(name);
  if (value === undefined && isArray && !isList(written)) call.findings.addGap('arithmetic', written);
  if (value === undefined) declareUnknown(name, word, call);
  else declareKnown(name, value, call);
  noteVariable(name, { isExported, at: written }, call);
}

/** A list in parentheses, which is read as an assignment. */
const isList = (written: string): boolean => /^\w+\+?=\(/.test(written);

/** The values of an array in parentheses are read once more: their subscripts are evaluated. */
function declareUnknown(name: string, { start, written }: ShellWord, call: ProgramCall): void {
  const [sets] = /^\+?=/.exec(start.slice(name.length)) ?? [];
  if (written.includes('[') || (sets === undefined && !isList(written))) call.findings.addGap('arithmetic', written);
  if (sets === undefined) return;
  call.arithmetic.assign(name, isNumberText(written.slice(name.length + sets.length)));
  call.arithmetic.declareUnknown(name);
}

/** A list as text whose subscripts or substitutions run once more. */
const RUNS_IN_LIST = /^\(.*[[<>]/s;

function declareKnown(name: string, value: string, call: ProgramCall): void {
  const [, subscript, text] = /^\w+(?:\[(.*?)\])?(?:\+?=(.*))?$/s.exec(value) ?? [];
  if (subscript !== undefined) useSubscript(name, subscript, call);
  if (text === undefined ? value !== name : RUNS_IN_LIST.test(text)) call.findings.addGap('arithmetic', value);
  if (text !== undefined) call.arithmetic.assign(name, isNumberText(text));
}
