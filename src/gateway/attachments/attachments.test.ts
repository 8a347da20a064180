import assert from 'node:assert/strict';
import { appendFile, mkdir, readdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { LIMITS } from '../../../protocol/limits.ts';
import { sqliteTest } from '../../testing/store-engine.ts';
import { DAEMON } from '../sharing/perception.ts';
import { storedFiles } from '../testing/attachment-bytes.ts';
import { callerOf, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

const ADA = 'ada';
const bytesOf = async function* (text: string) {
  yield Buffer.from(text);
};
const fileOf = (text: string, fileName = 'notes.txt') => ({ fileName, bytes: bytesOf(text) });

async function setUp(gateway: WholeGateway) {
  const wsId = await gateway.main();
  const owner = { wsId, principal: ADA };
  return {
    wsId,
    receive: (text: string, key?: string) =>
      gateway.gateway.attachments.receive({ ...owner, viewer: DAEMON }, fileOf(text), key),
    waiting: async () =>
      (await gateway.gateway.attachments.list({ ...owner, viewer: DAEMON })).map(({ attachment_id }) => attachment_id),
    onDisk: () => storedFiles(gateway),
    open: (id: string) => gateway.gateway.attachments.open({ ...owner, viewer: DAEMON }, id),
    send: (id: string, key: string) =>
      gateway.gateway.dispatch(
        'chat.send',
        { sessionKey: 'main', message: key, attachmentIds: [id], idempotencyKey: key },
        callerOf(),
      ),
  };
}

test('If two messages name the same file, one must get it, and the other must not be sent', async () => {
  await using gateway = await wholeGateway();
  const { wsId, receive, send, waiting } = await setUp(gateway);
  const { attachment_id: id } = await receive('shared');
  gateway.puppet.turn('seen');
  const outcomes = await Promise.allSettled([send(id, 'first'), send(id, 'second')]);
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []));
  assert.deepEqual(refused, ['CONFLICT']);
  await gateway.isIdle(wsId);
  const { messages } = await gateway.call('chat.history', { sessionKey: 'main' });
  const asked = messages.filter(({ role }) => role === 'user');
  assert.deepEqual([asked.length, await waiting()], [1, []]);
});

test('A queued message that is dropped must release its files', async () => {
  await using gateway = await wholeGateway();
  const { receive, send, waiting } = await setUp(gateway);
  gateway.puppet.turn(new Promise(() => undefined));
  await gateway.call('chat.send', { sessionKey: 'main', message: 'busy', idempotencyKey: 'busy' });
  const { attachment_id: id } = await receive('again');
  await send(id, 'queued');
  assert.deepEqual(await waiting(), []);
  await gateway.call('chat.abort', { sessionKey: 'main' });
  assert.deepEqual(await waiting(), [id]);
});

test('the same file with the same key is stored once, even in parallel and after it was sent', async () => {
  await using gateway = await wholeGateway();
  const { wsId, receive, send, onDisk } = await setUp(gateway);
  const [first, second] = await Promise.all([receive('once', 'k'), receive('once', 'k')]);
  assert.deepEqual([second, await onDisk()], [first, [first.attachment_id]]);
  gateway.puppet.turn('seen');
  await send(first.attachment_id, 'take it');
  await gateway.isIdle(wsId);
  await gateway.restart();
  assert.deepEqual([await receive('once', 'k'), await onDisk()], [first, [first.attachment_id]]);
});

test('another file with a used key is a conflict and leaves nothing', async () => {
  await using gateway = await wholeGateway();
  const { receive, waiting, onDisk } = await setUp(gateway);
  const { attachment_id: id } = await receive('one', 'k');
  await assert.rejects(receive('two', 'k'), { code: 'CONFLICT', message: /^this idempotency key was used/ });
  assert.deepEqual([await waiting(), await onDisk()], [[id], [id]]);
});

test('at the limit a repeat is still answered, and a refused file may be uploaded later', async () => {
  await using gateway = await wholeGateway();
  const { wsId, receive, waiting, onDisk } = await setUp(gateway);
  const first = await receive('0', 'k0');
  for (let i = 1; i < LIMITS.pendingAttachments; i += 1) await receive(`${i}`);
  assert.deepEqual(await receive('0', 'k0'), first);
  for (const key of [undefined, 'late']) await assert.rejects(receive('late', key), { code: 'CONFLICT' });
  assert.equal((await onDisk()).length, LIMITS.pendingAttachments);
  await gateway.gateway.attachments.remove({ viewer: DAEMON, wsId, principal: ADA }, first.attachment_id);
  const late = await receive('late', 'late');
  assert.equal((await waiting()).includes(late.attachment_id), true);
});

