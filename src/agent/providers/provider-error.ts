import { z } from 'zod';
import { EgressError } from '../../egress/guarded-egress.ts';
import { ProviderError, type ProviderErrorDetail } from './model.ts';
import { readRefusal } from './refusals/read-refusal.ts';
import { type Refusal, refusalWords } from './refusals/refusal.ts';

/** The upstream, as error messages may describe it. */
export interface Upstream {
  provider: string;
  baseUrl: string;
  apiKey?: string;
  /** The variable or setting that holds the key, for people. */
  keyName: string;
}

/** Converts any error of the SDK to a kind and a message; keeps no request body and no key. */
export function toProviderError(error: unknown, upstream: Upstream, phase: 'connect' | 'stream'): ProviderError {
  const known = causesOf(error).find((cause) => cause instanceof ProviderError);
  if (known) return known; // the SDK wraps an error that ended a body
  const kept = causesOf(error).find((cause) => cause instanceof EgressError);
  if (kept) return new ProviderError('unreachable', `Could not reach ${nameOf(upstream)}: ${kept.message}`);
  const failure = Failure.parse(typeof error === 'object' && error !== null ? error : { message: String(error) });
  const status = failure.statusCode ?? failure.code;
  const said = redact(failure.message, upstream);
  if (status !== undefined && status >= 400) return fromStatus(status, { failure, said, upstream });
  const refusal = readRefusal(failure.message);
  if (refusal?.about === 'window') return refused(`${nameOf(upstream)} answered: ${said}`, refusal);
  return fromConnection(networkCode(error), { said, upstream, started: phase === 'stream' || status !== undefined });
}

/** The error for a provider that needs a key but has none. */
export function keyMissing(upstream: Upstream): ProviderError {
  return new ProviderError('unauthorized', `${upstream.provider} needs a key, but ${upstream.keyName} is not set.`);
}

/** The name of an upstream in messages, without user and password of a URL. */
export function nameOf({ provider, baseUrl }: Upstream): string {
  if (provider !== 'openai-compatible' || !URL.canParse(baseUrl)) return provider;
  const { origin, pathname } = new URL(baseUrl);
  return `${provider} at ${origin}${pathname.replace(/\/$/, '')}`;
}

const HttpStatus = z.number().int().min(100).max(599).optional().catch(undefined);

const Failure = z.object({
  message: z.string().catch(''),
  statusCode: HttpStatus,
  // Errors inside a stream carry the status here; some servers send a word instead.
  code: HttpStatus,
  responseHeaders: z.record(z.string(), z.string()).optional().catch(undefined),
  responseBody: z.string().optional().catch(undefined),
});

function fromStatus(
  status: number,
  { failure, said, upstream }: { failure: z.infer<typeof Failure>; said: string; upstream: Upstream },
): ProviderError {
  const name = nameOf(upstream);
  const answered = `${name} answered ${status}${said ? `: ${said}` : ''}`;
  const retryAfterMs = retryAfterOf(failure.responseHeaders);
  const later = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (isAboutTheKey(status, failure.message)) return refusedKey(status, upstream);
  const text = failure.responseBody ?? said;
  if (status === 429 || status === 529) {
    const exhausted = /insufficient_quota/.test(text);
    const detail = exhausted ? 'no_credit' : overloadIn(status, text);
    return new ProviderError('rate_limited', answered, { retryable: !exhausted, detail, ...later });
  }
  if (status === 408) return new ProviderError('timeout', answered, { retryable: true, ...later });
  const refusal = refusalOf(status, `${failure.message}\n${failure.responseBody ?? ''}`);
  if (status < 500 || refusal?.about === 'window') return refused(answered, refusal, refusalDetail(status, text));
  return new ProviderError('unreachable', answered, { retryable: true, detail: failureDetail(status, text), ...later });
}

const refusalOf = (status: number, text: string): Refusal | undefined =>
  readRefusal(text) ?? (status === 413 ? { about: 'window' } : undefined);

