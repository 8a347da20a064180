import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Message } from '../../agent/message.ts';
import type { Store } from '../store/store.ts';

/** The ids of the calls in the first messages of a workstream. */
export interface KnownCalls {
  /** How many messages have been read. */
  upTo: number;
  ids: Set<string>;
}

/** Messages read at a time. */
const PAGE = 200;

/**
 * The ids of all calls of a workstream, including those that its context leaves out; undefined when it leaves nothing
 * out. Reads each message once while the workstream is loaded. Skips damaged ones.
 */
export async function readEarlierCalls(
  store: Pick<Store, 'readMessages'>,
  { wsId, messageCount, knownCalls: known }: { wsId: string; messageCount: number; knownCalls: KnownCalls },
  context: readonly Message[],
): Promise<ReadonlySet<string> | undefined> {
  if (isWhole(context, messageCount)) return undefined;
  while (known.upTo < messageCount) {
    const range = { after: known.upTo, upTo: Math.min(known.upTo + PAGE, messageCount), limit: PAGE };
    for (const { json } of await store.readMessages(wsId, range)) for (const id of callsIn(json)) known.ids.add(id);
    known.upTo = range.upTo;
    if (known.upTo < messageCount) await nextTurn();
  }
  return known.ids;
}

/** A context of as many messages as are stored can leave something out only if a summary stands in its place. */
const isWhole = (context: readonly Message[], messageCount: number): boolean =>
  context.length === messageCount && !context.some((message) => message.role === 'user' && message.summary);

function callsIn(json: string | undefined): string[] {
  if (!json?.includes(ANY_CALL)) return []; // most messages; parsing them would take longer
  const message: Message = JSON.parse(json);
  return message.role === 'assistant' ? message.toolCalls.map(({ id }) => id) : [];
}

const ANY_CALL = '"toolCalls":[{';
