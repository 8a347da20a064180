import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelProblem } from '../../../protocol/methods/models.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { type Admit, createCircuitBreaker, type Permit, throughBreaker } from './circuit-breaker.ts';
import { ProviderError } from './model.ts';

function setUp() {
  const clock = fakeClock();
  const changes: string[] = [];
  const breaker = createCircuitBreaker({ clock, onChange: (state) => changes.push(state) });
  const acquire = (): Permit => {
    const permit = breaker.tryAcquire();
    assert.ok(permit, 'the circuit gave no permit');
    return permit;
  };
  const fail = (times: number) => {
    for (let n = 0; n < times; n++) acquire().fail();
  };
  return { clock, changes, breaker, acquire, fail };
}

test('five failures in a row open the circuit', () => {
  const { breaker, fail, changes } = setUp();
  fail(4);
  assert.equal(breaker.state(), 'closed');
  fail(1);
  assert.deepEqual(
    [breaker.state(), breaker.tryAcquire(), breaker.cooldownLeftMs(), changes],
    ['open', undefined, 60_000, ['open']],
  );
});

test('any success resets the count', () => {
  const { breaker, acquire, fail } = setUp();
  fail(4);
  acquire().succeed();
  fail(4);
  assert.equal(breaker.state(), 'closed');
});

test('a successful probe resets only failed probes', () => {
  const { breaker, fail } = setUp();
  const probe = () => breaker.tryProbe() ?? assert.fail('the circuit gave no permit');
  for (let n = 0; n < 4; n++) probe().fail();
  probe().succeed();
  fail(2);
  probe().fail();
  probe().fail();
  probe().succeed();
  fail(2);
  assert.equal(breaker.state(), 'closed', 'four answers in a row');
  probe().succeed();
  fail(1);
  assert.equal(breaker.state(), 'open', 'five, whatever the probes found between');
  assert.equal(breaker.tryProbe(), undefined);
});

test('a circuit opened by failed answers is closed by an answer, not by probes that always succeed', async () => {
  const { clock, breaker, acquire, fail } = setUp();
  breaker.tryProbe()?.succeed();
  fail(5);
  await clock.advance(60_000);
  for (let n = 0; n < 3; n++) breaker.tryProbe()?.succeed();
  assert.equal(breaker.state(), 'half_open');
  breaker.tryProbe(); // in progress, without blocking others
  acquire().fail();
  assert.equal(breaker.state(), 'open');
  await clock.advance(60_000);
  acquire().succeed();
  assert.equal(breaker.state(), 'closed');
});

test('a probe closes the circuit if an earlier probe failed, before or after it opened', async () => {
  for (const failedAnswers of [4, 5]) {
    const { clock, breaker, fail } = setUp();
    fail(failedAnswers);
    if (failedAnswers === 5) await clock.advance(60_000);
    breaker.tryProbe()?.fail();
    assert.equal(breaker.state(), failedAnswers === 5 ? 'half_open' : 'open');
    await clock.advance(60_000);
    breaker.tryProbe()?.succeed();
    assert.equal(breaker.state(), 'closed');
  }
});

test('after the cooldown exactly one trial is allowed', async () => {
  const { clock, breaker, fail } = setUp();
  fail(5);
  await clock.advance(59_999);
  assert.equal(breaker.tryAcquire(), undefined);
  await clock.advance(1);
  assert.equal(breaker.state(), 'open');
  assert.ok(breaker.tryAcquire());
  assert.deepEqual([breaker.state(), breaker.tryAcquire()], ['half_open', undefined]);
});

test('a successful trial closes the circuit', async () => {
  const { clock, breaker, acquire, fail, changes } = setUp();
  fail(5);
  await clock.advance(60_000);
  acquire().succeed();
  fail(4);
  assert.deepEqual([breaker.state(), changes], ['closed', ['open', 'half_open', 'closed']]);
});

