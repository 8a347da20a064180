import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { untilTrue } from '../../testing/until-true.ts';
import { Approvers } from '../events/approvers.ts';
import type { ToldLog } from '../events/event-log.ts';
import type { EventStreams } from '../streams/event-streams.ts';
import type { HubHandlers } from './links/hub.ts';
import { settle } from './links/joined-links-fixture.ts';
import type { Link, LinkHandlers } from './links/link.ts';
import { LINK_PROTOCOL } from './links/protocol-version.ts';
import type { Membership } from './team.ts';
import { createWorker } from './worker.ts';

const notServed = () => assert.fail('it is not asked');

/** A link to an active daemon that answers when the test lets it. */
function fakeLink() {
  const ended = new AbortController();
  const joined = Promise.withResolvers<unknown>();
  const sent: unknown[] = [];
  const link: Link = {
    ask(what, body) {
      sent.push([what, body]);
      return joined.promise;
    },
    tell: (what, body) => void sent.push([what, body]),
    take: notServed,
    ended: ended.signal,
    end: (why) => ended.abort(new Error(why)),
  };
  return { link, sent, joined };
}

/** A worker that joins over these links, one after the other; `undefined`: the active daemon cannot be reached. */
function world(links: readonly (Link | undefined)[]) {
  const [clock, log, over] = [fakeClock(1_000), recordingLog(), new AbortController()];
  const lead = { process: 'lead', publicKey: 'k' };
  let active: typeof lead | undefined = lead;
  let tell: (told: ToldLog) => void = notServed;
  const steps: string[] = [];
  let handlers: LinkHandlers | undefined;
  const approvers = new Approvers();
  const waiting = [...links];
  const membership: Membership = { isJoined: false, trouble: undefined };
  const streams: EventStreams = { open: notServed, follow: notServed, states: notServed, onChange: notServed };
  const worker = createWorker({
    async openHub({ onGreeted, handlersOf }: HubHandlers) {
      assert.equal(onGreeted, undefined, 'nobody greets a worker');
      handlers = handlersOf(notServed);
      return {
        async open(process, publicKey) {
          handlers = handlersOf(notServed);
          steps.push(`open ${process} ${publicKey}`);
          const next = waiting.shift();
          if (next === undefined) throw new Error('it does not answer');
          return next;
        },
        isConnected: true,
        close: async () => void steps.push('close'),
      };
    },
    lead: () => active,
    leadLink: { joined: () => void steps.push('joined') },
    nodeId: 'w',
    serverUrl: () => 'http://w',
    tellers: {
      events: {
        onTold(listener) {
          tell = listener;
        },
        retell: notServed,
        approvers,
      },
      broadcast: { onTold: () => undefined, retell: notServed },
      global: { onTold: () => undefined, retell: notServed, tellStates: () => undefined },
    },
    dispatch: notServed,
    streams,
    load: () => LOAD,
    membership,
    held: { onChanged: () => undefined, reload: () => void steps.push('reload') },
    cluster: { read: notServed },
    moving: { give: notServed, take: notServed, obstacles: notServed },
    version: '1.2.3',
    labels: ['gpu'],
    clock,
    log,
  });
  const replace = (next: typeof active) => {
    active = next;
  };
  const heard = { handlers: () => handlers ?? notServed(), tell: (told: ToldLog) => tell(told) };
  return { ...heard, worker, clock, log, over, membership, approvers, steps, replace, lead };
}

const END = { kind: 'ended', wsId: 'a' } as const;
const NEWS = ['news', [{ of: 'log', told: END }]];
const JOIN = [
  'join',
  { nodeId: 'w', serverUrl: 'http://w', version: '1.2.3', protocol: LINK_PROTOCOL, labels: ['gpu'] },
];
const JOINED = { version: '1.2.2', protocol: LINK_PROTOCOL };
const LOAD = { workstreams: { total: 1, idle: 1, thinking: 0, running: 0, attention: 0, error: 0 }, maxWorkstreams: 9 };

test('a worker joins, says each second how much it has to do, and tells its news', async () => {
  const { link, sent, joined } = fakeLink();
  const { worker, clock, over, steps, tell } = world([link]);
  joined.resolve(JOINED);
  void worker.run(over.signal);
  await settle();
  tell(END);
  await settle();
  await clock.advance(1_000);
  assert.deepEqual(sent, [JOIN, ['load', LOAD], NEWS, ['load', LOAD]]);
  assert.deepEqual(steps, ['open lead k', 'joined', 'reload']);
  over.abort();
  link.end('over');
});

test('what happens while the active daemon takes the worker is told, because it may have read the logs already', async () => {
  const { link, sent, joined } = fakeLink();
  const { worker, over, steps, tell } = world([link]);
  void worker.run(over.signal);
  await settle();
  assert.deepEqual([sent, steps], [[JOIN], ['open lead k']], 'nothing else is asked yet');
  tell(END);
  await settle();
  joined.resolve(JOINED);
  await settle();
  assert.deepEqual(sent, [JOIN, NEWS, ['load', LOAD]]);
  over.abort();
  link.end('over');
});

test('a worker tries again until it has joined, and says once why it cannot', async () => {
  const { link, sent, joined } = fakeLink();
  const { worker, clock, log, over, steps, membership } = world([undefined, undefined, link]);
  joined.resolve(JOINED);
  void worker.run(over.signal);
  await settle();
  assert.deepEqual(membership, { isJoined: false, trouble: 'it does not answer' });
  await clock.advance(500);
  await settle();
  assert.deepEqual(sent, [JOIN, ['load', LOAD]]);
  assert.equal(steps.filter((step) => step === 'open lead k').length, 3);
  assert.deepEqual(membership, { isJoined: true, trouble: undefined });
  assert.deepEqual(log.lines, [
    ['warn', 'this worker cannot join the active daemon'],
    ['info', 'this worker has joined the active daemon'],
  ]);
  over.abort();
  link.end('over');
});

