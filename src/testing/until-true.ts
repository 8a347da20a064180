/** Lets turns of the event loop pass until the condition holds. */
export async function untilTrue(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}