test('a failed trial starts a new cooldown', async () => {
  const { clock, breaker, acquire, fail } = setUp();
  fail(5);
  await clock.advance(90_000);
  acquire().fail();
  assert.deepEqual([breaker.state(), breaker.cooldownLeftMs()], ['open', 60_000]);
});

test('a cancelled trial gives its permit back', async () => {
  const { clock, breaker, acquire, fail } = setUp();
  fail(5);
  await clock.advance(60_000);
  acquire().release();
  assert.equal(breaker.state(), 'half_open');
  acquire().succeed();
  assert.equal(breaker.state(), 'closed');
});

test('a result from before the circuit opened has no effect, nor does a second result', async () => {
  const { clock, breaker, acquire, fail } = setUp();
  const late = acquire();
  const other = acquire();
  fail(5);
  late.succeed();
  assert.equal(breaker.state(), 'open');
  await clock.advance(60_000);
  const trial = acquire();
  other.fail();
  assert.equal(breaker.state(), 'half_open');
  trial.release();
  trial.succeed();
  assert.equal(breaker.state(), 'half_open');
});

async function* failing(kind: ModelProblem): AsyncGenerator<string> {
  yield 'part';
  throw new ProviderError(kind, kind);
}

const passage = (signal: AbortSignal) => ({ signal, refusal: () => new ProviderError('circuit_open', 'not now') });

/** Asks once, as a person who does not want to wait any longer if `isAsked`. */
const asking =
  (kind: ModelProblem, isAsked = false) =>
  async (admit: Admit) => {
    admit(isAsked);
    return failing(kind);
  };

const run = async (kind: ModelProblem, breaker: ReturnType<typeof createCircuitBreaker>, signal: AbortSignal) => {
  try {
    for await (const _ of throughBreaker(breaker, asking(kind), passage(signal)));
  } catch (error) {
    return error instanceof ProviderError ? error.kind : error;
  }
  return 'whole';
};

for (const [kind, state] of [
  ['unreachable', 'open'],
  ['timeout', 'open'],
  ['interrupted', 'open'],
  ['unauthorized', 'closed'],
  ['refused', 'closed'],
  ['rate_limited', 'closed'],
] as const) {
  test(`five answers that end ${kind} leave the circuit ${state}`, async () => {
    const { breaker } = setUp();
    for (let n = 0; n < 5; n++) await run(kind, breaker, new AbortController().signal);
    assert.equal(breaker.state(), state);
  });
}

test('an open circuit refuses without sending a request', async () => {
  const { breaker, fail } = setUp();
  fail(5);
  assert.equal(await run('refused', breaker, new AbortController().signal), 'circuit_open');
});

test('cancelling, or leaving the iteration, has no result and returns the permit', async () => {
  const { clock, breaker, fail } = setUp();
  fail(5);
  await clock.advance(60_000);
  const abort = new AbortController();
  const cancelled = throughBreaker(breaker, asking('unreachable'), passage(abort.signal));
  await cancelled.next();
  abort.abort(new Error('cancelled'));
  await assert.rejects(cancelled.next());
  for await (const _ of throughBreaker(breaker, asking('unreachable'), passage(new AbortController().signal))) break;
  assert.equal(breaker.state(), 'half_open');
  assert.ok(breaker.tryAcquire());
});

test('a person may try an open circuit, and an answer closes it', async () => {
  const { breaker, fail } = setUp();
  fail(5);
  const { signal } = new AbortController();
  const refused = throughBreaker(breaker, asking('unreachable', true), passage(signal));
  await assert.rejects(
    refused.next().then(() => refused.next()),
    { kind: 'unreachable' },
  );
  assert.equal(breaker.state(), 'open');
  const answered = throughBreaker(breaker, asking('refused', true), passage(signal));
  await assert.rejects(
    answered.next().then(() => answered.next()),
    { kind: 'refused' },
  );
  assert.equal(breaker.state(), 'closed');
});
