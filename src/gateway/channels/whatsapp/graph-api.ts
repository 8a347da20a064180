import { randomUUID } from 'node:crypto';
import { trimEndOf } from '../../../../protocol/text/trimmed-text.ts';
import type { Clock } from '../../../clock.ts';
import { type CallLimits, CallWait } from '../calls/call-wait.ts';
import { isCertainlyUnsent, reasonOf } from '../calls/failed-call.ts';
import { toForm, Upload } from '../calls/form-body.ts';
import { readAnswer, toAnswer } from '../calls/json-answer.ts';
import { noAnswerTo } from '../calls/no-answer.ts';
import { openResponse } from '../calls/open-response.ts';
import type { OpenedFile } from '../calls/opened-file.ts';
import { saidWords } from '../calls/said-words.ts';
import type { ServiceErrorDetails, ServiceErrorKind } from '../calls/service-error.ts';
import { GraphError, refusalOf } from './graph-error.ts';
import { type OutgoingMessage, toBody } from './outgoing.ts';

/** The Cloud API of WhatsApp. Everything throws GraphError. */
export interface GraphApi {
  /** Returns the id of the message. WhatsApp has accepted it, and reports later whether it was delivered. */
  send(to: string, message: OutgoingMessage & { replyTo?: string }, limits: CallLimits): Promise<string>;
  /** The telephone number, as people write it. */
  identify(limits: CallLimits): Promise<string>;
  /** Marks a message as read. `isTyping`: shows for up to 25 seconds that an answer is being written. */
  markRead(messageId: string, limits: CallLimits & { isTyping: boolean }): Promise<void>;
  /** Uploads a file and returns its id, by which messages name it. WhatsApp keeps it for 30 days. */
  upload(file: NewFile, limits: CallLimits): Promise<string>;
  /** Downloads a file of a message by its id. Its address expires, so it is asked for first. */
  openMedia(mediaId: string, limits: CallLimits & { maxBytes: number }): Promise<OpenedFile>;
}

type NewFile = ConstructorParameters<typeof Upload>[0];

interface GraphApiDeps {
  phoneNumberId: string;
  accessToken: string;
  /** With the version, such as https://graph.facebook.com/v23.0. */
  apiRoot: string;
  fetch(url: string, init: RequestInit): Promise<Response>;
  clock: Pick<Clock, 'sleep'>;
}

type Request = { what: string; wait: CallWait; headers?: Record<string, string> } & Omit<RequestInit, 'headers'>;

