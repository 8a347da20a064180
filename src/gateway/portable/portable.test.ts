import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConversationFile } from '../../../protocol/methods/conversation/conversation-file.ts';
import type { FileMessage } from '../../../protocol/methods/conversation/file-message.ts';
import type { Attachment } from '../../../protocol/stream-events.ts';
import { createOutputSource } from '../history/output-source.ts';
import { DAEMON } from '../sharing/perception.ts';
import { loseFile, storedFiles } from '../testing/attachment-bytes.ts';
import { calling } from '../testing/puppet-model.ts';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';
import { exported, imageOf, textOf } from './portable-fixture.ts';

const user = (content: string, more: object = {}): FileMessage => ({ role: 'user', createdMs: 1, content, ...more });
const answer = (content: string, ...ids: string[]): FileMessage => ({
  role: 'assistant',
  createdMs: 2,
  content,
  toolCalls: ids.map((id) => ({ id, name: 'look', arguments: '{}' })),
});
const result = (callId: string): FileMessage => ({
  role: 'tool',
  createdMs: 3,
  callId,
  name: 'look',
  output: 'seen',
  outcome: 'done',
});

const fileOf = (messages: FileMessage[], more: Partial<ConversationFile> = {}): ConversationFile => ({
  format: 'headgate-conversation',
  version: 1,
  messages,
  notes: [],
  files: [],
  ...more,
});

/** Sends a message with an image; returns the image. */
async function sendImage(gateway: WholeGateway, wsId: string): Promise<Attachment> {
  async function* bytes() {
    yield imageOf('seen');
  }
  const owner = { wsId, principal: 'ada' };
  const image = await gateway.gateway.attachments.receive(
    { ...owner, viewer: DAEMON },
    { fileName: 'a.png', bytes: bytes() },
  );
  await gateway.call('workstream.send', { wsId, message: 'look at it', attachmentIds: [image.attachment_id] });
  await gateway.isIdle(wsId);
  return image;
}

test('the rest of a long output stays behind, and whoever reads it learns that', async () => {
  await using gateway = await wholeGateway({
    execute: async () => ({
      ...{ output: 'a [...] z', outcome: 'done', kept: { name: 'out_1.log', bytes: 60_000 } },
      ...{ limit: 'memory', refusedHosts: [{ host: 'api.example.org', port: 443, reason: 'not_allowed' }] },
    }),
  });
  gateway.puppet.turn(calling('look', {}, 'call_1'));
  await (await gateway.accept('look'))?.ended;
  const file = await exported(gateway, await gateway.main());
  assert.doesNotMatch(JSON.stringify(file), /out_1\.log|api\.example\.org/);
  const { wsId } = await gateway.call('workstream.import', { conversation: file });
  const { messages } = await gateway.call('workstream.history', { wsId });
  assert.equal(messages.find(({ role }) => role === 'tool')?.whole_bytes, 60_000);
  const source = createOutputSource({ store: gateway.store, outputs: { open: async () => undefined } });
  assert.deepEqual(await source.open(wsId, 'call_1'), { kind: 'expired' });
  assert.deepEqual(await gateway.refusal('output.read', { wsId, callId: 'call_1' }), {
    code: 'NOT_FOUND',
    message: 'This output has expired',
  });
});

test('the result of a watch is exported like another message', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', {});
  const workstream = await gateway.parts.workstreams.get(wsId, DAEMON);
  const watch = { id: 'wat_1', taint: { kind: 'network' as const } };
  const handle = await gateway.parts.runs.accept(workstream, {
    ...{ message: '[watch "build"] done', principal: 'ada', rights: 'approve', source: 'agent' },
    ...{ request: { watch }, also: () => [] },
  });
  await handle.ended;
  const file = await exported(gateway, wsId);
  assert.deepEqual(
    file.messages.map((message) => 'content' in message && message.content),
    ['[watch "build"] done', 'ok'],
  );
});

test('Exporting an imported conversation must give the same file', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await gateway.call('workstream.update', { wsId, name: 'garden', model: 'other' });
  gateway.puppet.turn(calling('look'));
  await (await gateway.accept('look'))?.ended;
  const image = await sendImage(gateway, wsId);
  const file = await exported(gateway, wsId);
  assert.equal(JSON.stringify(file).includes(image.attachment_id), false);
  assert.deepEqual([file.name, file.title, file.model], ['garden', 'look', 'other']);
  const made = await gateway.call('workstream.import', { conversation: file }, { scope: 'write', id: 'bob' });
  await gateway.crash();
  assert.deepEqual(await exported(gateway, made.wsId), file);
  const to = gateway.parts.workstreams.find(made.wsId, DAEMON);
  assert.ok(to);
  await (await gateway.accept('and now?', { to }))?.ended;
  const asked = gateway.puppet.requests.at(-1)?.messages ?? [];
  assert.deepEqual(
    asked.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant', 'user'],
  );
  const sent = asked.find((message) => message.role === 'user' && message.attachments);
  const [copy] = sent?.role === 'user' ? (sent.attachments ?? []) : [];
  assert.notEqual(copy?.attachment_id, image.attachment_id);
  assert.deepEqual(await gateway.gateway.attachments.read(copy ?? assert.fail()), imageOf('seen'));
});

