import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAEMON } from '../sharing/perception.ts';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

async function* bytesOf(text: string) {
  yield Buffer.concat([PNG, Buffer.from(text)]);
}

/** Sends a message with so many images. */
async function show(gateway: WholeGateway, message: string, count: number): Promise<void> {
  const wsId = await gateway.main();
  const attachmentIds: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const file = { fileName: `${message}${index}.png`, bytes: bytesOf(`${message}${index}`) };
    attachmentIds.push(
      (await gateway.gateway.attachments.receive({ viewer: DAEMON, wsId, principal: 'ada' }, file)).attachment_id,
    );
  }
  await gateway.call('workstream.send', { wsId, message, attachmentIds });
  await gateway.isIdle(wsId);
}

/** How many images the model was shown last, message by message. */
const shown = ({ puppet }: WholeGateway) =>
  puppet.requests
    .at(-1)
    ?.messages.flatMap((message) =>
      message.role === 'user' ? [message.unseen ? 'names' : (message.attachments ?? []).length] : [],
    );

test('the 21st image makes older ones leave together, for good and also after a restart; people still see them', async () => {
  await using gateway = await wholeGateway();
  for (const message of ['a', 'b', 'c', 'd', 'e']) await show(gateway, message, 4);
  assert.deepEqual(shown(gateway), [4, 4, 4, 4, 4]);
  const before = gateway.puppet.requests.at(-1)?.conversation;
  await show(gateway, 'f', 1);
  assert.deepEqual(shown(gateway), ['names', 'names', 'names', 4, 4, 1]);
  await gateway.restart();
  await show(gateway, 'g', 4);
  assert.deepEqual(shown(gateway), ['names', 'names', 'names', 4, 4, 1, 4]);
  assert.notEqual(gateway.puppet.requests.at(-1)?.conversation, before);
  const { messages } = await gateway.call('workstream.history', { wsId: await gateway.main() });
  assert.deepEqual(
    messages.flatMap(({ attachments }) => attachments?.length ?? []),
    [4, 4, 4, 4, 4, 1, 4],
  );
  await gateway.call('workstream.rewind', { wsId: await gateway.main(), turns: 2 });
  await show(gateway, 'h', 0);
  assert.deepEqual(shown(gateway), [4, 4, 4, 4, 4, 0]);
});