/** Follows no redirect and retries nothing: the caller decides what to do next. */
export function createGraphApi({ phoneNumberId, accessToken, apiRoot, fetch, clock }: GraphApiDeps): GraphApi {
  const root = trimEndOf(apiRoot, '/');
  const scrub = (text: string) => (accessToken === '' ? text : text.replaceAll(accessToken, '[access token]'));
  const request = async (url: string, { what, wait, ...init }: Request): Promise<Response> => {
    if (wait.signal.aborted) throw new GraphError('unreachable', `${what} was cancelled before it was sent.`);
    const headers = { 'content-type': 'application/json', ...init.headers, authorization: `Bearer ${accessToken}` };
    try {
      return await fetch(url, { ...init, headers, signal: wait.signal });
    } catch (error) {
      const reason = scrub(wait.overReason() ?? reasonOf(error));
      if (isCertainlyUnsent(error)) throw new GraphError('unreachable', `Could not reach WhatsApp (${reason}).`);
      throw noAnswer({ what, method: init.method }, reason);
    }
  };
  const call = async (path: string, { what, wait, ...init }: Request): Promise<unknown> => {
    const asked = { what, method: init.method };
    const response = await request(`${root}/${path}`, { ...init, what, wait });
    const text = await readAnswer(response).catch((error: unknown) => {
      throw noAnswer(asked, scrub(wait.overReason() ?? reasonOf(error)));
    });
    const answer = toAnswer(text);
    if (response.ok && answer !== undefined) return answer;
    const refusal = refusalIn(answer);
    if (refusal && response.status < 500)
      throw refusalOf(what, { code: refusal.code, message: saidWords(refusal.message, scrub) });
    throw noAnswer(asked, response.ok ? 'unreadable answer' : `HTTP ${response.status}`);
  };
  const post = async (what: string, fields: object, limits: CallLimits): Promise<unknown> => {
    using wait = new CallWait(limits, clock);
    const body = JSON.stringify({ messaging_product: 'whatsapp', ...fields });
    // Awaited, so that the wait is not over before the answer.
    return await call(`${encodeURIComponent(phoneNumberId)}/messages`, { method: 'POST', body, what, wait });
  };
  return {
    async send(to, { replyTo, ...message }, limits) {
      const repliedTo = replyTo === undefined ? {} : { context: { message_id: replyTo } };
      const fields = { recipient_type: 'individual', to, ...repliedTo, ...toBody(message) };
      const answer = await post('the message', fields, limits);
      return requireId(first(field(answer, 'messages')), 'the message', 'no id of the message');
    },
    async identify(limits) {
      using wait = new CallWait(limits, clock);
      const path = `${encodeURIComponent(phoneNumberId)}?fields=display_phone_number`;
      const found = await call(path, { what: 'the number', wait });
      return String(field(found, 'display_phone_number') ?? '');
    },
    async markRead(messageId, { isTyping, ...limits }) {
      const typing = isTyping ? { typing_indicator: { type: 'text' } } : {};
      await post('the read mark', { status: 'read', message_id: messageId, ...typing }, limits);
    },
    async upload(file, limits) {
      using wait = new CallWait(limits, clock);
      const what = 'the upload';
      const path = `${encodeURIComponent(phoneNumberId)}/media`;
      const answer = await call(path, { method: 'POST', ...uploadOf(file), what, wait });
      return requireId(answer, what, 'no id of the file');
    },
    async openMedia(mediaId, { maxBytes, ...limits }) {
      const wait = new CallWait(limits, clock);
      try {
        const found = await call(encodeURIComponent(mediaId), { what: 'the download', wait });
        if (Number(field(found, 'file_size') ?? 0) > maxBytes)
          throw toError('too-large', `The file has more than ${maxBytes} bytes.`);
        const url = requireOwn(field(found, 'url'), root);
        const response = await request(url, { what: 'the download', wait });
        return await openResponse(response, { maxBytes, wait, scrub, service: 'WhatsApp', toError });
      } catch (error) {
        wait[Symbol.dispose]();
        throw error;
      }
    },
  };
}

function uploadOf(file: NewFile) {
  const fields = { messaging_product: 'whatsapp', type: file.contentType };
  return toForm({ fields, files: { file: new Upload(file) } }, `headgate-${randomUUID()}`);
}

/** Only POST changes something. */
const noAnswer = ({ what, method }: { what: string; method: string | undefined }, reason: string): GraphError =>
  new GraphError('ambiguous', noAnswerTo({ what, hasEffect: method === 'POST' }, { reason, service: 'WhatsApp' }));

/** The id of what was made. */
function requireId(made: unknown, what: string, missing: string): string {
  const id = field(made, 'id');
  if (typeof id === 'string' && id !== '') return id;
  throw noAnswer({ what, method: 'POST' }, missing);
}

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

const first = (value: unknown): unknown => (Array.isArray(value) ? value[0] : undefined);

function refusalIn(answer: unknown): { code: number; message: unknown } | undefined {
  const error = field(answer, 'error');
  const code = field(error, 'code');
  return typeof code === 'number' ? { code, message: field(error, 'message') } : undefined;
}

/** Hosts of Meta from which files come. The access token goes to no other. */
const MEDIA_HOSTS = /(^|\.)(fbsbx\.com|facebook\.com|whatsapp\.net)$/;

function requireOwn(url: unknown, root: string): string {
  const found = typeof url === 'string' ? URL.parse(url) : null;
  const isOwn = found?.origin === new URL(root).origin;
  if (found && (isOwn || (found.protocol === 'https:' && MEDIA_HOSTS.test(found.hostname)))) return found.href;
  throw new GraphError('rejected', 'WhatsApp named an address for the download that is not its own.');
}

const toError = (kind: ServiceErrorKind, message: string, details?: ServiceErrorDetails): GraphError =>
  new GraphError(kind, message, details);
