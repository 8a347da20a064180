import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { DeliveryError } from '../channels/channel.ts';
import { OF_EVERYONE } from '../sharing/perception.ts';
import { Notifier } from './notifier.ts';
import { toMatter } from './question.ts';

const QUESTION = toMatter({
  approval: {
    ...{ approvalId: 'a1', wsId: 'w', sessionKey: 'main', kind: 'tools', items: [] },
    expiresAtMs: 9_000_000,
  },
  of: OF_EVERYONE,
  place: 'harbour',
});

/** A target that refuses the first messages like this. */
function setUp({ refusals = [] as Error[], unread = [] as Error[], delayMs = 0 } = {}) {
  const clock = fakeClock();
  const log = recordingLog();
  const sent: string[] = [];
  const send = (what: string) => async () => {
    sent.push(`${what} at ${clock.now() / 1000}`);
    const refusal = refusals.shift();
    if (refusal) throw refusal;
  };
  const sight = { isFor: true };
  const target = {
    ...{ name: 'phone', ask: send('ask'), withdraw: send('withdraw') },
    isFor: async () => sight.isFor,
  };
  const targetsOf = async () => {
    const problem = unread.shift();
    if (problem) throw problem;
    return [target];
  };
  const notifier = new Notifier({ targetsOf, delayMs: () => delayMs, clock, log });
  return { clock, log, sent, notifier, sight };
}

const busy = (retryAfterMs?: number) => new DeliveryError('HTTP 429', { retryable: true, retryAfterMs });

test('a question that is decided before the delay is over reaches nobody', async () => {
  const { clock, sent, notifier } = setUp({ delayMs: 10_000 });
  notifier.asked(QUESTION);
  await clock.advance(9_999);
  notifier.decided('a1');
  await clock.advance(60_000);
  assert.deepEqual(sent, []);
});

test('a question is told once, also if a restart asks it again, and taken back when it is decided', async () => {
  const { clock, sent, notifier } = setUp({ delayMs: 10_000 });
  notifier.asked(QUESTION);
  notifier.asked(QUESTION);
  await clock.advance(10_000);
  notifier.decided('a1');
  notifier.decided('a1');
  await clock.advance(60_000);
  assert.deepEqual(sent, ['ask at 10', 'withdraw at 10']);
});

test('a question is told although it could not be read at first whom it concerns', async () => {
  const { clock, sent, notifier } = setUp({ unread: [new Error('no database'), new Error('no database')] });
  notifier.asked(QUESTION);
  await clock.advance(60_000);
  assert.deepEqual(sent, ['ask at 3']);
});

test('a question that is nothing for a target any more is not tried again', async () => {
  const { clock, sent, notifier, sight } = setUp({ refusals: [busy()] });
  notifier.asked(QUESTION);
  await clock.advance(0);
  sight.isFor = false;
  await clock.advance(60_000);
  assert.deepEqual(sent, ['ask at 0']);
});

test('what does not wait any more is not tried again, although nobody has said so', async () => {
  const { clock, sent, notifier } = setUp({ refusals: [busy(), busy()] });
  let waits = true;
  notifier.asked({ ...QUESTION, waits: async () => waits });
  await clock.advance(0);
  waits = false;
  await clock.advance(60_000);
  assert.deepEqual(sent, ['ask at 0']);
});

test('when fewer people share a workstream, its question is taken back from those who lose it, once', async () => {
  const { clock, sent, notifier, sight } = setUp();
  notifier.asked(QUESTION);
  await clock.advance(0);
  notifier.shared({ wsId: 'w' });
  await clock.advance(1_000);
  sight.isFor = false;
  notifier.shared({ wsId: 'another' });
  await clock.advance(1_000);
  assert.deepEqual(sent, ['ask at 0']);
  notifier.shared({ wsId: 'w' });
  await clock.advance(0);
  notifier.decided('a1');
  await clock.advance(0);
  assert.deepEqual(sent, ['ask at 0', 'withdraw at 2']);
});

