/** A server did otherwise than the protocol says. The message tells what it did. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/** A case cannot be tried here: the token may not, or the server has no such thing. The message says why. */
export class Inapplicable extends Error {
  override readonly name = 'Inapplicable';
}

/** Somebody stopped the trial. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';

  constructor() {
    super('interrupted');
  }
}

/** Throws a Violation that shows both sides, unless they are equal as JSON. */
export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (is !== should) throw new Violation(`${what}: ${is}, not ${should}`);
}

export function expectThat(condition: boolean, violation: string): asserts condition {
  if (!condition) throw new Violation(violation);
}
