// A minimal relay that stores a model's answer: POST /v1/api/send calls MODEL_URL. Every chunk of the answer becomes a row
// (one transaction per turn of the event loop) and then a frame of the streams opened with GET. DATABASE_URL: in PostgreSQL.
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { listen } from './listen.ts';

interface Row {
  wsId: string;
  offset: number;
  json: string;
}

const { MODEL_URL = '', DATABASE = ':memory:', DATABASE_URL } = process.env;
const store = DATABASE_URL === undefined ? { inSqlite: inSqlite() } : { inPostgres: inPostgres(DATABASE_URL) };
const streams = new Map<string, Set<ServerResponse>>();
const offsets = new Map<string, number>();
let waiting: Row[] = [];

function append(wsId: string, event: object): void {
  const offset = (offsets.get(wsId) ?? 0) + 1;
  offsets.set(wsId, offset);
  if (waiting.push({ wsId, offset, json: JSON.stringify(event) }) === 1) setImmediate(() => void flush());
}

async function flush(): Promise<void> {
  const rows = waiting;
  waiting = [];
  if ('inPostgres' in store) await store.inPostgres(rows);
  else store.inSqlite(rows);
  for (const { wsId, offset, json } of rows) {
    for (const stream of streams.get(wsId) ?? []) stream.write(`id: ${offset}\ndata: ${json}\n\n`);
  }
}

function inSqlite(): (rows: Row[]) => void {
  const database = new DatabaseSync(DATABASE);
  database.exec('pragma journal_mode = wal; pragma synchronous = normal');
  database.exec(
    'create table events (ws_id text, "offset" integer, body text, primary key (ws_id, "offset")) without rowid',
  );
  const insert = database.prepare('insert into events values (?, ?, ?)');
  return (rows) => {
    database.exec('begin immediate');
    for (const { wsId, offset, json } of rows) insert.run(wsId, offset, json);
    database.exec('commit');
  };
}

/** One statement, and so one transaction, for all rows of a turn; the next one follows on the same connection. */
function inPostgres(url: string): (rows: Row[]) => Promise<void> {
  const client = new pg.Client(url);
  const created = client
    .connect()
    .then(() =>
      client.query(
        'create table if not exists events (ws_id text, "offset" bigint, body text, primary key (ws_id, "offset"))',
      ),
    );
  return async (rows) => {
    await created;
    await client.query('insert into events select * from unnest($1::text[], $2::bigint[], $3::text[])', [
      rows.map(({ wsId }) => wsId),
      rows.map(({ offset }) => offset),
      rows.map(({ json }) => json),
    ]);
  };
}

function relay(wsId: string, message: string): void {
  const asked = httpRequest(`${MODEL_URL}/chat/completions`, { method: 'POST' }, (answer) => {
    let rest = '';
    answer.setEncoding('utf8').on('data', (text: string) => {
      const frames = (rest + text).split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) take(wsId, frame.slice('data: '.length));
    });
    answer.on('end', () => append(wsId, { type: 'ws_state', ws_id: wsId, state: 'idle' }));
  });
  asked.end(JSON.stringify({ stream: true, messages: [{ role: 'user', content: message }] }));
}

function take(wsId: string, data: string): void {
  if (data === '[DONE]') return;
  const text = JSON.parse(data).choices[0]?.delta.content;
  if (text) append(wsId, { type: 'content', text });
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const server = createServer(async (request, response) => {
  if (request.method === 'POST') {
    const { ws_id: wsId, message } = JSON.parse(await textOf(request));
    relay(wsId, message);
    const body = '{"status":"ok"}';
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body);
    return;
  }
  const wsId = new URLSearchParams(request.url?.split('?')[1]).get('ws_id') ?? '';
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  response.flushHeaders();
  streams.set(wsId, (streams.get(wsId) ?? new Set()).add(response));
  response.once('close', () => streams.get(wsId)?.delete(response));
});
listen(server);
