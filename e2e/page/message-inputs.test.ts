import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { openWorkstream, send, state, untilCopied, visit, visitAgain } from '../support/clients/browser.ts';
import { sharedStage } from '../support/daemon/stage.ts';
import { fail, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await sharedStage();

interface Input {
  name: string;
  phone: boolean;
  /** Does something with the last message that has the action. */
  act(page: Page, action: string): Promise<void>;
  /** Writes the edited message, and sends it. */
  finishEditing(page: Page, text: string): Promise<void>;
}

const question = (page: Page, action: string) =>
  page.locator('.block.user', { has: page.locator(`[aria-label="${action}"]`) }).last();
const editor = (page: Page) => page.getByRole('textbox', { name: 'Edited message' });

const INPUTS: Input[] = [
  {
    name: 'mouse',
    phone: false,
    async act(page, action) {
      await question(page, action).hover();
      await question(page, action).getByRole('button', { name: action, exact: true }).click();
    },
    async finishEditing(page, text) {
      await editor(page).fill(text);
      await page.locator('.message-editor').getByRole('button', { name: 'Send' }).click();
    },
  },
  {
    name: 'keyboard',
    phone: false,
    async act(page, action) {
      await page.keyboard.press('Alt+m');
      await page.waitForFunction(() => document.activeElement?.id === 'message');
      await tabBackTo(page, action);
      await page.waitForFunction(() => {
        const row = document.activeElement?.closest('.message-row');
        return row && getComputedStyle(row).opacity === '1';
      });
      await page.keyboard.press('Enter');
    },
    async finishEditing(page, text) {
      await page.keyboard.press('Control+a');
      await page.keyboard.type(text);
      await page.keyboard.press('Control+Enter');
    },
  },
  {
    name: 'touch',
    phone: true,
    async act(page, action) {
      await question(page, action).getByRole('button', { name: 'What to do with this message' }).tap();
      const target = question(page, action).getByRole('button', { name: action, exact: true });
      const box = await target.boundingBox();
      assert.ok(box && box.width >= 44 && box.height >= 44, `${action}: ${JSON.stringify(box)}`);
      await target.tap();
    },
    async finishEditing(page, text) {
      await editor(page).tap();
      await editor(page).fill(text);
      await page.locator('.message-editor').getByRole('button', { name: 'Send' }).tap();
    },
  },
];

/** Presses Shift+Tab until the action of the last message that has it is focused. */
async function tabBackTo(page: Page, action: string): Promise<void> {
  const passed: string[] = [];
  for (let presses = 0; presses < 30; presses += 1) {
    await page.keyboard.press('Shift+Tab');
    const name = await page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '');
    if (name === action) return;
    passed.push(name);
  }
  assert.fail(`Shift+Tab does not reach "${action}", only ${passed.join(', ')}`);
}

interface Action {
  name: string;
  /** The action, and the wait for its effect. */
  prove(page: Page, input: Input): Promise<void>;
}

const answered = async (page: Page, text: string) => {
  await page.locator('.answer', { hasText: text }).waitFor();
  await state(page, 'idle');
};
const gone = (page: Page, text: string) =>
  page.locator('.transcript').getByText(text).first().waitFor({ state: 'detached' });

const ACTIONS: Action[] = [
  {
    name: 'Copy this message',
    async prove(page, { act }) {
      await act(page, this.name);
      await untilCopied(page, 'the question');
    },
  },
  {
    name: 'Copy the answer',
    async prove(page, { act }) {
      await act(page, this.name);
      await untilCopied(page, 'The *answer*.');
    },
  },
  {
    name: 'Edit and send again',
    async prove(page, { act, finishEditing }) {
      model.when('edited', say('After the edit.'));
      await act(page, this.name);
      await page.waitForFunction(() => document.activeElement?.matches('.message-editor textarea'));
      await finishEditing(page, 'edited');
      await answered(page, 'After the edit.');
      await gone(page, 'the question');
    },
  },
  {
    name: 'Answer again',
    async prove(page, { act }) {
      model.when('the question', say('Better.'));
      await act(page, this.name);
      await answered(page, 'Better.');
      await gone(page, 'The answer.');
    },
  },
  {
    name: 'Send again',
    async prove(page, { act }) {
      await sendFailing(page);
      model.when('rejected', say('Accepted now.'));
      await act(page, this.name);
      await answered(page, 'Accepted now.');
      await gone(page, 'Not answered');
    },
  },
  {
    name: 'Continue in a copy',
    async prove(page, { act }) {
      await send(page, 'a second question');
      await answered(page, 'The second answer.');
      const original = await selectedTab(page);
      await act(page, this.name);
      await page.waitForFunction((id) => document.querySelector('[role=tab][aria-selected=true]')?.id !== id, original);
      await answered(page, 'The second answer.');
      await answered(page, 'The answer.');
    },
  },
  {
    name: 'Remove',
    async prove(page, { act }) {
      await sendFailing(page);
      await act(page, this.name);
      await gone(page, 'rejected');
      await page.locator('.answer', { hasText: 'The answer.' }).waitFor();
    },
  },
];

