import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrongField } from '../../../protocol/parse.ts';
import { inFields } from './field-problems.ts';

test('a field with the name of what every object has is told by its name', () => {
  for (const name of ['__proto__', 'constructor', 'to_string.value_of']) {
    const told = inFields(wrongField(name, 'is wrong'), { wsId: 'ws_id' });
    assert.equal(told instanceof Error && told.message, `${name}: is wrong`);
  }
});
