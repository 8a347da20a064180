import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIVE } from '../testing/default-deps.ts';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

const COMMANDS = ['approve', 'write'] as const;

/** What the command told. */
async function told(gateway: WholeGateway, command: string, scope: (typeof COMMANDS)[number] = 'approve') {
  const wsId = await gateway.main();
  await gateway.call('workstream.command', { wsId, command }, { scope });
  const last = (await gateway.events(wsId)).at(-1);
  return last?.type === 'info' || last?.type === 'error' ? last.message : assert.fail('nothing told');
}

test('/budget shows what is used and of how much, and sets or removes the budget of this workstream', async () => {
  await using gateway = await wholeGateway({ live: { ...LIVE, budgets: { day: { tokens: 1_000 } } } });
  const wsId = await gateway.main();
  await gateway.call('workstream.send', { wsId, message: 'hi' });
  await gateway.isIdle(wsId);
  const today = 'The budget of today (1,000 tokens): 100 tokens used, until 00:00 UTC.';
  assert.equal(await told(gateway, '/budget'), today);
  for (const [amount, limit, used] of [
    ['200000', '200,000 tokens', '100 tokens'],
    ['3,000 tokens', '3,000 tokens', '100 tokens'],
    ['$2', '$2.00', '$0.00'],
    ['2.5 USD', '$2.50', '$0.00'],
  ]) {
    const own = `The budget of this workstream (${limit}): ${used} used.`;
    assert.equal(await told(gateway, `/budget ${amount}`), `${own}\n${today}`);
    await gateway.restart();
    assert.equal(await told(gateway, '/budget', 'write'), `${own}\n${today}`);
  }
  assert.equal(await told(gateway, '/budget off'), today);
});

test('/budget without any budget says how to set one', async () => {
  await using gateway = await wholeGateway();
  assert.match(await told(gateway, '/budget'), /^No budget holds for this workstream\. /);
});

test('an amount that is none is refused with what is right, and only approvers set a budget', async () => {
  await using gateway = await wholeGateway();
  for (const amount of [
    'abc',
    '-5',
    '0',
    '$0',
    '1.5',
    '9'.repeat(20),
    '$1e9',
    '$9999999',
    'NaN',
    '200 tokens more',
    '$',
  ])
    assert.match(
      await told(gateway, `/budget ${amount}`),
      /^Command error: Usage: \/budget \[TOKENS \| \$USD \| off\]: 200000, \$2, 2 USD or off/,
      amount,
    );
  for (const amount of ['5', 'off'])
    assert.equal(
      await told(gateway, `/budget ${amount}`, 'write'),
      'Command error: budget.set needs the approve scope',
    );
  assert.deepEqual((await gateway.call('budget.list', { wsId: await gateway.main() })).budgets, []);
});
