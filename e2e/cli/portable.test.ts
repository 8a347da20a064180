import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { LIMITS } from '../../protocol/limits.ts';
import { needs } from '../../src/testing/needs.ts';
import { openTerminal } from '../support/clients/terminal.ts';
import { runHeadgate } from '../support/daemon/daemon.ts';
import { openStage } from '../support/daemon/stage.ts';
import { mountSmallDisk } from '../support/faults/full-disk.ts';
import { say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();
model.when('hello', say('Hello.'));
const env = { HEADGATE_HOME: daemon.home };

const newFolder = async (t: { after(work: () => Promise<void>): void }): Promise<string> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'portable-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

test('headgate export prints a conversation, and headgate import continues it in a new workstream', async (t) => {
  const folder = await newFolder(t);
  const client = await daemon.client();
  const { wsId } = await client.call('workstream.create', { name: 'garden' });
  await client.call('agent', { sessionKey: wsId, message: 'hello', idempotencyKey: 'hello' });
  await client.call('workstream.close', { wsId });
  const file = path.join(folder, 'garden.json');
  assert.deepEqual(await runHeadgate(['export', 'garden', '--output', file], env), { code: 0, stdout: '', stderr: '' });
  const text = await readFile(file, 'utf8');
  assert.deepEqual((await runHeadgate(['export', wsId], env)).stdout, text);
  const { workstreams: open } = await client.call('workstream.list', {});
  assert.equal(
    open.some((row) => row.wsId === wsId),
    false,
    'an export opens nothing',
  );
  const imported = await runHeadgate(['import', file, '--name', 'copy', '--model', 'unheard'], env);
  assert.match(imported.stdout, /^Imported 2 messages as copy\. Continue with: headgate chat --ws [0-9a-f]{32}\n$/);
  assert.equal(imported.stderr, 'Unknown model "unheard": the default model is used.\n');
  const again = await runHeadgate(['export', 'copy'], env);
  assert.deepEqual(JSON.parse(again.stdout), { ...JSON.parse(text), name: 'copy' });
  const piped = await runHeadgate(['import', '-', '--json'], env, { input: text });
  assert.equal(JSON.parse(piped.stdout).message_count, 2);
  const markdown = await runHeadgate(['export', 'copy', '--markdown'], env);
  assert.match(markdown.stdout, /^# hello\n\n## You · [-\d]+ [:\d]+ UTC\n\nhello\n\n## Assistant · .*\n\nHello\.\n$/);
});

test('what a conversation says cannot control the terminal in which it is printed', async () => {
  const client = await daemon.client();
  const { wsId } = await client.call('workstream.create', { name: 'tricks' });
  const trick = 'before\u001b]0;owned\u0007 \u009b2J\u202eafter';
  model.when('play', say(trick));
  await client.call('agent', { sessionKey: wsId, message: 'play', idempotencyKey: 'tricks' });
  for (const flags of [[], ['--markdown']]) {
    await using terminal = openTerminal({ args: ['export', wsId, ...flags], env, rows: 60 });
    const rows = await terminal.until((shown) => shown.some((row) => row.includes('after')), 'the answer');
    assert.ok(
      rows.some((row) => row.includes('before')),
      rows.join('\n'),
    );
    for (const part of ['owned\u0007', '\u009b', '\u202e']) assert.ok(!terminal.raw().includes(part), part);
    const piped = await runHeadgate(['export', wsId, ...flags], env);
    assert.ok(piped.stdout.includes('\u202e'), 'a file has it as it was');
  }
});

test('an export that does not fit on the disk leaves no part of a file', await needs('small disks'), async () => {
  const client = await daemon.client();
  const { wsId } = await client.call('workstream.create', {});
  await client.call('agent', { sessionKey: wsId, message: 'hello', idempotencyKey: 'full' });
  using disk = mountSmallDisk(1);
  disk.fill();
  const file = path.join(disk.folder, 'a.json');
  const { code, stderr } = await runHeadgate(['export', wsId, '--output', file], env);
  assert.deepEqual([code, stderr], [2, `headgate: ${file} cannot be written: the disk is full\n`]);
  assert.deepEqual(await readdir(disk.folder), ['ballast']);
});

test('wrong files and names are reported', async (t) => {
  const folder = await newFolder(t);
  const told = async (...argv: string[]) => {
    const { code, stderr } = await runHeadgate(argv, env);
    return [code, stderr];
  };
  assert.deepEqual(await told('import', path.join(folder, 'none.json')), [
    2,
    `headgate: ${path.join(folder, 'none.json')} cannot be read: it does not exist\n`,
  ]);
  const [code, text] = await told('import', path.join(import.meta.dirname, 'portable.test.ts'));
  assert.deepEqual(code, 2);
  assert.match(String(text), /is not JSON\. Use a file that headgate export wrote without --markdown\.\n$/);
  const [other, why] = await told('import', path.join(import.meta.dirname, '../../package.json'));
  assert.deepEqual(other, 2);
  assert.match(String(why), /is not an exported conversation: format: /);
  assert.match(String((await told('export', 'nobody'))[1]), /^headgate: Unknown workstream "nobody"/);
  assert.match(String((await told('export', 'main'))[1]), /no messages to export/);
  await (await daemon.client()).call('agent', { message: 'hello', idempotencyKey: 'main' });
  const file = path.join(folder, 'main.md');
  assert.deepEqual(await told('export', 'main', '--markdown', '--output', file), [0, '']);
  assert.deepEqual(await told('export', 'main', '--output', file), [
    2,
    `headgate: ${file} cannot be written: it exists already\n`,
  ]);
});

test('a file that never ends, or is longer than any exported conversation, is refused', async () => {
  for (const [name, more] of [
    ['/dev/zero', {}],
    ['-', { input: ' '.repeat(LIMITS.conversationFileBytes + 1) }],
  ] as const) {
    const { code, stderr } = await runHeadgate(['import', name], env, more);
    const shown = name === '-' ? 'The standard input' : name;
    assert.deepEqual([code, stderr], [2, `headgate: ${shown} is too large: at most 64 MiB are read.\n`]);
  }
});

test('/export writes the conversation of a chat to a file', async (t) => {
  const folder = await newFolder(t);
  const file = path.join(folder, 'a talk.md');
  const input = `hello\n/export ${file}\n/export ${path.join(folder, 'talk.json')}\n`;
  const { stdout, code } = await runHeadgate(['chat', '--new', '--ws', 'talk'], env, { input });
  assert.equal(code, 0);
  assert.ok(stdout.includes(`The conversation was written to ${file}`));
  assert.match(await readFile(file, 'utf8'), /^# hello\n/);
  assert.equal(JSON.parse(await readFile(path.join(folder, 'talk.json'), 'utf8')).name, 'talk');
});