test('An invalid file must be refused with the place of the problem, and must change nothing', async () => {
  await using gateway = await wholeGateway();
  const image = { name: 'a.png', mimeType: 'image/png', sizeBytes: 8, base64: imageOf('').toString('base64') } as const;
  const withFile = (file: ConversationFile['files'][number]) => fileOf([user('a', { files: [0] })], { files: [file] });
  const refusals: [ConversationFile, string][] = [
    [fileOf([user('a'), answer('', 'c1')]), 'messages: the result of call "c1" is missing'],
    [fileOf([answer('', 'c1', 'c2'), result('c2'), user('b')]), 'messages.2: the result of call "c1" is missing'],
    [fileOf([result('c1')]), 'messages.0.callId: no call before it has this id and no result yet'],
    [
      fileOf([answer('', 'c1'), result('c1'), result('c1')]),
      'messages.2.callId: no call before it has this id and no result yet',
    ],
    [
      fileOf([answer('', 'c1'), { ...result('c1'), name: 'touch' } as FileMessage]),
      'messages.1.name: the call was of "look"',
    ],
    [
      fileOf([{ ...answer('a'), cutPart: { contentChars: 2, reasoningChars: 0 } } as FileMessage]),
      'messages.0.cutPart.contentChars: longer than the content',
    ],
    [fileOf([user('a', { files: [0] })]), 'messages.0.files.0: there are only 0 files'],
    [fileOf([user('a')], { files: [image] }), 'files.0: no message has this file'],
    [withFile({ ...image, base64: 'a' }), 'files.0: base64 is not valid'],
    [withFile({ ...image, mimeType: 'image/gif' }), 'files.0: its bytes are image/png, not image/gif'],
    [withFile({ ...image, sizeBytes: 9 }), 'files.0: it has 8 bytes, not 9'],
    [
      withFile({ ...image, base64: 'AAAA' }),
      'files.0: Only images (PNG, JPEG, GIF, WebP), PDFs, recordings, videos and UTF-8 text can be attached',
    ],
    [
      fileOf([user('a')], { notes: [{ kind: 'info', createdMs: 1, after: 2, message: 'x' }] }),
      'notes.0.after: the file has only 1 messages',
    ],
    [fileOf([user('a')], { name: 'main' }), "The name 'main' is reserved"],
  ];
  for (const [conversation, message] of refusals)
    assert.deepEqual(await gateway.refusal('workstream.import', { conversation }), {
      code: 'INVALID_REQUEST',
      message,
    });
  for (const conversation of [{}, { ...fileOf([user('a')]), version: 2 }, fileOf([user('a', { trusted: true })])])
    assert.match((await gateway.refusal('workstream.import', { conversation })).message, /^invalid workstream\.import/);
  assert.equal((await gateway.call('workstream.list', {})).workstreams.length, 1);
  assert.deepEqual(await gateway.store.db.selectFrom('attachments').selectAll().execute(), []);
  assert.deepEqual(await storedFiles(gateway), []);
});

test('an import that cannot be stored leaves nothing', async () => {
  await using gateway = await wholeGateway();
  const image = { name: 'a.png', mimeType: 'image/png', sizeBytes: 8, base64: imageOf('').toString('base64') } as const;
  const conversation = fileOf([user('a', { files: [0] })], { files: [image] });
  gateway.disk.fails = () => true;
  assert.equal((await gateway.refusal('workstream.import', { conversation })).code, 'UNAVAILABLE');
  gateway.disk.fails = undefined;
  assert.deepEqual(await storedFiles(gateway), []);
  assert.equal((await gateway.call('workstream.list', {})).workstreams.length, 1);
  await gateway.call('workstream.import', { conversation });
  await gateway.gateway.attachments.sweep();
  assert.equal((await storedFiles(gateway)).length, 1);
});

test('an import has no permissions, and its messages are not trusted', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.import', { conversation: fileOf([user('a'), answer('b')]) });
  const { workstream } = (await gateway.call('workstream.get', { wsId })).snapshot;
  assert.equal(workstream.skipPermissions, false);
  const rows = await gateway.store.db.selectFrom('messages').select('body_json').where('ws_id', '=', wsId).execute();
  assert.deepEqual(
    rows.map(({ body_json }) => JSON.parse(body_json)),
    [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b', toolCalls: [] },
    ],
  );
});