test('temporary refusals are tried again, later each time, and not before the server wants', async () => {
  const { clock, sent, notifier } = setUp({ refusals: [busy(), new Error('no route'), busy(30_000), busy()] });
  notifier.asked(QUESTION);
  await clock.advance(120_000);
  assert.deepEqual(sent, ['ask at 0', 'ask at 1', 'ask at 3', 'ask at 33', 'ask at 41']);
});

test('nothing is tried again after the decision, and what may have arrived is taken back', async () => {
  const { clock, sent, notifier } = setUp({ refusals: [busy(30_000)] });
  notifier.asked(QUESTION);
  await clock.advance(29_999);
  notifier.decided('a1');
  await clock.advance(120_000);
  assert.deepEqual(sent, ['ask at 0', 'withdraw at 29.999']);
});

test('a permanent refusal, and the tenth temporary one, are logged and end it', async () => {
  const gone = setUp({ refusals: [new DeliveryError('HTTP 403', { retryable: false })] });
  gone.notifier.asked(QUESTION);
  await gone.clock.advance(3_600_000);
  assert.deepEqual(gone.sent, ['ask at 0']);
  const down = setUp({ refusals: Array.from({ length: 20 }, () => busy()) });
  down.notifier.asked(QUESTION);
  await down.clock.advance(24 * 3_600_000);
  assert.equal(down.sent.length, 10);
  assert.deepEqual(down.log.fields, [{ to: 'phone', attempt: 10, problem: 'HTTP 429' }]);
});

/** What has been sent, with messages that arrive only when the test says so. */
function slowly() {
  const arrived = Promise.withResolvers<void>();
  const ends: string[] = [];
  const send = (what: string) => (_: unknown, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      arrived.promise.then(resolve);
    }).then(
      () => void ends.push(`${what} arrived`),
      () => void ends.push(`${what} cut off`),
    );
  const target = { name: 'phone', ask: send('ask'), withdraw: send('withdraw'), isFor: async () => true };
  const clock = fakeClock();
  const notifier = new Notifier({ targetsOf: async () => [target], delayMs: () => 0, clock, log: recordingLog() });
  return { arrived, ends, clock, notifier };
}

test('when the daemon stops, waits end', async () => {
  const { clock, sent, notifier } = setUp({ refusals: [busy(), busy()] });
  notifier.asked(QUESTION);
  await clock.advance(0);
  await notifier.close();
  await clock.advance(60_000);
  assert.deepEqual(sent, ['ask at 0']);
});

test('messages that are under way when the daemon stops arrive', async () => {
  for (const told of ['ask', 'withdraw']) {
    const { arrived, ends, clock, notifier } = slowly();
    notifier.asked(QUESTION);
    await clock.advance(0);
    if (told === 'withdraw') {
      notifier.decided('a1');
      await clock.advance(0);
    }
    const closed = notifier.close();
    await clock.advance(1_999);
    arrived.resolve();
    await closed;
    assert.equal(ends.at(-1), `${told} arrived`);
  }
});

test('a server that does not answer delays the stop for two seconds', async () => {
  const { ends, clock, notifier } = slowly();
  notifier.asked(QUESTION);
  await clock.advance(0);
  const closed = notifier.close();
  await clock.advance(1_999);
  assert.deepEqual(ends, []);
  await clock.advance(1);
  await closed;
  assert.deepEqual(ends, ['ask cut off']);
});

test('what waits to be taken back when the daemon stops is tried once more, because no later one would', async () => {
  const { clock, sent, notifier } = setUp();
  notifier.asked(QUESTION);
  await clock.advance(0);
  const refused = setUp({ refusals: [busy(), busy(), busy()] });
  refused.notifier.asked(QUESTION);
  await refused.clock.advance(0);
  refused.notifier.decided('a1');
  await refused.clock.advance(100);
  await refused.notifier.close();
  await refused.clock.advance(60_000);
  assert.deepEqual(refused.sent, ['ask at 0', 'withdraw at 0', 'withdraw at 0.1']);
  notifier.decided('a1');
  await notifier.close();
  await clock.advance(60_000);
  assert.deepEqual(sent, ['ask at 0', 'withdraw at 0']);
});
