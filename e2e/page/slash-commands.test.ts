import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { COMMANDS, isCommandName, usageOf } from '../../protocol/commands.ts';
import { hasValue, openWorkstream, send, state, visit, visitAgain } from '../support/clients/browser.ts';
import { startDaemon } from '../support/daemon/daemon.ts';

const daemon = await startDaemon();
after(() => daemon[Symbol.asyncDispose]());

const field = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const offered = (page: Page) => page.locator('[role=option] b').allInnerTexts();
const active = (page: Page) =>
  page.evaluate(() => {
    const id = document.activeElement?.getAttribute('aria-activedescendant');
    return document.getElementById(id ?? '')?.querySelector('b')?.innerText;
  });

test('a slash lists the commands; arrows choose, Tab and Enter accept, Escape closes the list', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'slash');
  await field(page).pressSequentially('/');
  await page.getByRole('listbox', { name: 'Commands' }).waitFor();
  const commands = Object.keys(COMMANDS).filter(isCommandName).map(usageOf);
  assert.deepEqual(await offered(page), commands);
  assert.equal(await active(page), '/help');
  await page.keyboard.press('ArrowUp');
  assert.equal(await active(page), commands.at(-1));
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  assert.equal(await active(page), '/clear');
  await page.keyboard.press('Escape');
  assert.deepEqual([await offered(page), await field(page).inputValue()], [[], '/']);
  await field(page).pressSequentially('na');
  await page.keyboard.press('Tab');
  assert.deepEqual([await offered(page), await field(page).inputValue()], [[], '/name ']);
  await page.keyboard.type('by command');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'by command', level: 1 }).waitFor();
  await field(page).fill('/h');
  await page.keyboard.press('Enter');
  await hasValue(field(page), '/help');
  await page.keyboard.press('Enter');
  await page.locator('.note', { hasText: '/resume NAME' }).waitFor();
  await field(page).fill('/n');
  await page.getByRole('option', { name: '/new' }).click();
  await hasValue(field(page), '/new');
  await page.waitForFunction(() => document.activeElement?.id === 'message');
});

test('a complete command is first in the list, and Enter sends it', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'complete');
  await field(page).pressSequentially('/mode');
  await page.getByRole('option', { name: /^\/model/ }).waitFor();
  assert.equal(await active(page), usageOf('mode'));
  await page.keyboard.press('Enter');
  await page.locator('.note', { hasText: 'Mode ask: ' }).waitFor();
  await hasValue(field(page), '');
});

test('a command entered before the previous one is answered is sent after it', async (t) => {
  const { context } = await visit(t, daemon);
  const page = await context.newPage();
  let hold: (() => void)[] | undefined;
  await page.routeWebSocket(/\/v1\/ws/, (socket) => {
    socket.connectToServer().onMessage((message) => {
      const pass = () => socket.send(message);
      if (hold && String(message).startsWith('{"type":"res"')) hold.push(pass);
      else pass();
    });
  });
  await page.goto(daemon.url);
  await openWorkstream(page, 'slow answers');
  hold = [];
  await send(page, '/name quick fingers');
  await page.getByRole('heading', { name: 'quick fingers', level: 1 }).waitFor();
  await send(page, '/help');
  await page.locator('.sending', { hasText: '/help' }).waitFor();
  await hasValue(field(page), '');
  const held = hold;
  hold = undefined;
  for (const pass of held) pass();
  await page.locator('.note', { hasText: '/resume NAME' }).waitFor();
  assert.equal(await page.locator('.sending').count(), 0);
});

test('arguments are suggested: models for /model, saved conversations for /resume', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'kitchen garden');
  await send(page, 'say parsley');
  await page.locator('.answer', { hasText: 'parsley' }).waitFor();
  await state(page, 'idle');
  await openWorkstream(page, 'fresh');
  await field(page).fill('/model ');
  await page.getByRole('option').first().waitFor();
  assert.deepEqual(await offered(page), ['demo']);
  await field(page).fill('/resume garden');
  await page.getByRole('option', { name: 'kitchen garden' }).waitFor();
  await page.keyboard.press('Enter');
  await hasValue(field(page), '/resume kitchen garden');
  await page.keyboard.press('Enter');
  await page.locator('.answer', { hasText: 'parsley' }).waitFor();
});

test('a mistyped command is answered with a suggestion', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'mistyped');
  await send(page, '/claer');
  await page.locator('.note', { hasText: 'Unknown command: /claer. Did you mean /clear?' }).waitFor();
});
