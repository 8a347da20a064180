import type { Taint } from '../../../../protocol/events/rules.ts';
import type { Message, UserMessage } from '../../message.ts';
import type { Effect } from '../../permissions/command-reading.ts';
import { isEdit } from '../../permissions/harmless.ts';
import { isIgnoreFile } from '../../project/project-places.ts';
import { isSecretPath } from '../../tools/files/secret-path.ts';
import type { BatchCall, CallPlaces } from '../batch-call.ts';
import type { RuledRun } from '../run-context.ts';

/** What a call reads that nobody trusts, as it is stored with its result. */
export type ReadTaint = Pick<Taint, 'kind' | 'target'>;

/** Why the call must ask that would run unasked: what the conversation has read, if the call reaches further. */
export function taintOn({ messages }: Pick<RuledRun, 'messages'>, item: BatchCall): Taint | undefined {
  return reachesFurther(item) ? taintIn(messages) : undefined;
}

/**
 * The untrusted content that the conversation has read since the last message of a person: the latest, because a person looks
 * for it from the end. It is found in the stored messages, so that it survives a restart.
 */
export function taintIn(messages: readonly Message[]): Taint | undefined {
  for (let index = messages.length - 1; index >= 0; index--) {
    const found = taintBy(messages[index]);
    if (found !== 'on') return found;
  }
  return undefined;
}

/** What the conversation has read after one more message; `before`: what it had read before that. */
export function taintAfter(before: Taint | undefined, message: Message): Taint | undefined {
  const found = taintBy(message);
  return found === 'on' ? before : found;
}

/** Whether the message brings content that nobody trusts, even if a person has written since. */
export function isUntrusted(message: Message): boolean {
  const found = taintBy(message);
  return found !== undefined && found !== 'on';
}

/** `on`: neither untrusted content nor the message of a person. */
function taintBy(message: Message | undefined): Taint | undefined | 'on' {
  if (message?.role === 'tool')
    return message.taint ? { ...message.taint, call_id: message.callId, tool: message.name } : 'on';
  return message?.role === 'user' ? taintByMessage(message) : 'on';
}

function taintByMessage(message: UserMessage): Taint | undefined | 'on' {
  const { environment, taint, watch, sentBy } = message;
  if (environment) return environment.taint ?? 'on';
  if (taint) return taint;
  if (watch ?? sentBy) return watch?.taint ?? sentBy?.taint ?? 'on';
  // A summary may stand for results, too, so it is unknown what each part of it was made from.
  if (message.summary) return message.summary.isClean ? 'on' : { kind: 'summary' };
  if (!message.trusted) return { kind: 'message' };
  return message.unattended ? 'on' : undefined;
}

/** What the result of a call brings into the conversation; undefined if that can be trusted like the person's own files. */
export function taintOf({ ruled, places }: BatchCall): ReadTaint | undefined {
  const { reading, node, nodeCommand } = ruled;
  if (node !== undefined) return { kind: 'node', ...(nodeCommand !== undefined && { target: nodeCommand }) };
  if (reading === undefined) return undefined;
  const { effects, gaps } = reading;
  const network = effects.find(({ kind, isIncidental }) => kind === 'network' && !isIncidental);
  if (network) return toTaint('network', network);
  const unknown = effects.find(({ kind, isProject }) => kind === 'unknown' && !isProject);
  if (unknown) return toTaint('unknown', unknown);
  const gap = gaps.find(({ reason }) => reason !== 'unknown_words');
  if (gap) return { kind: 'unknown', target: gap.at };
  const outside = effects.find((effect) => readsOutside(effect, places));
  return outside && toTaint('outside', outside);
}

const MAX_TARGET = 200;

const toTaint = (kind: Taint['kind'], { target }: Effect): ReadTaint => ({
  kind,
  ...(target !== undefined && { target: target.slice(0, MAX_TARGET) }),
});

/** Files of the system that everybody can read come with it; names and sizes are no content. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/etc'];

function readsOutside(effect: Effect, { folder, readable }: CallPlaces): boolean {
  const { kind, path, isListing, isIncidental, repositoryOf } = effect;
  if (kind !== 'read' || isListing || isIncidental || repositoryOf !== undefined) return false;
  const place = path ?? effect.glob;
  return place === undefined || ![folder, ...readable, ...SYSTEM].some((root) => isIn(root, place));
}

const isIn = (root: string, place: string): boolean => place === root || place.startsWith(`${root}/`);

/**
 * Whether the call uses the network or credentials, or changes something outside the working directory, something that others
 * obey, or what searches and snapshots leave out.
 */
function reachesFurther({ ruled, places }: BatchCall): boolean {
  if (ruled.node !== undefined) return true;
  return ruled.reading?.effects.some((effect) => reaches(effect, places)) ?? false;
}

function reaches(effect: Effect, { folder }: CallPlaces): boolean {
  const { kind, path, glob, target, isIncidental } = effect;
  switch (kind) {
    case 'network':
      return isIncidental !== true;
    case 'privilege':
    case 'system':
      return true;
    case 'read':
      return isSecretPath(path ?? glob ?? target ?? ''); // `~/.ssh/id_rsa` has no certain path
    case 'write':
    case 'delete':
      if (isIncidental === true) return false;
      return isIgnoreFile(path ?? '') || !isEdit({ effects: [effect], gaps: [] }, { roots: [folder] });
    default:
      return false;
  }
}
