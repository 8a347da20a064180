import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../../protocol/errors.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { settle } from './joined-links-fixture.ts';
import { createLeadLink } from './lead-link.ts';
import type { AskOptions, Link } from './link.ts';

const notServed = () => assert.fail('it is not used');
const never = () => new Promise<never>(() => undefined);

/** A link whose questions are answered so. A question without an answer is rejected when the link ends. */
function linkTo(answer: (what: string, options: AskOptions) => Promise<unknown>) {
  const ended = new AbortController();
  const link: Link = {
    ask(what, _, options = {}) {
      const lost = Promise.withResolvers<never>();
      ended.signal.addEventListener('abort', () => lost.reject(new GatewayError('UPSTREAM_FAILED', 'lost')));
      return Promise.race([lost.promise, answer(what, options)]);
    },
    tell: notServed,
    take: notServed,
    ended: ended.signal,
    end: (why) => ended.abort(new Error(why)),
  };
  return link;
}

function world() {
  const clock = fakeClock(1_000);
  const lead = createLeadLink({ clock });
  const stopping = new AbortController();
  const losses: number[] = [];
  /** What has become of a question. */
  const asking = (moreMs?: number) => {
    const state: { is: unknown } = { is: 'open' };
    const onLost = () => void losses.push(clock.monotonic());
    lead.ask('q', null, { signal: stopping.signal, onLost, ...(moreMs !== undefined && { moreMs }) }).then(
      (answer: unknown) => Object.assign(state, { is: answer }),
      (error: unknown) => Object.assign(state, { is: String(error) }),
    );
    return state;
  };
  return { clock, lead, stopping, asking, losses };
}

const AWAY = 'GatewayError: The active daemon cannot be reached now. Try again later.';

test('a question waits until the worker has joined an active daemon, and not forever', async () => {
  const { clock, lead, asking, losses } = world();
  const early = asking();
  await clock.advance(14_999);
  const late = asking(20_000);
  await clock.advance(1);
  assert.deepEqual([early.is, late.is], [AWAY, 'open']);
  lead.joined(linkTo(async (what) => `${what} is answered`));
  await settle();
  assert.equal(late.is, 'q is answered');
  assert.deepEqual(losses, []);
});

test('a question whose link is lost is asked again over the next one, and the former is not asked any more', async () => {
  const { clock, lead, asking, losses } = world();
  const first = linkTo(never);
  lead.joined(first);
  const question = asking();
  await clock.advance(2_000);
  first.end('it is silent');
  await settle();
  assert.deepEqual([question.is, losses], ['open', [2_000]]);
  const second = linkTo(never);
  lead.joined(second);
  await settle();
  second.end('it is silent, too');
  await settle();
  lead.joined(linkTo(async () => 'here'));
  await settle();
  assert.deepEqual([question.is, losses], ['here', [2_000, 2_000]]);
});

test('losses do not prolong the wait', async () => {
  const { clock, lead, asking } = world();
  const question = asking(5_000);
  for (let n = 0; n < 4; n += 1) {
    await clock.advance(5_000);
    const link = linkTo(never);
    lead.joined(link);
    await settle();
    link.end('it is silent');
    await settle();
  }
  assert.equal(question.is, AWAY);
});

test('a refusal of the active daemon is no loss', async () => {
  const { lead, asking, losses } = world();
  lead.joined(linkTo(() => Promise.reject(new GatewayError('CONFLICT', 'no'))));
  const question = asking();
  await settle();
  assert.deepEqual([question.is, losses], ['GatewayError: no', []]);
});

test('a question ends at once with its signal, which the other daemon gets, too', async () => {
  const { lead, asking, stopping } = world();
  const waits = asking();
  let asked: AskOptions | undefined;
  lead.joined(
    linkTo((_, options) => {
      asked = options;
      return never();
    }),
  );
  await settle();
  const other = asking();
  stopping.abort(new Error('stopped'));
  await settle();
  assert.deepEqual([waits.is, other.is, asked?.signal?.aborted], ['Error: stopped', 'Error: stopped', true]);
  const after = asking();
  await settle();
  assert.equal(after.is, 'Error: stopped');
});

test('a link that has ended while the worker joined is not used', async () => {
  const { clock, lead, asking, losses } = world();
  const link = linkTo(notServed);
  link.end('gone');
  lead.joined(link);
  const question = asking();
  await clock.advance(15_000);
  assert.deepEqual([question.is, losses], [AWAY, []]);
});
