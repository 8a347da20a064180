import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { openConversation } from '../support/clients/conversation.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const workFile = (name: string) => path.join(daemon.home, 'workspace', name);

const PATCH = [
  ...['*** Begin Patch', '*** Update File: a.poem', '-snow', '+rain', '*** Delete File: b.poem'],
  ...[
    '*** Add File: c.poem',
    '+sun',
    '*** Update File: d.poem',
    '*** Move to: e.poem',
    '-ice',
    '+moss',
    '*** End Patch',
  ],
].join('\n');
const BEFORE = { 'a.poem': 'snow\n', 'b.poem': 'hail\n', 'd.poem': 'ice\n' };
const AFTER = { 'a.poem': 'rain\n', 'c.poem': 'sun\n', 'e.poem': 'moss\n' };

/** The poems, and what has been left next to them. */
async function poems(): Promise<Record<string, string>> {
  const names = (await readdir(path.join(daemon.home, 'workspace'))).filter((name) => name.includes('.poem')).sort();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(workFile(name), 'utf8')])),
  );
}

// The renames are those of a, b, c, and of d, which has two: it is removed, and e appears.
for (const [nth, left] of [
  [1, undefined],
  [3, ['Changed or new: a.poem.', 'Not there: b.poem, c.poem, e.poem.', 'As before: d.poem.']],
  [5, ['Changed or new: a.poem, c.poem.', 'Not there: b.poem, d.poem, e.poem.']],
] as const)
  test(`killed before the rename ${nth} of a patch: it is applied completely, or what is left of it is named, and can be taken back`, async () => {
    await daemon.restart({
      entry: new URL('../support/fixtures/dying-renamer.ts', import.meta.url),
      env: { DIE_AT_RENAME: String(nth) },
    });
    for (const name of Object.keys(AFTER)) await rm(workFile(name), { force: true });
    for (const [name, text] of Object.entries(BEFORE)) await writeFile(workFile(name), text);
    await using talk = await openConversation(daemon, { autoApprove: true });
    const reads = Object.keys(BEFORE).map((name, n) => ({
      name: 'read_file',
      arguments: { path: name },
      id: `read_${n}`,
    }));
    const patch = callTools({ name: 'apply_patch', arguments: { patch: PATCH }, id: 'patch' });
    model.when(`patches ${nth}`, callTools(...reads), patch, say('done'));
    const question = await talk.ask(`patches ${nth}`);
    question.answer.catch(() => undefined); // the connection is lost
    assert.deepEqual(await daemon.exited(), { code: null, signal: 'SIGKILL' });
    await daemon.restart();
    await talk.reconnect();
    const { approval_id: approvalId, items } = await talk.until('approve_request', ({ kind }) => kind === 'outcome');
    const interrupted = [
      'The patch was interrupted and may be applied in part. Read its files before you change them again.',
    ];
    assert.equal(items[0]?.error ?? undefined, left && [...interrupted, ...left].join('\n'));
    await talk.decide(approvalId, { approved: true });
    const { runId } = question;
    assert.deepEqual(await talk.repeat(question), { runId, status: 'ok', summary: 'completed' });
    const { messages } = await talk.agree();
    const [result] = messages.flatMap((message) =>
      message.role === 'tool' && message.callId === 'patch' ? [message] : [],
    );
    const files = await poems();
    if (left === undefined)
      assert.deepEqual(
        [result?.outcome, Object.fromEntries(Object.entries(files).filter(([name]) => !name.endsWith('.tmp')))],
        ['done', AFTER],
      );
    else {
      assert.equal(result?.outcome, 'unknown');
      assert.ok(result.output.endsWith(left.join('\n')), result.output);
      assert.deepEqual([files['a.poem'], files['b.poem'], files['e.poem']], ['rain\n', undefined, undefined]);
    }
    const { changed } = await talk.client.call('checkpoint.undo', { wsId: talk.wsId });
    assert.ok(changed.includes('a.poem'));
    assert.deepEqual(await poems(), BEFORE);
  });
