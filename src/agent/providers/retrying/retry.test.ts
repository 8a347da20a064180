import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../../clock.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { type Patience, ProviderError } from '../model.ts';
import { begun, withRetries } from './retry.ts';

function setUp({ random = 0.5, patience }: { random?: number; patience?: Patience } = {}) {
  const slept: number[] = [];
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    async sleep(ms, signal) {
      signal.throwIfAborted();
      slept.push(ms);
    },
  };
  const abort = new AbortController();
  const read = async (attempts: (string | Error)[][]) => {
    const parts: string[] = [];
    let tried = 0;
    async function* attempt() {
      for (const step of attempts[tried++] ?? []) {
        if (step instanceof Error) throw step;
        yield step;
      }
    }
    const deps = { clock, random: () => random, signal: abort.signal, maxWaitMs: 60_000, patience };
    try {
      for await (const part of await withRetries(() => begun(attempt()), deps)) parts.push(part);
      return { parts, tried };
    } catch (error) {
      return { parts, tried, error };
    }
  };
  return { slept, read, abort };
}

const down = (retryAfterMs?: number) =>
  new ProviderError('unreachable', 'down', { retryable: true, ...(retryAfterMs !== undefined && { retryAfterMs }) });

test('a success is not repeated', async () => {
  const { read, slept } = setUp();
  assert.deepEqual([await read([['a', 'b']]), slept], [{ parts: ['a', 'b'], tried: 1 }, []]);
});

test('waits grow, with jitter', async () => {
  for (const [random, waits] of [
    [0, [250, 500]],
    [0.5, [500, 1_000]],
    [0.999, [749.5, 1_499]],
  ] as const) {
    const { read, slept } = setUp({ random });
    assert.deepEqual(await read([[down()], [down()], ['a']]), { parts: ['a'], tried: 3 });
    assert.deepEqual(
      slept.map((ms) => Math.round(ms * 10) / 10),
      waits,
    );
  }
});

test('the third failure is thrown', async () => {
  const last = down();
  const { read } = setUp();
  assert.deepEqual(await read([[down()], [down()], [last], ['never']]), { parts: [], tried: 3, error: last });
});

test('nothing is repeated after the first part', async () => {
  const error = down();
  assert.deepEqual(await setUp().read([['a', error], ['never']]), { parts: ['a'], tried: 1, error });
});

test('an error that will not pass is not repeated', async () => {
  const refused = new ProviderError('refused', 'no such model');
  const bug = new TypeError('a bug');
  assert.deepEqual(await setUp().read([[refused], ['never']]), { parts: [], tried: 1, error: refused });
  assert.deepEqual(await setUp().read([[bug], ['never']]), { parts: [], tried: 1, error: bug });
});

test('the wait that the server requests is respected, up to the limit', async () => {
  const { read, slept } = setUp();
  await read([[down(60_000)], ['a']]);
  assert.deepEqual(slept, [60_000]);
});

test('a server that requests a longer wait than the limit is not retried', async () => {
  const { read, slept } = setUp();
  const { error, ...rest } = await read([[down(60_001)], ['never']]);
  assert.deepEqual([rest, slept], [{ parts: [], tried: 1 }, []]);
  assert.ok(error instanceof ProviderError);
  assert.deepEqual([error.kind, error.retryable, error.retryAfterMs], ['unreachable', true, 60_001]);
});

test('the error says which wait the server requests, and which is allowed', async () => {
  for (const [ms, words] of [
    [60_001, '61 s'],
    [4_000_000, '67 min'],
    [86_400_000, '24 h'],
  ] as const) {
    const { error } = await setUp().read([[down(ms)]]);
    const allowed = 'which is longer than answers.retrySecs (60 s) allows.';
    assert.equal(error?.toString(), `ProviderError: down. The server asks to wait ${words}, ${allowed}`);
  }
});

test('aborting ends the waiting with the reason', async () => {
  const { read, abort } = setUp();
  abort.abort(new Error('cancelled'));
  const { error, tried } = await read([[down()], ['never']]);
  assert.deepEqual([error, tried], [abort.signal.reason, 1]);
});

