import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILTIN_ROLES } from '../../../protocol/methods/accounts/permissions.ts';
import { calling } from '../testing/puppet-model.ts';
import { type CallAs, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

const ADA: CallAs = {
  ...{ id: 'login of ada', userId: 'user_ada' },
  permissions: new Set(BUILTIN_ROLES['builtin-operator'].permissions),
};

/** The series of one workstream. */
async function seriesOf({ gateway }: WholeGateway, wsId: string): Promise<Record<string, number>> {
  const lines = (await gateway.metrics.text()).split('\n').filter((line) => line.includes(wsId));
  return Object.fromEntries(
    lines.map((line) => {
      const [, name = '', value] = /^service_workstream_(\w+)\{ws_id="\w+"\} (\S+)$/.exec(line) ?? assert.fail(line);
      return [name, Number(value)];
    }),
  );
}

test('the series of a workstream follow its runs, and nothing else than its id names it', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', { name: 'the-secret-plan' });
  assert.deepEqual(await seriesOf(gateway, wsId), {
    info: 1,
    prompt_tokens_total: 0,
    completion_tokens_total: 0,
    messages_total: 0,
    tool_calls_total: 0,
    context_ratio: 0,
  });
  gateway.puppet.turn(calling('look'));
  await gateway.call('workstream.send', { wsId, message: 'look' });
  await gateway.isIdle(wsId);
  const statuses = (await gateway.events(wsId)).filter((event) => event.type === 'status');
  const sum = (of: (status: (typeof statuses)[number]) => number) => statuses.reduce((all, one) => all + of(one), 0);
  const { prompt_tokens_total, completion_tokens_total, messages_total, tool_calls_total } = await seriesOf(
    gateway,
    wsId,
  );
  assert.equal(statuses.length, 2);
  assert.deepEqual(
    [prompt_tokens_total, completion_tokens_total, messages_total, tool_calls_total],
    [sum(({ prompt_tokens }) => prompt_tokens), sum(({ completion_tokens }) => completion_tokens), 4, 1],
  );
  assert.ok((prompt_tokens_total ?? 0) > 0);
  assert.doesNotMatch(await gateway.gateway.metrics.text(), /the-secret-plan/);
});

test('`/metrics` must show the workstreams that are loaded and shared, and no other one', async () => {
  await using gateway = await wholeGateway();
  const isShown = async (wsId: string) => (await gateway.gateway.metrics.text()).includes(wsId);
  const { wsId } = await gateway.call('workstream.create', { visibility: 'private' }, ADA);
  assert.equal(await isShown(wsId), false);
  await gateway.call('workstream.share', { wsId, visibility: 'shared' }, ADA);
  assert.equal(await isShown(wsId), true);
  await gateway.call('workstream.share', { wsId, visibility: 'private' }, ADA);
  assert.equal(await isShown(wsId), false);
  await gateway.call('workstream.share', { wsId, visibility: 'shared' }, ADA);
  await gateway.call('workstream.close', { wsId }, ADA);
  assert.equal(await isShown(wsId), false);
});
