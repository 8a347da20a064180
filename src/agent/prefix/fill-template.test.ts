import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillTemplate } from './fill-template.ts';

const VARIABLES = new Map([
  ['model', 'tiny {{ws_id}}'],
  ['ws_id', '$&'],
]);

test('known variables are filled in once, and unknown ones stay', () => {
  assert.equal(
    fillTemplate('{{model}}, {{ ws_id }}; {{node}} {{toString}} {{model {{}} {{ws_id}}', VARIABLES),
    'tiny {{ws_id}}, $&; {{node}} {{toString}} {{model {{}} $&',
  );
});
