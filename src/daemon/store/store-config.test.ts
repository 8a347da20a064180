import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStoreAddress } from './store-config.ts';

test('an address of a database names its protocol and database, and is encoded', () => {
  for (const address of [
    'postgresql://db.example.com/headgate',
    'postgres://headgate:p%2Fw%25@127.0.0.1:5432/headgate?sslmode=verify-full',
    'postgresql:///headgate?host=/run/postgresql',
  ])
    assert.equal(isStoreAddress(address), true, address);
  for (const address of [
    '',
    'headgate',
    'mysql://db.example.com/headgate',
    'postgresql://db.example.com',
    'postgresql://db.example.com/',
    'postgresql://headgate:100%@db.example.com/headgate',
    'postgresql://headgate:%zz@db.example.com/headgate',
  ])
    assert.equal(isStoreAddress(address), false, address);
});
