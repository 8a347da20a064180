import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINTS } from '../http/index.ts';
import { endpoints } from './endpoint-addresses.ts';

const addressesOf = (groups: Record<string, Record<string, { verb: string; path: string }>>) =>
  Object.entries(groups).flatMap(([group, rows]) =>
    Object.entries(rows).map(([name, { verb, path }]) => `${group}.${name}: ${verb} ${path}`),
  );

test('the addresses of the HTTP client match the rows', () => {
  assert.deepEqual(addressesOf(endpoints), addressesOf(ENDPOINTS));
});