test('a repeated key imports once, also after a restart', async () => {
  await using gateway = await wholeGateway();
  const keyed = { conversation: fileOf([user('a')]), idempotencyKey: 'k' };
  const first = await gateway.call('workstream.import', keyed);
  await gateway.restart();
  assert.deepEqual(await gateway.call('workstream.import', keyed), first);
  assert.equal((await gateway.call('workstream.list', {})).workstreams.length, 2);
});

test('an unknown model and missing files are reported; the conversation works without them', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  const image = await sendImage(gateway, wsId);
  await loseFile(gateway, image.attachment_id);
  const file = await exported(gateway, wsId);
  assert.deepEqual(file.files, [{ name: 'a.png', mimeType: 'image/png', sizeBytes: 12 }]);
  const made = await gateway.call('workstream.import', { conversation: { ...file, model: 'unheard' } });
  assert.deepEqual([made.unknownModel, made.missingFiles], ['unheard', ['a.png']]);
  const to = gateway.parts.workstreams.find(made.wsId, DAEMON);
  assert.ok(to);
  assert.equal((await (await gateway.accept('b', { to }))?.ended)?.status, 'ok');
  assert.deepEqual((await exported(gateway, made.wsId)).files, file.files);
});

test('exporting needs an existing conversation with messages, and the read scope', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  const refusal = (id: string) => gateway.refusal('workstream.export', { wsId: id });
  assert.deepEqual(await refusal(wsId), {
    code: 'INVALID_REQUEST',
    message: 'This conversation has no messages to export.',
  });
  for (const unknown of ['0'.repeat(32), 'main', ''])
    assert.deepEqual(await refusal(unknown), { code: 'NOT_FOUND', message: 'Unknown workstream' });
  const asReader = { scope: 'read' } as const;
  const conversation = fileOf([user('a')]);
  assert.equal((await gateway.refusal('workstream.import', { conversation }, asReader)).code, 'FORBIDDEN');
  const made = await gateway.call('workstream.import', { conversation });
  await gateway.call('workstream.close', { wsId: made.wsId });
  const { format } = await gateway.call('workstream.export', { wsId: made.wsId }, asReader);
  assert.equal(format, 'json', 'a closed one can be exported, too');
});

test('an export during a run leaves out its open calls', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  gateway.puppet.turn('Let me.', calling('touch'));
  await gateway.accept('touch it');
  await gateway.reaches(wsId, 'approve_request');
  const { messages } = await exported(gateway, wsId);
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user'],
  );
  const copy = await gateway.call('workstream.import', { conversation: await exported(gateway, wsId) });
  assert.equal(copy.messageCount, 1);
});

test('a damaged message refuses the export', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await (await gateway.accept('a'))?.ended;
  await gateway.store.commit({
    statements: [{ sql: "UPDATE messages SET body_json = '{}' WHERE seq = 2", parameters: [] }],
  });
  assert.match((await gateway.refusal('workstream.export', { wsId })).message, /damaged/);
});

test('Markdown shows questions, answers, calls with their results, files and notes', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  await gateway.call('workstream.command', { wsId, command: '/name a *plan*' });
  gateway.puppet.turn({ type: 'reasoning', text: 'hm ```' }, 'Let me.', calling('look', { at: 'it' }));
  gateway.puppet.turn('Done.');
  await sendImage(gateway, wsId);
  gateway.puppet.turn(new Error('a defect'));
  await (await gateway.accept('again'))?.ended;
  const answered = await gateway.call('workstream.export', { wsId, format: 'markdown' });
  assert.ok(answered.format === 'markdown');
  const time = '1970-01-01 00:16 UTC';
  assert.equal(
    answered.markdown,
    `# look at it

> This workstream is now called a *plan*.

## You · ${time}

look at it

*File: a.png (image/png, 12 bytes)*

## Assistant · ${time}

<details><summary>Reasoning</summary>

\`\`\`\`
hm \`\`\`
\`\`\`\`

</details>

Let me.

**Call of look**

\`\`\`json
{"at":"it"}
\`\`\`

**Result of look** (done)

\`\`\`
looked
\`\`\`

## Assistant · ${time}

Done.

## You · ${time}

again

*Not answered: Internal error (see the daemon’s log)*
`,
  );
});

test('5 000 messages are exported and imported', async () => {
  await using gateway = await wholeGateway();
  const messages = Array.from({ length: 1_250 }, (_, turn) => {
    const id = `c${turn}`;
    return [user(`question ${turn}`), answer('', id), result(id), answer(`answer ${turn}`)];
  }).flat();
  const conversation = fileOf(messages);
  const { wsId } = await gateway.call('workstream.import', { conversation });
  assert.deepEqual(await exported(gateway, wsId), conversation);
  const markdown = await textOf((await gateway.gateway.exports.open(wsId, DAEMON)).markdown());
  assert.equal(markdown.match(/^## You/gm)?.length, 1_250);
});
