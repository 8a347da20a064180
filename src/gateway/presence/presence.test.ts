import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PresenceEntry } from '../../../protocol/connect.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { createPresence } from './presence.ts';

const START_MS = 1_000_000;
const ui = { name: 'page', version: '1', platform: 'web', mode: 'ui' };

function setUp() {
  const clock = fakeClock(START_MS);
  const presence = createPresence({ self: { host: 'box', version: '0.1.0', platform: 'linux' }, clock });
  const others = () => presence.list().slice(1);
  return { clock, presence, others, names: () => others().map(({ host, reason }) => [host, reason]) };
}

test('the daemon itself is always first', () => {
  const { presence } = setUp();
  const self = {
    ts: START_MS,
    host: 'box',
    version: '0.1.0',
    platform: 'linux',
    mode: 'gateway',
    reason: 'self',
    text: 'Gateway: box',
  };
  assert.deepEqual(presence.list(), [self]);
});

test('a client is listed with its own description and its address', () => {
  const { presence, others } = setUp();
  presence.connected('c1', { ...ui, instanceId: 'I-1', deviceFamily: 'Mac', modelIdentifier: 'M1' }, '10.0.0.7');
  assert.deepEqual(others(), [
    {
      ts: START_MS,
      host: 'page',
      version: '1',
      platform: 'web',
      mode: 'ui',
      deviceFamily: 'Mac',
      modelIdentifier: 'M1',
      instanceId: 'I-1',
      ip: '10.0.0.7',
      reason: 'connect',
      text: 'Node: page · mode ui',
    },
  ]);
});

for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
  test(`${address} is this machine and is not shown`, () => {
    const { presence, others } = setUp();
    presence.connected('c1', ui, address);
    assert.equal('ip' in (others()[0] ?? {}), false);
  });
}

test('a command-line client is not listed', () => {
  const { presence, others } = setUp();
  presence.connected('c1', { ...ui, mode: 'cli' }, '::1');
  presence.disconnected('c1');
  assert.deepEqual([others(), presence.version()], [[], 1]);
});

test('a client is listed while it is connected and for five more minutes', () => {
  const { clock, presence, names } = setUp();
  presence.connected('c1', ui, '::1');
  clock.jump(LIMITS.presenceTtlMs * 10);
  presence.sweep();
  assert.deepEqual(names(), [['page', 'connect']]);
  presence.disconnected('c1');
  clock.jump(LIMITS.presenceTtlMs - 1);
  presence.sweep();
  assert.deepEqual(names(), [['page', 'disconnect']]);
  clock.jump(1);
  presence.sweep();
  assert.deepEqual(names(), []);
});

test('two connections of one instance are one row, which stays until both are closed', () => {
  const { presence, names } = setUp();
  presence.connected('c1', { ...ui, instanceId: 'Same' }, '::1');
  presence.connected('c2', { ...ui, instanceId: ' same ' }, '::1');
  presence.disconnected('c1');
  assert.deepEqual(names(), [['page', 'connect']]);
  presence.disconnected('c2');
  assert.deepEqual(names(), [['page', 'disconnect']]);
});

test('the list is newest first and holds 200; disconnected clients are removed first', () => {
  const { clock, presence, others } = setUp();
  for (let i = 0; i < 198; i++) {
    clock.jump(1);
    presence.connected(`c${i}`, { ...ui, name: `n${i}` }, '::1');
  }
  presence.disconnected('c100');
  for (const late of ['late1', 'late2', 'late3']) presence.connected(late, { ...ui, name: late }, '::1');
  const hosts = others().map(({ host }) => host);
  assert.equal(presence.list().length, LIMITS.presenceEntries);
  assert.deepEqual(hosts.slice(0, 4), ['late3', 'late2', 'late1', 'n197']);
  assert.deepEqual([hosts.includes('n100'), hosts.at(-1)], [false, 'n1'], 'then the oldest');
  const times = others().map(({ ts }) => ts);
  assert.deepEqual(
    times,
    times.toSorted((a, b) => b - a),
  );
});

test('the version is incremented with every change, and only then', () => {
  const { clock, presence } = setUp();
  const versions = [presence.version()];
  for (const change of [
    () => presence.connected('c1', ui, '::1'),
    () => presence.disconnected('c1'),
    () => presence.disconnected('c1'),
    () => presence.sweep(),
    () => clock.jump(LIMITS.presenceTtlMs),
    () => presence.sweep(),
  ]) {
    change();
    versions.push(presence.version());
  }
  assert.deepEqual(versions, [1, 2, 3, 3, 3, 3, 4]);
});

test('texts of a client are shortened before they are sent to others', () => {
  const { presence, others } = setUp();
  presence.connected('c1', { ...ui, name: 'x'.repeat(60_000), deviceFamily: 'y'.repeat(60_000) }, '::1');
  assert.ok(JSON.stringify(others()).length < 1_000);
  assert.ok(PresenceEntry.array().safeParse(presence.list()).success);
});

test('an instance named __proto__ is an ordinary instance', () => {
  const { presence, names } = setUp();
  presence.connected('c1', { ...ui, instanceId: '__proto__' }, '::1');
  assert.deepEqual(names(), [['page', 'connect']]);
});

test('changes are published together, at most once per pause', async () => {
  const { clock, presence } = setUp();
  const stop = new AbortController();
  const told: number[] = [];
  const running = presence.run(stop.signal, {
    publish: (entries) => void told.push(entries.length),
    pauseMs: () => 1_000,
  });
  for (let i = 0; i < 5; i++) presence.connected(`c${i}`, ui, '::1');
  await clock.advance(0); // the pause begins
  await clock.advance(999);
  assert.deepEqual(told, []);
  await clock.advance(1);
  assert.deepEqual(told, [6]);
  await clock.advance(10_000);
  assert.deepEqual(told, [6], 'nothing changed');
  presence.disconnected('c0');
  await clock.advance(0);
  await clock.advance(1_000);
  assert.deepEqual(told, [6, 6]);
  stop.abort();
  await running;
});

test('the list as JSON has the same entries, in ASCII, after every change', async () => {
  const { clock, presence } = setUp();
  const same = () => {
    assert.deepEqual(JSON.parse(presence.json().toString()), presence.list());
    assert.match(presence.json().toString(), /^[\x20-\x7e]*$/);
  };
  same();
  presence.connected('c1', { ...ui, name: 'Größe 🜁 "\\u00e9"' }, '10.0.0.7');
  presence.connected('c2', ui, '10.0.0.8');
  same();
  await clock.advance(1_000);
  presence.disconnected('c1');
  same();
  presence.beacon({ instanceId: 'i-1', text: 'zurück\u2028' });
  same();
});
