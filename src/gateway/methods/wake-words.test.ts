import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeGateway } from '../testing/whole-gateway.ts';

const USUAL = { triggers: ['headgate', 'computer'] };

test('the words are shared, survive a restart, and an empty list restores the defaults', async () => {
  await using gateway = await wholeGateway();
  const words = () => gateway.call('voicewake.get', {});
  assert.deepEqual(await words(), USUAL);
  const set = await gateway.call('voicewake.set', { triggers: [' hey gate ', '', 'hey gate', 'ada'] });
  assert.deepEqual(set, { triggers: ['hey gate', 'ada'] });
  await gateway.restart();
  assert.deepEqual(await words(), set);
  assert.deepEqual(await gateway.call('voicewake.set', { triggers: [' '] }), USUAL);
});

test('too many or too long words are refused and change nothing', async () => {
  await using gateway = await wholeGateway();
  const many = Array.from({ length: 33 }, (_word, n) => `w${n}`);
  for (const triggers of [many, ['x'.repeat(65)], 'ada', [1], undefined]) {
    assert.equal((await gateway.refusal('voicewake.set', { triggers })).code, 'INVALID_REQUEST');
  }
  assert.deepEqual(await gateway.call('voicewake.get', {}), USUAL);
});
