import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openConversation } from '../support/clients/conversation.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { boundedAnswers, isForSummary, summaryOf } from '../support/model/bounded-answers.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { say } from '../support/model/scripted-steps.ts';

const WINDOW = 8_192;
const LONG = 'word '.repeat(1_500);

test('a window that the server does not announce is learned once: listed, shown in the status, and kept over a restart', async () => {
  await using model = await startScriptedModel({ contextWindow: 0 });
  await using daemon = await startDaemon({ model: model.url });
  const bounded = boundedAnswers(WINDOW, (body) => (isForSummary(body) ? summaryOf(body, 'FACT') : say('Noted.')));
  model.onRequest(bounded.decide);
  const windows = async () => {
    await using talk = await openConversation(daemon);
    for (let turn = 0; turn < 8; turn += 1) await (await talk.ask(`${turn} ${LONG}`)).answer;
    const { snapshot } = await talk.client.call('workstream.get', { wsId: talk.wsId });
    const [listed] = (await talk.client.call('models.list', {})).models;
    assert.ok(!talk.seen.some(({ event }) => event.type === 'error'));
    return [bounded.refused.length, listed?.contextWindow, snapshot.status?.context_window];
  };
  assert.deepEqual(await windows(), [1, WINDOW, WINDOW]);
  await daemon.restart();
  const client = await daemon.client();
  assert.equal((await client.call('models.list', {})).models[0]?.contextWindow, WINDOW);
  assert.deepEqual(await windows(), [1, WINDOW, WINDOW]);
  client.close();
});
