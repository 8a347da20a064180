import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtempDisposable } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { LIMITS } from '../../protocol/limits.ts';
import { needs } from '../../src/testing/needs.ts';
import { queryPostgres } from '../../src/testing/postgres-server.ts';
import { secretTalks } from '../security/secret-talks.ts';
import { openInspector } from '../soak/inspector.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { type DaemonUnderTest, runHeadgate, startDaemon } from '../support/daemon/daemon.ts';
import { postgresScene } from '../support/daemon/postgres-scene.ts';
import { within } from '../support/deadline.ts';
import type { ScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const installed = await needs('postgresql');

const scene = postgresScene({ env: { NODE_OPTIONS: '--inspect=127.0.0.1:0' } });

const placeOf = (wsId: string, rest = '') => `/v1/api/workstreams/${wsId}/attachments${rest}`;

const newWorkstream = async (daemon: DaemonUnderTest): Promise<string> =>
  (await (await daemon.client()).call('workstream.create', {})).wsId;

async function upload(daemon: DaemonUnderTest, wsId: string, { bytes, name = 'a.txt', key }: Sent) {
  const form = new FormData();
  form.set('file', new File([bytes], name));
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  const response = await daemon.fetch(placeOf(wsId), { method: 'POST', body: form, headers });
  return { status: response.status, body: await response.json() };
}

interface Sent {
  bytes: Buffer<ArrayBuffer>;
  name?: string;
  key?: string;
}

async function digestOf(daemon: DaemonUnderTest, wsId: string, id: string): Promise<string> {
  const hash = createHash('sha256');
  const { body, status } = await daemon.fetch(placeOf(wsId, `/${id}/content`));
  assert.equal(status, 200);
  for await (const chunk of body ?? []) hash.update(chunk);
  return hash.digest('hex');
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Half of the form of an upload, and what sends the rest. */
function beginUpload(daemon: DaemonUnderTest, wsId: string, bytes: Buffer) {
  const sending = request(new URL(placeOf(wsId), daemon.url), {
    method: 'POST',
    agent: false, // the connection of an upload that failed ends
    headers: { authorization: `Bearer ${daemon.token}`, 'content-type': 'multipart/form-data; boundary=x' },
  });
  const answered = new Promise<number | undefined>((resolve) => {
    sending.on('error', () => resolve(undefined));
    sending.on('response', (response) => resolve(response.resume().statusCode));
  });
  sending.write('--x\r\nContent-Disposition: form-data; name="file"; filename="half.txt"\r\n\r\n');
  sending.write(bytes);
  return { answered, end: () => sending.end(Buffer.concat([bytes, Buffer.from('\r\n--x--\r\n')])) };
}

/** Asks again and again until the answer is so. */
async function asked(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const again = async (): Promise<void> => ((await isSo()) ? undefined : again());
  await within(again(), 60_000, () => what);
}

/** Until the database has some pieces of a file that is not complete. */
const untilHalf = (url: string) =>
  asked('a half file', async () => {
    const half = `select 1 from headgate.stored_files join headgate.stored_pieces using (file_id) where size_bytes is null`;
    return (await queryPostgres(url, half)).length > 0;
  });

const waiting = async (daemon: DaemonUnderTest, wsId: string): Promise<{ attachment_id: string }[]> =>
  (await daemon.get(placeOf(wsId))).body.attachments;

/** Bytes of files that are in the database. */
const storedBytes = async (url: string): Promise<number> => {
  const [row] = await queryPostgres(url, 'select sum(octet_length(bytes)) as stored from headgate.stored_pieces');
  return Number(row?.stored);
};

/** A download whose first bytes have been read; the rest waits in the daemon. */
async function beginDownload(daemon: DaemonUnderTest, wsId: string, id: string) {
  const { body, status } = await daemon.fetch(placeOf(wsId, `/${id}/content`));
  assert.equal(status, 200);
  const reader = body?.getReader();
  const hash = createHash('sha256').update((await reader?.read())?.value ?? '');
  return async (): Promise<string> => {
    for (let read = await reader?.read(); read?.value; read = await reader?.read()) hash.update(read.value);
    return hash.digest('hex');
  };
}

const FILES = 8;
/** Of one file that goes up or down: the pieces of the database, and what the connection has in its buffers. */
const HELD_BYTES = LIMITS.attachmentBytes / 5;

test(
  'over PostgreSQL, the largest files go up and down side by side with bounded memory, and none is in the home',
  installed,
  async (t) => {
    const { daemon, url } = await scene();
    const wsId = await newWorkstream(daemon);
    using inspector = await openInspector(daemon.output().stderr);
    const half = Buffer.from(randomBytes(LIMITS.attachmentBytes / 4).toString('hex'));
    const small = await upload(daemon, wsId, { bytes: half.subarray(0, 1_000_000) });
    const place = placeOf(wsId, `/${small.body.attachment_id}`);
    assert.equal(await digestOf(daemon, wsId, small.body.attachment_id), sha256(half.subarray(0, 1_000_000)));
    assert.equal((await daemon.fetch(place, { method: 'DELETE' })).status, 200);
    const { externalBytes: before } = await inspector.liveMemory();
    const isBounded = async (what: string) => {
      const mib = ((await inspector.liveMemory()).externalBytes - before) / 1024 ** 2;
      t.diagnostic(`${mib.toFixed(1)} MiB while ${FILES} files go ${what}`);
      assert.ok(mib < (FILES * HELD_BYTES) / 1024 ** 2, `${mib} MiB for ${FILES} files that go ${what}`);
    };

    const sending = Array.from({ length: FILES }, () => beginUpload(daemon, wsId, half));
    await asked('most of the halves', async () => (await storedBytes(url)) > 0.8 * FILES * half.length);
    await isBounded('up');
    for (const { end } of sending) end();
    assert.deepEqual(new Set(await Promise.all(sending.map(({ answered }) => answered))), new Set([200]));

    const ids = (await waiting(daemon, wsId)).map(({ attachment_id: id }) => id);
    const reading = await Promise.all(ids.map((id) => beginDownload(daemon, wsId, id)));
    await isBounded('down');
    const whole = sha256(Buffer.concat([half, half]));
    assert.deepEqual(
      await Promise.all(reading.map((rest) => rest())),
      Array.from({ length: FILES }, () => whole),
    );
    for (const id of ids) assert.equal((await daemon.fetch(placeOf(wsId, `/${id}`), { method: 'DELETE' })).status, 200);
    assert.equal((await queryPostgres(url, 'select 1 from headgate.stored_files')).length, 0, 'they are removed');
    assert.equal(existsSync(path.join(daemon.home, 'attachments')), false);
  },
);

test('over PostgreSQL, hostile names and ids reach no file, and another user gets 404', installed, async () => {
  const { daemon } = await scene();
  const { connect, newPerson } = secretTalks(daemon);
  const operator = await connect(daemon.token);
  const ada = await newPerson(operator, 'ada', ['builtin-viewer']);
  const made = await daemon.fetch('/v1/api/workstreams/new', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${daemon.token}` },
    body: JSON.stringify({ visibility: 'private' }),
  });
  const { ws_id: wsId } = await made.json();
  const name = `../../x'); drop table headgate.stored_files; --\u0000"\r\n.txt`;
  const { body } = await upload(daemon, wsId, { bytes: Buffer.from('kept'), name });
  assert.equal(await digestOf(daemon, wsId, body.attachment_id), sha256(Buffer.from('kept')));
  for (const id of ["x' or '1'='1", '..%2F..%2Ftoken', '%00', 'att_unknown']) {
    const { status } = await daemon.fetch(placeOf(wsId, `/${id}/content`));
    assert.ok(status === 404 || status === 400, `${id}: ${status}`);
  }
  for (const rest of ['', `/${body.attachment_id}/content`]) {
    const { status } = await daemon.fetch(placeOf(wsId, rest), { headers: { authorization: `Bearer ${ada.jwt}` } });
    assert.equal(status, 404);
  }
});

test(
  'an upload during which PostgreSQL or the daemon is killed leaves no attachment, and can be repeated',
  installed,
  async () => {
    const { daemon, server, url } = await scene();
    const wsId = await newWorkstream(daemon);
    const bytes = Buffer.from(randomBytes(400_000).toString('hex'));
    const first = beginUpload(daemon, wsId, bytes);
    await untilHalf(url);
    await server.kill();
    await asked('a degraded store', async () => (await daemon.get('/health')).body.store.status !== 'ok');
    first.end();
    await server.start();
    // A commit of which only the answer was lost is known to be stored once the server is back, and the upload goes on.
    const isStored = (await first.answered) === 200;
    if (!isStored) assert.equal(await first.answered, 503);
    await asked('a healthy store', async () => (await daemon.get('/health')).body.store.status === 'ok');
    assert.equal((await waiting(daemon, wsId)).length, isStored ? 1 : 0);
    await queryPostgres(url, 'delete from headgate.stored_files where size_bytes is null');

    const second = beginUpload(daemon, wsId, bytes);
    await untilHalf(url);
    await daemon.kill9();
    assert.equal(await second.answered, undefined);
    await daemon.restart();
    assert.equal((await waiting(daemon, wsId)).length, isStored ? 1 : 0);
    const again = await upload(daemon, wsId, { bytes, key: 'again' });
    const repeated = await upload(daemon, wsId, { bytes, key: 'again' });
    assert.deepEqual([again.status, repeated.body], [200, again.body]);
    assert.equal(await digestOf(daemon, wsId, again.body.attachment_id), sha256(bytes));
  },
);

const numbers = Array.from({ length: 60_000 }, (_, at) => `${at + 1}\n`).join('');

/** A conversation with a call whose output is too long to show. */
async function countUp(daemon: DaemonUnderTest, model: ScriptedModel) {
  await using talk = await openConversation(daemon);
  model.when('count up', callTools({ name: 'bash', arguments: { command: 'seq 1 60000' } }), say('counted'));
  const question = await talk.ask('count up');
  const { call_id: callId } = await talk.until('tool_result');
  await talk.ended(question);
  return { wsId: talk.wsId, callId };
}

test('doctor reports files of messages that the database does not have', installed, async () => {
  const { daemon, url } = await scene();
  const wsId = await newWorkstream(daemon);
  const { body } = await upload(daemon, wsId, { bytes: Buffer.from('to be lost') });
  await queryPostgres(url, `delete from headgate.stored_files where file_id = '${body.attachment_id}'`);
  await using home = await mkdtempDisposable(path.join(tmpdir(), 'headgate-doctor-'));
  const { stdout } = await runHeadgate(['doctor', '--json', '--home', home.path], { HEADGATE_STORE_URL: url });
  const { findings }: { findings: { name: string; level: string; text: string }[] } = JSON.parse(stdout);
  const found = findings.find(({ name }) => name === 'database');
  assert.match(`${found?.level}: ${found?.text}`, /^warning: PostgreSQL .* has no bytes for 1 files of messages$/);
  const gone = await daemon.fetch(placeOf(wsId, `/${body.attachment_id}/content`));
  assert.deepEqual([gone.status, (await gone.json()).error], [404, 'The file of the attachment is gone or damaged']);
  await daemon.fetch(placeOf(wsId, `/${body.attachment_id}`), { method: 'DELETE' });
});

test(
  'a daemon with another home reads the files and long outputs of the first one, which has stopped',
  installed,
  async () => {
    const { daemon, url, model } = await scene();
    const { wsId, callId } = await countUp(daemon, model);
    const bytes = Buffer.from(randomBytes(1_000_000).toString('hex'));
    const { body } = await upload(daemon, wsId, { bytes, name: 'for both.txt' });
    await daemon.stop();
    await using folder = await mkdtempDisposable(path.join(tmpdir(), 'headgate-other-home-'));
    const home = path.join(folder.path, 'home');
    await mkdir(home, { mode: 0o700 });
    for (const name of ['headgate-key', 'token', 'audit-head.json', 'secrets.json'])
      await copyFile(path.join(daemon.home, name), path.join(home, name)).catch(() => undefined);
    {
      await using other = await startDaemon({ home, config: { store: { url } } });
      assert.deepEqual(await waiting(other, wsId), [body]);
      assert.equal(await digestOf(other, wsId, body.attachment_id), sha256(bytes));
      const client = await other.client();
      const { text, totalBytes } = await client.call('output.read', { wsId, callId, offset: 200_000, limit: 20 });
      assert.deepEqual([text, totalBytes], [numbers.slice(200_000, 200_020), numbers.length]);
      assert.deepEqual(
        ['attachments', 'outputs'].map((name) => existsSync(path.join(home, name))),
        [false, false],
      );
    }
    await daemon.restart();
  },
);
