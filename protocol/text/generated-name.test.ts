import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generatedName, toIdPrefix } from './generated-name.ts';

test('a generated name begins with ws- and leads back to the id', () => {
  const name = generatedName('12ab34cd56ef');
  assert.equal(name, 'ws-12ab');
  assert.deepEqual([toIdPrefix(name), toIdPrefix('12ab34')], ['12ab', '12ab34']);
});
