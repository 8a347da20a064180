import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdmission } from './admission.ts';

test('an address may use 32 places, and each place it frees can be used again', () => {
  const { enter } = createAdmission();
  const places = Array.from({ length: 33 }, () => enter('10.0.0.1'));
  assert.deepEqual([places[31] === undefined, places[32]], [false, undefined]);
  assert.ok(enter('10.0.0.2'), 'another address is unaffected');
  places[0]?.();
  places[0]?.();
  assert.ok(enter('10.0.0.1'));
  assert.equal(enter('10.0.0.1'), undefined, 'a place given back twice counts once');
});

test('all addresses together may use 256', () => {
  const { enter } = createAdmission();
  const places = Array.from({ length: 257 }, (_, i) => enter(`10.0.0.${i}`));
  assert.deepEqual([places[255] === undefined, places[256]], [false, undefined]);
  places[7]?.();
  assert.ok(enter('10.0.1.1'));
});

test('the IPv6 addresses of one network are one address', () => {
  const { enter } = createAdmission({ perAddress: 1 });
  const leave = enter('2001:db8:0:1::1');
  assert.deepEqual([enter('2001:db8:0:1::2'), enter('2001:db8:0:2::1') === undefined], [undefined, false]);
  leave?.();
  assert.notEqual(enter('2001:db8:0:1::2'), undefined);
});
