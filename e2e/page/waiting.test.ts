import assert from 'node:assert/strict';
import { test } from 'node:test';
import { button, openWorkstream, send, state, visit } from '../support/clients/browser.ts';
import { openStage } from '../support/daemon/stage.ts';
import { fail, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

test('a wait for the model is shown with its end, survives a reload, and ends by "Try now" or "Stop"', async (t) => {
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'waiting');
  model.when('are you there', fail(429, { retryAfterSecs: 250, message: 'slow down' }));
  await send(page, 'are you there');
  const notice = page.getByRole('region', { name: 'Waiting for the model' });
  await notice.getByText(/is at its rate limit\. Next attempt in 4 min( \d+ s)? \(2 of 6\)\./).waitFor();
  await notice.getByText(/answered 429: slow down/).waitFor();
  await page.reload();
  await notice.waitFor();

  model.when('are you there', say('I am.'));
  await button(page, 'Try now').click();
  await page.getByText('I am.').first().waitFor();
  await state(page, 'idle');
  assert.equal(await notice.count(), 0);

  model.when('and now', fail(529, { retryAfterSecs: 250, message: 'too much' }));
  await send(page, 'and now');
  await notice.getByText(/answered 529: too much/).waitFor();
  await notice.getByRole('button', { name: 'Stop' }).click();
  await state(page, 'idle');
  assert.equal(await notice.count(), 0);
});

test('messages that wait for a model that is away are held with the reason, also after a reload, and sent by "Send now"', async (t) => {
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'held');
  model.when('the first', fail(429, { retryAfterSecs: 250 }));
  await send(page, 'the first');
  await page.getByRole('region', { name: 'Waiting for the model' }).waitFor();
  await send(page, 'the second');
  const queue = page.getByRole('list', { name: 'Waiting messages' });
  await queue.getByText('the second').waitFor();
  model.when('the first', fail(503, { retryAfterSecs: 400, message: 'nobody home' }));
  model.when('the second', say('second answer'));
  model.isAway = true; // if a probe finds the model, the daemon sends the held messages itself
  await button(page, 'Try now').click();
  const reason = queue.getByText(/^Not sent: .* answered 503: nobody home\..* Check that the server is running/);
  await reason.waitFor();
  await page.reload();
  await reason.waitFor();
  assert.equal(await page.getByText('second answer').count(), 0);
  model.isAway = false;
  await queue.getByRole('button', { name: 'Send now' }).click();
  await page.getByText('second answer').first().waitFor();
  assert.equal(await queue.count(), 0);
});
