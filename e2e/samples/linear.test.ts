import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { type LinearOptions, runLinear } from '../linear/drill.ts';

const ROUNDS = { sqlite: 2, postgres: 2, workers: 1 };

async function explained(store: LinearOptions['store'], diagnose: (line: string) => void): Promise<void> {
  const rounds = ROUNDS[store];
  const seed = randomInt(1, 1_000_000);
  diagnose(`seed ${seed}`);
  const { findings, tally } = await runLinear({ rounds, seed, store, say: diagnose });
  assert.deepEqual(findings, [], `npm run linear -- --rounds ${rounds} --seed ${seed} --store ${store}`);
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

test(
  'an order explains all answers around a kill of the worker that has the workstreams',
  await needs('postgresql', 'nats-server'),
  (t) => explained('workers', (line) => t.diagnostic(line)),
);
