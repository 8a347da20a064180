import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { callersOf } from '../support/clients/callers.ts';
import { type Conversation, openConversation } from '../support/clients/conversation.ts';
import { openStage } from '../support/daemon/stage.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, type Step, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage({
  env: { HEADGATE_SKIP_JUDGE_MODEL: '', HEADGATE_KEY_JUDGE: 'sk-judge-0123456789' },
});
const { operator } = callersOf(daemon);
const sandboxed = await needs('bubblewrap');
const THRESHOLD = '/v1/api/admin/settings/judge.confidence_threshold';

const VERDICT = { intent_summary: 'Lists.', risk_level: 'low', confidence: 0.9, recommendation: 'approve' };
/** What the judge answers about a call, by a word in it; otherwise VERDICT. */
const judges: Record<string, Step> = {
  unsure: say(JSON.stringify({ ...VERDICT, confidence: 0.75 })),
  broken: say('I would not know.'),
};

// The model runs the commands in the last message of a person, which are between backticks, one per turn.
model.onRequest(({ messages }) => {
  if (String(messages[0]?.content).startsWith('You judge')) {
    const line = String(messages[1]?.content).split('\n').at(-1) ?? '';
    const [, answer] = Object.entries(judges).find(([word]) => line.includes(word)) ?? [];
    return answer ?? say(JSON.stringify(VERDICT));
  }
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const commands = [...String(messages[asked]?.content).matchAll(/`([^`]+)`/g)].map(([, command = '']) => command);
  const done = messages.slice(asked).filter(({ role }) => role === 'tool').length;
  const command = commands[done];
  return command === undefined
    ? say('done')
    : callTools({ name: 'bash', arguments: { command }, id: `call_${asked}_${done}` });
});

/** Who answered the questions of a conversation, and how its calls ended. */
const storyOf = ({ seen }: Conversation): string[] =>
  seen.flatMap(({ event }) =>
    event.type === 'approval_resolved' ? event.by.kind : event.type === 'tool_result' ? event.outcome : [],
  );

const questions = ({ seen }: Conversation) =>
  seen.flatMap(({ event }) => (event.type === 'approve_request' ? event : []));

/** Answers the question number `count` of the conversation; resolves with its item. */
async function answer(talk: Conversation, count: number, approved: boolean) {
  await talk.until('approve_request', () => questions(talk).length >= count);
  const question = questions(talk)[count - 1];
  await talk.decide(question?.approval_id ?? '', { approved });
  return question?.items[0];
}

test(
  'In the mode `auto`, a call that the rules and the model of the judge approve must run without a person',
  sandboxed,
  async () => {
    await using talk = await openConversation(daemon, { mode: 'auto' });
    await talk.ended(await talk.ask('`ls /var/log`'));
    const [question] = questions(talk);
    assert.deepEqual([question?.judge_pending, question?.items[0]?.verdict?.recommendation], [true, 'approve']);
    assert.equal(storyOf(talk)[0], 'judge');
    assert.deepEqual(await talk.pending(), []);
    const { verdicts } = (await operator(`GET /v1/api/admin/verdicts?ws_id=${talk.wsId}`)).body;
    assert.deepEqual(
      verdicts.map(({ tier, user_decision }: Record<string, string>) => `${tier} ${user_decision}`),
      ['llm smart_approval', 'heuristic smart_approval'],
    );
    await daemon.kill9();
    await daemon.restart();
    await talk.reconnect();
    const { snapshot } = await (await daemon.client()).call('workstream.get', { wsId: talk.wsId });
    const deciders = (snapshot.notes ?? []).flatMap((note) => (note.kind === 'decision' ? note.by : []));
    assert.deepEqual(deciders, [{ kind: 'judge' }]);
  },
);

test(
  'In the mode `auto`, a verdict below `judge.confidence_threshold` and a judge that fails must leave the call to a person',
  sandboxed,
  async () => {
    assert.equal((await operator(`PUT ${THRESHOLD}`, { value: 1.1 })).status, 400);
    assert.equal((await operator(`PUT ${THRESHOLD}`, { value: 0.8 })).status, 200);
    try {
      await using talk = await openConversation(daemon, { mode: 'auto' });
      const asked = await talk.ask('`ls /var/log/unsure` `ls /var/log/broken`');
      await talk.until('intent_verdict');
      await answer(talk, 1, false);
      await talk.until('judge_state');
      await answer(talk, 2, false);
      await talk.ended(asked);
      assert.deepEqual(storyOf(talk), ['principal', 'denied', 'principal', 'denied']);
    } finally {
      await operator(`DELETE ${THRESHOLD}`);
    }
  },
);

test('A judge with a provider of its own must be asked there, and its key must not be set or shown over the wire', async () => {
  await using tiny = await startScriptedModel({ key: 'sk-judge-0123456789' });
  tiny.onRequest(() => say(JSON.stringify({ ...VERDICT, recommendation: 'review' })));
  const settings = '/v1/api/admin/settings';
  const values = { 'judge.base_url': tiny.url, 'judge.api_key_env': 'HEADGATE_KEY_JUDGE', 'judge.model': 'tiny' };
  try {
    for (const [key, value] of Object.entries(values))
      assert.equal((await operator(`PUT ${settings}/${key}`, { value })).status, 200, key);
    const refused = await operator(`PUT ${settings}/judge.api_key`, { value: 'sk-judge-0123456789' });
    assert.deepEqual(
      [refused.status, refused.body.error],
      [403, 'Secret settings cannot be modified via API — use config.json or environment variables'],
    );
    assert.equal((await operator(`PUT ${settings}/judge.base_url`, { value: 'file:///etc' })).status, 400);
    await using talk = await openConversation(daemon);
    const asked = await talk.ask('`touch a.txt`');
    const { judge_model, recommendation } = await talk.until('intent_verdict');
    assert.deepEqual([judge_model, recommendation], ['openai-compatible/tiny', 'review']);
    assert.equal(tiny.requests[0]?.headers.authorization, 'Bearer sk-judge-0123456789');
    await answer(talk, 1, false);
    await talk.ended(asked);
  } finally {
    for (const key of Object.keys(values)) await operator(`DELETE ${settings}/${key}`);
  }
});

test(
  'After a conversation has read untrusted content, a call that reaches further must ask although a rule allows it, until the next message of a person',
  sandboxed,
  async () => {
    await using talk = await openConversation(daemon, { mode: 'auto' });
    const rule = { action: 'allow', ws_id: talk.wsId, match: { program: 'curl' } };
    assert.equal((await operator('POST /v1/api/rules', rule)).status, 200);
    const fetching = '`curl -s http://127.0.0.1:9/`';
    const asked = await talk.ask(`\`cat /proc/self/status\` ${fetching}`);
    const tainted = await answer(talk, 2, false);
    await talk.ended(asked);
    const { verdict, reason, taint } = tainted?.ruling ?? {};
    assert.deepEqual([verdict, reason, taint?.kind, taint?.target], ['ask', 'tainted', 'outside', '/proc/self/status']);
    assert.deepEqual(storyOf(talk), ['judge', 'done', 'principal', 'denied']);
    await talk.ended(await talk.ask(fetching));
    assert.equal(questions(talk).length, 2);
  },
);
