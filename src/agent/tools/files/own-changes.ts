/** A change of a file by a call of a conversation. */
interface Change {
  wsId: string;
  /** The versions (SHA-256) before and after. */
  from: string;
  to: string;
}

/** The latest changes by path, the path that was changed last at the end. */
const changes = new Map<string, Change[]>();
const MOST_PATHS = 1_000;
const MOST_OF_PATH = 100;

/** Remembers that a conversation has changed a file. */
export function noteChange(path: string, change: Change): void {
  const known = changes.get(path) ?? [];
  changes.delete(path);
  changes.set(path, [...known, change].slice(-MOST_OF_PATH));
  for (const oldest of changes.keys()) {
    if (changes.size <= MOST_PATHS) break;
    changes.delete(oldest);
  }
}

/**
 * Whether only calls of this conversation have led from one version of a file to another one since this process began: such as
 * those before it in the same answer.
 */
export function hasChangedItself(path: string, { wsId, from, to }: Change): boolean {
  let version = from;
  for (const change of changes.get(path) ?? [])
    if (change.from === version && change.wsId === wsId) version = change.to;
  return version === to;
}
