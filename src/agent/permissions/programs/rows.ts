import type { EffectKind } from '../../../../protocol/events/call-effects.ts';
import { dropStart, type ShellWord } from '../reading/shell-word.ts';
import { type Options, type SortedArguments, sortArguments, toOptions } from './options.ts';
import { addEffect, addUnknown, addUse, type ProgramCall, type ProgramRule, type Use } from './program.ts';
import { addFolder } from './targets.ts';

/** A program by its options and operands. */
export interface Row {
  /** See toOptions. */
  options?: string;
  /** Whether no option has effects beyond reading, so that unknown ones need no remark. */
  lenient?: boolean;
  /** What the operands are used for; the last use is that of all further operands. Absent: nothing. */
  operands?: readonly Use[];
  /** Effects of every call. */
  effects?: readonly EffectKind[];
  /** Whether a call may change anything below the working directory, or read it. */
  folder?: 'read' | 'write';
  /** Further effects, by the sorted arguments. */
  also?(call: ProgramCall, args: SortedArguments): void;
}

/** Makes a rule of a row. */
export function toRule(row: Row): ProgramRule {
  let options: Options | undefined;
  return (call) => {
    options ??= toOptions(row.options ?? '');
    addRow(call, { row, options }, sortArguments(call.args, options));
  };
}

function addRow(call: ProgramCall, { row, options }: { row: Row; options: Options }, args: SortedArguments): void {
  for (const kind of row.effects ?? []) addEffect(call, kind, call.name);
  if (row.folder) addFolder(call, row.folder);
  const { operands = [] } = row;
  args.operands.forEach((word, index) => {
    // A word that becomes several, such as src/{a,b}.ts, has the places behind it, too.
    const from = Math.min(index, operands.length - 1);
    for (const use of operands.slice(from, word.splits ? undefined : from + 1)) addUse(call, use, word);
  });
  for (const { use, word } of args.values) addUse(call, use, word);
  for (const word of args.strange) addStrange(call, word, { row, options, args });
  row.also?.(call, args);
}

/** A word that the table does not know, or that may become options and operands. */
function addStrange(
  call: ProgramCall,
  word: ShellWord,
  { row: { lenient, operands = [] }, options, args }: { row: Row; options: Options; args: SortedArguments },
): void {
  // One that is cut off may become options that the table knows, with files: `-n{,f.env}`.
  const isCutOff = word.value === undefined && word.start.startsWith('-') && !word.start.includes('=');
  if (!lenient || isCutOff) addUnknown(call, word);
  if (!lenient) return;
  addReadOfOption(call, word, { hidesOperands: operands[0] === 'value', options });
  const use = operands.at(-1);
  if (use !== undefined && word.splits && word.isFree && !args.operands.includes(word)) addUse(call, use, word);
}

/** An unknown option of a program that only reads may name a file. */
function addReadOfOption(
  call: ProgramCall,
  word: ShellWord,
  { hidesOperands, options }: { hidesOperands: boolean; options: Options },
): void {
  addGluedFile(call, word, options);
  const at = word.start.indexOf('=');
  // An option in place of the pattern makes the pattern a file.
  if (at < 0 && word.isFree && hidesOperands) addUse(call, 'read', word);
  if (at < 0) return;
  const value = word.value?.slice(at + 1);
  addUse(call, 'read', { ...word, value, written: value ?? word.written, start: word.start.slice(at + 1) });
}

/** The file in `-nf.env`, behind a letter that the table does not know. */
function addGluedFile(call: ProgramCall, word: ShellWord, options: Options): void {
  if (!/^-[^-]/.test(word.start)) return;
  const at = [...word.start].findIndex((letter, index) => index > 0 && options.get(`-${letter}`) === 'read');
  if (at > 0 && at + 1 < word.start.length) addUse(call, 'read', dropStart(word, at + 1));
}

/** Makes rules of rows that are named by all their programs: `{'cat tac': …}`. */
export const toRules = (rows: Record<string, Row | ProgramRule>): Map<string, ProgramRule> =>
  new Map(
    Object.entries(rows).flatMap(([names, row]) => {
      const rule = typeof row === 'function' ? row : toRule(row);
      return names.split(' ').map((name): [string, ProgramRule] => [name, rule]);
    }),
  );
