import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, test } from 'node:test';
import { callersOf } from '../support/clients/callers.ts';
import { type Conversation, openConversation } from '../support/clients/conversation.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();
const { operator, newUser } = callersOf(daemon);
const POLICIES = '/v1/api/admin/policies';

// The model calls the tools that a message names: `write f1`, `read .`.
model.onRequest(({ messages }) => {
  if (messages.at(-1)?.role === 'tool') return say('done');
  const asked = JSON.stringify(messages.findLast(({ role }) => role === 'user')?.content ?? '');
  const calls = [...asked.matchAll(/(write|read) ([\w.]+)/g)].map(([, verb, file = ''], n) =>
    verb === 'write'
      ? { name: 'write_file', arguments: { path: file, content: file }, id: `call_${n}` }
      : { name: 'list_directory', arguments: { path: file }, id: `call_${n}` },
  );
  return calls.length === 0 ? say('hello') : callTools(...calls);
});

const made: string[] = [];
async function addPolicy(fields: object) {
  const { status, body } = await operator(`POST ${POLICIES}`, { name: 'rule', ...fields });
  assert.equal(status, 200, JSON.stringify(body));
  made.push(body.policy_id);
  return body;
}
afterEach(async () => {
  for (const id of made.splice(0)) await operator(`DELETE ${POLICIES}/${id}`);
});

let files = 0;
const newFile = () => `f${++files}`;
const exists = (file: string) => existsSync(path.join(daemon.home, 'workspace', file));
const blocked = (tool: string) => `Blocked by tool policy (pattern match for '${tool}')`;

/** Asks for calls, and waits for the end of the run. */
async function run(talk: Conversation, message: string): Promise<void> {
  await talk.ended(await talk.ask(message));
}
const itemsOf = ({ seen }: Conversation) =>
  seen.flatMap(({ event }) => (event.type === 'tool_info' || event.type === 'approve_request' ? event.items : []));
const resultsOf = ({ seen }: Conversation) =>
  seen.flatMap(({ event }) => (event.type === 'tool_result' ? [`${event.outcome}: ${event.output}`] : []));
const asks = ({ seen }: Conversation) => seen.some(({ event }) => event.type === 'approve_request');

test('A tool policy must be created, listed, changed and deleted with the fields of its record', async () => {
  const record = await addPolicy({ name: ' no pushes ', tool_pattern: 'node*', action: 'deny', priority: 5 });
  const { policy_id, created_by, created, updated, ...rest } = record;
  assert.match(policy_id, /^pol/);
  assert.deepEqual([typeof created_by, new Date(created).toISOString(), updated], ['string', created, created]);
  assert.deepEqual(rest, {
    ...{ name: 'no pushes', tool_pattern: 'node*', action: 'deny', priority: 5, org_id: 'default', enabled: true },
  });
  const first = await addPolicy({ tool_pattern: '*', action: 'allow', priority: 9, enabled: false });
  assert.deepEqual((await operator(`GET ${POLICIES}`)).body, { policies: [first, record] });
  const changed = (await operator(`PUT ${POLICIES}/${policy_id}`, { ...record, action: 'ask', enabled: false })).body;
  assert.deepEqual({ ...changed, updated }, { ...record, action: 'ask', enabled: false });
  assert.deepEqual(await operator(`DELETE ${POLICIES}/${policy_id}`), { status: 200, body: { status: 'ok' } });
  assert.deepEqual((await operator(`GET ${POLICIES}`)).body, { policies: [first] });
});

test('A missing or wrong field of a tool policy must answer 400 with its name, and nothing must change', async () => {
  const whole = { name: 'rule', tool_pattern: 'bash', action: 'deny' };
  const refusals: [object, RegExp][] = [
    [{ name: ' ' }, /^name is required$/],
    [{ name: undefined }, /^name is required$/],
    [{ name: 'x'.repeat(257) }, /^name: /],
    [{ tool_pattern: undefined }, /^tool_pattern is required$/],
    [{ tool_pattern: '[ab]*' }, /^tool_pattern may contain \* and \?/],
    [{ tool_pattern: 'x'.repeat(257) }, /^tool_?[pP]attern: /],
    [{ action: undefined }, /^action must be one of: allow, deny, ask$/],
    [{ action: 'maybe' }, /^action must be one of: allow, deny, ask$/],
    [{ priority: 0.5 }, /^priority: /],
  ];
  for (const [change, error] of refusals) {
    const { status, body } = await operator(`POST ${POLICIES}`, { ...whole, ...change });
    assert.equal(status, 400, JSON.stringify(change));
    assert.match(body.error, error);
  }
  assert.deepEqual((await operator(`GET ${POLICIES}`)).body, { policies: [] });
});

