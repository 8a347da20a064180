import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelPart } from '../../agent/providers/model.ts';
import { calling } from '../testing/puppet-model.ts';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

const INCOMPLETE = 'The answer is incomplete: it was cut off at the model’s output limit.';
const USAGE = { promptTokens: 7, completionTokens: 3, cacheCreationTokens: 0, cacheReadTokens: 0 };
const CUT: ModelPart = { type: 'finish', reason: 'length', usage: USAGE };
const FILTERED: ModelPart = { type: 'finish', reason: 'content_filter', usage: USAGE };

/** Answers a message of a chat, or one whose answer is to be delivered; returns what is queued for the destination. */
async function deliveredBy(gateway: WholeGateway, { fromChat }: { fromChat: boolean }): Promise<string | undefined> {
  const request = { deliver: { provider: 'telegram', to: '7' }, ...(fromChat && { fromChat: true as const }) };
  const asked = { message: 'hi', principal: 'ada', rights: 'approve', source: 'person', request } as const;
  const { run, ended } = await gateway.parts.runs.accept(gateway.mainWorkstream(), asked);
  await ended;
  const query = gateway.store.db.selectFrom('outbox').select('message');
  return (await query.where('message_id', '=', `answer:${run.runId}`).executeTakeFirst())?.message;
}

/** To a chat, and elsewhere. */
async function bothBy(gateway: WholeGateway, script: () => void) {
  const delivered: (string | undefined)[] = [];
  for (const fromChat of [true, false]) {
    script();
    delivered.push(await deliveredBy(gateway, { fromChat }));
  }
  return delivered;
}

test('an answer that was cut off is delivered with a note; only without text, a chat is told that there is none', async () => {
  await using gateway = await wholeGateway();
  const { puppet } = gateway;
  const cut = await bothBy(gateway, () => {
    puppet.turn('Once', CUT);
    puppet.turn(' upon', CUT);
  });
  assert.deepEqual(cut, [`Once upon\n\n⚠ ${INCOMPLETE}`, `Once upon\n\n⚠ ${INCOMPLETE}`]);
  const silent = await bothBy(gateway, () => puppet.turn(CUT));
  assert.deepEqual(silent, [`⚠ There is no answer: ${INCOMPLETE}`, undefined]);
  const filtered = await bothBy(gateway, () => puppet.turn(FILTERED));
  assert.deepEqual(filtered, ['⚠ There is no answer: The provider’s content filter removed the answer.', undefined]);
});

test('the words before an error are delivered to a chat with the error', async () => {
  await using gateway = await wholeGateway();
  const delivered = await bothBy(gateway, () => gateway.puppet.turn('First, ', new Error('broke off')));
  const note = 'The answer is incomplete: Internal error (see the daemon’s log)';
  assert.deepEqual(delivered, [`First, \n\n⚠ ${note}`, undefined]);
});

test('the words written with calls are the answer if the last turn has none', async () => {
  await using gateway = await wholeGateway();
  const delivered = await bothBy(gateway, () => {
    gateway.puppet.turn('All is well.', calling('look', { text: 'here' }));
    gateway.puppet.turn('');
  });
  assert.deepEqual(delivered, ['All is well.', 'All is well.']);
  gateway.puppet.turn('');
  assert.equal(await deliveredBy(gateway, { fromChat: true }), undefined, 'those of an earlier run are no answer');
});
