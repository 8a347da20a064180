import { toSafeText } from '../../terminal/safe-text.ts';
import type { Transcript } from '../transcript.ts';

/** Runs a command of the terminal itself. False for any other line. */
export function runLocalCommand(
  line: string,
  { transcript, onLeave }: { transcript: Pick<Transcript, 'lastOutput' | 'lastThought' | 'print'>; onLeave(): void },
): boolean {
  switch (line) {
    case '/quit':
    case '/exit':
      onLeave();
      return true;
    case '/output':
    case '/thought': {
      const text = line === '/output' ? transcript.lastOutput : transcript.lastThought;
      transcript.print(text === '' ? ['(nothing yet)'] : toSafeText(text).trimEnd().split('\n'));
      return true;
    }
    default:
      return false;
  }
}
