import type { WireRequest } from '../support/wires/wire-server.ts';
import { cutsBetween, findUnexplained, type Placed } from './kept-pieces.ts';
import { type Alias, aliasOf, familyOf } from './model-servers.ts';
import type { StoredConversation } from './stored-cuts.ts';

/** A request in its wire's own form, as text. */
interface SentRequest extends Placed {
  before: string;
  /** How many messages each request of its line had that was answered, oldest first. */
  answered: readonly number[];
}

/** What one conversation sent, model after model. */
export interface Sent {
  latest: Map<Alias, SentRequest>;
  last: Alias | undefined;
  /** The first request to each model since everything began anew. */
  first: Map<Alias, SentRequest>;
}

export const nothingSent = (): Sent => ({ latest: new Map(), last: undefined, first: new Map() });

/** After a declared cut, everything begins anew. */
export function forget(sent: Sent): void {
  sent.latest.clear();
  sent.last = undefined;
  sent.first.clear();
}

/** What stays if the message with this text, and everything after it, is taken back. */
export function without({ latest, last }: Sent, taken: RegExp): Sent {
  const kept = [...latest].map(([alias, sent]) => [alias, withoutIn(sent, taken)] as const);
  return { latest: new Map(kept), last, first: new Map() };
}

/**
 * Without the model's answer, it counts no longer whether its server could read the images in front of it: they are new
 * again, so that they may be refused, or read, without a further cut.
 */
function withoutIn(sent: SentRequest, taken: RegExp): SentRequest {
  const all = (JSON.parse(sent.messages) as unknown[]).map((message) => JSON.stringify(message));
  const at = all.findIndex((message) => taken.test(message));
  if (at < 0) return sent;
  const answered = sent.answered.filter((count) => count < at);
  const upTo = answered.at(-1) ?? 0;
  const image = all.findIndex((message, index) => index >= upTo && index < at && IMAGE.test(message));
  return { ...sent, answered, messages: `[${all.slice(0, image < 0 ? at : image).join(',')}]` };
}

/** An image on any wire, or the words in its place. */
const IMAGE = /iVBORw0KGg|which is not shown to you/;

/** Where the first requests since everything began anew do not extend what was kept of the earlier ones. */
export function differencesOf({ first }: Sent, { latest, last }: Sent, stored: StoredConversation): string[] {
  return [...first].flatMap(([alias, request]) =>
    last !== undefined && familyOf(last) === familyOf(alias)
      ? (differenceOf(latest.get(alias), request, stored) ?? [])
      : [],
  );
}

/** The model that the system prompt names, on any wire. */
const NAMED = /- Model: ([\w.-]+?)\.(?:\\n|")/;

interface Extended {
  /** The system prompt was made for another family. */
  isForeign: boolean;
  /** Why it does not extend the last request to the same model; undefined: it does. */
  broken: string | undefined;
}

/**
 * Whether a request begins with the last one that this model answered, byte for byte. After a cut, or for a model of another
 * family, the form may differ, but everything that no cut names is there. Another model of the same family gets its own
 * reasoning back instead of the other's, so each model has its own line of requests. After a request without any answer, its
 * message may be gone, or be joined with the next one.
 */
export function extend(
  sent: Sent,
  request: WireRequest,
  { isUnanswered, stored }: { isUnanswered: boolean; stored: StoredConversation },
): Extended {
  const alias = aliasOf(request.model);
  const before = JSON.stringify(request.before);
  const messages = JSON.stringify(request.messages);
  const earlier = sent.latest.get(alias);
  const next: SentRequest = { before, messages, place: stored.place(), answered: [] };
  const isMoved = sent.last !== undefined && familyOf(sent.last) !== familyOf(alias);
  const broken = isMoved
    ? lossOf([...sent.latest.values()].at(-1), next, { stored, isMoved })
    : differenceOf(earlier, next, stored);
  if (isMoved) forget(sent);
  if (!sent.first.has(alias)) sent.first.set(alias, next);
  if (!isUnanswered) {
    const isSameLine = earlier && !isMoved && cutsBetween(earlier, next, stored).length === 0;
    const count = request.messages.length;
    next.answered = [...(isSameLine ? earlier.answered.filter((fewer) => fewer < count) : []), count];
    sent.latest.delete(alias); // the newest is the last one
    sent.latest.set(alias, next);
  }
  sent.last = alias;
  const named = NAMED.exec(`${before}${messages.slice(0, 10_000)}`)?.[1];
  const isForeign = named !== undefined && familyOf(aliasOf(named)) !== familyOf(alias);
  return { broken, isForeign };
}

function differenceOf(
  last: SentRequest | undefined,
  next: SentRequest,
  stored: StoredConversation,
): string | undefined {
  if (!last) return undefined;
  if (cutsBetween(last, next, stored).length > 0) return lossOf(last, next, { stored });
  if (last.before !== next.before) return `system or tools: ${around(last.before, next.before)}`;
  const beginning = last.messages.slice(0, -1);
  return next.messages.startsWith(beginning) ? undefined : `messages: ${around(beginning, next.messages)}`;
}

/** What cuts do not explain, where the form of the messages may differ. */
const lossOf = (
  last: SentRequest | undefined,
  next: SentRequest,
  about: { stored: StoredConversation; isMoved?: boolean },
): string | undefined => last && findUnexplained(last, next, { cuts: cutsBetween(last, next, about.stored), ...about });

/** Where two texts begin to differ. */
function around(one: string, other: string): string {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const from = Math.max(0, at - 60);
  return `at ${at}: …${one.slice(from, at + 100)}… became …${other.slice(from, at + 100)}…`;
}
