import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { openConversation } from '../support/clients/conversation.ts';
import { type DaemonUnderTest, runHeadgate, startDaemon } from '../support/daemon/daemon.ts';
import { speechOf } from '../support/daemon/ledger.ts';
import { integrityOf, storeIs } from '../support/faults/full-disk.ts';
import { findLeafPages } from '../support/faults/leaf-pages.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools } from '../support/model/scripted-steps.ts';

const PAGE_BYTES = 4_096;

function overwrite(file: string, [from, to]: [number, number]): void {
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0xa5, from, Math.min(to, bytes.length)));
}

const halve = (file: string): void => truncateSync(file, statSync(file).size >> 1);

interface Damage {
  inflict(database: string): void;
  /** The messages of banner, health and page, and the contents of the kept file that they name. */
  told: RegExp | undefined;
  keeps: '' | '-wal' | undefined;
  /** Whether the conversation still exists afterwards. */
  survives: boolean;
}

const GONE = {
  told: /^The database was damaged\. It was moved to (\S+), and an empty one was created\.$/,
  keeps: '',
  survives: false,
} as const;
const CUT = {
  told: /^The log of the database was damaged, so the newest changes are lost\. It is kept as (\S+)\.$/,
  keeps: '-wal',
  survives: false,
} as const;
const WHOLE = { told: undefined, keeps: undefined, survives: true } as const;

const DAMAGES: Record<string, Damage> = {
  'a database with bits that have flipped': {
    inflict: (db) => overwrite(db, [8 * PAGE_BYTES, 60 * PAGE_BYTES]),
    ...GONE,
  },
  'a database cut to half': { inflict: halve, ...GONE },
  'a garbage log': { inflict: (db) => writeFileSync(`${db}-wal`, 'garbage'.repeat(5_000)), ...CUT },
  'a deleted log': {
    inflict: (db) => rmSync(`${db}-wal`),
    told: /^The log of the database was missing, so the newest changes are lost\.$/,
    keeps: undefined,
    survives: false,
  },
  'a garbage index': { inflict: (db) => writeFileSync(`${db}-shm`, 'garbage'.repeat(5_000)), ...WHOLE },
};

test('a damaged database found after a kill is kept byte for byte and reported everywhere, and the daemon works; twice', async (t) => {
  for (const [title, { inflict, told, keeps, survives }] of Object.entries(DAMAGES)) {
    await t.test(title, async () => {
      await using daemon = await startDaemon();
      const database = path.join(daemon.home, 'headgate.db');
      await daemon.restart(); // the data of the first start is in the file, all later data is in its log
      await using conversation = await openConversation(daemon);
      await conversation.ended(await conversation.ask('hello'));
      const said = speechOf(await conversation.agree());
      await daemon.kill9();
      inflict(database);
      const damaged = keeps === undefined ? undefined : readFileSync(database + keeps);
      await daemon.restart();
      await assertTold(daemon, told, damaged);
      if (survives) {
        await conversation.reconnect();
        assert.deepEqual(speechOf(await conversation.agree()), said);
      }
      await worksAndStartsAgain(daemon);
      assert.equal(integrityOf(daemon.home), 'ok');
    });
  }
});

async function assertTold(daemon: DaemonUnderTest, told: RegExp | undefined, damaged: Buffer | undefined) {
  const notices = await noticesOf(daemon);
  assert.equal(notices.length, told ? 1 : 0);
  const [notice = '', kept = ''] = told?.exec(notices[0] ?? '') ?? [];
  assert.ok(daemon.output().stdout.includes(notice), 'the banner shows the notice');
  if (damaged) assert.deepEqual(readFileSync(path.join(daemon.home, kept)), damaged);
}

async function noticesOf(daemon: DaemonUnderTest): Promise<string[]> {
  const client = await daemon.client();
  const { notices } = await client.call('health', {});
  return notices.flatMap(({ code, text }) => (code === 'demo_model' ? [] : [text]));
}

/** A second start reports nothing. */
async function worksAndStartsAgain(daemon: DaemonUnderTest): Promise<void> {
  await daemon.restart();
  assert.deepEqual(await noticesOf(daemon), []);
  await using after = await openConversation(daemon);
  await after.ended(await after.ask('and again'));
  await after.agree();
  await daemon.stop();
}

const DOCUMENTS: Record<string, { name: string; text: string; told?: RegExp }> = {
  'an empty daemon.json': { name: 'daemon.json', text: '' },
  'half a daemon.json': { name: 'daemon.json', text: '{"url": 7' },
  'a garbage lock': { name: 'daemon.lock', text: 'no lock '.repeat(2_000) },
  'an empty secrets.json': {
    name: 'secrets.json',
    text: '',
    told: /^secrets\.json was damaged\. It is kept as (\S+);/,
  },
};

test('damaged small files of the daemon do not prevent a start', async (t) => {
  await using daemon = await startDaemon();
  for (const [title, { name, text, told }] of Object.entries(DOCUMENTS)) {
    await t.test(title, async () => {
      await daemon.stop();
      writeFileSync(path.join(daemon.home, name), text, { mode: 0o600 });
      await daemon.restart();
      const notices = await noticesOf(daemon);
      const [, kept] = told?.exec(notices.join()) ?? [];
      assert.equal(notices.length, told ? 1 : 0);
      if (kept) assert.equal(readFileSync(path.join(daemon.home, kept), 'utf8'), text);
      if (told) await worksAndStartsAgain(daemon);
    });
  }
});

