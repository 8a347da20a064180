// Records a fixture with an older build: npx node --import tsx e2e/upgrade/record/record.ts <clone> <name> <stop|kill> <all|few>
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../src/clock.ts';
import { readBootId } from '../../../src/daemon/boot-id.ts';
import { startDaemon } from '../../support/daemon/daemon.ts';
import { spawnHeadgate } from '../../support/daemon/daemon-process.ts';
import { startScriptedModel } from '../../support/model/scripted-model.ts';
import { copyFiles, DATABASE, dumpDatabase, hide, inodesOf, listFiles, type Placeholders } from '../fixture-files.ts';
import { askEverything } from '../questions.ts';
import { credentials, logins, pairedNode } from './access.ts';
import { fewConversations, finishedConversations } from './conversations.ts';
import { jobs, jobsAt } from './jobs.ts';
import { clockAt, configOf, prepareFolders, type Recording } from './recording.ts';
import { afterKill, attachments, beforeKill, beforeStop, expired, leftOpen, outbox, settings } from './unfinished.ts';

const HOUR_MS = 3_600_000;
/** A Monday. The daemon's clock starts here, so that recordings do not depend on the date. */
const BEGIN_MS = Date.UTC(2026, 10, 2, 9);
/** Nothing listens on this port. */
const WEBHOOK = 'http://127.0.0.1:65535/shed';

const [clone = '', name = '', end = 'stop', scenes = 'all'] = process.argv.slice(2);
assert.ok(clone && name, 'usage: record.ts <clone of the older build> <name of the fixture> <stop|kill> <all|few>');

const root = await mkdtemp(path.join(tmpdir(), 'headgate-record-'));
for (const folder of ['home/workspace', 'project', 'lent', 'node'])
  await mkdir(path.join(root, folder), { recursive: true, mode: 0o700 });
await prepareFolders(root);
await using model = await startScriptedModel();
const [home, entry] = [path.join(root, 'home'), path.join(clone, 'bin/headgate.js')];
const envAt = (nowMs: number) => ({ HEADGATE_MODEL: 'local', TZ: 'UTC', ...clockAt(nowMs) });
const env = envAt(BEGIN_MS);
const createdAtMs = performance.now();
await using daemon = await startDaemon({ home, entry, env, config: configOf({ model: model.url, webhook: WEBHOOK }) });
const recording: Recording = { daemon, model, entry, root, home, env, secrets: {} };

const startedMs = scenes === 'few' ? await fewScenes() : await allScenes();
const cli = async (...args: string[]) => {
  const child = await spawnHeadgate({ entry, args: [...args, '--home', home], env: { HOME: root, TZ: 'UTC' } });
  const { code } = await child.exited;
  assert.equal(code, 0, `${args.join(' ')}: ${child.stderr()}`);
  return child.stdout();
};
const answers = await askEverything({ daemon, cli, removedJob: recording.secrets.removedJob });
const recordedMs = Math.round(startedMs + performance.now());
await daemon.stop(end === 'kill' ? 'SIGKILL' : 'SIGTERM');

const placeholders: Placeholders = {
  ...{ ROOT: root, MODEL: model.url, WEBHOOK, GATEWAY: `127.0.0.1:${daemon.port}` },
  BOOT_ID: await readBootId(),
  ...(await inodesOf(root)),
};
const target = fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
await rm(target, { recursive: true, force: true });
const NOT_KEPT = /^home\/(headgate\.db|daemon\.|compiled\/|workspace\/\.)/;
const files = await listFiles(root, (file) => !NOT_KEPT.test(file));
await copyFiles({ from: root, to: path.join(target, 'files'), files }, (text) => hide(text, placeholders));
const write = (file: string, text: string) => writeFile(path.join(target, file), hide(text, placeholders));
await write('headgate.sql', dumpDatabase(path.join(root, DATABASE)));
const lines = Object.entries(answers).map(
  ([question, answer]) => `${JSON.stringify(question)}: ${JSON.stringify(answer)}`,
);
await write('answers.json', `{\n${lines.join(',\n')}\n}\n`);
await write('recorded.json', `${JSON.stringify({ recordedMs, ...recording.secrets }, undefined, 2)}\n`);
await rm(root, { recursive: true });

/** Plays all scenes. Returns the difference between the daemon's wall clock and this process's monotonic clock. */
async function allScenes(): Promise<number> {
  await finishedConversations(recording);
  await attachments(recording);
  await jobs(recording);
  const client = await daemon.client();
  await jobsAt(client, { missedMs: BEGIN_MS + HOUR_MS, laterMs: BEGIN_MS + 3 * HOUR_MS + 300_000 });
  client.close();
  await credentials(recording);
  await expired(recording);
  const node = await pairedNode(recording);
  await settings(recording);
  const unknown = await beforeKill(recording);
  node.kill('SIGTERM');
  await node.exited;
  await daemon.kill9();
  unknown.talk.client.close();

  await daemon.restart({ env: envAt(BEGIN_MS + 2 * HOUR_MS) });
  await afterKill(recording, unknown);
  await settled(['unknown', 'cut']);
  await beforeStop(recording);
  await daemon.stop();

  const startedMs = BEGIN_MS + 3 * HOUR_MS - performance.now();
  await daemon.restart({ env: envAt(BEGIN_MS + 3 * HOUR_MS) });
  await settled(['stopped']);
  await outbox(recording);
  await leftOpen(recording);
  await logins(recording);
  return startedMs;
}

/** Plays the scenes that matter for a build with almost the same schema. */
async function fewScenes(): Promise<number> {
  await fewConversations(recording);
  await credentials(recording);
  await leftOpen(recording);
  await logins(recording);
  return BEGIN_MS - createdAtMs;
}

/** Waits until the workstreams with these names are idle. */
async function settled(names: readonly string[]): Promise<void> {
  const reader = await daemon.client();
  for (;;) {
    const { workstreams } = await reader.call('workstream.list', {});
    const busy = workstreams.filter((row) => names.includes(row.name) && !['idle', 'error'].includes(row.state));
    if (busy.length === 0) break;
    await systemClock.sleep(200, new AbortController().signal);
  }
  reader.close();
}