sqliteTest('one caller may have twenty simultaneous uploads, and others their own twenty', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  const going = Promise.withResolvers<void>();
  const slow = async function* () {
    await going.promise;
    yield Buffer.from('slow');
  };
  const receive = (principal: string) =>
    gateway.gateway.attachments.receive({ viewer: DAEMON, wsId, principal }, { fileName: 'a', bytes: slow() });
  const uploads = Array.from({ length: LIMITS.uploadsAtOnce }, () => receive(ADA));
  const busy = { code: 'BUSY', message: 'Too many simultaneous uploads (limit 20); retry later', retryable: true };
  await assert.rejects(receive(ADA), busy);
  const other = receive('bob');
  going.resolve();
  const outcomes = await Promise.allSettled([...uploads, other]);
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, LIMITS.pendingAttachments + 1);
});

test('files not sent for a week are removed, row and file', async () => {
  await using gateway = await wholeGateway();
  const { receive, waiting, onDisk } = await setUp(gateway);
  const { attachment_id: old } = await receive('old');
  await gateway.clock.leap(4 * 86_400_000);
  const { attachment_id: young } = await receive('young');
  await gateway.gateway.attachments.sweep();
  assert.deepEqual(await waiting(), [old, young]);
  await gateway.clock.leap(4 * 86_400_000);
  await gateway.gateway.attachments.sweep();
  assert.deepEqual([await waiting(), await onDisk()], [[young], [young]]);
});

sqliteTest('files that are not ours are not removed, and keep no others from being removed', async () => {
  await using gateway = await wholeGateway();
  const { receive } = await setUp(gateway);
  await receive('kept');
  const at = (name: string) => join(gateway.dir, 'attachments', name);
  for (const name of ['.DS_Store', 'passwd', 'a b']) await writeFile(at(name), 'mine');
  await mkdir(at('att_folder'));
  for (const name of ['att_unused', 'att_zz.part']) await writeFile(at(name), 'unused');
  await gateway.gateway.attachments.sweep();
  const left = (await readdir(at('.'))).filter((name) => !/^att_.{16}$/.test(name));
  assert.deepEqual(left.sort(), ['.DS_Store', 'a b', 'att_folder', 'passwd']);
});

const DAMAGES: Record<string, (file: string) => Promise<void>> = {
  gone: (file) => rm(file),
  truncated: (file) => truncate(file, 3),
  grown: (file) => appendFile(file, 'more'),
  'another file': (file) => rm(file).then(() => symlink('/etc/passwd', file)),
  'no file': (file) => rm(file).then(() => mkdir(file)),
};

for (const [damage, apply] of Object.entries(DAMAGES)) {
  sqliteTest(`a file that is ${damage} is neither served nor sent, and the log reports it`, async () => {
    await using gateway = await wholeGateway();
    const { wsId, receive, send, open, waiting } = await setUp(gateway);
    const [{ attachment_id: bad }, { attachment_id: good }] = [await receive('was whole'), await receive('is whole')];
    await apply(join(gateway.dir, 'attachments', bad));
    await assert.rejects(open(bad), { code: 'NOT_FOUND', message: 'The file of the attachment is gone or damaged' });
    const words = `The file of attachment ${bad} is gone or damaged; upload it again`;
    await assert.rejects(async () => send(bad, 'named'), { code: 'NOT_FOUND', message: words });
    gateway.puppet.turn('only one');
    const all = { wsId, message: 'all', attachmentIds: 'pending' } as const;
    const sent = await gateway.call('workstream.send', all);
    await gateway.isIdle(wsId);
    assert.deepEqual([sent.attachedIds, sent.droppedIds, await waiting()], [[good], [bad], [bad]]);
    assert.equal(
      gateway.log.lines.some(([, line]) => line === 'the file of an attachment is gone or damaged'),
      true,
    );
  });
}

sqliteTest('a file damaged after it was sent is described to the model, and the conversation continues', async () => {
  await using gateway = await wholeGateway();
  const { wsId, receive, send } = await setUp(gateway);
  const { attachment_id: id } = await receive('was whole');
  for (const key of ['before', 'after']) {
    gateway.puppet.turn('a pity');
    if (key === 'before') await send(id, key);
    else await gateway.call('chat.send', { sessionKey: 'main', message: key, idempotencyKey: key });
    await gateway.isIdle(wsId);
    await truncate(join(gateway.dir, 'attachments', id), 3);
  }
  assert.deepEqual(
    gateway.puppet.requests.map(({ attachments }) => attachments?.get(id)),
    [
      { kind: 'text', text: 'was whole' },
      { kind: 'absent', why: 'its file is gone or damaged' },
    ],
  );
});

test('a repeat with the key of a removed file is a conflict and restores nothing', async () => {
  await using gateway = await wholeGateway();
  const { wsId, receive, waiting, onDisk } = await setUp(gateway);
  const { attachment_id: id } = await receive('mistaken', 'k');
  await gateway.gateway.attachments.remove({ viewer: DAEMON, wsId, principal: ADA }, id);
  const removed = { code: 'CONFLICT', message: /^the file of this idempotency key was removed/ };
  await assert.rejects(receive('mistaken', 'k'), removed);
  await gateway.restart();
  await assert.rejects(receive('mistaken', 'k'), removed);
  assert.deepEqual([await waiting(), await onDisk()], [[], []]);
});
