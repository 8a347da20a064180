import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinedLinks, settle, type Way } from './joined-links-fixture.ts';

/** The other end answers nothing. */
const unanswered = () => {
  const signals: AbortSignal[] = [];
  const links = joinedLinks({
    answered: {
      answer(_, __, { signal }) {
        signals.push(signal);
        return new Promise(() => undefined);
      },
    },
  });
  return { ...links, signals };
};

/** Perhaps it was carried out. */
const LOST = { name: 'GatewayError', code: 'UPSTREAM_FAILED', message: /lost before it answered/ };
/** Nothing was sent. */
const UNREACHABLE = {
  name: 'GatewayError',
  code: 'UNAVAILABLE',
  message: /cannot be reached now/,
  retryable: true,
  retryAfterMs: 1_000,
};

test('all open questions fail when the link ends, and their work at the other end is told', async () => {
  const { asked, answered, signals } = unanswered();
  const questions = [asked.ask('q', 1), asked.ask('q', 2)];
  const refusals = questions.map((question) => assert.rejects(question, LOST));
  await settle();
  asked.end('it has to');
  await Promise.all(refusals);
  assert.equal(String(asked.ended.reason), 'Error: it has to');
  answered.end('it has to, too');
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, true],
  );
});

test('the second reason of an end does not matter', () => {
  const { asked, log } = joinedLinks();
  asked.end('first');
  asked.end('second');
  assert.equal(String(asked.ended.reason), 'Error: first');
  assert.deepEqual(log.fields, [{ why: 'first' }]);
});

test('nothing is asked, told, sent or taken after the end', async () => {
  const heard: unknown[] = [];
  const { asked, answered, wire, clock } = joinedLinks({
    asked: { hear: (_, body) => void heard.push(body) },
    answered: { hear: (_, body) => void heard.push(body) },
  });
  await settle();
  asked.end('over');
  const before = wire.sent;
  await assert.rejects(asked.ask('q', null), UNREACHABLE);
  asked.tell('news', 1);
  assert.equal(wire.sent, before);
  answered.tell('news', 2);
  await settle();
  assert.deepEqual(heard, []);
  await clock.advance(5_000);
  assert.ok(answered.ended.aborted, 'the other end has noticed');
  const last = wire.sent;
  await clock.advance(60_000);
  assert.equal(wire.sent, last, 'no timer goes on');
});

test('an answer that is ready after the end is dropped', async () => {
  const answer = Promise.withResolvers<unknown>();
  const { asked, answered, wire } = joinedLinks({ answered: { answer: () => answer.promise } });
  const refused = assert.rejects(asked.ask('q', null), LOST);
  await settle();
  for (const link of [asked, answered]) link.end('over');
  const before = wire.sent;
  answer.resolve('late');
  await settle();
  await refused;
  assert.equal(wire.sent, before);
});

test('ends that hear each other stay linked', async () => {
  const { asked, answered, clock } = joinedLinks();
  for (let n = 0; n < 60; n += 1) await clock.advance(1_000);
  assert.deepEqual([asked.ended.aborted, answered.ended.aborted], [false, false]);
  assert.equal(await asked.ask('q', 1), null);
});

test('a silence of more than four seconds ends the link, with its questions', async () => {
  const { asked, answered, wire, clock } = unanswered();
  await clock.advance(10_000);
  const refused = assert.rejects(asked.ask('q', 1), LOST);
  await settle();
  wire.way = () => [];
  await clock.advance(4_000);
  assert.deepEqual([asked.ended.aborted, answered.ended.aborted], [false, false]);
  await clock.advance(1_000);
  assert.deepEqual([asked.ended.aborted, answered.ended.aborted], [true, true]);
  await refused;
  assert.equal(String(asked.ended.reason), 'Error: it is silent');
});

test('an end that is not heard notices that it hears nothing, though the other end hears it', async () => {
  const { asked, wire, clock } = joinedLinks();
  await settle();
  wire.way = (sealed, from) => (from === 'asked' ? [sealed] : []);
  await clock.advance(5_000);
  assert.ok(asked.ended.aborted);
});

/** Sends the next message of an end another way. */
function once(way: Way): Way {
  let isDone = false;
  return (sealed, from) => {
    if (from !== 'asked' || isDone) return [sealed];
    isDone = true;
    return way(sealed, from);
  };
}
const altered = (sealed: Uint8Array): Uint8Array => {
  const copy = Buffer.from(sealed);
  copy[copy.length - 1] = (copy.at(-1) ?? 0) ^ 1;
  return copy;
};

for (const [title, way] of [
  ['lost', () => []],
  ['repeated', (sealed) => [sealed, sealed]],
  ['altered', (sealed) => [altered(sealed)]],
  ['cut off', (sealed) => [sealed.subarray(0, 12)]],
  ['empty', () => [Buffer.alloc(0)]],
] satisfies [string, Way][]) {
  test(`the link ends with its questions when a message is ${title}`, async () => {
    const heard: unknown[] = [];
    const { asked, answered, wire, clock } = joinedLinks({
      answered: { answer: () => new Promise(() => undefined), hear: (_, body) => void heard.push(body) },
    });
    await settle();
    const [ours, theirs] = [asked.ask('q', 1), answered.ask('q', 1).catch(() => undefined)];
    const refused = assert.rejects(ours, LOST);
    await settle();
    wire.way = once(way);
    for (const n of [1, 2, 3]) asked.tell('n', n);
    await settle();
    assert.ok(answered.ended.aborted);
    assert.deepEqual(heard, title === 'repeated' ? [1] : []);
    await clock.advance(5_000);
    await refused;
    await theirs;
  });
}

test('messages that arrive in another order end the link', async () => {
  const { asked, answered, wire } = joinedLinks();
  await settle();
  const held: Uint8Array[] = [];
  wire.way = (sealed) => (held.push(sealed) < 2 ? [] : held.splice(0).reverse());
  asked.tell('n', 1);
  asked.tell('n', 2);
  await settle();
  assert.ok(answered.ended.aborted);
});

test('the link ends when the bus refuses a message, and the question fails', async () => {
  const { asked, wire } = joinedLinks();
  await settle();
  wire.throws = true;
  await assert.rejects(asked.ask('q', 1), LOST);
  assert.equal(String(asked.ended.reason), 'Error: the bus is away');
});

test('a link over a bus that is away ends at once and sends nothing more', async () => {
  const { asked, wire, clock } = joinedLinks();
  wire.throws = true;
  await clock.advance(1_000);
  assert.ok(asked.ended.aborted);
  await assert.rejects(asked.ask('q', 1), UNREACHABLE);
});
