import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ParamsInput } from '../../../protocol/index.ts';
import { DAEMON } from '../sharing/perception.ts';
import { beforeNextCommit } from '../testing/before-next-commit.ts';
import { calling } from '../testing/puppet-model.ts';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

/** Sends a message, and returns the request that the model received. */
async function ask(gateway: WholeGateway, message: string, wsId?: string) {
  const to = wsId === undefined ? gateway.mainWorkstream() : gateway.parts.workstreams.find(wsId, DAEMON);
  await (await gateway.accept(message, to && { to }))?.ended;
  return gateway.puppet.requests.at(-1) ?? assert.fail('no request');
}

/** The part of the system prompt that comes from templates. */
async function openingOf(gateway: WholeGateway, message: string, wsId?: string): Promise<string> {
  const { system } = await ask(gateway, message, wsId);
  return /- Model: \w+\.\n?\n?([\s\S]*)$/.exec(system)?.[1] ?? assert.fail(system);
}

const add = (gateway: WholeGateway, name: string, fields: { content: string; isDefault?: boolean }) =>
  gateway.call('template.create', { name, ...fields });

async function makeWith(gateway: WholeGateway, params: ParamsInput<'workstream.create'>): Promise<string> {
  return (await gateway.call('workstream.create', params)).wsId;
}

test('a new conversation begins with the default templates in the order of their names, before the instructions', async () => {
  const files = [{ path: '/work/AGENTS.md', text: 'Read me.', digest: '1' }];
  const sight = { date: '2026-11-23', zone: 'UTC', instructions: { files, untrusted: [] } };
  await using gateway = await wholeGateway({ surroundings: { look: async () => sight } });
  await add(gateway, 'b', { content: 'Second: {{model}} {{node_id}} {{mood}}.', isDefault: true });
  await add(gateway, 'a', { content: 'First: {{ws_id}}.', isDefault: true });
  await add(gateway, 'c', { content: 'Never.' });
  const opening = await openingOf(gateway, 'one');
  assert.equal(
    opening.slice(0, opening.indexOf('\n\nInstructions of')),
    `First: ${await gateway.main()}.\n\nSecond: puppet node {{mood}}.`,
  );
});

test('a running conversation keeps its system prompt after edits and deletions, a restart, a compaction and another model', async () => {
  await using gateway = await wholeGateway();
  const { templateId } = await add(gateway, 'a', { content: 'One.', isDefault: true });
  const first = await ask(gateway, 'one');
  await gateway.call('template.update', { templateId, content: 'Two.' });
  const second = await ask(gateway, 'two');
  await gateway.restart();
  const third = await ask(gateway, 'three');
  assert.deepEqual([second.system, third.system], [first.system, first.system]);
  assert.deepEqual([second.tools, second.conversation], [first.tools, first.conversation]);
  await gateway.call('template.delete', { templateId });
  await gateway.store.commit({ statements: [{ sql: 'delete from prefixes', parameters: [] }] }); // as after a compaction
  await gateway.restart();
  assert.equal(await openingOf(gateway, 'four'), 'One.');
  await gateway.call('workstream.command', { wsId: await gateway.main(), command: '/new' });
  assert.equal(await openingOf(gateway, 'five'), '');
});

test('a conversation that began without templates gets none later', async () => {
  await using gateway = await wholeGateway();
  const first = await ask(gateway, 'one');
  await add(gateway, 'a', { content: 'One.', isDefault: true });
  assert.equal((await ask(gateway, 'two')).system, first.system);
});

test('a named template replaces the default ones, with its text at that time', async () => {
  await using gateway = await wholeGateway();
  await add(gateway, 'usual', { content: 'Usual.', isDefault: true });
  const { templateId } = await add(gateway, 'brief', { content: 'Be brief.' });
  const wsId = await makeWith(gateway, { template: 'brief' });
  await gateway.call('template.delete', { templateId });
  assert.equal(await openingOf(gateway, 'one', wsId), 'Be brief.');
  assert.deepEqual(await gateway.refusal('workstream.create', { template: 'brief' }), {
    code: 'INVALID_REQUEST',
    message: 'Template not found: brief',
  });
});

test('a workstream template sets prompt, model, effort, auto-approve, budget and sampling of a new workstream once', async () => {
  await using gateway = await wholeGateway();
  await add(gateway, 'brief', { content: 'Be brief.' });
  const settings = { model: 'other', reasoningEffort: 'high', autoApprove: true, temperature: 0.2 } as const;
  const made = await gateway.call('wstemplate.create', {
    ...{ name: 'desk', systemPrompt: 'At the desk.', promptTemplate: 'brief', ...settings, maxTokens: 500 },
    tokenBudget: 1_000_000,
  });
  const wsId = await makeWith(gateway, { wsTemplate: 'desk', template: 'brief', model: 'puppet' });
  await gateway.call('wstemplate.update', {
    wsTemplateId: made.wsTemplateId,
    systemPrompt: 'Changed.',
    temperature: 1,
  });
  const { effort, temperature, maxOutputTokens, system } = await ask(gateway, 'one', wsId);
  const { workstream } = (await gateway.call('workstream.get', { wsId })).snapshot;
  const { budgets } = await gateway.call('budget.list', { wsId });
  assert.deepEqual(
    [effort, temperature, maxOutputTokens, system.endsWith('\n\nAt the desk.')],
    ['high', 0.2, 500, true],
  );
  assert.deepEqual([workstream.modelAlias, workstream.skipPermissions], ['other', true]);
  assert.deepEqual(
    budgets.map(({ of, limit }) => [of, limit]),
    [['workstream', 1_000_000]],
  );
});