const refused = (answered: string, refusal: Refusal | undefined, detail?: ProviderErrorDetail): ProviderError =>
  new ProviderError('refused', refusal ? `${refusalWords(refusal)} ${answered}` : answered, { refusal, detail });

const overloadIn = (status: number | undefined, text: string) =>
  status === 529 || /overloaded/i.test(text) ? ('overloaded' as const) : undefined;

/** A proxy answers 502 to 504 for a server that it cannot reach. */
const failureDetail = (status: number, text: string) =>
  overloadIn(status, text) ?? awayIf(status >= 502 && status <= 504);

const awayIf = (isAway: boolean) => (isAway ? ('away' as const) : undefined);

function refusalDetail(status: number, text: string): ProviderErrorDetail | undefined {
  if (status === 402) return 'no_credit';
  return status === 404 || NO_MODEL.test(text) ? 'no_model' : undefined;
}

/** How OpenAI, Anthropic, Google, vLLM, Ollama and OpenRouter say it. */
const NO_MODEL =
  /model_not_found|model_not_available|(the )?model [^.]{0,120}(does not exist|not found|not exist|has been (deprecated|retired))|is not a valid model/i;

function fromConnection(
  code: string | undefined,
  { said, upstream, started }: { said: string; upstream: Upstream; started: boolean },
): ProviderError {
  const name = nameOf(upstream);
  const detail = overloadIn(undefined, said) ?? awayIf(code !== undefined && !started && AWAY.has(code));
  const options = { retryable: true, detail, ...(code !== undefined && { cause: code }) };
  if (code !== undefined && /^UND_ERR_.*_TIMEOUT$/.test(code)) {
    return new ProviderError('timeout', `${name} did not answer in time.`, options);
  }
  if (started) return new ProviderError('interrupted', `The answer of ${name} broke off (${code ?? said}).`, options);
  return new ProviderError('unreachable', `Could not reach ${name} (${code ?? said}).`, options);
}

/** Connections that fail before an answer, and may not later. A wrong certificate stays wrong. */
const AWAY: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_SOCKET',
]);

function refusedKey(status: number, upstream: Upstream): ProviderError {
  const { apiKey, keyName } = upstream;
  return new ProviderError(
    'unauthorized',
    apiKey === undefined
      ? `${nameOf(upstream)} requires a key (${status}). Set ${keyName}.`
      : `${nameOf(upstream)} rejected the key from ${keyName} (${status}).`,
  );
}

// Google answers a wrong key with 400.
const isAboutTheKey = (status: number, message: string) =>
  status === 401 || status === 403 || (status === 400 && /api key (not valid|expired|not found)/i.test(message));

function retryAfterOf(headers: Record<string, string> | undefined): number | undefined {
  const inMs = Number(headers?.['retry-after-ms'] ?? Number.NaN);
  if (inMs >= 0) return inMs;
  const text = headers?.['retry-after'];
  if (text === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  // A date is relative to the upstream's clock, which the same response shows.
  const wait = Date.parse(text) - Date.parse(headers?.date ?? '');
  return wait >= 0 ? wait : undefined;
}

const MAX_SAID_CHARS = 300;

function redact(message: string, { apiKey }: Upstream): string {
  const clean = apiKey ? message.replaceAll(apiKey, '…') : message;
  const line = clean.replace(/\s+/g, ' ').trim();
  return line.length > MAX_SAID_CHARS ? `${line.slice(0, MAX_SAID_CHARS)}…` : line;
}

/** The system's code for a failed connection, which may be nested several causes deep. */
function networkCode(error: unknown): string | undefined {
  for (const cause of causesOf(error)) if ('code' in cause && typeof cause.code === 'string') return cause.code;
  return undefined;
}

/** An error and its causes, outermost first. */
function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let current = error; current instanceof Error && causes.length < 6; current = current.cause)
    causes.push(current);
  return causes;
}
