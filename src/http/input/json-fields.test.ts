import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toImport, toTexts, toValues } from './json-fields.ts';

test('a property named `__proto__` in the JSON text of a field is refused with its place', () => {
  const text = '{"mcpServers":{"one":{"__proto__":{"command":"sh"}}}}';
  assert.throws(() => toImport(text), { message: 'config.mcpServers.one.__proto__: a property cannot have this name' });
  assert.throws(() => toValues('env', '{"__proto__":"x"}'), {
    message: 'env.__proto__: a property cannot have this name',
  });
  assert.throws(() => toTexts('[{"__proto__":1}]'), { message: 'args.0.__proto__: a property cannot have this name' });
  assert.deepEqual(toValues('env', '{"constructor":"x"}'), { constructor: 'x' });
});
