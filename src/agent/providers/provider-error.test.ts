import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProviderError } from './model.ts';
import { keyMissing, nameOf, toProviderError, type Upstream } from './provider-error.ts';

const upstream: Upstream = {
  provider: 'openai-compatible',
  baseUrl: 'http://user:pass@host:1/v1',
  apiKey: 'sk-secret',
  keyName: 'OPENAI_API_KEY',
};

const answered = (statusCode: number, more: object = {}) =>
  Object.assign(new Error('it said sk-secret\nno'), { statusCode, ...more });

const seen = (error: unknown, phase: 'connect' | 'stream' = 'connect') => {
  const { kind, message, retryable, retryAfterMs } = toProviderError(error, upstream, phase);
  return { kind, message, retryable, retryAfterMs };
};

const NAME = 'openai-compatible at http://host:1/v1';

for (const [status, kind, retryable] of [
  [400, 'refused', false],
  [404, 'refused', false],
  [408, 'timeout', true],
  [422, 'refused', false],
  [429, 'rate_limited', true],
  [500, 'unreachable', true],
  [503, 'unreachable', true],
  [529, 'rate_limited', true],
] as const) {
  test(`${status} is ${kind}${retryable ? ' and may pass' : ''}; the message holds no key`, () => {
    const message = `${NAME} answered ${status}: it said … no`;
    assert.deepEqual(seen(answered(status)), { kind, message, retryable, retryAfterMs: undefined });
  });
}

for (const status of [401, 403]) {
  test(`${status} names the variable and never says unreachable`, () => {
    const message = `${NAME} rejected the key from OPENAI_API_KEY (${status}).`;
    assert.deepEqual(seen(answered(status)), {
      kind: 'unauthorized',
      message,
      retryable: false,
      retryAfterMs: undefined,
    });
  });
}

test('401 without a key says which variable to set', () => {
  const { apiKey: _, ...keyless } = upstream;
  assert.equal(
    toProviderError(answered(401), keyless, 'connect').message,
    `${NAME} requires a key (401). Set OPENAI_API_KEY.`,
  );
  assert.equal(
    keyMissing({ ...keyless, provider: 'openai' }).message,
    'openai needs a key, but OPENAI_API_KEY is not set.',
  );
});

test('Retry-After is understood as seconds, milliseconds and date', () => {
  const wait = (responseHeaders: Record<string, string>) => seen(answered(429, { responseHeaders })).retryAfterMs;
  const date = 'Fri, 20 Nov 2026 18:00:00 GMT';
  assert.deepEqual(
    [
      wait({ 'retry-after': '7' }),
      wait({ 'retry-after-ms': '1500', 'retry-after': '2' }),
      wait({ date, 'retry-after': 'Fri, 20 Nov 2026 18:00:30 GMT' }),
      wait({ date, 'retry-after': 'Fri, 20 Nov 2026 17:00:00 GMT' }),
      wait({ 'retry-after': 'soon' }),
    ],
    [7_000, 1_500, 30_000, undefined, undefined],
  );
});

test('a quota that is used up will not pass', () => {
  assert.equal(seen(answered(429, { responseBody: '{"error":{"code":"insufficient_quota"}}' })).retryable, false);
});

test('a refused connection is unreachable, with the system’s error code', () => {
  const socket = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  assert.deepEqual(seen(new TypeError('fetch failed', { cause: socket })), {
    kind: 'unreachable',
    message: `Could not reach ${NAME} (ECONNREFUSED).`,
    retryable: true,
    retryAfterMs: undefined,
  });
});

test('the same error during a stream, or after a good status, is interrupted', () => {
  const socket = Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });
  assert.equal(seen(new TypeError('terminated', { cause: socket }), 'stream').kind, 'interrupted');
  assert.equal(seen(Object.assign(new Error('x', { cause: socket }), { statusCode: 200 })).kind, 'interrupted');
});

