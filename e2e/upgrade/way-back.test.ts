import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, type TestContext, test } from 'node:test';
import { MIGRATIONS } from '../../src/gateway/store/schema/migrations.ts';
import { versionAfter } from '../../src/gateway/store/schema/schema-version.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';
import { installNextRelease, NEXT } from '../support/daemon/next-release.ts';
import { within } from '../support/deadline.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const OURS = 'bin/headgate.js';
/** The next release only adds something, as some before it did. */
const USABLE_FROM = String(versionAfter(MIGRATIONS).usableFrom);
const model = await startScriptedModel();
after(() => model.close());

/** A home whose database a later release has made, and that release, which runs. */
async function newerHome(t: TestContext) {
  const entry = await installNextRelease(t);
  const daemon = await startDaemon({ model: model.url, entry });
  t.after(() => daemon[Symbol.asyncDispose]());
  return { daemon, entry, database: path.join(daemon.home, 'headgate.db') };
}

function ask(database: string, sql: string): unknown[] {
  using opened = new DatabaseSync(database, { readOnly: true });
  return opened
    .prepare(sql)
    .all()
    .map((row) => Object.values(row));
}

const schemaOf = (database: string) =>
  ask(database, "select value from meta where key like 'schema_%' order by key").flat();

test('this release goes on with the database of the next one, which only added something, and the next one with this', async (t) => {
  const { daemon, entry, database } = await newerHome(t);
  assert.deepEqual(schemaOf(database), [USABLE_FROM, String(NEXT.schema)]);
  model.when('count', callTools({ name: 'bash', arguments: { command: 'echo one >> counted' } }), say('counted'));
  const talk = await openConversation(daemon);
  const question = await talk.ask('count');
  question.answer.catch(() => undefined); // the connection will be lost
  const { approval_id: approvalId } = await talk.until('approve_request');

  await daemon.restart({ entry: OURS });
  assert.notEqual((await daemon.get('/health')).body.version, NEXT.version);
  await talk.reconnect();
  await talk.decide(approvalId, { approved: true });
  await talk.ended(question);
  model.when('again', say('still here'));
  await within((await talk.ask('again')).answer, 60_000, () => 'an answer of this release');
  await talk.agree();
  assert.deepEqual(schemaOf(database), [USABLE_FROM, String(NEXT.schema)]);
  assert.deepEqual(
    (await readdir(daemon.home)).filter((name) => name.includes('.bak-')),
    [],
  );

  const backup = await runHeadgate(['backup', '--home', daemon.home, '--json']);
  assert.equal(backup.code, 0, backup.stderr);
  const checked = await runHeadgate(['restore', JSON.parse(backup.stdout).file, '--check']);
  assert.equal(checked.code, 0, checked.stderr);

  await daemon.restart({ entry });
  await talk.reconnect();
  model.when('once more', say('here again'));
  await within((await talk.ask('once more')).answer, 60_000, () => 'an answer of the next release');
  await talk.agree();
  assert.equal((await talk.client.call('audit.verify', {})).ok, true);
  assert.deepEqual(ask(database, 'select distinct next_weight from messages'), [[7]]);
});

test('a store with tables that this release does not know is not copied, because the copy would lack them', async (t) => {
  const { daemon, database } = await newerHome(t);
  await daemon.stop();
  const url = 'postgresql://127.0.0.1:1/nowhere';
  const { code, stderr } = await runHeadgate([
    'store',
    'migrate',
    '--home',
    daemon.home,
    '--from',
    'sqlite',
    '--to',
    url,
  ]);
  assert.equal(code, 1);
  assert.match(stderr, new RegExp(`has schema version ${NEXT.schema}, but this Headgate knows versions up to`));
  assert.deepEqual(schemaOf(database), [USABLE_FROM, String(NEXT.schema)]);
});
