import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, test } from 'node:test';
import type { ApprovalItem } from '../../protocol/events/approval-item.ts';
import type { RuleChoice } from '../../protocol/events/rules.ts';
import { needs } from '../../src/testing/needs.ts';
import { callersOf } from '../support/clients/callers.ts';
import { type Conversation, openConversation } from '../support/clients/conversation.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();
const { operator, newUser } = callersOf(daemon);
const sandboxed = await needs('bubblewrap');
const fetching = await needs('bubblewrap', 'curl');
const RULES = '/v1/api/rules';

// The model runs the commands in a message, which are between backticks, those that begin with OFF outside the sandbox.
model.onRequest(({ messages }) => {
  if (messages.at(-1)?.role === 'tool') return say('done');
  const asked = String(messages.findLast(({ role }) => role === 'user')?.content ?? '');
  const commands = [...asked.matchAll(/`([^`]+)`/g)].map(([, command = '']) => command);
  const calls = commands.map((command, n) => ({ name: 'bash', arguments: argumentsOf(command), id: `call_${n}` }));
  return calls.length === 0 ? say('hello') : callTools(...calls);
});

const argumentsOf = (command: string) =>
  command.startsWith('OFF ')
    ? { command: command.slice(4), sandbox: 'off', reason: 'it needs a local socket' }
    : { command };

afterEach(async () => {
  for (const { rule_id } of (await operator(`GET ${RULES}`)).body.rules) await operator(`DELETE ${RULES}/${rule_id}`);
});

let files = 0;
const newFile = () => `f${++files}`;
const exists = (file: string) => existsSync(path.join(daemon.home, 'workspace', file));
const itemsOf = ({ seen }: Conversation): ApprovalItem[] =>
  seen.flatMap(({ event }) => (event.type === 'tool_info' || event.type === 'approve_request' ? event.items : []));
const questions = ({ seen }: Conversation) => seen.filter(({ event }) => event.type === 'approve_request').length;
const outcomes = ({ seen }: Conversation) =>
  seen.flatMap(({ event }) =>
    event.type === 'tool_result' ? [`${event.call_id} ${event.outcome}: ${event.output}`] : [],
  );

/** Asks for calls, and waits for the end of the run. */
async function run(talk: Conversation, message: string): Promise<void> {
  await talk.ended(await talk.ask(message));
}

/** Asks for calls, and answers the question about them. */
async function runWith(
  talk: Conversation,
  message: string,
  decision: {
    approved: boolean;
    rules?: RuleChoice[];
    decisions?: Record<string, { approved: boolean; feedback?: string }>;
  },
): Promise<void> {
  const before = questions(talk);
  const asked = await talk.ask(message);
  await talk.until('approve_request', () => questions(talk) > before);
  const [pending] = await talk.pending();
  assert.ok(pending);
  await talk.client.call('approval.resolve', { approvalId: pending.approvalId, ...decision });
  await talk.ended(asked);
}

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

test(
  'A call that changes a protected path must ask in every mode but `full` unless a rule names that path or the exact command',
  sandboxed,
  async () => {
    await using talk = await openConversation(daemon, { mode: 'edits' });
    const place = path.join(daemon.home, 'workspace/.envrc');
    await runWith(talk, '`echo one > .envrc`', { approved: false });
    const ruling = { verdict: 'ask', reason: 'protected', protected_paths: [place] };
    assert.deepEqual(itemsOf(talk).at(-1)?.ruling, ruling);
    // Approved, but it is not known that it changes this file, so it cannot.
    await runWith(talk, '`f=.envrc; echo two > $f`', { approved: true });
    await run(talk, '`ln -sf .envrc link`');
    assert.equal(existsSync(place), false, outcomes(talk).join());
    await runWith(talk, '`echo three > .envrc`', { approved: true, rules: [{ id: 'path', term: 'conversation' }] });
    assert.equal(readFileSync(place, 'utf8'), 'three\n');
    const before = questions(talk);
    await run(talk, '`echo four > .envrc` `echo five > link`');
    assert.deepEqual(
      [questions(talk), itemsOf(talk).at(-1)?.ruling?.protected_paths],
      [before, [place]],
      'named by the rule',
    );
    assert.match(readFileSync(place, 'utf8'), /four|five/);
    await using other = await openConversation(daemon, { mode: 'edits' });
    await runWith(other, '`echo six > link`', { approved: false });
    assert.deepEqual(itemsOf(other).at(-1)?.ruling, ruling, 'the link leads to it');
  },
);

test(
  'Hosts that a command could not reach must be asked about with the next call of the same command, which reaches them if it is allowed',
  fetching,
  async () => {
    await using talk = await openConversation(daemon);
    const command = 'x=first-use.invalid; curl -s -m 5 http://$x/';
    await runWith(talk, `\`${command}\``, { approved: true });
    const refused = [{ host: 'first-use.invalid', port: 80, reason: 'not_allowed' }];
    const results = () => talk.seen.flatMap(({ event }) => (event.type === 'tool_result' ? [event.refused_hosts] : []));
    assert.deepEqual([itemsOf(talk).at(-1)?.ruling?.hosts, results()], [undefined, [refused]]);
    await daemon.restart();
    await talk.reconnect();
    await runWith(talk, `\`${command}\``, { approved: true, rules: [{ id: 'host', term: 'conversation' }] });
    const asked = itemsOf(talk).at(-1);
    assert.deepEqual([asked?.ruling?.reason, asked?.ruling?.hosts], ['hosts', ['first-use.invalid']]);
    assert.deepEqual(results(), [refused, undefined], 'it is allowed now, although no such host exists');
    const known = await talk.client.call('rule.list', { wsId: talk.wsId });
    assert.deepEqual(known.rules[0]?.match, { host: 'first-use.invalid' });
  },
);

test(
  'A command that the agent wants to run outside the sandbox must always ask but in the mode `full`, whatever allows it',
  sandboxed,
  async () => {
    await using talk = await openConversation(daemon, { mode: 'edits' });
    const outside = `/var/tmp/headgate-outside-${process.pid}`;
    const command = `OFF echo $$ > ${outside}`;
    await operator(`POST ${RULES}`, { action: 'allow', match: { tool: 'bash' }, ws_id: talk.wsId });
    await runWith(talk, `\`ls\` \`${command}\``, { approved: true, decisions: { call_1: { approved: false } } });
    const item = itemsOf(talk).findLast(({ call_id }) => call_id === 'call_1');
    assert.deepEqual(
      [item?.ruling?.reason, item?.sandbox_off, item?.rules],
      ['not_sandboxed', 'it needs a local socket', []],
    );
    assert.equal(existsSync(outside), false);
    await runWith(talk, `\`${command}\``, { approved: true });
    assert.ok(existsSync(outside));
    rmSync(outside);
    const results = talk.seen.flatMap(({ event }) => (event.type === 'tool_result' ? [event] : []));
    assert.match(results.at(-1)?.not_sandboxed ?? '', /it needs a local socket/);
    const { body } = await operator('GET /v1/api/admin/audit?action=command.outside&limit=5');
    assert.deepEqual(
      body.events.map(({ resource_id }: { resource_id: string }) => resource_id),
      [talk.wsId],
    );
    await operator(`POST ${RULES}`, { action: 'deny', match: { program: 'echo' } });
    await run(talk, `\`${command}\``);
    assert.match(outcomes(talk).at(-1) ?? '', /blocked/);
  },
);

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
