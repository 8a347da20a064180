import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONTRACTS, isMethodName } from '../index.ts';
import { INTERIM_METHODS } from './interim-methods.ts';

test('the list of methods with an interim answer matches the rows', () => {
  const names = Object.keys(CONTRACTS).filter((name) => isMethodName(name));
  assert.deepEqual(
    [...INTERIM_METHODS],
    names.filter((name) => 'interim' in CONTRACTS[name]),
  );
});
