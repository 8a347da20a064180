import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../../agent/message.ts';
import type { Store, StoredRow } from '../store/store.ts';
import { calling } from '../testing/puppet-model.ts';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';
import { readEarlierCalls } from './earlier-calls.ts';

/** Has the model make a call with this id. Returns the ids that its next answer may not use. */
async function look(gateway: WholeGateway, id: string): Promise<string[] | undefined> {
  gateway.puppet.turn(calling('look', {}, id));
  gateway.puppet.turn('looked');
  await (await gateway.accept('look'))?.ended;
  const { earlierCalls } = gateway.puppet.requests.at(-1) ?? assert.fail('nothing was sent');
  return earlierCalls && [...earlierCalls];
}

test('a request names the calls of messages that were taken back, cleared or summarized, also after a restart', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  assert.equal(await look(gateway, 'a'), undefined);
  assert.equal(await look(gateway, 'b'), undefined, 'the request has all messages');
  await gateway.call('workstream.rewind', { wsId, turns: 1 });
  assert.deepEqual(await look(gateway, 'c'), ['a', 'b', 'c']);
  await gateway.crash();
  assert.deepEqual(await look(gateway, 'd'), ['a', 'b', 'c', 'd']);
  await gateway.call('workstream.command', { wsId, command: '/clear' });
  assert.deepEqual(await look(gateway, 'e'), ['a', 'b', 'c', 'd', 'e']);
});

const rowOf = (seq: number): StoredRow => {
  const message = { role: 'assistant', content: '', toolCalls: [{ id: `call_${seq}`, name: 'look', arguments: '{}' }] };
  return { seq, createdMs: 1, runId: null, json: JSON.stringify(message) };
};

test('a summary in the place of a single message leaves its calls out, too', async () => {
  const data = { wsId: 'ws', messageCount: 1, knownCalls: { upTo: 0, ids: new Set<string>() } };
  const store = { readMessages: async () => [rowOf(1)] };
  const summary: Message = { role: 'user', content: 'S', summary: { rules: [], files: [] } };
  assert.deepEqual(await readEarlierCalls(store, data, [summary]), new Set(['call_1']));
});

test('each message is read once, some at a time, and damaged ones are skipped', async () => {
  const ranges: string[] = [];
  const store: Pick<Store, 'readMessages'> = {
    async readMessages(_, { after, upTo }) {
      ranges.push(`${after}-${upTo}`);
      const rows = Array.from({ length: upTo - after }, (_, index) => rowOf(after + index + 1));
      return rows.map((row) => (row.seq === 300 ? { ...row, json: undefined } : row));
    },
  };
  const data = { wsId: 'ws', messageCount: 450, knownCalls: { upTo: 0, ids: new Set<string>() } };
  const ids = await readEarlierCalls(store, data, []);
  assert.deepEqual(
    [ids?.size, ids?.has('call_1'), ids?.has('call_300'), ids?.has('call_450')],
    [449, true, false, true],
  );
  data.messageCount = 452;
  assert.equal((await readEarlierCalls(store, data, []))?.size, 451);
  assert.deepEqual(ranges, ['0-200', '200-400', '400-450', '450-452']);
});
