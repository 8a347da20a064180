import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../../protocol/errors.ts';
import { StopReason } from '../../../agent/stop-reason.ts';
import { Elsewhere } from '../elsewhere.ts';
import { joinedLinks, settle } from './joined-links-fixture.ts';
import type { Asked } from './link.ts';

const failing = (error: unknown) =>
  joinedLinks({
    answered: {
      answer() {
        throw error;
      },
    },
  });

test('both ends ask, and each gets the answer to its own question', async () => {
  const answerAs = (name: string) => ({ answer: async (what: string, body: unknown) => ({ name, what, body }) });
  const { asked, answered } = joinedLinks({ asked: answerAs('a'), answered: answerAs('b') });
  const answers = await Promise.all([asked.ask('x', { n: 1 }), answered.ask('y', [2]), asked.ask('z', null)]);
  assert.deepEqual(answers, [
    { name: 'b', what: 'x', body: { n: 1 } },
    { name: 'a', what: 'y', body: [2] },
    { name: 'b', what: 'z', body: null },
  ]);
});

test('answers may come in another order than their questions', async () => {
  const waiting = new Map<unknown, (answer: unknown) => void>();
  const { asked } = joinedLinks({
    answered: { answer: (_, body) => new Promise((resolve) => void waiting.set(body, resolve)) },
  });
  const order: unknown[] = [];
  const questions = [1, 2, 3].map((n) => asked.ask('q', n).then((answer) => order.push(answer)));
  await settle();
  for (const n of [3, 1, 2]) waiting.get(n)?.(`answer ${n}`);
  await Promise.all(questions);
  assert.deepEqual(order, ['answer 3', 'answer 1', 'answer 2']);
});

test('an answer without a value is undefined', async () => {
  const { asked } = joinedLinks({ answered: { answer: async () => undefined } });
  assert.equal(await asked.ask('q', undefined), undefined);
});

test('questions and answers of several megabytes arrive', async () => {
  const { asked, wire } = joinedLinks({ answered: { answer: async (_, body) => `${body} again` } });
  const long = 'ä'.repeat(1_500_000);
  const answer = await asked.ask('q', long);
  assert.ok(answer === `${long} again`);
  assert.ok(wire.sent > 10, 'in pieces');
});

test('what comes before the answer reaches the question that it belongs to, in order', async () => {
  const { asked } = joinedLinks({
    answered: {
      async answer(_, body, { interim }) {
        interim(`${body} early`);
        await settle();
        interim(`${body} late`);
        return `${body} answer`;
      },
    },
  });
  const told: unknown[] = [];
  const ask = async (name: string) => {
    const answer = await asked.ask('q', name, { onInterim: (body) => void told.push(body) });
    told.push(answer);
  };
  await Promise.all([ask('a'), ask('b')]);
  const of = (name: string) => told.filter((one) => String(one).startsWith(name));
  assert.deepEqual(
    [of('a'), of('b')],
    [
      ['a early', 'a late', 'a answer'],
      ['b early', 'b late', 'b answer'],
    ],
  );
});

test('what comes before an answer may be ignored', async () => {
  const { asked } = joinedLinks({
    answered: {
      async answer(_, __, { interim }) {
        interim(1);
        return 2;
      },
    },
  });
  assert.equal(await asked.ask('q', null), 2);
});

test('a refusal arrives with all that its caller is told', async () => {
  const { asked, log } = failing(
    new GatewayError('BUSY', 'too much to do', {
      details: { waiting: 3 },
      payload: { runId: 'r' },
      retryable: false,
      retryAfterMs: 250,
      cause: new Error('for the log of that machine only'),
    }),
  );
  const error = await asked.ask('q', null).catch((refusal: unknown) => refusal);
  assert.ok(error instanceof GatewayError);
  const { code, message, details, payload, retryable, retryAfterMs, cause } = error;
  assert.deepEqual(
    { code, message, details, payload, retryable, retryAfterMs, cause },
    {
      code: 'BUSY',
      message: 'too much to do',
      details: { waiting: 3 },
      payload: { runId: 'r' },
      retryable: false,
      retryAfterMs: 250,
      cause: undefined,
    },
  );
  assert.deepEqual(log.lines, []);
});

test('a refusal without details arrives without them', async () => {
  const error = await failing(new GatewayError('UNAVAILABLE', 'not now'))
    .asked.ask('q', null)
    .catch((refusal: unknown) => refusal);
  assert.ok(error instanceof GatewayError);
  const { code, details, payload, retryable, retryAfterMs } = error;
  assert.deepEqual(
    [code, details, payload, retryable, retryAfterMs],
    ['UNAVAILABLE', undefined, undefined, true, undefined],
  );
});

