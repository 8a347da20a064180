import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generatedName, toIdPrefix, toShownName } from './generated-name.ts';

test('a generated name begins with ws- and leads back to the id', () => {
  const name = generatedName('12ab34cd56ef');
  assert.equal(name, 'ws-12ab');
  assert.deepEqual([toIdPrefix(name), toIdPrefix('12ab34')], ['12ab', '12ab34']);
});

test('the main workstream is called main until a person names it', () => {
  const main = { wsId: '12ab34cd56ef', sessionKey: 'main' };
  const names = [
    toShownName({ ...main, name: 'ws-12ab' }),
    toShownName({ ...main, name: 'garden' }),
    toShownName({ ...main, sessionKey: null, name: 'ws-12ab' }),
  ];
  assert.deepEqual(names, ['main', 'garden', 'ws-12ab']);
});
