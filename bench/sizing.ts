// `npm run sizing`: fills a PostgreSQL database with many workstreams and measures what docs/sizing.md says.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { type DaemonProcess, spawnHeadgate } from '../e2e/support/daemon/daemon-process.ts';
import { toWholeNumber } from '../e2e/support/whole-number.ts';
import { systemClock } from '../src/clock.ts';
import { OF_EVERYONE } from '../src/gateway/sharing/perception.ts';
import { openPostgresStore } from '../src/gateway/store/postgres/postgres-store.ts';
import { insertWorkstream, toWorkstreamRow } from '../src/gateway/workstreams/workstream-rows.ts';
import { randomIds } from '../src/ids.ts';
import { createLog } from '../src/pino-log.ts';
import { queryPostgres, startPostgres } from '../src/testing/postgres-server.ts';
import { someMachine } from '../src/testing/some-machine.ts';
import { residentBytes } from './process-costs.ts';
import { median } from './row.ts';

const USAGE = `npm run sizing -- [--workstreams 100000] [--each 4]

Fills a database of a private PostgreSQL server with closed workstreams, each with so many messages and events of 300
characters, starts the installed daemon over it, and prints what it takes.

  --workstreams N  100000
  --each N         messages, and as many events, in each workstream (4)
`;

const { values } = parseArgs({
  options: {
    workstreams: { type: 'string', default: '100000' },
    each: { type: 'string', default: '4' },
    help: { type: 'boolean', default: false },
  },
});

const say = (text: string) => process.stdout.write(`${text}\n`);
const TEXT = 'What was said in the course of a day, neither short nor long. '.repeat(5).slice(0, 300);

if (values.help) say(USAGE);
else await measureAll(toWholeNumber('--workstreams', values.workstreams), toWholeNumber('--each', values.each));

async function measureAll(workstreams: number, each: number): Promise<void> {
  const server = await startPostgres({ isSynced: true });
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-sizing-'));
  try {
    const url = await server.createDatabase();
    const home = path.join(folder, 'home');
    const empty = await startedOver(url, home);
    say(`a start over an empty database: ${empty.tookMs} ms, ${empty.residentMb} MB, ${empty.connections} connections`);
    await fill(url, workstreams, each);
    for (const table of ['workstreams', 'messages', 'events']) say(await sizeOf(url, table));
    say(await databaseSize(url));
    for (let n = 0; n < 3; n += 1) {
      const { tookMs, residentMb, connections, listMs } = await startedOver(url, home);
      say(
        `a start over ${workstreams} workstreams: ${tookMs} ms, ${residentMb} MB, ${connections} connections; a list of saved ones ${listMs} ms`,
      );
    }
  } finally {
    await server.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Copies of one workstream, which the store has written. Checksums are those of the first one: nothing reads these rows. */
async function fill(url: string, workstreams: number, each: number): Promise<void> {
  const log = createLog({ level: 'silent', readable: false });
  const wsId = randomIds.wsId();
  {
    await using store = await openPostgresStore({ url, machine: someMachine(), clock: systemClock, log });
    const nowMs = systemClock.now();
    const row = toWorkstreamRow({ owned: OF_EVERYONE, wsId, workdir: '/', nowMs, loaded: 0 });
    await store.commit({ statements: [insertWorkstream({ ...row, message_count: each })] });
  }
  const clone = (table: string, changes: string, from: string) =>
    queryPostgres(
      url,
      `set search_path to headgate; insert into ${table} select (jsonb_populate_record(t, ${changes})).* from ${from}`,
    );
  const id = "md5('sizing ' || n)";
  const series = `generate_series(1, ${workstreams - 1}) n`;
  const bodies = `jsonb_build_object('ws_id', ${id}, 'seq', i, 'offset', i, 'created_ms', 1, 'checksum', 1`;
  await clone(
    'workstreams',
    `jsonb_build_object('ws_id', ${id}, 'generated_name', 'saved-' || n, 'updated_ms', t.updated_ms - n)`,
    `workstreams t, ${series} where t.ws_id = '${wsId}'`,
  );
  const many = `${series}, generate_series(1, ${each}) i`;
  const message = `'body_json', json_build_object('role', case i % 2 when 1 then 'user' else 'assistant' end, 'content', '${TEXT}', 'toolCalls', '[]'::json)::text)`;
  await clone(
    'messages',
    `${bodies}, ${message}`,
    `(select null::headgate.messages as t) x, ${many}`.replace('(select', 'lateral (select'),
  );
  const event = `'body_json', json_build_object('type', 'info', 'message', '${TEXT}')::text)`;
  await clone(
    'events',
    `${bodies}, ${event}`,
    `(select null::headgate.events as t) x, ${many}`.replace('(select', 'lateral (select'),
  );
  await queryPostgres(url, 'vacuum analyze');
}

async function sizeOf(url: string, table: string): Promise<string> {
  const [row] = await queryPostgres(
    url,
    `select count(*)::float8 as rows, pg_table_size('headgate.${table}')::float8 as data, pg_indexes_size('headgate.${table}')::float8 as indexes from headgate.${table}`,
  );
  const of = (name: string) => Number(row?.[name]) / Number(row?.rows);
  return `${table}: ${row?.rows} rows, ${of('data').toFixed(0)} + ${of('indexes').toFixed(0)} bytes each (rows + indexes)`;
}

async function databaseSize(url: string): Promise<string> {
  const [row] = await queryPostgres(url, 'select pg_database_size(current_database())::float8 as bytes');
  return `the database: ${(Number(row?.bytes) / 1e6).toFixed(0)} MB`;
}

interface Started {
  tookMs: number;
  residentMb: number;
  connections: number;
  listMs: number;
}

async function startedOver(url: string, home: string): Promise<Started> {
  const beganMs = performance.now();
  const child = await spawnHeadgate({
    args: ['start', '--port', '0', '--home', home],
    env: { HOME: path.dirname(home), HEADGATE_MODEL: 'demo', HEADGATE_STORE_URL: url },
  });
  await child.printed(/^Headgate .*\n\n[\s\S]*\n\n$/m);
  const tookMs = Math.round(performance.now() - beganMs);
  const listMs = await listTime(home);
  const [row] = await queryPostgres(
    url,
    'select count(*)::int as n from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  const residentMb = Math.round(residentBytes(child.pid) / 1e6);
  await stopped(child);
  return { tookMs, residentMb, connections: Number(row?.n), listMs };
}

/** The median of eleven lists of saved workstreams. */
async function listTime(home: string): Promise<number> {
  const { url } = JSON.parse(await readFile(path.join(home, 'daemon.json'), 'utf8'));
  const token = (await readFile(path.join(home, 'token'), 'utf8')).trim();
  const times: number[] = [];
  while (times.length < 11) {
    const beganMs = performance.now();
    const response = await fetch(`${url}/v1/api/workstreams/saved?limit=50`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    if (!response.ok) throw new Error(`the list was answered with ${response.status}`);
    await response.json();
    times.push(performance.now() - beganMs);
  }
  return Math.round(median(times));
}

async function stopped(child: DaemonProcess): Promise<void> {
  child.kill('SIGTERM');
  await child.exited;
}
