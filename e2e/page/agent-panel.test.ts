import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { newUser, visitAs } from '../support/clients/accounts.ts';
import { card, openPart } from '../support/clients/agent-view.ts';
import { button, openWorkstream, send, state, visit, visitAgain } from '../support/clients/browser.ts';
import { focused } from '../support/clients/focus.ts';
import { openStage } from '../support/daemon/stage.ts';
import { closeRegistry, startRegistry } from '../support/mcp/registry.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import { startAccountServer } from '../support/oidc/account-server.ts';

const FAKE = fileURLToPath(new URL('../../src/agent/mcp/misbehaving-server.ts', import.meta.url));
const accounts = await startAccountServer();
const server = { command: process.execPath, sandbox: false };
const servers = {
  notes: { ...server, args: [FAKE, 'rewrites'], env: { NOTES_TOKEN: 'canary' } },
  broken: { ...server, args: [FAKE, 'dies-early'] },
  off: { ...server, args: [FAKE], enabled: false },
  tracker: { url: accounts.url, oauth: {} },
};
const { model, daemon } = await openStage({ config: { mcp: { servers, registryUrl: await startRegistry() } } });
after(closeRegistry);
after(() => accounts[Symbol.asyncDispose]());

/** Lets the agent of a workstream watch something. */
async function watch(page: Page, name: string) {
  const args = { action: 'create', name, command: 'echo 7 waiting', interval: '10m', stop_on: 'output == "none"' };
  model.when(`watch ${name}`, callTools({ name: 'watch', arguments: args }), say('I wait.'));
  await send(page, `watch ${name}`);
  await button(page, 'Approve').click();
  await page.locator('.answer', { hasText: 'I wait.' }).waitFor();
  await state(page, 'idle');
}

test('watches of all workstreams are listed with their state, also those that begin or end meanwhile, and cancelled by keyboard', async (t) => {
  const { page, openTab } = await visit(t, daemon);
  await openPart(page, 'Watches');
  await page.getByText('No watch is active.').waitFor();
  await assertAccessible(page, 'no watches');
  const other = await openTab();
  await openWorkstream(other, 'watching');
  await watch(other, 'queue');
  const bar = other.getByRole('region', { name: 'Watches' });
  await bar.getByText('Watching: queue').waitFor();
  await assertAccessible(other, 'a conversation with a watch');
  await card(page, 'queue').getByText('Until output == "none"').waitFor();
  await card(page, 'queue')
    .getByText(/^every 10 min, poll \d of 100 · (next in|polled now)/)
    .waitFor();
  await card(page, 'queue').getByText('Last output').click();
  await card(page, 'queue').getByText('7 waiting', { exact: true }).waitFor();
  await assertAccessible(page, 'a watch');
  await button(page, 'Cancel queue').press('Enter');
  await page.getByRole('alertdialog', { name: 'Cancel queue?' }).getByRole('button', { name: 'Cancel' }).press('Enter');
  await card(page, 'queue').getByText('ended', { exact: true }).waitFor();
  await focused(page, '#watches-title');
  await bar.waitFor({ state: 'detached' });
  await openPart(other, 'Watches');
  await other.getByText('No watch is active.').waitFor();
  await button(other, 'Also ended ones').click();
  await card(other, 'queue')
    .getByText(/^cancelled, poll/)
    .waitFor();
  await card(other, 'queue')
    .getByRole('button', { name: /^watching/ })
    .click();
  await other.getByRole('heading', { name: 'watching', level: 1 }).waitFor();
});

