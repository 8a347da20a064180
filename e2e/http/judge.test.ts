import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { callersOf } from '../support/clients/callers.ts';
import { type Conversation, openConversation } from '../support/clients/conversation.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, type Step, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage({ env: { HEADGATE_SKIP_JUDGE_MODEL: '' } });
const { operator, newUser } = callersOf(daemon);
const VERDICTS = '/v1/api/admin/verdicts';

const VERDICT = {
  ...{ intent_summary: 'Makes a file.', risk_level: 'medium', confidence: 0.9, recommendation: 'approve' },
  ...{ reasoning: 'The person asked for it.', evidence: ['a new file'] },
};

/** What the judge answers, by a word of the command; otherwise VERDICT. */
const judges: Record<string, (messages: { role: string; content: unknown }[]) => Step | Step[]> = {};

// The model calls bash with what a message says behind `run`, one call per line. As the judge, it gives verdicts.
model.onRequest(({ messages }) => {
  if (String(messages[0]?.content).startsWith('You judge')) {
    const line = String(messages[1]?.content).split('\n').at(-1) ?? '';
    const [, answer] = Object.entries(judges).find(([word]) => line.includes(word)) ?? [];
    return answer?.(messages) ?? say(JSON.stringify(VERDICT));
  }
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
  for (const word of ['/etc', 'b.txt']) judges[word] = () => say('no verdict');
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

test('A verdict of a model must follow as `intent_verdict`, and be listed with its model', async () => {
  await using talk = await openConversation(daemon);
  const { asked, question } = await questionAbout(talk, 'touch e.txt');
  assert.equal(question.judge_pending, true);
  const { verdict_id, latency_ms, judge_model, ...event } = await talk.until('intent_verdict');
  assert.deepEqual(event, {
    ...{ type: 'intent_verdict', ...VERDICT, tier: 'llm' },
    ...{ call_id: question.items[0]?.call_id, func_name: 'bash', ws_id: talk.wsId },
  });
  const [newest] = (await listOf(`ws_id=${talk.wsId}`)).verdicts.filter(({ tier }: { tier: string }) => tier === 'llm');
  assert.deepEqual(
    [newest.verdict_id, newest.latency_ms, newest.judge_model, newest.evidence, newest.user_decision],
    [verdict_id, latency_ms, judge_model, '["a new file"]', 'pending'],
  );
  assert.ok(judge_model !== '');
  await talk.decide(question.approval_id, { approved: true });
  await talk.ended(asked);
  const decisions = (await listOf(`ws_id=${talk.wsId}`)).verdicts.map(
    (one: Record<string, string>) => one.user_decision,
  );
  assert.deepEqual(decisions, ['approved', 'approved']);
  const text = await (await fetch(`${daemon.url}/metrics`)).text();
  assert.match(text, /^service_judge_llm_latency_seconds_count [1-9]/m);
});

test('A judge without a verdict must be told as `judge_state`, and decide nothing', async () => {
  judges.nonsense = () => say('I would not know.');
  await using talk = await openConversation(daemon);
  const { asked, question } = await questionAbout(talk, 'touch nonsense');
  const { call_id, state, reason } = await talk.until('judge_state');
  assert.deepEqual(
    [call_id, state, reason],
    [question.items[0]?.call_id, 'unavailable', 'The answer of the judge has no verdict.'],
  );
  assert.equal((await talk.pending()).length, 1);
  assert.equal((await listOf(`ws_id=${talk.wsId}`)).total, 1);
  await talk.decide(question.approval_id, { approved: false });
  await talk.ended(asked);
});

test('A verdict that comes after the decision must be applied once', async () => {
  const held = stall();
  judges.late = () => [held, say(JSON.stringify(VERDICT))];
  await using talk = await openConversation(daemon);
  const { asked, question } = await questionAbout(talk, 'touch late');
  await held.reached;
  await talk.decide(question.approval_id, { approved: true });
  await talk.ended(asked);
  held.release();
  const { verdict_id } = await talk.until('intent_verdict');
  const late = (await listOf(`ws_id=${talk.wsId}`)).verdicts.filter(({ tier }: { tier: string }) => tier === 'llm');
  assert.deepEqual(
    late.map((one: Record<string, string>) => [one.verdict_id, one.user_decision]),
    [[verdict_id, 'approved']],
  );
});

test('With `judge.cancel_on_approval`, a decision must end the judging', async () => {
  const setting = '/v1/api/admin/settings/judge.cancel_on_approval';
  assert.equal((await operator(`PUT ${setting}`, { value: true })).status, 200);
  const held = stall();
  judges.cancelled = () => [held, say(JSON.stringify(VERDICT))];
  await using talk = await openConversation(daemon);
  const { asked, question } = await questionAbout(talk, 'touch cancelled');
  await held.reached;
  await talk.decide(question.approval_id, { approved: false });
  await talk.ended(asked);
  held.release();
  await operator(`DELETE ${setting}`);
  assert.equal((await listOf(`ws_id=${talk.wsId}`)).total, 1);
});

test('The model that judges must read files of the project only with tools that read, and no secrets', async () => {
  const results: unknown[] = [];
  judges['check.sh'] = (messages) => {
    results.splice(0, results.length, ...messages.filter(({ role }) => role === 'tool').map(({ content }) => content));
    if (results.length > 0) return say(JSON.stringify(VERDICT));
    const read = (path: string, n: number) => ({ name: 'read_file', arguments: { path }, id: `read_${n}` });
    return callTools(...['check.sh', '.env', '/etc/passwd'].map(read), { name: 'bash', arguments: { command: 'id' } });
  };
  const folder = path.join(daemon.home, 'workspace');
  await writeFile(path.join(folder, 'check.sh'), 'echo checked');
  await writeFile(path.join(folder, '.env'), 'A=hunter2');
  await using talk = await openConversation(daemon);
  const { asked, question } = await questionAbout(talk, 'sh check.sh');
  await talk.until('intent_verdict');
  const refused = 'The judge may not read this.';
  assert.match(String(results[0]), /echo checked/);
  assert.deepEqual(results.slice(1), [refused, refused, 'Unknown tool.']);
  await talk.decide(question.approval_id, { approved: false });
  await talk.ended(asked);
});

test('A daemon that is killed while a model judges must have the question judged again, once', async () => {
  const held = stall();
  let times = 0;
  judges.killed = () => {
    times += 1;
    return times === 1 ? [held, say(JSON.stringify(VERDICT))] : say(JSON.stringify(VERDICT));
  };
  await using talk = await openConversation(daemon);
  const { question } = await questionAbout(talk, 'touch killed');
  await held.reached;
  await daemon.kill9();
  held.release();
  await daemon.restart();
  await talk.reconnect();
  await talk.until('intent_verdict');
  await daemon.kill9();
  await daemon.restart();
  await talk.reconnect();
  await talk.decide(question.approval_id, { approved: false });
  await talk.until('tool_result');
  const llm = (await listOf(`ws_id=${talk.wsId}`)).verdicts.filter(({ tier }: { tier: string }) => tier === 'llm');
  assert.deepEqual([llm.length, times], [1, 2]);
});