test('Tool policies must answer 403 without the permission `admin.policies`, and 404 `Policy not found` for an unknown id', async () => {
  const ada = await newUser('ada', ['builtin-operator']);
  assert.equal((await ada.call(`GET ${POLICIES}`)).status, 403);
  assert.equal((await ada.call(`POST ${POLICIES}`, { name: 'x', tool_pattern: '*', action: 'allow' })).status, 403);
  const missing = { status: 404, body: { error: 'Policy not found' } };
  assert.deepEqual(await operator(`PUT ${POLICIES}/pol_0`, { enabled: false }), missing);
  assert.deepEqual(await operator(`DELETE ${POLICIES}/pol_0`), missing);
});

test('A call that a tool policy denies must not run, not even with auto-approve, and nobody must be asked', async () => {
  const policy = await addPolicy({ tool_pattern: 'write_file', action: 'deny' });
  for (const options of [{}, { autoApprove: true }, { autoApproveTools: ['write_file'] }]) {
    await using talk = await openConversation(daemon, options);
    await using other = await daemon.sse(talk.wsId);
    const file = newFile();
    await run(talk, `write ${file}`);
    assert.deepEqual([asks(talk), exists(file)], [false, false]);
    const [item] = itemsOf(talk);
    const { policy_id, name, action } = policy;
    assert.deepEqual([item?.error, item?.policy], [blocked('write_file'), { policy_id, name, action }]);
    assert.deepEqual(resultsOf(talk), [`blocked: ${blocked('write_file')}`]);
    const seen = await other.until(({ data }) => data.type === 'tool_result');
    assert.deepEqual([seen.data.outcome, seen.data.output], ['blocked', blocked('write_file')]);
    const { messages } = await talk.client.call('workstream.history', { wsId: talk.wsId });
    const stored = messages.find(({ role }) => role === 'tool');
    assert.deepEqual([stored?.content, stored?.outcome, stored?.denied], [blocked('write_file'), 'blocked', true]);
  }
});

test('A call that a tool policy allows must run without a question, and its item must say so', async () => {
  await addPolicy({ tool_pattern: 'writ?_*', action: 'allow' });
  await using talk = await openConversation(daemon);
  const file = newFile();
  await run(talk, `write ${file}`);
  assert.deepEqual([asks(talk), exists(file)], [false, true], JSON.stringify(itemsOf(talk)));
  const [item] = itemsOf(talk);
  assert.deepEqual([item?.auto_approved, item?.auto_approve_reason], [true, 'policy']);
});

test('A call that a tool policy asks about must wait for a person, except with auto-approve for all tools', async () => {
  await addPolicy({ tool_pattern: '*', action: 'ask' });
  await using talk = await openConversation(daemon);
  const question = await talk.ask('read .');
  const { approval_id, items } = await talk.until('approve_request');
  assert.deepEqual([items[0]?.func_name, items[0]?.needs_approval], ['list_directory', true]);
  await talk.decide(approval_id, { approved: true });
  await talk.ended(question);
  await using free = await openConversation(daemon, { autoApprove: true });
  await run(free, 'read .');
  assert.equal(asks(free), false);
});

test('The first enabled policy by descending priority must decide; of equal priorities deny, then ask, then allow', async () => {
  await addPolicy({ tool_pattern: 'write_file', action: 'allow', priority: 2, enabled: false });
  await addPolicy({ tool_pattern: 'write_file', action: 'allow', priority: 1 });
  await addPolicy({ tool_pattern: '*', action: 'deny' });
  await using talk = await openConversation(daemon);
  const [first, second] = [newFile(), newFile()];
  await run(talk, `write ${first}`);
  await addPolicy({ tool_pattern: '*_file', action: 'deny', priority: 1 });
  await run(talk, `write ${second}`);
  assert.deepEqual([exists(first), exists(second), asks(talk)], [true, false, false]);
});