test('a worker joins again after its link has ended, and leaves a daemon that is no longer active', async () => {
  const [first, second] = [fakeLink(), fakeLink()];
  const { worker, clock, over, steps, replace } = world([first.link, second.link]);
  for (const { joined } of [first, second]) joined.resolve(JOINED);
  void worker.run(over.signal);
  await settle();
  replace({ process: 'next', publicKey: 'n' });
  await clock.advance(1_000);
  assert.equal(String(first.link.ended.reason), 'Error: another daemon is active');
  await clock.advance(250);
  await settle();
  assert.deepEqual(steps, ['open lead k', 'joined', 'reload', 'open next n', 'joined', 'reload']);
  assert.equal(second.link.ended.aborted, false);
  over.abort();
  second.link.end('over');
});

test('a worker that is stopped leaves the active daemon', async () => {
  const { link, joined } = fakeLink();
  const { worker, clock, over, steps } = world([link]);
  joined.resolve(JOINED);
  let isOver = false;
  const run = worker.run(over.signal).then(() => {
    isOver = true;
  });
  await settle();
  over.abort();
  for (let n = 0; n < 5 && !isOver; n += 1) await clock.advance(1_000);
  assert.deepEqual([isOver, steps.at(-1)], [true, 'close']);
  await run;
});

test('a worker that is stopped while it joins leaves the active daemon, too', async () => {
  const { link, sent, joined } = fakeLink();
  const { worker, clock, over, steps } = world([link]);
  void worker.run(over.signal);
  await settle();
  assert.deepEqual(sent, [JOIN]);
  over.abort();
  joined.resolve(JOINED);
  for (let n = 0; n < 5 && steps.at(-1) !== 'close'; n += 1) await clock.advance(1_000);
  assert.deepEqual([steps.at(-1), link.ended.aborted], ['close', true]);
});

test('a worker that is about to stop gets nothing new, and asks the active daemon to take what it has', async () => {
  const { link, sent, joined } = fakeLink();
  const { worker, clock, over } = world([link]);
  await worker.leave(5_000); // nobody is there to take it
  joined.resolve(JOINED);
  void worker.run(over.signal);
  await settle();
  await worker.leave(5_000);
  await clock.advance(1_000);
  const leaving = ['leaving', null];
  assert.deepEqual(sent, [JOIN, ['load', LOAD], leaving, ['leave', null], leaving]);
  over.abort();
  link.end('over');
});

test('a worker waits only so long for the active daemon to take what it has', async () => {
  const { link, joined } = fakeLink();
  const { worker, clock, log, over } = world([link]);
  void worker.run(over.signal);
  await settle();
  const leaving = worker.leave(5_000); // not answered, like the question before it
  await clock.advance(5_000);
  await leaving;
  assert.deepEqual(log.lines.at(-1), ['warn', 'not all workstreams were given to the active daemon']);
  over.abort();
  joined.resolve(null);
  link.end('over');
});

test('a worker waits while no daemon is active', async () => {
  const { link, sent, joined } = fakeLink();
  const { worker, clock, over, steps, replace, lead } = world([link]);
  joined.resolve(JOINED);
  replace(undefined);
  void worker.run(over.signal);
  await clock.advance(2_000);
  assert.deepEqual(steps, []);
  replace(lead);
  await clock.advance(250);
  await untilTrue(() => sent.length > 0);
  assert.deepEqual(sent[0], JOIN);
  over.abort();
  link.end('over');
});

test('a worker does not work for a daemon that says something else over links, and says why', async () => {
  for (const answer of [{ ...JOINED, protocol: LINK_PROTOCOL + 1 }, { version: '1.2.2' }]) {
    const { link, sent, joined } = fakeLink();
    const { worker, log, over, membership, steps } = world([link]);
    joined.resolve(answer);
    void worker.run(over.signal);
    await settle();
    const trouble =
      'The active daemon has version 1.2.2, which is too far from this one to work with it. Bring both to the same version.';
    assert.deepEqual(membership, { isJoined: false, trouble });
    assert.deepEqual([sent, steps], [[JOIN], ['open lead k']]);
    assert.deepEqual(log.lines, [['warn', 'this worker cannot join the active daemon']]);
    assert.ok(link.ended.aborted, 'the next try has a link of its own');
    over.abort();
  }
});

test('a worker refuses, in words, what only a newer version asks, and ignores what only that one tells', async () => {
  const { link, joined } = fakeLink();
  const { worker, over, handlers } = world([link]);
  joined.resolve(JOINED);
  void worker.run(over.signal);
  await settle();
  const asked = { signal: over.signal, interim: notServed };
  const unknown = /has another version of Headgate, which does not know "later/;
  await assert.rejects(handlers().answer('later', {}, asked), unknown);
  const call = { method: 'later.method', params: {}, caller: { address: '' } };
  await assert.rejects(handlers().answer('call', call, asked), unknown);
  handlers().hear('later news', {});
  over.abort();
  link.end('over');
});

test('a worker knows which logs approvers read at the active daemon, while it is linked to it', async () => {
  const { link, joined } = fakeLink();
  const { worker, over, approvers, handlers } = world([link]);
  joined.resolve(JOINED);
  void worker.run(over.signal);
  await settle();
  handlers().hear('approvers', { begun: ['a', 'b'], ended: [] });
  handlers().hear('approvers', { begun: [], ended: ['b'] });
  assert.deepEqual([approvers.has('a'), approvers.has('b'), approvers.watched()], [true, false, []]);
  link.end('it is silent');
  assert.equal(approvers.has('a'), false);
  over.abort();
});