test('the transport’s own deadlines are timeouts', () => {
  const late = Object.assign(new Error('x'), { code: 'UND_ERR_HEADERS_TIMEOUT' });
  assert.equal(seen(new TypeError('fetch failed', { cause: late })).kind, 'timeout');
});

test('any other thrown or streamed error gets a message', () => {
  assert.equal(seen('odd', 'stream').message, `The answer of ${NAME} broke off (odd).`);
  assert.equal(seen({ message: 'engine', code: 'E' }, 'stream').kind, 'interrupted');
  assert.equal(seen({ message: 'slow down', code: 429 }, 'stream').kind, 'rate_limited');
  assert.equal(seen(null).kind, 'unreachable');
});

test('an error contains neither the request nor the key', () => {
  const error = toProviderError(answered(500, { requestBodyValues: { messages: ['private'] } }), upstream, 'connect');
  assert.deepEqual([/private|sk-secret/.test(JSON.stringify(error) + error.stack), error.cause], [false, undefined]);
});

test('hosted providers are named without their URL', () => {
  assert.equal(nameOf({ ...upstream, provider: 'anthropic' }), 'anthropic');
});

test('our own errors are found inside those of the SDK', () => {
  const own = new ProviderError('over_limit', 'too long');
  const wrapped = new Error('Failed to process successful response', { cause: new Error('inner', { cause: own }) });
  assert.equal(toProviderError(wrapped, upstream, 'stream'), own);
});

test('a refusal is explained before the words of the upstream', () => {
  const tooLong = answered(400, { message: 'prompt is too long: 9 tokens > 8 maximum' });
  const { kind, message, refusal } = toProviderError(tooLong, upstream, 'connect');
  assert.deepEqual([kind, refusal], ['refused', { about: 'window', maximum: 8, asked: 9 }]);
  assert.equal(
    message,
    `The conversation does not fit into the model’s context window of 8 tokens. ${NAME} answered 400: prompt is too long: 9 tokens > 8 maximum`,
  );
});

test('a request that is too long is refused, whatever the status or the place of the error', () => {
  const body = { responseBody: '{"error":{"type":"exceed_context_size_error","n_prompt_tokens":9,"n_ctx":8}}' };
  const window = { about: 'window', maximum: 8, asked: 9 };
  const refusalOf = (error: unknown, phase: 'connect' | 'stream' = 'connect') =>
    toProviderError(error, upstream, phase).refusal;
  assert.deepEqual(refusalOf(answered(400, body)), window);
  assert.deepEqual(refusalOf(answered(500, body)), window);
  assert.deepEqual(refusalOf(answered(413)), { about: 'window' });
  assert.deepEqual(refusalOf({ message: 'prompt is too long: 9 tokens > 8 maximum' }, 'stream'), window);
  assert.equal(refusalOf(answered(429, { message: 'Request too large: too many tokens per minute' })), undefined);
  assert.equal(toProviderError(answered(500, { message: 'image failed' }), upstream, 'connect').kind, 'unreachable');
});

test('a server that cannot be reached is told from one that fails', () => {
  const coded = (code: string) => Object.assign(new Error('connect'), { code });
  const detailOf = (error: unknown, phase: 'connect' | 'stream' = 'connect') =>
    toProviderError(error, upstream, phase).detail;
  for (const code of ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])
    assert.equal(detailOf(coded(code)), 'away', code);
  for (const statusCode of [502, 503, 504]) assert.equal(detailOf({ statusCode, message: 'no' }), 'away');
  assert.equal(detailOf({ statusCode: 500, message: 'no' }), undefined);
  assert.equal(detailOf({ statusCode: 503, message: 'Overloaded' }), 'overloaded');
  assert.equal(detailOf(coded('CERT_HAS_EXPIRED')), undefined);
  assert.equal(detailOf(coded('ECONNRESET'), 'stream'), undefined);
});
