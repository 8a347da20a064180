import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { type LinearOptions, runLinear } from '../linear/drill.ts';

async function explained(store: LinearOptions['store'], diagnose: (line: string) => void): Promise<void> {
  const seed = randomInt(1, 1_000_000);
  diagnose(`seed ${seed}`);
  const { findings, tally } = await runLinear({ rounds: 2, seed, store, say: diagnose });
  assert.deepEqual(findings, [], `npm run linear -- --rounds 2 --seed ${seed} --store ${store}`);
  const kinds = ['send', 'decided', 'decide', 'history', 'queue', 'approvals'];
  const missing = kinds.filter((kind) => tally[kind] === undefined);
  assert.deepEqual(missing, [], JSON.stringify(tally)); // a history without calls proves nothing
}

test('an order explains all answers around two kills of the daemon', (t) =>
  explained('sqlite', (line) => t.diagnostic(line)));

test(
  'over PostgreSQL, an order explains all answers around two kills of the daemon or the database',
  await needs('postgresql'),
  (t) => explained('postgres', (line) => t.diagnostic(line)),
);
