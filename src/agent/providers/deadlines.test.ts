import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { deadlinesFor, isPrivateAddress, watchSilence } from './deadlines.ts';
import { AnswerLimits } from './models-config.ts';

const deadlines = { firstMs: 300_000, betweenMs: 60_000 };

function setUp() {
  const clock = fakeClock();
  const abort = new AbortController();
  const gaps: number[] = [];
  const silence = watchSilence({ clock, signal: abort.signal, deadlines });
  async function* read() {
    try {
      for (const [n, ms] of gaps.entries()) {
        silence.expect();
        await clock.sleep(ms, silence.signal);
        silence.arrived();
        yield n;
      }
    } finally {
      silence.stop();
    }
  }
  return { clock, abort, gaps, parts: read(), signal: silence.signal };
}

/** The result of a promise while the clock advances. */
async function after(clock: { advance(ms: number): Promise<void> }, ms: number, promise: Promise<unknown>) {
  let outcome: unknown = 'waiting';
  promise.then(
    (value) => {
      outcome = value;
    },
    (error: unknown) => {
      outcome = error instanceof Error ? error.message : error;
    },
  );
  await clock.advance(ms);
  return outcome;
}

test('the first part may take longer than the next ones', async () => {
  const { clock, gaps, parts } = setUp();
  gaps.push(299_999, 59_999, 60_001);
  assert.deepEqual(await after(clock, 299_999, parts.next()), { done: false, value: 0 });
  assert.deepEqual(await after(clock, 59_999, parts.next()), { done: false, value: 1 });
  assert.equal(await after(clock, 60_000, parts.next()), 'The model has been silent for 60 seconds.');
});

test('a missing first part is a timeout, and the source is aborted', async () => {
  const { clock, gaps, parts, signal } = setUp();
  gaps.push(300_001);
  assert.equal(await after(clock, 300_000, parts.next()), 'The model has been silent for 300 seconds.');
  assert.equal(signal.aborted, true);
});

test('the time that the reader takes does not count', async () => {
  const { clock, gaps, parts } = setUp();
  gaps.push(1, 1);
  await after(clock, 1, parts.next());
  await clock.advance(600_000);
  assert.deepEqual(await after(clock, 1, parts.next()), { done: false, value: 1 });
});

test('aborting passes on its reason, and leaving closes the source', async () => {
  const aborted = setUp();
  aborted.gaps.push(10);
  const next = aborted.parts.next();
  aborted.abort.abort(new Error('cancelled'));
  await assert.rejects(next, { message: 'cancelled' });

  const left = setUp();
  left.gaps.push(1, 1);
  await after(left.clock, 1, left.parts.next());
  await left.parts.return(undefined);
  assert.equal(left.signal.aborted, true);
});

test('only addresses in a local network get five minutes', () => {
  const limits = AnswerLimits.parse({});
  assert.deepEqual(deadlinesFor('http://192.168.1.7:8000/v1', limits), { firstMs: 300_000, betweenMs: 60_000 });
  assert.deepEqual(deadlinesFor('https://api.example.com/v1', limits), { firstMs: 60_000, betweenMs: 60_000 });
});

test('configured limits apply to all addresses', () => {
  const limits = AnswerLimits.parse({ firstSecs: 10, betweenSecs: 2.5 });
  assert.deepEqual(deadlinesFor('http://192.168.1.7:8000/v1', limits), { firstMs: 10_000, betweenMs: 2_500 });
  assert.deepEqual(deadlinesFor('https://api.example.com/v1', limits), { firstMs: 10_000, betweenMs: 2_500 });
});

test('private addresses are distinguished from public ones', () => {
  const isPrivate = [
    'localhost',
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.9.9',
    '192.168.0.1',
    '169.254.1.1',
    '100.64.0.1',
    '[::1]',
    '[fd00::1]',
    '[fe80::1]',
    'vllm',
    'box.local',
    'a.internal',
  ];
  const isPublic = [
    '8.8.8.8',
    '172.32.0.1',
    '11.0.0.1',
    '100.128.0.1',
    '[2001:db8::1]',
    'api.openai.com',
    '10.example.com',
    'fd.example.com',
  ];
  const wrong = [
    ...isPrivate.filter((host) => !isPrivateAddress(`http://${host}:80/v1`)),
    ...isPublic.filter((host) => isPrivateAddress(`http://${host}:80/v1`)),
  ];
  assert.deepEqual([wrong, isPrivateAddress('no url')], [[], false]);
});
