import type { SeenConversation, SeenWorkstream } from '../../coordinator/coordination.ts';
import type { ToolOutcome } from '../tool.ts';
import { asData } from './coordinator-call.ts';

/** The fields of a workstream for models. */
export const toRow = ({ wsId, name, state, isOpen, kind, parentWsId }: SeenWorkstream) => ({
  ws_id: wsId,
  name,
  state: isOpen ? state : 'closed',
  ...(kind === 'coordinator' && { kind }),
  ...(parentWsId !== undefined && { parent_ws_id: parentWsId }),
});

/** What one text of a conversation may take of an output, if there are several. */
const LEAST_CHARS = 400;

/** Conversations within the limit of an output, each text cut to its share. */
export function toSeen(seen: readonly SeenConversation[], maxBytes: number, more: object = {}): ToolOutcome {
  const texts = seen.reduce((sum, { messages }) => sum + messages.length, 0);
  // A character takes up to six bytes in JSON.
  const chars = Math.max(LEAST_CHARS, Math.floor(maxBytes / 6 / Math.max(1, texts)));
  const workstreams = seen.map(({ workstream, messages, waitsFor }) => ({
    ...toRow(workstream),
    ...(waitsFor.length > 0 && { waits_for_person: waitsFor }),
    messages: messages.map(({ role, text }) => ({ role, text: toShare(text, chars) })),
  }));
  const taint = seen.find((one) => one.taint)?.taint;
  return asData({ ...more, workstreams }, taint);
}

const toShare = (text: string, chars: number): string =>
  text.length <= chars ? text : `${text.slice(0, chars)} [… ${text.length - chars} characters left out]`;
