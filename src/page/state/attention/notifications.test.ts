import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClient } from '../fake-client.ts';
import { Notifications, type PushDevice } from './notifications.ts';
import { SoundChoice } from './sound-choice.ts';

const ROW = { subscriptionId: 'push_1', label: 'Chrome', host: 'p', content: 'full', createdAtMs: 1, isExpired: false };
const DEVICE = { endpoint: 'https://p/x', keys: { p256dh: 'P', auth: 'A' } };

function memoryOf(entries: Record<string, string> = {}) {
  const stored = new Map(Object.entries(entries));
  return { stored, getItem: (key: string) => stored.get(key) ?? null, setItem: stored.set.bind(stored) };
}

function setUp({ permission = 'granted' as NotificationPermission, remembered = '', isSubscribed = true } = {}) {
  const { client, answer, calls } = createFakeClient();
  const lasting = memoryOf({ 'headgate.push': remembered });
  const did: string[] = [];
  const device: PushDevice = {
    label: 'Chrome on Linux',
    permission: () => permission,
    current: async () => (isSubscribed ? DEVICE : undefined),
    async subscribe(publicKey) {
      if (permission !== 'granted') throw new Error('no');
      did.push(`subscribe ${publicKey}`);
      return DEVICE;
    },
    unsubscribe: async () => void did.push('unsubscribe'),
  };
  answer('push.list', () => ({ publicKey: 'KEY', subscriptions: [ROW] }));
  answer('push.subscribe', () => ({ subscription: ROW }));
  answer('push.remove', () => ({ status: 'ok' }));
  return { notifications: new Notifications({ client, device, lasting }), answer, calls, did, lasting };
}

const asked = (calls: readonly [string, unknown][], method: string) => calls.filter(([name]) => name === method);

test('a browser is switched on with the key of the daemon, and off again', async () => {
  const { notifications, calls, did } = setUp();
  await notifications.read();
  assert.equal(await notifications.switchOn('full'), undefined);
  const params = { ...DEVICE, content: 'full', label: 'Chrome on Linux' };
  assert.deepEqual([did, asked(calls, 'push.subscribe')], [['subscribe KEY'], [['push.subscribe', params]]]);
  const [own = assert.fail()] = notifications.all.value ?? [];
  assert.equal(notifications.isOwn(own), true);
  assert.equal(await notifications.remove(own), undefined);
  assert.deepEqual([notifications.isOwn(own), did.at(-1)], [false, 'unsubscribe']);
});

test('what the browser forbids is said, and another browser is removed without touching this one', async () => {
  const { notifications, did } = setUp({ permission: 'denied' });
  await notifications.read();
  assert.match((await notifications.switchOn('title')) ?? '', /does not allow notifications/);
  const [other = assert.fail()] = notifications.all.value ?? [];
  await notifications.remove(other);
  assert.deepEqual(did, []);
});

test('after a login, a browser that had notifications asks for them again, as they were; any other one asks for nothing', async () => {
  const renewed = setUp({ remembered: 'push_1' });
  await renewed.notifications.renew();
  assert.deepEqual(asked(renewed.calls, 'push.subscribe'), [
    ['push.subscribe', { ...DEVICE, content: 'full', label: 'Chrome on Linux' }],
  ]);
  for (const { notifications, calls } of [
    setUp(),
    setUp({ remembered: 'push_1', permission: 'default' }),
    setUp({ remembered: 'push_gone' }), // its login was ended
  ]) {
    await notifications.renew();
    assert.deepEqual(asked(calls, 'push.subscribe'), []);
  }
});

test('a browser with a new address of the push server is notified there, and its former address is forgotten', async () => {
  const { notifications, answer, calls, lasting } = setUp({ remembered: 'push_1' });
  answer('push.subscribe', () => ({ subscription: { ...ROW, subscriptionId: 'push_2' } }));
  await notifications.renew();
  assert.deepEqual(asked(calls, 'push.subscribe'), [
    ['push.subscribe', { ...DEVICE, content: 'full', label: 'Chrome on Linux' }],
  ]);
  assert.deepEqual(asked(calls, 'push.remove'), [['push.remove', { subscriptionId: 'push_1' }]]);
  assert.equal(lasting.getItem('headgate.push'), 'push_2');
});

test('a browser that lost its address asks for one again', async () => {
  const { notifications, calls, did } = setUp({ remembered: 'push_1', isSubscribed: false });
  await notifications.renew();
  assert.deepEqual([did, asked(calls, 'push.subscribe').length], [['subscribe KEY'], 1]);
  assert.deepEqual(asked(calls, 'push.remove'), []);
});

test('a browser whose notifications have ended without it says so, until they are switched on again', async () => {
  for (const [remembered, isLost] of [
    ['push_gone', true],
    ['push_1', false],
    ['', false],
  ] as const) {
    const { notifications } = setUp({ remembered });
    assert.equal(notifications.isLost, false, 'nothing is known yet');
    await notifications.read();
    assert.equal(notifications.isLost, isLost, remembered);
    await notifications.switchOn('title');
    assert.equal(notifications.isLost, false);
  }
});

test('a test says why it was not accepted', async () => {
  const { notifications, answer } = setUp();
  await notifications.read();
  const [own = assert.fail()] = notifications.all.value ?? [];
  answer('push.test', () => ({ accepted: false, problem: 'HTTP 403' }));
  assert.equal(await notifications.test(own), 'The notification was not accepted: HTTP 403');
  answer('push.test', () => ({ accepted: true }));
  assert.equal(await notifications.test(own), undefined);
});

test('the sound is off until somebody chooses it, and the browser remembers that', () => {
  const memory = memoryOf();
  const sound = new SoundChoice(memory);
  assert.equal(sound.isOn.value, false);
  sound.set(true);
  assert.deepEqual([sound.isOn.value, new SoundChoice(memory).isOn.value], [true, true]);
});
