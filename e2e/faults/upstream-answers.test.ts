import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openConversation } from '../support/clients/conversation.ts';
import { speechOf } from '../support/daemon/ledger.ts';
import { openStage } from '../support/daemon/stage.ts';
import type { Answer } from '../support/model/scripted-model.ts';
import { callTools, endless, fail, headers, respond, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const event = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

test('an event stream with another content type is still accepted', async () => {
  await using talk = await openConversation(daemon);
  const body = `${event({ content: 'plain' })}${event({}, 'stop')}data: [DONE]\n\n`;
  model.when('mislabelled', respond({ 'content-type': 'text/plain' }, body));
  const question = await talk.ask('mislabelled');
  await question.answer;
  await talk.ended(question);
  assert.deepEqual(speechOf(await talk.agree()), ['user: mislabelled', 'assistant: plain']);
});

for (const status of [429, 529])
  test(`${status} with Retry-After is retried after that time, within the same run`, async () => {
    await using talk = await openConversation(daemon);
    const answers: Answer[] = [fail(status, { retryAfterSecs: 1 }), say('at last')];
    const asked: number[] = [];
    model.onRequest(() => {
      asked.push(performance.now());
      return answers.shift();
    });
    const question = await talk.ask(`busy ${status}`);
    await question.answer;
    await talk.ended(question);
    model.onRequest(() => undefined);
    const { runs, messages } = await talk.agree();
    assert.deepEqual(
      { runs: runs.map(({ run }) => run.status), said: messages.at(-1)?.role, asked: asked.length },
      { runs: ['ok'], said: 'assistant', asked: 2 },
    );
    assert.ok((asked[1] ?? 0) - (asked[0] ?? 0) >= 1_000);
  });

test('two calls with the same id are two calls with two results', async () => {
  await using talk = await openConversation(daemon);
  const call = { name: 'list_directory', arguments: { path: '.' }, id: 'same' };
  model.when('twins', callTools(call, call), say('both'));
  const question = await talk.ask('twins');
  await question.answer;
  await talk.ended(question);
  const { messages } = await talk.agree();
  const results = messages.flatMap((message) => (message.role === 'tool' ? [message.callId] : []));
  assert.equal(new Set(results).size, 2);
});

const PHASES: Record<string, Answer> = {
  'before its headers': stall(),
  'before its first text': [headers(), stall()],
  'in mid-stream': [say('half'), stall()],
  'in the middle of an endless line': [headers(), endless('x'.repeat(1_000))],
};

test('cancelling closes the connection to the model in every phase', async () => {
  await using talk = await openConversation(daemon);
  for (const [phase, answer] of Object.entries(PHASES)) {
    for (const round of [1, 2, 3]) {
      model.when(`${phase} ${round}`, answer);
      const index = model.requests.length;
      const { runId, answer: told } = await talk.ask(`${phase} ${round}`);
      const { closed } = await model.request(index);
      if (phase === 'in mid-stream') await talk.until('content', () => talk.seen.at(-1)?.event.type === 'content');
      await talk.client.call('workstream.cancel', { wsId: talk.wsId });
      assert.deepEqual(await closed, { whole: false });
      await assert.rejects(told, { code: 'CONFLICT' });
      await talk.ended({ runId });
    }
  }
  model.when('and now?', say('well'));
  const question = await talk.ask('and now?');
  await question.answer;
  await talk.ended(question);
  const { runs } = await talk.agree();
  assert.deepEqual(
    runs.map(({ run }) => run.status),
    [...Array.from({ length: 12 }, () => 'cancelled'), 'ok'],
  );
});
