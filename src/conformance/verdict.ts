/** The server violates the protocol. The message says what it did. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/** A case cannot be tested here: the token lacks a right, or the server lacks a feature. The message says which. */
export class Inapplicable extends Error {
  override readonly name = 'Inapplicable';
}

/** The run was interrupted. */
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