test('memories are searched and forgotten, and those that wait are released or discarded, by those who may', async (t) => {
  const client = await daemon.client();
  for (const name of ['harbour', 'kestrel'])
    await client.call('memory.save', { name, content: `The ${name} is <b>near</b>.\nSecond line \u202e.` });
  const { page } = await visitAgain(t, daemon, { phone: true });
  await openPart(page, 'Memories');
  await card(page, 'harbour').getByText('The harbour is <b>near</b>.').waitFor();
  await card(page, 'harbour').getByText('Second line \\u202e.').waitFor();
  await assertAccessible(page, 'memories on a phone');
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth), 0);
  await page.getByRole('searchbox', { name: 'Search memories' }).fill('kestrel');
  await card(page, 'harbour').waitFor({ state: 'detached' });
  await button(page, 'Forget kestrel').click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Forget' }).click();
  await page.getByText('No memory has these words.').waitFor();
  const viewer = await newUser(daemon, ['builtin-viewer']);
  const theirs = await visitAs(t, daemon, { username: viewer.username });
  await theirs.keyboard.press('Alt+g');
  await theirs.getByRole('heading', { name: 'Memories', level: 2 }).waitFor();
  await card(theirs, 'harbour').waitFor();
  assert.equal(await theirs.locator('.panel-row button').count(), 0);
  const parts = theirs.getByRole('navigation', { name: 'Parts of the agent view' }).getByRole('button');
  assert.deepEqual(await parts.allInnerTexts(), ['Memories', 'Skills']);
});

test('skills are listed, found by words, and used in the conversation', async (t) => {
  const client = await daemon.client();
  await client.call('template.create', { name: 'review', content: 'Read changes.', category: 'general' });
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'with a skill');
  await openPart(page, 'Skills');
  await card(page, 'review').waitFor();
  await assertAccessible(page, 'skills');
  await page.getByRole('searchbox', { name: 'Search skills' }).fill('nothing like it');
  await page.getByText('No skill has these words.').waitFor();
  await page.getByRole('searchbox', { name: 'Search skills' }).fill('GENERAL rev');
  await button(page, 'Use review').click();
  await page.getByRole('heading', { name: 'with a skill', level: 1 }).waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), '/skill review');
});

test('a server with accounts is added by the form, and its settings are kept', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openPart(page, 'Tool servers');
  await button(page, 'Add a server').click();
  const form = page.getByRole('dialog', { name: 'Add a tool server' });
  await form.getByLabel(/^Name/).fill('calendar');
  await form.getByLabel('What it is').selectOption('streamable-http');
  await form.getByRole('textbox', { name: 'Address' }).fill(accounts.url);
  await form.getByLabel(/^Each person uses it/).check();
  await form.getByLabel(/^Rights/).fill('notes.read  notes.write');
  await form.getByLabel('Client id').fill('headgate');
  await form.getByLabel(/^Issuer/).fill('https://sso.example');
  await form.getByLabel('Client secret').fill('canary-secret');
  await assertAccessible(page, 'the form of a server with accounts');
  await form.getByRole('button', { name: 'Add' }).click();
  await form.waitFor({ state: 'detached' });
  await button(page, 'Edit calendar').click();
  const edit = page.getByRole('dialog', { name: 'Edit calendar' });
  assert.equal(await edit.getByLabel(/^Rights/).inputValue(), 'notes.read notes.write');
  await edit.getByLabel('Time limit').fill('60');
  await edit.getByRole('button', { name: 'Save' }).click();
  await edit.waitFor({ state: 'detached' });
  const client = await daemon.client();
  const stored = async () => {
    const { servers: all } = await client.call('mcp.list', { reveal: true });
    return all.find(({ name }) => name === 'calendar');
  };
  const oauth = {
    scopes: ['notes.read', 'notes.write'],
    clientId: 'headgate',
    issuer: 'https://sso.example',
    clientSecret: 'canary-secret',
  };
  assert.deepEqual([(await stored())?.oauth, (await stored())?.timeoutSecs], [oauth, 60]);
  await button(page, 'Edit calendar').click();
  await edit.getByLabel(/^Each person uses it/).uncheck();
  await edit.getByRole('button', { name: 'Save' }).click();
  await edit.waitFor({ state: 'detached' });
  assert.deepEqual([(await stored())?.authType, (await stored())?.oauth], ['none', undefined]);
});