test('the budget and the sampling of a template hold after a restart', async () => {
  await using gateway = await wholeGateway();
  await gateway.call('wstemplate.create', { name: 'desk', tokenBudget: 50_000, temperature: 0.2 });
  const wsId = await makeWith(gateway, { wsTemplate: 'desk' });
  await gateway.restart();
  assert.equal((await ask(gateway, 'one', wsId)).temperature, 0.2);
  const { budgets } = await gateway.call('budget.list', { wsId });
  assert.deepEqual(
    budgets.map(({ limit }) => limit),
    [50_000],
  );
});

test('a workstream template that approves needs the approve scope; one that is disabled cannot be used', async () => {
  await using gateway = await wholeGateway();
  const { wsTemplateId } = await gateway.call('wstemplate.create', { name: 'desk', autoApprove: true });
  assert.deepEqual(await gateway.refusal('workstream.create', { wsTemplate: 'desk' }, { scope: 'write' }), {
    code: 'FORBIDDEN',
    message: "auto-approve needs the approve scope and the permission 'approve' or 'tools.approve'",
  });
  await gateway.call('wstemplate.update', { wsTemplateId, enabled: false });
  const refused = await gateway.refusal('workstream.create', { wsTemplate: 'desk' });
  assert.equal(refused.message, 'Workstream template not found or disabled: desk');
});

test('the tools of a workstream template run without asking in its new workstreams; that needs the approve scope', async () => {
  await using gateway = await wholeGateway();
  const { wsTemplateId } = await gateway.call('wstemplate.create', { name: 'desk', autoApproveTools: ' touch, look,' });
  assert.deepEqual(await gateway.refusal('workstream.create', { wsTemplate: 'desk' }, { scope: 'write' }), {
    code: 'FORBIDDEN',
    message: "auto-approve needs the approve scope and the permission 'approve' or 'tools.approve'",
  });
  const [first, second] = [
    await makeWith(gateway, { wsTemplate: 'desk' }),
    await makeWith(gateway, { wsTemplate: 'desk', autoApproveTools: ['bash', 'touch'] }),
  ];
  await gateway.call('wstemplate.update', { wsTemplateId, autoApproveTools: '' });
  const third = await makeWith(gateway, { wsTemplate: 'desk' });
  const toolsOf = async (wsId: string) => (await gateway.call('workstream.get', { wsId })).snapshot.autoApproveTools;
  assert.deepEqual(
    [await toolsOf(first), await toolsOf(second), await toolsOf(third)],
    [['touch', 'look'], ['bash', 'touch', 'look'], undefined],
  );
  gateway.puppet.turn(calling('touch', { text: 'a' }));
  await gateway.call('workstream.send', { wsId: first, message: 'touch it' });
  await gateway.isIdle(first);
  const { messages } = (await gateway.call('workstream.get', { wsId: first })).snapshot;
  assert.equal(messages.at(-1)?.content, 'ok', 'it ran without asking');
  const { versions } = await gateway.call('wstemplate.versions', { wsTemplateId });
  assert.equal(versions[0]?.snapshot.autoApproveTools, ' touch, look,');
});

test('a skill names a workstream template or a prompt template; a template next to resumeWs is ignored', async () => {
  await using gateway = await wholeGateway();
  await add(gateway, 'brief', { content: 'Be brief.' });
  await gateway.call('wstemplate.create', { name: 'desk', promptTemplate: 'brief', model: 'other' });
  const [brief, desk] = [await makeWith(gateway, { skill: 'brief' }), await makeWith(gateway, { skill: 'desk' })];
  assert.deepEqual(
    [await openingOf(gateway, 'one', brief), await openingOf(gateway, 'one', desk)],
    ['Be brief.', 'Be brief.'],
  );
  const { message } = await gateway.refusal('workstream.create', { skill: 'sums' });
  assert.equal(message, 'Skill not found or disabled: sums');
  const resumed = await gateway.call('workstream.create', { resumeWs: brief, template: 'nobody' });
  assert.equal(resumed.resumed, true);
});

test('each edit of a workstream template keeps the state before it', async () => {
  await using gateway = await wholeGateway();
  const first = await gateway.call('wstemplate.create', { name: 'desk', temperature: 0.2 });
  const { wsTemplateId } = first;
  const second = await gateway.call('wstemplate.update', { wsTemplateId, temperature: null, description: 'Quiet.' });
  const third = await gateway.call('wstemplate.update', { wsTemplateId, name: 'table' });
  assert.deepEqual([second.temperature, third.name, third.version], [null, 'table', 3]);
  const { versions } = await gateway.call('wstemplate.versions', { wsTemplateId });
  assert.deepEqual(
    versions.map(({ version, snapshot, changedBy }) => ({ version, snapshot, changedBy })),
    [
      { version: 2, snapshot: second, changedBy: 'ada' },
      { version: 1, snapshot: first, changedBy: 'ada' },
    ],
  );
  await gateway.call('wstemplate.delete', { wsTemplateId });
  assert.deepEqual(await gateway.store.db.selectFrom('ws_template_versions').selectAll().execute(), []);
});

