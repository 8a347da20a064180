// `npm run pictures`: makes docs/screenshot.png from a scripted conversation.
import { mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { send, state, visit } from '../support/clients/browser.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const PICTURE = fileURLToPath(new URL('../../docs/screenshot.png', import.meta.url));

const SOURCE = `/** Days until a plant needs water. */
export function daysUntilWater({ wateredOn, everyDays }, today) {
  const passed = Math.floor((today - wateredOn) / 86_400_000);
  return everyDays - passed;
}
`;
const TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daysUntilWater } from './watering.js';

const plant = { wateredOn: 0, everyDays: 3 };
test('a plant that was just watered waits its whole time', () => assert.equal(daysUntilWater(plant, 0), 3));
test('a plant that is overdue needs water today', () => assert.equal(daysUntilWater(plant, 5 * 86_400_000), 0));
`;
const COMMAND = 'node --test --test-reporter=tap src/ | grep -E "^(not )?ok|^ +(expected|actual):"';

const { model, daemon } = await openStage();

/** The browser of the tests has no font for code. */
async function useCodeFont(page: Page): Promise<void> {
  const file = fileURLToPath(import.meta.resolve('katex/dist/fonts/KaTeX_Typewriter-Regular.woff2'));
  await page.evaluate(
    async ({ base64 }) => {
      const font = new FontFace('Code', Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)).buffer);
      document.fonts.add(await font.load());
      document.documentElement.style.setProperty('--mono', 'Code');
    },
    { base64: await readFile(file, 'base64') },
  );
}

test('docs/screenshot.png', async (t) => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'garden-'));
  await mkdir(path.join(folder.path, 'src'));
  await writeFile(path.join(folder.path, 'package.json'), '{ "type": "module" }');
  await writeFile(path.join(folder.path, 'src/watering.js'), SOURCE);
  await writeFile(path.join(folder.path, 'src/watering.test.js'), TEST);
  const client = await daemon.client();
  for (const name of ['release notes', 'watering'])
    await client.call('workstream.create', { name, ...(name === 'watering' && { workdir: folder.path }) });
  model.when(
    'Why does the test of the watering fail?',
    callTools({ name: 'read_file', arguments: { path: 'src/watering.js' } }),
    callTools({ name: 'bash', arguments: { command: COMMAND } }),
    [
      say(
        'An overdue plant gets **-2** where the test expects 0: nothing keeps the difference from going below zero. This would do:',
      ),
      callTools({
        name: 'edit_file',
        arguments: {
          path: 'src/watering.js',
          old_string: 'return everyDays - passed;',
          new_string: 'return Math.max(0, everyDays - passed);',
        },
      }),
    ],
  );
  const { page } = await visit(t, daemon);
  await useCodeFont(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole('tab', { name: /watering/ }).click();
  await send(page, 'Why does the test of the watering fail?');
  const card = page.locator('.approval.pending');
  await card.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.locator('.approval.pending', { hasText: 'edit_file' }).waitFor();
  await state(page, 'attention');
  await send(page, 'Then add a test for a plant that is due today.');
  await page.getByText('Then add a test for a plant that is due today.').waitFor();
  await page.screenshot({ path: PICTURE });
});
