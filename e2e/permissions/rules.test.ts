import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { callersOf } from '../support/clients/callers.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { openStage } from '../support/daemon/stage.ts';
import { answerCommands, itemsOf, outcomes, questions, run, runWith } from './command-talks.ts';

const { model, daemon } = await openStage();
const { operator, newUser } = callersOf(daemon);
const sandboxed = await needs('bubblewrap');
const RULES = '/v1/api/rules';
answerCommands(model);

afterEach(async () => {
  for (const { rule_id } of (await operator(`GET ${RULES}`)).body.rules) await operator(`DELETE ${RULES}/${rule_id}`);
});

let files = 0;
const newFile = () => `f${++files}`;
const exists = (file: string) => existsSync(path.join(daemon.home, 'workspace', file));
test(
  'A rule that was suggested must be given with a decision, and the next call that it matches must run unasked',
  sandboxed,
  async () => {
    await using talk = await openConversation(daemon);
    const file = newFile();
    await runWith(talk, `\`touch ${file}\``, { approved: true, rules: [{ id: 'command', term: 'conversation' }] });
    await run(talk, `\`touch ${file}\``);
    await run(talk, `\`touch ${file}\` once more`);
    assert.deepEqual([questions(talk), exists(file)], [1, true]);
    const { rules } = await talk.client.call('rule.list', { wsId: talk.wsId });
    const [rule] = rules;
    assert.deepEqual(
      [rules.length, rule?.match, rule?.action, rule?.uses],
      [1, { command: `touch ${file}` }, 'allow', 2],
    );
    const [item] = itemsOf(talk).slice(-1);
    assert.deepEqual(
      [item?.auto_approve_reason, item?.ruling?.reason, item?.ruling?.rule?.rule_id, item?.ruling?.rule?.place],
      ['always', 'rule', rule?.ruleId, 'workstream'],
    );
    await runWith(talk, `\`touch ${file} ${newFile()}\``, { approved: false });
    assert.equal(questions(talk), 2, 'another command asks');
  },
);

test('a rule is given only as it was suggested, and only with an approval', sandboxed, async () => {
  await using talk = await openConversation(daemon);
  const asked = await talk.ask(`\`touch ${newFile()}\``);
  await talk.until('approve_request');
  const [pending] = await talk.pending();
  assert.ok(pending);
  const { approvalId } = pending;
  const resolve = (params: object) => talk.client.call('approval.resolve', { approvalId, approved: true, ...params });
  await assert.rejects(resolve({ rules: [{ id: 'anything', term: 'hour' }] }), /was not suggested/);
  await assert.rejects(
    resolve({ approved: false, rules: [{ id: 'command', term: 'hour' }] }),
    /a call that is approved/,
  );
  await assert.rejects(resolve({ decisions: { call_9: { approved: true } } }), /no call call_9/);
  assert.deepEqual((await talk.pending()).length, 1, 'the question waits');
  await resolve({ approved: false });
  await talk.ended(asked);
});

test('Single calls of a question must be decided by `decisions`, and the others must run', sandboxed, async () => {
  await using talk = await openConversation(daemon);
  const [one, two, three] = [newFile(), newFile(), newFile()];
  await runWith(talk, `\`touch ${one}\` \`touch ${two}\` \`touch ${three}\``, {
    approved: true,
    decisions: { call_1: { approved: false, feedback: 'not two' } },
  });
  assert.deepEqual([exists(one), exists(two), exists(three)], [true, false, true]);
  assert.deepEqual(outcomes(talk).toSorted()[1], 'call_1 denied: Denied by user: not two');
  const resolved = talk.seen.find(({ event }) => event.type === 'approval_resolved')?.event;
  assert.deepEqual(resolved?.type === 'approval_resolved' && resolved.denied_call_ids, ['call_1']);
});

test(
  'A rule that denies a program must block it wherever it stands in a command, also in the mode `full`',
  sandboxed,
  async () => {
    const created = await operator(`POST ${RULES}`, { action: 'deny', match: { program: 'touch' } });
    assert.equal(created.status, 200, JSON.stringify(created.body));
    await using talk = await openConversation(daemon, { mode: 'full' });
    const file = newFile();
    for (const command of [
      `touch ${file}`,
      `sh -c 'touch ${file}'`,
      `echo ${file} | xargs touch`,
      `/usr/bin/touch ${file}`,
    ])
      await run(talk, `\`${command}\``);
    assert.deepEqual(
      outcomes(talk).map((text) => text.replace(/^\S+ /, '')),
      Array(4).fill('blocked: Blocked by permission rule (bash)'),
    );
    assert.equal(exists(file), false);
    await runWith(talk, `\`$(echo touch) ${file}\``, { approved: false });
    assert.equal(itemsOf(talk).at(-1)?.ruling?.reason, 'unclear');
  },
);

