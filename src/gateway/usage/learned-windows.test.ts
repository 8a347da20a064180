import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProviderError } from '../../agent/providers/model.ts';
import { build, statementOf } from '../store/statements.ts';
import { turnsUntil, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

/** The server refuses a message as too long. Nothing is left to cut, so its run fails. */
async function refuse(gateway: WholeGateway, maximum: number): Promise<void> {
  const refusal = { about: 'window' as const, maximum };
  gateway.puppet.turn(new ProviderError('refused', 'too long', { refusal }));
  const handle = await gateway.accept('hello');
  await handle?.ended;
  await turnsUntil(async () => (await rowsOf(gateway)).length > 0, 'a stored window');
}

const rowsOf = ({ store }: WholeGateway) =>
  store.db.selectFrom('meta').selectAll().where('key', 'like', 'model_window:%').execute();

/** The windows of the default model: in lists, and as its next answer counts. */
async function windowsOf(gateway: WholeGateway) {
  const wsId = await gateway.main();
  const [listed] = (await gateway.call('models.list', {})).models;
  const handle = await gateway.accept('hi');
  await handle?.ended;
  const { snapshot } = await gateway.call('workstream.get', { wsId });
  return [listed?.contextWindow, snapshot.status?.context_window];
}

test('a window learned from a refusal is listed, and survives a restart and a crash', async () => {
  await using gateway = await wholeGateway();
  assert.deepEqual(await windowsOf(gateway), [undefined, 100_000]);
  await refuse(gateway, 8_000);
  assert.deepEqual(await windowsOf(gateway), [8_000, 8_000]);
  await gateway.restart();
  assert.deepEqual(await windowsOf(gateway), [8_000, 8_000]);
  await gateway.crash();
  assert.deepEqual(await windowsOf(gateway), [8_000, 8_000]);
});

test('a longer request that succeeds makes the daemon forget the window, also after a restart', async () => {
  await using gateway = await wholeGateway();
  await refuse(gateway, 50); // the puppet counts 100 tokens for every answer
  await windowsOf(gateway);
  await turnsUntil(async () => (await rowsOf(gateway)).length === 0, 'no stored window');
  await gateway.restart();
  assert.deepEqual(await windowsOf(gateway), [undefined, 100_000]);
});

test('a damaged row is left out, and the others count', async () => {
  await using gateway = await wholeGateway();
  await refuse(gateway, 8_000);
  const row = { key: 'model_window:["a","b","c"]', value: '{"alias":"a"}' };
  await gateway.store.commit({ statements: [statementOf(build.insertInto('meta').values(row))] });
  await gateway.restart();
  assert.deepEqual(await windowsOf(gateway), [8_000, 8_000]);
});

test('a window that cannot be stored does not disturb its run', async () => {
  await using gateway = await wholeGateway();
  gateway.disk.fails = ({ statements = [] }) =>
    statements.some(({ parameters }) => parameters.some((value) => String(value).startsWith('model_window:')));
  const refusal = { about: 'window' as const, maximum: 8_000 };
  gateway.puppet.turn(new ProviderError('refused', 'too long', { refusal }));
  const handle = await gateway.accept('hello');
  const ended = await handle?.ended;
  assert.equal(ended?.error, 'too long');
  assert.deepEqual(await windowsOf(gateway), [8_000, 8_000]);
});
