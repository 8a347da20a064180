export interface CommandChange {
  name: string;
  /** Undefined if unchanged, or if there is nothing to compare with. */
  change: 'new' | 'gone' | undefined;
}

/** Compares the commands that a machine asks for with those `approved` before (undefined: none), sorted by name. */
export function toCommandChanges(
  asked: readonly string[],
  approved: readonly string[] | undefined,
): readonly CommandChange[] {
  const [lent, before] = [new Set(asked), new Set(approved ?? asked)];
  return [...new Set([...lent, ...before])]
    .sort()
    .map((name) => ({ name, change: changeOf(lent.has(name), before.has(name)) }));
}

const changeOf = (isLent: boolean, wasLent: boolean): CommandChange['change'] =>
  isLent === wasLent ? undefined : isLent ? 'new' : 'gone';
