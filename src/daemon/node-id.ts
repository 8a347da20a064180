import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';

/**
 * The name of this daemon in `/health`: the host name and four hex digits of the home folder's real path (decision 23).
 * It is the same at every start, and different for each daemon of a machine.
 */
export function nodeIdOf(home: string, hostname: string): string {
  const digits = createHash('sha256').update(realpathSync(home)).digest('hex').slice(0, 4);
  return `${hostname || 'headgate'}_${digits}`;
}
