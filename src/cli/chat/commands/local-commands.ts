import { toSafeText } from '../../terminal/safe-text.ts';
import type { Transcript } from '../transcript.ts';

/** Runs a command of the terminal itself. False for any other line. */
export function runLocalCommand(
  line: string,
  { transcript, onLeave }: { transcript: Pick<Transcript, 'cards' | 'lastThought' | 'print'>; onLeave(): void },
): boolean {
  switch (line) {
    case '/quit':
    case '/exit':
      onLeave();
      return true;
    case '/keys':
      transcript.print(KEYS.map(([key, meaning]) => `${key.padEnd(12)}${meaning}`));
      return true;
    case '/output':
    case '/thought': {
      const text = line === '/output' ? (transcript.cards.all.at(-1)?.output ?? '') : transcript.lastThought;
      transcript.print(text === '' ? ['(nothing yet)'] : toSafeText(text).trimEnd().split('\n'));
      return true;
    }
    default:
      return false;
  }
}

/** What the keys do, for people. */
const KEYS: readonly (readonly [key: string, meaning: string])[] = [
  ['y, n', 'approve or deny the question, while the line is empty'],
  ['f', 'a remark before y or n'],
  ['r', 'approve with a rule: calls like this one run without asking, for an hour, this conversation or for good'],
  ['e', 'decide each call of a question by itself'],
  ['a', 'every call here runs without asking; /mode ask ends that'],
  ['v', 'print everything that would run'],
  ['Enter', 'send; a backslash before it, Alt-Enter or Ctrl-J begin a new line'],
  ['Tab, Up', 'complete a command; recall earlier input'],
  ['@, !', '@FILE or @FILE#20-45 attaches a file to the message; !COMMAND runs a command of yours'],
  ['Ctrl-R', 'search earlier input; letters find it, Enter takes it'],
  ['Ctrl-O', 'list the calls: unfold and fold each, and read its whole output'],
  ['Alt-1 … 9', 'change to a tab; /open opens one'],
  ['Esc', 'stop the answer and keep the line; close a list'],
  ['Ctrl-C', 'clear the line, or stop the answer; twice: leave'],
  ['Ctrl-D', 'leave; a run in progress continues'],
];