test('the answer that another machine has the workstream arrives as such', async () => {
  for (const machine of ['worker_1', null]) {
    const error = await failing(new Elsewhere(machine))
      .asked.ask('q', null)
      .catch((refusal: unknown) => refusal);
    assert.ok(error instanceof Elsewhere);
    assert.equal(error.machine, machine);
  }
});

test('an unforeseen error is logged where it happened, and the other daemon learns nothing about it', async () => {
  for (const unforeseen of [new TypeError('the secret path /root/x'), 'the secret path']) {
    const { asked, log } = failing(unforeseen);
    const error = await asked.ask('q', null).catch((refusal: unknown) => refusal);
    assert.ok(error instanceof GatewayError);
    const { code, message, retryable } = error;
    assert.deepEqual([code, message, retryable], ['INTERNAL', 'Internal error', false]);
    assert.deepEqual(log.lines, [['error', 'a question of another daemon could not be answered']]);
    assert.deepEqual(log.fields, [{ err: unforeseen }]);
  }
});

/** An end whose answers wait for the test. */
function slow() {
  const given: Asked[] = [];
  const answer = Promise.withResolvers<unknown>();
  const links = joinedLinks({
    answered: {
      answer(_, __, asked) {
        given.push(asked);
        return answer.promise;
      },
    },
  });
  return { ...links, given, answer };
}

test('a question that its caller no longer needs is cancelled at the other end, which may still answer it', async () => {
  const { asked, given, answer } = slow();
  const gone = new AbortController();
  const [first, second] = [asked.ask('q', 1, { signal: gone.signal }), asked.ask('q', 2)];
  await settle();
  gone.abort();
  await settle();
  assert.deepEqual(
    given.map(({ signal }) => signal.aborted),
    [true, false],
  );
  assert.ok(given[0]?.signal.reason instanceof GatewayError, 'which is not logged as a fault');
  answer.resolve('both');
  assert.deepEqual(await Promise.all([first, second]), ['both', 'both']);
});

test('a run that is stopped tells the other end so, and a caller that has gone does not', async () => {
  const { asked, given, answer } = slow();
  const [stopped, left] = [new AbortController(), new AbortController()];
  const questions = [stopped, left].map(({ signal }) => asked.ask('q', 1, { signal }));
  await settle();
  stopped.abort(new StopReason('cancel', 'enough'));
  left.abort(new Error('its connection has ended'));
  await settle();
  const [first, second] = given.map(({ signal }) => signal.reason);
  assert.ok(first instanceof StopReason && !(second instanceof StopReason));
  assert.equal(first.kind, 'cancel');
  answer.resolve(null);
  await Promise.all(questions);
});

test('a question whose caller has gone before is cancelled, too', async () => {
  const { asked, given, answer } = slow();
  const question = asked.ask('q', 1, { signal: AbortSignal.abort() });
  question.catch(() => undefined); // it may be refused at once, too
  await settle();
  assert.ok(given.every(({ signal }) => signal.aborted));
  answer.resolve(null);
});

test('nothing is sent for a caller who goes after the answer', async () => {
  const { asked, wire } = joinedLinks();
  const gone = new AbortController();
  await asked.ask('q', 1, { signal: gone.signal });
  await settle();
  const before = wire.sent;
  gone.abort();
  assert.equal(wire.sent, before);
});

test('news are heard in order, between questions', async () => {
  const heard: unknown[] = [];
  const { asked } = joinedLinks({
    answered: {
      hear: (what, body) => void heard.push([what, body]),
      answer: async (what) => void heard.push(what),
    },
  });
  asked.tell('a', 1);
  const question = asked.ask('b', null);
  asked.tell('c', { d: [] });
  await question;
  assert.deepEqual(heard, [['a', 1], 'b', ['c', { d: [] }]]);
});

test('an answer that is no JSON refuses its question alone', async () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const { asked, answered } = joinedLinks({
    answered: { answer: async (what) => (what === 'bad' ? circular : 'good') },
  });
  const refusal = asked.ask('bad', null).catch((error: unknown) => error);
  const outcome = await Promise.race([refusal, settle().then(() => 'no answer')]);
  assert.ok(outcome instanceof GatewayError, String(outcome));
  assert.deepEqual([outcome.code, answered.ended.aborted], ['INTERNAL', false]);
  assert.equal(await asked.ask('good', null), 'good');
});
