import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { recordingLog } from '../../../testing/temp-store.ts';
import { createLink, type Link, type LinkHandlers } from './link.ts';
import { createSeal, type End } from './sealed-messages.ts';

const NOTHING: LinkHandlers = { answer: async () => null, hear: () => undefined };

/** What happens to a message on its way; an empty list: it is lost. */
export type Way = (sealed: Uint8Array, from: End) => Uint8Array[];

/** Two ends of a link that are joined in memory. Each message arrives in the next turn of the event loop. */
export function joinedLinks(handlers: Partial<Record<End, Partial<LinkHandlers>>> = {}) {
  const [clock, log, secret] = [fakeClock(1_000), recordingLog(), randomBytes(32)];
  /** `throws`: sending fails. */
  const wire: { way: Way; throws: boolean; sent: number } = { way: (sealed) => [sealed], throws: false, sent: 0 };
  const ends: Partial<Record<End, Link>> = {};
  const create = (end: End): Link => {
    const other = end === 'asked' ? 'answered' : 'asked';
    const deliver = async (sealed: Uint8Array): Promise<void> => {
      await nextTurn();
      ends[other]?.take(sealed);
    };
    const send = (sealed: Uint8Array): void => {
      if (wire.throws) throw new Error('the bus is away');
      wire.sent += 1;
      for (const message of wire.way(sealed, end)) void deliver(message);
    };
    const link = createLink({
      seal: createSeal(secret, end),
      send,
      handlers: { ...NOTHING, ...handlers[end] },
      clock,
      log,
    });
    ends[end] = link;
    return link;
  };
  return { asked: create('asked'), answered: create('answered'), wire, clock, log };
}

/** Lets everything that is on its way arrive. */
export async function settle(): Promise<void> {
  for (let n = 0; n < 10; n += 1) await nextTurn();
}
