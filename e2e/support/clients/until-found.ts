import type { CheckedClient } from './checked-client.ts';

/** Repeats a query until it finds something. */
export async function untilFound<T>(
  client: Pick<CheckedClient, 'call'>,
  look: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await client.call('health'); // a round trip, which lets events happen
  }
}
