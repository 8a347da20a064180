import type { Assignment, Word } from 'unbash';
import { type ArithmeticUses, isNumberText, useArithmetic } from './arithmetic.ts';
import { isObeyed, mayChangePrograms } from './environment-names.ts';
import type { Findings } from './findings.ts';
import type { Scope } from './scope.ts';
import { type ShellWord, toShellWord } from './shell-word.ts';

interface Place {
  findings: Findings;
  arithmetic: ArithmeticUses;
  scope: Scope;
}

/** Notes what a variable is set to, and whether programs (`isExported`) or the shell obey it. */
export function readAssignment(assignment: Assignment, isExported: boolean, place: Place): void {
  const { name, value, text } = assignment;
  const words = value.type === 'ArrayValue' ? value.elements : [value];
  for (const word of words) noteValue(name, word, place);
  if (value.type === 'ArrayValue') for (const { text: element } of words) useElement(element, place);
  if (value.type === 'ArrayValue' || assignment.index) place.arithmetic.makeArray(name);
  noteVariable(name, { isExported, at: text }, place);
}

/** The subscript of an element such as `[i]=x` is evaluated. */
function useElement(element: string, place: Place): void {
  const [, subscript] = /^\[(.*?)\]\+?=/s.exec(element) ?? [];
  if (subscript !== undefined) useArithmetic(place, subscript);
}

function noteValue(name: string, word: Word, { findings, arithmetic, scope }: Place): void {
  arithmetic.assign(name, isNumberText(word.text));
  checkQuotedCode(toShellWord(word, scope.home), findings);
}

/** Notes that the shell gives a variable a value otherwise than by an assignment: a number, or anything. */
export function noteSet(name: string, isNumber: boolean, place: Place): void {
  place.arithmetic.assign(name, isNumber);
  noteVariable(name, { isExported: false, at: name }, place);
}

/** As noteSet, for a name as text, which may be one of an array: its subscript is evaluated. */
export function noteSetByName(text: string, place: Place): void {
  const [, name = text, subscript] = /^([A-Za-z_]\w*)\[(.*?)\]?$/s.exec(text) ?? [];
  if (subscript !== undefined) useSubscript(name, subscript, place);
  noteSet(name, false, place);
}

/** Notes the use of an element of an array by its subscript. `@` and `*` are all elements. */
export function useSubscript(name: string, subscript: string, place: Pick<Place, 'findings' | 'arithmetic'>): void {
  place.arithmetic.makeArray(name);
  if (!/^[@*]$/.test(subscript)) useArithmetic(place, subscript);
}

/** Variables that bash does not set, and the depth of functions. */
const ENDS_LINE = /^(UID|EUID|PPID|FUNCNEST)$/;

/** Notes that a variable is set, or passed on to programs. */
export function noteVariable(
  name: string,
  { isExported, at }: { isExported: boolean; at: string },
  { findings, scope }: Pick<Place, 'findings' | 'scope'>,
): void {
  if (ENDS_LINE.test(name)) findings.mayEndLine = true;
  if (name === 'HOME') scope.home = undefined;
  if (isExported ? mayChangePrograms(name) : isObeyed(name)) findings.addGap('changed_environment', at);
}

/** Text that looks like a substitution, but is quoted, may run later: bash evaluates some values again. */
export function checkQuotedCode(
  { value, start, written }: Pick<ShellWord, 'value' | 'start' | 'written'>,
  findings: Findings,
): void {
  if (/\$\(|`|\$\{/.test(value ?? start)) findings.addGap('unknown_code', written);
}
