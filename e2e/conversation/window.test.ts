import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Conversation, openConversation } from '../support/clients/conversation.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { readLedger } from '../support/daemon/ledger.ts';
import { boundedAnswers, isForSummary, summaryOf, textOf } from '../support/model/bounded-answers.ts';
import { type ChatRequest, type ScriptedModel, startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

const TURNS = 150;
const SMALL = 8_192;

const answersTo = ({ requests }: ScriptedModel) =>
  requests.map(({ body }) => body).filter((body) => !isForSummary(body));
const lastMessage = ({ messages }: ChatRequest) => messages.at(-1)?.content;

/** Nothing that a person would have to worry about. */
function assertWell(daemonHome: string, talk: Conversation): void {
  const { events } = readLedger(daemonHome, talk.wsId);
  assert.deepEqual(
    events.filter(({ event }) => event.type === 'error').map(({ event }) => event),
    [],
  );
}

for (const announced of [SMALL, 0]) {
  test(`${TURNS} turns in a window of 8k that the server ${announced === 0 ? 'does not announce' : 'announces'}: no error, and every rule and the latest message in each request`, async () => {
    await using model = await startScriptedModel({ contextWindow: announced });
    await using daemon = await startDaemon({ model: model.url });
    const bounded = boundedAnswers(SMALL, (body) =>
      isForSummary(body) ? summaryOf(body, 'FACT') : say(`Noted. ${'So it is. '.repeat(20)}`),
    );
    model.onRequest(bounded.decide);
    await using talk = await openConversation(daemon);
    const planted: { turn: number; text: string }[] = [];
    for (let turn = 0; turn < TURNS; turn += 1) {
      const isPlanting = turn % 10 === 0;
      const text = turn % 20 === 0 ? `Rule ${turn}: always write r${turn}.` : `FACT ${turn}: the key is f${turn}.`;
      if (isPlanting) planted.push({ turn, text });
      const message = isPlanting
        ? `${text}\nThank you.`
        : `Question ${turn}: what about part ${turn}? ${'Well, '.repeat(20)}`;
      const before = model.requests.length;
      await (await talk.ask(message)).answer;
      const asked = answersTo(model).at(-1) ?? assert.fail();
      assert.ok(model.requests.length > before);
      assert.ok(String(lastMessage(asked)).endsWith(message), `the latest message of turn ${turn}`);
      const told = textOf(asked);
      for (const { text: rule } of planted) assert.ok(told.includes(rule), `${rule} in turn ${turn}`);
    }
    assertWell(daemon.home, talk);
    assert.equal(planted.length, TURNS / 10);
    assert.ok(bounded.refused.length <= (announced === 0 ? 1 : 0), `refused: ${bounded.refused}`);
    const { messages } = await talk.client.call('workstream.history', { wsId: talk.wsId, limit: 200 });
    assert.equal(messages.at(-2)?.content?.startsWith(`Question ${TURNS - 1}`), true, 'people still see the messages');
    await talk.agree();
  });
}

test('ten outputs of 1 MB in a window of 32k: the model gets their ends and pages through the rest', async () => {
  const window = 32_768;
  await using model = await startScriptedModel({ contextWindow: window });
  await using daemon = await startDaemon({ model: model.url });
  let calls = 0;
  let paged = '';
  const bounded = boundedAnswers(window, (body) => {
    if (isForSummary(body)) return summaryOf(body, 'FACT');
    const last = body.messages.at(-1);
    if (last?.tool_call_id === 'page') {
      paged = String(last.content);
      return say('Read.');
    }
    if (calls === 10)
      return callTools({ name: 'read_output', id: 'page', arguments: { call_id: 'out_1', offset: 5_000 } });
    calls += 1;
    return callTools({
      name: 'bash',
      id: `out_${calls}`,
      arguments: { command: `seq ${calls}000000 1 ${calls}142857` },
    });
  });
  model.onRequest(bounded.decide);
  await using talk = await openConversation(daemon, { autoApprove: true });
  await (await talk.ask('Never skip a number. Print them all.')).answer;
  assert.equal(calls, 10);
  assert.match(paged, /^ {2}5000\t1004999\n {2}5001\t1005000\n/);
  assert.deepEqual(bounded.refused, []);
  for (const body of answersTo(model)) assert.ok(textOf(body).includes('Never skip a number.'));
  assertWell(daemon.home, talk);
  await talk.agree();
});

test('killed while a summary is written, or just after: there is one summary or none, and the run ends well', async () => {
  await using model = await startScriptedModel({ contextWindow: SMALL });
  await using daemon = await startDaemon({ model: model.url });
  const writing = stall();
  const answering = stall();
  let stalls: 'summary' | 'answer' | undefined = 'summary';
  const bounded = boundedAnswers(SMALL, (body) => {
    if (isForSummary(body)) return stalls === 'summary' ? [writing, say('S.')] : say('S.');
    const isCompacted = textOf(body).includes('[Summary of the conversation so far');
    return stalls === 'answer' && isCompacted ? [answering, say('ok')] : say('y'.repeat(1_500));
  });
  model.onRequest(bounded.decide);
  await using talk = await openConversation(daemon);
  const summaries = () =>
    readLedger(daemon.home, talk.wsId).events.filter(({ event }) => event.type === 'compacted').length;
  const restart = async () => {
    await daemon.kill9();
    await daemon.restart();
    await talk.reconnect();
  };
  const talkOn = async () => {
    for (;;) {
      const question = await talk.ask(`x${'x'.repeat(1_500)}`);
      const isStalled = await Promise.race([
        talk.ended(question).then(() => false),
        (stalls === 'summary' ? writing : answering).reached.then(() => true),
      ]);
      if (isStalled) return question;
    }
  };
  const first = await talkOn();
  stalls = 'answer';
  await restart();
  await answering.reached;
  assert.equal(summaries(), 1);
  stalls = undefined;
  await restart();
  await talk.ended(first);
  assert.equal(summaries(), 1);
  assertWell(daemon.home, talk);
  await talk.agree();
});
