import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMANDS, isCommandName } from '../../../protocol/commands.ts';
import type { Contract } from '../../../protocol/contract.ts';
import { CONTRACTS } from '../../../protocol/index.ts';
import type { Permission } from '../../../protocol/methods/accounts/permissions.ts';
import { type CallAs, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';
import { methodOf } from './command-methods.ts';

/** Someone with the scope `approve`, which each right to administer something grants, and without other permissions. */
const BARE: CallAs = { permissions: new Set<Permission>(['read', 'write', 'admin.users']) };

const run = async ({ call, main }: WholeGateway, command: string, as: CallAs = {}) =>
  (await call('workstream.command', { wsId: await main(), command }, as)).error;

test('every command needs the permission that the method needs which does the same', async () => {
  await using gateway = await wholeGateway();
  const refused: Record<string, string | undefined> = {};
  for (const name of Object.keys(COMMANDS).filter(isCommandName))
    for (const argument of ['', '7']) {
      const { permission }: Contract = CONTRACTS[methodOf[name](argument)];
      const error = await run(gateway, `/${name} ${argument}`, BARE);
      const isRefused = error?.startsWith('Forbidden: missing ') ?? false;
      assert.equal(isRefused, permission !== undefined, `/${name} ${argument}: ${error}`);
      if (isRefused) refused[`/${name} ${argument}`] = error;
    }
  assert.deepEqual(refused, {
    '/fork ': "Forbidden: missing 'workstreams.create' permission",
    '/fork 7': "Forbidden: missing 'workstreams.create' permission",
    '/budget 7': "Forbidden: missing 'approve' permission",
    '/mcp ': "Forbidden: missing 'admin.mcp' permission",
    '/mcp 7': "Forbidden: missing 'admin.mcp' permission",
  });
  assert.deepEqual((await gateway.call('budget.list', { wsId: await gateway.main() })).budgets, []);
});

test('/budget and /share are recorded in the audit trail as their methods are', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', {}, { userId: 'usr_1' });
  for (const command of ['/budget 1000', '/share private', '/budget', '/share'])
    await gateway.call('workstream.command', { wsId, command }, { userId: 'usr_1' });
  const { events } = await gateway.call('audit.list', {});
  assert.deepEqual(
    events.map(({ action, resourceId, userId, detail }) => ({
      action,
      resourceId,
      userId,
      detail: JSON.parse(detail),
    })),
    [
      {
        ...{ action: 'workstream.share', resourceId: wsId, userId: 'usr_1' },
        detail: { userId: 'usr_1', ownerId: 'usr_1', visibility: 'private' },
      },
      { action: 'budget.set', resourceId: wsId, userId: 'usr_1', detail: { tokens: 1_000 } },
    ],
  );
});
