import type { ChildProcess } from 'node:child_process';

/**
 * Whether a child that was just spawned has its streams. If no file descriptor is left for its pipes, Node returns a child
 * without any, whatever its types say, and reports the reason only by an event.
 */
export function hasStreams(child: ChildProcess): boolean {
  const { stdio }: { stdio?: unknown } = child;
  if (stdio === undefined) child.on('error', () => undefined);
  return stdio !== undefined;
}

/** Throws if a child that was just spawned has no streams. */
export function withStreams<C extends ChildProcess>(child: C): C {
  if (!hasStreams(child)) throw new Error('too many files are open');
  return child;
}
