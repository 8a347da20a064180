import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openConversation } from '../support/clients/conversation.ts';
import { ADMIN, openTemplates } from '../support/clients/templates.ts';
import { openStage } from '../support/daemon/stage.ts';
import { say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();
model.onRequest(() => say('ok'));
const { client, newName, ask, done, requestOf, systemFor, addPrompt, addSettings, create, endsWith, writer } =
  await openTemplates({ daemon, model });

test('`GET /v1/api/templates` must list name, category, `is_default` and origin of every prompt template, by name, without the texts', async () => {
  const second = await addPrompt({ name: 'h340 b', category: 'support' });
  const first = await addPrompt({ name: 'h340 a' });
  const { templates } = await done('GET templates');
  assert.deepEqual(
    templates.filter(({ name }: { name: string }) => name.startsWith('h340')),
    [
      { name: first.name, category: 'general', is_default: false, origin: 'manual' },
      { name: second.name, category: 'support', is_default: false, origin: 'manual' },
    ],
  );
});

test('`GET /v1/api/ws-templates` must list only enabled workstream templates', async () => {
  const shown = await addSettings({ description: 'For letters.', model: 'scripted' });
  const hidden = await addSettings({ enabled: false });
  const { ws_templates } = await done('GET ws-templates');
  const found = ws_templates.filter(({ name }: { name: string }) => [shown.name, hidden.name].includes(name));
  assert.deepEqual(found, [{ name: shown.name, description: 'For letters.', model: 'scripted' }]);
});

test('`GET /v1/api/skills` must list prompt templates and enabled workstream templates', async () => {
  const [text, settings] = [await addPrompt({}), await addSettings({ description: 'For letters.' })];
  const hidden = await addSettings({ enabled: false });
  const { skills } = await done('GET skills');
  const usual = {
    category: 'general',
    tags: [],
    is_default: false,
    activation: 'named',
    origin: 'manual',
    version: '1',
  };
  const author = text.created_by;
  assert.deepEqual(
    skills.filter(({ name }: { name: string }) => [text.name, settings.name, hidden.name].includes(name)),
    [
      { ...usual, name: text.name, description: '', author },
      { ...usual, name: settings.name, description: 'For letters.', author },
    ],
  );
});

test('A new prompt template must be answered with its whole record', async () => {
  const name = newName('prompt');
  const made = await done(`POST ${ADMIN.prompts}`, { name, content: 'Text.', variables: ['mood'] });
  const { template_id, created, updated, created_by, ...rest } = made;
  assert.match(template_id, /^tpl/);
  assert.deepEqual([typeof created_by, new Date(created).toISOString(), updated], ['string', created, created]);
  assert.deepEqual(rest, {
    ...{ name, category: 'general', content: 'Text.', variables: '["mood"]', is_default: false },
    ...{ org_id: 'default', origin: 'manual', mcp_server: '', readonly: false },
  });
  const { templates } = await done(`GET ${ADMIN.prompts}`);
  assert.deepEqual(
    templates.find((one: { template_id: string }) => one.template_id === template_id),
    made,
  );
  assert.equal((await done(`PUT ${ADMIN.prompts}/${template_id}`, { content: 'Other.' })).content, 'Other.');
  assert.deepEqual(await done(`DELETE ${ADMIN.prompts}/${template_id}`), { status: 'ok' });
});

test('An invalid prompt template must answer 400 with `name is required`, `content is required` or `variables must be a valid JSON array`', async () => {
  const refusals: [object, string][] = [
    [{ content: 'x' }, 'name is required'],
    [{ name: 'x' }, 'content is required'],
    [{ name: 'x', content: 'x', variables: '{"a":1}' }, 'variables must be a valid JSON array'],
    [{ name: 'x', content: 'x'.repeat(32_769) }, 'content: must have at most 32768 characters'],
  ];
  for (const [sent, error] of refusals)
    assert.deepEqual(await ask(`POST ${ADMIN.prompts}`, sent), { status: 400, body: { error } });
});

test('A name that another template of the kind has must answer 409 `Name already exists`', async () => {
  const { name } = await addPrompt({});
  const taken = { status: 409, body: { error: 'Name already exists' } };
  assert.deepEqual(await ask(`POST ${ADMIN.prompts}`, { name, content: 'x' }), taken);
  const settings = await addSettings({ name });
  const other = await addSettings({});
  assert.deepEqual(await ask(`PUT ${ADMIN.settings}/${other.ws_template_id}`, { name: settings.name }), taken);
});

test('An unknown prompt template must answer 404 `Template not found`', async () => {
  const missing = { status: 404, body: { error: 'Template not found' } };
  assert.deepEqual(await ask(`PUT ${ADMIN.prompts}/tpl_0`, { content: 'x' }), missing);
  assert.deepEqual(await ask(`DELETE ${ADMIN.prompts}/tpl_0`), missing);
});

test('A credential without the approve scope must not administer templates', async () => {
  const token = await writer();
  for (const route of [ADMIN.prompts, ADMIN.settings]) {
    const answers = [await ask(`GET ${route}`, undefined, token), await ask(`POST ${route}`, { name: 'x' }, token)];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [403, 403],
    );
  }
  assert.equal((await ask('GET templates', undefined, token)).status, 200);
});