test('a simulation of rules says what further rules would do with past calls', sandboxed, async () => {
  await using talk = await openConversation(daemon, { mode: 'full' });
  const file = newFile();
  await run(talk, `\`touch ${file}\``);
  const add = [{ action: 'deny', match: { program: 'touch' }, ws_id: talk.wsId }];
  const { status, body } = await operator(`POST ${RULES}/simulate`, { add, limit: 1 });
  const [{ call_id, created, ...call }] = body.calls;
  assert.deepEqual(
    [status, body.total, body.changed, call],
    [
      ...[200, 1, 1],
      { ws_id: talk.wsId, func_name: 'bash', subject: `touch ${file}`, was: 'run', would: 'deny', rule_id: 'new:0' },
    ],
  );
  assert.deepEqual((await operator(`GET ${RULES}`)).body.rules, []);
});

test('a harmless command runs unasked, and a mode changes what else does', sandboxed, async () => {
  await using talk = await openConversation(daemon);
  const set = (mode: 'ask' | 'read_only' | 'edits') => talk.client.call('workstream.update', { wsId: talk.wsId, mode });
  await run(talk, '`ls -la`');
  assert.deepEqual([questions(talk), itemsOf(talk)[0]?.ruling], [0, { verdict: 'run', reason: 'harmless' }]);
  assert.equal((await set('read_only')).mode, 'read_only');
  await run(talk, `\`ls\` \`touch ${newFile()}\``);
  assert.deepEqual(
    itemsOf(talk)
      .slice(-2)
      .map(({ ruling }) => ruling),
    [
      { verdict: 'run', reason: 'harmless' },
      { verdict: 'block', reason: 'mode' },
    ],
  );
  assert.equal((await set('edits')).mode, 'edits');
  const file = newFile();
  await run(talk, `\`touch ${file}\``);
  assert.deepEqual([questions(talk), exists(file)], [0, true]);
  const changed = talk.seen.flatMap(({ event }) => (event.type === 'settings_changed' ? [event.mode] : []));
  assert.deepEqual(changed, ['read_only', 'edits']);
  await runWith(talk, '`touch /tmp/outside-of-it`', { approved: false });
});

test('A permission rule must be created, listed, changed and deleted with the fields of its record', async () => {
  const match = { program: 'npm', args_start: ['run', 'build'] };
  const { body: record } = await operator(`POST ${RULES}`, {
    action: 'allow',
    match,
    priority: 2,
    expires_in_secs: 60,
  });
  const { rule_id, created_by, created, updated, expires, ...rest } = record;
  assert.match(rule_id, /^rule_/);
  assert.deepEqual(
    [typeof created_by, updated, Date.parse(expires) - Date.parse(created)],
    ['string', created, 60_000],
  );
  assert.deepEqual(rest, {
    ...{ action: 'allow', match, ws_id: null, folder: null, user_id: null, priority: 2 },
    ...{ given: null, last_used: null, uses: 0 },
  });
  assert.deepEqual((await operator(`GET ${RULES}`)).body, { rules: [record] });
  const { body: changed } = await operator(`PUT ${RULES}/${rule_id}`, { action: 'ask' });
  assert.deepEqual({ ...changed, updated }, { ...record, action: 'ask' });
  assert.deepEqual(await operator(`DELETE ${RULES}/${rule_id}`), { status: 200, body: { status: 'ok' } });
  assert.deepEqual(await operator(`DELETE ${RULES}/${rule_id}`), { status: 404, body: { error: 'Rule not found' } });
  assert.deepEqual((await operator(`GET ${RULES}`)).body, { rules: [] });
});

test('A rule without a field to match must answer 400, and an unknown workstream 404', async () => {
  const match = { program: 'ls' };
  const refused = await operator(`POST ${RULES}`, { action: 'deny', match: {} });
  assert.deepEqual([refused.status, refused.body.error], [400, 'A rule needs at least one field in match']);
  const unknown = await operator(`POST ${RULES}`, { action: 'deny', match, ws_id: '0'.repeat(32) });
  assert.deepEqual([unknown.status, unknown.body.error], [404, 'Unknown workstream']);
  assert.deepEqual((await operator(`GET ${RULES}`)).body, { rules: [] });
});

test('rules need a permission that decides about calls, and those for others admin.policies', async () => {
  const match = { program: 'ls' };
  const ada = await newUser('ada', ['builtin-operator']);
  assert.equal((await ada.call(`POST ${RULES}`, { action: 'allow', match })).status, 403);
});
