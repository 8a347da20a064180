export interface CommandChange {
  name: string;
  /** Undefined: it is as it was, or there is nothing to compare it with. */
  change: 'new' | 'gone' | undefined;
}

/** What a machine asks to lend, by name, held against what was approved for it before; undefined when nothing was. */
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