test('A policy that denies must stop a call that is approved after it, also when the daemon was killed in between', async () => {
  await using talk = await openConversation(daemon);
  const [first, second] = [newFile(), newFile()];
  const question = await talk.ask(`write ${first}`);
  const { approval_id } = await talk.until('approve_request');
  await addPolicy({ tool_pattern: 'write_file', action: 'deny' });
  await talk.decide(approval_id, { approved: true });
  await talk.ended(question);
  assert.deepEqual([exists(first), resultsOf(talk)], [false, [`blocked: ${blocked('write_file')}`]]);

  await operator(`PUT ${POLICIES}/${made[0]}`, { enabled: false });
  await using open = await openConversation(daemon);
  const waiting = await open.ask(`write ${second}`);
  waiting.answer.catch(() => undefined); // its connection is lost
  const { approval_id: openId } = await open.until('approve_request');
  await operator(`PUT ${POLICIES}/${made[0]}`, { enabled: true });
  await daemon.kill9();
  await daemon.restart();
  await open.reconnect();
  await talk.reconnect();
  await open.decide(openId, { approved: true });
  await open.ended(waiting);
  assert.deepEqual([exists(second), resultsOf(open)], [false, [`blocked: ${blocked('write_file')}`]]);
});

test('A simulation must compare what the policies would decide about the latest calls with what was decided', async () => {
  await using talk = await openConversation(daemon, { autoApproveTools: ['write_file'] });
  await run(talk, `write ${newFile()} and read .`);
  const simulate = async (policies: object[]) => {
    const { status, body } = await operator(`POST ${POLICIES}/simulate`, { policies, limit: 2 });
    assert.equal(status, 200, JSON.stringify(body));
    const calls = body.calls.map((call: Record<string, unknown>) => [
      call.func_name,
      call.was,
      call.would,
      call.policy,
    ]);
    return { changed: body.changed, calls: calls.sort() };
  };
  assert.deepEqual(await simulate([{ tool_pattern: 'list_directory', action: 'deny' }]), {
    changed: 1,
    calls: [
      ['list_directory', 'run', 'deny', 0],
      ['write_file', 'run', 'run', null],
    ],
  });
  assert.deepEqual(await simulate([{ tool_pattern: '*', action: 'ask' }]), {
    changed: 2,
    calls: [
      ['list_directory', 'run', 'ask', 0],
      ['write_file', 'run', 'ask', 0],
    ],
  });
  const { calls } = (await operator(`POST ${POLICIES}/simulate`, { policies: [], limit: 1 })).body;
  assert.deepEqual(
    calls.map(({ subject }: Record<string, unknown>) => typeof subject),
    ['string'],
  );
});

test('Each change of a tool policy must be in the audit trail', async () => {
  const { policy_id } = await addPolicy({ tool_pattern: 'bash', action: 'deny' });
  await operator(`PUT ${POLICIES}/${policy_id}`, { enabled: false });
  await operator(`DELETE ${POLICIES}/${policy_id}`);
  const { events } = (await operator('GET /v1/api/admin/audit?limit=10')).body;
  const ours = events.filter(({ resource_id }: { resource_id: string }) => resource_id === policy_id);
  assert.deepEqual(
    ours.map(({ action }: { action: string }) => action),
    ['policy.delete', 'policy.update', 'policy.create'],
  );
});

test('The 201st tool policy must answer 409 `Maximum of 200 policies reached`', async () => {
  const add = () => operator(`POST ${POLICIES}`, { name: 'x', tool_pattern: 'no_such_tool', action: 'deny' });
  const answers = [];
  for (let n = 0; n < 201; n += 1) answers.push(await add());
  made.push(...answers.flatMap(({ body }) => body.policy_id ?? []));
  assert.deepEqual(
    [made.length, answers.at(-1)],
    [200, { status: 409, body: { error: 'Maximum of 200 policies reached' } }],
  );
});
