import { UsageError } from '../../../start-error.ts';
import type { Here } from '../../local-time.ts';
import type { Sheet } from '../../terminal/sheet.ts';
import type { Talk } from '../talk.ts';

/** What the commands of the terminal need. */
export interface TalkCommandDeps {
  talk: Pick<Talk, 'attach' | 'exportTo' | 'importFrom' | 'readPage'> & {
    readonly transcript: Pick<Talk['transcript'], 'print'>;
  };
  sheet(): Sheet;
  here(): Here;
  /** Writes to the terminal next to what it shows. Absent over pipes. */
  writeToTerminal?: ((sequence: string) => void) | undefined;
}

/** A command of the terminal that the daemon's methods answer. A failure rejects with words for the person. */
export type TalkCommand = (argument: string, deps: TalkCommandDeps) => Promise<void>;

/** A number from 1 to `most`, or `fallback` for an empty argument. Throws the usage for anything else. */
export function toCount(
  argument: string,
  { command, fallback, most }: { command: string; fallback: number; most: number },
): number {
  if (argument === '') return fallback;
  const count = /^\d{1,6}$/.test(argument) ? Number(argument) : 0;
  if (count < 1 || count > most) throw new UsageError(`Usage: ${command} [N], with N from 1 to ${most}`);
  return count;
}
