import assert from 'node:assert/strict';
import { test } from 'node:test';
import { healthProblems } from './health-words.ts';

type Judged = Parameters<typeof healthProblems>[0];

const healthy = {
  model: 'qwen3',
  store: { status: 'ok' },
  backend: { status: 'up', circuitState: 'closed' },
  sandbox: { active: true },
  notices: [],
} satisfies Judged;
const partsOf = (changes: Partial<Judged>) => healthProblems({ ...healthy, ...changes }).map(({ part }) => part);

test('each part that does not work is one problem, and a notice about the model replaces that of the backend', () => {
  const down = { status: 'down', circuitState: 'open' } as const;
  assert.deepEqual(partsOf({}), []);
  assert.deepEqual(partsOf({ sandbox: { active: false }, backend: down, store: { status: 'degraded' } }), [
    'store',
    'backend',
    'sandbox',
  ]);
  const notice = { code: 'model_key_refused', level: 'warning', text: 'The key was refused.' } as const;
  assert.deepEqual(partsOf({ backend: down, notices: [notice] }), []);
});
