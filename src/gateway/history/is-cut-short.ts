import type { Range } from '../cuts/cut.ts';
import type { Messages } from './messages.ts';

/** Whether a page that begins with message `shownFrom` lacks earlier messages of its range. */
export async function isCutShort(
  shownFrom: number | undefined,
  { wsId, messages, range }: { wsId: string; messages: Pick<Messages, 'firstSeq'>; range: Range },
): Promise<boolean> {
  const first = await messages.firstSeq(wsId, range);
  return first !== undefined && (shownFrom === undefined || shownFrom > first);
}
