import type { WireRequest } from '../support/wires/wire-server.ts';
import { differencesOf, extend, forget, nothingSent, type Sent } from './extension.ts';
import type { StoredConversation } from './stored-cuts.ts';

/** Compares each request of a conversation with the earlier ones. */
export function createPrefixWitness(violate: (what: string) => void) {
  let sent = nothingSent();
  let stored: StoredConversation | undefined;
  let latestBefore: Sent['latest'] = new Map();
  let isInterrupted = false;
  let isEnding = false;
  const getStored = (): StoredConversation => {
    if (!stored) throw new Error('the conversation is not known yet');
    return stored;
  };
  const restoreUnlessAnswered = (): void => {
    const [latest] = [...sent.latest.values()].slice(-1);
    if (latest && !getStored().isAnswered(latest.place)) sent.latest = new Map(latestBefore);
  };
  return {
    /** Requests belong to this conversation from now on. */
    watch(conversation: StoredConversation): void {
      stored = conversation;
    },
    requested(request: WireRequest, { isUnanswered }: { isUnanswered: boolean }): void {
      if (isInterrupted) restoreUnlessAnswered();
      isInterrupted = isEnding;
      latestBefore = new Map(sent.latest);
      const { broken, isForeign } = extend(sent, request, { isUnanswered, stored: getStored() });
      if (broken !== undefined) violate(`not extended: ${request.wire} ${request.model}, ${broken}`);
      if (isForeign) violate(`${request.model} got the system prompt of another family`);
    },
    /** `work` stops a run, or ends its daemon, somewhere: the latest answer may not be stored, and is asked for again. */
    async interruptedBy(work: () => Promise<void>): Promise<void> {
      isInterrupted = true;
      isEnding = true;
      await work();
      isEnding = false;
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
