import assert from 'node:assert/strict';
import { test } from 'node:test';
import { button, openWorkstream, send, state, visit } from '../support/clients/browser.ts';
import { sharedStage } from '../support/daemon/stage.ts';
import { say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await sharedStage();

test('a summary is a fold with the original messages behind it, and a rewind undoes it', async (t) => {
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'long talk');
  const writing = stall();
  model.onRequest(({ messages }) => {
    if (JSON.stringify(messages[0]).includes('You summarize')) return [writing, say('They talked about sheds.')];
    return say('Well. '.repeat(200));
  });
  for (const [index, question] of ['first', 'second', 'third'].entries()) {
    await send(page, question);
    await page.locator('.block.answer').nth(index).waitFor();
    await state(page, 'idle');
  }
  const question = (text: string) => page.locator('.block.user', { hasText: text });
  await send(page, '/compact the sheds');
  await page.getByText('Summarizing the conversation.').waitFor();
  writing.release();
  const summary = page.getByRole('region', { name: 'Summary for the model' });
  await summary.waitFor();
  await summary.getByText('Summarized for the model').click();
  await summary.getByText('They talked about sheds.').waitFor();
  await button(page, 'Hide the original messages').waitFor(); // nothing disappears while somebody reads

  await page.reload();
  await summary.waitFor();
  assert.equal(await question('first').count(), 0);
  await button(page, 'Show the original messages').focus();
  await page.keyboard.press('Enter');
  await question('first').waitFor();
  await button(page, 'Hide the original messages').click();
  await question('first').waitFor({ state: 'detached' });

  await send(page, '/rewind');
  await summary.waitFor({ state: 'detached' });
  await question('first').waitFor();
  assert.equal(await question('third').count(), 0);
});