const selectedTab = (page: Page) =>
  page.getByRole('tab', { selected: true, includeHidden: true }).first().getAttribute('id');

async function sendFailing(page: Page): Promise<void> {
  model.when('rejected', fail(400));
  await send(page, 'rejected');
  await page.locator('.block.user .failed').waitFor();
  await state(page, 'error');
}

test('Escape and Cancel leave the editor, and the focus returns to the button that opened it', async (t) => {
  const { page } = await visitAgain(t, daemon);
  await openWorkstream(page, 'not edited');
  model.when('the question', say('The *answer*.'));
  await send(page, 'the question');
  await answered(page, 'The answer.');
  const isBack = () =>
    page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Edit and send again');
  await tabBackTo(page, 'Edit and send again');
  for (const key of ['Escape', 'Tab Tab Enter']) {
    await page.keyboard.press('Enter');
    await editor(page).waitFor();
    for (const press of key.split(' ')) await page.keyboard.press(press);
    await editor(page).waitFor({ state: 'detached' });
    await isBack();
  }
  await page.getByText('the question').first().waitFor();
});

// The tests of one input share a page, because opening it takes half of their time; each has its own workstream.
for (const input of INPUTS) {
  test(`every action of a message works by ${input.name}`, async (t) => {
    const { page, context } = await visit(t, daemon, { phone: input.phone });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    for (const action of ACTIONS) {
      await t.test(`"${action.name}" works by ${input.name}`, async () => {
        await openWorkstream(page, `${action.name} by ${input.name}`);
        model.when('the question', say('The *answer*.'));
        model.when('a second question', say('The second answer.'));
        await send(page, 'the question');
        await answered(page, 'The answer.');
        await action.prove(page, input);
      });
    }
  });
}

test('the message field brings back earlier messages, takes long texts as files, and is dictated into', async (t) => {
  const { page, context } = await visit(t, daemon);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.addInitScript(() => {
    /** Hears one sentence as soon as it starts. */
    class Recogniser extends EventTarget {
      onresult: ((event: unknown) => void) | undefined;
      onend: (() => void) | undefined;
      start() {
        this.onresult?.({
          resultIndex: 0,
          results: [Object.assign([{ transcript: 'spoken words' }], { isFinal: true })],
        });
      }
      stop() {
        this.onend?.();
      }
      abort() {
        // Nothing is running.
      }
    }
    Object.assign(window, { SpeechRecognition: Recogniser });
  });
  await page.reload();
  await openWorkstream(page, 'message field');
  for (const text of ['first message', 'second message']) {
    model.when(text, say(`to ${text}`));
    await send(page, text);
    await page.locator('.answer', { hasText: `to ${text}` }).waitFor();
    await state(page, 'idle');
  }
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.focus();
  const seen: string[] = [];
  for (const key of ['ArrowUp', 'ArrowUp', 'ArrowDown', 'ArrowDown']) {
    await page.keyboard.press(key);
    seen.push(await field.inputValue());
  }
  assert.deepEqual(seen, ['second message', 'first message', 'second message', '']);

  const long = 'a line of a long text\n'.repeat(400);
  await page.evaluate((text) => navigator.clipboard.writeText(text), long);
  await page.keyboard.press('Control+v');
  await page.locator('.chip[aria-busy=false]', { hasText: 'pasted-text.txt' }).waitFor();
  assert.equal(await field.inputValue(), '');
  await page.reload();
  await page.locator('.chip[aria-busy=false]', { hasText: 'pasted-text.txt' }).waitFor();
  await page.getByRole('button', { name: 'Remove pasted-text.txt' }).click();
  await page.locator('.chip').waitFor({ state: 'detached' });
  await field.focus();
  await page.keyboard.press('Control+v');
  await page.locator('.chip[aria-busy=false]', { hasText: 'pasted-text.txt' }).waitFor();
  await page.getByRole('button', { name: 'Put it into the message' }).click();
  await page.locator('.chip').waitFor({ state: 'detached' });
  assert.equal(await field.inputValue(), long);

  await field.fill('');
  const dictate = page.getByRole('button', { name: 'Dictate', exact: true });
  await dictate.click();
  await page.getByRole('button', { name: 'Dictate', pressed: true }).waitFor();
  assert.equal(await field.inputValue(), 'spoken words');
  await dictate.click();
  await page.getByRole('button', { name: 'Dictate', pressed: false }).waitFor();
});
