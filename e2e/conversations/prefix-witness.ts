import type { WireRequest } from '../support/wires/wire-server.ts';
import { differencesOf, extend, forget, nothingSent, type Sent } from './extension.ts';
import type { StoredConversation } from './stored-cuts.ts';

/** Compares each request of a conversation with the earlier ones. */
export function createPrefixWitness(violate: (what: string) => void) {
  let sent = nothingSent();
  let stored: StoredConversation | undefined;
  let latestBefore: Sent['latest'] = new Map();
  const getStored = (): StoredConversation => {
    if (!stored) throw new Error('the conversation is not known yet');
    return stored;
  };
  return {
    /** Requests belong to this conversation from now on. */
    watch(conversation: StoredConversation): void {
      stored = conversation;
    },
    requested(request: WireRequest, { isUnanswered }: { isUnanswered: boolean }): void {
      latestBefore = new Map(sent.latest);
      const { broken, isForeign } = extend(sent, request, { isUnanswered, stored: getStored() });
      if (broken !== undefined) violate(`not extended: ${request.wire} ${request.model}, ${broken}`);
      if (isForeign) violate(`${request.model} got the system prompt of another family`);
    },
    /** The daemon died while the latest request was being answered, so that it is made again, perhaps with more at its end. */
    lostAnswer(): void {
      sent.latest = new Map(latestBefore);
    },
    /** The context begins anew: nothing sent before counts. */
    beginAnew: () => forget(sent),
    /** What was sent so far; the next request begins anew. */
    setAside(): Sent {
      const aside = sent;
      sent = nothingSent();
      return aside;
    },
    /** The first request since then extends what is kept of the earlier ones. */
    compareFirst(kept: Sent): void {
      for (const what of differencesOf(sent, kept, getStored())) violate(`not extended after a rewind: ${what}`);
    },
    /** Another conversation goes on, or a part of this one. */
    moveTo(other: Sent): void {
      sent = other;
    },
  };
}