test('a consent ends in a notice that is said once, above the account of the person', async (t) => {
  const { page } = await visit(t, daemon, {
    expected: [/^request: http:\/\/localhost:/, /fonts\.|ERR_NAME_NOT_RESOLVED/],
  });
  await page.goto(`${daemon.url}/?mcp_oauth_error=denied`);
  const notice = page.getByRole('status', { name: 'Notices' });
  await notice
    .getByText('No account was connected to the tool server. The provider reports that you refused.')
    .waitFor();
  assert.equal(page.url(), `${daemon.url}/`);
  await page.getByRole('heading', { name: 'Your accounts at tool servers' }).waitFor();
  await assertAccessible(page, 'an account that is not connected');
  await page.getByRole('link', { name: 'Connect… tracker' }).press('Enter');
  await page.waitForURL(`${accounts.issuer}/interaction/**`);
  await page.locator('[name=login]').fill('ada');
  await page.locator('[name=password]').fill('any');
  await page.locator('[type=submit]').click();
  await page.getByText('Authorize').or(page.locator('[type=submit]')).first().waitFor();
  if (page.url().includes('/interaction/')) await page.locator('[type=submit]').click();
  await notice.getByText('You have consented to use the tool server “tracker” with your account.').waitFor();
  assert.equal(page.url(), `${daemon.url}/`);
  await card(page, 'tracker')
    .getByText(/^connected .*notes\.read$/)
    .waitFor();
  await button(page, 'Hide this notice').click();
  await page.reload();
  await page.locator('.link-open').waitFor({ state: 'attached' });
  assert.equal(await notice.getByText('consented').count(), 0);
  await openPart(page, 'Tool servers');
  await button(page, 'Disconnect tracker').press('Enter');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Disconnect' }).press('Enter');
  await card(page, 'tracker').getByText('not connected').waitFor();
});

test('tool servers are listed with their state and tools; a changed tool is compared and accepted', async (t) => {
  const { page } = await visit(t, daemon);
  await openPart(page, 'Tool servers');
  await button(page, 'Refresh notes').click();
  await card(page, 'notes')
    .getByText(/1 tool · fake rewrites|connected · 1 tool/)
    .waitFor();
  await card(page, 'notes').getByText('with NOTES_TOKEN').waitFor();
  await card(page, 'notes').getByText('Tools (1)').click();
  await card(page, 'notes').getByText('Greets somebody.').waitFor();
  await card(page, 'off').getByText('disabled').waitFor();
  assert.equal(await button(page, 'Refresh off').count(), 0);
  await button(page, 'Refresh broken').click();
  await card(page, 'broken').getByRole('alert').filter({ hasText: /./ }).first().waitFor();
  await assertAccessible(page, 'tool servers');
  await writeFile(path.join(daemon.home, 'tool-servers/notes/rewritten'), '');
  await button(page, 'Refresh notes').click();
  const change = page.getByRole('region', { name: 'Change of greet' });
  await change.getByText('Greets somebody, and sends mail.').waitFor();
  await change.getByText('Arguments: unchanged').waitFor();
  await assertAccessible(page, 'a changed tool');
  await change.getByRole('button', { name: 'Accept greet' }).press('Enter');
  await change.waitFor({ state: 'detached' });
  await focused(page, '#servers-title');
});

