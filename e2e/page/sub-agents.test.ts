import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible } from '../support/clients/accessibility.ts';
import { button, openWorkstream, send, state, visit } from '../support/clients/browser.ts';
import { sharedStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await sharedStage();

const task = (title: string, prompt: string) => ({ name: 'task', id: `call-${prompt}`, arguments: { title, prompt } });

test('sub-agents are shown as a tree, also after a reload; their questions come above it, and one of them can be ended', async (t) => {
  model.when('the deep part', callTools({ name: 'bash', arguments: { command: 'touch deep' } }), say('Deep is done.'));
  model.when('the upper part', callTools(task('Below it', 'the deep part')), say('Upper is done.'));
  model.when('the other part', callTools({ name: 'bash', arguments: { command: 'touch other' } }), say('Not needed.'));
  model.when(
    'hand it over',
    callTools(task('Above', 'the upper part'), task('Beside', 'the other part')),
    say('Over.'),
  );
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'with parts');
  await send(page, 'hand it over');
  const tree = page.getByRole('region', { name: 'Sub-agents' });
  const row = (title: string) => tree.getByRole('listitem').filter({ hasText: title });
  const leftOf = (title: string) =>
    row(title).evaluate((element) => Number.parseFloat(getComputedStyle(element).paddingLeft));
  await tree.getByRole('listitem').nth(2).waitFor();
  await button(page, 'Approve').waitFor();
  assert.deepEqual(
    (await tree.getByRole('listitem').allInnerTexts()).map((text) => /^(.*?) (?:working|waiting)/.exec(text)?.[1]),
    ['Above', 'Below it', 'Beside'],
  );
  assert.ok((await leftOf('Below it')) > (await leftOf('Above')));
  await assertAccessible(page, 'a tree of sub-agents');
  await page.reload();
  await tree.getByRole('listitem').nth(2).waitFor();
  await button(page, 'End Beside').click();
  await row('Beside').getByText('cancelled by a person').waitFor();
  await page.getByText('touch deep').first().waitFor();
  await button(page, 'Approve').click();
  await page.locator('.answer', { hasText: 'Over.' }).waitFor();
  await state(page, 'idle');
});
