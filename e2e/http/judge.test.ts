import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callersOf } from '../support/clients/callers.ts';
import { type Conversation, openConversation } from '../support/clients/conversation.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();
const { operator, newUser } = callersOf(daemon);
const VERDICTS = '/v1/api/admin/verdicts';

// The model calls bash with what a message says behind `run`, one call per line.
model.onRequest(({ messages }) => {
  if (messages.at(-1)?.role === 'tool') return say('done');
  const asked = String(messages.findLast(({ role }) => role === 'user')?.content ?? '');
  const commands = asked.split('\n').flatMap((line) => (line.startsWith('run ') ? [line.slice(4)] : []));
  return commands.length === 0
    ? say('hello')
    : callTools(...commands.map((command, n) => ({ name: 'bash', arguments: { command }, id: `call_${n}` })));
});

/** Asks for commands, and returns the question about them. */
async function questionAbout(talk: Conversation, ...commands: string[]) {
  const asked = await talk.ask(commands.map((command) => `run ${command}`).join('\n'));
  const known = new Set<string>();
  const question = await talk.until('approve_request', ({ approval_id }) => !known.has(approval_id));
  return { asked, question };
}

const listOf = async (query: string) => (await operator(`GET ${VERDICTS}?${query}`)).body;

test('A call that waits for approval must have a verdict of the judge in its item', async () => {
  await using talk = await openConversation(daemon);
  const { asked, question } = await questionAbout(talk, 'rm -rf /etc', 'touch a.txt');
  const [first, second] = question.items;
  assert.deepEqual(first?.heuristic_verdict, first?.verdict);
  const { verdict_id, ...verdict } = first?.verdict ?? assert.fail('no verdict');
  assert.match(verdict_id, /^vrd_/);
  assert.deepEqual(verdict, {
    ...{ call_id: first?.call_id, func_name: 'bash', func_args: '{"command":"rm -rf /etc"}' },
    ...{ intent_summary: 'Deletes /etc.', risk_level: 'critical', confidence: 0.9, recommendation: 'deny' },
    ...{ reasoning: 'It deletes everything in /etc.', evidence: ['Matched rule: rm-root'] },
    ...{ tier: 'heuristic', judge_model: '', latency_ms: 0 },
  });
  assert.deepEqual([second?.verdict?.risk_level, second?.verdict?.recommendation], ['medium', 'review']);
  assert.equal(typeof question.judge_pending, 'boolean');
  await talk.decide(question.approval_id, { approved: false });
  await talk.ended(asked);
});

test('Verdicts must be listed with their filters, the newest first, with the decision about the call', async () => {
  await using talk = await openConversation(daemon);
  const { asked, question } = await questionAbout(talk, 'rm -rf /etc', 'touch b.txt');
  const { ws_id, created, verdict_id, ...record } = (await listOf(`ws_id=${talk.wsId}&risk_level=critical`))
    .verdicts[0];
  assert.deepEqual([ws_id, verdict_id], [talk.wsId, question.items[0]?.verdict?.verdict_id]);
  assert.equal(new Date(created).toISOString(), created);
  assert.deepEqual(record, {
    ...{ call_id: question.items[0]?.call_id, func_name: 'bash', func_args: '{"command":"rm -rf /etc"}' },
    ...{ intent_summary: 'Deletes /etc.', risk_level: 'critical', confidence: 0.9, recommendation: 'deny' },
    ...{ reasoning: 'It deletes everything in /etc.', evidence: '["Matched rule: rm-root"]' },
    ...{ tier: 'heuristic', judge_model: '', latency_ms: 0, user_decision: 'pending' },
  });
  await talk.decide(question.approval_id, { approved: false });
  await talk.ended(asked);
  const whole = await listOf(`ws_id=${talk.wsId}`);
  assert.deepEqual(
    [whole.total, whole.verdicts.map(({ user_decision }: { user_decision: string }) => user_decision)],
    [2, ['denied', 'denied']],
  );
  assert.deepEqual(
    [
      (await listOf(`ws_id=${talk.wsId}&limit=1`)).verdicts.length,
      (await listOf(`ws_id=${talk.wsId}&offset=2`)).verdicts.length,
      (await listOf(`ws_id=${talk.wsId}&until=2001-01-01T00:00:00Z`)).total,
      (await listOf(`ws_id=${talk.wsId}&since=2001-01-01T00:00:00Z&limit=9999`)).total,
      (await listOf(`ws_id=${talk.wsId}&risk_level=low`)).total,
      (await listOf(`ws_id=${'f'.repeat(32)}`)).total,
    ],
    [1, 0, 0, 2, 0, 0],
  );
  assert.equal((await operator(`GET ${VERDICTS}?risk_level=severe`)).status, 400);
});

test('Listing verdicts must answer 403 without the permission `admin.judge`', async () => {
  const role = { name: 'without-judge', permissions: 'read,write,approve,admin.audit' };
  const { role_id } = (await operator('POST /v1/api/admin/roles', role)).body;
  const { call } = await newUser('ada', [role_id]);
  const { status, body } = await call(`GET ${VERDICTS}`);
  assert.deepEqual([status, body.error], [403, "Forbidden: missing 'admin.judge' permission"]);
});

test('A call that runs unasked must have a verdict with the reason as its decision', async () => {
  await using talk = await openConversation(daemon, { autoApprove: true });
  await talk.ended(await talk.ask('run touch c.txt'));
  const { verdicts } = await listOf(`ws_id=${talk.wsId}`);
  assert.deepEqual(
    verdicts.map(({ risk_level, user_decision }: Record<string, string>) => [risk_level, user_decision]),
    [['medium', 'blanket']],
  );
});

test('Verdicts must be counted in the metrics', async () => {
  const text = await (await fetch(`${daemon.url}/metrics`)).text();
  assert.match(text, /^service_judge_enabled 1$/m);
  assert.match(text, /^service_judge_verdicts_total\{tier="heuristic",risk_level="critical"\} [1-9]/m);
});

test('While `judge.enabled` is false, calls must have no verdicts', async () => {
  const setting = '/v1/api/admin/settings/judge.enabled';
  assert.equal((await operator(`PUT ${setting}`, { value: false })).status, 200);
  try {
    await using talk = await openConversation(daemon);
    const { asked, question } = await questionAbout(talk, 'touch d.txt');
    assert.deepEqual([question.items[0]?.verdict, question.judge_pending], [undefined, undefined]);
    await talk.decide(question.approval_id, { approved: false });
    await talk.ended(asked);
    assert.equal((await listOf(`ws_id=${talk.wsId}`)).total, 0);
  } finally {
    await operator(`DELETE ${setting}`);
  }
});
