import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSignOfLife, parseBeacon } from './beacon.ts';

test('a beacon is parsed part by part; missing parts are left out', () => {
  assert.deepEqual(parseBeacon('Node: den'), { host: 'den' });
  assert.deepEqual(parseBeacon('Node: den (fe80::1) · mode ui'), { host: 'den', ip: 'fe80::1', mode: 'ui' });
  assert.deepEqual(parseBeacon('Node: den · last input 7s ago · color red · app '), {
    host: 'den',
    lastInputSeconds: 7,
  });
});

test('other texts are not beacons, whatever they contain', () => {
  for (const text of ['', 'den', 'node: den', 'Node:', 'Node: ()', `Node: ${'x'.repeat(201)}`, 'Node: a (b) c']) {
    assert.equal(parseBeacon(text), undefined, text);
  }
});

test('a keepalive is recognised only by the specified reasons', () => {
  const reasons = ['periodic', 'periodic-5m', 'heartbeat', 'heartbeats', 'connect', 'not periodic', '', undefined];
  assert.deepEqual(reasons.filter(isSignOfLife), ['periodic', 'periodic-5m', 'heartbeat']);
});
