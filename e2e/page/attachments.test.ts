import assert from 'node:assert/strict';
import { test } from 'node:test';
import { button, openWorkstream, send, visit } from '../support/clients/browser.ts';
import { sharedStage } from '../support/daemon/stage.ts';
import { say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await sharedStage();
model.when('', say('I see it'));

/** A picture of 2 by 2 pixels. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==',
  'base64',
);

test('a picture can be chosen, removed, chosen again and sent, and is still shown after a reload', async (t) => {
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'pictures');
  const choose = page.getByLabel('Attach files');
  await choose.setInputFiles({ name: 'first.png', mimeType: 'image/png', buffer: PNG });
  await page.locator('.chip[aria-busy=false]').waitFor();
  await button(page, 'Remove first.png').click();
  await page.locator('.chip').waitFor({ state: 'detached' });
  await choose.setInputFiles([
    { name: 'cat.png', mimeType: 'image/png', buffer: PNG },
    { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') },
  ]);
  await page.locator('.chip[aria-busy=false]').nth(1).waitFor();
  await send(page, 'what is this?');
  await page.locator('.answer[aria-busy=false]').waitFor();
  const look = async () => {
    const image = page.locator('.block.user img');
    await image.waitFor();
    await page.waitForFunction(() => document.querySelector<HTMLImageElement>('.block.user img')?.naturalWidth === 2);
    return [await image.getAttribute('alt'), await page.locator('.block.user').innerText()];
  };
  const shown = await look();
  assert.deepEqual(shown, ['cat.png', shown[1]]);
  assert.match(shown[1] ?? '', /notes\.txt\s*5 B\s*what is this\?/);
  assert.equal(await page.locator('.chip').count(), 0);
  await page.reload();
  assert.deepEqual(await look(), shown);
  const parts = model.requests.at(-1)?.body.messages.at(-1)?.content;
  assert.match(JSON.stringify(parts), /image_url.*notes\.txt.*hello.*what is this/);
});

test('pasted and dropped files are attached; the page says why a file cannot be', async (t) => {
  const { page } = await visit(t, daemon, { expected: [/status of 400/] });
  await openWorkstream(page, 'pasted');
  for (const [type, init] of [
    ['paste', 'clipboardData'],
    ['drop', 'dataTransfer'],
  ] as const) {
    await page.locator('#message').evaluate(
      (field, [kind, name]) => {
        const data = new DataTransfer();
        data.items.add(new File(['some words'], `${kind}.txt`, { type: 'text/plain' }));
        const options = { bubbles: true, cancelable: true, [name]: data };
        field.dispatchEvent(kind === 'paste' ? new ClipboardEvent(kind, options) : new DragEvent(kind, options));
      },
      [type, init] as const,
    );
    await page.locator('.chip[aria-busy=false]', { hasText: `${type}.txt` }).waitFor();
  }
  const binary = { name: 'program', mimeType: 'application/octet-stream', buffer: Buffer.alloc(64) };
  await page.getByLabel('Attach files').setInputFiles(binary);
  const problem = page.locator('.composer .problem', { hasText: 'program: Only images' });
  await problem.waitFor();
  assert.equal(await page.locator('.chip').count(), 2);
});
