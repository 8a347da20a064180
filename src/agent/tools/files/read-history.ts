import type { Message } from '../../message.ts';

/**
 * The version (SHA-256) of a file that the model last read or wrote. It comes from the stored history, so it survives a
 * restart.
 */
export function findSeenVersion(history: readonly Message[], path: string): string | undefined {
  return history
    .map((message) => (message.role === 'tool' ? message.files?.[path] : undefined))
    .findLast((version) => version !== undefined);
}