test('A new conversation must begin with the default templates in the order of their names, with their variables filled in', async () => {
  const [b, a] = [
    await addPrompt({ name: 'h348 b', content: 'At {{node_id}}, {{mood}}.', is_default: true }),
    await addPrompt({ name: 'h348 a', content: 'In {{ws_id}} with {{model}}.', is_default: true }),
  ];
  const { ws_id } = await create({});
  const { node_id } = (await daemon.get('/health')).body;
  await endsWith(ws_id, `In ${ws_id} with scripted.\n\nAt ${node_id}, {{mood}}.`);
  for (const { template_id } of [a, b]) await done(`DELETE ${ADMIN.prompts}/${template_id}`);
});

test('`template` must replace the default templates', async () => {
  const usual = await addPrompt({ content: 'Usual.', is_default: true });
  const { name } = await addPrompt({ content: 'Be brief.' });
  const { ws_id } = await create({ template: name });
  const system = await systemFor(ws_id);
  assert.deepEqual([system.endsWith('\n\nBe brief.'), system.includes('Usual.')], [true, false]);
  await done(`DELETE ${ADMIN.prompts}/${usual.template_id}`);
});

test('An unknown `template` must answer 400 `Template not found: x`, and must be ignored with `resume_ws`', async () => {
  const refused = await ask('POST workstreams/new', { template: 'sums' });
  assert.deepEqual(refused, { status: 400, body: { error: 'Template not found: sums' } });
  const { ws_id } = await create({});
  assert.equal((await create({ resume_ws: ws_id, template: 'sums' })).resumed, true);
});

test('The requests of a running conversation must stay the same, byte for byte, after an edit or a deletion of its template', async () => {
  const named = await addPrompt({ content: 'Be brief.' });
  const usual = await addPrompt({ content: 'Usual.', is_default: true });
  const talks = [await create({ template: named.name }), await create({})];
  const begun = talks.map(({ ws_id }) => ws_id);
  for (const wsId of begun) await requestOf(wsId);
  const beginningOf = async (wsId: string, message: string) => {
    const { messages, ...before } = await requestOf(wsId, message);
    return JSON.stringify([before, messages.slice(0, 3)]);
  };
  for (const wsId of begun) {
    const first = await beginningOf(wsId, 'one');
    for (const { template_id } of [named, usual])
      await done(`PUT ${ADMIN.prompts}/${template_id}`, { content: `New ${wsId}` });
    assert.equal(await beginningOf(wsId, 'two'), first);
  }
  for (const { template_id } of [named, usual]) await done(`DELETE ${ADMIN.prompts}/${template_id}`);
  for (const wsId of begun) assert.match(await beginningOf(wsId, 'three'), /(Be brief|Usual)\./);
});

