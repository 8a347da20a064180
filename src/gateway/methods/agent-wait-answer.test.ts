import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProviderError } from '../../agent/providers/model.ts';
import { expandScopes } from '../rights.ts';
import { calling } from '../testing/puppet-model.ts';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';
import { ALL_PERMISSIONS } from '../users/grant.ts';

test('agent.wait with `withAnswer` returns the answer of that run: of an earlier and a failed one, also after a restart, and of none taken back', async () => {
  await using gateway = await wholeGateway();
  const run = async (key: string, ...moves: Parameters<WholeGateway['puppet']['turn']>) => {
    gateway.puppet.turn(...moves);
    await gateway.call('agent', { message: 'hello', idempotencyKey: key }).catch((error: unknown) => error);
  };
  const answerOf = async (runId: string) =>
    (await gateway.call('agent.wait', { runId, timeoutMs: 0, withAnswer: true })).answer;
  await run('one', 'first');
  await run('two', new ProviderError('refused', 'no'));
  await run('three', 'half', new ProviderError('refused', 'no'));
  gateway.puppet.turn('look', calling('look'));
  await run('four', 'fourth');
  for (let round = 0; round < 2; round += 1) {
    const answers = await Promise.all(['one', 'two', 'three', 'four'].map(answerOf));
    assert.deepEqual(answers, ['first', undefined, 'half', 'fourth']);
    await gateway.restart();
  }
  assert.equal((await gateway.call('agent.wait', { runId: 'one' })).answer, undefined);
  await gateway.call('workstream.rewind', { wsId: await gateway.main(), turns: 1 });
  assert.deepEqual([await answerOf('four'), await answerOf('one')], [undefined, 'first']);
});

test('a caller whose credential ends while it waits gets no answer of the run', async () => {
  await using gateway = await wholeGateway();
  const answered = Promise.withResolvers<['secret']>();
  gateway.puppet.turn(answered.promise);
  const wsId = await gateway.main();
  const { runId } = await gateway.call('workstream.send', { wsId, message: 'first', idempotencyKey: 'k' });
  const ended = new AbortController();
  const source = { kind: 'token', tokenId: 't' } as const;
  const rights = { scopes: expandScopes(['write']), permissions: ALL_PERMISSIONS };
  const principal = { id: 'ada', ...rights, source, ended: ended.signal };
  const waiting = gateway.gateway.dispatch(
    'agent.wait',
    { runId, withAnswer: true },
    {
      ...{ principal, signal: new AbortController().signal, address: '' },
      ...{ interim: () => undefined, subscriptions: undefined },
    },
  );
  await Promise.resolve();
  ended.abort(new Error('the token was revoked'));
  answered.resolve(['secret']);
  await assert.rejects(Promise.resolve(waiting), { code: 'UNAUTHORIZED' });
});
