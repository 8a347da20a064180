import type { Assignment, Command, Word } from 'unbash';
import type { Stdin } from '../programs/program.ts';
import type { ArithmeticUses } from './arithmetic.ts';
import { readAssignment } from './assignments.ts';
import type { Findings } from './findings.ts';
import { readRedirections, toStdin } from './redirections.ts';
import type { Scope } from './scope.ts';
import { type ShellWord, toKnownWord, toShellWord } from './shell-word.ts';

interface Place {
  findings: Findings;
  arithmetic: ArithmeticUses;
  scope: Scope;
  stdin: Stdin;
}

/** A simple command, ready to be looked up among the programs. */
interface SimpleCommand {
  words: ShellWord[];
  stdin: Stdin;
}

/** Reads assignments, redirections and words; what they contain is read elsewhere. */
export function readSimpleCommand(command: Command, place: Place): SimpleCommand {
  const { findings } = place;
  const assigned = command.prefix.filter((each) => each.type === 'Assignment');
  for (const each of assigned) readAssignment(each, command.name !== undefined, place);
  const redirections = readRedirections(command.redirects, place);
  const named = command.name === undefined ? [] : [command.name, ...command.args];
  const words = named.map((word) => readWord(word, place));
  for (const word of words) if (word.value === undefined) findings.addGap('unknown_words', word.written);
  const { folder } = place.scope;
  const assignments = assigned.map(({ name }) => name);
  findings.addCommand({ words, assignments, redirections, ...(folder !== undefined && { folder }) });
  return { words, stdin: toStdin(command.redirects, place.stdin) };
}

function readWord(word: Word | Assignment, place: Place): ShellWord {
  if (word.type === 'Word') return toShellWord(word, place.scope.home);
  readAssignment(word, false, place);
  return toAssignmentWord(word, place.scope.home);
}

/** An argument such as that of `export`. */
function toAssignmentWord({ text, name, append, index, value }: Assignment, home: string | undefined): ShellWord {
  const start = `${name}${append ? '+' : ''}=`;
  if (index !== undefined || value.type === 'ArrayValue')
    return { written: text, value: undefined, start: name, splits: false, isFree: false };
  const read = toShellWord(value, home);
  if (read.value !== undefined) return { ...toKnownWord(start + read.value), written: text };
  return { written: text, value: undefined, start: start + read.start, splits: false, isFree: false };
}
