import path from 'node:path';
import type { ShellWord } from '../reading/shell-word.ts';
import { findRule } from './known-programs.ts';
import { addUnknown, type ProgramCall, type ProgramRule } from './program.ts';
import { BUILTINS } from './shell/builtins.ts';

/** Folders of the system: programs elsewhere may be anything, whatever their name. */
const SYSTEM_FOLDERS = /^\/(usr\/(local\/)?)?s?bin$/;

/** Adds the effects of a command by its words. */
export function runProgram(words: readonly ShellWord[], place: Omit<ProgramCall, 'name' | 'args'>): void {
  const [program, ...args] = words;
  if (program === undefined || program.value === '') return;
  const { findings, scope } = place;
  if (program.value === undefined) {
    findings.addGap('unknown_program', program.written);
    addUnknown({ findings, name: program.written });
    return;
  }
  const { value } = program;
  const { name, rule } = findProgram(value);
  findings.whileLookedUp(() => {
    if (rule !== undefined) rule({ ...place, name, args });
    else if (!scope.functions.has(name)) addUnknown({ findings, name: value });
  });
}

function findProgram(value: string): { name: string; rule: ProgramRule | undefined } {
  if (!value.includes('/')) return { name: value, rule: BUILTINS.get(value) ?? findRule(value) };
  const { dir, base } = path.parse(path.normalize(value));
  return { name: base, rule: SYSTEM_FOLDERS.test(dir) ? findRule(base) : undefined };
}
