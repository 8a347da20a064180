import { randomUUID } from 'node:crypto';
import type { ApiError, ApiMethods, ApiSuccess, Opts } from '@grammyjs/types';
import { isRecord } from '../../../../protocol/is-record.ts';
import { trimEndOf } from '../../../../protocol/text/trimmed-text.ts';
import type { Clock } from '../../../clock.ts';
import { askedWaitMs } from '../calls/asked-wait.ts';
import { type CallLimits, CallWait } from '../calls/call-wait.ts';
import { isCertainlyUnsent, reasonOf } from '../calls/failed-call.ts';
import type { Upload } from '../calls/form-body.ts';
import { readAnswer, toAnswer } from '../calls/json-answer.ts';
import { noAnswerTo } from '../calls/no-answer.ts';
import { openResponse } from '../calls/open-response.ts';
import type { OpenedFile } from '../calls/opened-file.ts';
import { saidWords } from '../calls/said-words.ts';
import type { ServiceErrorDetails, ServiceErrorKind } from '../calls/service-error.ts';
import { BotApiError } from './wire/bot-api-error.ts';
import { toRequestBody } from './wire/request-body.ts';
import { hasShape } from './wire/result-shape.ts';

/** A method of the Bot API, such as `sendMessage`. */
export type BotMethod = keyof ApiMethods<Upload>;

/** What a method returns. */
export type BotResult<M extends BotMethod> = ReturnType<ApiMethods<Upload>[M]>;

/** The Bot API of Telegram. Everything throws BotApiError and nothing else. */
export interface BotApi {
  call<M extends BotMethod>(method: M, params: Opts<Upload>[M], limits: CallLimits): Promise<BotResult<M>>;
  /** Downloads a file by the `file_path` of `getFile`. Read the bytes to their end, or stop the iteration. */
  openFile(filePath: string, limits: CallLimits & { maxBytes: number }): Promise<OpenedFile>;
}

interface BotApiDeps {
  token: string;
  /** Without a trailing slash or with one. */
  apiRoot: string;
  fetch(url: string, init: RequestInit): Promise<Response>;
  clock: Pick<Clock, 'sleep'>;
}

/** Follows no redirect, retries nothing, and keeps no connection to itself: the caller decides what to do next. */
export function createBotApi({ token, apiRoot, fetch, clock }: BotApiDeps): BotApi {
  const root = trimEndOf(apiRoot, '/');
  const scrub = (text: string) =>
    text.replaceAll(token, '[bot token]').replaceAll(encodeURIComponent(token), '[bot token]');
  const send = async (path: string, init: RequestInit & { asked: Asked; wait: CallWait }): Promise<Response> => {
    const { asked, wait, ...request } = init;
    if (!TOKEN.test(token)) throw new BotApiError('unauthorized', 'The bot token is malformed.');
    if (wait.signal.aborted)
      throw new BotApiError('unreachable', `The call was cancelled before it was sent (${asked.what}).`);
    try {
      return await fetch(`${root}${path}`, { ...request, signal: wait.signal });
    } catch (error) {
      const reason = scrub(wait.overReason() ?? reasonOf(error));
      if (isCertainlyUnsent(error)) throw new BotApiError('unreachable', `Could not reach Telegram (${reason}).`);
      throw noAnswer(asked, reason);
    }
  };
  return {
    async call(method, params, limits) {
      using wait = new CallWait(limits, clock);
      const init = { method: 'POST', ...toRequestBody(params, `headgate-${randomUUID()}`) };
      const asked = { what: method, hasEffect: !READING.test(method) };
      const response = await send(`/bot${token}/${method}`, { ...init, asked, wait });
      const text = await readAnswer(response).catch((error: unknown) => {
        throw noAnswer(asked, scrub(wait.overReason() ?? reasonOf(error)));
      });
      const answer = toAnswer(text);
      if (response.ok && isSuccess<typeof method>(method, answer)) return answer.result;
      if (isRefusal(answer) && response.status < 500) throw refusedBy(asked, answer, scrub);
      const answered = response.ok ? 'unreadable answer' : `HTTP ${response.status}`;
      throw noAnswer(asked, answered, { code: response.status });
    },
    async openFile(filePath, { maxBytes, ...limits }) {
      const path = filePath.split('/').map(encodeURIComponent).join('/');
      const wait = new CallWait(limits, clock);
      try {
        const response = await send(`/file/bot${token}/${path}`, { asked: DOWNLOAD, wait });
        return await openResponse(response, { maxBytes, wait, scrub, service: 'Telegram', toError });
      } catch (error) {
        wait[Symbol.dispose]();
        throw error;
      }
    },
  };
}

/** Anything else would change the address. */
const TOKEN = /^[\w:-]+$/;

/** The methods of the Bot API that change nothing are named so. */
const READING = /^get[A-Z]/;

/** A method, or what else is asked of Telegram. */
interface Asked {
  what: string;
  hasEffect: boolean;
}

const DOWNLOAD: Asked = { what: 'the download', hasEffect: false };

const noAnswer = (asked: Asked, reason: string, details: { code?: number; description?: string } = {}): BotApiError =>
  new BotApiError('ambiguous', noAnswerTo(asked, { reason, service: 'Telegram' }), details);

const isSuccess = <M extends BotMethod>(method: M, answer: unknown): answer is ApiSuccess<BotResult<M>> =>
  isRecord(answer) && answer.ok === true && answer.result !== undefined && hasShape(method, answer.result);

const isRefusal = (answer: unknown): answer is ApiError =>
  isRecord(answer) && answer.ok === false && typeof answer.error_code === 'number';

function refusedBy(asked: Asked, answer: ApiError, scrub: (text: string) => string): BotApiError {
  const { error_code: code, parameters } = answer;
  const description = saidWords(answer.description, scrub);
  const details = { code, description };
  const words = `Telegram refused ${asked.what}: ${description} (${code}).`;
  if (code >= 500) return noAnswer(asked, `${code}: ${description}`, details);
  if (code === 401 || code === 404)
    return new BotApiError('unauthorized', `Telegram does not accept the bot token (${code}).`, details);
  if (code === 409) return new BotApiError('conflict', words, details);
  if (code === 429) {
    const retryAfterMs = Math.max(1_000, askedWaitMs(parameters?.retry_after) ?? 0);
    return new BotApiError('rate-limited', words, { ...details, retryAfterMs });
  }
  return new BotApiError('rejected', words, { ...details, migrateToChatId: parameters?.migrate_to_chat_id });
}

const toError = (kind: ServiceErrorKind, message: string, details?: ServiceErrorDetails): BotApiError =>
  new BotApiError(kind, message, details);
