import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWorkstream, send, state, visit } from '../support/clients/browser.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { openTerminal } from '../support/clients/terminal.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const WORDS = ['Denied by user 7 times', 'Blocked: 3 threads', 'Cancelled by user', 'Outcome unknown: 2'];
const printing = WORDS.map((words) => ({ name: 'bash', arguments: { command: `echo '${words}' | tee words` } }));
model.when('print them', callTools(...printing), say('All printed.'));

test('the outcome of a call does not depend on how its text begins', async () => {
  await using talk = await openConversation(daemon);
  const { answer } = await talk.ask('print them');
  const { approval_id } = await talk.until('approve_request');
  await talk.decide(approval_id, { approved: true });
  await answer;
  const { events } = await talk.agree();
  const results = events.flatMap(({ event }) => (event.type === 'tool_result' ? [event] : []));
  assert.deepEqual(
    results.map(({ outcome, is_error }) => [outcome, is_error]),
    WORDS.map(() => ['done', false]),
  );
  await using stream = await daemon.sse(talk.wsId);
  const { data } = await stream.until('history');
  const shown = data.messages.filter(({ role }: { role: string }) => role === 'tool');
  assert.deepEqual(
    shown.map(({ content, outcome }: { content: string; outcome: string }) => [content.trim(), outcome]),
    WORDS.map((words) => [words, 'done']),
  );
});

test('the page shows a command that only prints such words as done, both live and after a reload', async (t) => {
  const { page } = await visit(t, daemon);
  await openWorkstream(page, 'words');
  await send(page, 'print them');
  await page.getByRole('button', { name: 'Approve all', exact: true }).click();
  for (const _visit of ['live', 'reloaded']) {
    await page.locator('.answer', { hasText: 'All printed.' }).waitFor();
    await state(page, 'idle');
    const phases = await page.locator('.tool .tool-phase').allInnerTexts();
    assert.deepEqual(
      phases.map((text) => text.trim()),
      WORDS.map(() => 'done'),
    );
    await page.reload();
  }
});

test('a terminal opened later shows such commands as done, too', async () => {
  const client = await daemon.client();
  const { wsId } = await client.call('workstream.create', { autoApprove: true });
  const { runId } = await client.call('chat.send', {
    sessionKey: wsId,
    message: 'print them',
    idempotencyKey: 'words',
  });
  await client.call('agent.wait', { runId });
  await using terminal = openTerminal({
    args: ['chat', '--ws', wsId.slice(0, 10)],
    env: { HEADGATE_HOME: daemon.home },
  });
  const rows = await terminal.until((seen) => seen.some((row) => row.includes('All printed.')), 'the answer');
  assert.equal(rows.filter((row) => row.startsWith('✔ bash')).length, WORDS.length);
});

test('a denial with the text of a cancel or a timeout is shown as a denial', async (t) => {
  const { page } = await visit(t, daemon);
  const wsId = await openWorkstream(page, 'reasons');
  const client = await daemon.client();
  model.when('ask me', callTools({ name: 'bash', arguments: { command: 'touch it' } }), say('As you wish.'));
  for (const feedback of ['Cancelled by user', 'Approval timed out after 1 hour']) {
    await send(page, 'ask me');
    await page.locator('.approval.pending').waitFor();
    const { approvals } = await client.call('approval.list', { wsId });
    await client.call('approval.resolve', { approvalId: approvals[0]?.approvalId ?? '', approved: false, feedback });
    await page.locator('.outcome.denied', { hasText: feedback }).waitFor();
    await state(page, 'idle');
  }
  await page.reload();
  await page.locator('.outcome.denied', { hasText: 'Denied: bash' }).nth(1).waitFor();
  assert.equal(await page.locator('.tool.denied').count(), 2);
});
