import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { readBootId } from '../../src/daemon/boot-id.ts';
import { openConnection } from '../../src/gateway/store/sqlite/sqlite-connection.ts';
import { type Arrivals, createArrivals } from '../support/clients/arrivals.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { spawnHeadgate } from '../support/daemon/daemon-process.ts';
import { type ScriptedModel, startScriptedModel } from '../support/model/scripted-model.ts';
import { copyFiles, DATABASE, inodesOf, listFiles, type Placeholders, show } from './fixture-files.ts';
import { type Answers, askEverything, type Cli } from './questions.ts';
import { clockAt } from './record/recording.ts';

/** Facts about a home that its files do not show, such as secrets that are stored only as digests. */
const Recorded = z.object({
  recordedMs: z.number(),
  removedJob: z.string().optional(),
  nodeId: z.string().optional(),
  refusal: z.string().optional(),
  waitingApproval: z.string(),
  waitingRun: z.string(),
  ...{ read: z.string(), write: z.string(), approve: z.string(), lasting: z.string(), brief: z.string() },
  ...{ revoked: z.string(), child: z.string() },
  ...{ login: z.string(), loginOfWrite: z.string(), endedLogin: z.string(), loginCode: z.string() },
});

/** A copy of an older build's home in a temporary folder, with a model server and a webhook for it. */
export interface OldHome extends AsyncDisposable {
  readonly root: string;
  readonly home: string;
  readonly database: string;
  readonly model: ScriptedModel;
  /** Bodies that the webhook received. It answers once `openWebhook` was called. */
  readonly received: Arrivals<string>;
  openWebhook(): void;
  readonly recorded: z.infer<typeof Recorded>;
  /** Starts today's build on the home, this many milliseconds after the recording. */
  start(afterMs: number, options?: { env?: Record<string, string> }): Promise<UpgradedDaemon>;
  /** Environment variables that set the clock to this many milliseconds after the recording. */
  clock(afterMs: number): Record<string, string>;
  /** The answers of the older build. */
  answersOfThen(daemon: DaemonUnderTest): Promise<Answers>;
}

export interface UpgradedDaemon {
  daemon: DaemonUnderTest;
  cli: Cli;
  /** Environment variables that give another process the daemon's clock. */
  clock: Record<string, string>;
  /** Calls `askEverything`. */
  answers(): Promise<Answers>;
}

export async function unpackHome(name: string): Promise<OldHome> {
  const fixture = fileURLToPath(new URL(`fixtures/${name}/`, import.meta.url));
  const root = await mkdtemp(path.join(tmpdir(), 'headgate-upgrade-'));
  const [home, database] = [path.join(root, 'home'), path.join(root, DATABASE)];
  const model = await startScriptedModel();
  const webhook = await startWebhook();
  const placeholders: Placeholders = { ROOT: root, MODEL: model.url, WEBHOOK: webhook.url };
  const from = path.join(fixture, 'files');
  for (const folder of ['home/workspace', 'project', 'lent', 'node'])
    await mkdir(path.join(root, folder), { recursive: true, mode: 0o700 });
  await copyFiles({ from, to: root, files: await listFiles(from) }, (text) => show(text, placeholders));
  const machine = {
    ...(await inodesOf(root)),
    BOOT_ID: await readBootId(),
  };
  restoreDatabase(
    database,
    show(await readFile(path.join(fixture, 'headgate.sql'), 'utf8'), { ...placeholders, ...machine }),
  );
  renewChecksums(database, root);
  const recorded = Recorded.parse(JSON.parse(await readFile(path.join(fixture, 'recorded.json'), 'utf8')));
  const started = new Set<DaemonUnderTest>();
  const clock = (afterMs: number) => ({ TZ: 'UTC', ...clockAt(recorded.recordedMs + afterMs) });
  return {
    ...{ root, home, database, model, recorded, received: webhook.received, openWebhook: webhook.open },
    clock,
    async start(afterMs, { env = {} } = {}) {
      const now = clock(afterMs);
      const daemon = await startDaemon({ home, env: { HEADGATE_MODEL: 'local', ...now, ...env } });
      started.add(daemon);
      const cli = cliOf(home, now);
      return {
        daemon,
        cli,
        clock: now,
        answers: () => askEverything({ daemon, cli, removedJob: recorded.removedJob }),
      };
    },
    async answersOfThen({ url }) {
      const then = await readFile(path.join(fixture, 'answers.json'), 'utf8');
      return z
        .record(z.string(), z.unknown())
        .parse(JSON.parse(show(then, { ...placeholders, GATEWAY: new URL(url).host })));
    },
    async [Symbol.asyncDispose]() {
      for (const daemon of started) await daemon[Symbol.asyncDispose]();
      await model.close();
      webhook.close();
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function startWebhook() {
  const received = createArrivals<string>();
  const open = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    received.add(await text(request));
    await open.promise;
    response.writeHead(204).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { received, url: `http://127.0.0.1:${port}/shed`, open: open.resolve, close };
}

function restoreDatabase(file: string, sql: string): void {
  using database = new DatabaseSync(file);
  database.exec('pragma journal_mode = wal');
  database.exec(`begin; ${sql} commit`);
}

/** Recalculates the checksums of rows in which the path of the folder was put in. All others keep those of the older build. */
function renewChecksums(file: string, root: string): void {
  const connection = openConnection(file);
  const hasChecksums = connection.all("select 1 from pragma_table_info('messages') where name = 'checksum'").length > 0;
  if (hasChecksums) {
    const checksum = 'message_checksum(ws_id, seq, run_id, body_json, created_ms)';
    connection.run(`update messages set checksum = ${checksum} where instr(body_json, ?) > 0`, [root]);
  }
  connection.close();
}

const cliOf =
  (home: string, clock: Record<string, string>): Cli =>
  async (...args) => {
    const child = await spawnHeadgate({ args: [...args, '--home', home], env: { HOME: path.dirname(home), ...clock } });
    const { code } = await child.exited;
    if (code !== 0) throw new Error(`headgate ${args.join(' ')}: ${child.stderr()}`);
    return child.stdout();
  };
