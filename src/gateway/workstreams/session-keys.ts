import { GatewayError } from '../../../protocol/errors.ts';
import { isPlainName, PLAIN_NAME_RULE } from '../../../protocol/text/plain-text.ts';

/** The kind of a session key (decision 13): a fixed session, that of a chat, a ws_id, or an alias. */
export type KeyKind = 'fixed' | 'chat' | 'wsId' | 'alias' | 'invalid';

const WS_ID = /^[0-9a-f]{32}$/;
const ALIAS = /^[a-z0-9][a-z0-9._:-]{0,63}$/;
const ALIAS_WORDS = 'lower-case letters, digits and . _ : -, at most 64, a letter or digit first';

export const MAIN = 'main';

const JOB = 'cron:';
/** Only a message from the chat makes such a session. */
const CHAT = /^(?:telegram:(?:dm:-?\d{1,20}|group:-?\d{1,20}(?::topic:\d{1,20})?)|whatsapp:\d{1,20})$/;

/** The session in which a job's turns run. */
export const jobKeyOf = (jobId: string): string => JOB + jobId;

export const isJobKey = (key: string): boolean => key.startsWith(JOB);

/** The job of a key for which `isJobKey` is true. */
export const jobIdOf = (key: string): string => key.slice(JOB.length);

export function kindOfKey(key: string): KeyKind {
  if (key === MAIN || isJobKey(key)) return 'fixed';
  if (WS_ID.test(key)) return 'wsId';
  if (CHAT.test(key)) return 'chat';
  return ALIAS.test(key) ? 'alias' : 'invalid';
}

/** The open workstream of a key that only one can have. An alias may name several, some of which are not open. */
export function openByKey<W extends { data: { sessionKey: string } }>(
  key: string,
  open: ReadonlyMap<string, W>,
): W | undefined {
  const kind = kindOfKey(key);
  if (kind === 'wsId') return open.get(key);
  return kind === 'fixed' ? [...open.values()].find(({ data }) => data.sessionKey === key) : undefined;
}

/** The error for a key without a session. */
export const unknownSession = (key: string): GatewayError =>
  new GatewayError('NOT_FOUND', `Unknown session: ${key.slice(0, 80)}`);

/** The error for a key without a session that cannot create one either. */
export function noSession(key: string): GatewayError {
  if (kindOfKey(key) !== 'invalid') return unknownSession(key);
  return new GatewayError('NOT_FOUND', `${unknownSession(key).message} (allowed in a new key: ${ALIAS_WORDS})`);
}

export const unknownWorkstream = (cause?: unknown): GatewayError =>
  new GatewayError('NOT_FOUND', 'Unknown workstream', { cause });

/** An alias is unique. */
export const nameTaken = (cause?: unknown): GatewayError =>
  new GatewayError('CONFLICT', 'That name is already used by another workstream', { cause });

/** Names are not unique, so the caller must choose one of the ids. */
export function ambiguousName(name: string, wsIds: readonly string[]): GatewayError {
  const ids = wsIds.length > MAX_LISTED ? [...wsIds.slice(0, MAX_LISTED), '…'] : wsIds;
  const message = `"${name.slice(0, 80)}" names several workstreams: ${ids.join(', ')}. Use one of these ids.`;
  return new GatewayError('CONFLICT', message, { details: { wsIds } });
}

const MAX_LISTED = 10;
const MAX_NAME = 128;

/** Refuses names that look like another kind of key, and unreadable ones. */
export function requireReadableName(name: string): void {
  const kind = kindOfKey(name);
  if (kind === 'fixed' || kind === 'chat' || kind === 'wsId')
    throw new GatewayError('INVALID_REQUEST', `The name '${name}' is reserved`);
  if (name.length > MAX_NAME) throw new GatewayError('INVALID_REQUEST', `A name has at most ${MAX_NAME} characters`);
  if (!isPlainName(name)) throw new GatewayError('INVALID_REQUEST', `name: ${PLAIN_NAME_RULE}`);
}
