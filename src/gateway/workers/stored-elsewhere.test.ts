import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textOf } from '../portable/portable-fixture.ts';
import { DAEMON } from '../sharing/perception.ts';
import { build, statementOf } from '../store/statements.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';

async function* bytesOf(text: string) {
  yield Buffer.from(text);
}

test('the conversation of another machine is exported, and gets files, from what is stored', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.import', {
    conversation: {
      format: 'headgate-conversation',
      version: 1,
      messages: [{ role: 'user', createdMs: 1, content: 'question' }],
      notes: [],
      files: [],
    },
  });
  const { exports, attachments } = gateway.gateway;
  await gateway.call('workstream.close', { wsId });
  const elsewhere = build.updateTable('workstreams').set({ machine: 'box', loaded: 1 }).where('ws_id', '=', wsId);
  await gateway.store.commit({ statements: [statementOf(elsewhere)] });
  assert.match(await textOf((await exports.open(wsId, DAEMON)).markdown()), /^question$/m);
  const owner = { wsId, principal: 'ada', viewer: DAEMON };
  await attachments.receive(owner, { fileName: 'a.txt', bytes: bytesOf('text') });
  assert.deepEqual(
    (await attachments.list(owner)).map(({ filename }) => filename),
    ['a.txt'],
  );
  await assert.rejects(gateway.call('chat.send', { sessionKey: wsId, message: 'hi', idempotencyKey: 'k' }), {
    code: 'UNAVAILABLE',
  });
});