const limited = (more: { retryAfterMs?: number; detail?: 'overloaded' } = {}) =>
  new ProviderError('rate_limited', 'slow down', { retryable: true, ...more });

/** Waits no time, and notes each wait. */
function noted({ hasFallback = false } = {}) {
  const pauses: string[] = [];
  const patience: Patience = {
    hasFallback,
    async wait({ error, untilMs, attempt, attempts }) {
      pauses.push(`${error.kind} until ${untilMs}, then ${attempt}/${attempts}`);
      return 'in time';
    },
  };
  return { pauses, patience };
}

test('a rate limit gets six attempts, and the caller is told of each wait', async () => {
  const { pauses, patience } = noted();
  const failures = Array.from({ length: 7 }, () => [limited()]);
  const { tried, error } = await setUp({ patience }).read(failures);
  assert.deepEqual([tried, error?.toString()], [6, 'ProviderError: slow down']);
  assert.deepEqual(pauses, [
    'rate_limited until 500, then 2/6',
    'rate_limited until 1000, then 3/6',
    'rate_limited until 2000, then 4/6',
    'rate_limited until 4000, then 5/6',
    'rate_limited until 8000, then 6/6',
  ]);
});

test('with a fallback, only short waits are worth it, and none for an overloaded server', async () => {
  const { pauses, patience } = noted({ hasFallback: true });
  const read = (...failures: Error[]) => setUp({ patience }).read(failures.map((failure) => [failure]));
  const tries = [
    await read(limited(), limited(), limited(), limited()),
    await read(limited({ retryAfterMs: 20_000 }), limited({ retryAfterMs: 20_001 }), limited()),
    await read(limited({ detail: 'overloaded' }), limited()),
  ];
  assert.deepEqual(
    tries.map(({ tried }) => tried),
    [3, 2, 1],
  );
  assert.deepEqual(pauses, [
    'rate_limited until 500, then 2/3',
    'rate_limited until 1000, then 3/3',
    'rate_limited until 20000, then 2/3',
  ]);
});

const away = () => new ProviderError('unreachable', 'gone', { retryable: true, detail: 'away' });

test('a server that is away is asked again with growing pauses, as long as the limit allows', async () => {
  const { pauses, patience } = noted();
  const { tried, error } = await setUp({ patience }).read(Array.from({ length: 20 }, () => [away()]));
  assert.deepEqual([tried, error?.toString()], [7, 'ProviderError: gone']);
  assert.deepEqual(
    pauses,
    [500, 1_000, 2_000, 4_000, 8_000, 16_000].map((ms, n) => `unreachable until ${ms}, then ${n + 2}/7`),
  );
});

test('the time that attempts take counts, too', async () => {
  const clock = fakeClock();
  let tried = 0;
  const attempt = async () => {
    tried += 1;
    await clock.sleep(10_000, signal);
    throw away();
  };
  const { signal } = new AbortController();
  const ended = withRetries(attempt, { clock, random: () => 0.5, signal, maxWaitMs: 60_000 }).catch(String);
  await clock.advance(200_000);
  assert.deepEqual([tried, await ended], [5, 'ProviderError: gone']);
});

test('a server that is away is tried three times if another model can answer, and an open circuit not at all', async () => {
  const { patience } = noted({ hasFallback: true });
  const open = new ProviderError('circuit_open', 'not now', { retryable: true, detail: 'away' });
  const read = (error: Error) => setUp({ patience }).read(Array.from({ length: 20 }, () => [error]));
  assert.deepEqual([(await read(away())).tried, (await read(open)).tried], [3, 1]);
});

test('an attempt is passed whether a person asked for it', async () => {
  const asked: boolean[] = [];
  const ways = ['in time', 'now', 'in time'] as const;
  const patience: Patience = { hasFallback: false, wait: async () => ways[asked.length - 1] ?? 'in time' };
  const { signal } = new AbortController();
  const attempt = async (isAsked: boolean) => {
    asked.push(isAsked);
    if (asked.length < 4) throw away();
    return 'answer';
  };
  const clock = fakeClock();
  assert.equal(await withRetries(attempt, { clock, random: () => 0.5, signal, maxWaitMs: 60_000, patience }), 'answer');
  assert.deepEqual(asked, [false, false, true, false]);
});