test('a tool server is added, changed with its values kept, switched off and removed by keyboard; those of config.json stay', async (t) => {
  const { page } = await visitAgain(t, daemon, { phone: true });
  await openPart(page, 'Tool servers');
  await card(page, 'off').getByText('config.json', { exact: true }).waitFor();
  for (const verb of ['Edit', 'Remove', 'Enable']) assert.equal(await button(page, `${verb} off`).count(), 0);
  await button(page, 'Add a server').press('Enter');
  const form = page.getByRole('dialog', { name: 'Add a tool server' });
  await assertAccessible(page, 'the form of a server on a phone');
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth), 0);
  await page.keyboard.type('added'); // the name has the focus
  await form.getByLabel('Command', { exact: true }).fill(process.execPath);
  await form.getByLabel('Arguments, one per line').fill(FAKE);
  await form.getByLabel(/^Variables/).fill('no-name');
  await form.getByRole('button', { name: 'Add' }).press('Enter');
  await form.getByRole('alert').getByText('a variable is written as NAME=value').waitFor();
  await form.getByLabel(/^Variables/).fill('NOTES_TOKEN=first=value\nREGION=eu');
  await form.getByRole('button', { name: 'Add' }).press('Enter');
  await form.waitFor({ state: 'detached' });
  await card(page, 'added').getByText('with NOTES_TOKEN, REGION').waitFor();
  await button(page, 'Edit added').press('Enter');
  const edit = page.getByRole('dialog', { name: 'Edit added' });
  assert.equal(await edit.getByLabel(/^Variables/).inputValue(), 'NOTES_TOKEN=***\nREGION=***');
  await edit.getByLabel(/^Variables/).fill('NOTES_TOKEN=***');
  await edit.getByLabel('Time limit').fill('60');
  await edit.getByRole('button', { name: 'Save' }).press('Enter');
  await edit.waitFor({ state: 'detached' });
  const client = await daemon.client();
  const stored = (await client.call('mcp.list', { reveal: true })).servers.find(({ name }) => name === 'added');
  assert.deepEqual([stored?.env, stored?.timeoutSecs], [{ NOTES_TOKEN: 'first=value' }, 60]);
  await button(page, 'Disable added').press('Enter');
  await card(page, 'added').getByText('disabled').waitFor();
  await button(page, 'Remove added').press('Enter');
  await page.getByRole('alertdialog', { name: 'Remove added?' }).getByRole('button', { name: 'Remove' }).press('Enter');
  await card(page, 'added').waitFor({ state: 'detached' });
  await focused(page, '#servers-title');
});

test('the file of another program is checked before its servers are added', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openPart(page, 'Tool servers');
  await button(page, 'Import…').click();
  const form = page.getByRole('dialog', { name: 'Import tool servers' });
  await form.getByLabel('Text of the file').fill('{ "mcpServers": ');
  await form.getByRole('button', { name: 'Check' }).click();
  await form.getByRole('alert').getByText('This is no JSON').waitFor();
  const file = { off: { command: 'x' }, pets: { command: process.execPath, args: [FAKE], alwaysAllow: [] }, old: {} };
  await form.getByLabel('Text of the file').fill(JSON.stringify({ mcpServers: file }));
  await form.getByRole('button', { name: 'Check' }).click();
  await form.getByText('pets', { exact: true }).waitFor();
  await form.getByText('off', { exact: true }).waitFor();
  await form.getByText('old: command is required').waitFor();
  await form.getByText('pets: alwaysAllow is not used here').waitFor();
  await assertAccessible(page, 'what an import would do');
  assert.equal(await card(page, FAKE).filter({ hasText: 'pets' }).count(), 0);
  await form.getByRole('button', { name: 'Add 1 server' }).click();
  await form.waitFor({ state: 'detached' });
  await button(page, 'Restart pets').waitFor();
});

test('a server of the registry is searched and installed with the values that it asks for', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openPart(page, 'Tool servers');
  await button(page, 'Registry…').click();
  const search = page.getByRole('dialog', { name: 'Search the registry' });
  await search.getByLabel('Words in the name').fill('notes');
  await page.keyboard.press('Enter');
  await search.getByText('cannot be installed: packages of the type oci').waitFor();
  await assertAccessible(page, 'the registry');
  await search.getByRole('button', { name: 'Install npm @ada/notes 1.2.3' }).first().click();
  const form = page.getByRole('dialog', { name: 'Install io.github.ada/notes' });
  await form.getByLabel('Name here').fill('of-registry');
  await form.getByLabel('region').fill('eu');
  await form.getByLabel('NOTES_TOKEN').fill('hush');
  await assertAccessible(page, 'the values of a server of the registry');
  await form.getByRole('button', { name: 'Install' }).click();
  await form.waitFor({ state: 'detached' });
  await card(page, 'of-registry').getByText('from the registry: io.github.ada/notes 1.2.3').waitFor();
  await page.keyboard.press('Escape');
});