test('invalid templates are refused', async () => {
  await using gateway = await wholeGateway();
  await add(gateway, 'brief', { content: 'Be brief.' });
  await gateway.call('wstemplate.create', { name: 'desk' });
  const { templateId } = await add(gateway, 'long', { content: 'Be long.' });
  const refusals: [Parameters<typeof gateway.refusal>[0], object, string][] = [
    ['template.create', { name: ' ', content: 'x' }, 'name is required'],
    ['template.create', { name: 'x' }, 'content is required'],
    ['template.create', { name: 'x', content: 'x', variables: '{}' }, 'variables must be a valid JSON array'],
    ['template.create', { name: 'brief', content: 'x' }, 'Name already exists'],
    ['template.update', { templateId, name: 'brief' }, 'Name already exists'],
    ['template.update', { templateId }, 'No fields to update'],
    ['template.update', { templateId: 'tpl_0', content: 'x' }, 'Template not found'],
    ['template.delete', { templateId: 'tpl_0' }, 'Template not found'],
    ['wstemplate.create', {}, 'name is required'],
    ['wstemplate.create', { name: 'desk' }, 'Name already exists'],
    ['wstemplate.create', { name: 'x', promptTemplate: 'none' }, 'Prompt template not found: none'],
    ['wstemplate.create', { name: 'x', notifyOnComplete: '{' }, 'notifyOnComplete must be valid JSON'],
    ['wstemplate.get', { wsTemplateId: 'wst_0' }, 'Not found'],
  ];
  for (const [method, params, message] of refusals)
    assert.equal((await gateway.refusal(method, params)).message, message, `${method} ${JSON.stringify(params)}`);
});

test('a template of a tool server cannot be changed', async () => {
  await using gateway = await wholeGateway();
  const { templateId } = await add(gateway, 'brief', { content: 'Be brief.' });
  await gateway.store.commit({ statements: [{ sql: "update prompt_templates set origin = 'mcp'", parameters: [] }] });
  for (const method of ['template.update', 'template.delete'] as const) {
    const params = { templateId, ...(method === 'template.update' && { content: 'x' }) };
    assert.deepEqual(await gateway.refusal(method, params), {
      code: 'FORBIDDEN',
      message: 'MCP-sourced templates are read-only',
    });
  }
});

test('administering templates needs a permission; reading their names does not', async () => {
  await using gateway = await wholeGateway();
  await add(gateway, 'brief', { content: 'Be brief.' });
  const { templates } = await gateway.call('template.list', {}, { scope: 'read' });
  assert.deepEqual(templates, [{ name: 'brief', category: 'general', isDefault: false, origin: 'manual' }]);
  const { code } = await gateway.refusal('template.details', {}, { scope: 'write' });
  assert.equal(code, 'FORBIDDEN');
});

test('a fork, and a conversation that /new has saved, keep the templates; a deleted workstream leaves none', async () => {
  await using gateway = await wholeGateway();
  const { templateId } = await add(gateway, 'a', { content: 'One.', isDefault: true });
  const main = await gateway.main();
  await ask(gateway, 'one');
  await gateway.call('template.update', { templateId, content: 'Two.' });
  const fork = await gateway.call('workstream.fork', { wsId: main });
  await gateway.call('workstream.command', { wsId: main, command: '/new' });
  const saved = (await gateway.call('workstream.saved', {})).workstreams.find(({ loaded }) => !loaded);
  const { wsId = '' } = saved ?? {};
  await gateway.call('workstream.create', { resumeWs: wsId });
  assert.deepEqual(
    [
      await openingOf(gateway, 'two', fork.wsId),
      await openingOf(gateway, 'two', wsId),
      await openingOf(gateway, 'two'),
    ],
    ['One.', 'One.', 'Two.'],
  );
  await gateway.call('sessions.delete', { key: wsId });
  const rows = await gateway.store.db.selectFrom('opening_prompts').select('ws_id').execute();
  assert.deepEqual(rows.map(({ ws_id }) => ws_id).sort(), [fork.wsId, main].sort());
});

test('a change of a workstream template that meets another one can be repeated', async () => {
  await using gateway = await wholeGateway();
  const { wsTemplateId } = await gateway.call('wstemplate.create', { name: 'desk' });
  const change = (systemPrompt: string) => gateway.call('wstemplate.update', { wsTemplateId, systemPrompt });
  beforeNextCommit(gateway.store, () => change('One.'));
  await assert.rejects(change('Two.'), { code: 'CONFLICT', retryable: true });
  const repeated = await change('Two.');
  assert.deepEqual([repeated.version, repeated.systemPrompt], [3, 'Two.']);
});
