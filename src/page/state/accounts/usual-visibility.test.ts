import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClient } from '../fake-client.ts';
import { findUsualVisibility } from './usual-visibility.ts';

test('what a user creates is as the setting says, and what the operator creates is shared', async () => {
  const { client, answer } = createFakeClient();
  const ada = { userId: 'u1', username: 'ada', scopes: [], permissions: [] };
  const operator = { userId: 'operator', scopes: [], permissions: [] };
  const usual = (config: unknown) => {
    answer('config.get', () => ({ config }));
    return findUsualVisibility(client, ada);
  };
  const hidden = { workstreams: { visibility: 'private' } };
  assert.deepEqual(
    [
      await usual(hidden),
      await usual({ workstreams: { visibility: 'shared' } }),
      await usual({}),
      await findUsualVisibility(client, operator),
    ],
    ['private', 'shared', 'shared', 'shared'],
  );
});
