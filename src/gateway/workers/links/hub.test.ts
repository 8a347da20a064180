import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { randomIds } from '../../../ids.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { recordingLog } from '../../../testing/temp-store.ts';
import { beginGreeting } from '../../auth/machines/greeting.ts';
import { createMachineKey } from '../../auth/machines/machine-key.ts';
import { writeEnvelope } from './envelope.ts';
import { type HubHandlers, openHub } from './hub.ts';
import { settle } from './joined-links-fixture.ts';
import type { Link, LinkHandlers } from './link.ts';
import { memoryBus } from './memory-bus-fixture.ts';

/** Hubs over one bus. The database knows the key of each, until a test deletes it. */
function network() {
  const [bus, clock, log] = [memoryBus(), fakeClock(1_000), recordingLog()];
  const known = new Map<string, string>();
  let findKey = async (process: string): Promise<string | undefined> => known.get(process);
  const open = async (process: string, { isGreeted = true } = {}) => {
    const key = createMachineKey();
    known.set(process, key.publicKey);
    const greeted: Link[] = [];
    const heard: unknown[] = [];
    const answering = (link?: () => Link): LinkHandlers => ({
      async answer(what, body) {
        if (what === 'join' && link) greeted.push(link());
        return { by: process, what, body };
      },
      hear: (_, body) => void heard.push(body),
    });
    const handlers: HubHandlers = {
      onGreeted: isGreeted ? answering : undefined,
      handlersOf: () => answering(),
    };
    const own = { process, key };
    const hub = await openHub(
      { own, connect: bus.connect, findKey: (from) => findKey(from), clock, ids: randomIds, log },
      handlers,
    );
    return { hub, own, greeted, heard, publicKey: key.publicKey };
  };
  /** Replaces what the database answers. */
  const findWith = (find: typeof findKey): void => {
    findKey = find;
  };
  return { bus, clock, log, known, open, findWith };
}

/** A worker that has joined a lead. */
async function joined() {
  const { open, ...net } = network();
  const [lead, worker] = [await open('lead'), await open('worker', { isGreeted: false })];
  const link = await worker.hub.open('lead', lead.publicKey);
  await link.ask('join', null);
  const [back] = lead.greeted;
  assert.ok(back);
  return { ...net, lead, worker, link, back };
}

test('two daemons that the database knows ask each other and tell each other news', async () => {
  const { link, back, lead, worker } = await joined();
  assert.deepEqual(await link.ask('a', 1), { by: 'lead', what: 'a', body: 1 });
  assert.deepEqual(await back.ask('b', 2), { by: 'worker', what: 'b', body: 2 });
  link.tell('n', 'to the lead');
  back.tell('n', 'to the worker');
  await settle();
  assert.deepEqual([lead.heard, worker.heard], [['to the lead'], ['to the worker']]);
  assert.deepEqual([lead.hub.isConnected, worker.hub.isConnected], [true, true]);
});

/** How an attempt to open a link fails within three seconds, which pass only if they have to. */
async function refusalOf(opening: Promise<Link>, clock: ReturnType<typeof fakeClock>): Promise<unknown> {
  let refusal: unknown;
  opening.then(
    () => assert.fail('it was opened'),
    (error: unknown) => {
      refusal = error;
    },
  );
  await settle();
  if (refusal === undefined) {
    await clock.advance(2_999);
    assert.equal(refusal, undefined, 'it waits for three seconds');
    await clock.advance(1);
    await settle();
  }
  return refusal;
}

test('a process that the database does not know is not answered', async () => {
  const { bus, clock, known, open } = network();
  const [lead, worker] = [await open('lead'), await open('worker')];
  known.delete('worker');
  assert.match(String(await refusalOf(worker.hub.open('lead', lead.publicKey), clock)), /does not answer/);
  assert.deepEqual(bus.sent, ['hello to lead']);
});

test('a process that proves itself with another key than that of the database is not answered', async () => {
  const { bus, clock, known, open } = network();
  const [lead, worker] = [await open('lead'), await open('worker')];
  known.set('worker', createMachineKey().publicKey);
  assert.match(String(await refusalOf(worker.hub.open('lead', lead.publicKey), clock)), /does not answer/);
  assert.deepEqual(bus.sent, ['hello to lead']);
});

test('a daemon that answers with another key than that of the database is refused at once', async () => {
  const { clock, open } = network();
  const [, worker] = [await open('lead'), await open('worker')];
  const opening = worker.hub.open('lead', createMachineKey().publicKey);
  assert.match(String(await refusalOf(opening, clock)), /not the daemon that the database names/);
  assert.equal(clock.monotonic(), 0);
});