test('A new workstream template must be answered with its whole record and version 1', async () => {
  const prompt = await addPrompt({});
  const name = newName('desk');
  const sent = {
    name,
    prompt_template: prompt.name,
    temperature: '0.5',
    max_tokens: 100,
    notify_on_complete: { a: 1 },
  };
  const made = await done(`POST ${ADMIN.settings}`, sent);
  const { ws_template_id, created, updated, created_by, prompt_template_hash, ...rest } = made;
  assert.match(prompt_template_hash, /^[0-9a-f]{64}$/);
  assert.deepEqual(rest, {
    ...{ name, description: '', system_prompt: '', prompt_template: prompt.name, model: '', auto_approve: false },
    ...{ auto_approve_tools: '', temperature: 0.5, reasoning_effort: '', max_tokens: 100, token_budget: 0 },
    ...{ agent_max_turns: null, notify_on_complete: '{"a":1}', org_id: 'default', enabled: true, version: 1 },
  });
  assert.deepEqual(await done(`GET ${ADMIN.settings}/${ws_template_id}`), made);
  const { ws_templates } = await done(`GET ${ADMIN.settings}`);
  assert.deepEqual(
    ws_templates.find((one: { name: string }) => one.name === name),
    made,
  );
});

test('An edit of a workstream template must keep the state before it as a version', async () => {
  const first = await addSettings({ temperature: 1, model: 'scripted' });
  const route = `${ADMIN.settings}/${first.ws_template_id}`;
  const second = await done(`PUT ${route}`, { temperature: null, model: null });
  assert.deepEqual([second.version, second.temperature, second.model, second.name], [2, null, '', first.name]);
  await done(`PUT ${route}`, { enabled: false });
  const { versions } = await done(`GET ${route}/versions`);
  assert.deepEqual(
    versions.map(({ version, snapshot }: { version: number; snapshot: string }) => [version, JSON.parse(snapshot)]),
    [
      [2, second],
      [1, first],
    ],
  );
  assert.deepEqual(Object.keys(versions[0]), ['version', 'snapshot', 'changed_by', 'created']);
});

test('A number that is invalid must answer 400 `Invalid numeric field: x`', async () => {
  const wrong: object[] = [{ temperature: 2.5 }, { temperature: 'warm' }, { max_tokens: 0 }, { token_budget: -1 }];
  for (const fields of [...wrong, { agent_max_turns: 1.5 }]) {
    const error = `Invalid numeric field: ${Object.keys(fields)[0]}`;
    assert.deepEqual(await ask(`POST ${ADMIN.settings}`, { name: 'x', ...fields }), { status: 400, body: { error } });
  }
});

test('A workstream template with an unknown prompt template must answer 400 `Prompt template not found: x`', async () => {
  const error = 'Prompt template not found: sums';
  const answer = await ask(`POST ${ADMIN.settings}`, { name: newName('desk'), prompt_template: 'sums' });
  assert.deepEqual(answer, { status: 400, body: { error } });
});

test('An unknown workstream template must answer 404 `Not found`', async () => {
  const route = `${ADMIN.settings}/wst_0`;
  const missing = { status: 404, body: { error: 'Not found' } };
  assert.deepEqual(await ask(`GET ${route}`), missing);
  assert.deepEqual(await ask(`PUT ${route}`, { enabled: false }), missing);
  assert.deepEqual(await ask(`DELETE ${route}`), missing);
  assert.deepEqual(await ask(`GET ${route}/versions`), missing);
});

