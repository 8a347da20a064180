import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../protocol/errors.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { recordingLog, tempStore } from '../testing/temp-store.ts';
import { createIdempotency, type Keyed, type KeyedRequest } from './idempotency.ts';
import { UnitRefused } from './store/store.ts';

async function setUp() {
  const store = await tempStore();
  const clock = fakeClock(5_000);
  const log = recordingLog();
  let idempotency = createIdempotency({ store, clock, log });
  return {
    store,
    clock,
    log,
    answer: (request: KeyedRequest, work: (keyed: Keyed) => Promise<unknown>) => idempotency.answer(request, work),
    sweep: (signal: AbortSignal) => idempotency.run(signal),
    /** A new process, which knows only what is stored. */
    restart() {
      idempotency = createIdempotency({ store, clock, log });
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

interface RequestOptions {
  params?: object;
  principal?: string;
  method?: string;
  key?: string;
}

function request({ params = {}, principal = 'ada', method = 'chat.send', key = 'k' }: RequestOptions = {}) {
  const gone = new AbortController();
  const interims: unknown[] = [];
  const caller = {
    principal: { id: principal, scopes: new Set<never>(), source: { kind: 'operator' as const }, ended: gone.signal },
    signal: gone.signal,
    interim: (payload: unknown) => void interims.push(payload),
  };
  return { method, key, params: { ...params, idempotencyKey: key }, caller, gone, interims };
}

/** Work that counts its calls. */
function counted(result: (times: number) => unknown = (times) => ({ times })) {
  const work = async (): Promise<unknown> => result(++work.times);
  work.times = 0;
  return work;
}

const conflict = { name: 'GatewayError', code: 'CONFLICT' };

test('a repeat gets the stored answer, also after a restart', async () => {
  await using gateway = await setUp();
  const work = counted();
  const answers = [await gateway.answer(request(), work), await gateway.answer(request(), work)];
  gateway.restart();
  answers.push(await gateway.answer(request(), work));
  assert.deepEqual([answers, work.times], [[{ times: 1 }, { times: 1 }, { times: 1 }], 1]);
});

test('the order in which params are written does not matter, their values do', async () => {
  await using gateway = await setUp();
  const work = counted();
  await gateway.answer(request({ params: { a: 1, b: { c: 2, d: 3 } } }), work);
  await gateway.answer(request({ params: { b: { d: 3, c: 2 }, a: 1 } }), work);
  assert.equal(work.times, 1);
  await assert.rejects(gateway.answer(request({ params: { a: 1, b: { c: 2, d: 4 } } }), work), conflict);
  gateway.restart();
  await assert.rejects(gateway.answer(request({ params: { a: 1 } }), work), conflict);
});

test('each principal and method has its own keys', async () => {
  await using gateway = await setUp();
  const work = counted();
  await gateway.answer(request(), work);
  await gateway.answer(request({ principal: 'bob', params: { other: 1 } }), work);
  await gateway.answer(request({ method: 'agent', params: { other: 1 } }), work);
  await gateway.answer(request({ key: 'k2', params: { other: 1 } }), work);
  assert.equal(work.times, 4);
});

test('repeats of a running call wait for its answer and get its interim one, however late they come', async () => {
  await using gateway = await setUp();
  const finish = Promise.withResolvers<unknown>();
  const started = Promise.withResolvers<Keyed>();
  const [first, second, third] = [request(), request(), request()];
  const answers = [
    gateway.answer(first, (keyed) => {
      started.resolve(keyed);
      return finish.promise;
    }),
    gateway.answer(second, () => assert.fail('joins instead')),
  ];
  (await started.promise).interim?.({ status: 'accepted' });
  answers.push(gateway.answer(third, () => assert.fail('joins instead')));
  await assert.rejects(
    gateway.answer(request({ params: { other: 1 } }), () => assert.fail('never runs')),
    conflict,
  );
  finish.resolve('done');
  assert.deepEqual(await Promise.all(answers), ['done', 'done', 'done']);
  assert.deepEqual(
    [first, second, third].map(({ interims }) => interims),
    [[{ status: 'accepted' }], [{ status: 'accepted' }], [{ status: 'accepted' }]],
  );
});

test('a shared call is aborted only when all its callers are gone', async () => {
  await using gateway = await setUp();
  const [first, second] = [request(), request()];
  const started = Promise.withResolvers<AbortSignal | undefined>();
  const answer = gateway.answer(first, async ({ signal }) => {
    started.resolve(signal);
    await new Promise((resolve) => signal?.addEventListener('abort', resolve));
    return 'given up';
  });
  const joined = gateway.answer(second, () => assert.fail('joins instead'));
  const signal = await started.promise;
  first.gone.abort();
  assert.equal(signal?.aborted, false);
  second.gone.abort();
  assert.equal(signal?.aborted, true);
  assert.deepEqual(await Promise.all([answer, joined]), ['given up', 'given up']);
});

test('a final refusal is repeated word for word', async () => {
  await using gateway = await setUp();
  const thrown = new GatewayError('NOT_FOUND', 'Unknown workstream', { details: { wsId: 'w' }, payload: { p: 1 } });
  const work = counted(() => Promise.reject(thrown));
  const tell = () => gateway.answer(request(), work).catch((error: unknown) => error);
  await tell();
  gateway.restart();
  const told = await tell();
  assert.ok(told instanceof GatewayError);
  const { code, message, details, payload } = told;
  assert.deepEqual(
    { code, message, details, payload, times: work.times },
    { code: 'NOT_FOUND', message: 'Unknown workstream', details: { wsId: 'w' }, payload: { p: 1 }, times: 1 },
  );
});

for (const error of [
  new GatewayError('BUSY', 'later'),
  new GatewayError('UNAVAILABLE', 'no disk'),
  new GatewayError('INTERNAL', 'Internal error'),
  new GatewayError('UNAUTHORIZED', 'the login has ended'),
  new GatewayError('FORBIDDEN', 'a fresh proof', { details: { reason: 'step_up', by: 'link' } }),
  new Error('a bug'),
]) {
  test(`${error.name} "${error.message}" is forgotten, so that a retry can succeed`, async () => {
    await using gateway = await setUp();
    const work = counted((times) => (times === 1 ? Promise.reject(error) : 'ok'));
    await assert.rejects(gateway.answer(request(), work));
    assert.equal(await gateway.answer(request(), work), 'ok');
  });
}

test('a value that a handler keeps with its effect is passed to it on a repeat, instead of a stored answer', async () => {
  await using gateway = await setUp();
  const seen: unknown[] = [];
  const work = async ({ kept, keep }: Keyed): Promise<unknown> => {
    seen.push(kept);
    if (kept === undefined) await gateway.store.commit({ statements: keep({ runId: 'run_1' }) });
    return kept === undefined ? 'started' : 'in_flight';
  };
  assert.equal(await gateway.answer(request(), work), 'started');
  gateway.restart();
  assert.equal(await gateway.answer(request(), work), 'in_flight');
  assert.deepEqual(seen, [undefined, { runId: 'run_1' }]);
  await assert.rejects(gateway.answer(request({ params: { other: 1 } }), work), conflict);
});

test('an effect whose key was taken meanwhile is refused completely', async () => {
  await using gateway = await setUp();
  const work = async ({ keep }: Keyed): Promise<unknown> => {
    gateway.restart(); // another process, which does not know this call
    await gateway.answer(request(), async () => 'theirs');
    return gateway.store.commit({ statements: keep('mine') });
  };
  await assert.rejects(gateway.answer(request(), work), UnitRefused);
});

test('the answer of a handler without an effect is stored too', async () => {
  await using gateway = await setUp();
  const work = counted();
  const idle = (keyed: Keyed) => {
    keyed.keep('never committed, for there was nothing to do');
    return work();
  };
  await gateway.answer(request(), idle);
  assert.deepEqual([await gateway.answer(request(), idle), work.times], [{ times: 1 }, 1]);
});

test('a momentary answer is not repeated', async () => {
  await using gateway = await setUp();
  const work = counted();
  const busyOnce = ({ keep, momentary }: Keyed) => {
    if (work.times === 0) momentary();
    keep('not committed');
    return work();
  };
  const ask = () => gateway.answer(request(), busyOnce);
  assert.deepEqual([await ask(), await ask(), await ask()], [{ times: 1 }, { times: 2 }, { times: 2 }]);
});

test('a repeat may keep a newer value', async () => {
  await using gateway = await setUp();
  const work = async ({ kept, keep }: Keyed): Promise<unknown> => {
    await gateway.store.commit({ statements: keep(Number(kept ?? 0) + 1) });
    return kept;
  };
  const answers = [];
  for (let i = 0; i < 3; i++) answers.push(await gateway.answer(request(), work));
  assert.deepEqual(answers, [undefined, 1, 2]);
});

test('a final error after the effect does not replace the kept value', async () => {
  await using gateway = await setUp();
  const work = async ({ kept, keep }: Keyed): Promise<unknown> => {
    if (kept !== undefined) return kept;
    await gateway.store.commit({ statements: keep('effect') });
    throw new GatewayError('AGENT_TIMEOUT', 'too slow');
  };
  await assert.rejects(gateway.answer(request(), work));
  assert.equal(await gateway.answer(request(), work), 'effect');
});

test('a key is free again after 24 hours without clock jumps', async () => {
  await using gateway = await setUp();
  const stop = new AbortController();
  const running = gateway.sweep(stop.signal);
  const work = counted();
  await gateway.answer(request(), work);
  await gateway.clock.advance(LIMITS.idempotencyMs - 1);
  assert.deepEqual(await gateway.answer(request(), work), { times: 1 });
  await gateway.clock.advance(60 * 60 * 1000);
  stop.abort();
  await running;
  assert.deepEqual(await gateway.answer(request({ params: { other: 1 } }), work), { times: 2 });
  assert.deepEqual(await gateway.answer(request({ params: { other: 1 } }), work), { times: 2 });
});

test('expired keys are removed every hour', async () => {
  await using gateway = await setUp();
  const stop = new AbortController();
  const rows = () => gateway.store.db.selectFrom('idempotency').select('key').execute();
  await gateway.answer(request(), counted());
  gateway.clock.jump(LIMITS.idempotencyMs);
  const running = gateway.sweep(stop.signal);
  await gateway.answer(request({ key: 'young' }), counted());
  assert.equal((await rows()).length, 2);
  await gateway.clock.advance(60 * 60 * 1000);
  stop.abort();
  await running;
  assert.deepEqual(await rows(), [{ key: 'young' }]);
});

for (const hours of [1, 24, 400 * 24]) {
  test(`a clock that is ${hours} hours ahead for a minute removes no key`, async () => {
    await using gateway = await setUp();
    const stop = new AbortController();
    const running = gateway.sweep(stop.signal);
    const work = counted();
    await gateway.answer(request(), work);
    await gateway.clock.advance(59.5 * 60_000);
    gateway.clock.jump(hours * 3_600_000);
    await gateway.clock.advance(60_000); // a sweep was due meanwhile
    assert.deepEqual(await gateway.answer(request(), work), { times: 1 }, 'while it is ahead');
    gateway.clock.jump(-hours * 3_600_000);
    await gateway.answer(request(), work);
    assert.equal(work.times, 1);
    stop.abort();
    await running;
  });
}

test('an answer that cannot be stored is sent anyway, and the failure is logged', async () => {
  await using gateway = await setUp();
  const answer = gateway.answer(request(), async () => {
    await gateway.store.close();
    return 'done';
  });
  assert.equal(await answer, 'done');
  assert.deepEqual(gateway.log.lines, [['warn', 'an answer could not be stored for repeats']]);
});
