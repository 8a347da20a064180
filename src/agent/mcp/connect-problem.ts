import { wordsOf } from '../../../protocol/words-of.ts';

/**
 * Why no session could be opened, as a predicate of the server. The package's own messages speak of its probes; what they
 * carry as data says it plainly. Its error classes are not imported: they would load the package with every start.
 */
export function toConnectProblem(error: unknown): string {
  const chain = [...causesOf(error)];
  const status = chain.map((one) => numberAt(dataOf(one), 'status')).find((found) => found !== undefined);
  if (status !== undefined) return ofStatus(status);
  const type = chain.map((one) => textAt(dataOf(one), 'contentType')).find((found) => found !== undefined);
  if (type !== undefined) return `answers with ${type.slice(0, 80)} instead of JSON; check its address`;
  const last = chain.at(-1);
  const code = textAt(last, 'code');
  const reached = code === undefined ? undefined : OF_CODES.get(code);
  if (reached !== undefined) return `cannot be reached: ${reached}`;
  const isNetworkError = chain.some((one) => one instanceof TypeError && one.cause !== undefined);
  if (isNetworkError) return `cannot be reached: ${wordsOf(last).trim()}`;
  if (last instanceof SyntaxError || textAt(last, 'name') === 'ZodError')
    return 'answers with something that is not a message of the protocol (MCP); check its address';
  return wordsOf(last);
}

/** Whether the connection was closed before an answer came. */
export const wasDropped = (error: unknown): boolean =>
  [...causesOf(error)].some((one) => DROPPED.has(textAt(one, 'code') ?? ''));

const DROPPED: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

function ofStatus(status: number): string {
  if (status === 401) return 'requires a login (HTTP 401): connect an account, or give it a header with a token';
  if (status === 403) return 'refuses the access (HTTP 403): check the rights of its account or token';
  if (status === 404 || status === 405) return `offers nothing at this address (HTTP ${status}): check the path`;
  if (status === 429) return 'refuses more requests for now (HTTP 429)';
  if (status >= 500) return `fails (HTTP ${status})`;
  return `refuses the connection (HTTP ${status})`;
}

/** The codes of Node and undici. */
const OF_CODES: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'nothing listens at its address'],
  ['ECONNRESET', 'it closed the connection without an answer'],
  ['ENOTFOUND', 'its host name is unknown'],
  ['EAI_AGAIN', 'its host name could not be looked up'],
  ['EHOSTUNREACH', 'no network leads to its address'],
  ['ENETUNREACH', 'no network leads to its address'],
  ['ETIMEDOUT', 'it does not answer'],
  ['EPIPE', 'it closed the connection without an answer'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'it does not speak HTTPS; its address may have to begin with http://'],
  ['UND_ERR_CONNECT_TIMEOUT', 'it does not answer'],
  ['UND_ERR_HEADERS_TIMEOUT', 'it does not answer'],
  ['UND_ERR_SOCKET', 'it closed the connection without an answer'],
]);

const LONGEST_CHAIN = 8;

/** The error and its causes. The package keeps some of them in `data`. */
function* causesOf(error: unknown): Generator<unknown> {
  let next = error;
  for (let n = 0; n < LONGEST_CHAIN && next !== undefined; n += 1) {
    yield next;
    next = at(next, 'cause') ?? at(dataOf(next), 'cause');
  }
}

const at = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;

const dataOf = (error: unknown): unknown => at(error, 'data');

function textAt(value: unknown, key: string): string | undefined {
  const found = at(value, key);
  return typeof found === 'string' ? found : undefined;
}

function numberAt(value: unknown, key: string): number | undefined {
  const found = at(value, key);
  return typeof found === 'number' ? found : undefined;
}