test('a daemon that nobody may greet answers nothing', async () => {
  const { bus, clock, open } = network();
  const [first, second] = [await open('a', { isGreeted: false }), await open('b')];
  assert.match(String(await refusalOf(second.hub.open('a', first.publicKey), clock)), /does not answer/);
  assert.deepEqual(bus.sent, ['hello to a']);
});

test('a process that is not there is waited for three seconds', async () => {
  const { clock, open } = network();
  const { hub } = await open('a');
  assert.match(String(await refusalOf(hub.open('nobody', createMachineKey().publicKey), clock)), /does not answer/);
});

test('a greeting for another daemon is not answered', async () => {
  const { bus, open } = network();
  const [worker] = [await open('worker'), await open('lead')];
  const { hello } = beginGreeting(worker.own, 'another lead');
  await bus.deliver('lead', writeEnvelope({ kind: 'hello', hello }));
  await settle();
  assert.deepEqual(bus.sent, []);
});

test('a greeting is not answered while the database cannot be asked, and later it is', async () => {
  const { clock, log, known, open, findWith } = network();
  const [lead, worker] = [await open('lead'), await open('worker')];
  findWith(() => Promise.reject(new Error('no database')));
  assert.match(String(await refusalOf(worker.hub.open('lead', lead.publicKey), clock)), /does not answer/);
  assert.deepEqual(log.lines, [['warn', 'a daemon could not be greeted']]);
  findWith(async (process) => known.get(process));
  assert.ok(await worker.hub.open('lead', lead.publicKey));
});

test('an answer that comes too late opens nothing, and its end at the other daemon ends', async () => {
  const { bus, clock, log, open, findWith } = network();
  const [lead, worker] = [await open('lead'), await open('worker')];
  const found = Promise.withResolvers<string>();
  findWith(() => found.promise);
  await refusalOf(worker.hub.open('lead', lead.publicKey), clock);
  found.resolve(worker.publicKey);
  await settle();
  assert.deepEqual(bus.sent, ['hello to lead', 'welcome to worker', 'sealed to worker']);
  assert.deepEqual(log.fields, []);
  await clock.advance(5_000);
  assert.deepEqual(log.fields, [{ why: 'it is silent' }]);
});

test('greetings cannot be sent while the bus is away', async () => {
  const { bus, open } = network();
  const [lead, worker] = [await open('lead'), await open('worker')];
  bus.disconnect('worker');
  assert.equal(worker.hub.isConnected, false);
  await assert.rejects(worker.hub.open('lead', lead.publicKey), /not connected/);
});

test('a transport that disconnects ends all links of its daemon, and their other ends follow', async () => {
  const { bus, clock, link, back, worker, lead } = await joined();
  const refused = assert.rejects(link.ask('a', 1), { code: 'UPSTREAM_FAILED' });
  bus.disconnect('worker');
  assert.ok(link.ended.aborted);
  await refused;
  await settle();
  assert.equal(back.ended.aborted, false);
  await clock.advance(5_000);
  assert.ok(back.ended.aborted);
  bus.reconnect('worker');
  const again = await worker.hub.open('lead', lead.publicKey);
  assert.deepEqual(await again.ask('a', 1), { by: 'lead', what: 'a', body: 1 });
});

test('a worker that greets again gets a new link beside the former one', async () => {
  const { link, back, lead, worker } = await joined();
  const next = await worker.hub.open('lead', lead.publicKey);
  await next.ask('join', null);
  assert.equal(lead.greeted.length, 2);
  assert.notEqual(lead.greeted[1], back);
  back.end('it has joined again');
  assert.deepEqual(await next.ask('a', 1), { by: 'lead', what: 'a', body: 1 });
  assert.deepEqual(await lead.greeted[1]?.ask('b', 2), { by: 'worker', what: 'b', body: 2 });
  assert.ok(link.ended.aborted, 'it was told');
});

test('what no daemon sends changes nothing', async () => {
  const { bus, link } = await joined();
  for (let n = 0; n < 100; n += 1) await bus.deliver('lead', randomBytes(n));
  await bus.deliver('lead', writeEnvelope({ kind: 'sealed', session: 'unknown', sealed: randomBytes(40) }));
  await bus.deliver(
    'worker',
    writeEnvelope({ kind: 'welcome', once: 'x', welcome: { session: 'y', once: 'z', signature: '' } }),
  );
  assert.deepEqual(await link.ask('a', 1), { by: 'lead', what: 'a', body: 1 });
});

test('a hub that closes ends its links and receives nothing more', async () => {
  const { clock, link, back, lead } = await joined();
  await lead.hub.close();
  assert.ok(back.ended.aborted);
  await clock.advance(5_000);
  assert.ok(link.ended.aborted);
});