const REFUSED: Record<string, { name: string; spoil(file: string): void; says: RegExp }> = {
  'a garbage config.json': {
    name: 'config.json',
    spoil: (file) => writeFileSync(file, '\u0000\u0001garbage'),
    says: /config\.json is not JSON .*The file was not changed\.$/,
  },
  'half a config.json': {
    name: 'config.json',
    spoil: (file) => writeFileSync(file, '{ "tools": { "sandbox": "requi'),
    says: /config\.json is not JSON .*The file was not changed\.$/,
  },
  'an empty config.json': {
    name: 'config.json',
    spoil: (file) => writeFileSync(file, ''),
    says: /config\.json is empty/,
  },
  'a config.json of wrong types': {
    name: 'config.json',
    spoil: (file) => writeFileSync(file, '{ "server": { "port": "many" }, "retentionDays": [] }'),
    says: /config\.json cannot be used: .*server\.port.*; retentionDays/,
  },
  'a config.json that is a folder': {
    name: 'config.json',
    spoil: (file) => mkdirSync(file),
    says: /config\.json cannot be read: it is not a file/,
  },
  'a short secret': {
    name: 'secrets.json',
    spoil: (file) => writeFileSync(file, '{"jwt_secret":"short"}'),
    says: /secrets\.json cannot be used: jwt_secret must be at least 64 hexadecimal digits .*The file was not changed\.$/,
  },
  'a key of the machine that is another one': {
    name: 'headgate-key',
    spoil: (file) => writeFileSync(file, `hgk_${'0'.repeat(64)}`),
    says: /The secrets in \S+ are encrypted with the key [0-9a-f]{12} of this machine, but .* Nothing was changed\.$/,
  },
  'an empty token': {
    name: 'token',
    spoil: (file) => writeFileSync(file, ''),
    says: /token does not hold a token; move it away/,
  },
  'half a token': {
    name: 'token',
    spoil: (file) => truncateSync(file, 20),
    says: /token does not hold a token; move it away/,
  },
};

/** The one line that says why. */
async function refusedStart(home: string): Promise<string> {
  const { code, stdout, stderr } = await runHeadgate(['start', '--home', home, '--port', '0'], {
    HEADGATE_MODEL: 'demo',
  });
  const [line = '', ...others] = stderr.split('\n').filter((text) => text !== '' && !text.startsWith('{"level"'));
  assert.deepEqual([code, stdout, others], [1, '', []]);
  return line;
}

test('a damaged file with an operator’s decisions prevents the start with one line, and is not changed', async (t) => {
  await using daemon = await startDaemon();
  await daemon.stop();
  for (const [title, { name, spoil, says }] of Object.entries(REFUSED)) {
    await t.test(title, async () => {
      const file = path.join(daemon.home, name);
      const whole = ['token', 'secrets.json', 'headgate-key'].includes(name) ? readFileSync(file) : undefined;
      spoil(file);
      const spoiled = statSync(file).isFile() ? readFileSync(file) : undefined;
      const others = readdirSync(daemon.home);
      assert.match(await refusedStart(daemon.home), says);
      assert.deepEqual(readdirSync(daemon.home), others);
      if (spoiled) assert.deepEqual(readFileSync(file), spoiled);
      rmSync(file, { recursive: true });
      if (whole) writeFileSync(file, whole, { mode: 0o600 });
    });
  }
  await daemon.restart();
  await worksAndStartsAgain(daemon);
});

test('a run with a pending approval and a damaged conversation ends with the reason, and the daemon starts', async () => {
  await using model = await startScriptedModel();
  await using daemon = await startDaemon({ model: model.url });
  model.when('ask me', callTools({ name: 'bash', arguments: { command: 'echo ran >> ran.txt' } }));
  await using conversation = await openConversation(daemon);
  for (let n = 0; n < 8; n += 1) await conversation.ended(await conversation.ask(`early ${n} ${'-'.repeat(2_000)}`));
  const question = await conversation.ask('ask me');
  question.answer.catch(() => undefined); // the connection will be lost
  await conversation.until('approve_request');
  await daemon.stop();
  damageMessages(path.join(daemon.home, 'headgate.db'));
  await daemon.restart();
  await storeIs(daemon, 'degraded');
  const client = await daemon.client();
  const ended = await client.call('agent.wait', { runId: question.runId, timeoutMs: 60_000 });
  assert.equal(ended.status, 'error');
  assert.equal((await daemon.get('/v1/api/workstreams')).status, 200);
});

/** Overwrites a page of messages; after a clean stop no check would look for it. */
function damageMessages(database: string): void {
  const [page = 0] = findLeafPages(database, ['messages']);
  const pageBytes = readFileSync(database).readUInt16BE(16);
  overwrite(database, [(page - 1) * pageBytes, page * pageBytes]);
}