test('`ws_template` must set model, effort, budget, temperature and the length of answers of the new workstream', async () => {
  const settings = { temperature: 0.25, max_tokens: 321, reasoning_effort: 'high', token_budget: 500_000 };
  const { name } = await addSettings({ model: 'openai-compatible/other', ...settings });
  const { ws_id: wsId } = await create({ ws_template: name, model: 'nonsense' });
  const { model: asked, temperature, max_tokens } = await requestOf(wsId);
  assert.deepEqual([asked, temperature, max_tokens], ['other', 0.25, 321]);
  const { snapshot } = await client.call('workstream.get', { wsId });
  const { budgets } = await client.call('budget.list', { wsId });
  assert.deepEqual([snapshot.effort, budgets.map(({ limit }) => limit)], ['high', [500_000]]);
});

test('The system prompt of a workstream template must take precedence over its prompt template, and both over `template`', async () => {
  const [one, two] = [await addPrompt({ content: 'One.' }), await addPrompt({ content: 'Two.' })];
  const whole = await addSettings({ system_prompt: 'Own.', prompt_template: one.name });
  const half = await addSettings({ prompt_template: one.name });
  const none = await addSettings({});
  for (const [ws_template, text] of [
    [whole.name, 'Own.'],
    [half.name, 'One.'],
    [none.name, 'Two.'],
  ])
    await endsWith((await create({ ws_template, template: two.name })).ws_id, text);
});

test('A workstream template with `auto_approve` or `auto_approve_tools` must be refused with 403 without the approve scope', async () => {
  const { name } = await addSettings({ auto_approve: true });
  const { name: other } = await addSettings({ auto_approve_tools: 'write_file, bash' });
  for (const ws_template of [name, other])
    assert.equal((await ask('POST workstreams/new', { ws_template }, await writer())).status, 403);
  const { ws_id: wsId } = await create({ ws_template: name });
  const { snapshot } = await client.call('workstream.get', { wsId });
  assert.equal(snapshot.workstream.skipPermissions, true);
});

test('An unknown or disabled `ws_template` must answer 400 `Workstream template not found or disabled: x`', async () => {
  const { name } = await addSettings({ enabled: false });
  for (const ws_template of [name, 'sums']) {
    const error = `Workstream template not found or disabled: ${ws_template}`;
    assert.deepEqual(await ask('POST workstreams/new', { ws_template }), { status: 400, body: { error } });
  }
});

test('`skill` must accept a template of either kind, and answer 400 `Skill not found or disabled: x` otherwise', async () => {
  const text = await addPrompt({ content: 'As a skill.' });
  const settings = await addSettings({ system_prompt: 'At the desk.' });
  await endsWith((await create({ skill: text.name })).ws_id, 'As a skill.');
  await endsWith((await create({ skill: settings.name })).ws_id, 'At the desk.');
  const refused = await ask('POST workstreams/new', { skill: 'sums' });
  assert.deepEqual(refused, { status: 400, body: { error: 'Skill not found or disabled: sums' } });
});

test('A change of a workstream template must not change workstreams that were created with it', async () => {
  const { name, ws_template_id } = await addSettings({ system_prompt: 'Own.', temperature: 0.25 });
  const { ws_id } = await create({ ws_template: name });
  await done(`PUT ${ADMIN.settings}/${ws_template_id}`, { system_prompt: 'Other.', temperature: 1 });
  await done(`DELETE ${ADMIN.settings}/${ws_template_id}`);
  const request = await requestOf(ws_id);
  assert.deepEqual([String(request.messages[0]?.content).endsWith('\n\nOwn.'), request.temperature], [true, 0.25]);
});

test('`/template` must choose the template of the next conversation', async () => {
  await using talk = await openConversation(daemon);
  const { wsId } = talk;
  const { name } = await addPrompt({ content: 'Be brief.' });
  const first = await systemFor(wsId);
  const command = (text: string) => done('POST command', { ws_id: wsId, command: text });
  await command(`/template ${name}`);
  const told = `The next conversation begins with the template ${name}: type /new or /clear. This one keeps its system prompt.`;
  await talk.until('info', ({ message }) => message === told);
  assert.equal(await systemFor(wsId), first);
  await command('/clear');
  await endsWith(wsId, 'Be brief.');
  assert.equal((await command('/template sums')).error, 'Template not found: sums');
});
