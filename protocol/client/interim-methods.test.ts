import assert from 'node:assert/strict';
import { test } from 'node:test';
import { build } from 'esbuild';
import { CONTRACTS, isMethodName } from '../index.ts';
import { INTERIM_METHODS } from './interim-methods.ts';

test('the list of methods with an interim answer is that of the rows', () => {
  const names = Object.keys(CONTRACTS).filter((name) => isMethodName(name));
  assert.deepEqual(
    [...INTERIM_METHODS],
    names.filter((name) => 'interim' in CONTRACTS[name]),
  );
});

test('the client bundles for browsers without zod', async () => {
  const { metafile } = await build({
    entryPoints: ['protocol/client/ws-client.ts'],
    bundle: true,
    platform: 'browser',
    write: false,
    metafile: true,
  });
  assert.deepEqual(
    Object.keys(metafile.inputs).filter((path) => path.includes('node_modules')),
    [],
  );
});
