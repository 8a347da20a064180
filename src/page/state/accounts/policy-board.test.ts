import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClient } from '../fake-client.ts';
import { PolicyBoard } from './policy-board.ts';

const DENY = { name: 'no machines', toolPattern: 'node*', action: 'deny', priority: 0, enabled: true } as const;
const stored = (policyId: string, createdAtMs: number) => ({ ...DENY, policyId, createdAtMs });
const rule = ({ name: _, ...rest }: typeof DENY) => rest;

function opened() {
  const { client, answer, calls } = createFakeClient();
  answer('policy.list', () => ({ policies: [stored('pol_new', 2), stored('pol_old', 1)] }));
  return { board: new PolicyBoard(client), answer, calls };
}

test('after a change the policies are read again', async () => {
  const { board, answer, calls } = opened();
  answer('policy.delete', () => ({ status: 'ok' }));
  assert.equal(await board.remove('pol_old'), undefined);
  assert.equal(await board.save(DENY, undefined), 'no answer to policy.create');
  assert.equal(await board.save(DENY, 'pol_old'), 'no answer to policy.update');
  assert.deepEqual(
    calls.filter(([method]) => method !== 'policy.list'),
    [
      ['policy.delete', { policyId: 'pol_old' }],
      ['policy.create', DENY],
      ['policy.update', { policyId: 'pol_old', ...DENY }],
    ],
  );
  assert.deepEqual(
    board.policies.value?.map(({ policyId }) => policyId),
    ['pol_new', 'pol_old'],
  );
});

test('a draft is tried among the other policies, in place of the one that it changes', async () => {
  const { board, answer, calls } = opened();
  await board.read();
  const call = { wsId: 'w', callId: 'c', tool: 'node', label: 'node system.run', subject: 'den date', atMs: 1 };
  answer('policy.simulate', () => ({
    ...{ total: 3, changed: 2 },
    calls: [
      { ...call, was: 'ask', would: 'deny' },
      { ...call, was: 'ask', would: 'deny' },
      { ...call, was: 'run', would: 'run' },
    ],
  }));
  const draft = { ...DENY, priority: 5 };
  const changed = {
    key: 'w c',
    wsId: 'w',
    atMs: 1,
    name: 'node system.run: den date',
    words: 'would be blocked; was: asked',
  };
  assert.deepEqual(await board.tryOut(draft, 'pol_old'), {
    words: 'Of the latest 3 calls, 2 would have been decided otherwise.',
    calls: [changed, changed],
  });
  await board.tryOut(draft, undefined);
  assert.deepEqual(
    calls.slice(1).map(([, params]) => params),
    [
      { policies: [{ ...rule(DENY), priority: 5 }, rule(DENY)] },
      { policies: [rule(DENY), rule(DENY), { ...rule(DENY), priority: 5 }] },
    ],
  );
});

test('without calls or without the right, trying says so', async () => {
  const { board, answer } = opened();
  assert.equal((await board.tryOut(DENY, undefined)).words, 'no answer to policy.simulate');
  answer('policy.simulate', () => ({ total: 0, changed: 0, calls: [] }));
  assert.equal((await board.tryOut(DENY, undefined)).words, 'No calls of tools are stored yet.');
});
