import type { WireRequest } from '../support/wires/wire-server.ts';
import { type Alias, aliasOf, familyOf } from './model-servers.ts';

/** A request in its wire's own form, as text. */
interface SentRequest {
  before: string;
  messages: string;
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
  const kept = [...latest].map(([alias, { before, messages }]) => {
    const all: unknown[] = JSON.parse(messages);
    const at = all.findIndex((message) => taken.test(JSON.stringify(message)));
    return [alias, { before, messages: at < 0 ? messages : JSON.stringify(all.slice(0, at)) }] as const;
  });
  return { latest: new Map(kept), last, first: new Map() };
}

/** Where the first requests since everything began anew do not extend what was kept of the earlier ones. */
export function differencesOf({ first }: Sent, { latest, last }: Sent): string[] {
  return [...first].flatMap(([alias, request]) =>
    last !== undefined && familyOf(last) === familyOf(alias) ? (differenceOf(latest.get(alias), request) ?? []) : [],
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
 * Whether a request begins with the last one that this model answered, byte for byte. Another model of the family gets
 * its own reasoning back instead of the other's, so each model has its own line of requests. After a request without any
 * answer, its message may be gone, or be joined with the next one.
 */
export function extend(sent: Sent, request: WireRequest, { isUnanswered }: { isUnanswered: boolean }): Extended {
  const alias = aliasOf(request.model);
  const isMoved = sent.last !== undefined && familyOf(sent.last) !== familyOf(alias);
  if (isMoved) forget(sent);
  const before = JSON.stringify(request.before);
  const messages = JSON.stringify(request.messages);
  const next: SentRequest = { before, messages };
  const broken = differenceOf(sent.latest.get(alias), next);
  if (broken !== undefined) forget(sent);
  if (!sent.first.has(alias)) sent.first.set(alias, next);
  if (!isUnanswered) sent.latest.set(alias, next);
  sent.last = alias;
  const named = NAMED.exec(`${before}${messages.slice(0, 10_000)}`)?.[1];
  const isForeign = named !== undefined && familyOf(aliasOf(named)) !== familyOf(alias);
  return { broken, isForeign };
}

function differenceOf(last: SentRequest | undefined, next: SentRequest): string | undefined {
  if (!last) return undefined;
  if (last.before !== next.before) return `system or tools: ${around(last.before, next.before)}`;
  const beginning = last.messages.slice(0, -1);
  return next.messages.startsWith(beginning) ? undefined : `messages: ${around(beginning, next.messages)}`;
}

/** Where two texts begin to differ. */
function around(one: string, other: string): string {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const from = Math.max(0, at - 60);
  return `at ${at}: …${one.slice(from, at + 100)}… became …${other.slice(from, at + 100)}…`;
}
