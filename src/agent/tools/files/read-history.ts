import type { Message } from '../../message.ts';
import { ToolProblem } from '../tool-problem.ts';
import type { FileVersion } from './confined-file.ts';
import type { AllowedPlace } from './confinement.ts';

/**
 * The version (SHA-256) of a file that the model last read or wrote. It comes from the stored history, so it survives a
 * restart.
 */
export function findSeenVersion(history: readonly Message[], path: string): string | undefined {
  return history
    .map((message) => (message.role === 'tool' ? message.files?.[path] : undefined))
    .findLast((version) => version !== undefined);
}

/** Throws unless the model has read this version of the file. `before`: what it must be read for. */
export function checkSeen(
  { shown, path }: Pick<AllowedPlace, 'shown' | 'path'>,
  {
    old,
    history,
    before,
  }: { old: Pick<FileVersion, 'sha256'>; history: readonly Message[]; before: 'editing' | 'deleting' | 'moving' },
): void {
  const seen = findSeenVersion(history, path);
  if (seen === undefined) throw new ToolProblem(`${shown} has not been read yet; read it before ${before}.`);
  if (seen !== old.sha256) throw new ToolProblem(`${shown} has changed since it was read; read it again.`);
}
